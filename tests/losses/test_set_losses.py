"""Losses of outputs where a label is one of a set, against the sum over all outputs."""

import itertools

import numpy as np
import pytest

from structlearn.estimators import StructuredModel
from structlearn.losses import Hamming, LabelCost, StructuredLoss
from structlearn.structures import Chain, Exhaustive, Multiclass, SemiMarkov
from tests.losses.loss_reference import AtMostOne, EnumeratedLoss

TABLE = np.array([[0.0, 2.0, 0.5], [1.5, 0.0, 3.0], [0.25, 1.0, 0.0]])
WEIGHTS = {0: 3.0, 2: 0.5}
FAMILY = list(itertools.product((0, 1, 2), (0, 0.3, 1)))

STRUCTURES = {
    "chain": Chain,
    "order 2": lambda: Chain(order=2),
    "written in Python": AtMostOne,
    "enumerated": lambda: Exhaustive(Chain()),
}


def members(gold):
    return sorted(gold) if isinstance(gold, (set, frozenset)) else [gold]


def cost_of(delta):
    """Δ(y, z): the least of δ over what each position allows, nothing where all is allowed."""

    def total(y, z):
        pairs = ((k, j) for k, j in zip(y, z, strict=True) if k is not None and len(members(k)) < 3)
        return sum(delta(members(k), j) for k, j in pairs)

    return total


def mean_weight(gold):
    return np.mean([WEIGHTS.get(k, 1.0) for k in gold])


COSTS = {
    "hamming": ("hamming", lambda gold, j: float(j not in gold)),
    "table": (TABLE, lambda gold, j: min(TABLE[k, j] for k in gold)),
    "table that charges the right label": (
        TABLE + 0.75,
        lambda gold, j: min(TABLE[k, j] + 0.75 for k in gold),
    ),
    "label weights": (
        LabelCost(TABLE, weights=WEIGHTS),
        lambda gold, j: mean_weight(gold) * min(TABLE[k, j] for k in gold),
    ),
}

OUTPUTS = [
    [{0, 1}, 2, None],
    [1, {0, 2}, frozenset({0, 2})],
    [{2}, 0, 2],
    [{0, 1, 2}, {1, 2}, 0],
    [{0, 2}],
]


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("name", STRUCTURES)
def test_against_enumeration(name, cost):
    structure = STRUCTURES[name]()
    given, delta = COSTS[cost]
    rng = np.random.default_rng(0)
    for y in OUTPUTS:
        scores = {"label": rng.normal(size=(len(y), 3)), "transition": rng.normal(size=(3, 3))}
        if name == "order 2":
            scores["transition1"] = scores["transition"]
            scores["transition"] = rng.normal(size=(3, 3, 3))
        for margin, temperature in FAMILY:
            expected = EnumeratedLoss(structure, y, scores, cost_of(delta), margin, temperature)
            loss = StructuredLoss(given, margin=margin, temperature=temperature)
            value, gradient = loss(structure, y, **scores)
            assert value == pytest.approx(expected.loss, abs=1e-11)
            expected.check_gradient(gradient, atol=1e-11)


def test_single_labels_and_segments():
    rng = np.random.default_rng(1)
    for margin, temperature in FAMILY:
        loss = StructuredLoss(TABLE, margin=margin, temperature=temperature)
        for y in (1, None, {0, 2}):
            scores = {"label": rng.normal(size=3)}
            delta = cost_of(COSTS["table"][1])
            expected = EnumeratedLoss(
                Multiclass(), y, scores, lambda y, z, d=delta: d([y], [z]), margin, temperature
            )
            assert loss(Multiclass(), y, **scores)[0] == pytest.approx(expected.loss, abs=1e-11)
        # The places of the segments are known, their labels in part.
        structure, y = SemiMarkov(2), [(0, 2, {0, 1}), (2, 3, 2), (3, 4, None)]
        scores = {"segment": rng.normal(size=(4, 2, 3)), "transition": rng.normal(size=(3, 3))}
        spans = [segment[:2] for segment in y]
        legal = [
            z for z in structure.outputs(**scores)
            if [segment[:2] for segment in z] == spans and z[0][2] < 2 and z[1][2] == 2
        ]  # fmt: skip
        below = [structure.score(z, **scores) for z in legal]
        labels = structure.labels_of
        above = [
            structure.score(z, **scores) + margin * delta(labels(y), labels(z))
            for z in structure.outputs(**scores)
        ]
        soft = max if temperature == 0 else lambda v, e=temperature: e * np.log(
            np.sum(np.exp(np.array(v) / e))
        )  # fmt: skip
        assert loss(structure, y, **scores)[0] == pytest.approx(
            soft(above) - soft(below), abs=1e-11
        )


