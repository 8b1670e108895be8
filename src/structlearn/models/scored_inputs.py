"""Inputs that are scored in Python, for every structure: of arrays, images, programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from ..exceptions import CapabilityError, InfeasibleError
from .inputs import Solutions

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ..structures.base import Structure

    #: The keyword arguments of a structure, for one input.
    Scores = dict[str, Any]

#: Inputs whose scores are worked out at once, and numbers that are kept for the next query.
_CHUNK, _MOST_KEPT = 1024, 1 << 24


class ScoredInputs:
    """Inputs of a model over a structure of :mod:`structlearn.structures`.

    Scores are worked out chunk by chunk, and kept as long as there is room for them.

    Parameters
    ----------
    structure : Structure
    score : callable
        From a range of inputs to their scores, the keyword arguments of the structure.
    n : int
        The number of inputs.
    source : object
        What they were read from, for the model that names outputs.
    chunk : int
        Inputs whose scores are worked out at once.
    """

    def __init__(
        self,
        structure: Structure,
        score: Callable[[range], list[Scores]],
        n: int,
        source: Any = None,
        chunk: int = _CHUNK,
    ) -> None:
        self.structure, self.source = structure, source
        self._score, self._n, self._chunk = score, n, chunk
        self._kept: dict[int, list[Scores]] = {}
        self._room = _MOST_KEPT

    def __len__(self) -> int:
        return self._n

    # -- scores ---------------------------------------------------------------------------------

    def _chunks(self, *, sums: bool = False) -> Iterator[list[Scores]]:
        """Yield the scores of the inputs, chunk by chunk; refuse inexact sums if these matter."""
        for begin in range(0, self._n, self._chunk):
            scores = self._kept.get(begin)
            if scores is None:
                scores = self._score(range(begin, min(self._n, begin + self._chunk)))
                size = sum(getattr(block, "size", 0) for one in scores for block in one.values())
                if size <= self._room:
                    self._kept[begin] = scores
                    self._room -= size
            if sums:
                self._check_sums(begin, scores)
            yield scores

    def _check_sums(self, begin: int, chunk: list[Scores]) -> None:
        for i, scores in enumerate(chunk, begin):
            if not self.structure.sums_are_exact(**scores):
                raise CapabilityError(
                    f"example {i}: the sum over all outputs has no fast algorithm here, so there "
                    "are no probabilities. What works: predict, explain; "
                    f"{type(self.structure).__name__}.marginals gives approximate ones"
                )

    def check_sums(self) -> None:
        """Refuse inputs whose sums over outputs are inexact."""
        for _ in self._chunks(sums=True):
            pass

    def scores(self) -> Iterator[Scores]:
        """Yield the scores of each input."""
        for chunk in self._chunks():
            yield from chunk

    def scores_of(self, i: int) -> Scores:
        """Return the scores of one input."""
        begin = i - i % self._chunk
        kept = self._kept.get(begin)
        return self._score(range(i, i + 1))[0] if kept is None else kept[i - begin]

    def _ask(self, query: Callable[..., Any], threads: int, **options: Any) -> list[Any]:
        """Return the answers of a query of the structure, which takes lists."""
        return [
            answer
            for chunk in self._chunks(sums="temperature" in options)
            for answer in query(n_jobs=threads, **options, **_columns(chunk))
        ]

    # -- queries --------------------------------------------------------------------------------

    def solve(self, threads: int = 1) -> Solutions:
        """Return the best outputs."""
        return Solutions(self._ask(self.structure.argmax, threads))

    def without(self, forbidden: list[Any]) -> ScoredInputs:
        """Raise: parts of the outputs of arrays have no names to be forbidden by."""
        raise CapabilityError(
            "parts of these outputs cannot be forbidden one by one. What works: forbid= and "
            "constraints= of estimators, predict_kbest without forbidden="
        )

    def kbest(self, n: int, threads: int = 1) -> list[list[tuple[float, Any]]]:
        """Return up to n outputs of each input with their scores, best first."""
        return self._ask(self.structure.kbest, threads, n=n)

    def marginals(
        self, temperature: float, least: float = 0.0, threads: int = 1
    ) -> list[dict[str, Any]]:
        """Return the probabilities of the parts of each input, by block; none is left out."""
        return self._ask(self.structure.marginals, threads, temperature=temperature)

    def block_marginals(
        self, temperature: float, block: str | None, threads: int = 1
    ) -> list[dict[str, Any]] | list[Any]:
        """Return the probabilities of the parts of one block of each input, or of all blocks."""
        parts = self.marginals(temperature, 0.0, threads)
        return parts if block is None else [p[block] for p in parts]

    def sample(self, n: int, temperature: float, seed: int, threads: int = 1) -> list[Any]:
        """Return n outputs of each input, drawn from P(output) ∝ exp(score / temperature)."""
        import random

        seeds = random.Random(seed)

        def draw(**options: Any) -> Any:
            return self.structure.sample(random_state=seeds.getrandbits(63), **options)

        return self._ask(draw, threads, n=n, temperature=temperature)

    def entropy(self, temperature: float, threads: int = 1) -> list[float]:
        """Return the entropies of these distributions, in nats."""
        return list(map(float, self._ask(self.structure.entropy, threads, temperature=temperature)))

    def log_partition(self, temperature: float, threads: int = 1) -> list[float]:
        """Return temperature · log Σ exp(score / temperature) over the outputs of each input."""
        sums = self._ask(self.structure.log_partition, threads, temperature=temperature)
        return list(map(float, sums))

    def score(self, outputs: list[Any], threads: int = 1) -> list[float]:
        """Return the score of an output of each input; −∞ if it is forbidden."""
        score = self.structure.score
        rows = zip(self.scores(), outputs, strict=True)
        return [float(score(y, **scores)) for scores, y in rows]

    def open_scores(self, outputs: list[Any], temperature: float) -> list[float]:
        """Return the score of an output of each input, in which labels may be open.

        Where some are None, below 0 or sets, T · log Σ exp(score / T) over what they allow, at the
        temperature T.
        """
        from ..losses.loss import rule_out
        from ..structures.open_labels import is_open

        structure, values = self.structure, []
        for scores, y in zip(self.scores(), outputs, strict=True):
            if structure.has_labels and any(map(is_open, structure.labels_of(y))):
                allowed = rule_out(structure, y, scores)
                values.append(float(structure.log_partition(temperature=temperature, **allowed)))
            else:
                values.append(float(structure.score(y, **scores)))
        return values

    def certainties(
        self, outputs: list[Any], temperature: float, threads: int = 1
    ) -> list[list[float]]:
        """Return the probability of each part of an output of each input.

        Of the output itself where it is right or wrong as a whole.
        """
        structure, block = self.structure, self.structure.judged_block
        if block is None:
            sums = self.log_partition(temperature, threads)
            values = zip(self.score(outputs, threads), sums, strict=True)
            return [[min(1.0, math.exp((score - z) / temperature))] for score, z in values]
        marginals = self.marginals(temperature, 0.0, threads)
        rows = zip(self.scores(), outputs, marginals, strict=True)
        return [p[block][structure.places(y, **scores)].tolist() for scores, y, p in rows]

    def judged(self, gold: list[Any], outputs: list[Any]) -> list[list[bool | None]]:
        """Tell of each of these parts whether it is right; None: that is not known."""
        rows = zip(self.scores(), gold, outputs, strict=True)
        return [self.structure.judged(right, y, **scores) for scores, right, y in rows]

    def rivals(
        self, outputs: list[Any], threads: int = 1
    ) -> list[list[tuple[int | None, float, Any]]]:
        """Return the runners-up of the best outputs as (position, margin, output).

        Of each position the best output with another label there; None, with an infinite margin,
        if there is none. Where an output is no row of labels, the second best one, with the
        position None.
        """
        rows: list[list[tuple[int | None, float, Any]]] = []
        score = self.structure.score
        for scores, best in zip(self.scores(), outputs, strict=True):
            highest = score(best, **scores)
            rows.append([
                (t, math.inf if y is None else float(highest - score(y, **scores)), y)
                for t, y in self._rivals_of(best, scores)
            ])  # fmt: skip
        return rows

    def _rivals_of(self, best: Any, scores: Scores) -> Iterator[tuple[int | None, Any]]:
        structure, block = self.structure, self.structure.label_block
        judged = structure.judged_block is not None
        places = list(zip(*structure.places(best, **scores), strict=True)) if judged else []
        if not places or len(places) * scores[block].shape[-1] != scores[block].size:
            for _, rival in structure.kbest(2, **scores)[1:]:
                yield None, rival
            return
        for t, place in enumerate(places):
            others = scores[block].copy()
            others[place] = -math.inf
            try:
                rival = structure.argmax(**{**scores, block: others})
            except InfeasibleError:
                rival = None  # no other label is possible here
            yield t, rival


def _columns(chunk: list[Scores]) -> dict[str, list[Any]]:
    """Return a batch of the structure: one list for each block."""
    return {name: [scores[name] for scores in chunk] for name in chunk[0]}
