"""Passive-aggressive learning, also known as 1-best MIRA."""

from __future__ import annotations

from ..fitting.learner_registry import PassiveAggressiveParameters
from .model import StructuredModel


class PassiveAggressive(PassiveAggressiveParameters, StructuredModel):
    """After each example, the smallest step that gives the gold output its full margin.

    With ŷ the best output after adding the costs, ℓ = Δ(y, ŷ) + s(ŷ) − s(y) and δ = φ(x, y) − φ(x,
    ŷ), the update w ← w + τδ has the length τ = min(C, ℓ/‖δ‖²) (PA-I: it solves min ½‖w − w'‖² +
    C·ξ), or ℓ/(‖δ‖² + 1/(2C)) (PA-II: the same with C·ξ²). A preset of :class:`StructuredModel`
    with margin 1 and temperature 0, which describes the parameters and attributes not listed here.
    A ``sample_weight`` multiplies C.

    Parameters
    ----------
    C : float, default=1.0
        No step is longer than this ("hinge"); smaller is more cautious.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        PA-I or PA-II, as in scikit-learn's PassiveAggressiveClassifier.
    cost : {"hamming", "hamming-mean", "zero-one"}, (K, K) array or Cost, default="hamming"
    max_iter : int, default=10
        Passes over the data.
    average : bool, default=True
        Average the weights over all steps.
    {learning}

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz & Y. Singer (2006), Online passive-aggressive
    algorithms; R. McDonald, K. Crammer & F. Pereira (2005), Online large-margin training of
    dependency parsers (MIRA).

    Examples
    --------
    >>> X = [[["w=fish"], ["w=sleep"]], [["w=dogs"], ["w=sleep"]]]
    >>> y = [["N", "V"], ["N", "V"]]
    >>> PassiveAggressive(random_state=0).fit(X, y).predict([[["w=dogs"], ["w=sleep"]]])
    [array(['N', 'V'], dtype='<U1')]
    """
