"""The structured perceptron (Algorithms 39 and 40 of the chapter)."""

from __future__ import annotations

from ..fitting.learner_registry import PerceptronParameters
from .model import StructuredModel


class StructuredPerceptron(PerceptronParameters, StructuredModel):
    """Predict; if the output is wrong, w ← w + φ(x, y) − φ(x, ŷ); return the average of all w.

    :class:`StructuredModel` with margin 0 and temperature 0. Parameters and attributes that are not
    listed here are described there. There is no regulariser; averaging takes its place.

    Parameters
    ----------
    max_iter : int, default=10
        Number of passes over the data.
    average : bool, default=True
        Whether to average the weights over all steps; False returns the last weights, as printed in
        the chapter.
    submodular : bool, default=False
        For grids and graphs: constrain the weights so that minimum cuts stay exact. See
        :class:`StructuredModel`.
    {learning}

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
