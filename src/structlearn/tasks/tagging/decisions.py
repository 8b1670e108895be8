"""Labellings of tokens, compared: what each is scored by, by name."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import cache
from typing import Any

from ...models.decisions import compared, window_score
from ...text.corpus import find_column


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


def _scored(model: Any, corpus: Any, s: int) -> Callable[[Any], dict[Any, dict[str, float]]]:
    """Return a function from a labelling to what it is scored by: place and name to score."""
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

    @cache
    def at(t: int, labels: tuple[int, ...]) -> dict[str, float]:
        """Return the scores of a token, given its label and those before as far as they count."""
        found: dict[str, float] = {}

        def add(name: str, score: float) -> None:
            found[name] = found.get(name, 0.0) + score

        k = labels[-1]
        if t == 0:
            add(f"first label {named[k]}", start[k])
        if t == len(features) - 1:
            add(f"last label {named[k]}", end[k])
        for name, w in features[t]:
            add(name, w[k])
        for name, w in pairs[t - 1] if pairs and t else ():
            add(name, w[labels[-2] * n + k])
        for m, table in enumerate(tables[: len(labels) - 1], 2):
            window = labels[-m:]
            add(f"labels {' '.join(named[j] for j in window)}", window_score(table, window, n))
        return found

    def scored(y: Any) -> dict[Any, dict[str, float]]:
        back = model.order
        return {(t, t + 1): at(t, tuple(y[max(0, t - back) : t + 1])) for t in range(len(y))}

    return scored
