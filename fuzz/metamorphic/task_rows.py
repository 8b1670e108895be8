"""Relations on training sentences of tasks: order, weights and copies, within proven gaps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import Different, Refusal, ask, demand_same, difference, plain
from fuzz.metamorphic.queries import QUERIES
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import TASKS, Subject, sentences_of
from structlearn.tasks import (
    ConstituencyParser,
    DependencyParser,
    SegmentTagger,
    Tagger,
)
from structlearn.text import FeatureTemplates

__all__: list[str] = []

Rng = np.random.Generator

CLAIM = "within the proven gaps"
#: The most features of a token or an arc, to bound differences of scores by gaps.
MOST_FEATURES = 100
_TEMPLATES = FeatureTemplates.parse("word[-1..1]\nlower(word)\nsuffix(word, 2)")


@dataclass(frozen=True)
class Learnt:
    """A convex learner of a task, and its sentences.

    Attributes
    ----------
    make : callable
        options -> estimator.
    kind : str
        Form of the examples, a name in `sentences_of`.
    learners : tuple of str
        The learners that reach their optimum in time.
    dual : bool
        Whether taggers have the dual of the log loss.
    """

    make: Callable[..., Any]
    kind: str
    learners: tuple[str, ...] = ("crf",)
    dual: bool = True

    def draw(self, rng: Rng) -> tuple[dict[str, Any], list[Any]]:
        """Return options of a learner, and examples."""
        learner = str(rng.choice(self.learners))
        options: dict[str, Any] = {"learner": learner, "C": float(rng.choice((0.05, 0.3)))}
        options |= {"max_iter": 1000, "tol": 1e-9 if learner == "crf" else 1e-3}
        if learner == "crf":
            dual = self.dual and self.kind in ("tagged", "chunked")
            others = ("dual", "sag") if dual else ("sag",)
            options["solver"] = str(rng.choice(("lbfgs", "lbfgs", *others)))
            options["tol"] = 1e-9 if options["solver"] == "lbfgs" else 1e-6
        return options, sentences_of(self.kind, rng, int(rng.integers(3, 7)))


#: The online model that preselects heads leaves none out.
_ALL_HEADS = {"most_heads": 1000, "least_share": 1e-300}
SENTENCES = {
    "tagger, templates": Learnt(lambda **o: Tagger(_TEMPLATES, **o), "tagged", ("crf", "svm")),
    "tagger, order 0": Learnt(lambda **o: Tagger(_TEMPLATES, order=0, **o), "tagged"),
    "tagger, all states": Learnt(
        lambda **o: Tagger(_TEMPLATES, all_possible_states=True, **o), "tagged"
    ),
    "tagger, pos": Learnt(lambda **o: Tagger("pos", **o), "tagged"),
    "tagger, chunk": Learnt(lambda **o: Tagger("chunk", scheme="iobes", **o), "chunked"),
    "tagger, hashed": Learnt(lambda **o: Tagger(_TEMPLATES, hash_bits=12, **o), "tagged"),
    "segments": Learnt(lambda **o: SegmentTagger(**o), "chunked", ("crf", "svm")),
    "parser": Learnt(
        lambda **o: DependencyParser(1, gold_tags=True, hash_bits=12, **_ALL_HEADS, **o), "arcs"
    ),
    "parser, projective": Learnt(
        lambda **o: DependencyParser(
            1, projective=True, gold_tags=True, hash_bits=12, **_ALL_HEADS, **o
        ),
        "arcs",
    ),
    "constituency": Learnt(
        lambda **o: ConstituencyParser(gold_tags=True, min_count=1, **o), "brackets"
    ),
}


def _record(model: Any) -> dict[str, Any]:
    record: dict[str, Any] = model.model_.training
    return record


def _demand_optimum(question: str, one: Any, other: Any, X: Sequence[Any]) -> None:
    """Raise `Different` unless two models may both be near the optimum of one objective.

    As for estimators, ½‖w − w*‖² is at most the gap; scores of one output are then at most
    ‖w − w'‖ · ‖features‖ apart, and a probability changes by no more than scores do.
    """
    records = [_record(model) for model in (one, other)]
    (a, b), gaps = ([r[name] for r in records] for name in ("objective", "gap"))
    size = 1e-7 * max(a, 1.0)  # weights of parsers are numbers of float32
    if not -gaps[1] - size <= a - b <= gaps[0] + size:
        raise Different(f"{question}: objectives {a!r} and {b!r}, gaps {gaps}")
    if records[0]["learner"] != "crf":
        return
    answers = [ask(lambda model=model: QUERIES["marginals"](model, X)) for model in (one, other)]
    if any(isinstance(answer, Refusal) for answer in answers):
        return
    longest = max(len(x) for x in X)
    apart = sum(math.sqrt(2 * gap) for gap in gaps) + 1e-5
    close = apart * 2 * math.sqrt(MOST_FEATURES * longest)
    if (reason := difference(*answers, close)) is not None:
        raise Different(f"{question}: marginals beyond {close:.2g}: {reason}")


def _probes(it: Learnt, rng: Rng) -> list[Any]:
    """Return inputs to ask two models about."""
    return sentences_of("words" if it.kind == "tagged" else "tags", rng, 3)


#: Subjects that derive only features from sentences.
PLAIN = {name: SENTENCES[name] for name in ("tagger, templates", "tagger, order 0",
         "tagger, all states", "tagger, hashed")}  # fmt: skip
#: The perceptron that chooses candidates has the same ones for weights that are 2 or ¼ as large.
CHOSEN = Learnt(lambda **o: Tagger(_TEMPLATES, candidates=3, **o), "tagged", dual=False)
FOLDS = ("tagger, pos", "tagger, chunk", "segments")


@relation(
    "sentences in another order",
    {name: it for name, it in SENTENCES.items() if name not in FOLDS},
    claim=CLAIM,
    cost="fit",
    not_claimed={
        **dict.fromkeys(FOLDS, "lexica are counted in folds, which go by the order"),
        "images": "pixels are drawn from the images in their order",
    },
)
def reordered(it: Learnt, rng: Rng) -> None:
    """The order of the sentences does not change the optimum."""
    options, X = it.draw(rng)
    order = rng.permutation(len(X))
    first, other = it.make(**options).fit(X), it.make(**options).fit([X[i] for i in order])
    _demand_optimum("other order", first, other, _probes(it, rng))


@relation(
    "whole weights of sentences = copies",
    SENTENCES,
    claim=CLAIM,
    cost="fit",
    not_claimed={"images": "pixels are drawn from an image once, whatever it weighs"},
)
def copies(it: Learnt, rng: Rng) -> None:
    """A weight of 2 counts as having the sentence twice."""
    options, X = it.draw(rng)
    counts = rng.integers(1, 4, size=len(X))
    weighted = it.make(**options).fit(X, sample_weight=counts.astype(float))
    other = it.make(**options).fit([x for x, n in zip(X, counts, strict=True) for _ in range(n)])
    _demand_optimum("copies", weighted, other, _probes(it, rng))


@relation("weight 0 of a sentence = removed", TASKS, cost="fit")
def removed(subject: Subject, rng: Rng) -> None:
    """A sentence of weight 0 counts as not having it, whatever the learner."""
    drawn = subject.draw(rng)
    weights = rng.choice((0.0, 1.0, 1.0, 2.0), size=len(drawn.X))
    weights[int(rng.integers(len(weights)))] = 1.0
    present = np.flatnonzero(weights)
    X = subject.inputs(rng, 2)
    name = str(rng.choice([q for q in subject.queries if q != "explain"]))
    fewer = replace(drawn, X=[drawn.X[int(i)] for i in present])
    weighted, other = drawn.fit(sample_weight=weights), fewer.fit(sample_weight=weights[present])
    answers = [ask(lambda model=model: QUERIES[name](model, X)) for model in (weighted, other)]
    demand_same(name, *answers)
    demand_same("history", _history(weighted), _history(other))


@relation(
    "weights of sentences scaled = C scaled",
    {**PLAIN, "tagger, candidates": CHOSEN},
    claim=CLAIM,
    cost="fit",
    not_claimed={"others": "weights count as copies where words, relations and pixels are counted"},
)
def scaled(it: Learnt, rng: Rng) -> None:
    """Weights a times as large, and C a times as large."""
    options, X = it.draw(rng)
    a, weights = float(rng.choice((0.25, 2.0))), rng.uniform(0.2, 2.0, size=len(X))
    weighted = it.make(**options).fit(X, sample_weight=a * weights)
    other = it.make(**{**options, "C": a * options["C"]}).fit(X, sample_weight=weights)
    _demand_optimum("C", weighted, other, _probes(it, rng))


@relation("threads of a task's training", TASKS, cost="fit")
def threads(subject: Subject, rng: Rng) -> None:
    """The number of threads changes no bit of a model."""
    drawn = subject.draw(rng)
    X = subject.inputs(rng, 2)
    name = str(rng.choice([q for q in subject.queries if q != "explain"]))
    answers = []
    for jobs in (1, int(rng.integers(2, 4))):
        model = drawn.fit_with({"n_jobs": jobs})
        answers.append([ask(lambda model=model: QUERIES[name](model, X)), _history(model)])
    demand_same(name, *answers)


def _history(model: Any) -> Any:
    """Return the record of a training, without times."""
    records = getattr(model, "history_", None) or []
    return plain([{k: v for k, v in r.items() if k != "seconds"} for r in records])
