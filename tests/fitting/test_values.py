"""Values of parameters in files: what is written comes back, and nothing else is taken."""

import math
from enum import Enum
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.constraints import (
    Automaton,
    Chunk,
    Label,
    Part,
    at_least,
    at_most,
    contiguous,
    each_at_most_once,
    exactly,
    if_then,
    matches,
    not_adjacent,
    precedes,
    with_constraints,
)
from structlearn.fitting.kinds import Unstorable
from structlearn.fitting.values import Reader, Writer
from structlearn.losses import Hamming, LabelCost, ZeroOne
from structlearn.structures import Chain, Constituency, Grammar, Graph, SemiMarkov, Tree
from tests.io.saved_cases import GRAMMAR
from tests.io.test_estimator_files import alike

REPEATABLE = settings(derandomize=True, deadline=None, database=None, max_examples=60)


def round_trip(value):
    writer = Writer()
    stored = writer.value(value)
    reader = Reader("file", writer.tensors)
    found = reader.value(stored)
    reader.finish()
    return found


ATOMS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=4)
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(ATOMS, inner, max_size=3),
        st.frozensets(ATOMS, max_size=3),
    ),
    max_leaves=8,
)


@REPEATABLE
@given(VALUES)
def test_plain_values_come_back(value):
    found = round_trip(value)
    assert found == value
    assert alike(found, value)  # True is no 1, and a tuple no list


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6.0).reshape(2, 3),
        np.arange(6, dtype=">i4").reshape(2, 3),
        np.zeros((0, 3), dtype=np.float32),
        np.array(3.5),
        np.array([True, False]),
        np.array(["a", "größe", ""]),
        np.array(["a"], dtype="<U9"),
        np.array([b"a", b"\xff\0x", b""]),
        np.array([b"a"], dtype="|S9"),
        b"\x00\x80\xff",
        {b"a": (b"b",)},
        np.array([None, ("a", 1), 2**70, "x"], dtype=object),
        np.float32(0.1),
        np.int8(-3),
        np.bool_(True),
        np.float64(math.pi),
        -0.0,
        math.inf,
        Path("a/b"),
        {"x"},
        {1: {"a": (1, [2.5])}, "b": None},
    ],
    ids=repr,
)
def test_arrays_and_numbers_come_back(value):
    found = round_trip(value)
    if isinstance(value, np.ndarray):
        np.testing.assert_array_equal(found, value)
        assert found.dtype == value.dtype.newbyteorder("=")
        assert found.flags.writeable
    else:
        assert alike(found, value)


def test_numbers_and_strings_of_other_classes_are_what_they_are_worth():
    class Colour(str, Enum):
        RED = "red"

    assert type(round_trip(Colour.RED)) is str
    assert round_trip(Colour.RED) == "red"
    assert alike(round_trip(np.str_("a")), "a")


