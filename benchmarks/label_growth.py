"""How a tagger's time and memory grow with the number of labels.

    python -m benchmarks.label_growth [--tokens N] [--labels K ...] [--passes N]

Corpora are made: words with Zipf's frequencies, each with one to four labels, of which the label
before chooses one. Every number of labels is measured in a process of its own, with the candidates
that are the default above 64 labels and, up to ``--all-up-to`` labels, with all labels. Times are
of the processor. Results go to ``benchmarks/results/label_growth.json``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from .memory import peak

_RESULTS = Path(__file__).parent / "results" / "label_growth.json"


def made_corpus(n_tokens: int, n_labels: int, seed: int) -> str:
    """Return a column file of words and labels; the same language for every seed."""
    language = np.random.default_rng(0)
    n_words = max(2000, 10 * n_labels)
    kinds = [
        language.choice(
            n_labels, size=int(language.integers(1, min(5, n_labels + 1))), replace=False
        )
        for _ in range(n_words)
    ]
    names = [
        "".join(chr(97 + int(c)) for c in language.integers(0, 26, size=3)) + f"x{w % n_labels}"
        for w in range(n_words)
    ]
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, n_words + 1)
    words = rng.choice(n_words, size=n_tokens, p=share / share.sum())
    lines, before = [], 0
    for t, word in enumerate(words.tolist()):
        before = int(kinds[word][before % len(kinds[word])])
        lines.append(f"{names[word]}\tK{before}\n")
        if t % 16 == 15:
            lines.append("\n")
            before = 0
    return "".join(lines)


def measure(n_tokens: int, n_labels: int, passes: int, candidates: int | None) -> dict[str, Any]:
    """Train and label, in this process."""
    from structlearn.tasks import Tagger

    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder, "train.txt"), Path(folder, "test.txt")
        train.write_text(made_corpus(n_tokens, n_labels, 1))
        test.write_text(made_corpus(max(2000, n_tokens // 20), n_labels, 2))
        tagger = Tagger(features="pos", n_models=1, max_iter=passes, candidates=candidates)
        begin = time.process_time()
        tagger.fit(train)
        trained = time.process_time()
        scores = tagger.evaluate(test)
        labelled = time.process_time()
    return {
        "labels": len(tagger.classes_),
        "candidates": tagger.model_.candidates,
        "tokens": n_tokens,
        "passes": passes,
        "train_seconds": round(trained - begin, 2),
        "tokens_per_second": round(scores["tokens"] / (labelled - trained)),
        "peak_mb": round(peak()),
        "accuracy": round(100 * scores["accuracy"], 2),
    }


def main() -> None:
    """Measure every point in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=100_000)
    parser.add_argument("--labels", type=int, nargs="+", default=[10, 30, 64, 100, 300, 1000, 2000])
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--all-up-to", type=int, default=300)
    parser.add_argument("--output", type=Path, default=_RESULTS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.one:
        print(json.dumps(measure(**json.loads(o.one))))
        return
    points = []
    for n_labels in o.labels:
        for candidates in (None, 0):
            if candidates == 0 and not 64 < n_labels <= o.all_up_to:
                continue
            job = {
                "n_tokens": o.tokens,
                "n_labels": n_labels,
                "passes": o.passes,
                "candidates": candidates,
            }
            command = [sys.executable, "-m", "benchmarks.label_growth", "--one", json.dumps(job)]
            found = subprocess.run(command, check=True, capture_output=True, text=True)
            points.append(json.loads(found.stdout.splitlines()[-1]))
            print(points[-1], flush=True)
    o.output.write_text(json.dumps({"points": points}, indent=1) + "\n")


if __name__ == "__main__":
    main()
