"""CoNLL-2000 through CRFsuite, Wapiti and CRF++, and through ours: files, objectives, scores.

What is compared, by name:

* ``files``: models of ours, written for CRFsuite, label the test set with python-crfsuite as with
  us, marginals to 1e-6;
* ``lbfgs``, ``l1``, ``l2sgd``: both libraries end at the same objective, which is worked out by
  CRFsuite's own probabilities;
* ``ap``, ``pa``, ``arow``: their mean chunk F1 differs by less than 0.3; the order of the sentences
  is another one for each seed;
* ``wapiti``, ``crfpp``: models that these tools have trained label as they do themselves.

The corpus is in the folder that STRUCTLEARN_DATA names; without it nothing is compared. Ends
with 1 if something differs.
"""

from __future__ import annotations

import argparse
import gzip
import math
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.rivals import crfsuite_files  # noqa: E402

from structlearn import CRF, crfsuite  # noqa: E402
from structlearn.io import read_crfpp, read_wapiti, write_crfsuite  # noqa: E402
from structlearn.metrics import chunk_f1  # noqa: E402

FOLDER = Path(os.environ.get("STRUCTLEARN_DATA", ROOT.parent / "shared" / "data")) / "conll2000"
PATTERNS = "".join(
    f"u:{name}={what}\n"
    for name, what in (
        *((f"w{o}", f"%x[{o},0]") for o in range(-2, 3)),
        *((f"p{o}", f"%x[{o},1]") for o in range(-2, 3)),
        ("w-1w", "%x[-1,0]/%x[0,0]"), ("ww1", "%x[0,0]/%x[1,0]"),
        ("p-1p", "%x[-1,1]/%x[0,1]"), ("pp1", "%x[0,1]/%x[1,1]"),
        ("low", "%X[0,0]"), ("end", '%m[0,0,"..?.?$"]'), ("upper", '%t[0,0,"^\\u"]'),
    )
) + "*\nb:p=%x[0,1]\n"  # fmt: skip
TEMPLATE = "".join(
    f"U{i:02}:{what}\n"
    for i, what in enumerate((
        *(f"%x[{o},0]" for o in range(-2, 3)), *(f"%x[{o},1]" for o in range(-2, 3)),
        "%x[-1,0]/%x[0,0]", "%x[0,0]/%x[1,0]", "%x[-1,1]/%x[0,1]", "%x[0,1]/%x[1,1]",
    ))
) + "B\n"  # fmt: skip


class Corpus:
    """CoNLL-2000: sentences of (word, tag, label), their features and labels."""

    def __init__(self, n: int | None) -> None:
        self.text = {
            name: gzip.decompress((FOLDER / f"{name}.txt.gz").read_bytes()).decode()
            for name in ("train", "test")
        }
        self.train, self.test = (list(self._sentences(name)) for name in ("train", "test"))
        self.train = self.train[:n]
        self.X, self.X_test = (
            [crfsuite_files.features(s) for s in part] for part in (self.train, self.test)
        )
        self.y, self.y_test = (
            [[label for _, _, label in s] for s in part] for part in (self.train, self.test)
        )

    def _sentences(self, name: str) -> Iterator[list[list[str]]]:
        for paragraph in self.text[name].strip().split("\n\n"):
            yield [line.split(" ") for line in paragraph.split("\n")]


Check = Callable[[Corpus, argparse.Namespace, Path], bool]
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    """List a comparison by its name."""
    CHECKS[function.__name__] = function
    return function


def main() -> int:
    """Return 0 if all comparisons hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(CHECKS)}; default: all")
    parser.add_argument("--sentences", type=int, help="train on the first so many only")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--passes", type=int, default=10, help="of learners that go by mistakes")
    options = parser.parse_args()
    if not FOLDER.is_dir():
        print(f"skipped: there is no {FOLDER}")
        return 0
    corpus = Corpus(options.sentences)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or CHECKS:
            begun = time.perf_counter()
            held = CHECKS[name](corpus, options, Path(folder))
            failed |= not held
            told = "holds" if held else "DOES NOT HOLD"
            print(f"{name}: {told} ({time.perf_counter() - begun:.0f} s)", flush=True)
    return failed


@check
def files(corpus: Corpus, options: argparse.Namespace, folder: Path) -> bool:
    """Our models, written as CRFsuite's files."""
    import pycrfsuite

    path = folder / "ours.crfsuite"
    models = {
        "Trainer, ap": lambda: trained(crfsuite, "ap", {"max_iterations": 5}, corpus, path),
        "Trainer, lbfgs": lambda: trained(crfsuite, "lbfgs", {"max_iterations": 20}, corpus, path),
        "CRF": lambda: write_crfsuite(
            CRF(boundaries=False, max_iter=20, tol=1e-2).fit(corpus.X, corpus.y), path
        ),
    }
    held = True
    for name, train in models.items():
        train()
        ours, theirs = crfsuite.Tagger(), pycrfsuite.Tagger()
        for tagger in (ours, theirs):
            tagger.open(str(path))
        equal, off = 0, 0.0
        for x in corpus.X_test:
            best = theirs.tag(x)
            equal += ours.tag(x) == best
            for t in range(len(x)):
                off = max(off, *(abs(ours.marginal(k, t) - theirs.marginal(k, t)) for k in best))
        print(f"  {name}: {equal} of {len(corpus.X_test)} test sentences equal, marginals differ "
              f"by at most {off:.1e}")  # fmt: skip
        held &= equal == len(corpus.X_test) and off <= 1e-6
    return held


