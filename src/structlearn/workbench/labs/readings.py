"""What models make of a sentence: the best outputs, their parts, probabilities and reasons."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...exceptions import CapabilityError
from ...structures import Chain
from ..requests import Refused

__all__ = ["Part", "Reading", "constituents_of", "dependencies_of", "ranked_trees", "tags_of"]

Part = tuple[Any, ...]
MOST_RANKS = 500
#: Outputs that are looked through for one without a forbidden span, of sentences this short.
MOST_TREES, MOST_SHORT = 5_000, 15
_CHAIN_ARRAYS = ("start", "end", "transition1")
NOT_CALIBRATED = "Probabilities are not calibrated: no held-out sentences have set their scale."
#: Of parsers that no held-out sentences have calibrated; at 1 their scores are far too flat.
USUAL_TEMPERATURE = 0.1


@dataclass
class Reading:
    """A sentence as a model reads it.

    Attributes
    ----------
    ranked : list of (float, output)
        Best first.
    parts, named, text, drawn : callables
        From an output to its parts, to names, to a line of text, to what the page draws.
    probabilities : list of (str, list of (str, float)), or None
        Rows of a table: of what, and the likeliest with their probabilities.
    ranks : bool
        Whether there are outputs after the best.
    marks : callable, optional
        From an output to what is compared with gold, where that is more than its parts.
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
        """Return what is compared with gold: the parts, or the parts with their relations."""
        return (self.marks or self.parts)(output)

    def text(self, output: Any) -> str:
        """Return an output on one line."""
        return " ".join(self.named(output))

    def named_parts(self, output: Any) -> list[tuple[Part, str]]:
        """Return the parts that can be forbidden, with what the page calls them."""
        return [(part, self.told(part)) for part in self.parts(output)]


def reasons(decisions: list[dict[str, Any]], words: list[str], what: str) -> list[dict[str, Any]]:
    """Return why each decision was made, as the page shows it."""

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


def tags_of(model: Any, words: list[str], forbidden: list[Part]) -> Reading:
    """Read a sentence by a tagger."""
    sentence = [[(w,) for w in words]]
    ranked = model.predict_kbest(sentence, MOST_RANKS if forbidden else 50)[0]
    best = ranked[0][0]
    if forbidden and model.model_.order == 1 and not model.model_.candidates:
        ranked = _allowed_tags(model, sentence, forbidden)
    try:
        p = [likeliest(row.items()) for row in model.predict_marginals(sentence)[0]]
    except ValueError:
        p = None
    share = [dict(row) for row in p] if p else None

    def drawn(tags: Any) -> dict[str, Any]:
        found = [None if share is None else share[i].get(t) for i, t in enumerate(tags)]
        return {"tags": list(tags), "tag_probabilities": found}

    return Reading(
        words, ranked, lambda y: list(enumerate(y)), list, drawn,
        lambda part: f"{words[part[0]]} is {part[1]}",
        probabilities=None if p is None else list(zip(words, p, strict=True)),
        why=reasons(model.explain(sentence)[0], words, "tag"),
        note="" if model.calibrated_ else NOT_CALIBRATED,
        best_score=best,
    )  # fmt: skip


def _allowed_tags(
    tagger: Any, sentence: Any, forbidden: list[Part]
) -> list[tuple[float, list[str]]]:
    """Return the best taggings without some tags: the model's scores as a chain, with masks."""
    model = tagger.model_
    reader, n = model.reader(tagger._read_input(sentence)), len(model.labels)
    table = {name: np.frombuffer(bytes(model.arrays[name])) for name in _CHAIN_ARRAYS}
    rows = reader.explain(0, False)
    scores: dict[str, Any] = {"label": np.array([_summed(row, n) for row in rows])}
    scores["transition"] = table["transition1"].reshape(n, n)
    if "pair.slots" in model.arrays:
        pairs = [_summed(row, n * n).reshape(n, n) for row in reader.explain(0, True)]
        scores["transition"] = scores["transition"] + np.array(pairs).reshape(-1, n, n)
    scores |= {name: table[name] for name in ("start", "end") if len(table[name])}
    for part in forbidden:
        if part[1] not in model.shown or not 0 <= part[0] < len(rows):
            raise Refused("a tag that is forbidden is a pair: position, tag")
        hidden = [k for k, name in enumerate(model.shown) if name == part[1]]
        scores["label"][part[0], hidden] = -np.inf
    ranked = Chain().kbest(50, **scores)
    return [(value, [model.shown[k] for k in y]) for value, y in ranked]


