"""Dependency parsing of English Web Treebank, from the file to the model and its scores.

The rivals' figures are from one run on a machine of the same kind, over all words and with complete
relations; they are printed beside ours, not measured again.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from ..data import data_folder
from ..registry import Context, Result, Row, benchmark
from .tagging import run, structlearn

__all__ = ["dependency_parsing"]

#: Labelled attachment errors in percent: UDPipe 1.4.0 with its own tags; TurboParser 2.3 basic with
#: gold tags, and its seconds of training on one core.
_UDPIPE_PREDICTED_LAS = 81.22
_TURBO_GOLD_LAS = 84.10
_TURBO_SECONDS = 1355.0

_RUNS: dict[str, list[str]] = {
    "first order, gold tags": ["--order", "1", "--gold-tags"],
    "second order, gold tags": ["--gold-tags"],
    "second order, predicted tags": [],
}


def _evaluate(model: Path, gold: Path) -> dict[str, Any]:
    done = subprocess.run(
        structlearn("evaluate", model, gold, "--json"), capture_output=True, text=True, check=True
    )
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


@benchmark
def dependency_parsing(context: Context) -> Result:
    """English Web Treebank: training, attachment scores on the test set, words a second."""
    result = Result()
    source = data_folder()
    if source is None or not (source / "ud_en_ewt").is_dir():
        result.skipped.append("ud_en_ewt (not in STRUCTLEARN_DATA nor in ../shared/data)")
        return result
    share = 20 if context.quick else 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("train", "test"):
            packed = (source / "ud_en_ewt" / f"{part}.conllu.gz").read_bytes()
            sentences = gzip.decompress(packed).decode().strip().split("\n\n")
            subset = sentences[: len(sentences) // share]
            (folder / f"{part}.conllu").write_text("\n\n".join(subset) + "\n\n", encoding="utf-8")
        for case, options in _RUNS.items():
            model = folder / "model"
            train = run(
                structlearn("train", "parser", folder / "train.conllu", "--model", model,
                            "--quiet", *options)
            )  # fmt: skip
            test_figures = _evaluate(model, folder / "test.conllu")
            figures = {
                "train_cpu_seconds": train["cpu"],
                "memory": train["memory"],
                **{k: test_figures[k] for k in ("uas", "las", "proven", "tokens_per_second")},
            }
            result.details[case] = figures
            result.notes.append(
                f"{case}: UAS {100 * test_figures['uas']:.2f}, "
                f"LAS {100 * test_figures['las']:.2f}, "
                f"{test_figures['tokens_per_second']} words a second"
            )
        details = result.details
        first, gold, predicted = (details[case] for case in _RUNS)
        result.rows = [
            Row.amounts("training, first order, gold tags", "TurboParser basic, 10 passes",
                        first["train_cpu_seconds"], _TURBO_SECONDS, unit="s", at_least=4),
            Row.amounts("words wrong, second order, gold tags", "TurboParser basic",
                        100 * (1 - gold["las"]), 100 - _TURBO_GOLD_LAS, unit="%", at_least=1),
            Row.amounts("words wrong, second order, predicted tags", "UDPipe",
                        100 * (1 - predicted["las"]), 100 - _UDPIPE_PREDICTED_LAS, unit="%",
                        at_least=1),
        ]  # fmt: skip
    return result
