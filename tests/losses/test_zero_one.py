"""The zero-one cost, where the gold output is far ahead and where others equal it in parts."""

import warnings

import numpy as np
import pytest

from structlearn.constraints import Label, forbid, with_constraints
from structlearn.estimators import StructuredSVM
from structlearn.exceptions import CapabilityError, ConvergenceWarning
from structlearn.losses import StructuredLoss
from structlearn.structures import (
    Block,
    Chain,
    Constituency,
    Exhaustive,
    Grammar,
    Grid,
    Lattice,
    Structure,
)
from tests.structures.exact_enumeration import Exact
from tests.structures.structure_zoo import ZOO, draw_scores


def zero_one(structure, y, margin, temperature, **scores):
    return StructuredLoss("zero-one", margin=margin, temperature=temperature)(
        structure, y, **scores
    )


@pytest.mark.parametrize("ratio", [0.5, 12, 20, 30])
@pytest.mark.parametrize(("scale", "offset"), [(0.3, 0), (5, 0), (1, 1e5)])
@pytest.mark.parametrize("name", ZOO)
def test_loss_and_gradient_equal_exact_enumeration(name, scale, offset, ratio):
    structure = ZOO[name][0]
    rng = np.random.default_rng(1)
    for temperature in (0.05, 1.0):
        scores = draw_scores(name, rng, scale, offset)
        exact = Exact(structure, structure.outputs(**scores), temperature, **scores)
        best = max(range(len(exact.outputs)), key=lambda i: exact.totals[i])
        size = sum(float(np.abs(a).sum()) for a in scores.values())
        for gold in (best, int(rng.integers(len(exact.outputs)))):
            y, margin = exact.outputs[gold], ratio * temperature
            loss, gradient = zero_one(structure, y, margin, temperature, **scores)
            right, slope = exact.zero_one(gold, margin)
            # What the rounding of the scores costs, beside what the loss promises.
            rounding = 2e-15 * size
            assert loss == pytest.approx(right, abs=1e-9 * temperature + rounding)
            for block, expected in slope.items():
                slack = 1e-8 + rounding / temperature
                np.testing.assert_allclose(gradient[block], expected, rtol=0, atol=slack)


def test_gradient_of_strengths_by_finite_differences():
    def loss(strength):
        return zero_one(
            Grid(), [[0, 1]], 1, 1, label=np.zeros((1, 2, 2)), potts_right=np.array([[strength]])
        )

    numeric = (loss(1 + 1e-5)[0] - loss(1 - 1e-5)[0]) / 2e-5
    assert loss(1.0)[1]["potts_right"][0, 0] == pytest.approx(numeric, rel=1e-8)
    assert numeric == pytest.approx(0.799, abs=1e-3)


def test_one_legal_output_costs_nothing():
    rng = np.random.default_rng(1)
    label, transition = 10 * rng.normal(size=(4, 1)), rng.normal(size=(1, 1))
    for temperature in (0.05, 0.001, 1.0):
        loss, slope = zero_one(Chain(), [0] * 4, 3, temperature, label=label, transition=transition)
        assert loss == 0
        assert not any(a.any() for a in slope.values())


def test_the_smallest_losses_keep_their_digits():
    """Gold is ahead by 60 ε: exp(−60) of the mass is left, less than log Z can show."""
    label = np.array([[60.0, 0.0], [60.0, 0.0]])
    loss, slope = zero_one(Chain(), [0, 0], 30, 1, label=label)
    assert loss == pytest.approx(2 * np.exp(-30), rel=1e-9, abs=0)
    assert slope["label"][0] == pytest.approx([-np.exp(-30), np.exp(-30)], rel=1e-9, abs=0)


def test_under_masks_and_where_there_are_no_exact_sums():
    label = np.random.default_rng(0).normal(size=(3, 3))
    chain = with_constraints(Chain(), [forbid(Label(2, at=1))])
    masked = label.copy()
    masked[1, 2] = -np.inf
    exact = Exact(Chain(), Chain().outputs(label=masked), 0.1, label=masked)
    best = max(range(len(exact.outputs)), key=lambda i: exact.totals[i])
    loss, slope = zero_one(chain, exact.outputs[best], 3, 0.1, label=label)
    right, expected = exact.zero_one(best, 3)
    assert loss == pytest.approx(right, abs=1e-10)
    np.testing.assert_allclose(slope["label"], expected["label"], atol=1e-8)
    wide = Grid()
    label = np.zeros((30, 30, 3))
    with pytest.raises(CapabilityError, match="treewidth"):
        wide.infer_others(
            np.zeros((30, 30), dtype=int), label=label, right=np.eye(3), down=np.eye(3)
        )


