"""Enumeration in exact arithmetic: scores are sums of fractions, and no offset costs a digit."""

import math
from fractions import Fraction

import numpy as np


class Exact:
    """The distribution P(y) ∝ exp(score(y)/ε) of a structure, output by output.

    Parameters
    ----------
    outputs : list
        Every output that is to be counted.
    """

    def __init__(self, structure, outputs, temperature, **scores):
        self.names = [n for n in scores if n not in structure.topology]
        theta = {n: np.asarray(scores[n], dtype=float) for n in self.names}
        self.outputs, self.counts, totals = [], [], []
        for y in outputs:
            counts = structure.encode(y, **scores)
            used = [(theta[n][c != 0], c[c != 0]) for n, c in ((n, counts[n]) for n in self.names)]
            if any(np.isneginf(a).any() for a, _ in used):
                continue
            self.outputs.append(y)
            self.counts.append(counts)
            totals.append(
                sum(
                    Fraction(float(x)) * Fraction(float(c))
                    for a, b in used
                    for x, c in zip(a, b, strict=True)
                )
            )
        self.totals, self.eps = totals, Fraction(temperature)

    def gaps(self, reference, among):
        """Return (score − reference) / ε of some outputs, rounded once."""
        return [float((self.totals[i] - reference) / self.eps) for i in among]

    def entropy(self):
        """Return −Σ p log p."""
        best = max(range(len(self.totals)), key=lambda i: self.totals[i])
        gaps = self.gaps(self.totals[best], [i for i in range(len(self.totals)) if i != best])
        rest = math.fsum(math.exp(g) for g in gaps)
        lag = math.fsum(-g * math.exp(g) for g in gaps)
        return math.log1p(rest) + lag / (1.0 + rest)

    def zero_one(self, gold, margin):
        """Return (loss, gradient) of the zero-one cost at temperature ε for outputs[gold]."""
        others = [i for i in range(len(self.totals)) if i != gold]
        zero = {n: np.zeros_like(self.counts[gold][n]) for n in self.names}
        if not others:
            return 0.0, zero
        gaps = self.gaps(self.totals[gold] - Fraction(margin), others)
        top = max(0.0, *gaps)
        weights = [math.exp(g - top) for g in gaps]
        all_of_them = math.fsum([math.exp(-top), *weights])
        if top == 0.0:
            loss = math.log1p(math.fsum(weights))
        else:
            loss = top + math.log(all_of_them)
        gradient = zero
        for w, i in zip(weights, others, strict=True):
            for n in self.names:
                gradient[n] = gradient[n] + w / all_of_them * (
                    self.counts[i][n] - self.counts[gold][n]
                )
        return float(self.eps) * loss, gradient
