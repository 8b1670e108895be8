"""Subgradient steps with a length for each weight."""

from __future__ import annotations

import math
from typing import Any

from .model import StructuredModel, store_parameters

__all__ = ["AdaGrad"]


class AdaGrad(StructuredModel):
    """Minimise ½‖w‖² + C·Σ_n loss_n by steps that are longer where the gradients were small.

    With g the gradient of an example's loss, N examples and H = 1 + √Σg² over the steps so far, an
    update is w ← (H∘w − η·g) / (H + η/(C·N)), the composite form: the regulariser is not part of
    the gradients, and reaches a weight when its feature is met, so that a step costs what the
    example's features cost. A preset of :class:`StructuredModel`, which describes the parameters
    and attributes that are not below, for every loss of the family: the hinge, and at
    ``margin=0, temperature=1`` the log loss of a CRF. The gap is proven where the temperature is
    above 0.

    Parameters
    ----------
    margin, temperature : float, default=1.0 and 0.0
        γ and ε of the loss.
    C : float, default=1.0
        Weight of the losses.
    eta0 : float, default=1.0
        η: no weight moves by more than this in a step.
    max_iter : int, default=20
        Passes over the data.
    average : bool, default=True
        Average the weights over all steps.

    References
    ----------
    J. Duchi, E. Hazan & Y. Singer (2011), Adaptive subgradient methods for online learning and
    stochastic optimization.
    """

    eta0: float
    l1 = 0.0
    solver = "adagrad"
    step = "decaying"

    def __init__(
        self,
        structure: Any = "chain",
        *,
        C: float = 1.0,
        eta0: float = 1.0,
        margin: float = 1.0,
        temperature: float = 0.0,
        cost: Any = "hamming",
        tol: float = 1e-2,
        max_iter: int = 20,
        average: bool = True,
        shuffle: bool = True,
        min_count: int = 0,
        all_possible_states: bool = False,
        all_possible_transitions: bool = True,
        boundaries: bool = True,
        hierarchy: Any = None,
        forbid: Any = None,
        constraints: Any = None,
        time_limit: float | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        checkpoint: Any = None,
        callbacks: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def _check_parameters(self) -> None:
        rate = self.eta0
        if not isinstance(rate, (int, float)) or not (math.isfinite(rate) and rate > 0):
            raise ValueError(f"eta0 must be a finite number > 0, got {rate!r}")
        super()._check_parameters()

    @property
    def _rate(self) -> float:  # type: ignore[override]
        return self.eta0
