"""Conversions between schemes, and what a scheme rules out."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn import StructuredPerceptron
from structlearn.metrics import chunks, legal_transitions, to_bio, to_iobes
from tests.metrics.chunk_reference import write
from tests.metrics.metric_strategies import REPEATABLE, labels, segmentations


@REPEATABLE
@given(segmentations())
@pytest.mark.parametrize("scheme", ["iob1", "iob2", "iobes", "bilou"])
def test_from_each_scheme(scheme, drawn):
    spans, length = drawn
    given_labels = write(spans, length, scheme)
    assert to_bio(given_labels) == write(spans, length, "iob2")
    assert to_iobes(given_labels) == write(spans, length, "iobes")


@REPEATABLE
@given(st.lists(labels("BIOESLU"), max_size=10))
def test_any_mixture_keeps_its_chunks(sentence):
    for convert in (to_bio, to_iobes):
        converted = convert(sentence)
        assert chunks(converted) == chunks(sentence)
        assert convert(converted) == converted
    assert to_bio(to_iobes(sentence)) == to_bio(sentence)


@pytest.mark.parametrize("label", ["X-NP", "NN", "[-NP", ".", "O-NP", "", "-NP", "b-NP", None])
def test_labels_of_no_scheme(label):
    for convert in (to_bio, to_iobes):
        with pytest.raises(ValueError, match=r"position 1: the label .* is not a label of IOB1"):
            convert(["O", label])


def is_legal(sentence, forbidden):
    return not sentence or (
        (sentence[0] not in forbidden["start"] and sentence[-1] not in forbidden["end"])
        and not set(itertools.pairwise(sentence)) & set(forbidden["transition"])
    )


def to_bilou(sentence):
    swap = {"E": "L", "S": "U"}
    return [swap.get(k[0], k[0]) + k[1:] for k in to_iobes(sentence)]


@pytest.mark.parametrize(
    ("scheme", "tags", "convert"),
    [
        ("bio", "BI", to_bio),
        ("iob2", "BI", to_bio),
        ("IOBES", "BIES", to_iobes),
        ("bioes", "BIES", to_iobes),
        ("bilou", "BILU", to_bilou),
    ],
)
def test_legal_is_what_conversion_leaves_alone(scheme, tags, convert):
    """Every sequence up to a length, of two types and of none."""
    for types, longest in [(["A", "B"], 3), ([""], 5), (["A", ""], 3)]:
        names = ["O", *(f"{t}-{k}" if k else t for t in tags for k in types)]
        forbidden = legal_transitions(names, scheme)
        for n in range(longest + 1):
            for sentence in itertools.product(names, repeat=n):
                assert is_legal(sentence, forbidden) == (convert(sentence) == list(sentence))


def test_iobes_by_hand():
    forbidden = legal_transitions(["O", "B-X", "I-X", "E-X", "S-X", "S-Y"], "iobes")
    assert forbidden["start"] == ["I-X", "E-X"]
    assert forbidden["end"] == ["B-X", "I-X"]
    allowed = {
        "O": {"O", "B-X", "S-X", "S-Y"},
        "B-X": {"I-X", "E-X"},
        "I-X": {"I-X", "E-X"},
        "E-X": {"O", "B-X", "S-X", "S-Y"},
        "S-X": {"O", "B-X", "S-X", "S-Y"},
        "S-Y": {"O", "B-X", "S-X", "S-Y"},
    }
    expected = {(a, b) for a in allowed for b in allowed if b not in allowed[a]}
    assert set(forbidden["transition"]) == expected
    assert len(forbidden["transition"]) == len(expected)


@pytest.mark.parametrize("scheme", ["bio", "iobes"])
def test_as_constraints_of_a_model(scheme):
    """Where the features shout, predictions are illegal; with constraints they are not."""
    rng = np.random.default_rng(0)
    kept = {"bio": to_bio, "iobes": to_iobes}[scheme]
    y = [kept(rng.choice(["O", "B-A", "I-A", "I-B"], size=6).tolist()) for _ in range(40)]
    X = [rng.normal(size=(6, 3)) for _ in y]
    names = sorted({k for row in y for k in row})
    forbidden = legal_transitions(np.array(names), scheme)
    assert all(type(k) is str for k in forbidden["start"])
    free = StructuredPerceptron(random_state=0).fit(X, y)
    bound = StructuredPerceptron(random_state=0, forbid=forbidden).fit(X, y)
    loud = [100 * x for x in X]
    assert not all(kept(p) == list(p) for p in free.predict(loud))
    assert all(kept(p) == list(p) for p in bound.predict(loud))


@pytest.mark.parametrize("label", ["E-NP", "X", "O-NP", "BI-NP", "", None])
def test_labels_of_another_scheme(label):
    with pytest.raises(ValueError, match="does not belong to scheme 'bio', whose labels are"):
        legal_transitions(["O", "B-NP", label])


def test_unknown_scheme():
    with pytest.raises(ValueError, match=r"scheme must be one of \[.*'bilou', 'bio'.*got 'iob1'"):
        legal_transitions(["O"], "iob1")
