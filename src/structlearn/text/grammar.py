"""The grammar of template lines (:mod:`structlearn.text.templates` describes the language)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from math import prod
from typing import Any, NoReturn

from .templates import FUNCTIONS, MOST_LENGTH, MOST_OFFSET, PLACES, Attribute, Template

_MARKS = {"first": "first", "last": "last", "bias": "constant"}
_MOST_TEMPLATES = 65535
_PIECES = re.compile(
    r"""\s*(?:
        (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<number>-?\d+)
      | (?P<regex>/(?:\\.|[^/\\])*/)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<sign>\.\.|[\[\](),:])
    )""",
    re.VERBOSE,
)


_PLACE = re.compile(rf"^[^#\n]*\b(?:{'|'.join(PLACES)})\s*\(|^\s*length\b", re.MULTILINE)

#: A place in a segment, or nothing; an attribute; the offset from there.
Placed = tuple[str, Attribute, int]


def has_places(text: str) -> bool:
    """Whether lines of templates are about segments."""
    return _PLACE.search(text) is not None


def parse_line(line: str, of_segments: bool = False) -> list[Template]:
    """Return the templates of one line; ranges make several. ValueError says what is wrong."""
    try:
        return _LineParser(line).templates(of_segments)
    except RecursionError:
        raise ValueError("functions are nested too deeply") from None


class _LineParser:
    """Reads one line of templates."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while line[at:].strip() and not line[at:].lstrip().startswith("#"):
            found = _PIECES.match(line, at)
            if not found or not found.lastgroup:
                self.at = len(self.tokens)
                raise ValueError(f"cannot read {line[at:].strip()[:30]!r}")
            kind = found.lastgroup
            # A space before a name separates templates' parts; before a bracket it means nothing.
            self.tokens.append((kind, found.group(kind), found.start(kind)))
            at = found.end()
        self.at = 0

    def fail(self, expected: str) -> NoReturn:
        if self.at < len(self.tokens):
            raise ValueError(f"{expected} expected before {self.line[self.tokens[self.at][2] :]!r}")
        raise ValueError(f"{expected} expected at the end")

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, kind: str, what: str) -> str:
        if self.at >= len(self.tokens) or self.tokens[self.at][0] != kind:
            self.fail(what)
        self.at += 1
        return self.tokens[self.at - 1][1]

    def sign(self, sign: str) -> None:
        if self.peek() != sign:
            self.fail(f"'{sign}'")
        self.at += 1

    def numbers(self, what: str) -> list[int]:
        first = int(self.take("number", what))
        last = first
        if self.peek() == "..":
            self.at += 1
            last = int(self.take("number", what))
        if last < first:
            raise ValueError(f"the range {first}..{last} is empty")
        if last - first > 2 * MOST_OFFSET:
            raise ValueError(f"the range {first}..{last} is too long")
        return list(range(first, last + 1))

    def templates(self, of_segments: bool) -> list[Template]:
        transition = False
        if not of_segments and [token[1] for token in self.tokens[:2]] == ["transition", ":"]:
            transition, self.at = True, 2
        parts: list[list[Placed]] = []
        while self.at < len(self.tokens):
            parts.append(
                self.placed() if of_segments else [("", *attribute) for attribute in self.part()]
            )
        if not parts:
            self.fail("a place such as begin(...)" if of_segments else "a column or a function")
        if len(parts) > MOST_LENGTH:
            raise ValueError(f"more than {MOST_LENGTH} attributes in one template")
        if prod(map(len, parts)) > _MOST_TEMPLATES:
            raise ValueError(f"the line expands to more than {_MOST_TEMPLATES:,} templates")
        return [
            Template(
                tuple((attribute, offset) for _, attribute, offset in atoms),
                transition,
                places=tuple(place for place, _, _ in atoms) if of_segments else (),
            )
            for atoms in itertools.product(*parts)
        ]

    def placed(self) -> list[Placed]:
        name = self.take("name", "a place such as begin(...)")
        if name in ("length", "bias") and self.peek() != "(":
            return [("length" if name == "length" else "begin", Attribute("constant"), 0)]
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

    def part(self) -> list[tuple[Attribute, int]]:
        name = self.take("name", "a column or a function")
        if self.peek() != "(":
            offsets = self.offsets()
            attribute = Attribute(_MARKS[name]) if name in _MARKS else Attribute("string", name)
            return [(attribute, offset) for offset in offsets]
        self.sign("(")
        if name == "sentence":
            text = self.take("string", "a name between double quotes")
            self.sign(")")
            whole = Attribute("sentence", "", (("sentence", text[1:-1]),))
            return [(whole, offset) for offset in self.offsets()]
        inner = self.part()
        arguments = self.arguments(name)
        self.sign(")")
        if len(inner) * len(arguments) > _MOST_TEMPLATES:
            raise ValueError(f"the line expands to more than {_MOST_TEMPLATES:,} templates")
        made = []
        for attribute, offset in inner:
            for argument in arguments:
                made.append((_applied(attribute, name, argument), offset))
        return made

    def offsets(self) -> list[int]:
        if self.peek() != "[":
            return [0]
        self.sign("[")
        offsets = self.numbers("an offset")
        self.sign("]")
        if any(abs(offset) > MOST_OFFSET for offset in offsets):
            raise ValueError(f"an offset beyond {MOST_OFFSET}")
        return offsets

    def arguments(self, name: str) -> Sequence[Any]:
        takes = FUNCTIONS.get(name)
        if name in PLACES:
            raise ValueError(f"{name}() is a place in a segment: it must be the outermost function")
        if takes is None:
            known = sorted(f for f in FUNCTIONS if f != "emission")
            raise ValueError(f"there is no function {name!r}; functions are {', '.join(known)}")
        if takes == "":
            return [None]
        if takes == "length":
            self.sign(",")
            sizes = self.numbers("a length")
            if min(sizes) < 1 or max(sizes) > MOST_LENGTH:
                raise ValueError(f"{name} takes lengths from 1 to {MOST_LENGTH}")
            return sizes
        if takes in ("short", "types"):
            if self.peek() != ",":
                return [0]
            self.sign(",")
            if self.take("name", f"'{takes}'") != takes:
                self.at -= 1
                self.fail(f"'{takes}'")
            return [1]
        self.sign(",")
        if name != "match":
            text = self.take("string", "a name between double quotes")
            return [re.sub(r"\\(.)", r"\1", text[1:-1])]
        pattern = self.take("regex", "a regular expression between slashes")[1:-1]
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"the regular expression /{pattern}/: {error}") from None
        return [pattern]


def _applied(attribute: Attribute, name: str, argument: Any) -> Attribute:
    if attribute.kind != "string":
        raise ValueError(f"{name}() cannot be applied to {attribute.text(0)!r}")
    if len(attribute.functions) == MOST_LENGTH:
        raise ValueError(f"more than {MOST_LENGTH} nested functions")
    if name == "seen":
        if any(f in ("ngrams", "call", "match") for f, _ in attribute.functions):
            raise ValueError("seen() takes one string: a column, lower(), suffix(), ...")
        return attribute._replace(
            kind="lexicon", functions=(*attribute.functions, (name, argument))
        )
    if name in ("in", "vector", "emission"):
        if attribute.functions and attribute.functions != (("lower", None),):
            raise ValueError(f"{name}() takes a column, or lower() of one")
        kind = "gazetteer" if name == "in" else "vector"
        return attribute._replace(kind=kind, functions=(*attribute.functions, (name, argument)))
    return attribute._replace(functions=(*attribute.functions, (name, argument)))
