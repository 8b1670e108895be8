"""If-then as masks where a dynamic program can honour it, against enumeration."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from structlearn import CRF, StructuredPerceptron
from structlearn.constraints import Label, Part, at_most, if_then, with_constraints
from structlearn.structures import Chain, Graph, SemiMarkov, Tree

LENGTH, N_LABELS = 4, 3
PARENTS = [-1, 0, 0, 1]

SAME = [
    if_then(Label(0, at=1), Label(1, at=1)),  # forbids it
    if_then(Label(0, at=1), [Label(0, at=1), Label(2, at=1)]),  # says nothing
    if_then([Label(0, at=-1), Label(1, at=3)], Label(1, at=3)),
]
NEIGHBOURS = [
    if_then(Label(0, at=1), Label(0, at=0)),
    if_then(Label(0, at=0), [Label(1, at=1), Label(2, at=1)]),
    if_then([Label(0, at=1), Label(1, at=0)], Label(2, at=0)),  # there, and next to it
]
FAR = [
    if_then(Label(0, at=0), Label(1, at=3)),
    if_then(Label(0), Label(1)),
    if_then(Label(0, at=0), [Label(1, at=0), Label(1, at=1)]),  # two places
    if_then(Part("label", 0, at=0), Label(1, at=1)),
]


def agrees_with_enumeration(structure, constraints, scores):
    """Compare every query with the outputs that keep to the constraints; return the report."""
    constrained = with_constraints(structure, constraints)
    outputs = list(constrained.outputs(**scores))
    values = np.array([structure.score(y, **scores) for y in outputs])
    found = constrained.solve(**scores)
    assert found.value == pytest.approx(values.max())
    assert constrained.broken(found.output, **scores) is None
    best = [value for value, _ in constrained.kbest(5, **scores)]
    np.testing.assert_allclose(best, np.sort(values)[::-1][:5], atol=1e-9)
    report = constrained.report(**scores)
    if not report.needs_program:
        assert constrained.count(**scores) == len(outputs)
        total = np.logaddexp.reduce(values)
        assert constrained.log_partition(**scores) == pytest.approx(total)
    return report


def chain_scores(order, pairs, rng):
    scores = {"label": rng.normal(size=(LENGTH, N_LABELS))}
    if pairs:
        scores["transition"] = rng.normal(size=(N_LABELS,) * (order + 1))
    return scores


@pytest.mark.parametrize("pairs", [True, False], ids=["transitions", "no transitions"])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("constraint", SAME + NEIGHBOURS, ids=str)
def test_masks_of_chains(constraint, order, pairs):
    scores = chain_scores(order, pairs, np.random.default_rng(0))
    report = agrees_with_enumeration(Chain(order=order), [constraint], scores)
    assert not report.needs_program
    assert "mask       if" in str(report)


@pytest.mark.parametrize("constraint", FAR, ids=str)
def test_automata_where_places_are_far_apart(constraint):
    scores = chain_scores(1, True, np.random.default_rng(1))
    report = agrees_with_enumeration(Chain(), [constraint], scores)
    assert (len(report.automata), len(report.masked)) == (1, 0)


def test_a_chain_without_pairs_has_automata_for_neighbours():
    scores = chain_scores(0, False, np.random.default_rng(2))
    assert agrees_with_enumeration(Chain(order=0), NEIGHBOURS[:1], scores).automata
    assert not agrees_with_enumeration(Chain(order=0), SAME, scores).automata


@pytest.mark.parametrize("pairs", [True, False], ids=["edges", "no edges"])
def test_masks_of_trees_join_parents_and_children(pairs):
    rng = np.random.default_rng(3)
    scores = {"label": rng.normal(size=(4, 3)), "parents": PARENTS}
    if pairs:
        scores["edge"] = rng.normal(size=(3, 3))
    local = [if_then(Label(0, at=1), Label(2, at=0)), if_then(Label(1, at=1), Label(0, at=3))]
    assert not agrees_with_enumeration(Tree(), local, scores).needs_program
    # The same places are no neighbours in another tree.
    scores["parents"] = [-1, 0, 0, 2]
    report = agrees_with_enumeration(Tree(), local, scores)
    assert [len(report.masked), len(report.rows)] == [1, 1]


def test_other_trees_do_not_get_the_masks_of_the_first():
    rng = np.random.default_rng(4)
    chain = with_constraints(Tree(), [if_then(Label(1, at=1), Label(0, at=3))])
    scores = {"label": rng.normal(size=(4, 3)), "edge": rng.normal(size=(3, 3))}
    assert not chain.report(parents=[-1, 0, 0, 1], **scores).needs_program
    assert chain.report(parents=[-1, 0, 0, 2], **scores).needs_program


def test_segments_at_one_place():
    scores = {"segment": np.random.default_rng(5).normal(size=(4, 2, 2))}
    report = agrees_with_enumeration(
        SemiMarkov(2), [if_then(Label(0, at=1), Label(1, at=1))], scores
    )
    assert not report.needs_program


def test_graphs_have_rows_for_neighbours():
    rng = np.random.default_rng(6)
    scores = {"label": rng.normal(size=(3, 2)), "edge": rng.normal(size=(2, 2))}
    graph = Graph([[0, 1], [1, 2], [2, 0]])
    constraint = if_then(Label(0, at=0), Label(1, at=1))
    assert agrees_with_enumeration(graph, [constraint], scores).needs_program


def test_a_crf_learns_under_an_if_then_of_neighbours():
    rng = np.random.default_rng(7)
    X = [rng.normal(size=(4, 3)) for _ in range(30)]
    y = [x.argmax(axis=1) for x in X]
    for labels in y:
        if labels[0] == 0:
            labels[1] = 2
    rule = if_then(Label(0, at=0), Label(2, at=1))
    for model in (CRF(constraints=[rule]), StructuredPerceptron(constraints=[rule])):
        found = model.fit(X, y).predict(rng.normal(size=(50, 4, 3)))
        assert all(row[1] == 2 for row in found if row[0] == 0)
        assert any(row[0] == 0 for row in found)
        assert model.constraints_[0][1].startswith("automaton of ")


def test_pickled_and_cloned_models_keep_their_constraints():
    rng = np.random.default_rng(8)
    X = [rng.normal(size=(4, 3)) for _ in range(10)]
    y = [np.array([0, 2, 1, 1])] * 10
    rules = [if_then(Label(0, at=0), Label(2, at=1)), at_most(1, Label(0))]
    model = StructuredPerceptron(constraints=rules).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.constraints == rules == clone(model).constraints
    new = rng.normal(size=(30, 4, 3))
    for a, b in zip(model.predict(new), again.predict(new), strict=True):
        assert a.tolist() == b.tolist()
        assert (b == 0).sum() <= 1
