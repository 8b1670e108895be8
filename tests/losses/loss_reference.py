"""The loss family by its formula: a sum over every output, nothing clever."""

from __future__ import annotations

import itertools

import numpy as np

from structlearn.structures import Block, Hyperedges, Structure

#: Two outputs whose scores differ by less than this are a tie.
TIE = 1e-9


class AtMostOne(Structure):
    """Label sequences that use label 1 at most once: a constraint that no chain can express.

    Written as a user would, by its dynamic program: a node for each position, label, and whether
    label 1 was used. Blocks ``label`` (L, K) and ``transition`` (K, K), shared.
    """

    def blocks(self, n_labels):
        return {
            "label": Block((n_labels,)),
            "transition": Block((n_labels, n_labels), shared=True, optional=True),
        }

    def encode(self, y, **scores):
        parts = {name: np.zeros(np.shape(a)) for name, a in scores.items()}
        parts["label"][np.arange(len(y)), list(y)] = 1.0
        if "transition" in parts:
            np.add.at(parts["transition"], (list(y[:-1]), list(y[1:])), 1.0)
        return parts

    def decode(self, parts):
        return np.asarray(parts["label"]).argmax(axis=1)

    def outputs(self, **scores):
        length, n_labels = np.shape(scores["label"])
        for y in itertools.product(range(n_labels), repeat=length):
            if y.count(1) <= 1:
                yield np.array(y)

    def edges(self, **scores):
        length, n_labels = scores["label"].shape
        states = [(k, used) for k in range(n_labels) for used in (False, True)]
        number = {(t, *s): t * len(states) + i for t in range(length) for i, s in enumerate(states)}
        program = Hyperedges(len(number) + 1)
        for t, (k, used) in itertools.product(range(length), states):
            label = t * n_labels + k
            if t == 0:
                if used == (k == 1):
                    program.add(number[t, k, used], parts=[label])
                continue
            for before, was in states:
                if used == (was or k == 1) and not (was and k == 1):
                    parts = [label]
                    if "transition" in scores:
                        parts.append(length * n_labels + before * n_labels + k)
                    program.add(number[t, k, used], tails=[number[t - 1, before, was]], parts=parts)
        for k, used in states:
            program.add(len(number), tails=[number[length - 1, k, used]])
        return program


def score(structure, y, scores):
    """Return ⟨θ, μ(y)⟩, with 0 · −∞ = 0."""
    counts = structure.encode(y, **scores)
    total = 0.0
    for name, theta in scores.items():
        used = counts[name] != 0
        total += float((np.asarray(theta)[used] * counts[name][used]).sum())
    return total


def soft_max(values, temperature):
    """Return (ε log Σ exp(v/ε), weights); at ε = 0 the maximum."""
    top = max(values)
    if temperature == 0:
        return top, None
    weights = np.exp((np.array(values) - top) / temperature)
    return top + temperature * float(np.log(weights.sum())), weights / weights.sum()


def flat(parts, names):
    return np.concatenate([np.ravel(parts[name]) for name in names])


def permits(gold, label):
    return gold is None or (label in gold if isinstance(gold, (set, frozenset)) else gold == label)


class EnumeratedLoss:
    """L = ε log Σ_z exp((s(z) + γΔ(y, z))/ε) − ε log Σ_{z agrees with y} exp(s(z)/ε).

    ``delta(y, z)`` is the cost; labels of y that are None agree with everything, sets with what is
    in them.
    """

    def __init__(self, structure, y, scores, delta, margin, temperature):
        self.names = list(scores)
        outputs = list(structure.outputs(**scores))
        self.counts = [flat(structure.encode(z, **scores), scores) for z in outputs]
        plain = [score(structure, z, scores) for z in outputs]
        augmented = [s + margin * delta(y, z) for s, z in zip(plain, outputs, strict=True)]
        labels = structure.labels_of(y)
        agrees = [
            all(permits(k, j) for k, j in zip(labels, structure.labels_of(z), strict=True))
            for z in outputs
        ]
        clamped = [s if a else -np.inf for s, a in zip(plain, agrees, strict=True)]
        self.values = (augmented, clamped)
        upper, self.p = soft_max(augmented, temperature)
        lower, self.q = soft_max(clamped, temperature)
        self.loss = upper - lower

    def check_gradient(self, gradient, atol):
        """Compare a gradient by block; at ε = 0 with that of any pair of best outputs."""
        found = flat(gradient, self.names)
        if self.p is not None:
            expected = np.array(self.counts).T @ (self.p - self.q)
            np.testing.assert_allclose(found, expected, rtol=0, atol=atol)
            return
        best, best_clamped = (
            [c for c, v in zip(self.counts, values, strict=True) if v >= max(values) - TIE]
            for values in self.values
        )
        assert any(
            np.array_equal(found, a - b) for a, b in itertools.product(best, best_clamped)
        ), "the gradient is no difference of two best outputs"
