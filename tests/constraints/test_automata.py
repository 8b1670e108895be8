"""The automaton of each constraint against what it says, told in other words for every output."""

import itertools
import pickle
from math import prod

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
    not_adjacent,
    precedes,
    require,
)
from structlearn.constraints.alphabet import Alphabet
from structlearn.constraints.construction import TooManyStates
from structlearn.constraints.events import NoEvents, Sequences
from structlearn.metrics import chunks
from tests.constraints.automata_checks import is_minimal

PLAIN = ["O", "A", "B"]
BIO = ["O", "B-X", "I-X", "B-Y", "I-Y"]
IOBES = ["O", "B-X", "I-X", "E-X", "S-X", "S-Y"]
WINDOWS = {"label": 1, "start": 1, "end": 1, "transition": 2}


def runs(labels):
    """Chunks of plain labels: (begin, end, label)."""
    found, at = [], 0
    for label, group in itertools.groupby(labels):
        n = len(list(group))
        if label != "O":
            found.append((at, at + n, label))
        at += n
    return found


def spans(alphabet, row):
    labels = [alphabet.labels[k] for k in row]
    if alphabet.segments:
        return [(t, t + 1, k) for t, k in enumerate(labels) if k != "O"]
    return chunks(labels) if alphabet.chunked else runs(labels)


def types(alphabet, row):
    return [kind for _, _, kind in spans(alphabet, row)]


def begins(alphabet, row, kind):
    return [begin for begin, _, k in spans(alphabet, row) if k == kind]


