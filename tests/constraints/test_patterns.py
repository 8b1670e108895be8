"""Regular expressions over labels against Python's own, and the places of errors."""

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.constraints import Automaton, ConstraintSyntaxError, matches
from structlearn.constraints.alphabet import Alphabet
from structlearn.constraints.construction import MOST_STATES, TooManyStates
from structlearn.constraints.pattern import Pattern
from tests.constraints.automata_checks import is_minimal

#: Labels, and the letter that each is in Python's expressions.
LETTERS = {"A": "a", "B-X": "b", "B-Y": "c", "NN|SYM": "d"}
ALPHABET = Alphabet(LETTERS)
EVERY = [row for n in range(6) for row in itertools.product(range(4), repeat=n)]


def pairs():
    """Patterns of ours, each with Python's."""
    written = {"A": "A", "B-X": "B-X", "B-Y": "'B-Y'", "NN|SYM": '"NN|SYM"'}
    labels = st.sampled_from([(written[k], letter) for k, letter in LETTERS.items()])
    sets = st.lists(labels, min_size=1, max_size=3).map(
        lambda items: ("[" + " ".join(a for a, _ in items), "[" + "".join(b for _, b in items))
    )
    negated = sets.map(lambda pair: (f"[^ {pair[0][1:]} ]", f"[^{pair[1][1:]}]"))
    leaves = st.one_of(
        labels,
        sets.map(lambda pair: (f"{pair[0]}]", f"{pair[1]}]")),
        negated,
        st.sampled_from([(".", "."), ("B-*", "[bc]"), ("()", "()")]),
    )
    signs = st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,2}", "{,1}", "{0}"])

    def grown(inner):
        rows = st.lists(inner, min_size=1, max_size=3)
        python = {"{,1}": "{0,1}"}
        return st.one_of(
            rows.map(lambda r: (" ".join(a for a, _ in r), "".join(b for _, b in r))),
            rows.map(
                lambda r: (f"({' | '.join(a for a, _ in r)})", f"({'|'.join(b for _, b in r)})")
            ),
            st.tuples(inner, signs).map(
                lambda p: (f"({p[0][0]}){p[1]}", f"({p[0][1]}){python.get(p[1], p[1])}")
            ),
        )

    return st.recursive(leaves, grown, max_leaves=8)


@settings(max_examples=300, deadline=None)
@given(pairs())
def test_accepts_what_pythons_expressions_match(pair):
    ours, pythons = pair
    automaton = Pattern(ours).automaton(ALPHABET)
    letters = "".join(LETTERS.values())
    compiled = re.compile(pythons)
    for row in EVERY[:400]:
        text = "".join(letters[k] for k in row)
        assert automaton.accepts(row) == bool(compiled.fullmatch(text)), (ours, pythons, text)
    assert is_minimal(automaton)


@pytest.mark.parametrize(
    ("ours", "pythons"),
    [
        ("A* B-X?", "a*b?"),
        ("(A | B-*)+ .", "([abc])+."),
        ('[^A "NN|SYM"]{2,3}', "[bc]{2,3}"),
        ("[A, 'B-X']", "[ab]"),
        ("A||B-X", "a||b"),
        ("(((A*)*)+)?", "a*"),
        ("(A|A B-X)(B-Y|B-X B-Y)", "(a|ab)(c|bc)"),
        ("B-**", "[bc]*"),
        ("'B-X' *", "b*"),
    ],
)
def test_forms(ours, pythons):
    automaton = Pattern(ours).automaton(ALPHABET)
    letters = "".join(LETTERS.values())
    for row in EVERY:
        assert automaton.accepts(row) == bool(
            re.fullmatch(pythons, "".join(letters[k] for k in row))
        ), row
    assert is_minimal(automaton)


