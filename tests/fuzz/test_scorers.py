"""The scorers that relations compare with, on examples worked by hand."""

import numpy as np
import pytest
from fuzz.metamorphic.distributions import listing, outside_segments
from fuzz.metamorphic.enumeration import _divergence
from fuzz.metamorphic.oracles.attachment_scores import attachment_scores
from fuzz.metamorphic.oracles.bracket_scores import bracket_scores, brackets
from fuzz.metamorphic.oracles.chunk_scores import chunk_scores, chunks, written_in
from fuzz.metamorphic.oracles.overlap_scores import overlap_scores
from fuzz.metamorphic.oracles.schemes import is_legal
from fuzz.metamorphic.oracles.token_scores import (
    accuracy,
    confusion,
    expected_calibration_error,
    whole_accuracy,
)
from fuzz.metamorphic.oracles.ud_scores import ud_scores

from structlearn.text.trees import parse_brackets


def test_chunks_begin_and_end():
    assert chunks(["B-NP", "I-NP", "O", "I-VP", "B-VP"]) == [
        (0, 2, "NP"),
        (3, 4, "VP"),
        (4, 5, "VP"),
    ]
    assert chunks(["I-NP", "I-PP", "I-PP"]) == [(0, 1, "NP"), (1, 3, "PP")]
    assert chunks(["B-X", "E-X", "E-X", "S-X", "I-X"]) == [(0, 2, "X"), (2, 3, "X"), (3, 4, "X"),
                                                    (4, 5, "X")]  # fmt: skip
    assert chunks(["B-X", "L-X", "U-X", "O", "B", "I"]) == [(0, 2, "X"), (2, 3, "X"), (4, 6, "")]
    assert chunks([]) == []


def test_chunks_in_schemes():
    spans = [(0, 2, "A"), (2, 3, "A"), (4, 5, "B")]
    assert written_in(spans, 5, "bio") == ["B-A", "I-A", "B-A", "O", "B-B"]
    assert written_in(spans, 5, "iob1") == ["I-A", "I-A", "B-A", "O", "I-B"]
    assert written_in(spans, 5, "iobes") == ["B-A", "E-A", "S-A", "O", "S-B"]
    assert written_in(spans, 5, "bilou") == ["B-A", "L-A", "U-A", "O", "U-B"]
    assert outside_segments(["B-A", "I-A", "O", "O"]) == [(0, 2, "A"), (2, 3, "O"), (3, 4, "O")]


def test_scores_of_chunks_by_type():
    gold, predicted = [["B-NP", "I-NP", "B-VP", "O"]], [["B-NP", "I-NP", "B-NP", "O"]]
    assert chunk_scores(gold, predicted) == {"NP": (1, 2, 1), "VP": (0, 0, 1)}


@pytest.mark.parametrize(
    ("labels", "schemes"),
    [
        ("O B-A I-A", {"bio", "beginnings"}),
        ("B-A I-B", {"beginnings"}),
        ("O I-A", set()),
        ("S-A B-A I-A E-A O", {"iobes"}),
        ("B-A O", {"bio", "beginnings"}),
        ("B-A E-B", set()),
    ],
)
def test_legal_labels(labels, schemes):
    tags = {label[0] for label in labels.split()}
    for scheme in ("bio", "beginnings", "iobes"):
        if scheme == "iobes" or not tags & set("ES"):
            assert is_legal(labels.split(), scheme) == (scheme in schemes)


def test_scores_of_tokens():
    gold, predicted = [["D", "N", None], [None], []], [["D", "V", "N"], ["N"], []]
    assert accuracy(gold, predicted) == 0.5
    assert whole_accuracy(gold, predicted) == 0.0
    assert whole_accuracy([["D"], ["N"]], [["D"], ["V"]]) == 0.5
    assert confusion(gold, predicted) == {("D", "D"): 1, ("N", "V"): 1}
    assert accuracy([[None]], [["N"]]) == 0.0


def test_calibration_error():
    right = [True, True, False, True]
    found = expected_calibration_error([0.95, 0.85, 0.85, 0.65], right, 10)
    assert found == pytest.approx((0.05 + 2 * 0.35 + 0.35) / 4)
    assert expected_calibration_error([0.5, 1.0], [False, True], 2) == pytest.approx(0.25)


def test_attachment():
    gold = [[(2, "nsubj"), (0, "root"), (2, "obj")]]
    found = attachment_scores(gold, [[(2, "nsubj"), (0, "root"), (1, "obj")]])
    assert found == {"uas": 2 / 3, "las": 2 / 3, "label_accuracy": 1.0, "root_accuracy": 1.0,
                     "exact": 0.0}  # fmt: skip


def tree(text):
    return parse_brackets(text)[0]


def test_brackets_that_count():
    gold = tree("(TOP (S (NP (N a) (, ,)) (PRT (V b)) (X (. .))))")
    assert brackets(gold, gold.tags) == [("NP", (0,)), ("ADVP", (2,)), ("S", (0, 2))]
    guess = tree("(S (NP (NP (N a))) (V ,) (VP (V b) (. .)))")
    found = bracket_scores([gold], [guess])
    assert (found["precision"], found["recall"]) == (2 / 4, 2 / 3)  # of two NP one counts
    assert found["f1"] == pytest.approx(4 / 7)
    assert (found["exact_match"], found["tag_accuracy"]) == (0.0, 0.75)


def test_overlap():
    gold, found = [np.array([[0, 0, 1], [-1, 255, 1]])], [np.array([[0, 1, 1], [1, 0, 2]])]
    scores = overlap_scores(gold, found, 255)
    assert scores["accuracy"] == 2 / 4
    assert scores["iou_by_class"] == {0: 1 / 2, 1: 1 / 3, 2: 0.0}
    assert scores["iou"] == pytest.approx((1 / 2 + 1 / 3) / 3)


def word(form, head=0, lemma="x", upos="X", feats="_", relation="dep"):
    return ["_", form, lemma, upos, "_", feats, str(head), relation, "_", "_"]


def test_annotated_text():
    gold = [[("I", [word("I", 2)]), ("don't", [word("do", 0), word("n't", 2, feats="Typo=Yes")])],
            [("go", [word("go", lemma="_")])]]  # fmt: skip
    system = [[("I", [word("I", 2)]), ("do", [word("do")]), ("n't", [word("N'T", 1)]),
               ("go", [word("go", 2, lemma="y", relation="dep:x")])]]  # fmt: skip
    found = ud_scores(gold, system)
    assert found["tokens"] == (2, 3, 4)
    assert found["sentences"] == (0, 2, 1)
    assert found["words"] == (4, 4, 4)
    assert found["ufeats"] == found["lemmas"] == (4, 4, 4)
    assert found["uas"] == (2, 4, 4)  # "n't" hangs on another word, "go" is no root
    assert found["las"] == (2, 4, 4)


def test_all_outputs_of_a_model():
    class Coin:
        temperature_ = 1.0

        def predict_kbest(self, X, n):
            return [[(1.0, "heads"), (0.0, "tails")]]

    found = listing(Coin(), ["x"])
    assert found.p.tolist() == pytest.approx([0.7310585786, 0.2689414214])
    assert found.entropy == pytest.approx(0.5822031)
    assert found.log_partition == pytest.approx(1.3132617)


def test_frequencies_far_from_their_probability():
    assert _divergence(0.3, 0.3) == 0.0
    assert 400 * _divergence(0.9, 0.5) > 100
    assert _divergence(1.0, 0.0) > 20  # what cannot be was drawn
