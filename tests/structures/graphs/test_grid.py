"""Labels on grids: cuts, moves, narrow grids."""

import numpy as np
import pytest

from structlearn.exceptions import (
    CapabilityError,
    InexactInferenceWarning,
    InfeasibleError,
    NotSubmodularError,
)
from structlearn.structures import Graph, Grid
from structlearn.testing import check_structure
from tests.structures.graphs.pair_references import (
    as_graph,
    best_by_enumeration,
    best_by_scipy,
    random_potts_grid,
    total,
)


@pytest.mark.parametrize("whole", [False, True])
def test_a_cut_is_the_best_of_two_labels(whole):
    rng = np.random.default_rng(0)
    for _ in range(80):
        scores = random_potts_grid(rng, whole=whole)
        best, ties = best_by_enumeration(Grid(), scores)
        found = Grid().solve(method="cut", **scores)
        assert found.value == pytest.approx(best, abs=1e-12)
        assert found.exact
        assert found.bound == found.value
        assert found.method == "minimum cut"
        if whole:  # the first label wherever a best output has it
            np.testing.assert_array_equal(found.output, np.min(ties, axis=0))


@pytest.mark.parametrize("share", [0.03, 0.3, 1.0])
def test_a_cut_is_that_of_another_maximum_flow(share):
    """Where few pixels have scores, paths are long and trees are regrown again and again."""
    rng = np.random.default_rng(3)
    for _ in range(15):
        scores = random_potts_grid(rng, whole=True, most=30)
        scores["label"] *= 5 * (rng.random(scores["label"].shape[:2]) < share)[..., np.newaxis]
        value, labels = best_by_scipy(scores)
        for found in (Grid().solve(method="cut", **scores), Graph().solve(**as_graph(scores))):
            assert found.value == value
            np.testing.assert_array_equal(found.output.ravel(), labels)


@pytest.mark.parametrize("scale", [2.0**-900, 2.0**990, 2.0**1000])  # the last is scaled first
def test_a_cut_is_the_same_in_any_unit(scale):
    rng = np.random.default_rng(7)
    for _ in range(20):
        scores = random_potts_grid(rng)
        one = Grid().solve(method="cut", **scores)
        other = Grid().solve(method="cut", **{name: scale * s for name, s in scores.items()})
        np.testing.assert_array_equal(other.output, one.output)
        assert (other.value, other.bound) == (scale * one.value, scale * one.bound)


def test_tables_and_strengths_add_up():
    rng = np.random.default_rng(1)
    label, right = rng.normal(size=(3, 2, 3)), rng.normal(size=(3, 1, 3, 3))
    scores = {"label": label, "right": right, "potts_right": 0.7, "potts_down": rng.random((2, 2))}
    graph = as_graph(scores)
    for y in rng.integers(0, 3, (20, 3, 2)):
        expected = total(graph, y.ravel())
        assert Grid().score(y, **scores) == pytest.approx(expected)
        parts = Grid().encode(y, **scores)
        assert sum((parts[n] * scores[n]).sum() for n in scores) == pytest.approx(expected)
        assert parts["potts_right"].shape == ()
    for query in ("solve", "log_partition"):
        found = getattr(Grid(), query)(**scores), getattr(Graph(), query)(**graph)
        values = [getattr(one, "value", one) for one in found]
        assert values[0] == pytest.approx(values[1])


def test_every_query_against_enumeration():
    def draw(rng):
        height, width = (int(n) for n in rng.integers(1, 4, 2))
        width = 2 if height * width > 6 else width
        anchored = rng.random() < 0.5
        shape = (height, width - 1) if anchored else ()
        return {
            "label": rng.normal(size=(height, width, 2)),
            "right": rng.normal(size=(*shape, 2, 2)),
            "down": rng.normal(size=(2, 2)),
        }

    assert not check_structure(Grid(), draw, n_samples=400).missing


def test_gradients_of_strengths():
    rng = np.random.default_rng(2)
    scores = random_potts_grid(rng, labels=3)
    while scores["potts_down"].size == 0 or scores["potts_right"].size == 0:
        scores = random_potts_grid(rng, labels=3)
    value, gradient = Grid().infer(temperature=0.7, **scores)
    for name, table in scores.items():
        moved = table.copy()
        moved.flat[0] += 1e-6
        up = Grid().log_partition(temperature=0.7, **{**scores, name: moved})
        assert (up - value) / 1e-6 == pytest.approx(gradient[name].flat[0], abs=1e-4)


@pytest.mark.parametrize("method", ["expansion", "swap"])
def test_moves_come_close_and_never_pass_their_bound(method):
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(25):
        scores = random_potts_grid(rng, labels=3)
        scores["label"] -= scores["label"].max()  # energies >= 0
        best, _ = best_by_enumeration(Grid(), scores)
        found = Grid().solve(method=method, **scores)
        assert found.value <= best + 1e-9 <= found.bound + 2e-9
        assert found.value == pytest.approx(Grid().score(found.output, **scores))
        if method == "expansion":
            assert -found.value <= 2 * -best + 1e-9
        hits += found.value >= best - 1e-9
    assert hits >= 20