def test_sizes():
    def states(pattern):
        return Pattern(pattern).automaton(Alphabet(["A", "B"])).n_states

    assert states("(A B)*") == 2
    assert states("(A|B)* A (A|B){3}") == 16  # the last four labels have to be remembered
    assert states("A{10}") == 11
    assert states("(A|B A)*|(A|B A)* A") == 2
    assert Pattern("A [^A B]").automaton(Alphabet(["A", "B"])) == Automaton([[-1, -1]], 0, [False])


def test_names_are_labels_as_printed():
    assert Pattern("0 1* 2").automaton(Alphabet([0, 1, 2])).accepts([0, 1, 1, 2])
    twice = Alphabet(["O", "B-X", "I-X", "B-X", "I-X"])  # S-X and E-X, as they are written
    automaton = Pattern("O B-X I-X* O*").automaton(twice)
    assert automaton.accepts([0, 1, 2, 4])
    assert automaton.accepts([0, 3, 0])
    assert not automaton.accepts([0, 3, 1])


@pytest.mark.parametrize(
    ("pattern", "column", "reason"),
    [
        ("A (B-X", 3, "this group is not closed: ')' is missing"),
        ("A B-X) A", 6, "this ')' has no beginning"),
        ("A | * A", 5, "'*' repeats nothing"),
        ("A{3,2}", 2, "at least 3 times and at most 2"),
        ("A{x}", 3, "'x' is not a number"),
        ("A{}", 3, "a number is missing"),
        ("A{,}", 2, "a number is missing"),
        ("A{2", 4, "'}' is missing after the numbers"),
        ("A{99999}", 3, "a repetition is at most"),
        ("[A", 1, "this set is not closed"),
        ("A [^]", 3, "this set is empty"),
        ("[A | A]", 4, "'|' means nothing in a set"),
        ("A, A", 2, "',' means nothing here; names with it need quotes"),
        ("A 'B", 3, "this quote is not closed"),
        ("", 1, "the pattern is empty"),
        ("(" * 101 + ")" * 101, 101, "more than 100 nested groups"),
        ("A" + "?" * 5000, 103, "more than 100 nested repetitions"),
        ("(A{2}{2})" * 101, 906, "more than 100 nested repetitions"),
    ],
)
def test_errors_of_syntax_point_at_their_place(pattern, column, reason):
    with pytest.raises(ConstraintSyntaxError) as caught:
        matches(pattern)
    error = caught.value
    assert (error.text, error.column) == (pattern, column)
    assert error.reason.startswith(reason)
    shown, caret = str(error).splitlines()[1:]
    assert caret.index("^") - 2 == min(column - 1, 61), "two blanks before the line"
    if column <= 60:
        assert shown[2:].startswith(pattern[: column - 1])


def test_the_caret_stands_under_the_place_in_long_and_broken_lines():
    pattern = "A\n" + " A" * 70 + " )"
    with pytest.raises(ConstraintSyntaxError) as caught:
        matches(pattern)
    shown, caret = str(caught.value).splitlines()[1:]
    assert shown[caret.index("^")] == ")"
    assert shown[2] == "…"


@pytest.mark.parametrize(
    ("pattern", "column", "reason"),
    [
        ("A B-Z", 3, "label 'B-Z', which is unknown; did you mean 'B-Y'?"),
        ("A Q-*", 3, "no label begins with 'Q-'"),
        ("[A 'Number']", 4, "label 'Number', which is unknown; labels are 'A', 'B-X'"),
    ],
)
def test_unknown_labels_are_named_with_their_place(pattern, column, reason):
    with pytest.raises(ConstraintSyntaxError) as caught:
        Pattern(pattern).automaton(ALPHABET)
    assert caught.value.column == column
    assert caught.value.reason.startswith(reason)


def test_a_pattern_is_bounded():
    with pytest.raises(TooManyStates, match=f"more than {MOST_STATES:,} states"):
        Pattern("(A|B)* A (A|B){20}").automaton(Alphabet(["A", "B"]))
    with pytest.raises(TooManyStates):
        Pattern("((A{100}){100}){100}").automaton(Alphabet(["A", "B"]))
    with pytest.raises(ValueError, match="a pattern is a string"):
        matches(3)
