"""Random batches of every kind of structure that padded tensors can be cut for."""

from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from structlearn.structures import (  # noqa: E402
    Arborescence,
    Chain,
    Constituency,
    ConstrainedChain,
    ConstrainedSemiMarkov,
    SemiMarkov,
)

KINDS = ["chain", "segments", "accepted", "accepted segments"]
KINDS += ["projective", "crossing", "labelled", "constituents"]


def automata(n_labels):
    """At most two of the last label, and no first label after one: all first labels are legal."""
    last, first = n_labels - 1, 0
    if last == first:
        return []
    budget = np.array([[min(s + (k == last), 3) for k in range(n_labels)] for s in range(3)])
    budget[budget == 3] = -1
    run = np.array([[int(k != first) for k in range(n_labels)], [1] * n_labels])
    run[1, first] = -1
    every = [(budget, 3), (run, 2)]
    return [SimpleNamespace(next=a, start=0, accepting=[True] * n) for a, n in every]


class Case:
    """A structure with scores, lengths, and a gold output of each example."""

    def __init__(self, name, seed, dtype=torch.float64, *, forbid=0.0, scale=1.0, size=6):
        rng = np.random.default_rng(seed)
        self.dtype = dtype
        B, L, K = int(rng.integers(1, 4)), int(rng.integers(1, size)), int(rng.integers(1, 5))

        def draw(*shape, open_=None):
            a = rng.normal(size=shape) * scale
            if forbid:
                closed = rng.random(shape) < forbid
                if open_ is not None:
                    closed[open_] = False
                a[closed] = -np.inf
            return torch.tensor(a, dtype=dtype)

        if name == "chain":
            self.structure = Chain()
            self.scores = {
                "label": draw(B, L, K, open_=np.s_[..., 0]),
                "transition": draw(K, K, open_=np.s_[0]),
                "start": draw(K, open_=0),
                "end": draw(K, open_=0),
            }
        elif name == "segments":
            M = int(rng.integers(1, 5))
            self.structure = SemiMarkov(M)
            self.scores = {
                "segment": draw(B, L, M, K, open_=np.s_[..., 0, 0]),
                "transition": draw(K, K, open_=np.s_[0]),
                "start": draw(K, open_=0),
                "end": draw(K, open_=0),
            }
        elif name == "accepted":
            self.structure = ConstrainedChain(automata(K))
            self.scores = {
                "label": draw(B, L, K, open_=np.s_[..., 0]),
                "transition": draw(K, K, open_=np.s_[0]),
                "start": draw(K, open_=0),
                "end": draw(K, open_=0),
            }
        elif name == "accepted segments":
            M = int(rng.integers(1, 5))
            self.structure = ConstrainedSemiMarkov(automata(K), M)
            self.scores = {
                "segment": draw(B, L, M, K, open_=np.s_[..., 0, 0]),
                "transition": draw(K, K, open_=np.s_[0]),
                "start": draw(K, open_=0),
                "end": draw(K, open_=0),
            }
        elif name in ("projective", "crossing", "labelled"):
            single = bool(rng.integers(2))
            projective = name == "projective" or (name == "labelled" and bool(rng.integers(2)))
            self.structure = Arborescence(projective, single, name == "labelled")
            shape = (B, L + 1, L + 1) + ((K,) if name == "labelled" else ())
            # The tree in which each word's head is the one before it stays.
            chain = (slice(None), np.arange(L), np.arange(1, L + 1))
            self.scores = {"arc": draw(*shape, open_=chain)}
        else:
            self.structure = Constituency()
            self.scores = {"span": draw(B, L, L + 1, K + 1, open_=np.s_[..., 0])}
        self.lengths = torch.tensor(rng.integers(1, L + 1, B))
        self.rng = rng

    def examples(self):
        """The scores of each example, as the library takes them."""
        for b, n in enumerate(self.lengths.tolist()):
            one = {}
            for name, block in self.scores.items():
                a = block.double().numpy()
                if name in ("label", "segment"):
                    a = a[b, :n]
                elif name == "arc":
                    a = a[b, : n + 1, : n + 1]
                elif name == "span":
                    a = a[b, :n, : n + 1]
                one[name] = np.ascontiguousarray(a)
            yield one

    def gold(self, seed=0):
        """A list of outputs that are not the best ones."""
        examples = list(self.examples())
        for one in examples:
            if "span" in one:  # the library's costs ask for a label of the whole
                one["span"][0, -1, 0] = -np.inf
        return [
            self.structure.sample(1, temperature=3.0, random_state=seed, **one) for one in examples
        ]

    def outputs(self, seed=0):
        found = []
        for drawn in self.gold(seed):
            if isinstance(drawn, tuple):
                found.append((drawn[0][0], drawn[1][0]))
            else:
                found.append(drawn[0])
        return found

    def padded(self, name, array, b):
        """An example's gradient of a block, padded to the shape of the batch."""
        block = self.scores[name]
        if name in ("transition", "start", "end"):
            return array
        full = np.zeros(block.shape[1:])
        full[tuple(slice(0, n) for n in array.shape)] = array
        return full
