"""Automata as rows of integer programs: their best outputs against enumeration."""

import numpy as np
import pytest

from structlearn.constraints import (
    Chunk,
    Label,
    at_most,
    contiguous,
    exactly,
    matches,
    not_adjacent,
    precedes,
    require,
    with_constraints,
)
from structlearn.exceptions import ConflictError
from structlearn.structures import Chain, SemiMarkov
from tests.constraints.test_automata import BIO, CASES, PLAIN


def chain_scores(rng, length, n_labels, order):
    scores = {"label": rng.normal(size=(length, n_labels))}
    if order:
        scores["transition"] = rng.normal(size=(n_labels,) * (order + 1))
    return scores


def best_by_enumeration(structure, constrained, scores):
    return max(
        (structure.score(y, **scores) for y in constrained.outputs(**scores)), default=-np.inf
    )


@pytest.mark.parametrize(
    ("labels", "constraint", "holds"), CASES, ids=[f"{k[1][0]}-{c}" for k, c, _ in CASES]
)
def test_programs_of_chains(labels, constraint, holds):
    rng = np.random.default_rng(len(labels))
    for order in (0, 1, 2):
        if order != 1 and "transition" in str(constraint):
            continue
        chain = Chain(order=order)
        constrained = with_constraints(chain, [constraint], classes=labels)
        for _ in range(2):
            scores = chain_scores(rng, 4, len(labels), order)
            expected = best_by_enumeration(chain, constrained, scores)
            found = constrained.as_program(**scores).solve()
            assert found.value == pytest.approx(expected)
            assert constrained.broken(found.output, **scores) is None


ON_SEGMENTS = [
    contiguous(),
    at_most(1, "O"),
    exactly(2, Chunk("A")),
    not_adjacent(Chunk("A"), Chunk("B")),
    not_adjacent("B"),
    precedes("A", "B"),
    matches("O? A O? B?"),
    matches("(A B)+ | O+"),
    require("B"),
]


@pytest.mark.parametrize("constraint", ON_SEGMENTS, ids=str)
@pytest.mark.parametrize("with_transition", [False, True])
def test_programs_of_segmentations(constraint, with_transition):
    rng = np.random.default_rng(0)
    structure = SemiMarkov(3)
    constrained = with_constraints(structure, [constraint], classes=PLAIN)
    for _ in range(3):
        scores = {"segment": rng.normal(size=(4, 3, 3))}
        if with_transition:
            scores["transition"] = rng.normal(size=(3, 3))
        expected = best_by_enumeration(structure, constrained, scores)
        found = constrained.as_program(**scores).solve()
        assert found.value == pytest.approx(expected)
        assert constrained.broken(found.output, **scores) is None


def test_flows_beside_rows_and_masks():
    """A count of places has rows alone on segmentations, so that everything goes to the program."""
    rng = np.random.default_rng(1)
    structure = SemiMarkov(2)
    rules = [
        contiguous(),
        at_most(1, Label("A", at=[0, 3])),
        require(Label("B", at=1), Label("A", at=1)),
    ]
    constrained = with_constraints(structure, rules, classes=PLAIN)
    for _ in range(5):
        scores = {"segment": rng.normal(size=(4, 2, 3)), "transition": rng.normal(size=(3, 3))}
        expected = best_by_enumeration(structure, constrained, scores)
        assert constrained.solve(**scores).value == pytest.approx(expected)
        values = sorted(
            (structure.score(y, **scores) for y in constrained.outputs(**scores)), reverse=True
        )
        found = [value for value, _ in constrained.kbest(3, **scores)]
        assert found == pytest.approx(values[:3])
    report = constrained.report(**scores)
    assert [c for c, _ in report.masked] == rules[2:]
    assert [c for c, _ in report.rows] == [rules[1], rules[0]] or [
        c for c, _ in report.rows
    ] == rules[:2]
    assert all(n > 0 for _, n in report.rows)
    assert report.automata == []


def test_helpers_need_not_be_whole():
    constrained = with_constraints(Chain(), [contiguous()], classes=PLAIN)
    program = constrained.as_program(label=np.zeros((4, 3)))
    helpers = slice(program.n_parts, None)
    assert program.rows.n_columns > program.n_parts
    assert not program.rows.integer[helpers].any()


def test_a_conflict_names_constraints_not_rows():
    rules = [matches("B-X I-X* O*"), exactly(2, Chunk("X"))]
    constrained = with_constraints(Chain(), rules, classes=BIO)
    with pytest.raises(ConflictError) as caught:
        constrained.argmax(label=np.zeros((4, 5)))
    assert set(map(str, rules)) <= set(caught.value.conflict)
    assert len(set(caught.value.conflict)) == len(caught.value.conflict)
