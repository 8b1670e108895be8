"""Relations on tiny inputs: marginals, entropies and samples agree with enumeration."""

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
    temperature,
    tiny,
)
from fuzz.metamorphic.oracles.schemes import is_legal
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import ESTIMATORS, PIPELINES, Subject
from fuzz.metamorphic.summed import (
    COUNTS,
    LISTED,
    NO_SUMS,
    NOT_EXACT,
    PAIRS,
    ROUNDING,
    WORDLESS,
    asked_of,
    probabilities_of,
    tells_length,
)
from structlearn import MultiLabelClassifier
from structlearn.tasks import Tagger
from structlearn.tasks.pipeline.confidence import head_calibration

__all__: list[str] = []

Rng = np.random.Generator

#: The probability that a draw rejects correct frequencies.
MISTAKEN = 1e-16
#: The numbers of sampled outputs, and of outputs whose probabilities are queried.
DRAWS, ASKED = 400, 4


@relation(
    "all outputs",
    LISTED,
    claim="to 1e-9",
    not_claimed={**NO_SUMS, **NOT_EXACT, **PAIRS, **WORDLESS, **COUNTS},
)
def all_outputs(subject: Subject, rng: Rng) -> None:
    """Sums over the k-best list of all outputs equal the model's answers."""
    if (question := asked_of(subject, rng)) is None:
        return
    model, X = question[0], tiny(*question, rng)
    if (every := listing(model, X)) is None:
        return
    if len({repr(plain(y)) for y in every.outputs}) < len(every.outputs):
        raise Different("the same output twice")
    if isinstance(model, Tagger):
        demand_same("number of outputs", _number(model, len(X[0])), len(every.outputs))
    p, sums = marginals(model, X), every.part_sums(model)
    for key in p.keys() | sums.keys():
        if not math.isclose(
            p.get(key, 0.0), sums.get(key, 0.0), rel_tol=ROUNDING, abs_tol=ROUNDING
        ):
            raise Different(f"marginal: of {key} {p.get(key)}, and the sum {sums.get(key)}")
    demand_same("entropy", every.entropy, float(model.entropy(X)[0]), ROUNDING)
    if "proba" in subject.queries:
        numbers = _some(model, len(every.outputs), rng)
        numbers = [i for i in numbers if tells_length(model, X, every.outputs[i])]
        probabilities = probabilities_of(model, X, [every.outputs[i] for i in numbers])
        demand_same("probabilities", every.p[numbers].tolist(), probabilities, ROUNDING)
    if hasattr(model, "structure_"):
        (scores,) = model._inputs(X).scores()
        value = model.structure_.log_partition(temperature=temperature(model), **scores)
        demand_same("log_partition", every.log_partition, float(value), ROUNDING)


@relation("all trees of a pipeline", PIPELINES, claim="to 1e-6", cost="fit")
def all_trees_of_a_pipeline(subject: Subject, rng: Rng) -> None:
    """The confidence of a head is the share of the trees (order 2: projective ones) with it."""
    model = at_temperature(subject, rng)
    words = [word for word in subject.inputs(rng, 1)[0] if word.strip()][: int(rng.integers(1, 4))]
    if (every := listing(model, [words])) is None:
        return
    calibration = head_calibration(model.model_.parts["parser"])
    for m, word in enumerate(model.annotate([words], confidence=True)):
        with_head = [
            p for p, y in zip(every.p, every.outputs, strict=True) if y[m][0] == word.head_id
        ]
        share = min(1.0, float(sum(with_head)))
        wanted = share if calibration is None else calibration.confidence(share)
        demand_same("head", wanted, word.confidence["head"], 1e-6)  # smaller shares are left out


def _number(tagger: Tagger, length: int) -> int:
    """Return the number of labellings of a sentence."""
    labels, scheme = tagger.model_.labels, tagger.model_.training.get("scheme") or "none"
    if scheme == "none":
        return min(len(labels), tagger.candidates or len(labels)) ** length
    return sum(is_legal(y, scheme) for y in itertools.product(labels, repeat=length))


def _some(model: Any, n: int, rng: Rng) -> list[int]:
    """Return the numbers of some outputs."""
    return sorted({0, n - 1, *rng.integers(n, size=ASKED).tolist()})


@relation(
    "samples",
    LISTED,
    claim=f"P(mistaken) < {MISTAKEN:g}",
    not_claimed={**NO_SUMS, **NOT_EXACT, **PAIRS},
)
def samples(subject: Subject, rng: Rng) -> None:
    """Samples are outputs with the right frequencies.

    For N draws and the frequency f of an event of probability p, P(N · KL(f, p) > t) < 2 exp(−t)
    (Chernoff).
    """
    if (question := asked_of(subject, rng)) is None:
        return
    model, X = question[0], tiny(*question, rng)
    if (every := listing(model, X)) is None:
        return
    drawn = model.sample(X, n=DRAWS, random_state=int(rng.integers(2**31)))[0]
    counts = Counter(map(_name, drawn))
    expected: dict[Any, float] = {}
    frequency: Counter[Any] = Counter()
    for output, p in zip(every.outputs, every.p.tolist(), strict=True):
        name = _name(output)
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
    """Multilabel: P(label) is the sum over all combinations with it."""
    classifier: MultiLabelClassifier = subject.fitted(rng)
    X = subject.inputs(rng, 1)
    inner = classifier.estimator_
    every = listing(inner, classifier.as_examples(X))
    names = inner.classes_.tolist()
    sums = every.part_sums(inner)
    p = [sums.get((k, names.index(1)), 0.0) for k in range(len(classifier.classes_))]
    demand_same("P(label)", p, classifier.predict_proba(X)[0].tolist(), ROUNDING)
    demand_same("predict", every.outputs[0].tolist(), classifier.predict(X)[0].tolist())


def _name(output: Any) -> str:
    """Return a key that identifies an output."""
    if isinstance(output, np.ndarray):
        return repr(output.tolist())
    return repr(output) if isinstance(output, list) else repr(plain(output))


def _divergence(f: float, p: float) -> float:
    """Return an upper bound of the divergence of a frequency from a probability."""
    p = min(max(p, 1e-12), 1 - 1e-12)  # probabilities are rounded too
    terms = ((f, p), (1 - f, 1 - p))
    return sum(a * math.log(a / b) for a, b in terms if a > 0)
