"""Why a tagger labels a token as it does."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

from ...models.inputs import NativeInputs
from ...text.corpus import find_column

__all__ = ["Decision", "explain"]


class Decision(NamedTuple):
    """Why a token got its label and not the runner-up.

    Attributes
    ----------
    position : int
        Of the token in the sentence.
    token : tuple of str
        The cells that the model reads.
    label, runner_up : str
        The label given, and that of the best labelling of the sentence with another label here;
        both as they are written, whatever scheme the model has within.
    probability : float
        P(label | sentence).
    margin : float
        Score of the sentence minus that with the runner-up.
    contributions : list of (name, difference)
        What each feature and transition adds to the margin, the largest first.
    """

    position: int
    token: tuple[str, ...]
    label: str
    runner_up: str
    probability: float
    margin: float
    contributions: list[tuple[str, float]]


def explain(
    model: Any, inputs: NativeInputs, temperature: float, threads: int
) -> list[list[Decision]]:
    """Return for each token of each sentence what decided its label.

    The labelling is compared with the best one that has another label at this token, as labels are
    written: the margin is the difference of their scores, a sum over the features and label windows
    in which they differ. Labels that are written alike (of IOBES: B- and S-) count as one.
    """
    outputs = inputs.solve(threads).outputs
    probabilities = inputs.certainties(outputs, temperature, threads)
    rivals = inputs.rivals(threads)
    return [
        _explain_sentence(model, inputs.source, s, y.tolist(), p, others)
        for s, (y, p, others) in enumerate(zip(outputs, probabilities, rivals, strict=True))
    ]


def _explain_sentence(
    model: Any, corpus: Any, s: int, y: list[int], p: list[float], rivals: list[list[int]]
) -> list[Decision]:
    read = [find_column(c, model.format, model.n_columns) for c in model.templates.columns()]
    word = 1 if model.format == "conllu" else 0
    shown = [corpus.cells(s, c) for c in read[:3] or [word]]
    parts = _parts(model, corpus, s)
    mine = parts(y)
    decisions = []
    for t, z in enumerate(rivals):
        if not z:
            continue  # no other label is possible here
        theirs = parts(z)
        found = []
        for place in mine.keys() | theirs.keys():
            difference = mine.get(place, 0.0) - theirs.get(place, 0.0)
            if difference:
                at, name = place
                where = "" if at == t else f"at {shown[0][at]!r}: "
                found.append((where + name, difference))
        found.sort(key=lambda part: (-abs(part[1]), part[0]))
        decisions.append(
            Decision(
                t,
                tuple(column[t] for column in shown),
                model.shown[y[t]],
                model.shown[z[t]],
                p[t],
                sum(d for _, d in found),
                found,
            )
        )
    return decisions


def _parts(model: Any, corpus: Any, s: int) -> Callable[[list[int]], dict[tuple[int, str], float]]:
    """Return a function from a labelling to what it is scored by: (position, name) to score."""
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

    def parts(y: list[int]) -> dict[tuple[int, str], float]:
        found: dict[tuple[int, str], float] = {}

        def add(t: int, name: str, score: float) -> None:
            found[t, name] = found.get((t, name), 0.0) + score

        add(0, f"first label {named[y[0]]}", start[y[0]])
        add(len(y) - 1, f"last label {named[y[-1]]}", end[y[-1]])
        for t, k in enumerate(y):
            for name, w in features[t]:
                add(t, name, w[k])
            for m, table in enumerate(tables, 1):
                if t >= m:
                    window = y[t - m : t + 1]
                    index = 0
                    for label in window:
                        index = index * n + label
                    score = table.get(index, 0.0) if isinstance(table, dict) else table[index]
                    add(t, f"labels {' '.join(named[j] for j in window)}", score)
            if pairs and t:
                for name, w in pairs[t - 1]:
                    add(t, name, w[y[t - 1] * n + k])
        return found

    return parts
