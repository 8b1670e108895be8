"""The Text lab: the user's sentence through the user's model, with reasons and alternatives."""

from __future__ import annotations

import warnings
from typing import Any

from ...text.tokenisers import words_of
from ..formulas import number
from ..models import Models
from ..requests import Refused, Request
from .readings import Part, Reading, constituents_of, dependencies_of, tags_of

MOST_WORDS, MOST_STEPS = 60, 5
MOST_PLACE = 10_000


def answer(request: Request, models: Models) -> dict[str, Any]:
    """Return the content of the lab."""
    names = models.names()
    name = request.text("model", 100) or names[0]
    text = request.text("text", 2000)
    model = models.get(name)
    tokens = getattr(getattr(model, "model_", None), "tokens", None)
    words = words_of(text, tokens or r"\w+(?:[’'-]\w+)*|[^\w\s]")
    if not words:
        raise Refused("write a sentence")
    forbidden, gold = _parts(request, "forbidden", 20), _parts(request, "gold", 500)
    kind = type(model).__name__
    response: dict[str, Any] = {"model": name, "models": names, "kind": kind}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page says which probabilities are not calibrated
        if kind == "Pipeline":
            from .pipelines import sentence_of

            number_ = request.whole("sentence", 0, 0, MOST_PLACE)
            reading, response["sentences"] = sentence_of(
                model, text, number_, forbidden, MOST_WORDS
            )
            ask = f"doc = model({text!r}, confidence=True)\nprint(doc.to_conllu())"
        else:
            readers = {
                "Tagger": tags_of,
                "DependencyParser": dependencies_of,
                "ConstituencyParser": constituents_of,
            }
            if kind not in readers:
                raise Refused(f"{name} is a {kind}; shown are taggers, parsers and pipelines")
            if len(words) > MOST_WORDS:
                raise Refused(f"the text has {len(words)} words; the limit is {MOST_WORDS}")
            reading = readers[kind](model, words, forbidden)
            X = f"[{[(w,) for w in words]!r}]" if kind == "Tagger" else f"[{' '.join(words)!r}]"
            first = (
                "list(model.predict(X)[0])" if kind == "DependencyParser" else "model.predict(X)[0]"
            )
            ask = f"X = {X}\nprint({first})\nprint(model.explain(X)[0])"
            if reading.ranks:
                ask += f"\nprint(model.predict_kbest(X, {MOST_STEPS}))"
        response |= _shown(reading, forbidden, gold or None, request.flag("augmented"))
    return {**response, "python": f"{models.python(name)}{ask}\n"}


def _parts(request: Request, name: str, most: int) -> list[Part]:
    items = request.values.get(name) or []
    if not isinstance(items, list) or len(items) > most:
        raise Refused(f"{name}: at most {most} parts of an output")
    parts = []
    for part in items:
        if not isinstance(part, list) or not 2 <= len(part) <= 3:
            raise Refused(f"{name}: a part is a list: position, label; or start, end, label")
        *places, last = part
        if not all(map(_is_place, places)) or not (isinstance(last, str) or _is_place(last)):
            raise Refused(f"{name}: a part has whole numbers and names: places, and then a name")
        parts.append(tuple(part))
    return parts


def _is_place(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_PLACE


def _shown(
    reading: Reading, forbidden: list[Part], gold: list[Part] | None, augmented: bool
) -> dict[str, Any]:
    """Return the best outputs without forbidden parts, ordered by score, or score + cost."""
    candidates = [c for c in reading.ranked if not set(reading.parts(c[1])) & set(forbidden)]
    if not candidates:
        raise Refused(
            f"none of the {len(reading.ranked):,} best outputs is without the forbidden parts: "
            "allow some again"
        )
    augmented = augmented and gold is not None

    def cost(output: Any) -> float:
        return 0.0 if gold is None else float(len(set(reading.judged(output)) - set(gold)))

    def total(candidate: tuple[float, Any]) -> float:
        return candidate[0] + (cost(candidate[1]) if augmented else 0.0)

    def described(candidate: tuple[float, Any]) -> dict[str, Any]:
        value, output = candidate
        return {"named": reading.named(output), "score": value, "cost": cost(output)}

    if augmented:
        candidates.sort(key=total, reverse=True)
    steps = []
    for rank, candidate in enumerate(candidates[:MOST_STEPS], 1):
        value, output = candidate
        lines = [f"{rank}. score {number(value)}"]
        if augmented:
            lines[0] += f" + cost {number(cost(output))} = {number(total(candidate))}"
        if rank > 1:
            behind = total(candidates[0]) - total(candidate)
            lines[0] += f", {number(behind)} behind the first"
        lines.append(reading.text(output))
        say = f"Number {rank} of the best outputs, score {number(value)}."
        parts = [[list(part), text] for part, text in reading.named_parts(output)]
        marks = [list(part) for part in reading.judged(output)]
        drawing = {"parts": parts, "marks": marks, **reading.drawn(output)}
        steps.append({"kind": "rank", "rank": rank, "formula": lines, "say": say, "shown": drawing})
    right = [
        c for c in reading.ranked if gold is not None and set(reading.judged(c[1])) == set(gold)
    ]
    return {
        "words": reading.words,
        "algorithm": "the best outputs",
        "steps": steps,
        "best": described(candidates[0]),
        "runner_up": described(candidates[1]) if len(candidates) > 1 else None,
        "gold": described(right[0]) if right else None,
        "price": reading.best_score - candidates[0][0] if forbidden else 0.0,
        "probabilities": reading.probabilities,
        "note": reading.note.strip(),
        "why": reading.why,
    }
