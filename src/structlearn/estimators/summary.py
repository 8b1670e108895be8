"""The HTML summary of a fitted estimator, which notebooks show under its diagram."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..models.facts import STYLE, facts_table
from ..models.temperature import certainty_fact
from ..printing import escape

_TOP = 6  # features shown per class
_CLASSES = 12  # classes shown at once: the most frequent; the others can be unfolded


def summary_html(estimator: Any) -> str:
    """Return tables of the training, the transitions and the heaviest features."""
    parts = [_facts(estimator)]
    coef = estimator.coef_
    blocks = coef if isinstance(coef, dict) else {"label": coef}
    names = [str(c) for c in estimator.classes_]
    transition = blocks.get("transition")
    order = _by_frequency(estimator)
    if transition is not None and transition.shape == (len(names), len(names)):
        parts.append(_folded(lambda shown: _pairs(transition, names, shown), order))
    features, label = estimator.feature_names_.get("label"), blocks.get("label")
    if features and label is not None and label.shape == (len(names), len(features)):
        rows = list(estimator._heaviest(_TOP).values())
        parts.append(_folded(lambda shown: _features(rows, names, shown), order))
    return f'<div class="sl-summary"><style>{STYLE}</style>{"".join(parts)}</div>'


def _by_frequency(estimator: Any) -> list[int]:
    """Return the indices of the classes, the most frequent in training first."""
    counts = getattr(estimator, "class_count_", np.zeros(len(estimator.classes_)))
    order: list[int] = np.argsort(-counts, kind="stable").tolist()
    return order


def _folded(table: Callable[[list[int]], str], order: list[int]) -> str:
    """Return a table of the most frequent classes, and a folded one of all."""
    frequent = table(sorted(order[:_CLASSES]))
    if len(order) <= _CLASSES:
        return frequent
    everything = table(sorted(order))
    return f"{frequent}<details><summary>all {len(order)} labels</summary>{everything}</details>"


def _rest(shown: list[int], names: list[str]) -> str:
    if len(shown) == len(names):
        return ""
    return f" (the {len(shown)} most frequent of {len(names)} labels)"


def _facts(estimator: Any) -> str:
    rows = [("structure", repr(estimator.structure_)), ("labels", str(len(estimator.classes_)))]
    solver = getattr(estimator, "solver_", None)
    if solver is not None:
        rows.append(("solver", f"{solver}, {estimator.n_iter_} iterations"))
    objective = getattr(estimator, "objective_", None)
    if objective is not None:
        gap = getattr(estimator, "duality_gap_", None)
        proven = "" if gap is None else f", proven within {gap:.3g} of the optimum"
        rows.append(("objective", f"{objective:.6g}{proven}"))
    if estimator.calibration_ is not None:
        rows.append(("probabilities", certainty_fact(None, estimator.calibration_)))
    elif not estimator.calibrated_:
        rows.append(("probabilities", "not calibrated: calibrate(X, y) on held-out examples"))
    return facts_table(rows)


def _pairs(table: Any, names: list[str], shown: list[int]) -> str:
    largest = float(np.abs(table[np.isfinite(table)]).max(initial=0.0)) or 1.0
    head = "".join(f"<th>{escape(n)}</th>" for n in (names[j] for j in shown))
    rows = "".join(
        f"<tr><th>{escape(names[i])}</th>"
        + "".join(_cell(float(table[i, j]), largest) for j in shown)
        + "</tr>"
        for i in shown
    )
    return (
        f"<table><caption>transitions, from row to column{_rest(shown, names)}</caption>"
        f"<tr><th></th>{head}</tr>{rows}</table>"
    )


def _features(heaviest: list[list[tuple[str, float]]], names: list[str], shown: list[int]) -> str:
    largest = max((abs(w) for row in heaviest for _, w in row), default=1.0)
    rows = []
    for k in shown:
        cells = "".join(
            f'<td style="{_shade(w, largest)}">{escape(name)} {w:+.2f}</td>'
            for name, w in heaviest[k]
        )
        rows.append(f"<tr><th>{escape(names[k])}</th>{cells}</tr>")
    caption = f"heaviest features{_rest(shown, names)}"
    return f"<table><caption>{caption}</caption>{''.join(rows)}</table>"


def _cell(value: float, largest: float) -> str:
    if not np.isfinite(value):
        return '<td class="n">−∞</td>'
    return f'<td class="n" style="{_shade(value, largest)}">{value:+.2f}</td>'


def _shade(value: float, largest: float) -> str:
    colour = "plus" if value >= 0 else "minus"
    return f"background:rgba(var(--{colour}),{0.45 * min(1.0, abs(value) / largest):.2f})"
