"""What decided an output: each of its parts, against the best output without it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from .temperature import temperature_of

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    #: Where something is scored: tokens from, to; None: what is named says it.
    Where = tuple[int, int] | None
    #: From an output of the structure to what it is scored by: where, and by name.
    Scored = Callable[[Any], Mapping[Where, Mapping[str, float]]]


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
        From an output to the scores of what it is made of, by where and by name. Where two outputs
        have one and the same object they are not compared.
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
        for where in mine.keys() | theirs.keys():
            ours, others = mine.get(where, {}), theirs.get(where, {})
            if ours is others:
                continue
            elsewhere = at is not None and where is not None and not _overlap(at, where)
            before = f"at {words[where[0]]!r}: " if elsewhere and where is not None else ""
            for name in ours.keys() | others.keys():
                shown = name if name in ours else f"runner-up: {name}"
                found.append((before + shown, ours.get(name, 0.0) - others.get(name, 0.0)))
        return found

    return difference


def window_score(table: Any, labels: Sequence[int], n_labels: int) -> float:
    """Return the score of a window of labels of a chain.

    Parameters
    ----------
    table : sequence or dict
        Scores by the number that the labels make in base K; in a dictionary those that are not 0.
    """
    index = 0
    for k in labels:
        index = index * n_labels + k
    return float(table.get(index, 0.0) if isinstance(table, dict) else table[index])


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]