#: Alphabet, constraint, and what it says of a row of symbols (r), their labels (y), the alphabet.
CASES = [
    (PLAIN, at_most(2, "A"), lambda a, y, r: y.count("A") <= 2),
    (PLAIN, at_least(2, "A", "B"), lambda a, y, r: y.count("A") + y.count("B") >= 2),
    (PLAIN, exactly(1, "B"), lambda a, y, r: y.count("B") == 1),
    (PLAIN, require("B"), lambda a, y, r: "B" in y),
    (PLAIN, at_most(1, Chunk("A")), lambda a, y, r: types(a, r).count("A") <= 1),
    (PLAIN, exactly(2, Chunk("A"), Chunk("B")), lambda a, y, r: len(spans(a, r)) == 2),
    (
        PLAIN,
        exactly(2, "A", Chunk("A"), Part("start", "A")),
        lambda a, y, r: y.count("A") + types(a, r).count("A") + (y[0] == "A") == 2,
    ),
    (PLAIN, each_at_most_once("A"), lambda a, y, r: y.count("A") <= 1),
    (PLAIN, contiguous(), lambda a, y, r: all(types(a, r).count(k) <= 1 for k in "AB")),
    (PLAIN, contiguous("B"), lambda a, y, r: types(a, r).count("B") <= 1),
    (
        PLAIN,
        contiguous("O"),
        lambda a, y, r: sum(k == "O" for k, _ in itertools.groupby(y)) <= 1,
    ),
    (PLAIN, if_then("A", "B"), lambda a, y, r: "A" not in y or "B" in y),
    (PLAIN, if_then(["A", "B"], Chunk("B")), lambda a, y, r: "A" not in y or "B" in y),
    (
        PLAIN,
        precedes("A", "B"),
        lambda a, y, r: "A" not in y or "B" not in y or max_of(y, "A") < y.index("B"),
    ),
    (PLAIN, not_adjacent("A", "B"), lambda a, y, r: not {"AB", "BA"} & neighbours(y)),
    (PLAIN, not_adjacent("A"), lambda a, y, r: "AA" not in neighbours(y)),
    (
        PLAIN,
        at_most(1, Part("transition", "A", "B")),
        lambda a, y, r: list(itertools.pairwise(y)).count(("A", "B")) <= 1,
    ),
    (PLAIN, require(Part("start", "A"), "B"), lambda a, y, r: y[:1] == ["A"] or "B" in y),
    (
        PLAIN,
        at_most(1, Label("A", at=[0, 2, -1])),
        lambda a, y, r: [y[t] for t in sorted({0, 2, len(y) - 1})].count("A") <= 1,
    ),
    (
        PLAIN,
        exactly(2, Label("A", at=[0, 1]), Label("B", at=-1), Label("B", at=1)),
        lambda a, y, r: (y[0] == "A") + (y[1] in "AB") + (y[-1] == "B") == 2,
    ),
    (
        PLAIN,
        if_then(Label("A", at=0), [Label("B", at=-1), "O"]),
        lambda a, y, r: y[0] != "A" or y[-1] == "B" or "O" in y,
    ),
    (
        PLAIN,
        at_most(1, Part("transition", "A", "B", at=[0, -1]), Part("end", "A")),
        lambda a, y, r: (
            (y[:2] == list("AB")) + (len(y) > 2 and y[-2:] == list("AB")) + (y[-1] == "A") <= 1
        ),
    ),
    (BIO, at_most(1, Chunk("X")), lambda a, y, r: types(a, r).count("X") <= 1),
    (BIO, exactly(1, Chunk("X"), Chunk("Y")), lambda a, y, r: len(spans(a, r)) == 1),
    (BIO, at_most(1, "B-X"), lambda a, y, r: y.count("B-X") <= 1),
    (BIO, contiguous(), lambda a, y, r: all(types(a, r).count(k) <= 1 for k in "XY")),
    (BIO, contiguous("Y"), lambda a, y, r: types(a, r).count("Y") <= 1),
    (
        BIO,
        precedes(Chunk("X"), Chunk("Y")),
        lambda a, y, r: (
            not begins(a, r, "Y") or all(x < begins(a, r, "Y")[0] for x in begins(a, r, "X"))
        ),
    ),
    (
        BIO,
        not_adjacent(Chunk("X"), Chunk("Y")),
        lambda a, y, r: all(
            one[1] < two[0] or one[2] == two[2] for one, two in itertools.pairwise(spans(a, r))
        ),
    ),
    (
        BIO,
        not_adjacent(Chunk("X")),
        lambda a, y, r: all(
            one[1] < two[0] or {one[2], two[2]} != {"X"}
            for one, two in itertools.pairwise(spans(a, r))
        ),
    ),
    (
        BIO,
        not_adjacent(Chunk("X"), "O"),
        lambda a, y, r: all(
            (b == 0 or y[b - 1] != "O") and (e == len(y) or y[e] != "O")
            for b, e, k in spans(a, r)
            if k == "X"
        ),
    ),
    (IOBES, at_most(1, Chunk("X")), lambda a, y, r: types(a, r).count("X") <= 1),
    (IOBES, contiguous(), lambda a, y, r: all(types(a, r).count(k) <= 1 for k in "XY")),
    (IOBES, at_least(2, Chunk("X")), lambda a, y, r: types(a, r).count("X") >= 2),
]


def max_of(y, label):
    return max(t for t, k in enumerate(y) if k == label)


def neighbours(y):
    return {a + b for a, b in itertools.pairwise(y)}


def automata(constraint, alphabet, length=None):
    sequences = Sequences(alphabet, length, WINDOWS)
    return [one.automaton(sequences) for one in constraint.simple(alphabet)]


@pytest.mark.parametrize(
    ("labels", "constraint", "holds"), CASES, ids=[f"{k[1][0]}-{c}" for k, c, _ in CASES]
)
def test_says_what_the_constraint_says(labels, constraint, holds):
    alphabet = Alphabet(labels)
    for length in range(3, 6):
        found = automata(constraint, alphabet, length)
        for row in itertools.product(range(len(labels)), repeat=length):
            written = [labels[k] for k in row]
            expected = holds(alphabet, written, row)
            assert all(one.accepts(row) for one in found) == expected, written
    for one in found:
        if one.length is None:
            assert is_minimal(one)
        else:
            assert one.length == 5
            assert one.next.shape == (5, one.n_states, len(labels))


@pytest.mark.parametrize(
    ("labels", "constraint", "holds"), CASES, ids=[f"{k[1][0]}-{c}" for k, c, _ in CASES]
)
def test_one_automaton_for_all_lengths(labels, constraint, holds):
    alphabet = Alphabet(labels)
    found = automata(constraint, alphabet)
    assert all(one.length is None and is_minimal(one) for one in found)
    for length in range(3, 6):
        for row in itertools.product(range(len(labels)), repeat=length):
            written = [labels[k] for k in row]
            expected = holds(alphabet, written, row)
            assert all(one.accepts(row) for one in found) == expected, written


