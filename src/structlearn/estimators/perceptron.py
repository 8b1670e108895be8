"""The structured perceptron (Algorithms 39 and 40 of the chapter)."""

from __future__ import annotations

from typing import Any

from .model import StructuredModel, store_parameters

__all__ = ["StructuredPerceptron"]


class StructuredPerceptron(StructuredModel):
    """Predict; where the output is wrong, w ← w + φ(x, y) − φ(x, ŷ); return the average of all w.

    The preset margin 0, temperature 0 of :class:`StructuredModel`, which describes the parameters
    and attributes that are not below. There is no regulariser; averaging does its work.

    Parameters
    ----------
    max_iter : int, default=10
        Passes over the data.
    average : bool, default=True
        Average the weights over all steps; False returns the last ones, as printed in the chapter.
    beam : int, optional
        Search with a beam of this width, in training and prediction, where exact inference is too
        dear (a :class:`Chain` of high order; structures that inherit from :class:`BeamSearch`).
        Nothing then proves that an output is the best one.
    submodular : bool, default=False
        Of grids and graphs: keep the weights of neighbours such that minimum cuts stay exact. See
        :class:`StructuredModel`.
    update_at : {"early", "max-violation", "end"}, default="early"
        Where to update with a beam, if the output is wrong: on the prefixes at which the gold one
        leaves the beam; on those where it is outscored by most; on whole outputs. The last may
        update on an output that scores less than the gold one, and then need not learn at all:
        ``history_`` counts them as ``invalid_updates``.

    References
    ----------
    M. Collins (2002), Discriminative training methods for hidden Markov models; M. Collins &
    B. Roark (2004), Incremental parsing with the perceptron algorithm; L. Huang, S. Fayong & Y. Guo
    (2012), Structured perceptron with inexact search.

    Examples
    --------
    >>> X = [[["w=fish"], ["w=sleep"]], [["w=dogs"], ["w=sleep"]]]
    >>> y = [["N", "V"], ["N", "V"]]
    >>> StructuredPerceptron(random_state=0).fit(X, y).predict([[["w=dogs"], ["w=sleep"]]])
    [array(['N', 'V'], dtype='<U1')]
    """

    cost = None
    margin = 0.0
    temperature = 0.0
    C = 1.0
    l1 = 0.0
    solver = "perceptron"
    step = "decaying"
    tol = 0.0

    def __init__(
        self,
        structure: Any = "chain",
        *,
        max_iter: int = 10,
        average: bool = True,
        beam: int | None = None,
        update_at: str = "early",
        shuffle: bool = True,
        min_count: int = 0,
        all_possible_states: bool = False,
        all_possible_transitions: bool = True,
        boundaries: bool = True,
        hierarchy: Any = None,
        forbid: Any = None,
        constraints: Any = None,
        class_weight: Any = None,
        submodular: bool = False,
        warm_start: bool = False,
        checkpoint: Any = None,
        callbacks: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())