def _summed(row: list[tuple[str, list[float]]], size: int) -> Any:
    return np.sum([w for _, w in row], axis=0) if row else np.zeros(size)


# -- dependencies -------------------------------------------------------------------------------


def dependencies_of(model: Any, words: list[str], forbidden: list[Part]) -> Reading:
    """Read a sentence by a dependency parser.

    A parser of pairs of arcs over any trees has its best tree alone, and does not tell its score.
    """
    sentence = [" ".join(words)]
    why = reasons(model.explain(sentence)[0], words, "head")
    try:
        sums = next(iter(model._sums(sentence, None)))
    except CapabilityError:
        if forbidden:
            raise Refused(
                "this parser scores pairs of arcs: arcs can be forbidden where order=1, "
                "or projective=True"
            ) from None
        tree = model.predict(sentence)[0]
        reading = trees_reading(words, [(math.nan, tree)], None, list(getattr(tree, "tags", [])))
        reading.why, reading.ranks = why, False
        return reading
    reading = ranked_trees(sums, forbidden, bool(model.calibrated_))
    reading.why = why
    return reading


def ranked_trees(sums: Any, forbidden: list[Part], calibrated: bool) -> Reading:
    """Return the best trees of a sentence; exactly those allowed where arcs alone are scored."""
    trees, n = sums.trees, len(sums.words)
    arcs = [part for part in forbidden if not isinstance(part[1], str)]
    known = {(h, m) for h in range(n + 1) for m in range(1, n + 1)}
    if not known.issuperset(arcs):
        raise Refused("an arc that is forbidden is a pair: head, word")
    (best,) = list(trees.kbest(1))
    if arcs and hasattr(trees, "arc"):
        arc = trees.arc.copy()
        arc[tuple(np.array(arcs).T)] = -np.inf
        ranked = list(trees.structure.kbest(50, arc=arc))
    else:
        ranked = list(trees.kbest(MOST_RANKS if arcs else 50))
    if not calibrated:
        sums.temperature = USUAL_TEMPERATURE
    named = [(value, sums._tree(*tree)) for value, tree in ranked]
    reading = trees_reading(sums.words, named, sums.marginals(5e-4), list(sums.tags or []))
    reading.best_score = best[0]
    if not calibrated:
        reading.note = NOT_CALIBRATED + f" They are shown at the temperature {USUAL_TEMPERATURE}."
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
    found: list[tuple[int, int, str]] = []

    def walk(node: Any, begin: int) -> int:
        if isinstance(node, str):
            return begin + 1
        children = getattr(node, "children", None) or []
        place = len(found)
        if not children or all(isinstance(c, str) for c in children):
            found.append((begin, begin + 1, str(node.label)))
            return begin + 1
        found.append((begin, begin, str(node.label)))
        at = begin
        for child in children:
            at = walk(child, at)
        found[place] = (begin, at, str(node.label))
        return at

    walk(tree, 0)
    return found


def constituents_of(model: Any, words: list[str], forbidden: list[Part]) -> Reading:
    """Read a sentence by a constituency parser."""
    sentence = [" ".join(words)]
    most = MOST_TREES if len(words) <= MOST_SHORT else MOST_RANKS
    ranked = model.predict_kbest(sentence, most if forbidden else 50)[0]
    p = model.predict_marginals(sentence)[0]

    def told(part: Part) -> str:
        return f"{part[2]} over “{' '.join(words[part[0] : part[1]])}”"

    rows = sorted(((part, float(x)) for part, x in p.items() if x > 0.02), key=lambda r: -r[1])
    return Reading(
        words, ranked, lambda tree: [s for s in _spans(tree) if s[1] - s[0] > 1],
        lambda tree: [str(tree)], lambda tree: {"spans": [list(s) for s in _spans(tree)]}, told,
        probabilities=[(told(part), [("", x)]) for part, x in rows[:20] if part[1] - part[0] > 1],
        why=reasons(model.explain(sentence)[0], words, "tree"),
        note="" if model.calibrated_ else NOT_CALIBRATED,
        best_score=ranked[0][0],
    )  # fmt: skip
