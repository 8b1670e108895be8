"""The structured support vector machine (§17.4 of the chapter)."""

from __future__ import annotations

from ..fitting.learner_registry import SVMParameters
from .model import StructuredModel


class StructuredSVM(SVMParameters, StructuredModel):
    """Minimise ½‖w‖² + C·Σ_n max_ŷ [Δ(y_n, ŷ) + s(ŷ) − s(y_n)] (eq. 17.24).

    :class:`StructuredModel` with margin 1 and temperature 0. Parameters and attributes that are not
    listed here are described there.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the slacks. The lectures write C/N·Σξ, so their C is ours times N.
    cost : {"hamming", "hamming-mean", "zero-one"}, (K, K) array or Cost, default="hamming"
    solver : {"frank-wolfe", "n-slack", "one-slack", "annealing", "sgd", "auto"}, \
            default="frank-wolfe"
        "frank-wolfe": block-coordinate Frank-Wolfe, the fastest for many examples such as sentences
        (:mod:`structlearn.learners.frank_wolfe`). For a few large examples with few features, such
        as images, "one-slack" is faster. "n-slack": cutting planes with one working set per
        example, as in the lectures; "one-slack": cutting planes with joint constraints. Both record
        their rounds in ``rounds_``. "annealing": L-BFGS on smoothed losses, ε → 0. "sgd":
        stochastic subgradient, required by ``partial_fit``, and the only solver that handles
        unknown labels (None) directly; the others fill them in round by round (``latent``). "auto":
        "frank-wolfe", "one-slack" over shards, and "sgd" for unknown labels.
    submodular : bool, default=False
        For grids and graphs: constrain the weights so that minimum cuts stay exact. See
        :class:`StructuredModel`.
    violation_tol : float, optional
        The ε of the lectures: cutting planes stop when no constraint is violated by more than this
        ("one-slack": on average over the examples). They also stop at ``tol``, whichever comes
        first; with ``tol=0`` only ε decides.
    step : {"decaying", "constant"}, default="decaying"
        For "sgd". "decaying": steps 1/(λt) with averaging, which converges and proves its gap.
        "constant": Algorithm 41 as printed (with ``average=False``), which does not converge but
        oscillates around the optimum.
    tol : float, default=1e-2
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int, default=1000
        Maximum number of passes over the data, or of rounds.

    References
    ----------
    I. Tsochantaridis et al. (2005), Large margin methods for structured and interdependent output
    variables; T. Joachims, T. Finley & C.-N. Yu (2009), Cutting-plane training of structural SVMs;
    S. Lacoste-Julien et al. (2013), Block-coordinate Frank-Wolfe optimization for structural SVMs;
    A. Osokin et al. (2016), Minding the gaps for block Frank-Wolfe; S. Shalev-Shwartz et al.
    (2011), Pegasos; S. Lacoste-Julien, M. Schmidt & F. Bach (2012), A simpler approach to obtaining
    an O(1/t) convergence rate.
    """
