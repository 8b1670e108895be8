"""Texts through a pipeline, sentence by sentence: tags that can be forbidden, ranked trees."""

from __future__ import annotations

import math
from typing import Any

from ...tasks.pipeline.corpora import tagged_corpus
from ..requests import Refused
from .readings import Part, Reading, calibration_note, dependencies_of, likeliest, reasons


def sentence_of(
    pipeline: Any, text: str, number: int, forbidden: list[Part], most_words: int
) -> tuple[Reading, list[str]]:
    """Return the reading of one sentence by a pipeline, and the texts of all sentences."""
    sentences = pipeline(text, confidence=True).sentences
    if not sentences:
        raise Refused("the pipeline finds no sentence in the text")
    words = list(sentences[min(number, len(sentences) - 1)])
    if len(words) > most_words:
        raise Refused(f"the sentence has {len(words)} words; the limit is {most_words}")
    forms = [w.text for w in words]
    why: list[dict[str, Any]] = []
    rows: list[tuple[str, list[tuple[str, float]]]] = []
    own = [(w.head_id, w.relation) for w in words]
    shares: list[float | None] = [None] * len(words)
    note = ""
    if "tags" in pipeline.stages:
        tagger = pipeline.stage("upos")
        (tags,) = tagger.predict_marginals(tagged_corpus([words]))
        changed = _retag(pipeline, words, tags, forbidden)
        rows = [(w.text, likeliest(p.items())) for w, p in zip(words, tags, strict=True)]
        shares = [p.get(w.upos) for w, p in zip(words, tags, strict=True)]
        note = calibration_note(tagger)
        (decisions,) = tagger.explain(tagged_corpus([words]))
        # A forced tag has no reasons.
        why += reasons(
            [d for d in decisions if d["label"] == words[d["position"]].upos], forms, "tag"
        )
        own = [] if changed else own
    if "parser" in pipeline.stages:
        reading = _trees(pipeline.stage("parser"), words, forbidden, own)
        for word, row in zip(reading.words, reading.probabilities or [], strict=False):
            rows.append((f"{word}: head", row[1]))
        why += reading.why
    else:
        reading = _tags_alone(forms, [w.upos for w in words], shares, note)
    tagged = [(i, w.upos) for i, w in enumerate(words)]
    of_trees, told = reading.parts, reading.told
    marks = reading.marks or of_trees
    reading.parts = lambda output: [*tagged, *of_trees(output)]
    reading.marks = lambda output: [*tagged, *marks(output)]
    reading.told = lambda part: (
        f"{forms[part[0]]} is {part[1]}" if isinstance(part[1], str) else told(part)
    )
    reading.probabilities, reading.why = rows or None, why
    return reading, [s.text for s in sentences]


def _retag(
    pipeline: Any, words: list[Any], probabilities: list[dict[str, float]], forbidden: list[Part]
) -> bool:
    """Give words their likeliest tag that is not forbidden; return whether one was changed."""
    changed = False
    for t, (word, p) in enumerate(zip(words, probabilities, strict=True)):
        banned = {part[1] for part in forbidden if part[0] == t and isinstance(part[1], str)}
        if word.upos in banned:
            changed = True
            left = sorted(p.keys() - banned, key=lambda tag: (-p[tag], tag))
            combinations = [c for tag in left for c in pipeline.model_.combinations if c[0] == tag]
            if not combinations:
                raise Refused(f"no tag is left for {word.text!r}: allow some again")
            word.upos, word.xpos, word.feats = combinations[0]
    return changed


def _trees(parser: Any, words: list[Any], forbidden: list[Part], own: list[Any]) -> Reading:
    """Return the best trees; only projective ones if there are no sums over all trees."""
    arcs = [part for part in forbidden if not isinstance(part[1], str)]
    forms, sentence = [w.text for w in words], tagged_corpus([words])
    reading = dependencies_of(parser, forms, arcs, sentence)
    if parser.order == 2 and not parser.projective:
        reading.note += " Trees are listed among those without crossing arcs."
    first = [(int(h), str(r)) for h, r in reading.ranked[0][1]]
    if own and own != first and not arcs and None not in [h for h, _ in own]:
        value = next((v for v, tree in reading.ranked if list(tree) == own), math.nan)
        reading.ranked = [(value, own), *(r for r in reading.ranked if list(r[1]) != own)]
        reading.note += " The pipeline's own tree, which comes first, has crossing arcs."
    return reading


def _tags_alone(
    forms: list[str], tags: list[str], shares: list[float | None], note: str
) -> Reading:
    return Reading(
        forms, [(math.nan, tags)], lambda _: [], list,
        lambda y: {"tags": list(y), "tag_probabilities": shares},
        lambda part: f"{forms[part[0]]} is {part[1]}", note=note, ranks=False,
    )  # fmt: skip
