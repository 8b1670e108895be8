"""Every tree of a sentence with its score, added up part by part in Python."""

import itertools

import numpy as np

from structlearn.structures.trees.heads import all_heads


def listed_trees(inputs, i, n, labels, projective):
    """Return (score, output) of all legal trees with one root, best first.

    The scores of parts are those that the core's blocks have: arcs by ascending word and head with
    a line of labels each; of each side of a head (before it, after it) with k modifiers a square of
    k + 1, [the modifier before, none first][the next one, none last], nearest modifiers first; of
    each head a row for each of its possible heads, with its modifiers on both sides.
    """
    blocks = {
        number: np.frombuffer(data).reshape(sites, outcomes)
        for number, sites, outcomes, data in inputs.core.scores(i)
    }
    parts = inputs.marginals(1.0)[i]
    arcs = [(word, head) for word, head, label, _ in parts if label == 0]
    assert arcs == sorted(arcs)
    assert len(arcs) == len(blocks[0])
    pairs = _Pairs(n, arcs, blocks) if 1 in blocks else None
    row = {arc: a for a, arc in enumerate(arcs)}
    found = []
    for heads in all_heads(n, projective=projective, single_root=True):
        tree = list(enumerate(heads.tolist(), 1))
        if not row.keys() >= set(tree):
            continue
        shared = 0.0 if pairs is None else pairs.score(heads.tolist())
        lines = [blocks[0][row[arc]][:labels] for arc in tree]
        legal = [np.flatnonzero(np.isfinite(line)).tolist() for line in lines]
        for chosen in itertools.product(*legal):
            score = shared + sum(line[k] for line, k in zip(lines, chosen, strict=True))
            found.append((float(score), [*heads.tolist(), *chosen]))
    return sorted(found, key=lambda entry: -entry[0])


class _Pairs:
    """The scores of siblings and grandparents by the words that they are of."""

    def __init__(self, n, arcs, blocks):
        siblings, grands = iter(blocks[1].ravel().tolist()), iter(blocks[2].ravel().tolist())
        self.n, self.sibling, self.grand = n, {}, {}
        for h in range(n + 1):
            before = sorted((m for m, head in arcs if head == h and m < h), reverse=True)
            after = sorted(m for m, head in arcs if head == h and m > h)
            for side, modifiers in (("before", before), ("after", after)):
                for a in (None, *modifiers):
                    for b in (*modifiers, None):
                        self.sibling[h, side, a, b] = next(siblings)
            for word, g in arcs:
                if word == h:
                    for m in (*before, *after):
                        self.grand[g, h, m] = next(grands)
        assert next(siblings, None) is None
        assert next(grands, None) is None

    def score(self, heads):
        sum_ = 0.0
        for h in range(self.n + 1):
            below = [m for m, head in enumerate(heads, 1) if head == h]
            sides = {
                "before": [m for m in reversed(below) if m < h],
                "after": [m for m in below if m > h],
            }
            for side, chosen in sides.items():
                for a, b in itertools.pairwise((None, *chosen, None)):
                    sum_ += self.sibling[h, side, a, b]
            if h:
                sum_ += sum(self.grand[heads[h - 1], h, m] for m in below)
        return sum_
