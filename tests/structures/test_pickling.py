"""Structures survive pickling and copying, and say what they are."""

import copy
import pickle

import numpy as np
import pytest

from structlearn.structures import (
    Block,
    Chain,
    Exhaustive,
    Lattice,
    Multiclass,
    SemiMarkov,
    Solution,
)
from tests.structures.edge_structures import Assignment, Bracketing

LABEL = np.array([[0.0, 1.0], [3.0, 0.0], [0.0, 0.5]])
#: How to make a structure (made in the test, so that no module holds one to the end), and scores.
CASES = [
    (Multiclass, {"label": LABEL[0]}),
    (lambda: Chain(0), {"label": LABEL}),
    (Chain, {"label": LABEL, "transition": np.eye(2)}),
    (lambda: Chain(3), {"label": LABEL}),
    (lambda: Lattice([(0, 1), (0, 2), (1, 2)]), {"edge": np.array([1.0, 1.5, 1.0])}),
    (lambda: Exhaustive(Chain()), {"label": LABEL}),
    (lambda: Exhaustive([0, 1]), {"label": LABEL[0]}),
    (lambda: SemiMarkov(2), {"segment": np.stack([LABEL, LABEL[::-1]], axis=1)}),
    (Bracketing, {"span": np.arange(12.0).reshape(3, 4)}),
    (Assignment, {"pair": np.eye(3)[::-1]}),
]
NAMES = [repr(make()) for make, _ in CASES]


@pytest.mark.parametrize(("make", "scores"), CASES, ids=NAMES)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(make, scores, protocol):
    structure = make()
    again = pickle.loads(pickle.dumps(structure, protocol))
    assert type(again) is type(structure)
    assert repr(again) == repr(structure)
    np.testing.assert_array_equal(again.argmax(**scores), structure.argmax(**scores))
    assert [v for v, _ in again.kbest(3, **scores)] == [v for v, _ in structure.kbest(3, **scores)]


@pytest.mark.parametrize(("make", "scores"), CASES, ids=NAMES)
def test_copy(make, scores):
    structure = make()
    for again in (copy.copy(structure), copy.deepcopy(structure)):
        np.testing.assert_array_equal(again.argmax(**scores), structure.argmax(**scores))


def test_subclasses_keep_their_own_attributes():
    again = pickle.loads(pickle.dumps(Louder(order=2, volume=3.0)))
    assert (again.order, again.volume) == (2, 3.0)
    assert again.argmax(label=LABEL).tolist() == [1, 0, 1]
    assert repr(again) == "Louder(order=2, volume=3.0)"


class Louder(Chain):
    """A chain with a parameter of its own."""

    def __init__(self, order=1, volume=1.0):
        super().__init__(order)
        self.volume = volume


def test_repr():
    assert NAMES == [
        "Multiclass()",
        "Chain(order=0)",
        "Chain(order=1)",
        "Chain(order=3)",
        "Lattice(3 edges, source=0, target=2)",
        "Exhaustive(structure=Chain(order=1))",
        "Exhaustive(structure=Multiclass())",
        "SemiMarkov(max_length=2)",
        "Bracketing()",
        "Assignment()",
    ]


def test_solution_is_a_named_tuple():
    solution = Chain().solve(label=LABEL)
    assert isinstance(solution, Solution)
    assert solution._fields == ("output", "value", "exact", "bound", "method", "states")
    assert (solution.value, solution.exact, solution.bound) == (4.5, True, 4.5)
    assert solution.method == "viterbi"
    assert Multiclass().solve(label=LABEL[0]).method == "maximum"


def test_blocks_describe_the_scores():
    assert list(Chain(2).blocks(3)) == ["label", "start", "end", "transition1", "transition"]
    assert Chain(2).blocks(3)["transition"] == Block((3, 3, 3), shared=True, optional=True)
    assert Chain(0).blocks(3)["label"] == Block((3,))
    assert Multiclass().blocks(4) == {"label": Block((4,))}
    assert SemiMarkov(5).blocks(3)["segment"] == Block((3,), inner=(5,))


def test_native_twins():
    assert Chain().native is not None
    assert Multiclass().native is not None
    assert Bracketing().native is None
