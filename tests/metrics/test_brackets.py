"""Labelled brackets as evalb counts them."""

from dataclasses import astuple

import pytest

from structlearn.metrics.brackets import (
    bracket_counts,
    bracket_scores,
    brackets_by_label,
    counted_brackets,
)
from structlearn.text.trees import parse_brackets


def compare(gold, predicted):
    (a,), (b,) = parse_brackets(gold), parse_brackets(predicted)
    return bracket_counts(a.spans(), b.spans(), a.tags)


def test_equal_trees():
    tree = "(S (NP (N a)) (VP (V b) (NP (N c))))"
    found = compare(tree, tree)
    assert astuple(found) == (4, 4, 4, 1, 1)
    assert found.precision == found.recall == found.f1 == 1.0


def test_punctuation_is_taken_out_first():
    """The comma may hang anywhere."""
    gold = "(S (NP (N a)) (, ,) (VP (V b)) (. .))"
    assert compare(gold, "(S (NP (N a) (, ,)) (VP (V b) (. .)))").f1 == 1.0
    assert compare(gold, "(S (NP (N a)) (X (, ,)) (VP (V b)) (. .))").f1 == 1.0


def test_brackets_are_a_multiset():
    found = compare("(NP (NP (NP (N a))))", "(NP (NP (N a)))")
    assert (found.correct, found.gold, found.predicted) == (2, 3, 2)
    assert found.exact == 0


def test_labels_that_are_one_and_labels_that_are_none():
    assert compare("(S (PRT (RP a)) (V b))", "(S (ADVP (RP a)) (V b))").f1 == 1.0
    (tree,) = parse_brackets("(TOP (S (N a)) (X (N b)))")
    assert sum(counted_brackets(tree.spans(), tree.tags).values()) == 2


def test_tags_do_not_count():
    assert compare("(S (N a) (V b))", "(S (V a) (N b))").f1 == 1.0


def test_an_example_worked_out_by_hand():
    gold = "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog))))"
    guess = "(S (NP (D the)) (VP (N cat) (V saw) (NP (D a) (N dog))))"
    found = compare(gold, guess)
    assert (found.correct, found.gold, found.predicted) == (2, 4, 4)
    assert found.f1 == pytest.approx(0.5)


def test_sentences_add_up():
    total = bracket_scores([[(0, 1, "S")], []], [[(0, 1, "X")], []], [["N"], ["N"]])
    assert astuple(total) == (0, 1, 1, 1, 2)
    assert total.f1 == 0.0


def test_a_label_counts_as_if_it_were_the_only_one():
    gold = "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog))))"
    guess = "(S (NP (D the)) (VP (N cat) (V saw) (NP (D a) (X (N dog)))))"
    (a,), (b,) = parse_brackets(gold), parse_brackets(guess)
    found = brackets_by_label([a.spans()] * 2, [b.spans(), a.spans()], [a.tags] * 2)
    assert list(found) == ["NP", "S", "VP", "X"]
    for label, scores in found.items():
        one, other = ([s for s in t.spans() if s[2] == label] for t in (a, b))
        alone = bracket_scores([one] * 2, [other, one], [a.tags] * 2)
        assert (scores.correct, scores.predicted, scores.gold) == (
            alone.correct,
            alone.predicted,
            alone.gold,
        )
