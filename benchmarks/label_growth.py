"""Growth of a tagger's time and memory with the number of labels.

    python -m benchmarks.label_growth --tokens 20000 --all-up-to 1000 --crfsuite-up-to 300
    python -m benchmarks.label_growth --tokens 1000000 --labels 500 --passes 2 --all-up-to 0

Corpora are synthetic: words with Zipf's frequencies, each with one to four labels, of which the
previous label selects one. Every number of labels is measured in a separate process: with the
default number of candidates (above 64 labels), with all labels up to ``--all-up-to``, and with
CRFsuite's averaged perceptron on the same features up to ``--crfsuite-up-to``. Times are processor
times. Results go to ``benchmarks/results/label_growth.json``, replacing earlier ones for the same
tokens, labels and passes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .memory import peak

_RESULTS = Path(__file__).parent / "results" / "label_growth.json"
_LABELS = [10, 30, 64, 100, 150, 200, 300, 1000, 2000]
_FEW_LABELS = 64  # not measured with candidates


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


def measure(folder: str, n_tokens: int, n_labels: int, passes: int, system: str) -> dict[str, Any]:
    """Train and label in this process."""
    if system == "crfsuite":
        figures = _crfsuite(Path(folder), passes)
    else:
        usual = min(48, max(12, n_labels // 24))
        figures = _ours(Path(folder), passes, usual if system == "candidates" else 0)
    return {
        "system": system,
        "asked": n_labels,
        "tokens": n_tokens,
        "passes": passes,
        **figures,
        "peak_mb": round(peak()),
    }


def _ours(folder: Path, passes: int, candidates: int) -> dict[str, Any]:
    from structlearn.tasks import Tagger

    tagger = Tagger(features="pos", n_models=1, max_iter=passes, candidates=candidates)
    begin = time.process_time()
    tagger.fit(folder / "train.txt")
    trained = time.process_time()
    scores = tagger.evaluate(folder / "test.txt")
    labelled = time.process_time()
    return {
        "labels": len(tagger.classes_),
        "candidates": tagger.model_.candidates,
        "train_seconds": round(trained - begin, 2),
        "tokens_per_second": round(scores["tokens"] / (labelled - trained)),
        "accuracy": round(100 * scores["accuracy"], 2),
    }


def _crfsuite(folder: Path, passes: int) -> dict[str, Any]:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params({"max_iterations": passes})
    labels = set()
    begin = time.process_time()
    for features, gold in _sentences(folder / "train.features"):
        trainer.append(features, gold)
        labels.update(gold)
    trainer.train(str(folder / "crfsuite.model"))
    trained = time.process_time()
    tagger = pycrfsuite.Tagger()
    tagger.open(str(folder / "crfsuite.model"))
    tokens = right = 0
    for features, gold in _sentences(folder / "test.features"):
        right += sum(a == b for a, b in zip(tagger.tag(features), gold, strict=True))
        tokens += len(gold)
    return {
        "labels": len(labels),
        "candidates": 0,
        "train_seconds": round(trained - begin, 2),
        "tokens_per_second": round(tokens / (time.process_time() - trained)),
        "accuracy": round(100 * right / tokens, 2),
    }


def _sentences(path: Path) -> Iterator[tuple[list[list[str]], list[str]]]:
    """Yield the features of the tokens of each sentence, and their labels."""
    for sentence in path.read_text().split("\n\n"):
        rows = [line.split(" ") for line in sentence.splitlines()]
        if rows:
            yield [row[1:] for row in rows], [row[0] for row in rows]


def write_features(folder: Path) -> None:
    """Write the features of both files as numbers, after the label of each token."""
    from structlearn import _core
    from structlearn.tasks import Tagger
    from structlearn.tasks.tagging.token_fitting import TokenFitting
    from structlearn.text.sources import read_source

    corpus = read_source(folder / "train.txt", None)
    tagger = Tagger(features="pos", n_models=1, all_possible_states=False, unknown="")
    inventory = TokenFitting(tagger._plain(), corpus).inventory
    inventory.freeze(inventory.count(corpus, _core.TokenRows()), 0, 0)
    for name in ("train", "test"):
        corpus = read_source(folder / f"{name}.txt", None)
        if name == "train":
            arrays = inventory.rows(corpus)
        else:
            extractor = _core.Extractor(inventory.features, corpus.core, False)
            arrays = inventory.vocabulary.rows(extractor, corpus.core).arrays()
        begin, feature = arrays["begin"], arrays["feature"]
        with open(folder / f"{name}.features", "w") as file:
            t = 0
            for labels in corpus.column(1):
                for label in labels:
                    names = feature[begin[t] : begin[t + 1]].tolist()
                    print(label, *names, file=file)
                    t += 1
                print(file=file)


def _apart(*arguments: str) -> str:
    """Run this module in a separate process; return the last line it prints."""
    command = [sys.executable, "-m", "benchmarks.label_growth", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return (done.stdout.splitlines() or [""])[-1]


def main() -> None:
    """Measure every point in a separate process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=100_000)
    parser.add_argument("--labels", type=int, nargs="+", default=_LABELS)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--all-up-to", type=int, default=300)
    parser.add_argument("--crfsuite-up-to", type=int, default=0)
    parser.add_argument("--output", type=Path, default=_RESULTS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--features", type=Path, help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.one:
        print(json.dumps(measure(**json.loads(o.one))))
        return
    if o.features:
        write_features(o.features)
        return
    stored = json.loads(o.output.read_text())["points"] if o.output.exists() else []
    points = {_key(point): point for point in stored}
    for n_labels in o.labels:
        systems = ["candidates"] if n_labels > _FEW_LABELS else []
        if n_labels <= max(_FEW_LABELS, o.all_up_to):
            systems.append("all labels")
        if n_labels <= o.crfsuite_up_to:
            systems.append("crfsuite")
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "train.txt").write_text(made_corpus(o.tokens, n_labels, 1))
            test = made_corpus(max(2000, o.tokens // 20), n_labels, 2)
            Path(folder, "test.txt").write_text(test)
            if "crfsuite" in systems:
                _apart("--features", folder)
            for system in systems:
                job = {"folder": folder, "n_tokens": o.tokens, "n_labels": n_labels}
                job = {**job, "passes": o.passes, "system": system}
                point = json.loads(_apart("--one", json.dumps(job)))
                points[_key(point)] = point
                print(point, flush=True)
    ordered = sorted(points.values(), key=lambda p: (p["tokens"], p["asked"], p["system"]))
    o.output.write_text(json.dumps({"points": ordered}, indent=1) + "\n")


def _key(point: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(point[name] for name in ("tokens", "asked", "passes", "system"))


if __name__ == "__main__":
    main()
