"""Marginals, k-best lists, samples, entropies and probabilities of outputs are one distribution."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import Different, demand_same, plain
from fuzz.metamorphic.distributions import (
    at_temperature,
    listing,
    marginals,
    parts,
    sites,
    temperature,
    tiny,
)
from fuzz.metamorphic.few_labels import FEW_LABELS
from fuzz.metamorphic.oracles.schemes import is_legal
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import ESTIMATORS, PIPELINES, TEXT_TASKS, Subject
from structlearn import MultiLabelClassifier
from structlearn.structures import Constituency
from structlearn.tasks import ConstituencyParser, DependencyParser, Pipeline, Tagger

__all__: list[str] = []

Rng = np.random.Generator

#: Sums of double numbers in another order differ by this much; probabilities are at most 1.
ROUNDING = 1e-9
#: Probability that a draw finds frequencies that are too far from right probabilities.
MISTAKEN = 1e-16
#: Outputs drawn of an input, and outputs whose probabilities are asked for.
DRAWS, ASKED = 400, 4

_NO_SUMS = {
    "estimator, matching": "sums over matchings are #P-hard",
    "estimator, program": "a program has no sums",
    "estimator, constraints": "constraints make a program of the chain, which has no sums",
    "estimator, weighted bytes": "constraints make a program of the chain, which has no sums",
}
_NOT_EXACT = {
    "estimator, grid": "loopy message passing is not exact",
    "estimator, grid pseudo": "loopy message passing is not exact",
}
_PAIRS = {
    "parsers of order 2 over all trees": "they have no sums, and those of pipelines sum and rank "
    "projective trees alone: best trees and sums live in different sets"
}
_COUNTS = {
    "constituency, pcfg, nodes of one category above each other": "marginals of counted rules are "
    "expected numbers of nodes, at most 1; of chains of one category they are too high"
}
_WORDLESS = {
    "estimator, constituency, trees whose last word has no span": "the last span tells an output's "
    "number of words: predict_proba and score refuse such trees"
}


def _with(subjects: dict[str, Subject], query: str, without: dict[str, str]) -> dict[str, Subject]:
    return {k: s for k, s in subjects.items() if query in s.queries and k not in without}


ALL = {**TEXT_TASKS, **FEW_LABELS, **ESTIMATORS}
SUMMED = _with(ALL, "marginals", _NO_SUMS)
LISTED = _with(SUMMED, "kbest", _NOT_EXACT)


def _asked(subject: Subject, rng: Rng) -> tuple[Any, Any] | None:
    """Return a model and one input; None where the model has no sums."""
    model, X = at_temperature(subject, rng), subject.inputs(rng, 1)
    parser = model.model_ if isinstance(model, DependencyParser) else None
    if isinstance(model, Pipeline):
        parser = model.model_.parts["parser"]
    return None if parser is not None and not parser.has_temperature else (model, X)


@relation("marginals: sums", SUMMED, claim="to 1e-9", not_claimed={**_NO_SUMS, **_PAIRS})
def marginals_sum_to_one(subject: Subject, rng: Rng) -> None:
    """A position has one label, a word one head, a token one segment."""
    if (asked := _asked(subject, rng)) is None:
        return
    p = marginals(*asked)
    for key, value in p.items():
        if not -ROUNDING <= value <= 1 + ROUNDING:
            raise Different(f"outside [0, 1]: the probability of {key} is {value}")
    for name, group, number in sites(*asked, p):
        total = math.fsum(p[key] for key in group)
        demand_same(f"the sum at {name}", float(number), total, ROUNDING)


@relation(
    "k-best: order",
    {**_with(ALL, "kbest", {}), **PIPELINES},
    claim="to 1e-9",
    not_claimed={**_PAIRS, "estimator, beam": "`predict` searches with a beam"},
)
def kbest_in_order(subject: Subject, rng: Rng) -> None:
    """Best first, none twice; a longer list begins with a shorter one; `predict` gives the first.

    Where outputs have the same score their order is free, and so is the last bit of it: outputs are
    added up along different paths.
    """
    if (asked := _asked(subject, rng)) is None:
        return
    model, X = asked
    if rng.random() < 0.5:
        X = tiny(model, X, rng)
    n, longer = sorted(int(k) for k in rng.integers(1, 9, size=2))
    ranked = model.predict_kbest(X, n=n)[0]
    scores, outputs = [float(s) for s, _ in ranked], [repr(plain(y)) for _, y in ranked]
    if any(b - a > ROUNDING * max(1.0, abs(a)) for a, b in itertools.pairwise(scores)):
        raise Different(f"not sorted: {scores}")
    if len(set(outputs)) < len(outputs):
        raise Different(f"the same output twice: {Counter(outputs).most_common(1)[0]}"[:300])
    more = [float(s) for s, _ in model.predict_kbest(X, n=longer)[0]]
    demand_same("scores of a longer list", scores, more[:n], ROUNDING)
    best = repr(plain(model.predict(X)[0]))
    tied = len(scores) < 2 or math.isclose(scores[0], scores[1], rel_tol=1e-9, abs_tol=1e-9)
    if not tied and not getattr(model, "beam", None):  # a beam is not exact
        demand_same("predict, and the first of k-best", best, outputs[0])


@relation(
    "k-best: probabilities",
    _with(LISTED, "proba", {}),
    claim="to 1e-9",
    not_claimed={**_NO_SUMS, **_NOT_EXACT, **_PAIRS, **_WORDLESS},
)
def kbest_probabilities(subject: Subject, rng: Rng) -> None:
    """Differences of scores over the temperature are those of the logarithms of probabilities."""
    if (asked := _asked(subject, rng)) is None:
        return
    model, X = asked
    ranked = [one for one in model.predict_kbest(X, n=4)[0] if _tells_length(model, X, one[1])]
    if not ranked or ranked[0][0] == -math.inf:
        return  # the grammar derives no tree
    p = _probabilities_of(model, X, [y for _, y in ranked])
    for (score, _), q in zip(ranked, p, strict=True):
        ratio = math.exp((score - ranked[0][0]) / temperature(model))
        demand_same("ratio of probabilities", ratio, q / p[0], 1e-6 if _single(model) else 1e-9)


def _single(model: Any) -> bool:
    """Whether scores are sums of single numbers, scaled to the temperature before they are added.

    Constituency parsers divide their weights, in single precision, by the temperature.
    """
    return isinstance(model, ConstituencyParser) and temperature(model) != 1.0


def _tells_length(model: Any, X: Any, output: Any) -> bool:
    """Whether the last span of an output of constituents ends with the last word."""
    structure = getattr(model, "structure_", None)
    if not isinstance(structure, Constituency):
        return True
    return max((end for _, end, _ in output), default=0) == len(X[0]["span"])


def _probabilities_of(model: Any, X: Any, outputs: list[Any]) -> list[float]:
    """Return P(output | input) as the model says it."""
    if isinstance(model, ConstituencyParser):
        ranked = model.predict_kbest(X, n=len(outputs), probabilities=True)[0]
        return [float(tree.probability) for _, tree in ranked]
    if isinstance(X, list):
        return [float(p) for p in model.predict_proba(X * len(outputs), outputs)]
    return [float(model.predict_proba(X, [y])[0]) for y in outputs]


@relation(
    "all outputs",
    LISTED,
    claim="to 1e-9",
    not_claimed={**_NO_SUMS, **_NOT_EXACT, **_PAIRS, **_WORDLESS, **_COUNTS},
)
def all_outputs(subject: Subject, rng: Rng) -> None:
    """What the k-best list of all outputs adds up to is what the model says."""
    if (asked := _asked(subject, rng)) is None:
        return
    model, X = asked[0], tiny(*asked, rng)
    if (every := listing(model, X)) is None:
        return
    if len({repr(plain(y)) for y in every.outputs}) < len(every.outputs):
        raise Different("the same output twice")
    close = 1e-5 if _single(model) else ROUNDING
    if isinstance(model, Tagger):
        demand_same("number of outputs", _number(model, len(X[0])), len(every.outputs))
    p, sums = marginals(model, X), every.part_sums(model)
    for key in p.keys() | sums.keys():
        if not math.isclose(p.get(key, 0.0), sums.get(key, 0.0), rel_tol=close, abs_tol=close):
            raise Different(f"marginal: of {key} {p.get(key)}, and the sum {sums.get(key)}")
    demand_same("entropy", every.entropy, float(model.entropy(X)[0]), close)
    if "proba" in subject.queries:
        some = _some(model, len(every.outputs), rng)
        some = [i for i in some if _tells_length(model, X, every.outputs[i])]
        said = _probabilities_of(model, X, [every.outputs[i] for i in some])
        demand_same("probabilities", every.p[some].tolist(), said, close)
    if hasattr(model, "structure_"):
        (scores,) = next(iter(model._score_chunks(model._read(X))))
        value = model.structure_.log_partition(temperature=temperature(model), **scores)
        demand_same("log_partition", every.log_partition, float(value), close)


@relation("all trees of a pipeline", PIPELINES, claim="to 1e-9", cost="fit")
def all_trees_of_a_pipeline(subject: Subject, rng: Rng) -> None:
    """The confidence of a head is the share of the trees (order 2: projective ones) with it."""
    model = at_temperature(subject, rng)
    words = [word for word in subject.inputs(rng, 1)[0] if word.strip()][: int(rng.integers(1, 4))]
    if (every := listing(model, [words])) is None:
        return
    sums = every.part_sums(model)
    for m, word in enumerate(model.annotate([words], confidence=True).words):
        share = sums.get((m, word.head, word.relation), 0.0)
        demand_same("head", share, word.confidence["head"], ROUNDING)


def _number(tagger: Tagger, length: int) -> int:
    """Return the number of labellings of a sentence."""
    labels, scheme = tagger.model_.labels, tagger.model_.training.get("scheme") or "none"
    if scheme == "none":
        return min(len(labels), tagger.candidates or len(labels)) ** length
    return sum(is_legal(y, scheme) for y in itertools.product(labels, repeat=length))


def _some(model: Any, n: int, rng: Rng) -> list[int]:
    """Return the numbers of some outputs; of constituency parsers, which rank, the first ones."""
    if isinstance(model, ConstituencyParser):
        return list(range(min(n, ASKED)))
    return sorted({0, n - 1, *rng.integers(n, size=ASKED).tolist()})


@relation(
    "samples",
    LISTED,
    claim=f"P(mistaken) < {MISTAKEN:g}",
    not_claimed={**_NO_SUMS, **_NOT_EXACT, **_PAIRS},
)
def samples(subject: Subject, rng: Rng) -> None:
    """Draws are outputs, as frequent as they are probable.

    For N draws and the frequency f of what has probability p, P(N · KL(f, p) > t) < 2 exp(−t)
    (Chernoff), whatever the numbers are.
    """
    if (asked := _asked(subject, rng)) is None:
        return
    model, X = asked[0], tiny(*asked, rng)
    if (every := listing(model, X)) is None:
        return
    drawn = model.sample(X, n=DRAWS, random_state=int(rng.integers(2**31)))[0]
    counts = Counter(repr(plain(y)) for y in drawn)
    expected: dict[Any, float] = {}
    frequency: Counter[Any] = Counter()
    for output, p in zip(every.outputs, every.p.tolist(), strict=True):
        name = repr(plain(output))
        times = counts.pop(name, 0)
        for key in {name, *parts(model, output)}:
            expected[key] = expected.get(key, 0.0) + p
            frequency[key] += times
    if counts:
        raise Different(f"no output: {min(counts)[:200]} was drawn")
    most = math.log(2 * len(expected) / MISTAKEN)
    for key, p in expected.items():
        if DRAWS * _divergence(frequency[key] / DRAWS, p) > most:
            raise Different(f"too often or too rarely: {key} {frequency[key]} times, p = {p:.4g}")


@relation(
    "labels: marginals",
    {k: s for k, s in ESTIMATORS.items() if s.queries == ("predict", "proba")},
    claim="to 1e-9",
)
def label_marginals(subject: Subject, rng: Rng) -> None:
    """Several labels at once: P(label) is the sum over all of their combinations."""
    classifier: MultiLabelClassifier = subject.fitted(rng)
    X = subject.inputs(rng, 1)
    inner = classifier.estimator_
    every = listing(inner, classifier.as_examples(X))
    names = inner.classes_.tolist()
    sums = every.part_sums(inner)
    p = [sums.get((k, names.index(1)), 0.0) for k in range(len(classifier.classes_))]
    demand_same("P(label)", p, classifier.predict_proba(X)[0].tolist(), ROUNDING)
    demand_same("predict", every.outputs[0].tolist(), classifier.predict(X)[0].tolist())


def _divergence(f: float, p: float) -> float:
    """Return the divergence of a frequency from a probability, at least as large as it is."""
    p = min(max(p, 1e-12), 1 - 1e-12)  # probabilities themselves are rounded
    terms = ((f, p), (1 - f, 1 - p))
    return sum(a * math.log(a / b) for a, b in terms if a > 0)
