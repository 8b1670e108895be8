"""Your text: one's own sentence through one's own model, what decided, and what comes next."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ...exceptions import CapabilityError
from ..formulas import number
from ..models import Models
from ..requests import Refused, Request

__all__ = ["answer"]

MOST_WORDS, MOST_RANKS = 60, 500


def answer(request: Request, models: Models) -> dict[str, Any]:
    """Return what the lab shows."""
    names = models.names()
    name = request.text("model", 100) or names[0]
    words = re.findall(r"\w+(?:[’'-]\w+)*|[^\w\s]", request.text("text", 2000))
    if not words:
        raise Refused("write a sentence")
    if len(words) > MOST_WORDS:
        raise Refused(f"the text has {len(words)} words; the limit is {MOST_WORDS}")
    model = models.get(name)
    kind = type(model).__name__
    if kind == "Pipeline":
        found = _pipeline(model, request.text("text", 2000))
        return {"model": name, "models": names, "kind": kind, **found}
    readers = {
        "Tagger": _tagger,
        "DependencyParser": _parser,
        "ConstituencyParser": _constituency,
    }
    if kind not in readers:
        raise Refused(f"{name} is a {kind}; shown are taggers, parsers and pipelines")
    forbidden = _forbidden(request)
    found = readers[kind](model, words, forbidden)
    return {"model": name, "models": names, "kind": kind, "words": words, **found}


def _forbidden(request: Request) -> list[tuple[Any, ...]]:
    given = request.values.get("forbidden", [])
    if not isinstance(given, list) or len(given) > 20:
        raise Refused("at most 20 parts can be forbidden")
    found = []
    for part in given:
        if not isinstance(part, list) or not 2 <= len(part) <= 3:
            raise Refused("a forbidden part is a list: position, label; or start, end, label")
        if not all(isinstance(x, (int, str)) and not isinstance(x, bool) for x in part):
            raise Refused("a forbidden part has whole numbers and names")
        found.append(tuple(part))
    return found


def _first_allowed(ranked: list[Any], parts: Any, forbidden: list[tuple[Any, ...]]) -> int | None:
    """Return the rank of the first output without a forbidden part."""
    for rank, (_, output) in enumerate(ranked):
        if not set(parts(output)) & set(forbidden):
            return rank
    return None


def _steps(
    ranked: list[Any], rank: int | None, text: Any, forbidden: list[tuple[Any, ...]]
) -> list[dict[str, Any]]:
    steps = []
    last = len(ranked) if rank is None else rank + 1
    for r, (value, output) in enumerate(ranked[:last], 1):
        lines = [f"{r}. score {number(value)}", text(output)]
        out = rank is None or r - 1 < rank
        if forbidden:
            lines.append("has a forbidden part" if out else "is allowed: the answer")
        say = f"Number {r}, score {number(value)}."
        steps.append({"kind": "rank", "rank": r, "formula": lines, "say": say})
    return steps


def _why(decisions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for d in decisions:
        label, rival = d["label"], d["runner_up"]
        rows.append(
            {
                "position": d["position"],
                "label": _text(label),
                "runner_up": None if rival is None else _text(rival),
                "margin": d["margin"],
                "contributions": [[str(n), float(v)] for n, v in d["contributions"][:8]],
            }
        )
    return rows


def _text(label: Any) -> str:
    return f"{label[1]} of {label[0]}" if isinstance(label, tuple) else str(label)


def _no_answer() -> Refused:
    return Refused(
        f"none of the {MOST_RANKS} best outputs is without the forbidden parts: allow some again"
    )


# -- tags ---------------------------------------------------------------------------------------


def _tagger(model: Any, words: list[str], forbidden: list[tuple[Any, ...]]) -> dict[str, Any]:
    sentence = [[(w,) for w in words]]
    ranked = model.predict_kbest(sentence, MOST_RANKS if forbidden else 5)[0]
    rank = _first_allowed(ranked, lambda y: enumerate(y), forbidden)
    if rank is None:
        raise _no_answer()
    value, tags = ranked[rank]
    try:
        p = model.predict_marginals(sentence)[0]
    except ValueError:
        p = [{} for _ in words]
    return {
        "tags": list(tags),
        "best": {"named": list(tags), "score": value},
        "runner_up": _next(ranked, rank, list),
        "price": ranked[0][0] - value,
        "probabilities": [
            sorted(((k, v) for k, v in row.items() if v > 5e-4), key=lambda x: -x[1])[:5]
            for row in p
        ],
        "calibrated": bool(getattr(model, "calibrated", False)),
        "why": _why(model.explain(sentence)[0]),
        "steps": _steps(ranked, rank, lambda y: " ".join(y), forbidden),
        "algorithm": "the best taggings",
        "python": _python(words, "print(model.predict(X), model.explain(X))", tags=True),
    }


def _next(ranked: list[Any], rank: int, named: Any) -> dict[str, Any] | None:
    if len(ranked) <= rank + 1:
        return None
    value, output = ranked[rank + 1]
    return {"named": named(output), "score": value}


# -- dependencies -------------------------------------------------------------------------------


def _arcs(tree: Any) -> list[tuple[int, int, str]]:
    return [(int(h), m, str(r)) for m, (h, r) in enumerate(tree, 1)]


def _parser(model: Any, words: list[str], forbidden: list[tuple[Any, ...]]) -> dict[str, Any]:
    sentence = [" ".join(words)]

    def named(tree: Any) -> list[str]:
        at = ["root", *words]
        return [f"{at[h]}→{at[m]} ({r})" for h, m, r in _arcs(tree)]

    ranked, price = _ranked_trees(model, sentence, forbidden)
    value, tree = ranked[0]
    p = getattr(tree, "probabilities", None)
    return {
        "arcs": [list(arc) for arc in _arcs(tree)],
        "tags": list(getattr(tree, "tags", None) or []),
        "arc_probabilities": None if p is None else [float(x) for x in p],
        "best": {"named": named(tree), "score": value},
        "runner_up": _next(ranked, 0, named),
        "price": price,
        "why": _why(model.explain(sentence)[0]),
        "steps": _steps(ranked, 0, lambda t: ", ".join(named(t)), []),
        "algorithm": "the best trees",
        "python": _python(words, "print(model.predict(X)[0], model.explain(X))"),
    }


def _ranked_trees(
    model: Any, sentence: list[str], forbidden: list[tuple[Any, ...]]
) -> tuple[list[Any], float]:
    """Return the best trees without the forbidden arcs, and what forbidding them costs.

    A parser of pairs of arcs over any trees has its best tree alone, and does not tell its score.
    """
    try:
        sums = next(iter(model._sums(sentence, None)))
    except CapabilityError:
        if forbidden:
            raise Refused(
                "this parser scores pairs of arcs: arcs can be forbidden where order=1, "
                "or projective=True"
            ) from None
        return [(math.nan, model.predict(sentence)[0])], 0.0
    trees = sums.trees
    ranked = list(trees.kbest(5))
    best = ranked[0][0]
    if forbidden:
        ranked = _allowed_trees(trees, len(sums.words), forbidden)
    found = []
    for value, (heads, labels) in ranked:
        tree = sums._tree(heads, labels)
        sums.describe(tree, value)
        found.append((value, tree))
    return found, best - found[0][0]


def _allowed_trees(trees: Any, n: int, forbidden: list[tuple[Any, ...]]) -> list[Any]:
    """Return the best trees without some arcs; exactly where trees are scored by arcs alone."""
    known = {(h, m) for h in range(n + 1) for m in range(1, n + 1)}
    if not known.issuperset(forbidden):
        raise Refused("an arc that is forbidden is a pair: head, word")
    if hasattr(trees, "arc"):
        arc = trees.arc.copy()
        arc[tuple(np.array(forbidden).T)] = -np.inf
        return list(trees.structure.kbest(5, arc=arc))
    found = [
        (value, (heads, labels))
        for value, (heads, labels) in trees.kbest(MOST_RANKS)
        if not {(int(h), m) for m, h in enumerate(heads, 1)} & set(forbidden)
    ]
    if not found:
        raise _no_answer()
    return found[:5]


# -- raw text -----------------------------------------------------------------------------------


def _pipeline(model: Any, text: str) -> dict[str, Any]:
    """Return what a pipeline from raw text finds: a step for each sentence."""
    sentences, steps = [], []
    for number_, sentence in enumerate(model(text, confidence=True).sentences, 1):
        words = sentence.words
        arcs = [[w.head, w.id, w.relation] for w in words if w.head is not None]
        sure = [w.confidence.get("head") for w in words]
        sentences.append(
            {
                "words": [w.form for w in words],
                "tags": [w.upos for w in words],
                "arcs": arcs if len(arcs) == len(words) else None,
                "arc_probabilities": sure if arcs and None not in sure else None,
                "probabilities": [[[w.upos, w.confidence.get("upos", math.nan)]] for w in words],
            }
        )
        lines = [" ".join(f"{w.form}/{w.upos}" for w in words)]
        lines.append("lemmas: " + " ".join(w.lemma for w in words))
        say = f"Sentence {number_}: {len(words)} words."
        steps.append({"kind": "sentence", "formula": lines, "say": say})
    if not steps:
        raise Refused("the pipeline finds no sentence in the text")
    return {
        **sentences[0],
        "sentences": sentences,
        "best": {"named": sentences[0]["tags"], "score": math.nan},
        "runner_up": None,
        "price": 0.0,
        "why": [],
        "steps": steps,
        "algorithm": "from raw text",
        "python": "import structlearn\n\nnlp = structlearn.load('MODEL')  # your file\n"
        f"doc = nlp({text!r}, confidence=True)\n"
        "print([(w.form, w.upos, w.head, w.relation) for s in doc.sentences for w in s.words])\n",
    }


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


def _constituency(model: Any, words: list[str], forbidden: list[tuple[Any, ...]]) -> dict[str, Any]:
    sentence = [" ".join(words)]
    ranked = model.predict_kbest(sentence, MOST_RANKS if forbidden else 5)[0]
    rank = _first_allowed(ranked, _spans, forbidden)
    if rank is None:
        raise _no_answer()
    value, tree = ranked[rank]
    return {
        "spans": [list(s) for s in _spans(tree)],
        "best": {"named": [str(tree)], "score": value},
        "runner_up": _next(ranked, rank, lambda t: [str(t)]),
        "price": ranked[0][0] - value,
        "why": [],
        "steps": _steps(ranked, rank, str, forbidden),
        "algorithm": "the best trees",
        "python": _python(words, "print(model.predict(X)[0])"),
    }


def _python(words: list[str], ask: str, *, tags: bool = False) -> str:
    X = f"[{[(w,) for w in words]!r}]" if tags else f"[{' '.join(words)!r}]"
    return f"import structlearn\n\nmodel = structlearn.load('MODEL')  # your file\nX = {X}\n{ask}\n"
