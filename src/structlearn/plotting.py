"""Pictures of training: learners side by side, the rounds of cutting planes, growth with size.

Needs matplotlib: ``pip install structlearn[plot]``. Functions return the axes they drew on and
never show or save anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["plot_convergence", "plot_growth", "plot_rounds"]

Vector = npt.NDArray[np.float64]

#: M. Okabe & K. Ito (2008), Color universal design; dark and light alternate, for print in grey.
COLOURS = ("#0072B2", "#E69F00", "#000000", "#CC79A7", "#009E73", "#D55E00", "#56B4E9")
DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

_X = {
    "seconds": "seconds",
    "iteration": "iteration",
    "oracle_calls": "calls of inference, in examples",
}
_Y = {
    "gap": "duality gap",
    "relative gap": "duality gap / objective",
    "estimated gap": "duality gap, estimated where not proven",
    "objective": "objective",
    "dual": "dual, a lower bound",
    "loss": "loss",
}


def plot_convergence(
    models: Any,
    x: str = "seconds",
    y: str = "gap",
    ax: Any = None,
    labels: Sequence[str] | None = None,
) -> Any:
    """Draw the progress of trainings, one line each.

    Parameters
    ----------
    models : estimator, history, sequence of them, or dict of name to them
        Fitted estimators, or their ``history_``: lists of records.
    x : {"seconds", "iteration", "oracle_calls"}
        The horizontal axis. It has a logarithmic scale if it spans two decades or more.
    y : {"gap", "relative gap", "estimated gap", "objective", "dual", "loss"}
        The vertical axis; "relative gap" is gap / objective. Records without it are left out: some
        learners compute their gap only now and then. "estimated gap" shows their estimates in
        between, "dual" their lower bound of the optimum. Gaps have a logarithmic scale; the others
        if they span more than one decade.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's by default.
    labels : sequence of str, optional
        Names of the lines, instead of the estimator's and its solver's or the keys of a dict.

    Returns
    -------
    matplotlib Axes
    """
    for name, value, allowed in (("x", x, _X), ("y", y, _Y)):
        if value not in allowed:
            raise ValueError(
                f"{name} must be one of {', '.join(map(repr, allowed))}, not {value!r}"
            )
    named = _named_histories(models, labels)
    curves = {name: _curve(name, history, x, y) for name, history in named}
    if len(curves) < len(named):
        raise ValueError("two lines have the same label: pass labels=[...] or a dict")
    ax = _axes(ax)
    for name, (at, values) in curves.items():
        ax.plot(at, values, label=name, **_style(ax, len(at)))
    drawn = [v for _, values in curves.values() for v in values]
    if _positive(drawn) and ("gap" in y or max(drawn) > 10 * min(drawn)):
        ax.set_yscale("log", nonpositive="mask")
    places = [v for at, _ in curves.values() for v in at]
    if _positive(places) and max(places) >= 100 * min(v for v in places if v > 0):
        ax.set_xscale("log", nonpositive="mask")
    return _finish(ax, _X[x], _Y[y])


def plot_rounds(estimator: Any, axes: Any = None) -> Any:
    """Draw the rounds of cutting planes: primal and dual above, the largest violation below.

    Parameters
    ----------
    estimator : fitted StructuredSVM or StructuredModel
        Fitted with ``solver="n-slack"`` or ``"one-slack"``, so that it has ``rounds_``.
    axes : pair of matplotlib Axes, optional
        Where to draw; a new figure's by default.

    Returns
    -------
    pair of matplotlib Axes
    """
    rounds = getattr(estimator, "rounds_", None)
    if not rounds:
        raise ValueError(
            "there are no rounds to draw: fit with solver='n-slack' or solver='one-slack'"
        )
    if axes is None:
        _, axes = _pyplot().subplots(
            2, 1, sharex=True, figsize=(6.4, 5.2), height_ratios=(3, 2), layout="constrained"
        )
    upper, lower = axes
    at = np.array([r.iteration for r in rounds])
    primal, dual, violation = (
        np.array([getattr(r, name) for r in rounds], dtype=np.float64)
        for name in ("primal", "dual", "violation")
    )
    upper.fill_between(at, dual, primal, color="0.92", linewidth=0, label="gap")
    for name, values in (("primal", primal), ("dual", dual)):
        upper.plot(at, values, label=name, **_style(upper, len(at)))
    if dual.min() > 0 and primal.max() > 10 * dual.min():
        upper.set_yscale("log")
    lower.plot(at, violation, label="violation", **_style(lower, len(at)))
    if (violation > 0).any():
        lower.set_yscale("log", nonpositive="mask")
    lower.xaxis.get_major_locator().set_params(integer=True)
    _finish(upper, "", "objective")
    _finish(lower, "round", "largest violation", legend=False)
    return upper, lower


def growth_slope(sizes: npt.ArrayLike, seconds: npt.ArrayLike) -> tuple[float, float]:
    """Fit seconds = factor · size^slope by least squares of the logarithms.

    Returns
    -------
    slope, factor : float
    """
    n, t = np.asarray(sizes, dtype=np.float64), np.asarray(seconds, dtype=np.float64)
    if n.ndim != 1 or n.shape != t.shape:
        raise ValueError(
            f"sizes and seconds must have the same length, got shapes {n.shape} and {t.shape}"
        )
    if len(np.unique(n)) < 2 or not ((n > 0).all() and (t > 0).all()):
        raise ValueError("a slope needs two sizes or more, and positive sizes and times")
    slope, intercept = np.polyfit(np.log(n), np.log(t), 1)
    return float(slope), float(np.exp(intercept))


def plot_growth(
    sizes: npt.ArrayLike,
    seconds: npt.ArrayLike,
    ax: Any = None,
    label: str = "",
    xlabel: str = "size",
    ylabel: str = "seconds",
) -> Any:
    """Draw times against sizes with both scales logarithmic, and the slope fitted to them.

    A slope of 1 is linear growth. Call it again with the same ``ax`` for another line.

    Parameters
    ----------
    sizes, seconds : arrays of shape (m,)
        The measurements.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's by default.
    label, xlabel, ylabel : str
        The name of the line, the growing quantity, and the measured one if it is not seconds.

    Returns
    -------
    matplotlib Axes
    """
    slope, factor = growth_slope(sizes, seconds)
    ax = _axes(ax)
    style = _style(ax, 1)
    ends = np.array([np.min(sizes), np.max(sizes)], dtype=np.float64)
    named = f"{label}: slope {slope:.2f}" if label else f"slope {slope:.2f}"
    ax.plot(sizes, seconds, **{**style, "linestyle": "none"}, label=named)
    ax.plot(ends, factor * ends**slope, color=style["color"], linestyle=style["linestyle"],
            linewidth=1.2, label="_fit")  # fmt: skip
    ax.set_xscale("log")
    ax.set_yscale("log")
    _plain_ticks(ax)
    return _finish(ax, xlabel, ylabel)


# -- data ---------------------------------------------------------------------------------------


def _named_histories(
    models: Any, labels: Sequence[str] | None
) -> list[tuple[str, list[dict[str, Any]]]]:
    if isinstance(models, Mapping):
        names, items = [str(k) for k in models], list(models.values())
    else:
        is_single = hasattr(models, "history_") or _is_history(models)
        items = [models] if is_single else list(models)
        names = [_name(model, k) for k, model in enumerate(items)]
    if not items:
        raise ValueError("nothing to draw")
    if labels is not None:
        if len(labels) != len(items):
            raise ValueError(f"{len(labels)} labels for {len(items)} trainings")
        names = list(labels)
    return [(name, _history(name, item)) for name, item in zip(names, items, strict=True)]


def _is_history(item: Any) -> bool:
    return isinstance(item, Sequence) and bool(item) and isinstance(item[0], Mapping)


def _history(name: str, item: Any) -> list[dict[str, Any]]:
    history = getattr(item, "history_", item)
    if not _is_history(history):
        raise ValueError(
            f"{name} is not a training run: pass fitted estimators, or lists of records as in "
            "history_"
        )
    return list(history)


def _name(model: Any, k: int) -> str:
    if _is_history(model):
        return f"training {k + 1}"
    solver = getattr(model, "solver", None)
    return type(model).__name__ + (f", {solver}" if solver else "")


def _curve(name: str, history: list[dict[str, Any]], x: str, y: str) -> tuple[Vector, Vector]:
    """Return x and y of the records that have both."""

    def value(record: dict[str, Any]) -> float | None:
        if y == "estimated gap":
            number = record.get("gap", record.get("estimated_gap"))
        elif y != "relative gap":
            number = record.get(y)
        else:
            gap, objective = record.get("gap"), record.get("objective")
            number = gap / objective if gap is not None and objective else None
        return None if number is None else float(number)

    points = [(r[x], value(r)) for r in history if r.get(x) is not None]
    pairs = [(float(at), v) for at, v in points if v is not None]
    if not pairs:
        keys = sorted({k for record in history for k in record})
        raise ValueError(f"no record of {name} has {x} and {y}; keys are {', '.join(keys)}")
    at, values = np.array(pairs, dtype=np.float64).T
    return at, values


def _positive(values: Iterable[float]) -> bool:
    """Return whether a logarithmic scale can show the values: none below 0, some above."""
    a = np.fromiter(values, dtype=np.float64)
    return bool((a >= 0).all() and (a > 0).any())


# -- style --------------------------------------------------------------------------------------


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "structlearn.plotting needs matplotlib: pip install structlearn[plot]"
        ) from error
    return plt


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    _, ax = _pyplot().subplots(figsize=(6.4, 4.0), layout="constrained")
    return ax


def _style(ax: Any, points: int) -> dict[str, Any]:
    """Return the style of the next line: colour, dashes and marker differ, for print in grey."""
    k = sum(not str(line.get_label()).startswith("_") for line in ax.get_lines())
    return {
        "color": COLOURS[k % len(COLOURS)],
        "linestyle": DASHES[k % len(DASHES)],
        "marker": MARKERS[k % len(MARKERS)],
        "markersize": 4.5,
        "markevery": max(1, points // 12),
        "linewidth": 1.6,
    }


def _plain_ticks(ax: Any) -> None:
    """Put ticks at the sizes measured and at 1, 2, 5, 10, ... seconds, without powers of ten."""
    from matplotlib.ticker import FixedLocator, LogLocator, NullLocator

    points = [line.get_xdata() for line in ax.get_lines() if line.get_label() != "_fit"]
    measured = np.unique(np.concatenate([np.asarray(x, dtype=np.float64) for x in points]))
    if len(measured) <= 8:
        ax.xaxis.set_major_locator(FixedLocator(measured.tolist()))
    else:
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_locator(NullLocator())


def _finish(ax: Any, xlabel: str, ylabel: str, legend: bool = True) -> Any:
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.grid(visible=True, color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if legend:
        ax.legend(frameon=False)
    return ax