@pytest.mark.parametrize(
    "value",
    [
        Chain(3), SemiMarkov(7), Tree([-1, 0, 0]), Graph([[0, 1]], method="cut", tolerance=0.1),
        Constituency(GRAMMAR), GRAMMAR,
        with_constraints(Chain(), [at_most(1, Label("b", at=[0, -1]))], classes=["a", "b"]),
        at_least(2, "a", Part("transition", "a", "b", at=1)), exactly(1, ("x", 2)),
        if_then(["a", "b"], Label("c", at=(0, 1))), each_at_most_once(), each_at_most_once("a"),
        contiguous(), contiguous("a", Chunk("b")), precedes("a", ["b", Chunk("c")]),
        not_adjacent(Chunk("a"), "b"), matches("a* 'b|c'"), Automaton([[0, -1]], 0, [True]),
        with_constraints(Chain(), [Automaton([[[0, -1]]], 0, [True])]),
        Hamming(weights={"a": 2.0}), Hamming(normalize=True, weights=[[1.0], [2.0, 3.0]]),
        LabelCost(np.ones((2, 2)) - np.eye(2)), ZeroOne(),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_objects_of_the_library_come_back(value):
    found = round_trip(value)
    assert type(found) is type(value)
    assert repr(found) == repr(value) or "object at" in repr(value)
    one, other = Writer(), Writer()
    assert one.value(found) == other.value(value)
    assert {k: bytes(t.data) for k, t in one.tensors.items()} == {
        k: bytes(t.data) for k, t in other.tensors.items()
    }


def test_a_grammar_parses_as_before():
    found = round_trip(Constituency(GRAMMAR))
    scores = {"word": np.random.default_rng(0).normal(size=(4, 3)), "binary": np.arange(3.0)}
    assert found.argmax(**scores) == Constituency(GRAMMAR).argmax(**scores)


@pytest.mark.parametrize(
    "value", [object(), lambda: 0, bytearray(b"bytes"), 1j, [object()], {"a": (object(),)},
              np.array([1j]), np.array(["2020-01-01"], dtype="M8[D]"), np.longdouble(1), range(3)]
)  # fmt: skip
def test_nothing_else_is_written(value):
    writer = Writer()
    writer.value(np.zeros(2))
    with writer.or_left_out("the value"):
        writer.value([np.ones(3), value])
    assert list(writer.tensors) == ["array0"]
    assert [one.partition(" (")[0] for one in writer.left_out] == ["the value"]
    with pytest.raises(Unstorable):
        writer.value(value)


@pytest.mark.parametrize(
    "stored",
    [
        {"$": "Popen", "args": "ls"}, {"$": ["array"]}, {"$": "array", "name": "array7"},
        {"$": "Accepted", "by": 3}, {"$": "Precedes", "first": {"$": "tuple", "items": []},
         "second": {"$": "tuple", "items": []}}, {"$": "Matches", "pattern": "a ("},
        {"$": "Contiguous", "labels": "a"}, {"$": "NotAdjacent", "first": 1, "second": 2},
        {"$": "Automaton", "next": [[3]], "start": 0, "accepting": [True]},
        {"$": "Chain", "order": -1}, {"$": "Chain", "order": 10**9}, {"$": "Chain", "degree": 1},
        {"$": "Tree", "parents": [0, 0]}, {"$": "Tree", "parents": "x"}, {"$": "Cost"},
        {"$": "SemiMarkov", "max_length": 2**40}, {"$": "Structure"}, {"$": "estimator"},
        {"$": "Grammar", "n_symbols": 10**12, "binary": [], "unary": [], "max_chain": 4},
        {"$": "Graph", "edges": [[0]], "method": "auto", "damping": 0.0, "tolerance": 0.0},
        {"$": "Constrained", "structure": 3, "constraints": [], "classes": None,
         "time_limit": None},
        {"$": "Count", "parts": [], "lower": 0, "upper": 1},
        {"$": "Count", "parts": {"$": "tuple", "items": [3]}, "lower": 0, "upper": 1},
        {"$": "Count", "parts": {"$": "tuple", "items": []}, "lower": "x", "upper": 1},
        {"$": "Exhaustive", "outputs": [], "structure": {"$": "Chain", "order": 1}},
        {"$": "number", "type": "object", "value": 1}, {"$": "number", "type": "f8", "value": "1"},
        {"$": "number", "type": "<U99999999", "value": 1},
        {"$": "items", "type": "<U999999999", "shape": [1], "items": ["a"]},
        {"$": "items", "type": "<U1", "shape": [1], "items": ["ab"]},
        {"$": "items", "type": "<U1", "shape": [2], "items": ["a"]},
        {"$": "items", "type": "<U1", "shape": [1], "items": [3]},
        {"$": "items", "type": "M8[D]", "shape": [1], "items": ["2020-01-01"]},
        {"$": "set", "items": [[1]]}, {"$": "tuple", "items": 3}, {"$": "dict", "items": [1]},
        {"$": "path", "path": 3}, {"$": "bytes", "text": 3}, {"$": "bytes", "text": "\u0100"},
        {"$": "items", "type": "|S1", "shape": [1], "items": ["a"]},
        {"$": "items", "type": "|S1", "shape": [1], "items": [{"$": "bytes", "text": "ab"}]},
        {"$": "items", "type": "|S999999999", "shape": [1], "items": [{"$": "bytes", "text": "a"}]},
    ],
    ids=str,
)  # fmt: skip
def test_nothing_else_is_read(stored):
    with pytest.raises((ValueError, TypeError, KeyError, IndexError)):
        Reader("file", {}).value(stored)


def test_long_chains_of_no_rules_take_no_time():
    assert Grammar(2, [[0, 1, 1]], [], max_chain=10**12).chains == []
    assert len(Grammar(3, [], [[0, 1], [1, 2]], max_chain=10**12).chains) == 3
