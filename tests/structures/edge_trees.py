"""Constituent trees as hyperedges, for the engine that user-written structures run on."""

from structlearn.structures import Block, Constituency, Hyperedges, Structure


class EdgeTrees(Structure):
    """Labelled spans: a node for the body, the child and the follower of every span."""

    label_block = "span"

    def blocks(self, n_labels):
        return {"span": Block((n_labels,))}

    def encode(self, y, **scores):
        return Constituency().encode(y, **scores)

    def decode(self, parts):
        return Constituency().decode(parts)

    def edges(self, **scores):
        n, m, n_labels = scores["span"].shape
        order = [(i, i + width) for width in range(1, n + 1) for i in range(n - width + 1)]
        at = {span: 3 * k for k, span in enumerate(order)}
        program = Hyperedges(3 * len(order))
        for (i, j), body in at.items():
            first = (i * m + j) * n_labels
            if j == i + 1:
                program.add(body)
            for k in range(i + 1, j):
                left = at[i, k] + (2 if k == i + 1 else 1)
                program.add(body, tails=[left, at[k, j] + 2])
            for label in range(1, n_labels):
                program.add(body + 1, tails=[body], parts=[first + label])
            program.add(body + 2, tails=[body], parts=[first])
            program.add(body + 2, tails=[body + 1])
        return program
