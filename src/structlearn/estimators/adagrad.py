"""Subgradient steps with a step size for each weight."""

from __future__ import annotations

from ..fitting.learner_registry import AdaGradParameters
from .model import StructuredModel


class AdaGrad(AdaGradParameters, StructuredModel):
    """Minimise ½‖w‖² + C·Σ_n loss_n by steps that are longer where gradients have been small.

    With g the gradient of an example's loss, N examples and H = δ + √Σg² over the steps so far, an
    update is w ← (H∘w − η·g) / (H + η/(C·N)), the composite form: the regulariser is not part of
    the gradients but applied to a weight when its feature occurs, so that the cost of a step is
    proportional to the features of the example. A preset of :class:`StructuredModel`, which
    describes the parameters and attributes not listed here, for every loss of the family: the
    hinge, and at ``margin=0, temperature=1`` the log loss of a CRF. The gap is proven if the
    temperature is above 0.

    Parameters
    ----------
    margin, temperature : float, default=1.0 and 0.0
        γ and ε of the loss.
    C : float, default=1.0
        Weight of the losses.
    eta0 : float, default=1.0
        η: no weight moves by more than this in a step.
    delta : float, default=1.0
        δ: larger is more cautious at first; 0 is the published AdaGrad.
    max_iter : int, default=20
        Passes over the data.
    average : bool, default=True
        Average the weights over all steps.

    References
    ----------
    J. Duchi, E. Hazan & Y. Singer (2011), Adaptive subgradient methods for online learning and
    stochastic optimization.
    """
