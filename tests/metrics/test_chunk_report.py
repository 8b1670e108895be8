"""Scores of chunks: against a running count, conlleval's layout, and a real corpus."""

import gzip
import itertools
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from structlearn.metrics import chunk_f1, chunk_report, chunks, to_bio, to_iobes
from structlearn.metrics.chunking import chunk_counts
from structlearn.metrics.scores import Scores
from tests.metrics.chunk_reference import running_counts, write
from tests.metrics.metric_strategies import REPEATABLE, labels, paired, segmentations

GOLD = [["B-NP", "I-NP", "B-VP", "O", "B-NP"], ["I-PP", "B-NP", "I-NP", "O"], [], ["O"]]
PREDICTED = [["B-NP", "I-NP", "B-NP", "O", "I-NP"], ["B-PP", "B-NP", "O", "O"], [], ["B-ADJP"]]


@pytest.mark.parametrize("tags", ["BIO", "BIOE", "BIOES", "BILOU", "[].O", "BIOESLU[].X"])
def test_against_a_running_count(tags):
    @REPEATABLE
    @given(paired(labels(tags)))
    def check(drawn):
        gold, predicted = drawn
        expected = {}
        rows = []
        for truth, guess in zip(gold, predicted, strict=True):
            counts = running_counts(truth, guess)
            rows.append(tuple(sum(c[j] for c in counts.values()) for j in range(3)))
            for kind, three in counts.items():
                total = expected.setdefault(kind, [0, 0, 0])
                expected[kind] = [a + b for a, b in zip(total, three, strict=True)]
        report = chunk_report(gold, predicted)
        assert report.by_type == {kind: Scores(*expected[kind]) for kind in sorted(expected)}
        assert list(report.by_type) == sorted(expected)
        assert chunk_counts(gold, predicted) == rows
        assert chunk_f1(gold, predicted) == report.overall.f1

    check()


@REPEATABLE
@given(segmentations(), segmentations())
def test_the_scheme_does_not_matter(first, second):
    """One side's labels in IOB1, the other's in BILOU: a chunk is a chunk."""
    (gold, n), (predicted, m) = first, second
    length = max(n, m)
    right = len(set(gold) & set(predicted))
    for a, b in [("iob2", "iob2"), ("iob1", "bilou"), ("iobes", "ioe1")]:
        counts = chunk_counts([write(gold, length, a)], [write(predicted, length, b)])
        assert counts == [(right, len(predicted), len(gold))]


def test_layout():
    """As conlleval prints it, to the character."""
    expected = """\
processed 10 tokens with 5 phrases; found: 6 phrases; correct: 3.
accuracy:  50.00%; precision:  50.00%; recall:  60.00%; FB1:  54.55
             ADJP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
               NP: precision:  50.00%; recall:  66.67%; FB1:  57.14  4
               PP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
               VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0"""
    report = chunk_report(GOLD, PREDICTED)
    assert report.text() == str(report) == expected


def test_precision_and_recall_are_not_exchanged():
    report = chunk_report([["B-NP", "O", "O"]], [["B-NP", "B-NP", "B-VP"]])
    assert report.overall == Scores(correct=1, predicted=3, gold=1)
    assert (report.overall.precision, report.overall.recall) == (1 / 3, 1.0)
    assert report.overall.f1 == 0.5
    assert report.macro == (0.25, 0.5, 1 / 3)


@pytest.mark.parametrize("gold", [[], [[]], [[], []]])
def test_nothing_at_all(gold):
    report = chunk_report(gold, gold)
    assert report.overall == Scores(0, 0, 0)
    assert report.overall.f1 == report.accuracy == report.macro.f1 == 0.0
    assert str(report) == "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0."


def test_nothing_found_and_nothing_to_find():
    missed = chunk_report([["B-NP"]], [["O"]]).overall
    assert (missed.precision, missed.recall, missed.f1) == (0.0, 0.0, 0.0)
    spurious = chunk_report([["O"]], [["B-NP"]]).overall
    assert (spurious.precision, spurious.recall, spurious.f1) == (0.0, 0.0, 0.0)


def test_chunks_do_not_reach_into_the_next_sentence():
    together = chunk_report([["B-NP", "I-NP"]], [["B-NP", "I-NP"]]).overall
    apart = chunk_report([["B-NP"], ["I-NP"]], [["B-NP"], ["I-NP"]]).overall
    assert (together.gold, apart.gold) == (1, 2)


def test_labels_that_differ_in_writing_only():
    assert chunk_report([["B-", "I-"]], [["B", "I"]]).accuracy == 1.0


def test_as_dict_goes_through_json():
    as_dict = chunk_report(GOLD, PREDICTED).as_dict()
    assert json.loads(json.dumps(as_dict)) == as_dict
    assert as_dict["tokens"] == 10
    assert as_dict["accuracy"] == 0.5
    assert as_dict["overall"]["recall"] == 0.6
    assert as_dict["by_type"]["NP"] == {
        "precision": 0.5,
        "recall": 2 / 3,
        "f1": 4 / 7,
        "correct": 2,
        "predicted": 4,
        "gold": 3,
    }


