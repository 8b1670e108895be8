"""A constituency parser from file to F1: accuracy and speed, compared with a counted grammar."""

from __future__ import annotations

import time

from structlearn.tasks import ConstituencyParser

from ..data import data_folder
from ..registry import Context, Result, Row, benchmark

__all__ = ["constituency_parser"]


@benchmark
def constituency_parser(context: Context) -> Result:
    """The PTB sample: errors of labelled F1 up to 40 words, by evalb's rules; one thread."""
    result = Result()
    data = data_folder()
    folder = None if data is None else data / "ptb_sample"
    if folder is None or not folder.is_dir():
        result.skipped.append("ptb_sample (set STRUCTLEARN_DATA)")
        return result
    passes = 1 if context.quick else None
    test = str(folder / "test.mrg.gz")
    scores = {}
    for learner in ("adagrad", "pcfg"):
        begin = time.process_time()
        parser = ConstituencyParser(learner, max_iter=passes).fit(str(folder / "train.mrg.gz"))
        seconds = time.process_time() - begin
        for gold_tags in (False, True):
            begin = time.process_time()
            figures = parser.evaluate(test, gold_tags=gold_tags)
            figures["cpu_seconds"] = time.process_time() - begin
            figures["training_cpu_seconds"] = seconds
            scores[learner, gold_tags] = figures
            result.details[f"{learner}, {'gold' if gold_tags else 'predicted'} tags"] = figures
    for gold_tags, most in ((False, 20.0), (True, 18.0)):
        ours, grammar = (
            100 * (1 - scores[learner, gold_tags]["f1_40"]) for learner in ("adagrad", "pcfg")
        )
        tags = "gold" if gold_tags else "predicted"
        result.rows.append(
            Row.amounts(
                f"100 - F1, {tags} tags", "PCFG, v = 2, h = 2", ours, grammar, unit="points",
                below=most,
            )
        )  # fmt: skip
    speed = {key: 1e3 * s["cpu_seconds"] / s["sentences"] for key, s in scores.items()}
    result.rows.append(
        Row.amounts(
            "a sentence, tagging and reading included", "PCFG, v = 2, h = 2",
            speed["adagrad", False], speed["pcfg", False], unit="ms", below=20.0,
        )
    )  # fmt: skip
    result.notes.append(f"training {scores['adagrad', False]['training_cpu_seconds']:.0f} s of CPU")
    return result
