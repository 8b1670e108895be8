"""Structures with one mistake each, which the check has to find."""

from __future__ import annotations

import itertools

import numpy as np

from structlearn.structures import Block, Chain, Hyperedges, Solution, Structure
from structlearn.structures.batches import takes_batches


class IgnoresTransitions(Chain):
    def argmax(self, *, n_jobs=None, **scores):
        return super().argmax(label=scores["label"])


class ForgetsToLookBack(Chain):
    """Follows the best label at each position instead of the back-pointers."""

    def solve(self, *, n_jobs=None, **scores):
        y = super().argmax(label=scores["label"])
        value = self.score(y, **scores)
        return Solution(y, value, True, value, self.method)


class BoundTooLow(Chain):
    def solve(self, *, n_jobs=None, **scores):
        found = super().solve(**scores)
        return found if isinstance(found, list) else found._replace(bound=found.bound - 1.0)


class MarginalsOff(Chain):
    def marginals(self, *, temperature=1.0, n_jobs=None, **scores):
        p = super().marginals(temperature=temperature, **scores)
        return p if isinstance(p, list) else {k: a + 1e-6 for k, a in p.items()}


class MarginalsSwapped(Chain):
    """Reads the pair marginals as [current, previous]."""

    def marginals(self, *, temperature=1.0, n_jobs=None, **scores):
        p = super().marginals(temperature=temperature, **scores)
        if not isinstance(p, list) and "transition" in p:
            p["transition"] = np.swapaxes(p["transition"], -1, -2).copy()
        return p


class GradientOff(Chain):
    def infer(self, *, temperature=1.0, n_jobs=None, **scores):
        found = super().infer(temperature=temperature, **scores)
        if isinstance(found, list) or temperature == 0:
            return found
        return found[0], {k: 0.999 * a for k, a in found[1].items()}


class ForgetsTemperature(Chain):
    def infer(self, *, temperature=1.0, n_jobs=None, **scores):
        return super().infer(temperature=min(temperature, 1.0), **scores)


class LogPartitionUnscaled(Chain):
    """Returns log Σ exp(score/ε) without the factor ε."""

    def log_partition(self, *, temperature=1.0, n_jobs=None, **scores):
        found = super().log_partition(temperature=temperature, **scores)
        return found / temperature if temperature > 0 and not isinstance(found, list) else found


class EntropyInBits(Chain):
    def entropy(self, *, temperature=1.0, **scores):
        found = super().entropy(temperature=temperature, **scores)
        return found if isinstance(found, list) else found / np.log(2.0)


class KBestRepeats(Chain):
    def kbest(self, n, **scores):
        found = super().kbest(n, **scores)
        return [*found[:1], *found][:n]


class KBestWorstFirst(Chain):
    def kbest(self, n, **scores):
        return super().kbest(n, **scores)[::-1]


class KBestSkips(Chain):
    """Misses the second best."""

    def kbest(self, n, **scores):
        found = super().kbest(n + 1, **scores)
        return (found[:1] + found[2:])[:n]


class CountsIllegal(Chain):
    def count(self, **scores):
        length, n_labels = np.shape(scores["label"])
        return n_labels**length


class SampleIgnoresTemperature(Chain):
    def sample(self, n, *, temperature=1.0, random_state=None, **scores):
        warm = 1.0 if temperature > 0 else 0.0
        return super().sample(n, temperature=warm, random_state=random_state, **scores)


class SampleIgnoresSeed(Chain):
    def sample(self, n, *, temperature=1.0, random_state=None, **scores):
        return super().sample(n, temperature=temperature, random_state=None, **scores)


class SampleAlwaysSame(Chain):
    def sample(self, n, *, temperature=1.0, random_state=None, **scores):
        return super().sample(n, temperature=temperature, random_state=0, **scores)


