"""Chunks of one sentence: conlleval's rules, every scheme, every oddity."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.metrics import chunks
from structlearn.metrics.boundaries import split_label
from tests.metrics.chunk_reference import begins, ends, write
from tests.metrics.metric_strategies import REPEATABLE, labels, segmentations

SCHEMES = ["iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou"]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("", []),
        ("O O", []),
        ("B-NP I-NP O B-VP", [(0, 2, "NP"), (3, 4, "VP")]),
        ("I-NP I-NP O", [(0, 2, "NP")]),  # IOB1: I- opens
        ("O I-NP", [(1, 2, "NP")]),
        ("I-NP B-NP I-NP", [(0, 1, "NP"), (1, 3, "NP")]),  # B after I of the same type
        ("B-NP B-NP", [(0, 1, "NP"), (1, 2, "NP")]),
        ("B-NP I-VP I-VP", [(0, 1, "NP"), (1, 3, "VP")]),  # the type changes inside
        ("I-NP I-VP I-NP", [(0, 1, "NP"), (1, 2, "VP"), (2, 3, "NP")]),
        ("B I O I B", [(0, 2, ""), (3, 4, ""), (4, 5, "")]),  # no types
        ("B-NP I", [(0, 1, "NP"), (1, 2, "")]),  # no type is a type of its own
        ("B-date-time I-date-time I-date", [(0, 2, "date-time"), (2, 3, "date")]),
        ("B- I-", [(0, 2, "")]),
        ("B-- I--", [(0, 2, "-")]),
        ("S-NP S-NP", [(0, 1, "NP"), (1, 2, "NP")]),
        ("U-NP U-NP", [(0, 1, "NP"), (1, 2, "NP")]),
        ("B-NP I-NP E-NP B-NP E-NP", [(0, 3, "NP"), (3, 5, "NP")]),
        ("B-NP I-NP L-NP B-NP L-NP", [(0, 3, "NP"), (3, 5, "NP")]),
        ("E-NP E-NP I-NP E-NP I-NP", [(0, 1, "NP"), (1, 2, "NP"), (2, 4, "NP"), (4, 5, "NP")]),
        ("B-NP S-NP I-NP", [(0, 1, "NP"), (1, 2, "NP"), (2, 3, "NP")]),
        ("B-NP E-VP", [(0, 1, "NP"), (1, 2, "VP")]),
        ("[-NP . ]-NP . [-NP [-NP", [(0, 1, "NP"), (2, 3, "NP"), (4, 5, "NP"), (5, 6, "NP")]),
        ("[-NP I-NP", [(0, 1, "NP")]),  # the script knows no chunk that begins after a bracket
        (". I-NP . O", [(1, 2, "NP")]),
        ("O-NP I-NP O-NP", [(1, 2, "NP")]),  # O is outside whatever its type
        ("NN VB DT", []),  # labels of another kind hold no chunks
        ("B-NP o", [(0, 1, "NP"), (1, 2, "")]),  # only O and . are outside
        ("O X-NP X-NP I-NP", [(1, 4, "NP")]),  # unknown tags: types decide
    ],
)
def test_rules(sentence, expected):
    assert chunks(sentence.split()) == expected


@pytest.mark.parametrize(("old", "new"), [("NP", "NP"), ("NP", "VP"), ("", ""), ("", "NP")])
@pytest.mark.parametrize("pair", list(itertools.product("BIOESLU[].X", repeat=2)), ids="".join)
def test_every_pair_of_tags(pair, old, new):
    """Each pair by the table of rules: does a chunk end, and begin, between the two labels?"""
    first, second = (f"{t}-{k}" if k else t for t, k in zip(pair, (old, new), strict=True))
    found = chunks([first, second])
    opened = begins("O", first)
    begun = begins(first, second)
    expected = []
    if opened:
        expected.append((0, 1 if begun or ends(first, second) else 2, old))
    if begun:
        expected.append((1, 2, new))
    assert found == expected


@REPEATABLE
@given(segmentations())
@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_a_scheme_writes_is_read_back(scheme, drawn):
    spans, length = drawn
    assert chunks(write(spans, length, scheme)) == spans


@REPEATABLE
@given(st.lists(labels("BIOESLU[].X"), max_size=10))
def test_chunks_stand_in_order_without_overlap(sentence):
    found = chunks(sentence)
    bounds = [t for start, end, _ in found for t in (start, end)]
    assert bounds == sorted(bounds)
    assert all(0 <= start < end <= len(sentence) for start, end, _ in found)
    assert all(split_label(sentence[start])[1] == kind for start, _, kind in found)


@REPEATABLE
@given(st.lists(labels("BIOESLU"), max_size=10))
def test_chunks_hold_all_tokens_but_the_outside_ones(sentence):
    covered = {t for start, end, _ in chunks(sentence) for t in range(start, end)}
    assert covered == {t for t, label in enumerate(sentence) if label != "O"}


def test_none_is_outside():
    assert chunks(["B-NP", None, "I-NP"]) == [(0, 1, "NP"), (2, 3, "NP")]


def test_any_iterable():
    assert chunks(iter(("I-NP", "I-NP"))) == [(0, 2, "NP")]


@pytest.mark.parametrize("label", [3, 1.5, ["B-NP"], b"B-NP"])
def test_labels_are_strings(label):
    with pytest.raises(TypeError, match="position 1: "):
        chunks(["O", label])
