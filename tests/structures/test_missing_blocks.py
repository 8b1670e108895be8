"""Structures asked without scores, or with parts that are none: the message names the block."""

import numpy as np
import pytest

from structlearn.structures import (
    Arborescence,
    Chain,
    Constituency,
    Graph,
    Grid,
    Matching,
    Multiclass,
    SemiMarkov,
    SpanningTree,
    Tree,
)

BLOCKS = {
    Multiclass(): "label",
    Chain(): "label",
    SemiMarkov(2): "segment",
    Tree(): "label",
    Graph(): "label",
    Grid(): "label",
    Arborescence(): "arc",
    Arborescence(projective=True): "arc",
    SpanningTree(): "edge",
    Constituency(): "span",
    Matching(): "pair",
}


@pytest.mark.parametrize("structure", BLOCKS, ids=lambda s: type(s).__name__)
def test_a_missing_block_is_named(structure):
    block = BLOCKS[structure]
    for ask in (structure.argmax, structure.solve, structure.count):
        with pytest.raises(ValueError, match=block) as caught:
            ask()
        assert "shape" not in str(caught.value)
    for wrong in ({}, {"other": np.zeros(2)}, None, 3):
        with pytest.raises(ValueError, match=f"{block!r} is missing"):
            structure.decode(wrong)


@pytest.mark.parametrize("kind", ["q", "l", "i", "h", "B", np.intp, np.int64, np.uint64])
def test_whole_numbers_of_every_kind(kind):
    """Two types of NumPy have the same size on most machines, and different letters."""
    arc = np.arange(9).reshape(3, 3)
    heads = np.array([2, 0], dtype=kind)
    assert Arborescence().score(heads, arc=arc) == 9
    assert Arborescence().argmax(arc=arc.astype(kind)).tolist() == [2, 0]
    edges = np.array([[0, 1], [1, 2]], dtype=kind)
    assert SpanningTree().score(edges, edge=arc) == 6
    assert Chain().score(np.array([0, 1], dtype=kind), label=np.eye(2, dtype=kind)) == 2
    spans = np.array([[0, 2, 1]], dtype=kind)
    assert Constituency().score(spans, span=np.ones((2, 3, 2), dtype=kind)) == 3
    labels = np.array([1, 0, 1], dtype=kind)
    assert Tree([-1, 0, 0]).score(labels, label=np.ones((3, 2))) == 3
    assert Graph().argmax(
        label=np.eye(3, 2), edges=edges, edge=np.zeros((2, 2, 2))
    ).tolist() == [0, 1, 0]  # fmt: skip


def test_flat_spans_come_one_by_one():
    """A list of n matrices is one example; a batch of flat ones would look the same."""
    scores = np.random.default_rng(0).normal(size=(3, 4, 2))
    constituency = Constituency()
    best = constituency.argmax(span=scores)
    assert constituency.argmax(span=scores.reshape(12, 2)) == best
    assert constituency.argmax(span=list(scores)) == best
    assert constituency.argmax(span=[scores, scores]) == [best, best]
    flat = scores.reshape(12, 2)
    for ask in (constituency.argmax, constituency.log_partition, constituency.count):
        with pytest.raises(ValueError, match="a batch is a list of"):
            ask(span=[flat, flat])
