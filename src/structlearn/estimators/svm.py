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
    solver : {"frank-wolfe", "n-slack", "one-slack", "annealing", "sgd"}, default="frank-wolfe"
        "frank-wolfe": block-coordinate Frank-Wolfe, the fastest on many examples, as sentences are
        (:mod:`~..learners.frank_wolfe`); on few large ones with few features, as images are,
        "one-slack" is faster.
        "n-slack": cutting planes with one working set per example, as in the lectures; "one-slack":
        with joint constraints. Both tell their rounds in ``rounds_``. "annealing": L-BFGS on
        smoothed losses, ε → 0. "sgd": stochastic subgradient, which ``partial_fit`` needs, and the
        only one that takes unknown labels (None) as they are; for the others they are filled in
        round by round (``latent``).
    submodular : bool, default=False
        Of grids and graphs: keep the weights of neighbours such that minimum cuts stay exact. See
        :class:`StructuredModel`.
    violation_tol : float, optional
        The lectures' ε: cutting planes stop where no constraint is violated by more (of
        "one-slack": in the mean of the examples). They stop at ``tol`` too, whichever comes first;
        with ``tol=0``, ε alone decides.
    step : {"decaying", "constant"}, default="decaying"
        Of "sgd". "decaying": steps 1/(λt) with averaging, converges and proves its gap. "constant":
        Algorithm 41 as printed, which hovers around the optimum; set ``average=False`` for the
        letter of it.
    tol : float, default=1e-2
        Stop where the duality gap is at most ``tol`` times the objective.
    max_iter : int, default=1000
        Passes over the data, or rounds.

    References
    ----------
    I. Tsochantaridis et al. (2005), Large margin methods for structured and interdependent output
    variables; T. Joachims, T. Finley & C.-N. Yu (2009), Cutting-plane training of structural SVMs;
    S. Lacoste-Julien et al. (2013), Block-coordinate Frank-Wolfe optimization for structural SVMs;
    A. Osokin et al. (2016), Minding the gaps for block Frank-Wolfe; S. Shalev-Shwartz et al.
    (2011), Pegasos; S. Lacoste-Julien, M. Schmidt & F. Bach (2012), A simpler approach to obtaining
    an O(1/t) convergence rate.
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
        solver: str = "frank-wolfe",
        step: str = "decaying",
        tol: float = 1e-2,
        max_iter: int = 1000,
        violation_tol: float | None = None,
        average: bool = True,
        shuffle: bool = True,
        min_count: int = 0,
        all_possible_states: bool = False,
        all_possible_transitions: bool = True,
        boundaries: bool = True,
        hierarchy: Any = None,
        forbid: Any = None,
        constraints: Any = None,
        class_weight: Any = None,
        latent: str = "auto",
        submodular: bool = False,
        warm_start: bool = False,
        checkpoint: Any = None,
        callbacks: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    _solvers = ("frank-wolfe", "sgd", "n-slack", "one-slack", "annealing", "auto")
