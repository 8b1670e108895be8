"""Every member of the loss family, on several structures, against the sum over all outputs."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from structlearn.losses import (
    Hamming,
    LabelCost,
    StructuredLoss,
    hinge_loss,
    log_loss,
    perceptron_loss,
    softmax_margin_loss,
)
from structlearn.structures import Chain, Exhaustive, Multiclass
from structlearn.testing import check_structure
from tests.losses.loss_reference import AtMostOne, EnumeratedLoss, score

REPEATABLE = settings(derandomize=True, deadline=None, database=None)
STRUCTURES = {
    "multiclass": Multiclass,
    "chain": Chain,
    "order 2": lambda: Chain(order=2),
    "written in Python": AtMostOne,
    "enumerated": lambda: Exhaustive(Chain()),
}
TABLE = np.array([[0.0, 2.0, 0.5], [1.5, 0.0, 3.0], [0.25, 1.0, 0.0]])


def known(y):
    return [(t, k) for t, k in enumerate(y) if k is not None]


def hamming(y, z):
    return sum(k != z[t] for t, k in known(y))


# A cost as the library takes it, and as the formula says it, of sequences of labels.
COSTS = {
    "hamming": ("hamming", hamming),
    "divided by length": ("hamming-mean", lambda y, z: hamming(y, z) / len(y)),
    "table": (TABLE, lambda y, z: sum(TABLE[k, z[t]] for t, k in known(y))),
    "table that charges the right label": (
        TABLE + 0.75 * np.eye(3),
        lambda y, z: sum(TABLE[k, z[t]] + 0.75 * (k == z[t]) for t, k in known(y)),
    ),
    "position weights": (
        Hamming(weights=lambda labels: 1.0 + np.arange(len(labels))),
        lambda y, z: sum((1.0 + t) * (k != z[t]) for t, k in known(y)),
    ),
    "label weights": (
        LabelCost(TABLE, weights={0: 3.0, 2: 0.5}, normalize=True),
        lambda y, z: (
            sum({0: 3.0, 1: 1.0, 2: 0.5}[k] * TABLE[k, z[t]] for t, k in known(y)) / len(y)
        ),
    ),
    "zero-one": ("zero-one", lambda y, z: float(list(y) != list(z))),
}


def as_sequence(y):
    return [y] if y is None or np.ndim(y) == 0 else list(y)


@st.composite
def examples(draw, name, partial):
    """A gold output, perhaps with unknown labels, and scores that do not forbid it."""
    structure = STRUCTURES[name]()
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    length = draw(st.integers(1, 4))
    shapes = {"label": (3,) if name == "multiclass" else (length, 3)}
    if name == "order 2":
        shapes["transition"] = (max(length - 2, 0), 3, 3, 3)
        shapes["transition1"] = (3, 3)
    elif name != "multiclass":
        shapes["transition"] = (3, 3)
    if name in ("chain", "order 2", "enumerated"):
        shapes.update(start=(3,), end=(3,))
    size = draw(st.sampled_from((0.3, 1.0, 5.0)))
    scores = {block: size * rng.normal(size=shape) for block, shape in shapes.items()}
    if draw(st.booleans()):
        scores = {block: np.round(a) for block, a in scores.items()}  # ties
    outputs = list(structure.outputs(**scores))
    y = outputs[rng.integers(len(outputs))]
    share = draw(st.sampled_from((0.0, 0.2, 0.5)))
    gold = structure.encode(y, **scores)
    for block, a in scores.items():
        a[(rng.random(a.shape) < share) & (gold[block] == 0)] = -np.inf
    if not partial:
        return structure, y, scores
    if name == "multiclass":
        return structure, None if rng.random() < 0.7 else y, scores
    return structure, [None if rng.random() < 0.5 else int(k) for k in y], scores


def check(structure, y, scores, cost, delta, margin, temperature):
    expected = EnumeratedLoss(
        structure,
        y,
        scores,
        lambda a, b: delta(as_sequence(a), as_sequence(b)),
        margin,
        temperature,
    )
    loss, gradient = StructuredLoss(cost, margin=margin, temperature=temperature)(
        structure, y, **scores
    )
    assert loss == pytest.approx(expected.loss, rel=1e-10, abs=1e-10)
    assert {n: a.shape for n, a in gradient.items()} == {n: a.shape for n, a in scores.items()}
    expected.check_gradient(gradient, atol=1e-9)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("temperature", [0, 0.3, 1, 5])
@pytest.mark.parametrize("name", STRUCTURES)
@settings(REPEATABLE, max_examples=15)
@given(data=st.data())
def test_full_labels(name, temperature, cost, data):
    margin = data.draw(st.sampled_from((0, 0.5, 1, 2)))
    check(*data.draw(examples(name, partial=False)), *COSTS[cost], margin, temperature)


@pytest.mark.parametrize("cost", [c for c in COSTS if c != "zero-one"])
@pytest.mark.parametrize("temperature", [0, 0.3, 1, 5])
@pytest.mark.parametrize("name", STRUCTURES)
@settings(REPEATABLE, max_examples=10)
@given(data=st.data())
def test_partial_labels(name, temperature, cost, data):
    margin = data.draw(st.sampled_from((0, 0.5, 1, 2)))
    check(*data.draw(examples(name, partial=True)), *COSTS[cost], margin, temperature)


@pytest.mark.parametrize("temperature", [0, 0.3, 1, 5])
@pytest.mark.parametrize("margin", [0, 0.5, 1, 2])
@pytest.mark.parametrize("name", STRUCTURES)
def test_every_margin_and_temperature(name, margin, temperature):
    """The corners of the family that drawing might miss, for the costs that differ most."""
    structure = STRUCTURES[name]()
    rng = np.random.default_rng(3)
    shapes = {"label": (3,) if name == "multiclass" else (3, 3)}
    if name == "order 2":
        shapes["transition"] = (3, 3, 3)
    elif name != "multiclass":
        shapes["transition"] = (3, 3)
    scores = {block: rng.normal(size=shape) for block, shape in shapes.items()}
    y = 2 if name == "multiclass" else [0, 2, 1]
    for cost in ("hamming", "table", "zero-one"):
        check(structure, y, scores, *COSTS[cost], margin, temperature)


@pytest.mark.parametrize(
    ("preset", "margin", "temperature"),
    [(perceptron_loss, 0, 0), (hinge_loss, 1, 0), (log_loss, 0, 1), (softmax_margin_loss, 1, 1)],
)
def test_presets(preset, margin, temperature):
    loss = preset()
    assert (loss.margin, loss.temperature) == (margin, temperature)
    scores = {"label": np.array([[0.2, 0.1], [0.4, 0.3]]), "transition": np.eye(2)}
    expected = EnumeratedLoss(Chain(), [0, 1], scores, hamming, margin, temperature)
    assert loss(Chain(), [0, 1], **scores)[0] == pytest.approx(expected.loss, abs=1e-13)


@settings(REPEATABLE, max_examples=60)
@given(data=st.data())
def test_hinge_bounds_the_cost_of_the_prediction(data):
    """ξ ≥ Δ(y, h(x)) ≥ 0 for the hinge: what makes it a surrogate."""
    name = data.draw(st.sampled_from(("multiclass", "chain", "written in Python")))
    cost = data.draw(st.sampled_from(("hamming", "table", "zero-one")))
    structure, y, scores = data.draw(examples(name, partial=False))
    given_cost, delta = COSTS[cost]
    slack, _ = StructuredLoss(given_cost, margin=1)(structure, y, **scores)
    predicted = structure.argmax(**scores)
    assert slack >= delta(as_sequence(y), as_sequence(predicted)) - 1e-12
    assert slack >= -1e-12


@settings(REPEATABLE, max_examples=60)
@given(data=st.data())
def test_loss_grows_with_temperature_and_margin(data):
    name = data.draw(st.sampled_from(("multiclass", "chain", "written in Python")))
    structure, y, scores = data.draw(examples(name, partial=False))
    losses = [
        [StructuredLoss(margin=g, temperature=e)(structure, y, **scores)[0] for e in (0, 0.3, 1)]
        for g in (0, 1, 2)
    ]
    assert (np.diff(losses, axis=0) >= -1e-12).all()
    assert (np.diff(losses, axis=1) >= -1e-12).all()


@pytest.mark.parametrize("temperature", [0.3, 1, 5])
@pytest.mark.parametrize("cost", ["hamming", "zero-one"])
@settings(REPEATABLE, max_examples=15)
@given(data=st.data())
def test_gradient_is_the_derivative(cost, temperature, data):
    """Central differences in θ, which know no formula."""
    name = data.draw(st.sampled_from(("multiclass", "chain", "written in Python")))
    structure, y, scores = data.draw(examples(name, partial=cost == "hamming"))
    loss = StructuredLoss(cost, margin=1, temperature=temperature)
    _, gradient = loss(structure, y, **scores)
    h = 1e-5
    for block, a in scores.items():
        for at in np.argwhere(np.isfinite(a))[:4]:
            ends = []
            for sign in (1, -1):
                moved = {n: b.copy() for n, b in scores.items()}
                moved[block][tuple(at)] += sign * h
                ends.append(loss(structure, y, **moved)[0])
            slope = (ends[0] - ends[1]) / (2 * h)
            assert gradient[block][tuple(at)] == pytest.approx(slope, abs=2e-6)


def test_all_labels_unknown_is_no_loss_at_margin_zero():
    scores = {"label": np.array([[0.2, 1.1], [0.4, 0.3]]), "transition": np.eye(2)}
    for temperature in (0, 1):
        loss, gradient = StructuredLoss(temperature=temperature)(Chain(), [None, None], **scores)
        assert loss == 0
        assert all((a == 0).all() for a in gradient.values())


def test_an_output_all_alone_costs_nothing():
    """With one legal output there is no runner-up, at any temperature."""
    scores = {"label": np.array([[0.3, -np.inf], [-np.inf, 2.0]])}
    for cost in ("hamming", "zero-one"):
        for temperature in (0, 1):
            loss = StructuredLoss(cost, margin=1, temperature=temperature)
            assert loss(Chain(), [0, 1], **scores)[0] == 0


def test_the_structure_of_these_tests_is_one():
    report = check_structure(AtMostOne(), n_inputs=2)
    assert not report.missing


def test_label_weights_go_by_position_of_the_gold_label():
    scores = {"label": np.zeros((2, 3))}
    costs, constant = Hamming(weights={1: 5.0}).parts(Chain(), [1, 0], **scores)
    assert constant == 0
    np.testing.assert_array_equal(costs["label"], [[5, 0, 5], [0, 1, 1]])


@pytest.mark.parametrize("margin", [-1, np.nan, np.inf])
def test_bad_margin(margin):
    with pytest.raises(ValueError, match="margin must be a finite number >= 0"):
        StructuredLoss(margin=margin)


@pytest.mark.parametrize("temperature", [-1, np.nan, np.inf])
def test_bad_temperature(temperature):
    with pytest.raises(ValueError, match="temperature must be a finite number >= 0"):
        StructuredLoss(temperature=temperature)


def test_forbidden_gold_is_refused():
    scores = {"label": np.array([[0.0, -np.inf], [0.0, 0.0]])}
    with pytest.raises(ValueError, match="the gold output is forbidden"):
        StructuredLoss(margin=1)(Chain(), [1, 0], **scores)


def test_zero_one_needs_every_label():
    with pytest.raises(ValueError, match="zero-one cost needs all labels"):
        StructuredLoss("zero-one", margin=1)(Chain(), [None, 0], label=np.zeros((2, 2)))


@settings(REPEATABLE, max_examples=30)
@given(data=st.data())
def test_zero_one_is_the_runner_up(data):
    """max(0, 1 + s(second) − s(gold)), the second found by sorting all outputs."""
    name = data.draw(st.sampled_from(("chain", "written in Python")))
    structure, y, scores = data.draw(examples(name, partial=False))
    others = [
        score(structure, z, scores) for z in structure.outputs(**scores) if not np.array_equal(z, y)
    ]
    assume(others)
    loss, _ = StructuredLoss("zero-one", margin=1)(structure, y, **scores)
    assert loss == pytest.approx(max(0, 1 + max(others) - score(structure, y, scores)), abs=1e-12)
