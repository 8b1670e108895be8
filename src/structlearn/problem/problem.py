"""A learning problem as learners see it: four operations on an example, and sums over all."""

from __future__ import annotations

from .. import _core
from ..exceptions import CapabilityError
from ..threads import n_threads
from .inexact import Inexact

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from ..array_types import Array
    from ..scoring.cone import WeightCone
    from .gold import GoldOutputs
    from .online_state import OnlineState
    from .parts import PartVector

    Vector = Array

__all__ = ["Problem", "n_threads"]

#: Of ``Problem.probes``.
_PROBES = 8


class Problem:
    """Examples, gold outputs and a cost: everything that a learner sees.

    With A_i the operator from weights to the scores of the parts of example i, a learner has

    =======================  ==============================================
    ``infer(i, w, γ, ε)``    value and gradient p of infer(A_i w + γc_i, ε)
    ``scatter(i, v, a, w)``  w ← w + a · A_iᵀ v
    ``dot(θ, v)``            ⟨θ, v⟩
    ``sqnorm(i, v)``         ‖A_iᵀ v‖²
    =======================  ==============================================

    and sums of losses over all examples. It does not know where the features come from or what
    the outputs are: estimators make one of arrays and a structure
    (:class:`~structlearn.problem.array_problem.ArrayProblem`), each task makes one of its files.

    Parameters
    ----------
    native : _core.Problem
        The problem in the core, with gold outputs and costs where there are any.
    sample_weight : array of shape (n_examples,), optional
        Weights ≥ 0 that multiply the losses of the examples.
    cone : WeightCone, optional
        Linear inequalities that the weights have to satisfy.
    likelihood : {"exact", "pseudo", "loopy"}
        What losses at ε > 0 are made of: sums over outputs, or an approximation.
    dtype : {"float64", "float32"}
        The precision of the weights of online learners. Batch learners use float64.
    """

    #: What the outputs are, for messages.
    name = "this task"
    #: Whether the gold parts have values other than counts.
    soft_gold = False
    #: Whether the cost is the zero-one cost, which is not affine in the parts.
    zero_one_cost = False
    #: Whether the examples are somewhere else, in shards: there are sums over all of them and
    #: passes of online learners, and none of the four operations.
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
        """What the loops of the core take: pass it on, and look at nothing in it."""
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
        """Whether an output has one outcome of each site with features, as labels of nodes are.

        The strength of a Potts term counts where two labels differ, and nowhere else: steps by
        sites, as those of dual ascent, are then poor ones.
        """
        return True

    def relaxed(self) -> Problem | None:
        """Return the same problem over more outputs, whose sums are exact.

        None: its own are. Those under automata with many states in their product are certified,
        where most of the sum is of few outputs: not at weights of 0.
        """
        return None

    def certified(self, tolerance: float) -> Problem:
        """Return the same problem with its sums certified up to this share of them."""
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
        """Return how many threads ``n_jobs`` asks for."""
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
        """The gold outputs, where they are kept as such."""
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
        """Return what the objective depends on, as plain data: names the problem in a digest."""
        return {"n_weights": self.n_weights, "sample_weight": self.sample_weight}

    @property
    def probes(self) -> range:
        """Examples whose losses stand for what a structure or a cost does, and no array tells."""
        return range(0, self.n_examples, max(1, self.n_examples // _PROBES))

    def random_weights(self, rng: np.random.Generator) -> Vector:
        """Return standard normal weights, 0 for those that stand for nothing."""
        return rng.normal(size=self.n_weights)

    @property
    def inexact(self) -> Inexact:
        """How often inference was not exact so far."""
        return Inexact(*self.native.inexact)

    def shortfall(self, w: Vector, margin: float, n_jobs: int | None = None) -> float:
        """Return by how much Σ_i weight_i · L_i(w) at ε = 0 may be too small.

        One pass in which inference gives bounds as well; ∞ where the structure has none.
        """
        import numpy as np

        w = np.ascontiguousarray(w, dtype=np.float64)
        return float(self.native.shortfall(w, float(margin), n_threads(n_jobs)))

    def check_threads(self, n_jobs: int | None) -> None:
        """Warn where ``n_jobs`` asks for threads and inference runs on one."""

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
        """Return ‖A_iᵀ v‖², features that repeat inside the example added up first."""
        return float(self.native.sqnorm(i, v.index, v.value))

    @property
    def total_weight(self) -> float:
        """The sum of the weights of all examples."""
        import numpy as np

        return self.weighted_sum(np.ones(self.n_examples))

    def weighted_sum(self, values: Vector) -> float:
        """Return Σ_i weight_i · values_i, one number per example."""
        weight = self.sample_weight
        # In the same order with weights and without, so that weights of 1 change no bit.
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
            Where to write the gradient, instead of new memory.
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

        p is what infer finds: the cost is that of the best output at ε = 0, its mean above.
        """
        return self._total(w, margin, temperature, out, n_jobs)

    # -- what some learners ask for besides -------------------------------------------------------

    def feature_squares(self) -> tuple[Vector, Vector, Vector]:
        """Return, for each weight, Σ value² of its feature, how often it is there, and might be."""
        squares, counts, places = _core.feature_squares(self.native)
        return squares, counts, places

    def pass_order(self, orders: Any, shuffle: bool) -> Any:
        """Return the order of the examples in one pass of an online learner.

        Parameters
        ----------
        orders : Orders
            Random ones (:class:`structlearn.learners.orders.Orders`).
        """
        import numpy as np

        n = self.n_examples
        return np.asarray(orders.permutation(n) if shuffle else range(n), dtype=np.int64)

    def online_state(self, options: dict[str, Any], start: OnlineState | None = None) -> Any:
        """Return what passes with these options work on; learners read weights from it.

        A problem may have a state of its own, for passes of its own, with the attributes and
        methods of :class:`~structlearn.problem.online_state.OnlineState` that are not arrays.

        Parameters
        ----------
        options : dict
            Of :class:`~structlearn.learners.online.Online`, as the core takes them.
        start : OnlineState, optional
            Where to begin, instead of at zero; it is not changed.
        """
        import numpy as np

        from .online_state import WITH_SQUARES, OnlineState

        if start is None:
            average = bool(options["average"])
            state = OnlineState.zero(self.n_weights, average=average, dtype=self.dtype)
        else:
            state = start.copy()
            if self.cone is not None:
                state.v = self.cone.project(state.v)  # may be of another problem
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
            From :meth:`online_state`, or from the pass before; not to be used afterwards, but for
            an OnlineState, which is not changed.
        order : array
            From :meth:`pass_order`, or the numbers of some examples.

        Returns
        -------
        state : object
            After the pass.
        report : dict
            What the pass was like: complete, seen, loss, updates, invalid.
        """
        after = state.copy()  # an error or Ctrl-C in the middle must not tear the state
        shared = vars(after)
        cone = None if self.cone is None else self.cone.native
        report = _core.online_pass(self.native, order, {**options, "cone": cone}, shared)
        return after, report

    def progress(self) -> str:
        """Return a few words for the line that tells of an iteration; usually none."""
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
