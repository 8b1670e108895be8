"""Readings of a sentence by a model: ranked outputs with parts, probabilities and reasons."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...exceptions import InfeasibleError
from ..requests import Refused

Part = tuple[Any, ...]
#: The number of ranked outputs.
MOST_RANKS = 50


def calibration_note(model: Any) -> str:
    """Return the warning about uncalibrated probabilities, or an empty text."""
    why = model._doubt()
    return f"Probabilities are not calibrated: {why}." if why else ""


@dataclass
class Reading:
    """A model's reading of a sentence.

    Attributes
    ----------
    ranked : list of (float, output)
        Best first.
    parts, named, text, drawn : callables
        Functions of an output: its parts, their names, a line of text, data for the page's drawing.
    probabilities : list of (str, list of (str, float)), or None
        Rows of a table: the word, and its likeliest labels with their probabilities.
    ranks : bool
        Whether there are outputs after the best.
    marks : callable, optional
        From an output to its marks compared with gold, if these are more than its parts.
    """

    words: list[str]
    ranked: list[tuple[float, Any]]
    parts: Callable[[Any], list[Part]]
    named: Callable[[Any], list[str]]
    drawn: Callable[[Any], dict[str, Any]]
    told: Callable[[Part], str]
    probabilities: list[tuple[str, list[tuple[str, float]]]] | None = None
    why: list[dict[str, Any]] = field(default_factory=list)
    note: str = ""
    best_score: float = math.nan
    ranks: bool = True
    marks: Callable[[Any], list[Part]] | None = None

    def judged(self, output: Any) -> list[Part]:
        """Return the marks compared with gold: the parts, or the parts with their relations."""
        return (self.marks or self.parts)(output)

    def text(self, output: Any) -> str:
        """Return an output on one line."""
        return " ".join(self.named(output))

    def named_parts(self, output: Any) -> list[tuple[Part, str]]:
        """Return the parts that can be forbidden, with their names on the page."""
        return [(part, self.told(part)) for part in self.parts(output)]


def reasons(decisions: list[dict[str, Any]], words: list[str], what: str) -> list[dict[str, Any]]:
    """Return the reasons for each decision, for the page."""

    def text(label: Any) -> str:
        if isinstance(label, tuple):
            return f"{label[1]} of {words[label[0] - 1] if label[0] else 'the root'}"
        return str(label)

    rows = []
    for d in decisions:
        at, rival = d["position"], d["runner_up"]
        rows.append(
            {
                "about": f"{words[at]} ({what})" if at is not None else "the whole tree",
                "label": text(d["label"]),
                "runner_up": None if rival is None else text(rival),
                "margin": d["margin"],
                "contributions": [[str(n), float(v)] for n, v in d["contributions"][:8]],
            }
        )
    return rows


def likeliest(row: Any) -> list[tuple[str, float]]:
    """Return the names of the highest probabilities."""
    named = [(str(name), float(p)) for name, p in row if p > 5e-4]
    return sorted(named, key=lambda x: -x[1])[:5]


# -- tags ---------------------------------------------------------------------------------------


def ranked_outputs(
    model: Any, sentence: Any, forbidden: list[Part]
) -> tuple[list[tuple[float, Any]], float]:
    """Return the best outputs without the forbidden parts, and the unrestricted best score."""
    ranked = model.predict_kbest(sentence, MOST_RANKS)[0]
    best = ranked[0][0]
    if forbidden:
        try:
            ranked = model.predict_kbest(sentence, MOST_RANKS, forbidden=[forbidden])[0]
        except InfeasibleError:
            raise Refused("every output has a forbidden part: allow some again") from None
        except ValueError as error:
            raise Refused(str(error)) from None
    return ranked, best


def tags_of(model: Any, words: list[str], forbidden: list[Part]) -> Reading:
    """Read a sentence by a tagger."""
    sentence = [[(w,) for w in words]]
    if any(len(part) != 2 or not isinstance(part[1], str) for part in forbidden):
        raise Refused("a tag that is forbidden is a pair: position, tag")
    ranked, best = ranked_outputs(model, sentence, forbidden)
    rows = model.predict_marginals(sentence)[0]

    def drawn(tags: Any) -> dict[str, Any]:
        shares = [row[tag] for row, tag in zip(rows, tags, strict=True)]
        return {"tags": list(tags), "tag_probabilities": shares}

    return Reading(
        words, ranked, lambda y: list(enumerate(y)), list, drawn,
        lambda part: f"{words[part[0]]} is {part[1]}",
        probabilities=[(w, likeliest(r.items())) for w, r in zip(words, rows, strict=True)],
        why=reasons(model.explain(sentence)[0], words, "tag"),
        note=calibration_note(model),
        best_score=best,
    )  # fmt: skip


# -- dependencies -------------------------------------------------------------------------------


def dependencies_of(
    model: Any, words: list[str], forbidden: list[Part], sentence: Any = None
) -> Reading:
    """Read a sentence by a dependency parser; ``sentence`` is the parser's input."""
    if sentence is None:
        sentence = [" ".join(words)]
    places = range(len(words) + 1)
    if any(len(part) != 2 or not {*part} <= {*places} or not part[1] for part in forbidden):
        raise Refused("an arc that is forbidden is a pair: head, word")
    ranked, best = ranked_outputs(model, sentence, forbidden)
    tags = list(ranked[0][1].tags or [])
    reading = trees_reading(words, ranked, model.predict_marginals(sentence, least=5e-4)[0], tags)
    reading.best_score = best
    reading.note = calibration_note(model)
    reading.why = reasons(model.explain(sentence)[0], words, "head")
    return reading


