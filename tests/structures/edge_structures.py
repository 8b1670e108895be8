"""Structures as their users would write them: parts, encode, decode, and edges or argmax."""

from __future__ import annotations

import itertools

import numpy as np

from structlearn.exceptions import InfeasibleError
from structlearn.structures import Block, Hyperedges, Structure
from structlearn.structures import Chain as NativeChain
from structlearn.structures import SemiMarkov as NativeSemiMarkov


class EdgeChain(Structure):
    """A chain of any order as hyperedges, to compare the engine with the chain's own loops."""

    def __init__(self, order=1):
        self.order = order
        self._parts = NativeChain(order)

    def blocks(self, n_labels):
        return self._parts.blocks(n_labels)

    def encode(self, y, **scores):
        return self._parts.encode(y, **scores)

    def decode(self, parts):
        return self._parts.decode(parts)

    def outputs(self, **scores):
        return self._parts.outputs(**scores)

    def edges(self, **scores):
        length, n_labels = scores["label"].shape
        offsets, at = {}, 0
        for name, a in scores.items():
            offsets[name] = at
            at += a.size
        memory = max(self.order, 1)

        def parts_of(t, window):
            """Flat parts of the label at t, given the labels up to it, oldest first."""
            found = [offsets["label"] + t * n_labels + window[-1]]
            if t == 0 and "start" in scores:
                found.append(offsets["start"] + window[-1])
            if t == length - 1 and "end" in scores:
                found.append(offsets["end"] + window[-1])
            for name, a in scores.items():
                if name.startswith("transition"):
                    j = self.order if name == "transition" else int(name[len("transition") :])
                    if j <= t:
                        index = window[len(window) - j - 1 :]
                        if a.ndim > j + 1:
                            index = (t - j, *index)
                        found.append(offsets[name] + int(np.ravel_multi_index(index, a.shape)))
            return found

        states = [
            list(itertools.product(range(n_labels), repeat=min(t + 1, memory)))
            for t in range(length)
        ]
        number = {}
        for t, windows in enumerate(states):
            for window in windows:
                number[t, window] = len(number)
        program = Hyperedges(len(number) + 1)
        for t, windows in enumerate(states):
            for window in windows:
                if t == 0:
                    program.add(number[t, window], parts=parts_of(t, window))
                    continue
                grown = len(window) > len(states[t - 1][0])
                olds = [()] if grown else [(k,) for k in range(n_labels)]
                for old in olds:
                    whole = (*old, *window)
                    program.add(
                        number[t, window],
                        tails=[number[t - 1, whole[:-1]]],
                        parts=parts_of(t, whole),
                    )
        for window in states[-1]:
            program.add(len(number), tails=[number[length - 1, window]])
        return program


class Bracketing(Structure):
    """Binary trees over n leaves, a score a span: hyperedges with two tails (CKY).

    Block ``span`` (n, n + 1), the output the sorted list of spans (i, j) wider than one leaf.
    """

    def blocks(self, n_labels):
        return {"span": Block(())}

    def encode(self, y, **scores):
        counts = np.zeros(np.shape(scores["span"]))
        for i, j in y:
            counts[i, j] = 1.0
        return {"span": counts}

    def decode(self, parts):
        return [(int(i), int(j)) for i, j in np.argwhere(parts["span"])]

    def outputs(self, **scores):
        def trees(i, j):
            if j == i + 1:
                yield []
                return
            for k in range(i + 1, j):
                for left, right in itertools.product(trees(i, k), trees(k, j)):
                    yield sorted([(i, j), *left, *right])

        return trees(0, len(scores["span"]))

    def edges(self, **scores):
        n = len(scores["span"])
        spans = [(i, i + w) for w in range(1, n + 1) for i in range(n - w + 1)]
        number = {span: v for v, span in enumerate(spans)}
        program = Hyperedges(len(spans))
        for i, j in spans:
            if j == i + 1:
                program.add(number[i, j])
            for k in range(i + 1, j):
                part = i * (n + 1) + j
                program.add(number[i, j], tails=[number[i, k], number[k, j]], parts=[part])
        return program


class Assignment(Structure):
    """Permutations, by an argmax alone: no dynamic program, so no sums."""

    method = "trying all"

    def blocks(self, n_labels):
        return {"pair": Block((n_labels,))}

    def encode(self, y, **scores):
        counts = np.zeros(np.shape(scores["pair"]))
        counts[np.arange(len(y)), list(y)] = 1.0
        return {"pair": counts}

    def decode(self, parts):
        return np.asarray(parts["pair"]).argmax(axis=1)

    def outputs(self, **scores):
        return itertools.permutations(range(len(scores["pair"])))

    def argmax(self, *, n_jobs=None, **scores):
        pair = np.asarray(scores["pair"])
        rows = np.arange(len(pair))
        best = max(self.outputs(**scores), key=lambda y: pair[rows, list(y)].sum())
        if np.isneginf(pair[rows, list(best)].sum()):
            raise InfeasibleError("every assignment is forbidden")
        return np.array(best)


class TwoBlocks(Structure):
    """One choice with scores in two blocks of different sizes, as hyperedges."""

    def blocks(self, n_labels):
        return {"choice": Block((2,), shared=True), "bonus": Block((3,), shared=True)}

    def encode(self, y, **scores):
        return {"choice": np.eye(2)[y], "bonus": np.eye(3)[y + 1]}

    def decode(self, parts):
        return int(np.argmax(parts["choice"]))

    def outputs(self, **scores):
        return iter(range(2))

    def edges(self, **scores):
        program = Hyperedges(1)
        for k in range(2):
            program.add(0, parts=[k, 2 + 1 + k])  # the blocks in the order of blocks()
        return program


class EdgeSegments(Structure):
    """Segmentations as hyperedges: a node for each (start, label) and each (end, label)."""

    label_block = "segment"

    def __init__(self, max_length):
        self.max_length = max_length
        self._parts = NativeSemiMarkov(max_length)

    def blocks(self, n_labels):
        return self._parts.blocks(n_labels)

    def encode(self, y, **scores):
        return self._parts.encode(y, **scores)

    def decode(self, parts):
        return self._parts.decode(parts)

    def outputs(self, **scores):
        return self._parts.outputs(**scores)

    def edges(self, **scores):
        length, width, n_labels = scores["segment"].shape
        offsets, at = {}, 0
        for name, a in scores.items():
            offsets[name] = at
            at += a.size

        def optional(name, part):
            return [offsets[name] + part] if name in scores else []

        def start_node(i, k):
            return 2 * i * n_labels + k

        def end_node(j, k):
            return (2 * j - 1) * n_labels + k

        program = Hyperedges(2 * length * n_labels + 1)
        for k in range(n_labels):
            program.add(start_node(0, k), parts=optional("start", k))
        for j in range(1, length + 1):
            for k in range(n_labels):
                for d in range(1, min(width, j) + 1):
                    part = ((j - d) * width + d - 1) * n_labels + k
                    program.add(
                        end_node(j, k),
                        tails=[start_node(j - d, k)],
                        parts=[offsets["segment"] + part],
                    )
            if j == length:
                break
            by_position = "transition" in scores and scores["transition"].ndim == 3
            for k in range(n_labels):
                for k1 in range(n_labels):
                    part = ((j - 1 if by_position else 0) * n_labels + k1) * n_labels + k
                    program.add(
                        start_node(j, k),
                        tails=[end_node(j, k1)],
                        parts=optional("transition", part),
                    )
        for k in range(n_labels):
            goal = 2 * length * n_labels
            program.add(goal, tails=[end_node(length, k)], parts=optional("end", k))
        return program
