"""The structured support vector machine (§17.4 of the chapter)."""

from __future__ import annotations

from typing import Any

from .model import StructuredModel, store_parameters

__all__ = ["StructuredSVM"]


class StructuredSVM(StructuredModel):
    """Minimise ½‖w‖² + C·Σ_n max_ŷ [Δ(y_n, ŷ) + s(ŷ) − s(y_n)] (eq. 17.24).

    The preset margin 1, temperature 0 of :class:`StructuredModel`, which describes the parameters
    and attributes that are not below.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the slacks. The lectures' C/N Σξ is this with C/N for C.
    cost : {"hamming", "hamming-mean", "zero-one"}, (K, K) array or Cost, default="hamming"
    solver : {"sgd"}, default="sgd"
        Stochastic subgradient, loss-augmented argmax at each step.
    step : {"decaying", "constant"}, default="decaying"
        "decaying": steps 1/(λt) with averaging, converges and proves its gap. "constant":
        Algorithm 41 as printed, which hovers around the optimum; set ``average=False`` for the
        letter of it.
    tol : float, default=1e-2
        Stop where the duality gap is at most ``tol`` times the objective.
    max_iter : int, default=100
        Passes over the data.

    References
    ----------
    I. Tsochantaridis et al. (2005), Large margin methods for structured and interdependent output
    variables; S. Shalev-Shwartz et al. (2011), Pegasos; S. Lacoste-Julien, M. Schmidt & F. Bach
    (2012), A simpler approach to obtaining an O(1/t) convergence rate.
    """

    margin = 1.0
    temperature = 0.0
    l1 = 0.0

    def __init__(
        self,
        structure: Any = "chain",
        *,
        C: float = 1.0,
        cost: Any = "hamming",
        solver: str = "sgd",
        step: str = "decaying",
        tol: float = 1e-2,
        max_iter: int = 100,
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

    def _choose_solver(self) -> str:
        if self.solver not in ("sgd", "auto"):
            raise ValueError(f"solver must be 'sgd', got {self.solver!r}")
        return "sgd"
