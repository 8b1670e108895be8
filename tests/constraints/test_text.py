"""Constraints as text: read, printed and read again; errors with their place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.constraints import (
    Chunk,
    ConstraintSyntaxError,
    Label,
    Part,
    at_least,
    at_most,
    contiguous,
    each_at_most_once,
    exactly,
    forbid,
    if_then,
    matches,
    not_adjacent,
    parse,
    precedes,
    require,
)
from structlearn.constraints.text import read_constraints, stored

SAME = [
    ("contiguous()", contiguous()),
    ("contiguous(Street, 'City')", contiguous("Street", "City")),
    ("contiguous(Chunk(PER), Street)", contiguous(Chunk("PER"), "Street")),
    ("at_most(1, PER)", at_most(1, "PER")),
    ('at_most( 1 ,Chunk( "PER" ) , B-X)', at_most(1, Chunk("PER"), "B-X")),
    ("at_least(2, Label(V, at=[0, -1]))", at_least(2, Label("V", at=[0, -1]))),
    ("exactly(2, 'a b', \"c'd\", 'e\\'f', 'g\\\\h')", exactly(2, "a b", "c'd", "e'f", "g\\h")),
    ("forbid(Part(transition, O, I-PER))", forbid(Part("transition", "O", "I-PER"))),
    ("forbid(Part(segment, 2, O, at=3))", forbid(Part("segment", 2, "O", at=3))),
    ("forbid(Part(arc, at=(0, 2)))", forbid(Part("arc", at=(0, 2)))),
    ("require(Label(D, at=0), Label(E, at=0))", require(Label("D", at=0), Label("E", at=0))),
    ("if_then([A, B], C)", if_then(["A", "B"], "C")),
    ("if_then(A, Label(C, at=-1))", if_then("A", Label("C", at=-1))),
    ("each_at_most_once()", each_at_most_once()),
    ("each_at_most_once(A, Chunk(B))", each_at_most_once("A", Chunk("B"))),
    ("precedes(Title, [Author, Editor])", precedes("Title", ["Author", "Editor"])),
    ("not_adjacent(V)", not_adjacent("V")),
    ("not_adjacent(Chunk(A), Chunk(B))", not_adjacent(Chunk("A"), Chunk("B"))),
    ("matches(\"A* 'x|y' B\")", matches("A* 'x|y' B")),
    ("at_most(1, 2)", at_most(1, 2)),
    ("at_most(1, '2')", at_most(1, "2")),
    ("at_most(1, $, nsubj:pass, Größe)", at_most(1, "$", "nsubj:pass", "Größe")),
    ("at_most(1, ., *, NN|SYM, -LRB-)", at_most(1, ".", "*", "NN|SYM", "-LRB-")),
]


@pytest.mark.parametrize(("text", "constraint"), SAME, ids=[text for text, _ in SAME])
def test_text_and_python_are_the_same(text, constraint):
    assert parse(text) == [constraint]
    assert parse(repr(constraint)) == [constraint]
    names = {"Chunk": Chunk, "Label": Label, "Part": Part}
    verbs = (at_least, at_most, contiguous, each_at_most_once, exactly, forbid, if_then, matches)
    verbs += (not_adjacent, precedes, require)
    python = {verb.__name__: verb for verb in verbs} | names
    assert eval(repr(constraint), python) == constraint, "repr is Python too"


def test_several_in_lines_with_comments():
    text = """
    # addresses
    contiguous(); at_most(1, Zip)   # one code
    matches("A* '#' B")  # a sign in quotes is no comment
    """
    assert parse(text) == [contiguous(), at_most(1, "Zip"), matches("A* '#' B")]


def labels():
    return st.one_of(st.text(min_size=1), st.integers(-(10**9), 10**9))


def selections():
    places = st.one_of(st.none(), st.integers(-9, 9), st.lists(st.integers(-9, 9), min_size=1))
    return st.one_of(
        labels(),
        st.builds(Label, labels(), at=places),
        st.builds(Chunk, labels()),
        st.builds(lambda k, at: Part("transition", *k, at=at), st.lists(labels()), places),
    )


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.builds(
            lambda verb, n, parts: verb(n, *parts),
            st.sampled_from([at_most, at_least, exactly]),
            st.integers(0, 99),
            st.lists(selections(), min_size=1),
        ),
        st.builds(
            lambda verb, one, two: verb(one, two),
            st.sampled_from([if_then, precedes]),
            st.lists(selections(), min_size=1),
            st.lists(selections(), min_size=1),
        ),
        st.builds(
            lambda names: contiguous(*names),
            st.lists(st.one_of(labels(), st.builds(Chunk, labels()))),
        ),
        st.builds(lambda names: each_at_most_once(*names), st.lists(labels())),
    )
)
def test_what_is_printed_is_read_again(constraint):
    assert parse(repr(constraint)) == [constraint]


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("", 1, "there is no constraint here; constraints are at_least, at_most"),
        ("# nothing", 10, "there is no constraint here"),
        ("at_mos(1, A)", 1, "'at_mos' is not a constraint; constraints are"),
        ("Label(A)", 1, "'Label' is not a constraint"),
        ("contiguous", 1, "'contiguous' is not a constraint"),
        ("at_most(A)", 1, "at_most begins with a number"),
        (
            "at_most(1",
            10,
            "',' is missing between the arguments (a label with blanks stands in "
            "quotes), where the text ends",
        ),
        (
            "at_most(1, A B)",
            14,
            "',' is missing between the arguments (a label with blanks stands "
            "in quotes), where 'B' stands",
        ),
        ("at_most(1, )", 12, "a label is missing, where ')' stands"),
        ("at_most(1, A=B)", 12, "at_most has no argument 'A'"),
        ("at_most(-1, A)", 1, "the count of a constraint must be a whole number"),
        ("forbid()", 1, "a constraint needs at least one label"),
        ("forbid(A, at=0)", 11, "forbid has no argument 'at'"),
        ("forbid(Label(A, on=0))", 17, "Label has no argument 'on'"),
        ("forbid(Label(A, at=first))", 20, "'first' is not a place; at=0 is the first one"),
        ("forbid(Label(at=0, A))", 20, "the place comes last"),
        ("precedes(A)", 1, "precedes missing 1 required positional argument"),
        ("contiguous(); at_most(0)", 15, "a constraint needs at least one label"),
        ("matches('A (B')", 12, "this group is not closed"),
        ("matches(A B)", 11, "',' is missing between the arguments (a pattern stands in quotes)"),
        ("if_then([A, B, C)", 17, "',' is missing between the items, where ')' stands"),
        ("forbid('A)", 8, "this quote is not closed"),
    ],
)
def test_errors_point_at_their_place(text, column, reason):
    with pytest.raises(ConstraintSyntaxError) as caught:
        parse(text)
    assert caught.value.reason.startswith(reason)
    assert caught.value.column == column


def test_constraints_are_taken_in_any_form():
    assert read_constraints(None) == []
    assert read_constraints(contiguous()) == [contiguous()]
    assert read_constraints("contiguous(); forbid(A)") == [contiguous(), forbid("A")]
    assert read_constraints(["contiguous()", forbid("A")]) == [contiguous(), forbid("A")]
    assert read_constraints(stored([contiguous(), forbid("A")])) == [contiguous(), forbid("A")]
    with pytest.raises(ValueError, match=r"contains 3, which is not a constraint"):
        read_constraints([3])
    with pytest.raises(ValueError, match=r"contains 3, which is not a constraint"):
        read_constraints(3)


def test_large_counts_are_written_whole():
    assert str(at_most(1234567, "A")) == "at most 1234567 of label 'A'"
    assert str(exactly(10**12, "A")) == "exactly 1000000000000 of label 'A'"