def trees_reading(
    words: list[str], ranked: list[tuple[float, Any]], marginals: Any, tags: list[str]
) -> Reading:
    """Return trees as a reading."""
    at = ["root", *words]

    def arcs(tree: Any) -> list[tuple[int, int, str]]:
        return [(int(h), m, str(r)) for m, (h, r) in enumerate(tree, 1)]

    def drawn(tree: Any) -> dict[str, Any]:
        p = None
        if marginals is not None:
            p = [marginals[m - 1].get((h, r), 0.0) for h, m, r in arcs(tree)]
        return {"arcs": [list(a) for a in arcs(tree)], "arc_probabilities": p, "tags": tags}

    rows = None
    if marginals is not None:
        rows = [
            (w, likeliest((f"{r} of {at[h]}" if h else r, p) for (h, r), p in row.items()))
            for w, row in zip(words, marginals, strict=True)
        ]
    return Reading(
        words, ranked, lambda tree: [(h, m) for h, m, _ in arcs(tree)],
        lambda tree: [f"{at[h]}→{at[m]} ({r})" for h, m, r in arcs(tree)], drawn,
        lambda part: f"{at[part[0]]} → {at[part[1]]}",
        probabilities=rows, best_score=ranked[0][0], marks=arcs,
    )  # fmt: skip


# -- constituents -------------------------------------------------------------------------------


def _spans(tree: Any) -> list[tuple[int, int, str]]:
    spans: list[tuple[int, int, str]] = []

    def walk(node: Any, begin: int) -> int:
        if isinstance(node, str):
            return begin + 1
        children = getattr(node, "children", None) or []
        place = len(spans)
        if not children or all(isinstance(c, str) for c in children):
            spans.append((begin, begin + 1, str(node.label)))
            return begin + 1
        spans.append((begin, begin, str(node.label)))
        at = begin
        for child in children:
            at = walk(child, at)
        spans[place] = (begin, at, str(node.label))
        return at

    walk(tree, 0)
    return spans


def constituents_of(model: Any, words: list[str], forbidden: list[Part]) -> Reading:
    """Read a sentence by a constituency parser."""
    sentence = [" ".join(words)]
    ranked, best = ranked_outputs(model, sentence, forbidden)
    p = model.predict_marginals(sentence)[0]

    def told(part: Part) -> str:
        return f"{part[2]} over “{' '.join(words[part[0] : part[1]])}”"

    rows = sorted(((part, float(x)) for part, x in p.items() if x > 0.02), key=lambda r: -r[1])
    return Reading(
        words, ranked, lambda tree: [s for s in _spans(tree) if s[1] - s[0] > 1],
        lambda tree: [str(tree)], lambda tree: {"spans": [list(s) for s in _spans(tree)]}, told,
        probabilities=[(told(part), [("", x)]) for part, x in rows[:20] if part[1] - part[0] > 1],
        why=reasons(model.explain(sentence)[0], words, "tree"),
        note=calibration_note(model),
        best_score=best,
    )  # fmt: skip
