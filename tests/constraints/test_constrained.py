"""Constraints on structures: against enumeration, masks where they do, the report, errors."""

import itertools
import pickle

import numpy as np
import pytest

from structlearn.constraints import (
    Automaton,
    Label,
    Part,
    at_least,
    at_most,
    contiguous,
    each_at_most_once,
    exactly,
    forbid,
    if_then,
    require,
    with_constraints,
)
from structlearn.exceptions import CapabilityError, ConflictError
from structlearn.structures import (
    Chain,
    ConstrainedChain,
    Lattice,
    Multiclass,
    SemiMarkov,
    Tree,
)
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
AUTOMATA = [
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


EVERY = [*MASKS, *AUTOMATA, *PAIRS]


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
    assert not report.needs_program
    assert (len(report.masked), len(report.automata)) == (
        (0, 1) if EVERY[number] in AUTOMATA else (1, 0)
    )


def chain_scores(rng):
    return {"label": rng.normal(size=(4, 3)), "transition": rng.normal(size=(3, 3))}


def test_masks_leave_every_query():
    constraints = [MASKS[1], MASKS[4], *PAIRS]
    report = check_structure(with_constraints(Chain(), constraints), chain_scores, n_inputs=2)
    assert report.missing == {}


def test_automata_leave_every_query():
    constraints = [*AUTOMATA[:2], MASKS[1], AUTOMATA[8], *PAIRS]
    report = check_structure(with_constraints(Chain(), constraints), chain_scores, n_inputs=2)
    assert report.missing == {}


def test_rows_leave_what_argmax_gives():
    constraints = [exactly(2, Label(1)), at_most(1, Label(2)), forbid(Label(0, at=0))]
    report = check_structure(
        with_constraints(Tree([-1, 0, 0, 1]), constraints),
        lambda rng: {"label": rng.normal(size=(4, 3)), "edge": rng.normal(size=(3, 3))},
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
    star = Tree([-1, 0, 0])
    tree = with_constraints(star, [at_most(2, Label(1))])
    label = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert tree.solve(label=label).method == star.method
    assert tree.argmax(label=-label).tolist() == [1, 0, 1]
    tight = with_constraints(star, [at_most(1, Label(1))])
    found = tight.solve(label=-label)
    assert "program" in found.method
    assert (found.value, found.exact) == (-1.0, True)


def test_states_are_made_where_an_answer_breaks_a_constraint():
    chain = with_constraints(Chain(), [at_most(2, Label(1)), at_most(2, Label(0))])
    label = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    assert chain.solve(label=label).states == 1, "the best sequence keeps to both"
    found = chain.solve(label=label + np.array([0.0, 3.0]))
    assert (found.states, found.exact, found.output.tolist()) == (3, True, [0, 1, 0, 1])


def test_more_states_than_there_is_room_for_go_to_the_program():
    """Labels that all are needed: which of them were there is one of 2^17 states."""
    rng = np.random.default_rng(5)
    chain = with_constraints(Chain(), [each_at_most_once()])
    label = rng.normal(size=(17, 17)) - np.arange(17)
    found = chain.solve(label=label)
    assert "program" in found.method
    assert sorted(found.output) == list(range(17))
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-label)
    assert found.value == pytest.approx(label[rows, columns].sum())
    ranked = chain.kbest(2, label=label)
    assert ranked[0][0] == pytest.approx(found.value)
    with pytest.raises(CapabilityError, match="max_states"):
        chain.log_partition(label=label)


def test_sums_come_with_their_proof():
    rng = np.random.default_rng(6)
    chain = with_constraints(Chain(), [at_most(1, Label(k)) for k in range(3)])
    scores = chain_scores(rng) | {"label": rng.normal(size=(3, 3))}
    values = [Chain().score(y, **scores) for y in chain.outputs(**scores)]
    found = chain.certified_sum(**scores)
    assert found.value == pytest.approx(np.logaddexp.reduce(values))
    assert found.bound == 0.0
    masks = with_constraints(Chain(), [forbid(0)])
    assert masks.certified_sum(**scores).bound == 0.0


def test_the_report_tells_how_far_sums_are_proven():
    n = 29
    chain = with_constraints(Chain(), [contiguous()])
    clear = np.full((9, n), -40.0)
    clear[:, :2] = 0.0
    proven = chain.report(label=clear)
    assert 0 < chain.certified_sum(label=clear).bound < 1e-9
    assert "but for a share of at most" in proven.sums
    assert "of 29 automata" in proven.sums
    refused = chain.report(label=np.zeros((12, n)))
    assert refused.sums.startswith("none: sums over the outputs")
    assert "sums" not in str(chain.report(label=clear[:, :3]))


def test_a_constraint_that_asks_for_nothing():
    chain = with_constraints(Chain(), [contiguous()], classes=["O"])
    label = np.zeros((3, 1))
    assert str(chain.report(label=label)) == "mask       each label in one run: 0 parts"
    assert chain.count(label=label) == 1


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
    assert text == (
        "mask       forbid label 'I' at 0: 1 parts\nautomaton  at most 1 of label 'B': 2 states"
    )
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
    tree = with_constraints(Tree([-1, 0, 0]), [exactly(2, Label(1))])
    with pytest.raises(CapabilityError, match="exactly 2 of label 1"):
        tree.log_partition(label=np.zeros((3, 2)))


def test_a_beam_is_refused():
    with pytest.raises(CapabilityError, match="no beam search under constraints"):
        with_constraints(Chain(), "at_most(1, 1)").beam(2, label=np.zeros((3, 2)))


def test_labels_in_a_row_need_a_chain():
    tree = with_constraints(Tree([-1, 0, 0]), [contiguous()])
    with pytest.raises(ValueError, match=r"Tree.*cannot obey contiguous\(\)"):
        tree.argmax(label=np.zeros((3, 2)))


def test_an_automaton_of_ones_own_is_a_constraint():
    even = Automaton([[0, 1], [1, 0]], 0, [True, False])
    for structure in (Chain(), ConstrainedChain([even])):
        chain = with_constraints(structure, [even] if type(structure) is Chain else at_least(1, 1))
        label = np.array([[0.0, 1.0]] * 3)
        assert chain.argmax(label=label).sum() == 2
        assert "Automaton(2 states, 2 labels)" in str(chain.report(label=label))
        assert chain.as_program(label=label).argmax().sum() == 2
        again = pickle.loads(pickle.dumps(chain))
        assert again.argmax(label=label).sum() == 2
    with pytest.raises(ValueError, match="is a constraint on 3 labels"):
        with_constraints(Chain(), [even]).argmax(label=np.zeros((2, 3)))
    long = Automaton([[[0, -1]]] * 4, 0, [True])
    with pytest.raises(ValueError, match="is a constraint on 2 positions"):
        with_constraints(Chain(), [long]).argmax(label=np.zeros((2, 2)))


def test_automata_are_drawn_with_the_names_of_labels():
    chain = with_constraints(Chain(), [contiguous("B"), forbid("I")], classes="BIO")
    picture = chain.draw(label=np.zeros((3, 3)))
    assert picture.svg.count("I, O") == 3
    assert "forbid" not in picture.svg


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
