"""Constraints on structures: against enumeration, masks where they do, the report, errors."""

import itertools
import pickle

import numpy as np
import pytest

from structlearn.constraints import (
    Label,
    Part,
    at_least,
    at_most,
    each_at_most_once,
    exactly,
    forbid,
    if_then,
    require,
    with_constraints,
)
from structlearn.exceptions import CapabilityError, ConflictError
from structlearn.structures import Chain, Lattice, Multiclass, SemiMarkov, Tree
from structlearn.testing import check_structure

MASKS = [
    forbid(1),
    forbid(Label(1, at=0), Label(2, at=-1)),
    forbid(Label(0, at=[1, 2])),
    require(Label(1, at=1)),
    require(Label(0, at=2), Label(2, at=2)),
    exactly(1, Label(2, at=0)),
    at_most(0, Label(2)),
]
ROWS = [
    at_most(1, Label(1)),
    at_least(2, Label(0)),
    exactly(2, Label(2)),
    exactly(3, 1, 2),
    require(Label(1)),
    if_then(Label(1), Label(2)),
    if_then(Label(0, at=0), [Label(1, at=2), Label(2, at=3)]),
    each_at_most_once(1, 2),
    at_most(1, Label(0, at=[0, 1])),
]
PAIRS = [
    forbid(Part("transition", 0, 1)),
    forbid(Part("transition", 0, 0, at=1), Part("start", 2)),
]


def satisfied(constraint, y):
    """What the constraints above say of a chain of labels, in other words."""
    y = list(y)
    return {
        0: 1 not in y,
        1: y[0] != 1 and y[-1] != 2,
        2: y[1] != 0 and y[2] != 0,
        3: y[1] == 1,
        4: y[2] in (0, 2),
        5: y[0] == 2,
        6: 2 not in y,
        7: y.count(1) <= 1,
        8: y.count(0) >= 2,
        9: y.count(2) == 2,
        10: y.count(1) + y.count(2) == 3,
        11: 1 in y,
        12: 1 not in y or y.count(2) >= 1,
        13: y[0] != 0 or y[2] == 1 or y[3] == 2,
        14: y.count(1) <= 1 and y.count(2) <= 1,
        15: [y[0], y[1]].count(0) <= 1,
        16: (0, 1) not in itertools.pairwise(y),
        17: y[0] != 2 and y[1:3] != [0, 0],
    }[constraint]


EVERY = [*MASKS, *ROWS, *PAIRS]


@pytest.mark.parametrize("number", range(len(EVERY)), ids=[str(c) for c in EVERY])
def test_each_constraint_on_a_chain(number):
    rng = np.random.default_rng(number)
    chain = with_constraints(Chain(), [EVERY[number]])
    for _ in range(4):
        scores = {"label": rng.normal(size=(4, 3)), "transition": rng.normal(size=(3, 3))}
        legal = [y for y in Chain().outputs(**scores) if satisfied(number, y)]
        assert {tuple(y) for y in chain.outputs(**scores)} == {tuple(y) for y in legal}
        values = [Chain().score(y, **scores) for y in legal]
        found = chain.solve(**scores)
        assert found.exact
        assert found.value == pytest.approx(max(values))
        assert satisfied(number, found.output)
        best = [value for value, _ in chain.kbest(3, **scores)]
        assert best == pytest.approx(sorted(values, reverse=True)[:3])
        assert chain.as_program(**scores).solve().value == pytest.approx(max(values))
    report = chain.report(**scores)
    assert report.needs_program == (EVERY[number] in ROWS)
    assert len(report.masked) + len(report.rows) == 1


def chain_scores(rng):
    return {"label": rng.normal(size=(4, 3)), "transition": rng.normal(size=(3, 3))}


def test_masks_leave_every_query():
    constraints = [MASKS[1], MASKS[4], *PAIRS]
    report = check_structure(with_constraints(Chain(), constraints), chain_scores, n_inputs=2)
    assert report.missing == {}


def test_rows_leave_what_argmax_gives():
    constraints = [ROWS[0], ROWS[5], MASKS[1]]
    report = check_structure(
        with_constraints(Chain(), constraints),
        chain_scores,
        n_inputs=1,
        max_kbest=5,
        variations=False,
    )
    assert {"argmax", "solve", "kbest"} <= set(report.checked)
    assert set(report.missing) == {
        "count", "infer", "log_partition", "marginals", "entropy", "sample",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("structure", "constraints", "make"),
    [
        (
            SemiMarkov(2),
            [each_at_most_once(1), require(Label(0, at=2)), forbid(Part("segment", 2, 2))],
            lambda rng: {"segment": rng.normal(size=(4, 2, 3)), "start": rng.normal(size=3)},
        ),
        (
            Tree([-1, 0, 0, 1]),
            [exactly(2, Label(1)), forbid(Part("edge", 0, 1))],
            lambda rng: {"label": rng.normal(size=(4, 2)), "edge": rng.normal(size=(2, 2))},
        ),
        (Multiclass(), [forbid(1)], lambda rng: {"label": rng.normal(size=4)}),
    ],
    ids=["segments", "tree", "multiclass"],
)
def test_other_structures_against_enumeration(structure, constraints, make):
    constrained = with_constraints(structure, constraints)
    check_structure(constrained, make, n_inputs=2, max_kbest=4, n_samples=0, variations=False)


