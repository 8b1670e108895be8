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

    References
    ----------
    M. Collins (2002), Discriminative training methods for hidden Markov models.

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
        shuffle: bool = True,
        min_count: int = 0,
        all_possible_states: bool = False,
        all_possible_transitions: bool = True,
        boundaries: bool = True,
        hierarchy: Any = None,
        forbid: Any = None,
        class_weight: Any = None,
        warm_start: bool = False,
        callbacks: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())
