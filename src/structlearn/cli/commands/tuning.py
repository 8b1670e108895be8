"""Choosing the parameters of a tagger: ``structlearn train ... --tune C,order``."""

from __future__ import annotations

from itertools import product

from ...printing import note

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

#: What is tried of a parameter that is named without values.
_VALUES: dict[str, tuple[Any, ...]] = {
    "C": (0.1, 0.3, 1.0, 3.0),
    "l1": (0.0, 0.1, 1.0),
    "order": (1, 2),
    "max_iter": (5, 10, 20),
    "learner": ("perceptron", "crf"),
}
_FOLDS = 3
_MOST = 60
_BAR = 24


def choose(o: Any, kind: Any, options: dict[str, Any], corpus: Any, dev: Any) -> dict[str, Any]:
    """Return the values that score best on the dev set, or in cross-validation without one.

    Sentences are dealt to three folds in turn. A table of all candidates goes to standard error.

    Parameters
    ----------
    o : argparse.Namespace
        ``o.tune``: names, or names with values, ``C=0.1/1/10,order``.
    kind : class
        Of the task.
    options : dict
        Its other parameters.
    corpus, dev : Corpus
    """
    grid = _grid(o.tune, kind)
    rows = []
    for values in product(*grid.values()):
        chosen = dict(zip(grid, values, strict=True))
        given = {**options, **chosen, "verbose": 0}
        rows.append((_score(kind, given, corpus, dev, o.format), chosen))
        shown = ", ".join(f"{name}={value}" for name, value in chosen.items())
        if not o.quiet:
            note(f"tuning {len(rows)}: {shown}: {100 * rows[-1][0]:.2f}")
    best = max(score for score, _ in rows)
    for line in _table(rows, best, "the dev set" if dev is not None else f"{_FOLDS} folds"):
        note(line)
    return next(chosen for score, chosen in rows if score == best)


def _score(kind: Any, options: dict[str, Any], corpus: Any, dev: Any, format: str | None) -> float:
    """Return the F1 of chunks, or the accuracy of labels that are none."""
    if dev is not None:
        return _judged(kind(**options).fit(corpus), dev)
    scores = []
    for fold in range(_FOLDS):
        test = range(fold, len(corpus), _FOLDS)
        train = [s for s in range(len(corpus)) if s % _FOLDS != fold]
        scores.append(_judged(kind(**options).fit(corpus.subset(train)), corpus.subset(test)))
    return sum(scores) / _FOLDS


def _judged(model: Any, gold: Any) -> float:
    found = model.evaluate(gold)
    return float(found.get("f1", found["accuracy"]))


def _grid(text: str, kind: Any) -> dict[str, tuple[Any, ...]]:
    """Return the values to try of each parameter that is named."""
    grid: dict[str, tuple[Any, ...]] = {}
    for part in text.split(","):
        name, _, given = part.strip().partition("=")
        name = name.replace("-", "_")
        if name not in kind._declared or (not given and name not in _VALUES):
            raise ValueError(
                f"--tune {part.strip()!r}: name one of {', '.join(_VALUES)}, or another parameter "
                "with its values, as in eta0=0.1/1"
            )
        grid[name] = tuple(map(_value, given.split("/"))) if given else _VALUES[name]
    n = 1
    for values in grid.values():
        n *= len(values)
    if n > _MOST:
        raise ValueError(f"--tune would train {n} candidates; at most {_MOST}: give fewer values")
    return grid


def _value(text: str) -> Any:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _table(rows: list[tuple[float, dict[str, Any]]], best: float, where: str) -> list[str]:
    """Return lines of all candidates, each with a bar from the worst score to the best."""
    worst = min(score for score, _ in rows)
    names = list(rows[0][1])
    cells = [[*(str(chosen[name]) for name in names), f"{100 * s:.2f}"] for s, chosen in rows]
    heads = [*names, "score"]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    lines = [f"scores on {where} (F1 of chunks, or accuracy, %):"]
    lines.append("  ".join(h.rjust(w) for h, w in zip(heads, widths, strict=True)))
    for (score, _), row in zip(rows, cells, strict=True):
        share = 1.0 if best == worst else (score - worst) / (best - worst)
        bar = "█" * max(1, round(_BAR * share))
        mark = "  best" if score == best else ""
        text = "  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True))
        lines.append(f"{text}  {bar}{mark}")
    return lines
