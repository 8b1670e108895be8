"""The grammar of templates of segments (:mod:`structlearn.text.segment_templates`)."""

from __future__ import annotations

import itertools
from math import prod

from .grammar import MOST_TEMPLATES, LineParser
from .segment_templates import PLACES, SegmentTemplate
from .templates import MOST_LENGTH, MOST_OFFSET, Attribute

__all__ = ["parse_segment_line"]

#: What stands in a segment: its place, the attribute, the offset from there.
Placed = tuple[str, Attribute, int]


def parse_segment_line(line: str) -> list[SegmentTemplate]:
    """Return the templates of one line; ranges make several. ValueError says what is wrong."""
    try:
        return _SegmentParser(line).segment_templates()
    except RecursionError:
        raise ValueError("functions are nested too deeply") from None


class _SegmentParser(LineParser):
    """Reads one line of templates of segments."""

    def segment_templates(self) -> list[SegmentTemplate]:
        parts: list[list[Placed]] = []
        while self.at < len(self.tokens):
            parts.append(self.placed())
        if not parts:
            self.fail("a place such as begin(...)")
        if len(parts) > MOST_LENGTH:
            raise ValueError(f"more than {MOST_LENGTH} attributes in one template")
        if prod(map(len, parts)) > MOST_TEMPLATES:
            raise ValueError(f"the line expands to more than {MOST_TEMPLATES:,} templates")
        return [
            SegmentTemplate(
                tuple((attribute, offset) for _, attribute, offset in atoms),
                tuple(place for place, _, _ in atoms),
            )
            for atoms in itertools.product(*parts)
        ]

    def placed(self) -> list[Placed]:
        name = self.take("name", "a place such as begin(...)")
        if name == "length" and self.peek() != "(":
            return [("length", Attribute("constant"), 0)]
        if name == "bias" and self.peek() != "(":
            return [("begin", Attribute("constant"), 0)]
        if name not in PLACES or self.peek() != "(":
            raise ValueError(
                f"{name!r} needs a place in the segment: {'(), '.join(PLACES)}(), or length; "
                "without places, templates are for a Tagger"
            )
        place, shift = PLACES[name]
        self.sign("(")
        inner = self.part()
        self.sign(")")
        for attribute, offset in inner:
            if attribute.kind == "vector":
                raise ValueError("vector() gives numbers, which segments do not take")
            if abs(offset + shift) > MOST_OFFSET:
                raise ValueError(f"an offset beyond {MOST_OFFSET}")
            if place == "whole" and offset:
                raise ValueError("whole() is about the tokens inside: no offsets")
        return [(place, attribute, offset + shift) for attribute, offset in inner]
