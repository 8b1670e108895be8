"""The k best outputs of integer programs, those of dynamic programs too: against enumeration."""

import numpy as np
import pytest

from structlearn.constraints import (
    Label,
    Part,
    at_least,
    at_most,
    exactly,
    if_then,
    with_constraints,
)
from structlearn.exceptions import CapabilityError
from structlearn.structures import (
    Arborescence,
    Block,
    Chain,
    Constituency,
    Grammar,
    Hyperedges,
    Lattice,
    Structure,
)

RNG = np.random.default_rng(0)
PARALLEL = [(0, 1), (0, 1)]
FORKS = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (0, 3)]

CASES = {
    "parallel edges": (Lattice(PARALLEL), {"edge": RNG.normal(size=2)}),
    "lattice": (Lattice(FORKS), {"edge": RNG.normal(size=6)}),
    "projective": (Arborescence(projective=True), {"arc": RNG.normal(size=(4, 4))}),
    "siblings": (
        Arborescence(projective=True, single_root=False),
        {"arc": RNG.normal(size=(4, 4)), "sibling": RNG.normal(size=(4, 4, 4))},
    ),
    "labelled": (
        Arborescence(projective=True, labelled=True),
        {"arc": RNG.normal(size=(3, 3, 2))},
    ),
    "spans": (Constituency(), {"span": RNG.normal(size=(3, 4, 2))}),
}

#: Of each case: a constraint that needs rows, and what it says of an output.
ROWS = {
    "parallel edges": (at_least(1, Part("edge", at=0)), lambda y: 0 in y),
    "lattice": (at_most(1, Part("edge")), lambda y: len(y) <= 1),
    "projective": (
        at_most(1, Part("arc", at=[(1, 2), (2, 3)])),
        lambda y: y.tolist()[1:] != [1, 2],
    ),
    "siblings": (
        at_least(1, Part("arc", at=[(0, 1), (0, 2)])),
        lambda y: 0 in y[:2],
    ),
    "labelled": (at_most(1, Part("arc", 1)), lambda y: (y[1] == 1).sum() <= 1),
    "spans": (at_most(2, Label(1)), lambda y: len(y) <= 2),
}


def ranked(structure, scores, holds=lambda y: True):
    every = [y for y in structure.outputs(**scores) if holds(y)]
    return sorted((structure.score(y, **scores) for y in every), reverse=True)


def distinct(structure, found, scores):
    codes = [
        b"".join(np.asarray(a).tobytes() for a in structure.encode(y, **scores).values())
        for _, y in found
    ]
    return len(set(codes)) == len(codes)


@pytest.mark.parametrize("case", CASES)
def test_programs_of_dynamic_programs(case):
    structure, scores = CASES[case]
    right = ranked(structure, scores)[:7]
    found = structure.as_program(**scores).kbest(7)
    assert [v for v, _ in found] == pytest.approx(right)
    assert [structure.score(y, **scores) for _, y in found] == pytest.approx(right)
    assert distinct(structure, found, scores)


@pytest.mark.parametrize("case", CASES)
def test_rows(case):
    structure, scores = CASES[case]
    constraint, holds = ROWS[case]
    constrained = with_constraints(structure, [constraint])
    assert constrained.report(**scores).needs_program
    found = constrained.kbest(6, **scores)
    assert [v for v, _ in found] == pytest.approx(ranked(structure, scores, holds)[:6])
    assert all(holds(y) for _, y in found)
    assert distinct(structure, found, scores)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e-12, 1e9])
def test_no_output_is_lost_to_the_tolerances_of_the_solver(unit):
    """At a tolerance below what HiGHS takes for rounding, its cuts removed the third output."""
    forbidden = -np.inf
    label = [[-0.55, 0.58, -0.37], [-0.37, forbidden, 0.28], [-0.62, 0.96, -0.1]]
    label.append([forbidden, -0.05, 0.12])
    transition = [[-1.57, -1.02, -0.22], [1.89, 0.31, -1.53], [0.43, -0.45, 0.98]]
    scores = {"label": unit * np.array(label), "transition": unit * np.array(transition)}
    constrained = with_constraints(Chain(), [exactly(1, Label(0)), if_then(Label(1), Label(0))])
    right = ranked(Chain(), scores, lambda y: (y == 0).sum() == 1)
    found = constrained.kbest(8, **scores)
    assert [v / unit for v, _ in found] == pytest.approx([v / unit for v in right[:8]])


def test_rules_that_are_used_twice_are_named():
    grammar = Constituency(Grammar(1, [(0, 0, 0)]))
    program = grammar.as_program(word=np.zeros((3, 1)), binary=np.ones(1), span=np.zeros((3, 4, 1)))
    upper = program.rows.column_upper[: program.n_parts]
    assert [program.part_name(i) for i in np.flatnonzero(upper != 1)] == ["binary[0]"]
    assert program.solve().value == 2.0  # the rule's, twice
    with pytest.raises(CapabilityError, match=r"0 or 1, but binary\[0\] may be"):
        program.kbest(2)


class Tosses(Structure):
    """Coins, the first as often as the last says; part 1 is heads, of whichever toss."""

    def blocks(self, n_labels):
        return {"side": Block((2,), shared=True), "never": Block(()), "once": Block((2,))}

    def edges(self, **scores):
        edges = Hyperedges(5)
        edges.add(0, parts=[0])
        edges.add(0, parts=[1])
        edges.add(1, parts=[2])  # a node that leads nowhere has part 2 twice
        edges.add(2, tails=[1, 1])
        edges.add(4, tails=[3, 0], parts=[3])  # node 3 cannot be derived
        edges.add(4, tails=[0, 0], parts=[4])
        edges.add(4, tails=[0], parts=[3])
        return edges


def test_only_what_can_be_used_twice_is_unbounded():
    scores = {"side": np.zeros(2), "never": np.zeros(1), "once": np.zeros(2)}
    upper = Tosses().as_program(**scores).rows.column_upper[:5]
    assert upper.tolist() == [np.inf, np.inf, 1, 1, 1]