def test_a_place_that_a_sequence_does_not_have_is_never_used():
    alphabet = Alphabet(PLAIN)
    (one,) = automata(at_most(1, Label("A", at=[0, 2, -2])), alphabet)
    assert all(map(one.accepts, ([], [1], [2, 1])))
    assert one.accepts([1, 2]), "one place, named twice"
    assert not one.accepts([1, 1, 1])
    (second,) = automata(require(Label("A", at=1)), alphabet)
    assert not second.accepts([1])
    assert second.accepts([0, 1])


SEGMENTS = [
    (contiguous(), lambda y: y.count("A") <= 1 and y.count("B") <= 1),
    (at_most(1, Chunk("A")), lambda y: y.count("A") <= 1),
    (exactly(2, "A"), lambda y: y.count("A") == 2),
    (not_adjacent(Chunk("A"), Chunk("B")), lambda y: not {"AB", "BA"} & neighbours(y)),
    (not_adjacent("A"), lambda y: "AA" not in neighbours(y)),
    (precedes("A", "B"), lambda y: "BA" not in "".join(k for k in y if k != "O")),
]


@pytest.mark.parametrize(("constraint", "holds"), SEGMENTS, ids=[str(c) for c, _ in SEGMENTS])
def test_on_segmentations_each_segment_is_a_chunk(constraint, holds):
    alphabet = Alphabet(PLAIN, segments=True)
    for length in range(5):
        for row in itertools.product(range(3), repeat=length):
            labels = [PLAIN[k] for k in row]
            accepted = all(one.accepts(row) for one in automata(constraint, alphabet))
            assert accepted == holds(labels), labels


def test_places_of_segmentations_are_no_events():
    alphabet = Alphabet(PLAIN, segments=True)
    for constraint in (at_most(1, Label("A", at=[0, 1])), at_most(1, Part("end", "A"))):
        with pytest.raises(NoEvents):
            automata(constraint, alphabet)


def test_labels_that_are_written_alike_are_one():
    learned = ["O", "B-X", "I-X", "E-X", "S-X"]
    alphabet = Alphabet(["O", "B-X", "I-X", "I-X", "B-X"])
    inside = Alphabet(learned)
    legal = [
        row
        for row in itertools.product(range(5), repeat=4)
        if chunks([learned[k] for k in row]) == chunks([alphabet.labels[k] for k in row])
    ]
    assert len(legal) > 50
    for constraint in (contiguous(), exactly(1, Chunk("X"))):
        for ours, theirs in zip(
            automata(constraint, alphabet), automata(constraint, inside), strict=True
        ):
            assert [ours.accepts(r) for r in legal] == [theirs.accepts(r) for r in legal]
    (one,) = automata(at_most(1, "B-X"), alphabet)
    assert not one.accepts([1, 3, 4])


def test_sizes():
    def sizes(constraint, labels=PLAIN, length=9):
        return [one.n_states for one in automata(constraint, Alphabet(labels), length)]

    assert sizes(contiguous()) == [3, 3], "one for each label"
    assert sizes(contiguous(), BIO) == [3, 3]
    assert sizes(each_at_most_once()) == [2, 2, 2]
    assert sizes(at_most(3, "A")) == [4]
    assert sizes(exactly(3, "A")) == [4]
    assert sizes(if_then("A", "B")) == [3]
    assert sizes(precedes("A", "B")) == [2]
    assert sizes(not_adjacent("A", "B")) == [3]
    assert sizes(at_most(2, Label("A", at=[1, 3, 5]))) == [2], "three are too many, no more"
    assert sizes(at_most(2, Label("A", at=range(9)))) == [3]


def test_by_position_has_the_fewest_states_everywhere():
    alphabet = Alphabet(PLAIN)
    (one,) = automata(at_least(2, Label("A", at=[0, 2])), alphabet, 4)
    assert one.n_states == 1, "there is no other way than A at both places"
    assert one.next[0].tolist() == [[-1, 0, -1]]
    assert one.next[1].tolist() == [[0, 0, 0]]
    (never,) = automata(at_least(3, Label("A", at=[0, 2])), alphabet, 4)
    assert not never.accepting.any()
    assert never.next.shape == (4, 1, 3)
    assert (never.next == -1).all()


