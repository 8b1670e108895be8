"""The learners' view of a learning problem: four operations on an example, and sums over all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from ..exceptions import CapabilityError
from ..threads import n_threads
from .inexact import Inexact

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..array_types import Array
    from ..scoring.cone import WeightCone
    from .gold import GoldOutputs
    from .online_state import OnlineState
    from .parts import PartVector

    Vector = Array

__all__ = ["Problem", "n_threads"]

#: The number of ``Problem.probes``.
_PROBES = 8


class Problem:
    """Examples, gold outputs and a cost: everything that a learner needs.

    With A_i the operator from weights to the scores of the parts of example i, a learner has

    =======================  ==============================================
    ``infer(i, w, γ, ε)``    value and gradient p of infer(A_i w + γc_i, ε)
    ``scatter(i, v, a, w)``  w ← w + a · A_iᵀ v
    ``dot(θ, v)``            ⟨θ, v⟩
    ``sqnorm(i, v)``         ‖A_iᵀ v‖²
    =======================  ==============================================

    and sums of losses over all examples. It does not depend on the source of the features or on the
    kind of outputs: estimators make one of arrays and a structure
    (:class:`~structlearn.problem.array_problem.ArrayProblem`), each task makes one of its files.

    Parameters
    ----------
    native : _core.Problem
        The problem in the core, with gold outputs and costs if there are any.
    sample_weight : array of shape (n_examples,), optional
        Weights ≥ 0 that multiply the losses of the examples.
    cone : WeightCone, optional
        Linear inequalities that the weights must satisfy.
    likelihood : {"exact", "pseudo", "loopy"}
        How losses at ε > 0 are computed: by sums over outputs, or an approximation.
    dtype : {"float64", "float32"}
        The precision of the weights of online learners. Batch learners use float64.
    """

    #: A noun for the outputs, for messages.
    name = "this task"
    #: Whether the gold parts have values other than counts.
    soft_gold = False
    #: Whether the cost is the zero-one cost, which is not affine in the parts.
    zero_one_cost = False
    #: Whether the examples are elsewhere, in shards: there are sums over all of them and passes of
    #: online learners, but not the four operations.
    sharded = False

    def __init__(
        self,
        native: Any,
        *,
        sample_weight: Vector | None = None,
        cone: WeightCone | None = None,
        likelihood: str = "exact",
        dtype: npt.DTypeLike = "float64",
    ) -> None:
        self._native = native
        self.sample_weight = sample_weight
        self.cone = cone
        self.likelihood = likelihood
        self._dtype = dtype

    # -- sizes ----------------------------------------------------------------------------------

    @property
    def native(self) -> Any:
        """The argument of the core's loops; opaque to learners."""
        return self._native

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the weights of online learners."""
        import numpy as np

        return np.dtype(self._dtype)

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return int(self.native.n_examples)

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return int(self.native.n_weights)

    @property
    def one_outcome_each(self) -> bool:
        """Whether an output has one outcome per site with features, as labels of nodes are.

        A Potts term counts only where two labels differ: steps by sites, as in dual ascent, are
        then poor ones.
        """
        return True

    def relaxed(self) -> Problem | None:
        """Return the same problem over a superset of outputs, whose sums are exact.

        None if its own sums are exact. Sums under automata with a large product are certified only
        if most of the sum is on few outputs, which it is not at weights of 0.
        """
        return None

    def certified(self, tolerance: float) -> Problem:
        """Return the same problem with its sums certified to this relative tolerance."""
        return self

    def n_parts(self, i: int) -> int:
        """Return the number of parts of example i."""
        return int(self.native.parts(i))

    def theta(self, i: int, w: Vector) -> Vector:
        """Return A_i w, the scores of the parts of example i."""
        scores: Vector = self.native.score(i, w)
        return scores

    @staticmethod
    def threads(n_jobs: int | None) -> int:
        """Return the number of threads for ``n_jobs``."""
        return n_threads(n_jobs)

    @property
    def partial(self) -> npt.NDArray[np.bool_]:
        """Which examples have unknown labels."""
        import numpy as np

        gold = self.gold
        if gold is None:
            return np.zeros(self.n_examples, dtype=np.bool_)
        return gold.partial

    @property
    def has_unknown(self) -> bool:
        """Whether any example has unknown labels."""
        return bool(self.partial.any())

    @property
    def gold(self) -> GoldOutputs | None:
        """The gold outputs, if stored."""
        return None

    @property
    def has_beam(self) -> bool:
        """Whether inference can be replaced by a beam search."""
        return False

    def completed(
        self,
        w: Vector,
        temperature: float,
        *,
        sample_weight: Vector | None = None,
        n_jobs: int | None = None,
    ) -> Problem:
        """Return the same problem with unknown labels filled in by the weights w."""
        raise CapabilityError("all labels of this problem are known: nothing can be filled in")

    def specification(self) -> dict[str, Any]:
        """Return everything that the objective depends on, as plain data, for a digest."""
        return {"n_weights": self.n_weights, "sample_weight": self.sample_weight}

    @property
    def probes(self) -> range:
        """Examples whose losses represent a structure or a cost that no array describes."""
        return range(0, self.n_examples, max(1, self.n_examples // _PROBES))

    def random_weights(self, rng: np.random.Generator) -> Vector:
        """Return standard normal weights, 0 for unused ones."""
        return rng.normal(size=self.n_weights)

    @property
    def inexact(self) -> Inexact:
        """The number of inexact inference calls so far."""
        return Inexact(*self.native.inexact)

    def shortfall(self, w: Vector, margin: float, n_jobs: int | None = None) -> float:
        """Return how much Σ_i weight_i · L_i(w) at ε = 0 may be too small, at most.

        One pass in which inference also computes bounds; ∞ if the structure has none.
        """
        import numpy as np

        w = np.ascontiguousarray(w, dtype=np.float64)
        return float(self.native.shortfall(w, float(margin), n_threads(n_jobs)))

    def check_threads(self, n_jobs: int | None) -> None:
        """Warn if ``n_jobs`` requests threads but inference runs on one."""

    # -- the four operations --------------------------------------------------------------------

    def infer(
        self, i: int, w: Vector, margin: float, temperature: float
    ) -> tuple[float, PartVector]:
        """Return infer(θ + γc, ε) of example i: its value (without c₀) and p."""
        from .parts import PartVector

        value, (index, p) = self.native.infer(i, w, float(margin), float(temperature))
        return value, PartVector(index, p)

    def scatter(self, i: int, v: PartVector, a: float, w: Vector) -> None:
        """Add a · A_iᵀ v to w, in place."""
        self.native.scatter(i, v.index, v.value, float(a), w)

    def dot(self, theta: Vector, v: PartVector) -> float:
        """Return ⟨θ, v⟩ for flat scores θ, with 0 · −∞ = 0."""
        picked = theta if v.index is None else theta[v.index]
        used = v.value != 0
        return _core.dot(picked[used], v.value[used])

    def sqnorm(self, i: int, v: PartVector) -> float:
        """Return ‖A_iᵀ v‖², with features repeated in the example added up first."""
        return float(self.native.sqnorm(i, v.index, v.value))

    @property
    def total_weight(self) -> float:
        """The sum of the weights of all examples."""
        import numpy as np

        return self.weighted_sum(np.ones(self.n_examples))

    def weighted_sum(self, values: Vector) -> float:
        """Return Σ_i weight_i · values_i, one number per example."""
        weight = self.sample_weight
        # The same order with and without weights, so that weights of 1 change no bit.
        return float((values if weight is None else weight * values).sum())

    # -- losses ---------------------------------------------------------------------------------

    def loss(
        self, i: int, w: Vector, margin: float, temperature: float
    ) -> tuple[float, PartVector]:
        """Return the loss of example i (its weight not multiplied in) and p − p_clamp."""
        from .parts import PartVector

        value, (index, r) = self.native.loss(i, w, float(margin), float(temperature))
        return value, PartVector(index, r)

    def total_loss(
        self,
        w: Vector,
        margin: float,
        temperature: float,
        *,
        gradient: bool = True,
        out: Vector | None = None,
        n_jobs: int | None = None,
    ) -> tuple[float, Vector | None]:
        """Return Σ_i weight_i · L_i(w) and its gradient; the same bits for any thread count.

        Parameters
        ----------
        gradient : bool
            Whether to compute the gradient; None is returned in its place otherwise.
        out : array of shape (n_weights,), optional
            Memory for the gradient; allocated by default.
        """
        if gradient and out is None:
            import numpy as np

            out = np.empty(self.n_weights)
        value, _ = self._total(w, margin, temperature, out if gradient else None, n_jobs)
        return value, out if gradient else None

    def total_cost(
        self,
        w: Vector,
        margin: float,
        temperature: float,
        *,
        out: Vector | None = None,
        n_jobs: int | None = None,
    ) -> tuple[float, float]:
        """Return Σ_i weight_i · L_i(w) and Σ_i weight_i · γ(⟨c_i, p_i⟩ + c₀), gradient in ``out``.

        p is the result of infer: the cost is that of the best output at ε = 0, its mean above.
        """
        return self._total(w, margin, temperature, out, n_jobs)

    # -- further queries of some learners -------------------------------------------------------

    def feature_squares(self) -> tuple[Vector, Vector, Vector]:
        """Return, for each weight, Σ value² of its feature, its count and its possible count."""
        squares, counts, places = _core.feature_squares(self.native)
        return squares, counts, places

    def pass_order(self, orders: Any, shuffle: bool) -> Any:
        """Return the order of the examples in one pass of an online learner.

        Parameters
        ----------
        orders : Orders
            The random orders (:class:`structlearn.learners.orders.Orders`).
        """
        import numpy as np

        n = self.n_examples
        return np.asarray(orders.permutation(n) if shuffle else range(n), dtype=np.int64)

    def online_state(self, options: dict[str, Any], start: OnlineState | None = None) -> Any:
        """Return the working state of passes with these options; learners read weights from it.

        A problem may have its own kind of state for its own passes, with the attributes and methods
        of :class:`~structlearn.problem.online_state.OnlineState` that are not arrays.

        Parameters
        ----------
        options : dict
            Those of :class:`~structlearn.learners.online.Online`, in the form for the core.
        start : OnlineState, optional
            The starting point; zero by default. It is not changed.
        """
        import numpy as np

        from .online_state import WITH_SQUARES, OnlineState

        if start is None:
            average = bool(options["average"])
            state = OnlineState.zero(self.n_weights, average=average, dtype=self.dtype)
        else:
            state = start.copy()
            if self.cone is not None:
                state.v = self.cone.project(state.v)  # may come from another problem
        if options["step"] in WITH_SQUARES and not len(state.squares):
            state.squares = np.zeros(self.n_weights, state.v.dtype)
        return state

    def online_pass(
        self, options: dict[str, Any], state: Any, order: Any
    ) -> tuple[Any, dict[str, float]]:
        """Make one pass of an online learner over the examples.

        Parameters
        ----------
        options : dict
            As for :meth:`online_state`.
        state : object
            From :meth:`online_state`, or from the previous pass; not to be used afterwards, except
            for an OnlineState, which is not changed.
        order : array
            From :meth:`pass_order`, or the indices of some examples.

        Returns
        -------
        state : object
            After the pass.
        report : dict
            Facts about the pass: complete, seen, loss, updates, invalid.
        """
        after = state.copy()  # an error or Ctrl-C in the middle must not leave half a state
        shared = vars(after)
        cone = None if self.cone is None else self.cone.native
        report = _core.online_pass(self.native, order, {**options, "cone": cone}, shared)
        return after, report

    def progress(self) -> str:
        """Return a few words for the progress line of an iteration; usually empty."""
        return ""

    def _total(
        self, w: Vector, margin: float, temperature: float, out: Vector | None, n_jobs: int | None
    ) -> tuple[float, float]:
        import numpy as np

        value, complete, cost = self.native.total(
            np.ascontiguousarray(w, dtype=np.float64),
            float(margin),
            float(temperature),
            out,
            n_threads(n_jobs),
        )
        if not complete:
            raise KeyboardInterrupt
        return value, cost

    def objective(
        self,
        w: Vector,
        *,
        C: float,
        margin: float,
        temperature: float,
        l1: float = 0.0,
        n_jobs: int | None = None,
    ) -> tuple[float, Vector]:
        """Return ½‖w‖² + l1·‖w‖₁ + C·Σ loss and the gradient of its smooth part (without l1)."""
        import numpy as np

        value, gradient = self.total_loss(w, margin, temperature, n_jobs=n_jobs)
        assert gradient is not None
        total = 0.5 * _core.dot(w, w) + C * value + (l1 * float(np.abs(w).sum()) if l1 else 0.0)
        return total, w + C * gradient
