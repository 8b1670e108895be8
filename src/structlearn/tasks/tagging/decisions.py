"""Labellings of tokens, compared: what each is scored by, by name."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

from ...models.decisions import compared, window_scores
from ...text.corpus import find_column

__all__ = ["comparison"]


def comparison(model: Any, corpus: Any) -> Callable[[int, Any], Any]:
    """Return what compares labellings of a corpus, token by token.

    The token is the cells that the model reads. Labels that are written alike (of IOBES: B- and S-)
    are one.
    """
    read = [find_column(c, model.format, model.n_columns) for c in model.templates.columns()]
    word = 1 if model.format == "conllu" else 0
    shown = model.shown

    def compare(s: int, best: Any) -> Any:
        cells = [corpus.cells(s, c) for c in read[:3] or [word]]
        difference = compared(_scored(model, corpus, s), best, cells[0], lambda t: (t, t + 1))

        def against(t: int, rival: Any) -> Any:
            told = {
                "position": t,
                "token": tuple(column[t] for column in cells),
                "label": shown[best[t]],
                "runner_up": None if rival is None else shown[rival[t]],
            }
            return told, difference(t, rival)

        return against

    return compare


def _scored(model: Any, corpus: Any, s: int) -> Callable[[Any], dict[tuple[Any, str], float]]:
    """Return a function from a labelling to what it is scored by: (place, name) to score."""
    n = len(model.labels)
    named = model.shown
    features = model.core.features_of(corpus.core, s, False)
    if model.emissions is not None:  # the j-th number of the one feature is label j's
        features = [
            [(f"word given {k}", row[1]) for k, row in zip(named, rows, strict=True)]
            for rows in features
        ]
    pairs = model.core.features_of(corpus.core, s, True) if "pair.slots" in model.arrays else []
    tables = [model.window_scores(m) for m in range(1, model.order + 1)]
    start = array("d", bytes(model.arrays["start"])) or array("d", bytes(8 * n))
    end = array("d", bytes(model.arrays["end"])) or array("d", bytes(8 * n))

    def scored(y: Any) -> dict[tuple[Any, str], float]:
        found: dict[tuple[Any, str], float] = {}

        def add(t: int, name: str, score: float) -> None:
            place = (t, t + 1), name
            found[place] = found.get(place, 0.0) + score

        add(0, f"first label {named[y[0]]}", start[y[0]])
        add(len(y) - 1, f"last label {named[y[-1]]}", end[y[-1]])
        for t, k in enumerate(y):
            for name, w in features[t]:
                add(t, name, w[k])
            if pairs and t:
                for name, w in pairs[t - 1]:
                    add(t, name, w[y[t - 1] * n + k])
        for t, _, window, score in window_scores(y, tables, n):
            add(t, f"labels {' '.join(named[j] for j in window)}", score)
        return found

    return scored