class SamplePositionsApart(Chain):
    """Draws each position from its own marginal: the right labels, the wrong pairs."""

    def sample(self, n, *, temperature=1.0, random_state=None, **scores):
        if temperature == 0:
            return super().sample(n, temperature=temperature, random_state=random_state, **scores)
        p = self.marginals(temperature=temperature, **scores)["label"]
        rng = np.random.default_rng(random_state)
        return np.stack([rng.choice(p.shape[1], size=n, p=row / row.sum()) for row in p], axis=1)


class SoftMask(Chain):
    """Takes a large negative number for minus infinity."""

    def infer(self, *, temperature=1.0, n_jobs=None, **scores):
        soft = {
            k: np.maximum(v, -1e5) if isinstance(v, np.ndarray) else v for k, v in scores.items()
        }
        return super().infer(temperature=temperature, **soft)


class AlwaysAnswers(Chain):
    """Gives some output where nothing is legal."""

    def argmax(self, *, n_jobs=None, **scores):
        try:
            return super().argmax(n_jobs=n_jobs, **scores)
        except ValueError:
            return np.zeros(len(scores["label"]), dtype=np.int64)


class ScoreForgetsEnds(Chain):
    def score(self, y, **scores):
        return super().score(y, **{k: v for k, v in scores.items() if k not in ("start", "end")})


class DecodeReversed(Chain):
    def decode(self, parts):
        return super().decode(parts)[::-1]


class EncodeDropsBlock(Chain):
    def encode(self, y, **scores):
        return {k: v for k, v in super().encode(y, **scores).items() if k == "label"}


class EncodeWrongShape(Chain):
    def encode(self, y, **scores):
        return {k: v.ravel() for k, v in super().encode(y, **scores).items()}


class OutputsRepeat(Chain):
    def outputs(self, **scores):
        every = list(super().outputs(**scores))
        return iter([*every, every[0]])


class OutputsIncomplete(Chain):
    def outputs(self, **scores):
        return itertools.islice(super().outputs(**scores), 1, None)


class BatchBackwards(Chain):
    @takes_batches
    def infer(self, *, temperature=1.0, n_jobs=None, **scores):
        found = super().infer(temperature=temperature, **scores)
        return found[::-1] if isinstance(found, list) else found


class WritesIntoScores(Chain):
    def argmax(self, *, n_jobs=None, **scores):
        y = super().argmax(**scores)
        if isinstance(scores["label"], np.ndarray):
            scores["label"] += 1.0
        return y


class Raises(Chain):
    def kbest(self, n, **scores):
        raise KeyError("oops")


class Coins(Structure):
    """Two coins as hyperedges: right, and the base of two mistakes."""

    def blocks(self, n_labels):
        return {"coin": Block((2,)), "both": Block((2, 2), shared=True)}

    def encode(self, y, **scores):
        coin, both = np.zeros((2, 2)), np.zeros((2, 2))
        coin[[0, 1], list(y)] = 1.0
        both[y[0], y[1]] = 1.0
        return {"coin": coin, "both": both}

    def decode(self, parts):
        return tuple(int(k) for k in np.asarray(parts["coin"]).argmax(axis=1))

    def outputs(self, **scores):
        return itertools.product(range(2), repeat=2)

    def edges(self, **scores):
        program = Hyperedges(1)
        for a, b in self.outputs():
            program.add(0, parts=[a, 2 + b, 4 + 2 * a + b])
        return program


class TwoDerivations(Coins):
    """Heads-heads is derived twice."""

    def edges(self, **scores):
        program = super().edges(**scores)
        program.add(0, parts=[0, 2, 4])
        return program


class EdgesOfLegalParts(Coins):
    """Leaves out edges with forbidden parts, though edges are built once a shape."""

    def edges(self, **scores):
        program = Hyperedges(1)
        for a, b in self.outputs():
            if scores["coin"][0, a] > -np.inf:
                program.add(0, parts=[a, 2 + b, 4 + 2 * a + b])
        return program


class WrongPart(Coins):
    """Uses the first coin's part for the second coin as well."""

    def edges(self, **scores):
        program = Hyperedges(1)
        for a, b in self.outputs():
            program.add(0, parts=[a, b, 4 + 2 * a + b])
        return program
