"""Feature templates: a small language for what a tagger looks at.

One template a line; ``#`` begins a comment. A template joins attributes of tokens at offsets; every
combination of values that it has in training is a feature::

    word[-1]                       the cell of a column, one token to the left
    word[-1] word[0]               both together
    word[-2..2]                    five templates, one an offset
    lower(word)                    [0] may be left out
    prefix(word, 1..4)             the first 1, 2, 3, 4 characters; suffix likewise
    suffix(lower(word[1]), 3)      functions go inside each other
    shape(word)  shape(word, short)    "McDonald's" -> XxXxxxxx'x, XxXx'x
    digits(word)                   every digit becomes 0
    ngrams(word, 2..4)             all n-grams of characters, ^ and $ at the ends
    match(word, /^[A-Z]{2,}$/)     whether a regular expression is found in it
    in(word, "places.txt")         whether the token is part of a phrase in a file
    vector(word, "vectors.txt")    numbers instead of names, from a file of word vectors
    call(word, "name")             a function of your own, given in Python
    first  last  bias              marks of the first and last token; a constant
    transition: pos[0]             a feature of label pairs, not of labels

Columns go by their names: ``word``, ``pos``, ``chunk``, ``c4``, … in a column file, ``form``,
``lemma``, ``upos``, … in CoNLL-U. Beyond the ends of a sentence a template has no feature. Files of
CRF++ templates are read too (:mod:`structlearn.text.crfpp`); there the ends have values of their
own.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from .. import _core
from ..exceptions import FileError
from .corpus import find_column
from .files import read_bytes

__all__ = ["Attribute", "FeatureTemplates", "Template"]

#: Function -> how many numbers it takes (at least, at most).
_NUMBERED = {
    "lower": (0, 0),
    "digits": (0, 0),
    "prefix": (1, 1),
    "suffix": (1, 1),
    "ngrams": (1, 1),
}
_MARKS = {"first": "first", "last": "last", "bias": "constant"}
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<number>-?\d+)
      | (?P<regex>/(?:\\.|[^/\\])*/)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<sign>\.\.|[\[\](),:])
    )""",
    re.VERBOSE,
)
_MOST_OFFSET = 1000


class Attribute(NamedTuple):
    """A function of one token.

    Attributes
    ----------
    kind : {"string", "first", "last", "constant", "gazetteer", "vector"}
    column : str
        The column it reads; empty for marks.
    functions : tuple of (name, argument)
        Applied one after another.
    """

    kind: str
    column: str = ""
    functions: tuple[tuple[str, Any], ...] = ()

    def text(self, offset: int) -> str:
        """Return the template text of this attribute at an offset."""
        if self.kind in ("first", "last", "constant"):
            name = "bias" if self.kind == "constant" else self.kind
            return name if offset == 0 else f"{name}[{offset}]"
        text = f"{self.column}[{offset}]"
        for name, argument in self.functions:
            shown = ""
            if name == "match":
                shown = f", /{argument}/"
            elif name in ("in", "vector", "call"):
                shown = f', "{argument}"'
            elif name == "shape":
                shown = ", short" if argument else ""
            elif argument is not None:
                shown = f", {argument}"
            text = f"{name}({text}{shown})"
        return text


class Template(NamedTuple):
    """Attributes at offsets, joined.

    Attributes
    ----------
    atoms : tuple of (Attribute, offset)
    transition : bool
        A feature of label pairs.
    marked : bool
        Beyond the ends of the sentence there are values of their own (CRF++).
    name : str
        What features of the template are called; by default its text.
    """

    atoms: tuple[tuple[Attribute, int], ...]
    transition: bool = False
    marked: bool = False
    name: str = ""

    def text(self) -> str:
        """Return the line that stands for the template."""
        line = " ".join(attribute.text(offset) for attribute, offset in self.atoms)
        return f"transition: {line}" if self.transition else line


