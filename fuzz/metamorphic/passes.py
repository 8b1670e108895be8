"""Relations on passes of online learners: calls, copies, zero weights, warm starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import demand_same, plain
from fuzz.metamorphic.examples import EXAMPLES, Examples, labels_of, weights_of
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.rows import demand_absence
from structlearn import (
    AROW,
    CRF,
    AdaGrad,
    PassiveAggressive,
    StructuredPerceptron,
    StructuredSVM,
)

Rng = np.random.Generator
Subject = Callable[[Rng], Examples]
Options = dict[str, Any]

#: Learners whose steps depend only on an example and its weight.
PLAIN: tuple[tuple[Any, Options], ...] = (
    (StructuredPerceptron, {}),
    (PassiveAggressive, {"C": 0.1}),
    (PassiveAggressive, {"loss": "squared_hinge"}),
    (AROW, {"r": 0.5}),
)
#: Learners whose steps depend on the number of examples.
COUNTING: tuple[tuple[Any, Options], ...] = (
    (StructuredSVM, {"solver": "sgd", "C": 0.3, "tol": 0}),
    (StructuredSVM, {"solver": "sgd", "step": "constant", "tol": 0}),
    (CRF, {"solver": "sgd", "tol": 0}),
    (AdaGrad, {"C": 0.3, "tol": 0}),
    (AdaGrad, {"margin": 0.0, "temperature": 1.0, "tol": 0}),
)
NOT_COUNTING = "steps go by the number of the examples"


def draw_learner(rng: Rng, it: Examples, among: Any, **options: Any) -> tuple[Any, Options]:
    """Draw an online learner that takes the examples in their order: its class and options."""
    make, own = among[int(rng.integers(len(among)))]
    average = bool(rng.random() < 0.5)
    return make, {"structure": it.structure, "shuffle": False, "average": average, **own, **options}


def _same(question: str, one: Any, other: Any) -> None:
    demand_same(question, plain(weights_of(one)), plain(weights_of(other)))


def _classes(it: Examples) -> Options:
    names = sorted({k for y in it.y for k in labels_of(y)})
    return {"classes": names} if names else {}


def _some_weights(rng: Rng, it: Examples) -> Any:
    """Draw weights, some of them 0, so that `fit` still sees every class."""
    weights = rng.integers(0, 3, size=len(it)).astype(float)
    labels = [set(labels_of(y)) for y in it.y]
    for name in sorted(set().union(*labels)):
        rows = [i for i, classes in enumerate(labels) if name in classes]
        weights[rows[0]] += not weights[rows].any()
    weights[0] += not weights.any()
    return weights


@relation("partial_fit k times = fit of k passes", EXAMPLES, cost="fit")
def calls(subject: Subject, rng: Rng) -> None:
    """k calls on the same data are fit(max_iter=k, shuffle=False)."""
    it = subject(rng)
    make, options = draw_learner(rng, it, (*PLAIN, *COUNTING))
    weights = None if rng.random() < 0.5 else _some_weights(rng, it)
    k = int(rng.integers(1, 6))
    going = make(**options)
    for _ in range(k):
        going.partial_fit(it.X, it.y, **_classes(it), sample_weight=weights)
    _same("weights", going, it.fit(make(**options, max_iter=k), sample_weight=weights))


@relation(
    "copies in order = passes",
    EXAMPLES,
    cost="fit",
    not_claimed={"sgd, AdaGrad": NOT_COUNTING},
)
def in_order(subject: Subject, rng: Rng) -> None:
    """One pass over k copies of the data, one after another, is k passes."""
    it = subject(rng)
    make, options = draw_learner(rng, it, PLAIN)
    k = int(rng.integers(2, 5))
    several = it.rows(list(range(len(it))) * k)
    _same("weights", several.fit(make(**options, max_iter=1)), it.fit(make(**options, max_iter=k)))


@relation(
    "batches in order = one pass",
    {name: draw for name, draw in EXAMPLES.items() if name != "names"},
    cost="fit",
    not_claimed={
        "sgd, AdaGrad": NOT_COUNTING,
        "names": "a weight exists from the call on that saw its feature",
    },
)
def in_batches(subject: Subject, rng: Rng) -> None:
    """Calls on parts of the data are one pass over the whole."""
    it = subject(rng)
    make, options = draw_learner(rng, it, PLAIN)
    cut = int(rng.integers(1, len(it)))
    going = make(**options)
    for part in (it.rows(range(cut)), it.rows(range(cut, len(it)))):
        going.partial_fit(part.X, part.y, **_classes(it))
    _same("weights", going, it.fit(make(**options, max_iter=1)))


@relation("weight 0 = removed, online", EXAMPLES, cost="fit")
def without(subject: Subject, rng: Rng) -> None:
    """An example of weight 0 counts as absent: no step, no share of the average."""
    it = subject(rng)
    make, options = draw_learner(rng, it, (*PLAIN, *COUNTING), max_iter=int(rng.integers(1, 5)))
    options |= {"shuffle": bool(rng.random() < 0.5), "random_state": 0}
    demand_absence(rng, it, lambda: make(**options))


#: Learners, the parameter's power of a that compensates for weights a times as large, and the
#: power of a by which the model's weights then grow.
MADE_UP: tuple[tuple[Any, Options, dict[str, int], int], ...] = (
    (StructuredPerceptron, {}, {}, 1),
    (PassiveAggressive, {"C": 0.1}, {"C": -1}, 0),
    (PassiveAggressive, {"C": 1.0, "loss": "squared_hinge"}, {"C": -1}, 0),
    (AROW, {"r": 0.5}, {"r": 1}, 0),
    (StructuredSVM, {"solver": "sgd", "C": 0.3, "tol": 0}, {"C": -1}, 0),
    (CRF, {"solver": "sgd", "C": 1.0, "tol": 0}, {"C": -1}, 0),
    (AdaGrad, {"C": 0.3, "tol": 0}, {"C": -1, "delta": 1}, 0),
)


@relation(
    "weights scaled, online",
    EXAMPLES,
    cost="fit",
    not_claimed={"sgd of constant steps": "the steps go by the weights, what is forgotten by C"},
)
def scaled(subject: Subject, rng: Rng) -> None:
    """Weights a times as large, a power of 2: C, r or δ makes up for it, or the model is as large.

    A weight that a step forgets is made up for all the same.
    """
    it = subject(rng)
    make, own, powers, size = MADE_UP[int(rng.integers(len(MADE_UP)))]
    options = {"structure": it.structure, "shuffle": False, "max_iter": int(rng.integers(1, 5)),
               "average": bool(rng.random() < 0.5)}  # fmt: skip
    a, weights = float(rng.choice((0.25, 0.5, 2.0, 8.0))), rng.uniform(0.2, 3.0, size=len(it))
    first, other = make(**options, **own), make(**options, **own)
    for name, power in powers.items():
        setattr(other, name, getattr(first, name, 1.0) * a**power)
    plain_fit, scaled_fit = (
        it.fit(first, sample_weight=weights),
        it.fit(other, sample_weight=a * weights),
    )
    expected = {name: block * a**size for name, block in weights_of(plain_fit).items()}
    demand_same(f"{make.__name__}: weights", plain(expected), plain(weights_of(scaled_fit)))


@relation(
    "warm start = more passes",
    EXAMPLES,
    cost="fit",
    not_claimed={"averages": "those of a warm start begin anew", "sgd, AdaGrad": NOT_COUNTING},
)
def warm(subject: Subject, rng: Rng) -> None:
    """Without averages a warm start goes on."""
    it = subject(rng)
    make, options = draw_learner(rng, it, PLAIN[:1])
    options["average"] = False
    first, second = (int(rng.integers(1, 4)) for _ in range(2))
    going = it.fit(make(**options, max_iter=first, warm_start=True))
    going.set_params(max_iter=second)
    _same("weights", it.fit(going), it.fit(make(**options, max_iter=first + second)))


@relation(
    "examples without a known label, online",
    {name: EXAMPLES[name] for name in ("sequences", "trees", "order 2", "order 0")},
    cost="fit",
    not_claimed={"averages": "they are taken over all steps", "sgd, AdaGrad": NOT_COUNTING},
)
def unknown(subject: Subject, rng: Rng) -> None:
    """A perceptron makes no mistake where nothing is known."""
    it = subject(rng)
    options: Options = {"structure": it.structure, "shuffle": False, "average": False,
                        "max_iter": int(rng.integers(1, 5))}  # fmt: skip
    X, y = list(it.X), list(it.y)
    i, place = int(rng.integers(len(X))), int(rng.integers(len(X) + 1))
    X.insert(place, X[i])
    y.insert(place, [None] * len(y[i]))
    mixed = StructuredPerceptron(**options).fit(X, y)
    _same("weights", it.fit(StructuredPerceptron(**options)), mixed)
