"""The table that Viterbi fills, for inspection (Algorithm 42 of the chapter, §17.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...array_types import Array, Integers
from ...exceptions import CapabilityError
from .chain import Chain

if TYPE_CHECKING:
    from ...drawing.picture import Picture


@dataclass(frozen=True)
class Trellis:
    """α and ζ of a first-order chain.

    Attributes
    ----------
    alpha : (L, K) array
        ``alpha[l, k]``: the best score of a prefix that ends at position l with label k.
    back : (L, K) int array
        ``back[l, k]``: the previous label on that prefix (ζ); −1 at the first position.
    path : (L,) int array
        The best labels, read off from the end backwards.
    """

    alpha: Array
    back: Integers
    path: Integers

    def draw(
        self,
        words: Sequence[str] | None = None,
        labels: Sequence[str] | None = None,
        other: Sequence[int] | None = None,
        names: tuple[str, str] = ("best path", "other path"),
    ) -> Picture:
        """Draw it, with a second path if one is given: see
        :func:`structlearn.drawing.trellis.draw_trellis`."""
        from ...drawing.trellis import draw_trellis

        return draw_trellis(self, words, labels, other, names)

    def _repr_svg_(self) -> str:
        return self.draw().svg


def trellis(**scores: Any) -> Trellis:
    """Return the table of α and back-pointers for first-order chain scores.

    α_{l+1,k} = max_{k'} [α_{l,k'} + transition_{k',k}] + label_{l+1,k}   (eq. 17.48)

    A plain transcription of the algorithm, O(L·K²), for teaching and drawing; ``end`` scores are
    added at the last position. :meth:`Chain.argmax` is the fast way to the path alone.

    Parameters
    ----------
    **scores : arrays
        The blocks of ``Chain(order=1)``.
    """
    unknown = set(scores) - set(Chain(1).blocks(1))
    if unknown:
        raise CapabilityError(
            f"a trellis is drawn for first-order chains; {sorted(unknown)} are not blocks of those"
        )
    theta = {name: np.asarray(a, dtype=np.float64) for name, a in scores.items() if a is not None}
    label = theta["label"]
    length, n_labels = label.shape
    transition = theta.get("transition", np.zeros((n_labels, n_labels)))
    alpha = np.empty((length, n_labels))
    back = np.full((length, n_labels), -1, dtype=np.int64)
    alpha[0] = label[0] + theta.get("start", 0.0)
    for t in range(1, length):
        step = alpha[t - 1][:, np.newaxis] + (
            transition if transition.ndim == 2 else transition[t - 1]
        )
        back[t] = step.argmax(axis=0)
        alpha[t] = step.max(axis=0) + label[t]
    alpha[-1] += theta.get("end", 0.0)
    path = np.empty(length, dtype=np.int64)
    path[-1] = alpha[-1].argmax()
    for t in range(length - 1, 0, -1):
        path[t - 1] = back[t, path[t]]
    return Trellis(alpha, back, path)