def test_gradient_by_differences():
    rng = np.random.default_rng(2)
    scores = {"label": rng.normal(size=(3, 3)), "transition": rng.normal(size=(3, 3))}
    loss = StructuredLoss(TABLE, margin=1.0, temperature=0.7)
    for y in OUTPUTS[:4]:
        _, gradient = loss(Chain(), y, **scores)
        for name, at in itertools.product(scores, itertools.product(range(3), repeat=2)):
            ends = []
            for step in (1e-5, -1e-5):
                moved = {n: a.copy() for n, a in scores.items()}
                moved[name][at] += step
                ends.append(loss(Chain(), y, **moved)[0])
            assert gradient[name][at] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-7)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("name", [*STRUCTURES, "multiclass", "segments"])
def test_problems_have_the_same_losses(name, cost):
    """The core's losses, from labels by name, are those of the structure's own scores."""
    given, _ = COSTS[cost]
    rng = np.random.default_rng(3)
    if name == "multiclass":
        structure, outputs = Multiclass(), [0, 1, 2, None, {0, 2}, {0, 1, 2}, {1}]
        X = rng.normal(size=(7, 2))
    elif name == "segments":
        structure = SemiMarkov(2)
        outputs = [
            [(0, 1, 0), (1, 2, 1), (2, 3, 2)],
            [(0, 2, {0, 1}), (2, 3, None)],
            [(0, 2, {2}), (2, 4, {0, 1, 2}), (4, 5, {1, 2})],
        ]
        X = [rng.normal(size=(y[-1][1], 2, 2)) for y in outputs]
    else:
        structure, outputs = STRUCTURES[name](), [[0, 1, 2], *OUTPUTS]
        X = [rng.normal(size=(len(y), 2)) for y in outputs]
    problem = StructuredModel(structure, cost=given).problem(X, outputs)
    w = rng.normal(size=problem.n_weights)
    for i, y in enumerate(outputs):
        for margin, temperature in FAMILY:
            loss = StructuredLoss(given, margin=margin, temperature=temperature)
            expected, slope = loss(structure, y, **problem.scores(i, w))
            value, gradient = problem.loss(i, w, margin, temperature)
            assert value == pytest.approx(expected, abs=1e-11)
            flat = np.concatenate([slope[block].ravel() for block in problem.layout.present()])
            np.testing.assert_allclose(gradient.dense(len(flat)), flat, atol=1e-10)


def test_position_weights_see_the_sets():
    seen = []

    def weights(labels):
        seen.append(labels)
        return np.ones(len(labels))

    y = [["a", "b", "c"], [{"a", "b"}, None, {"c"}]]
    X = [np.ones((3, 1))] * 2
    StructuredModel(cost=Hamming(weights=weights)).problem(X, y)
    assert seen == [["a", "b", "c"], [frozenset({"a", "b"}), None, "c"]]


@pytest.mark.parametrize(
    ("y", "message"),
    [([set(), 1], "the set of allowed labels is empty"), ([{0, 3}, 1], r"among 0\.\.2: \[0, 3\]")],
)
def test_sets_that_make_no_sense(y, message):
    with pytest.raises(ValueError, match=message):
        StructuredLoss()(Chain(), y, label=np.zeros((2, 3)))