class _Parser:
    """Reads one line of templates."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while line[at:].strip() and not line[at:].lstrip().startswith("#"):
            found = _TOKEN.match(line, at)
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
        return list(range(first, last + 1))

    def templates(self) -> list[Template]:
        transition = False
        if len(self.tokens) > 1 and self.peek() == "transition" and self.tokens[1][1] == ":":
            transition, self.at = True, 2
        parts: list[list[tuple[Attribute, int]]] = []
        while self.at < len(self.tokens):
            parts.append(self.part())
        if not parts:
            self.fail("a column or a function")
        return [Template(atoms, transition) for atoms in itertools.product(*parts)]

    def part(self) -> list[tuple[Attribute, int]]:
        name = self.take("name", "a column or a function")
        if self.peek() != "(":
            offsets = self.offsets()
            attribute = Attribute(_MARKS[name]) if name in _MARKS else Attribute("string", name)
            return [(attribute, offset) for offset in offsets]
        self.sign("(")
        inner = self.part()
        arguments = self.arguments(name)
        self.sign(")")
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
        if any(abs(offset) > _MOST_OFFSET for offset in offsets):
            raise ValueError(f"an offset beyond {_MOST_OFFSET}")
        return offsets

    def arguments(self, name: str) -> Sequence[Any]:
        if name in _NUMBERED:
            if not _NUMBERED[name]:
                return [None]
            self.sign(",")
            sizes = self.numbers("a length")
            if min(sizes) < 1 or max(sizes) > 100:
                raise ValueError(f"{name} takes lengths from 1 to 100")
            return sizes
        if name == "emission":
            return [None]
        if name == "shape":
            if self.peek() != ",":
                return [0]
            self.sign(",")
            if self.take("name", "'short'") != "short":
                self.at -= 1
                self.fail("'short'")
            return [1]
        if name == "match":
            self.sign(",")
            pattern = self.take("regex", "a regular expression between slashes")[1:-1]
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"the regular expression /{pattern}/: {error}") from None
            return [pattern]
        if name in ("in", "vector", "call"):
            self.sign(",")
            text = self.take("string", "a name between double quotes")
            return [re.sub(r"\\(.)", r"\1", text[1:-1])]
        known = sorted([*_NUMBERED, "shape", "match", "in", "vector", "call"])
        raise ValueError(f"there is no function {name!r}; there are {', '.join(known)}")


def _applied(attribute: Attribute, name: str, argument: Any) -> Attribute:
    if attribute.kind != "string":
        raise ValueError(f"{name}() cannot be applied to {attribute.text(0)!r}")
    if name in ("in", "vector", "emission"):
        if attribute.functions and attribute.functions != (("lower", None),):
            raise ValueError(f"{name}() takes a column, or lower() of one")
        kind = "gazetteer" if name == "in" else "vector"
        return attribute._replace(kind=kind, functions=(*attribute.functions, (name, argument)))
    return attribute._replace(functions=(*attribute.functions, (name, argument)))


class FeatureTemplates:
    """A list of templates, with the files that they name.

    Parameters
    ----------
    templates : sequence of Template
    phrases : dict of str to list of (words, name), optional
        Contents of the files that ``in(…)`` names.
    vectors : dict of str to (names, bytes, width), optional
        Contents of the files that ``vector(…)`` names, as float32.
    functions : dict of str to callable, optional
        What ``call(…)`` names: a function of a string that returns a string, a list or None.
    """

    def __init__(
        self,
        templates: Sequence[Template],
        phrases: Mapping[str, list[tuple[list[str], str]]] | None = None,
        vectors: Mapping[str, tuple[list[str], Any, int]] | None = None,
        functions: Mapping[str, Callable[[str], Any]] | None = None,
    ) -> None:
        self.templates = list(dict.fromkeys(templates))
        self.phrases = dict(phrases or {})
        self.vectors = dict(vectors or {})
        self.functions = dict(functions or {})
        #: Of a hidden Markov model: a function from a word to as many numbers as it says.
        self.emission: tuple[Callable[[str], Any], int] | None = None

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        name: str = "templates",
        folder: str = "",
        functions: Mapping[str, Callable[[str], Any]] | None = None,
    ) -> FeatureTemplates:
        """Read templates, ours or CRF++'s; files they name are looked for in ``folder``."""
        from .crfpp import is_crfpp, parse_crfpp

        if is_crfpp(text):
            return cls(parse_crfpp(text, name), functions=functions)
        templates: list[Template] = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            try:
                templates.extend(_Parser(line).templates())
            except ValueError as error:
                raise FileError(name, str(error), number) from None
        made = cls(templates, functions=functions)
        made._read_files(folder)
        return made

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        functions: Mapping[str, Callable[[str], Any]] | None = None,
    ) -> FeatureTemplates:
        """Read a file of templates."""
        name = os.fspath(path)
        try:
            text = read_bytes(path).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FileError(name, f"not valid UTF-8: {error.reason}") from None
        made = cls.parse(text, name=name, folder=os.path.dirname(name), functions=functions)
        if not made.templates:
            raise FileError(name, "there are no templates in it")
        return made

    def _read_files(self, folder: str) -> None:
        from .resources import read_phrases, read_vectors

        for template in self.templates:
            for attribute, _ in template.atoms:
                if attribute.kind not in ("gazetteer", "vector"):
                    continue
                if attribute.functions[-1][0] == "emission":
                    continue
                named = str(attribute.functions[-1][1])
                lower = len(attribute.functions) > 1
                path = os.path.join(folder, named)
                if attribute.kind == "gazetteer":
                    self.phrases.setdefault(_resource(attribute), read_phrases(path, lower))
                else:
                    self.vectors.setdefault(_resource(attribute), read_vectors(path))

    def columns(self) -> list[str]:
        """Return the names of the columns that the templates read, in order of appearance."""
        names = [a.column for t in self.templates for a, _ in t.atoms if a.column]
        return list(dict.fromkeys(names))

    def compile(self, format: str, n_columns: int) -> _core.FeatureSet:
        """Return the native form, for files of a format with so many columns."""
        numbers: dict[Attribute, int] = {}
        specs: list[dict[str, Any]] = []
        lines: list[tuple[str, list[tuple[int, int]], bool, bool]] = []
        for template in self.templates:
            atoms = []
            for attribute, offset in template.atoms:
                if attribute not in numbers:
                    numbers[attribute] = len(specs)
                    specs.append(self._specification(attribute, format, n_columns))
                atoms.append((numbers[attribute], offset))
            lines.append(
                (template.name or template.text(), atoms, template.marked, template.transition)
            )
        return _core.FeatureSet(specs, lines)

    def _specification(self, attribute: Attribute, format: str, n_columns: int) -> dict[str, Any]:
        if not attribute.column:
            return {"kind": attribute.kind}
        spec: dict[str, Any] = {
            "kind": attribute.kind,
            "column": find_column(attribute.column, format, n_columns),
        }
        if attribute.kind == "gazetteer":
            spec["phrases"] = self.phrases[_resource(attribute)]
            spec["lower"] = len(attribute.functions) > 1
        elif attribute.functions == (("emission", None),):
            if self.emission is None:
                raise ValueError("emission() is for hidden Markov models only")
            spec.update(function=self.emission[0], width=self.emission[1], lower=False)
        elif attribute.kind == "vector":
            names, values, width = self.vectors[_resource(attribute)]
            spec.update(names=names, values=values, width=width)
            spec["lower"] = len(attribute.functions) > 1
        else:
            spec["functions"] = [self._function(*f) for f in attribute.functions]
        return spec

    def _function(self, name: str, argument: Any) -> Any:
        if name == "match":
            search = re.compile(argument).search
            return lambda s: "1" if search(s) else None
        if name == "call":
            if argument not in self.functions:
                raise ValueError(
                    f'the templates call("{argument}"), which is not among the functions given: '
                    f"{sorted(self.functions) or 'none'}; pass functions={{{argument!r}: ...}}"
                )
            return self.functions[argument]
        return (name, int(argument or 0))

    def to_json(self) -> list[dict[str, Any]]:
        """Return the templates as plain data; :meth:`from_json` reads it."""
        return [
            {"text": t.text(), "marked": t.marked, **({"name": t.name} if t.name else {})}
            for t in self.templates
        ]

    @classmethod
    def from_json(cls, data: Any) -> FeatureTemplates:
        """Read what :meth:`to_json` gave; the resources have to be put in by whoever has them."""
        templates = []
        for entry in data:
            (template,) = _Parser(str(entry["text"])).templates()
            templates.append(
                template._replace(marked=bool(entry["marked"]), name=str(entry.get("name", "")))
            )
        return cls(templates)

    def __len__(self) -> int:
        return len(self.templates)

    def __repr__(self) -> str:
        return f"<FeatureTemplates: {len(self)} templates>"


def _resource(attribute: Attribute) -> str:
    """Return the name under which an attribute's file is kept."""
    return " ".join(str(argument) for name, argument in attribute.functions if argument) + (
        " lower" if len(attribute.functions) > 1 else ""
    )