def test_the_segment_that_covers_a_place():
    rng = np.random.default_rng(0)
    structure = with_constraints(SemiMarkov(3), [require(Label(1, at=2))])
    for _ in range(5):
        for _, y in structure.kbest(10, segment=rng.normal(size=(4, 3, 2))):
            assert next(k for start, end, k in y if start <= 2 < end) == 1
    assert not structure.report(segment=np.zeros((4, 3, 2))).needs_program


def test_a_structure_of_paths():
    """Parts by number: an edge of a lattice."""
    lattice = Lattice([(0, 1), (0, 2), (1, 2), (2, 3), (1, 3)])
    program = lattice.as_program(edge=np.array([1.0, 0.0, 1.0, 1.0, 0.5]))
    assert program.argmax().tolist() == [0, 2, 3]


def test_an_unconstrained_answer_that_keeps_to_the_rows_is_taken():
    chain = with_constraints(Chain(), [at_most(2, Label(1))])
    label = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert chain.solve(label=label).method == "viterbi"
    assert chain.argmax(label=-label).tolist() == [1, 0, 1]
    tight = with_constraints(Chain(), [at_most(1, Label(1))])
    found = tight.solve(label=-label)
    assert "program" in found.method
    assert (found.value, found.exact) == (-1.0, True)


def test_topologies_that_come_with_the_example():
    rng = np.random.default_rng(1)
    tree = with_constraints(Tree(), [exactly(1, Label(1))])
    for parents in ([-1, 0, 0, 0], [1, 2, 3, -1]):
        scores = {"label": rng.normal(size=(4, 2)), "edge": 3 * rng.normal(size=(2, 2))}
        best = max(
            (y for y in Tree().outputs(**scores) if y.sum() == 1),
            key=lambda y: Tree(parents).score(y, **scores),
        )
        np.testing.assert_array_equal(tree.argmax(parents=parents, **scores), best)


def test_names_of_classes_and_the_report():
    chain = with_constraints(Chain(), [at_most(1, "B"), forbid(Label("I", at=0))], classes="BIO")
    text = str(chain.report(label=np.zeros((3, 3))))
    assert text == "mask   forbid label 'I' at 0: 1 parts\nrows   at most 1 of label 'B': 1 rows"
    again = pickle.loads(pickle.dumps(chain))
    np.testing.assert_array_equal(
        again.argmax(label=np.array([[1.0, 2.0, 0.0]] * 2)), chain.argmax(label=[[1, 2, 0.0]] * 2)
    )
    assert "at most 1" in repr(chain)


def test_gold_that_breaks_a_constraint():
    chain = with_constraints(Chain(), [at_most(1, Label(1))])
    with pytest.raises(ValueError, match="breaks a constraint: at most 1 of label 1"):
        chain.encode([1, 1], label=np.zeros((2, 2)))
    assert chain.score([1, 1], label=np.zeros((2, 2))) == -np.inf


@pytest.mark.parametrize(
    ("constraints", "named"),
    [
        ([at_least(3, 1), at_most(2, 1), forbid(2)],
         ["at least 3 of label 1", "at most 2 of label 1"]),
        ([require(Label(1, at=0)), forbid(Label(1, at=0)), forbid(2)],
         ["require label 1 at 0", "forbid label 1 at 0"]),
    ],
)  # fmt: skip
def test_constraints_that_contradict_each_other(constraints, named):
    with pytest.raises(ConflictError) as caught:
        with_constraints(Chain(), constraints).argmax(label=np.zeros((4, 3)))
    assert caught.value.conflict == named


def test_no_sums_under_rows():
    chain = with_constraints(Chain(), [exactly(2, Label(1))])
    with pytest.raises(CapabilityError, match="exactly 2 of label 1"):
        chain.log_partition(label=np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (forbid(7), "names the label 7"),
        (forbid("B"), "names the label 'B'"),
        (forbid(Label(0, at=9)), "names the position 9"),
        (forbid(Label(0, at=(0, 1))), r"names the position \(0, 1\)"),
        (forbid(Part("arc", 0, 1)), "names the block 'arc'"),
        (forbid(Part("transition", 0)), "has 1 labels"),
        (forbid(Part("transition", 0, 1, at=5)), "names the position 5"),
        ("forbid", "is not a constraint"),
    ],
)
def test_constraints_that_name_nothing(constraint, message):
    scores = {"label": np.zeros((3, 2)), "transition": np.zeros((2, 2))}
    with pytest.raises(ValueError, match=message):
        with_constraints(Chain(), [constraint]).argmax(**scores)


@pytest.mark.parametrize("make", [lambda: at_most(-1, 0), lambda: at_most(1.5, 0), forbid])
def test_constraints_that_mean_nothing(make):
    with pytest.raises(ValueError, match="constraint"):
        make()


def test_batches():
    rng = np.random.default_rng(2)
    chain = with_constraints(Chain(), [exactly(1, Label(1))])
    labels = [rng.normal(size=(n, 2)) for n in (2, 3, 3)]
    found = chain.argmax(label=labels)
    assert [y.sum() for y in found] == [1, 1, 1]
    assert all(np.array_equal(y, chain.argmax(label=u)) for y, u in zip(found, labels, strict=True))
