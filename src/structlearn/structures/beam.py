"""Beam search: outputs built step by step, keeping the best few prefixes.

For structures whose argmax is too expensive, and for learners that update on prefixes
(:class:`structlearn.learners.online.Online`). The output is not proven to be the best.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .base import Structure
from .checks import nothing_legal
from .parts import Parts, dot_counts
from .solution import Solution


def _missing(structure: Structure, method: str) -> NotImplementedError:
    return NotImplementedError(
        f"{type(structure).__name__} does not define {method}, which beam search needs"
    )


class BeamSearch(Structure):
    """A structure whose outputs grow step by step; three methods give ``beam``.

    The author defines, besides the methods of :class:`Structure`, :meth:`beam_steps`,
    :meth:`beam_parts` and :meth:`beam_prefixes`. A prefix is any hashable object; the empty one is
    ``()``.
    """

    def beam_steps(self, prefix: Any, **scores: Any) -> Iterable[tuple[Any, float]] | None:
        """Return the prefixes that are one step longer, each with its increase of the score.

        None if the prefix is a complete output.
        """
        raise _missing(self, "beam_steps")

    def beam_parts(self, prefix: Any, **scores: Any) -> Parts:
        """Return the counts of a prefix's parts, one array per block."""
        raise _missing(self, "beam_parts")

    def beam_prefixes(self, y: Any, **scores: Any) -> Sequence[Any]:
        """Return the prefixes that lead to the output y, step by step, the complete one last."""
        raise _missing(self, "beam_prefixes")

    def beam_state(self, prefix: Any) -> Hashable:
        """Return the state that a prefix's future depends on; the best prefix of each state stays.

        By default the prefix itself: nothing is merged.
        """
        return prefix  # type: ignore[no-any-return]

    def beam(self, width: int, **scores: Any) -> Any:
        """Return the best output in a beam of this width: a :class:`Solution`.

        ``exact`` is True if no prefix was dropped; ``bound`` is ∞ otherwise. A beam that reaches a
        dead end (everything ahead is forbidden) is retried at twice the width.
        """
        while True:
            search = Search(self, width, scores)
            while search.step():
                pass
            if search.beam:
                best = search.beam[0]
                y = self.decode(self.beam_parts(best.prefix, **scores))
                return beam_solution(y, best.score, search.pruned)
            if not search.pruned:
                raise nothing_legal()
            width *= 2


def beam_solution(y: Any, value: float, pruned: bool) -> Solution:
    """Return the result of a beam search, exact if nothing was pruned."""
    return Solution(y, value, not pruned, math.inf if pruned else value, "beam search")


def find_violation(
    structure: BeamSearch, y: Any, width: int, update_at: str, scores: dict[str, Any]
) -> tuple[float, Parts, Parts] | None:
    """Return the violation of a beam search on the way to y.

    Parameters
    ----------
    update_at : {"early", "max-violation", "end"}
        The step at which the prefix of y leaves the beam, or the last one (M. Collins & B. Roark
        2004); the one at which it is outscored by most (L. Huang, S. Fayong & Y. Guo 2012); the
        last one.

    Returns
    -------
    (amount, parts found, parts of y) or None
        How much the best prefix in the beam outscores that of y, and their parts; None if the
        search ends at y.
    """
    gold = structure.beam_prefixes(y, **scores)
    while True:
        search = Search(structure, width, scores)
        worst: tuple[float, Any, Any] | None = None
        at = -1
        while search.step():
            at += 1
            prefix = gold[min(at, len(gold) - 1)]
            parts = structure.beam_parts(prefix, **scores)
            score = sum(dot_counts(np.asarray(scores[n]), np.asarray(p)) for n, p in parts.items())
            now = (search.beam[0].score - score, search.beam[0].prefix, prefix)
            state = structure.beam_state(prefix)
            survives = any(structure.beam_state(item.prefix) == state for item in search.beam)
            if update_at == "early" and not survives:
                return _with_parts(structure, now, scores)
            if worst is None or update_at != "max-violation" or now[0] >= worst[0]:
                worst = now
        if search.beam and worst is not None:
            if search.beam[0].prefix == gold[-1]:
                return None
            return _with_parts(structure, worst, scores)
        if not search.pruned:
            raise nothing_legal()
        width *= 2


def _with_parts(
    structure: BeamSearch, at: tuple[float, Any, Any], scores: dict[str, Any]
) -> tuple[float, Parts, Parts]:
    amount, best, gold = at
    return (
        amount,
        structure.beam_parts(best, **scores),
        structure.beam_parts(gold, **scores),
    )


class _Item(NamedTuple):
    score: float
    prefix: Any


class Search:
    """A beam in progress; ``beam`` is sorted, best first, ties in the order of the steps.

    ``dropped`` are the prefixes that did not fit in the last step.
    """

    def __init__(self, structure: BeamSearch, width: int, scores: dict[str, Any]) -> None:
        self.structure = structure
        self.width = width
        self.scores = scores
        self.beam = [_Item(0.0, ())]
        self.dropped: list[_Item] = []
        self.pruned = False

    def step(self) -> bool:
        """Extend every prefix by one step; False if all are complete, or none can be extended."""
        best: dict[Hashable, _Item] = {}
        grown = False
        for item in self.beam:
            steps = self.structure.beam_steps(item.prefix, **self.scores)
            if steps is None:
                steps = [(item.prefix, 0.0)]
            else:
                grown = True
            for prefix, added in steps:
                score = item.score + float(added)
                state = self.structure.beam_state(prefix)
                if score > -math.inf and (state not in best or score > best[state].score):
                    best[state] = _Item(score, prefix)
        if not grown:
            return False
        ranked = sorted(best.values(), key=lambda item: -item.score)
        self.pruned = self.pruned or len(ranked) > self.width
        self.beam, self.dropped = ranked[: self.width], ranked[self.width :]
        return bool(self.beam)
