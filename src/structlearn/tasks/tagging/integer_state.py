"""The perceptron of taggers in whole numbers: the same bits as the estimators', in less time.

Its steps are +1 and −1. On first-order chains whose features have no values and whose sentences
have no weights all weights are whole numbers, and 32-bit integers compute what passes over an
:class:`~structlearn.problem.online_state.OnlineState` compute with unit steps, to the last bit.
"""

from __future__ import annotations

from ... import _core

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from typing import Any

    from ...problem.online_state import OnlineState

#: Weights are far smaller in a training of any length.
_MOST = 2.0**30


class IntegerState:
    """What passes in whole numbers work on; weights are made when they are asked for.

    Parameters
    ----------
    native : _core.IntegerPerceptron
        Knows which weights there are.
    average : bool
        Whether the average of the weights will be asked for.
    start : OnlineState, optional
        Where to begin; it must fit.
    """

    cost = 0.0

    def __init__(
        self, native: _core.IntegerPerceptron, *, average: bool, start: OnlineState | None = None
    ) -> None:
        self.native = native
        self.average = average
        self.epochs = 0
        if start is not None:
            import numpy as np

            self.epochs = start.epochs
            behind = start.behind if average else np.zeros_like(start.v)
            native.load(start.v.astype(np.int32), behind.astype(np.int64), int(start.steps))

    def make_pass(self, batch: _core.IntegerBatch, order: Any) -> dict[str, float]:
        """Make a pass over sentences; return what it was like."""
        complete, seen, updates, loss = self.native.epoch(batch, order)
        return {
            "complete": complete,
            "seen": seen,
            "updates": updates,
            "loss": loss,
            "invalid": 0,
        }

    @property
    def steps(self) -> float:
        """The number of steps so far."""
        return float(self.native.steps)

    @property
    def last(self) -> Any:
        """The weights after the last step."""
        return self.native.weights(False)

    @property
    def mean(self) -> Any:
        """The averaged weights."""
        return self.native.weights(True)

    def skip(self, examples: int) -> None:
        """Pass over examples that are known to be right: they count in the average."""
        self.native.skip(examples)

    def plain(self) -> OnlineState:
        """Return the state in arrays that no later pass changes."""
        import numpy as np

        from ...problem.online_state import OnlineState

        v, behind, steps = self.native.save()
        numbers: dict[str, Any] = {"steps": float(steps), "epochs": self.epochs}
        if not self.average:
            return OnlineState(v.astype(np.float64), np.zeros(0), **numbers)
        numbers.update(ahead=float(steps), total=float(steps))
        return OnlineState(v.astype(np.float64), behind.astype(np.float64), **numbers)


def fits_integers(state: OnlineState | None) -> bool:
    """Tell whether a state is one that passes in whole numbers lead to; None: at zero."""
    if state is None:
        return True
    import numpy as np

    averaged = len(state.behind) > 0
    if state.scale != 1.0 or (averaged and not state.ahead == state.total == state.steps):
        return False
    vectors = [state.v, state.behind]
    whole = all(bool((x == np.rint(x)).all()) for x in vectors)
    return whole and bool((np.abs(state.v) < _MOST).all())
