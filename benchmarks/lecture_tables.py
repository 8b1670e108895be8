"""The lectures' two tables, recomputed on the corpora at hand.

1. Collins (2002): the perceptron for tagging, averaged or not, with rare features or without, and
the number of passes; compared with a maximum-likelihood model.
2. Tsochantaridis et al. (2005): hidden Markov model, CRF, perceptron and SVM on named entities.

Passes and C are chosen on the dev part; the test part is used once.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

from structlearn.exceptions import ConvergenceWarning
from structlearn.metrics import chunk_f1, token_accuracy
from structlearn.tasks import Tagger
from structlearn.text import FeatureTemplates, read_corpus

__all__ = ["collins_table", "comparison_table"]

#: The word features of Collins's tagger (Ratnaparkhi's).
TAGGING = """
word[-2..2]
prefix(word, 1..4)
suffix(word, 1..4)
shape(word, short)
"""

ENTITIES = """
word[-2..2]
lower(word[-1..1])
shape(word[-1..1])
prefix(word, 1..4)
suffix(word, 1..4)
pos[-2..2]
pos[-1] pos[0]
pos[0] pos[1]
word[-1] word[0]
word[0] word[1]
"""

#: (learner, averaged, least count) -> error in per cent and passes, as published.
COLLINS = {
    ("perceptron", True, 0): (2.93, 10),
    ("perceptron", False, 0): (3.68, 20),
    ("perceptron", True, 5): (3.03, 6),
    ("perceptron", False, 5): (4.04, 17),
    ("crf", True, 0): (3.4, 100),
    ("crf", True, 5): (3.28, 200),
}
COMPARISON = {"hmm": 9.36, "crf": 5.17, "perceptron": 5.94, "svm": 5.08}


def _errors(tagger: Tagger, corpus: Any) -> tuple[float, list[Any], list[Any]]:
    gold = corpus.column(tagger.model_.target)
    predicted = tagger.predict(corpus)
    return 100 * (1 - token_accuracy(gold, predicted)), gold, predicted


def _fit(tagger: Tagger, train: Any, dev: Any) -> float:
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tagger.fit(train, dev=dev)
    return time.perf_counter() - begin


def collins_table(folder: Path, *, quick: bool = False) -> list[dict[str, Any]]:
    """Return the rows of the first table, on the tags of UD English EWT."""
    files = [read_corpus(folder / "ud_en_ewt" / f"{n}.conllu.gz") for n in ("train", "dev", "test")]
    train, dev, test = files
    rows = []
    for (learner, average, least), (published, passes) in COLLINS.items():
        tagger = Tagger(
            FeatureTemplates.parse(TAGGING), learner, target="xpos", average=average,
            min_count=least, max_iter=1 if quick else 20,
            patience=0 if learner == "perceptron" else 3, n_models=1, all_possible_states=False,
        )  # fmt: skip
        seconds = _fit(tagger, train, dev)
        rows.append(
            {
                "learner": learner,
                "averaged": average,
                "least count": least,
                "error": _errors(tagger, test)[0],
                "passes": tagger.model_.training["passes"],
                "seconds": seconds,
                "published": published,
                "published passes": passes,
            }
        )
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


#: The values of C tried on the dev part; the other learners have no C.
STRENGTHS = {"crf": (0.1, 0.3, 1.0), "svm": (0.03, 0.1, 0.3)}


def _entity_tagger(learner: str, C: float | None, quick: bool) -> Tagger:
    if learner == "hmm":
        return Tagger(learner="hmm")
    passes = 1 if quick else {"perceptron": 20, "svm": 30, "crf": 100}[learner]
    features = FeatureTemplates.parse(ENTITIES)
    return Tagger(features, learner, C=C, max_iter=passes, patience=5, order=1)


def comparison_table(folder: Path, *, quick: bool = False) -> list[dict[str, Any]]:
    """Return the rows of the second table, on CoNLL-2002 Spanish, testb.

    Each learner twice: on the whole training part, and on its first 300 sentences, about as many as
    for the published figures.
    """
    names = ("train", "testa", "testb")
    train, dev, test = (read_corpus(folder / "conll2002_es" / f"{n}.txt.gz") for n in names)
    few = train[:300]
    rows = []
    for learner, published in COMPARISON.items():
        row: dict[str, Any] = {"learner": learner, "published": published}
        for part, corpus in (("", train), (" of 300", few)):
            best: tuple[float, Tagger, float | None] | None = None
            seconds = 0.0
            for C in STRENGTHS.get(learner, (None,))[: 1 if quick else None]:
                tagger = _entity_tagger(learner, C, quick)
                seconds += _fit(tagger, corpus, dev)
                gold, predicted = dev.column(tagger.model_.target), tagger.predict(dev)
                on_dev = chunk_f1(gold, predicted)
                if best is None or on_dev > best[0]:
                    best = (on_dev, tagger, C)
            assert best is not None
            error, gold, predicted = _errors(best[1], test)
            row["error" + part] = error
            row["f1" + part] = 100 * chunk_f1(gold, predicted)
            row["C" + part] = best[2]
            row["seconds" + part] = seconds
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    return rows
