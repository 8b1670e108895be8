"""The loss curve of a training, with time, objective and gap of each iteration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class LossCurve(list[float]):
    """Sums of the losses, iteration by iteration: a list with further columns.

    Attributes
    ----------
    seconds, oracle_calls, objective, gap : lists
        As long as the curve itself; None if an iteration did not record it: many learners compute
        objective and gap only now and then.

    Examples
    --------
    >>> curve = LossCurve([{"loss": 2.0, "seconds": 0.1}, {"loss": 1.0, "gap": 0.5}])
    >>> curve, curve.seconds, curve.gap
    ([2.0, 1.0], [0.1, None], [None, 0.5])
    """

    seconds: list[float | None]
    oracle_calls: list[int | None]
    objective: list[float | None]
    gap: list[float | None]

    def __init__(self, history: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(record["loss"] for record in history)
        for name in ("seconds", "oracle_calls", "objective", "gap"):
            setattr(self, name, [record.get(name) for record in history])

    def __reduce__(self) -> tuple[Any, ...]:
        names = ("seconds", "oracle_calls", "objective", "gap")
        columns = zip(self, *(getattr(self, name) for name in names), strict=True)
        return LossCurve, ([dict(zip(("loss", *names), c, strict=True)) for c in columns],)