def objective(algorithm: str, values: dict[str, Any], tolerance: float) -> Check:
    """Return the comparison of the objectives where an algorithm ends."""

    def compare(corpus: Corpus, options: argparse.Namespace, folder: Path) -> bool:
        import pycrfsuite

        ends = []
        for library in (pycrfsuite, crfsuite):
            path = folder / "model"
            begun = time.process_time()
            trained(library, algorithm, values, corpus, path)
            seconds = time.process_time() - begun
            tagger = pycrfsuite.Tagger()
            tagger.open(str(path))
            ends.append((loss_of(tagger, values, corpus), seconds))
        (theirs, their_time), (ours, our_time) = ends
        off = ours / theirs - 1
        print(f"  {algorithm} {values}: {theirs:.3f} and ours {ours:.3f}, {off:+.1e}; "
              f"{their_time:.0f} s and {our_time:.0f} s of processor time")  # fmt: skip
        return abs(off) <= tolerance

    return compare


def online(algorithm: str) -> Check:
    """Return the comparison of the F1 of an algorithm, over several seeds."""

    def compare(corpus: Corpus, options: argparse.Namespace, folder: Path) -> bool:
        import pycrfsuite

        means = []
        for library in (pycrfsuite, crfsuite):
            scores = []
            for seed in range(options.seeds):
                order = random.Random(seed).sample(range(len(corpus.X)), len(corpus.X))
                path = folder / "model"
                values = {"max_iterations": options.passes}
                trained(library, algorithm, values, corpus, path, order)
                tagger = crfsuite.Tagger()
                tagger.open(str(path))
                scores.append(100 * chunk_f1(corpus.y_test, [tagger.tag(x) for x in corpus.X_test]))
            means.append(statistics.mean(scores))
            print(f"  {algorithm}, {library.__name__}: " + ", ".join(f"{f:.2f}" for f in scores)
                  + f"; mean {means[-1]:.2f}", flush=True)  # fmt: skip
        return abs(means[0] - means[1]) < 0.3

    return compare


CHECKS["lbfgs"] = objective("lbfgs", {"c2": 1.0}, 1e-4)
CHECKS["l1"] = objective("lbfgs", {"c1": 0.5, "c2": 0.01}, 1e-3)
CHECKS["l2sgd"] = objective("l2sgd", {"c2": 1.0, "max_iterations": 50}, 5e-3)
CHECKS.update({algorithm: online(algorithm) for algorithm in ("ap", "pa", "arow")})


@check
def wapiti(corpus: Corpus, options: argparse.Namespace, folder: Path) -> bool:
    """A model that Wapiti has trained, with patterns of every command."""
    import wapiti as tool

    path = str(folder / "wapiti.model")
    model = tool.Model(patterns=PATTERNS, nthread=1, maxiter=8)
    model.train(["\n".join(map(" ".join, sentence)) for sentence in corpus.train])
    model.save(path)
    inputs = [[tuple(token[:2]) for token in sentence] for sentence in corpus.test]
    theirs = [model.label_sequence("\n".join(map(" ".join, x))).decode().split() for x in inputs]
    return compared(theirs, read_wapiti(path).predict(inputs), corpus)


@check
def crfpp(corpus: Corpus, options: argparse.Namespace, folder: Path) -> bool:
    """A model that CRF++ has trained, its binary file and its text."""
    import CRFPP

    train, template, path = (str(folder / name) for name in ("train", "template", "crfpp.model"))
    Path(template).write_text(TEMPLATE, encoding="utf-8")
    Path(train).write_text(
        "".join("\n".join(map(" ".join, s)) + "\n\n" for s in corpus.train), encoding="utf-8"
    )
    CRFPP.crfpp_learn(["crf_learn", "-t", "-m", "10", "-p", "1", "-f", "3", template, train, path])
    tagger = CRFPP.Tagger(f"-m {path}")
    inputs = [[tuple(token[:2]) for token in sentence] for sentence in corpus.test]
    theirs = []
    for sentence in inputs:
        tagger.clear()
        for token in sentence:
            tagger.add(" ".join(token))
        tagger.parse()
        theirs.append([tagger.y2(t) for t in range(tagger.size())])
    files = (path, f"{path}.txt")
    held = [compared(theirs, read_crfpp(name).predict(inputs), corpus) for name in files]
    return all(held)


def compared(theirs: list[list[str]], ours: list[list[str]], corpus: Corpus) -> bool:
    """Print how many sentences have equal labels; return whether all have."""
    equal = sum(a == b for a, b in zip(theirs, ours, strict=True))
    f1 = 100 * chunk_f1(corpus.y_test, theirs)
    print(f"  {equal} of {len(theirs)} test sentences equal; F1 {f1:.2f}")
    return equal == len(theirs)


def trained(
    library: Any,
    algorithm: str,
    values: dict[str, Any],
    corpus: Corpus,
    path: Path,
    order: list[int] | None = None,
) -> None:
    """Train with the trainer of one of the libraries."""
    trainer = library.Trainer(algorithm, verbose=False)
    trainer.set_params(values)
    for i in range(len(corpus.X)) if order is None else order:
        trainer.append(corpus.X[i], corpus.y[i])
    trainer.train(str(path))


def loss_of(tagger: Any, values: dict[str, Any], corpus: Corpus) -> float:
    """Return CRFsuite's objective, by its own probabilities."""
    total = 0.0
    for x, y in zip(corpus.X, corpus.y, strict=True):
        tagger.set(x)
        total -= math.log(tagger.probability(y))
    info = tagger.info()
    weights = [*info.state_features.values(), *info.transitions.values()]
    squares, sums = sum(w * w for w in weights), sum(map(abs, weights))
    return total + values.get("c2", 1.0) * squares + values.get("c1", 0.0) * sums


if __name__ == "__main__":
    sys.exit(main())
