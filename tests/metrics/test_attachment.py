"""Attachment scores."""

from __future__ import annotations

import pytest

from structlearn.metrics import attachment_interval, attachment_report

GOLD = [[(2, "nsubj"), (0, "root"), (2, "obj")], [(0, "root")]]
GUESS = [[(2, "nsubj"), (0, "root"), (1, "obj")], [(0, "root")]]


def test_report() -> None:
    found = attachment_report(GOLD, GUESS)
    assert (found.uas, found.las, found.label_accuracy) == (0.75, 0.75, 1.0)
    assert (found.root_accuracy, found.exact) == (1.0, 0.5)
    assert found.by_label["obj"].f1 == 0.0
    assert found.by_label["root"].correct == 2
    assert next(iter(found.by_label)) == "root"
    assert "UAS 75.00  LAS 75.00" in found.text()
    assert found.as_dict()["by_label"]["nsubj"]["recall"] == 1.0


def test_relation_counts_for_las_only() -> None:
    found = attachment_report([[(0, "root:a")]], [[(0, "root")]])
    assert (found.uas, found.las) == (1.0, 0.0)


def test_interval() -> None:
    trees = [[(0, "root")]] * 50
    other = [[(0, "dep")]] * 25 + trees[:25]
    las = attachment_interval(trees, other, random_state=0)
    assert las.metric == "las"
    assert las.low < las.value == 0.5 < las.high
    assert attachment_interval(trees, other, labelled=False, random_state=0).low == 1.0


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="sentence 0"):
        attachment_report(GOLD, [GUESS[0][:2], GUESS[1]])
