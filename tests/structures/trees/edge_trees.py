"""Constituent trees as hyperedges, for the engine that user-written structures run on."""

from structlearn.structures import Constituency, Structure


class EdgeTrees(Structure):
    """The chart of ``Constituency`` run by the engine."""

    def __init__(self, grammar=None):
        self.grammar = grammar
        self.label_block = "span" if grammar is None else "word"

    def blocks(self, n_labels):
        return Constituency(self.grammar).blocks(n_labels)

    def encode(self, y, **scores):
        return Constituency(self.grammar).encode(y, **scores)

    def decode(self, parts):
        return Constituency(self.grammar).decode(parts)

    def edges(self, **scores):
        return Constituency(self.grammar).edges(**scores)