# -- outputs that differ and have the same parts --------------------------------------------------

TWO_TREES = [
    [(0, 3, 0), (0, 1, 0), (1, 3, 0), (1, 2, 0), (2, 3, 0)],
    [(0, 3, 0), (0, 2, 0), (0, 1, 0), (1, 2, 0), (2, 3, 0)],
]


@pytest.mark.parametrize("gold", TWO_TREES)
def test_runner_up_with_the_parts_of_the_gold_output(gold):
    structure = Constituency(Grammar(1, [(0, 0, 0)]))
    word = np.array([[0.3], [1.0], [-2.0]])
    score, other = structure.runner_up(gold, word=word)
    assert score == pytest.approx(word.sum())
    assert other in TWO_TREES
    assert other != gold
    loss, slope = zero_one(structure, gold, 1, 0, word=word)
    assert loss == 1
    assert not slope["word"].any()
    assert zero_one(structure, gold, 1, 0.02, word=word)[0] == pytest.approx(1.0, abs=1e-9)
    assert structure.runner_up(gold[:1] + gold[1:][::-1], word=word) is not None


@pytest.mark.parametrize("n", [2, 3, 4])
def test_runner_up_of_every_tree_equals_enumeration(n):
    grammar = Grammar(2, [(0, 0, 1), (1, 1, 0), (0, 0, 0)], [(0, 1), (1, 0)])
    structure = Constituency(grammar)
    rng = np.random.default_rng(n)
    for scores in (
        {"word": np.zeros((n, 2))},
        {"word": rng.integers(0, 2, size=(n, 2)).astype(float)},
        {"word": rng.normal(size=(n, 2)), "unary": rng.normal(size=2)},
    ):
        trees = list(structure.outputs(**scores))
        values = [structure.score(y, **scores) for y in trees]
        for i, y in enumerate(trees[:: max(1, len(trees) // 40)]):
            i *= max(1, len(trees) // 40)
            value, other = structure.runner_up(y, **scores)
            assert value == pytest.approx(max(values[:i] + values[i + 1 :]))
            assert other != y
            assert structure.score(other, **scores) == pytest.approx(value)


def test_runner_up_of_other_structures_with_equal_parts():
    two = Exhaustive([(0, 1, 0), (1, 0, 0)], Unordered())
    assert two.runner_up((0, 1, 0), label=np.array([1.0, 2.0])) == (4.0, (1, 0, 0))
    assert two.runner_up((1, 0, 0), label=np.array([1.0, 2.0])) == (4.0, (0, 1, 0))
    assert Exhaustive([(0, 1)], Unordered()).runner_up((0, 1), label=np.zeros(2)) is None
    parallel = Lattice([(0, 1), (0, 1)])
    assert parallel.runner_up([0], edge=[1.0, 1.0])[1].tolist() == [1]
    assert Lattice([(0, 1)]).runner_up([0], edge=[1.0]) is None


class Unordered(Structure):
    """Outputs count labels and forget where they stood."""

    def blocks(self, n_labels):
        """Return the one block: a score for each label, wherever it stands."""
        return {"label": Block((n_labels,), shared=True)}

    def encode(self, y, **scores):
        """Return how often each label occurs."""
        return {"label": np.bincount(y, minlength=2).astype(float)}


@pytest.mark.parametrize("solver", ["frank-wolfe", "n-slack", "one-slack", "sgd"])
def test_learners_meet_the_runner_up_with_equal_parts(solver):
    """Two trees of the same parts: no weights can tell them apart, and the slack is the margin."""
    structure = Constituency(Grammar(1, [(0, 0, 0)]))
    X = [{"word": np.ones((3, 1))}] * 2
    model = StructuredSVM(structure, cost="zero-one", C=1.5, solver=solver)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if solver == "sgd" else "error", ConvergenceWarning)
        model.fit(X, TWO_TREES)
    assert model.objective_ == pytest.approx(3.0)
    if solver != "sgd":
        assert model.duality_gap_ == pytest.approx(0.0, abs=1e-9)
