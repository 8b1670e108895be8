"""``structlearn`` against Wapiti with the same patterns, from file to file."""

from __future__ import annotations

import sys
import tempfile
from typing import Any

from .. import rivals
from ..registry import Context, Result, Row, benchmark
from .tagging import HERE, Files, f1_of, has_corpus, interleave, run, structlearn

__all__ = ["wapiti"]

PATTERNS = HERE / "templates" / "wapiti.txt"
RIVAL = HERE / "rivals" / "wapiti_files.py"
ITERATIONS = 10
TIMES = 5


def tool(*arguments: Any) -> list[str]:
    """Return the command line of Wapiti's script."""
    return [sys.executable, str(RIVAL), *map(str, arguments)]


def training(files: Files, name: str, *options: Any) -> list[str]:
    """Return our command for a CRF with Wapiti's objective for rho2 = 1."""
    return structlearn(
        "train", "tagger", files / "train.txt", "--features", PATTERNS, "--learner", "crf",
        "--C", 1, *options, "--model", files / name, "--quiet",
    )  # fmt: skip


@benchmark
def wapiti(context: Context) -> Result:
    """CRF with Wapiti's patterns on CoNLL-2000: training, and labelling with Wapiti's model."""
    result = Result()
    if not has_corpus(result) or rivals.load("wapiti_files", result.skipped) is None:
        return result
    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder, context)
        commands = {
            "theirs": tool("train", files / "train.txt", PATTERNS, files / "wapiti.model",
                           ITERATIONS, 0, 1),
            "ours": training(files, "lbfgs.model", "--solver", "lbfgs", "--max-iter", ITERATIONS,
                             "--all-possible-states", 1, "--tol", 0),
            "as it comes": training(files, "ours.model"),
        }  # fmt: skip
        timings, memory = interleave(commands, context.times(2, 1))
        case = f"train: file to model, L-BFGS, {ITERATIONS} iterations, all weights"
        result.rows = [
            Row.times(case, "Wapiti", timings["ours"], timings["theirs"], unit="s"),
            Row.times("train: file to model, as it comes, to a gap of 0.1 %", "Wapiti",
                      timings["as it comes"], timings["theirs"], unit="s"),
            Row.amounts("peak memory, all weights", "Wapiti", memory["ours"], memory["theirs"],
                        unit="MB"),
            Row.amounts("peak memory, as it comes", "Wapiti", memory["as it comes"],
                        memory["theirs"], unit="MB"),
        ]  # fmt: skip
        _label(files, context, result)
    return result


def _label(files: Files, context: Context, result: Result) -> None:
    """Label with Wapiti's model, converted, and by Wapiti: equal labels first, then times."""
    test = (files / "test.txt").read_text(encoding="utf-8")
    (files / "long.txt").write_text(test * TIMES, encoding="utf-8")
    run(structlearn("convert-model", files / "wapiti.model", files / "kept.model", "--columns", 3))

    def ours(model: str, source: str, output: str) -> list[str]:
        return structlearn("predict", files / model, files / source, "--output", files / output)

    def theirs(source: str) -> list[str]:
        return tool("label", files / "wapiti.model", files / source, files / "theirs.txt")

    run(theirs("test.txt"))
    scores = {}
    for name in ("kept", "lbfgs", "ours"):
        run(ours(f"{name}.model", "test.txt", f"{name}.txt"))
        scores[name] = f1_of(files / "test.txt", files / f"{name}.txt")
    labels = [
        [
            line.split()[-1]
            for line in (files / name).read_text(encoding="utf-8").splitlines()
            if line
        ]
        for name in ("kept.txt", "theirs.txt")
    ]
    if labels[0] != labels[1]:
        raise RuntimeError("the converted model's labels differ from Wapiti's")
    timings, memory = interleave(
        {"ours": ours("kept.model", "long.txt", "kept.txt"), "theirs": theirs("long.txt")},
        context.times(3, 1),
    )
    result.rows += [
        Row.times(f"predict: file to file, {TIMES} x test, Wapiti's model", "Wapiti",
                  timings["ours"], timings["theirs"], unit="s"),
        Row.amounts("peak memory, labelling", "Wapiti", memory["ours"], memory["theirs"],
                    unit="MB"),
    ]  # fmt: skip
    result.details["f1"] = scores
    result.notes.append(
        f"chunk F1 on the test set: Wapiti {scores['kept']:.2f}, ours with all weights "
        f"{scores['lbfgs']:.2f}, as it comes {scores['ours']:.2f}; {len(labels[0]):,} labels of "
        "the converted model equal Wapiti's"
    )
