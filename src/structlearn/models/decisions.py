"""What decided an output: each of its parts, against the best output without it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from .temperature import temperature_of

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    #: Where something is scored: tokens from, to; None: what is named says it.
    Where = tuple[int, int] | None
    #: From an output of the structure to what it is scored by, and where.
    Scored = Callable[[Any], Mapping[tuple[Any, str], float]]

__all__ = ["compared", "decisions", "ranked", "window_scores"]


def decisions(model: Any, inputs: Any) -> list[list[dict[str, Any]]]:
    """Return what :meth:`~structlearn.models.model.Model.explain` does, for all inputs."""
    outputs = inputs.solve(model.n_threads).outputs
    shares: Any = None
    if model._tells_shares:
        shares = model._certainties(inputs, outputs, temperature_of(model.temperature_))
    found: list[list[dict[str, Any]]] = []
    compare = model._comparison(inputs)
    for i, rivals in enumerate(model._rivals(inputs, outputs)):
        against = compare(i, outputs[i])
        found.append([])
        for part, margin, rival in rivals:
            told, contributions = against(part, rival)
            probability = {} if shares is None else {"probability": shares[i][part]}
            rest = {"margin": margin, "contributions": ranked(contributions)}
            found[-1].append({**told, **probability, **rest})
    return found


def ranked(contributions: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return those that are not 0, the largest (by its absolute value) first."""
    kept = [(name, value) for name, value in contributions if value]
    return sorted(kept, key=lambda one: (-abs(one[1]), one[0]))


def compared(
    scored: Scored, best: Any, words: Sequence[str], place: Callable[[Any], Where]
) -> Callable[[Any, Any], list[tuple[str, float]]]:
    """Return what gives the difference of the scores of the best output and another, by name.

    What the other output alone has is called the runner-up's; what is scored elsewhere than the
    part in question has the word there before it. Nothing if there is no other output, None.

    Parameters
    ----------
    scored : callable
        From an output to the scores of what it is made of, by (where, name).
    words : sequence of str
    place : callable
        From a part to where it is.
    """
    mine = scored(best)

    def difference(part: Any, rival: Any) -> list[tuple[str, float]]:
        found: list[tuple[str, float]] = []
        if rival is None:
            return found
        theirs, at = scored(rival), place(part)
        for where, name in mine.keys() | theirs.keys():
            value = mine.get((where, name), 0.0) - theirs.get((where, name), 0.0)
            if not value:
                continue
            shown = name if (where, name) in mine else f"runner-up: {name}"
            if at is not None and where is not None and not _overlap(at, where):
                shown = f"at {words[where[0]]!r}: {shown}"
            found.append((shown, value))
        return found

    return difference


def window_scores(
    y: Sequence[int], tables: Sequence[Any], n_labels: int
) -> Iterator[tuple[int, int, Sequence[int], float]]:
    """Yield (place, order, labels, score) of the windows of labels of a chain.

    Parameters
    ----------
    y : sequence of int
        The labels.
    tables : sequence of tables, or None
        Of order 1, 2, ...: scores by the number that the labels make in base K; in a dictionary
        those that are not 0.
    """
    for m, table in enumerate(tables, 1):
        for t in range(m, 0 if table is None else len(y)):
            window, index = y[t - m : t + 1], 0
            for k in window:
                index = index * n_labels + k
            score = table.get(index, 0.0) if isinstance(table, dict) else table[index]
            yield t, m, window, score


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]
