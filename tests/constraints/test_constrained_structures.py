"""Constraints on structures whose parts or topology come in forms of their own."""

import numpy as np
import pytest

from structlearn import StructuredPerceptron, StructuredSVM
from structlearn.constraints import (
    Label,
    Part,
    at_most,
    exactly,
    forbid,
    require,
    with_constraints,
)
from structlearn.structures import Arborescence, Graph, Grid, Matching

SQUARE = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])


def best_by_enumeration(constrained, **scores):
    return max(constrained.structure.score(y, **scores) for y in constrained.outputs(**scores))


@pytest.mark.parametrize("own", [True, False], ids=["table of each edge", "one table"])
@pytest.mark.parametrize(
    "constraint", [at_most(1, Label(0)), forbid(Part("edge", 0, 1)), exactly(1, Label(1))], ids=str
)
def test_graphs_whose_edges_come_with_the_example(constraint, own):
    rng = np.random.default_rng(0)
    constrained = with_constraints(Graph(), [constraint, forbid(Label(1, at=0))])
    for edges in (SQUARE, SQUARE[:3], np.array([[0, 2], [1, 3], [3, 0]])):
        scores = {
            "label": rng.normal(size=(4, 3)),
            "edge": rng.normal(size=(len(edges), 3, 3) if own else (3, 3)),
            "edges": edges,
        }
        expected = best_by_enumeration(constrained, **scores)
        assert constrained.solve(**scores).value == pytest.approx(expected)


def test_graphs_with_cliques():
    rng = np.random.default_rng(1)
    constrained = with_constraints(Graph(SQUARE), [at_most(1, Label(0))])
    label = rng.normal(size=(4, 3)) + np.array([2.0, 0.0, 0.0])
    for cliques in ([[0, 1, 2], [2, 3]], [[0, 1, 3], [2, 3]]):
        scores = {"label": label, "clique": rng.random((2, 3)), "cliques": cliques}
        expected = best_by_enumeration(constrained, **scores)
        assert constrained.solve(**scores).value == pytest.approx(expected)


def test_grids_with_potts_terms_and_rows():
    rng = np.random.default_rng(2)
    constrained = with_constraints(Grid(), [at_most(2, Label(0)), require(Label(0, at=(0, 0)))])
    scores = {
        "label": rng.normal(size=(2, 3, 2)) + np.array([2.0, 0.0]),
        "potts_right": rng.random((2, 2)),
        "potts_down": 0.3,
    }
    found = constrained.solve(**scores)
    assert found.value == pytest.approx(best_by_enumeration(constrained, **scores))
    assert found.exact
    values = sorted(
        (constrained.structure.score(y, **scores) for y in constrained.outputs(**scores)),
        reverse=True,
    )
    np.testing.assert_allclose([v for v, _ in constrained.kbest(4, **scores)], values[:4])


def test_rows_about_potts_strengths_are_refused():
    scores = {"label": np.zeros((2, 2, 2)), "potts_right": np.ones((2, 1))}
    constrained = with_constraints(Grid(), [exactly(1, Part("potts_right"))])
    with pytest.raises(ValueError, match="potts_right cannot be rows"):
        constrained.argmax(**scores)


def test_pairs_of_matchings():
    rng = np.random.default_rng(3)
    rules = [forbid(Part("pair", at=(0, 1))), at_most(1, Part("pair", at=[(0, 0), (1, 1)]))]
    assert str(rules[0]) == "forbid pair at (0, 1)"
    for shape in ((3, 3), (2, 4), (4, 2)):
        constrained = with_constraints(Matching(), rules)
        scores = {"pair": rng.normal(size=shape) + 3 * np.eye(*shape)}
        found = constrained.solve(**scores)
        assert found.value == pytest.approx(best_by_enumeration(constrained, **scores))
        report = constrained.report(**scores)
        assert [len(report.masked), len(report.rows)] == [1, 1]


def test_arcs_of_trees():
    rng = np.random.default_rng(4)
    for rule in (forbid(Part("arc", at=(0, 1))), at_most(1, Part("arc", at=[(0, 1), (0, 2)]))):
        constrained = with_constraints(Arborescence(), [rule])
        scores = {"arc": rng.normal(size=(4, 4))}
        scores["arc"][0] += 2.0
        expected = best_by_enumeration(constrained, **scores)
        assert constrained.solve(**scores).value == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::structlearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learner", [StructuredPerceptron, StructuredSVM])
def test_learners_keep_to_constraints_on_outputs_that_are_judged_as_a_whole(learner):
    rng = np.random.default_rng(5)
    weights = np.array([1.0, -1.0, 0.5])
    rule = forbid(Part("pair", at=(0, 0)))
    rowed = at_most(1, Part("pair", at=[(0, 1), (1, 0)]))
    truth = with_constraints(Matching(), [rule, rowed])
    X = [rng.normal(size=(*shape, 3)) for shape in [(3, 3), (2, 4), (4, 2)] * 6]
    y = [truth.argmax(pair=x @ weights) for x in X]
    model = learner(Matching(), constraints=[rule, rowed], max_iter=20, random_state=0)
    model.fit(X, y)
    assert model.score(X, y) > 0.9
    assert all(row[0] != 0 for row in model.predict(X))


def test_a_part_needs_the_labels_of_its_block():
    constrained = with_constraints(Matching(), [forbid(Part("pair", 0))])
    with pytest.raises(ValueError, match="pair 0 has 1 labels; a part of pair has 0"):
        constrained.argmax(pair=np.eye(2))