def test_arrays_are_sentences_too():
    gold, predicted = [np.array(s) for s in GOLD[:2]], [np.array(s) for s in PREDICTED[:2]]
    report = chunk_report(gold, predicted)
    assert report == chunk_report(GOLD[:2], PREDICTED[:2])
    assert {type(kind) for kind in report.by_type} == {str}


def test_a_predicted_none_is_outside_and_wrong():
    report = chunk_report([["B-NP", "O"]], [[None, None]])
    assert report.overall == Scores(0, 0, 1)
    assert report.accuracy == 0.0


def test_an_unknown_gold_label():
    """The chunk at its side is not judged, nor what was predicted there; the others are."""
    gold = [["O"], ["O", "B-NP", None, "B-VP", "O", "B-PP", "O"]]
    guess = [["O"], ["O", "B-NP", "O", "B-VP", "O", "B-PP", "B-PP"]]
    report = chunk_report(gold, guess)
    assert report.by_type == {"PP": Scores(1, 2, 1)}
    assert (report.n_tokens, report.n_right) == (7, 6)


@pytest.mark.parametrize("tags", ["BIO", "BIOES"])
def test_judged_chunks_are_the_same_whatever_the_unknown_labels_are(tags):
    """Every completion of the gold labels has the gold chunks that are counted, and agrees on which
    of the predicted ones are right.
    """
    kinds = ["O", *(f"{tag}-{kind}" for tag in tags if tag != "O" for kind in "XY")]
    rng = np.random.default_rng(0)
    judged = 0
    for _ in range(60):
        truth, guess = (list(map(str, rng.choice(kinds, 6))) for _ in range(2))
        at = rng.choice(6, 2, replace=False)
        for t in at:
            truth[t] = None
        right, predicted, gold = chunk_counts([truth], [guess])[0]
        judged += gold
        # Which ones they are: those that no unknown label touches.
        free = [(a, b, k) for a, b, k in chunks(guess) if not any(a - 1 <= t <= b for t in at)]
        assert len(free) == predicted
        found = []
        for some in itertools.product(kinds, repeat=2):
            filled = list(truth)
            for t, label in zip(at, some, strict=True):
                filled[t] = label
            found.append(set(chunks(filled)))
        always = set.intersection(*found)
        touched = {c for c in always if any(c[0] - 1 <= t <= c[1] for t in at)}
        assert len(always - touched) == gold
        for one in found:
            assert len(one & set(free)) == right
    assert judged > 20


def test_labels_that_are_no_strings():
    with pytest.raises(TypeError, match="sentence 1, position 0: the label 3 is of type int"):
        chunk_report([["O"], ["O"]], [["O"], [3]])


# -- CoNLL-2000 -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def conll():
    """The chunk labels of the test set."""
    path = Path(os.environ.get("STRUCTLEARN_DATA", "missing")) / "conll2000" / "test.txt.gz"
    if not path.is_file():
        pytest.skip("conll2000 is not there: STRUCTLEARN_DATA names no folder with it")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        blocks = file.read().split("\n\n")
    rows = [[line.split()[2] for line in block.split("\n") if line] for block in blocks]
    return [row for row in rows if row]


#: What conlleval prints for the test set with labels replaced as in the test below.
REPLACED = """\
processed 47377 tokens with 23852 phrases; found: 24967 phrases; correct: 14771.
accuracy:  76.65%; precision:  59.16%; recall:  61.93%; FB1:  60.51
             ADJP: precision:  79.19%; recall:  62.56%; FB1:  69.90  346
             ADVP: precision:  94.55%; recall:  72.06%; FB1:  81.78  660
            CONJP: precision:  62.50%; recall:  55.56%; FB1:  58.82  8
             INTJ: precision: 100.00%; recall: 100.00%; FB1: 100.00  2
              LST: precision:  75.00%; recall:  60.00%; FB1:  66.67  4
               NP: precision:  51.55%; recall:  55.39%; FB1:  53.40  13349
               PP: precision:  99.34%; recall:  72.40%; FB1:  83.76  3506
              PRT: precision: 100.00%; recall:  68.87%; FB1:  81.56  73
             SBAR: precision:  99.75%; recall:  74.39%; FB1:  85.22  399
               VP: precision:  45.74%; recall:  65.01%; FB1:  53.70  6620"""


def replaced(gold):
    """Every 7th token is O, every 11th of the others I-NP, every 13th of the rest B-VP."""
    n, predicted = 0, []
    for sentence in gold:
        row = []
        for label in sentence:
            n += 1
            row.append(
                "O" if not n % 7 else "I-NP" if not n % 11 else "B-VP" if not n % 13 else label
            )
        predicted.append(row)
    return predicted


def test_conll_2000_as_conlleval_scores_it(conll):
    assert str(chunk_report(conll, replaced(conll))) == REPLACED


def test_conll_2000_in_other_schemes(conll):
    """The test set is IOB2; through IOBES and back it is what it was."""
    iobes = [to_iobes(s) for s in conll]
    assert [to_bio(s) for s in iobes] == conll
    assert chunk_f1(conll, iobes) == 1.0
    predicted = replaced(conll)
    by_type = chunk_report(conll, predicted).by_type
    assert chunk_report(iobes, [to_bio(s) for s in predicted]).by_type == by_type