def test_a_large_grid_has_a_bound_close_by():
    rng = np.random.default_rng(4)
    scores = {"label": rng.normal(size=(25, 30, 4)), "potts_right": 0.5, "potts_down": 0.5}
    found = Grid().solve(**scores)
    assert found.method == "alpha-expansion"
    assert found.value <= found.bound <= found.value + 0.02 * abs(found.value)
    np.testing.assert_array_equal(Grid().argmax(**scores), found.output)
    independent = Grid().argmax(label=scores["label"])
    assert Grid().score(independent, **scores) < found.value
    with pytest.warns(InexactInferenceWarning, match="loopy"):
        p = Grid().marginals(**scores)
    np.testing.assert_allclose(p["label"].sum(axis=-1), 1.0)
    assert p["potts_right"].shape == (25, 29)
    assert (p["potts_right"] <= 0).all()
    with pytest.raises(CapabilityError, match="treewidth"):
        Grid().sample(1, **scores)


def test_forbidden_labels_and_pairs():
    label = np.zeros((2, 2, 2))
    label[..., 1] = 1.0
    label[0, 0, 1] = -np.inf
    apart = np.array([[0.0, -np.inf], [-np.inf, 0.0]])  # neighbours must agree
    np.testing.assert_array_equal(Grid().argmax(label=label, right=apart, down=apart), 0)
    label[1, 1, 0] = -np.inf
    with pytest.raises(InfeasibleError):
        Grid().argmax(label=label, right=apart, down=apart)


def test_a_pair_that_no_cut_can_represent_is_named():
    right = np.zeros((2, 2, 2, 2))
    right[1, 0] = [[0.0, 1.0], [1.0, 0.0]]
    scores = {"label": np.zeros((2, 3, 2)), "right": right}
    with pytest.raises(NotSubmodularError, match=r"row 1, column 0 and .* row 1, column 1"):
        Grid().argmax(method="cut", **scores)
    assert Grid().solve(**scores).value == 1.0
    with pytest.raises(CapabilityError, match="two labels, not 3"):
        Grid().argmax(method="cut", label=np.zeros((2, 2, 3)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": np.zeros((2, 2))}, r"label must have shape \(H, W, K\)"),
        ({"label": np.zeros((0, 2, 2))}, r"label must have shape \(H, W, K\)"),
        ({"label": np.full((2, 2, 2), np.nan)}, "label contains NaN"),
        ({"right": np.zeros((2, 2, 2, 2))}, r"right has shape \(2, 2, 2, 2\), expected"),
        ({"potts_right": np.zeros((2, 2))}, "potts_right has shape"),
        ({"potts_down": -np.inf}, "potts_down contains -inf"),
        ({"potts_down": np.nan}, "potts_down contains NaN"),
        ({"left": 1.0}, "Grid has no score block 'left'; its blocks are 'label'"),
        ({"label": None}, "needs label scores"),
    ],
)
def test_bad_scores(change, message):
    with pytest.raises(ValueError, match=message):
        Grid().argmax(**{"label": np.zeros((2, 2, 2)), **change})


def test_bad_settings():
    with pytest.raises(ValueError, match="method must be one of"):
        Grid(method="magic")
    with pytest.raises(ValueError, match="damping"):
        Grid(damping=1.0)
    with pytest.raises(ValueError, match="the output has shape"):
        Grid().score([0, 1], label=np.zeros((1, 2, 2)))


def test_one_pixel_and_one_label():
    assert Grid().argmax(label=np.array([[[1.0, 2.0]]]), potts_right=1.0).tolist() == [[1]]
    assert Grid().solve(label=np.ones((2, 2, 1)), potts_right=1.0).value == 4.0


def test_the_program_finds_the_same():
    rng = np.random.default_rng(5)
    scores = random_potts_grid(rng, labels=3)
    program = Grid().as_program(**scores)
    assert program.solve().value == pytest.approx(best_by_enumeration(Grid(), scores)[0])


def test_a_pixel_without_a_label_is_named_at_once():
    label = np.zeros((200, 300, 3))
    label[120, 7] = -np.inf
    with pytest.raises(InfeasibleError, match="every label of the node in row 120, column 7"):
        Grid().argmax(label=label, potts_right=1.0, potts_down=1.0)


@pytest.mark.parametrize("query", ["argmax", "solve", "infer", "marginals", "kbest", "entropy"])
def test_batches_on_threads(query):
    rng = np.random.default_rng(0)
    labels = [rng.normal(size=(4, 5, 2)) for _ in range(5)]
    call = getattr(Grid(), query)
    count = (3,) if query == "kbest" else ()
    scores = {"label": labels, "potts_right": 0.4, "potts_down": 0.3}
    one, two = (repr(call(*count, **scores, n_jobs=n)) for n in (1, 2))
    assert one == two


def test_argmax_keeps_a_time_limit():
    rng = np.random.default_rng(0)
    found = Grid().argmax(
        method="ilp",
        time_limit=0.05,
        label=rng.normal(size=(12, 12, 4)),
        right=rng.normal(size=(4, 4)),
        down=rng.normal(size=(4, 4)),
    )
    assert found.shape == (12, 12)