def test_too_many_states_are_refused():
    with pytest.raises(TooManyStates):
        automata(at_most(5000, "A"), Alphabet(PLAIN), 9)


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (at_most(1, "C"), "label 'C', which is unknown; labels are 'O', 'B-X'"),
        (at_most(1, "X"), r"label 'X', which is unknown; the chunks are Chunk\(\"X\"\)"),
        (at_most(1, Chunk("Q")), r"chunks of type 'Q', unknown here; there are \['X', 'Y'\]"),
        (contiguous("Z"), "chunks of type 'Z'"),
        (at_most(1, Label("O", at=7)), "names the position 7; label has positions of shape"),
        (at_most(1, Label("O", at="x")), "names the position 'x'"),
    ],
)
def test_unknown_names_and_places(constraint, message):
    with pytest.raises(ValueError, match=message):
        automata(constraint, Alphabet(BIO), 4)


def test_places_mean_nothing_in_constraints_of_order():
    with pytest.raises(ValueError, match="labels and chunks"):
        contiguous(Label("A", at=0))
    with pytest.raises(ValueError, match="not_adjacent takes labels and chunks"):
        not_adjacent(Label("A", at=0), "B")
    with pytest.raises(ValueError, match="labels and chunks"):
        each_at_most_once(Part("transition", "A", "B"))


# -- the automaton as a value ---------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(0, 3), st.booleans(), st.data())
def test_arrays_and_reading(n_states, n_labels, length, by_position, data):
    shape = (length, n_states, n_labels) if by_position and length else (n_states, n_labels)
    cells = st.integers(-1, n_states - 1)
    flat = data.draw(st.lists(cells, min_size=prod(shape), max_size=prod(shape)))
    table = np.array(flat, dtype=np.int64).reshape(shape)
    accepting = np.array(data.draw(st.lists(st.booleans(), min_size=n_states, max_size=n_states)))
    start = data.draw(st.integers(0, n_states - 1))
    one = Automaton(table, start, accepting)
    assert one.next.dtype == np.int32
    assert one.accepting.dtype == np.bool_
    np.testing.assert_array_equal(one.next, table)
    np.testing.assert_array_equal(np.asarray(one.memory), table)
    assert one == Automaton(table.tolist(), start, accepting.tolist())
    assert pickle.loads(pickle.dumps(one)) == one
    row = data.draw(st.lists(st.integers(0, n_labels - 1), min_size=length, max_size=length))
    state = start
    for t, k in enumerate(row):
        if state >= 0:
            state = table[t, state, k] if len(shape) == 3 else table[state, k]
    assert one.accepts(row) == bool(state >= 0 and accepting[state])


def test_an_automaton_does_not_change():
    one = Automaton([[0]], 0, [True])
    with pytest.raises(AttributeError, match="does not change"):
        one.start = 1
    with pytest.raises(ValueError, match="read-only"):
        one.next[0, 0] = -1
    with pytest.raises(ValueError, match="read-only"):
        one.accepting[0] = False


@pytest.mark.parametrize(
    ("table", "start", "accepting", "message"),
    [
        ([[0], [0]], 0, [True], "a row for each state"),
        ([[0, 0], [0]], 0, [True, True], "a column for each label"),
        ([[2]], 0, [True], r"must be among 0\.\.0, or -1"),
        ([[0.5]], 0, [True], "next"),
        ([[0]], 1, [True], "start must be among"),
        ([[[0]], [[0], [0]]], 0, [True], "a row for each state"),
    ],
)
def test_what_is_no_automaton(table, start, accepting, message):
    with pytest.raises(ValueError, match=message):
        Automaton(table, start, accepting)


def test_a_reader_by_position_knows_its_length():
    one = Automaton([[[0, -1]], [[-1, 0]]], 0, [True])
    assert one.length == 2
    assert one.accepts([0, 1])
    with pytest.raises(ValueError, match="3 labels for an automaton of 2 positions"):
        one.accepts([0, 1, 1])
