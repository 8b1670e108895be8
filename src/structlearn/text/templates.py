"""Feature templates: a small language for what a tagger of tokens or segments looks at.

One template per line; ``#`` begins a comment. A template joins attributes of tokens at offsets;
every combination of values that it has in training is a feature::

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
    seen(lower(word))              the labels that the word had in training, most frequent first
    vector(word, "vectors.txt")    numbers instead of names, from a file of word vectors
    call(word, "name")             a function of a string of your own, given in Python
    sentence("name")               a function of the whole sentence of your own
    first  last  bias              marks of the first and last token; a constant
    transition: pos[0]             a feature of label pairs, not of labels
    ends: marked                   from here on places beyond the sentence have values of their own

Columns go by their names: ``word``, ``pos``, ``chunk``, ``c4``, … in a column file, ``form``,
``lemma``, ``upos``, … in CoNLL-U. Beyond the ends of a sentence a template has no feature, unless
a line ``ends: marked`` came before. ``seen(…, types)`` goes by the types of chunk labels, without
B- and I-. Files of CRF++ templates are read too (:mod:`structlearn.text.crfpp`); there the ends are
marked.

Templates of segments, for a :class:`~structlearn.tasks.SegmentTagger`, have places: everything
stands inside one of ::

    before(word)              the token before the segment
    begin(lower(word))        its first token; begin(word[1]) is the second
    end(suffix(word, 3))      its last token
    after(word)               the token after it
    inside(shape(word))       a feature for each token inside, one as good as another
    inside(word[-1])          the same with the token before each
    whole(lower(word))        the values of all its tokens, in order, as one
    length                    how many tokens it has
    bias                      a constant

Places side by side are joined: ``before(word) begin(pos)``. Several ``inside(...)`` in one template
are about one and the same token.
"""

from __future__ import annotations

import os
import re
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence

from .. import _core
from ..exceptions import FileError, MissingFunctionError
from .corpus import find_column
from .files import read_bytes

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

#: Functions of a string -> what they take besides: nothing, a length, a text.
FUNCTIONS: dict[str, str] = dict(_core.template_functions())
MOST_LENGTH = 100
MOST_OFFSET = 1000
#: Name of a place in a segment -> where it is counted from, and how far from there it is.
PLACES = {
    "before": ("begin", -1),
    "begin": ("begin", 0),
    "inside": ("inside", 0),
    "whole": ("whole", 0),
    "end": ("end", 0),
    "after": ("end", 1),
}


class Attribute(namedtuple("Attribute", "kind column functions", defaults=("", ()))):
    """A function of one token.

    Attributes
    ----------
    kind : {"string", "first", "last", "constant", "gazetteer", "vector", "lexicon", "sentence"}
    column : str
        The column it reads; empty for marks.
    functions : tuple of (name, argument)
        Applied one after another.
    """

    __slots__ = ()
    kind: str
    column: str
    functions: tuple[tuple[str, Any], ...]

    def text(self, offset: int) -> str:
        """Return the template text of this attribute at an offset."""
        return _core.attribute_text((*self, offset))


class Template(
    namedtuple(
        "Template",
        "atoms transition marked name places spelling pieces",
        defaults=(False, False, "", (), "", ()),
    )
):
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
    places : tuple of {"begin", "inside", "whole", "end", "length"}
        Of segments: where the offset of each attribute is counted from. Of spelled features: "" or
        "start" or "stop", the first token of the sentence or the place behind its last one.
    spelling : {"", "crf++", "wapiti"}
        Features are strings of ``pieces`` and values, which other tools read and write. Templates
        that spell the same string share its weights.
    pieces : tuple of str
        What stands before, between and after the values.
    """

    __slots__ = ()
    atoms: tuple[tuple[Attribute, int], ...]
    transition: bool
    marked: bool
    name: str
    places: tuple[str, ...]
    spelling: str
    pieces: tuple[str, ...]

    def text(self) -> str:
        """Return the line that stands for the template."""
        if self.spelling:
            return self.name
        return _core.template_text([(*a, n, p) for (a, n), p in _placed(self)], self.transition)


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
        # Other tools count what is said twice; their features of other lines may be equal too.
        seen = dict.fromkeys(templates)
        self.templates = [t for t in templates if t.spelling or seen.pop(t, 1) is None]
        self.phrases = dict(phrases or {})
        self.vectors = dict(vectors or {})
        self.functions = dict(functions or {})
        #: Made in training: the labels of words, by the text of the attribute.
        self.lexica: dict[str, _core.Lexicon] = {}
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
        """Read templates, ours, CRF++'s or Wapiti's; files that ours name are in ``folder``."""
        from .crfpp import is_crfpp, parse_crfpp
        from .grammar import has_places, parse_line
        from .wapiti import is_wapiti, parse_wapiti

        if is_wapiti(text):
            return cls(parse_wapiti(text, name), functions=functions)
        if is_crfpp(text):
            return cls(parse_crfpp(text, name), functions=functions)
        templates: list[Template] = []
        marked, of_segments = False, has_places(text)
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            try:
                if line.split("#")[0].split() in (["ends:", "marked"], ["ends:", "left", "out"]):
                    marked = "marked" in line
                    continue
                read = parse_line(line, of_segments)
                templates.extend(t._replace(marked=marked) for t in read)
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
            raise FileError(name, "the file contains no templates")
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

    @property
    def of_segments(self) -> bool:
        """Whether they are about segments, not about tokens."""
        return any(t.places and not t.spelling for t in self.templates)

    def columns(self) -> list[str]:
        """Return the names of the columns that the templates read, in order of appearance."""
        names = [a.column for t in self.templates for a, _ in t.atoms if a.column]
        return list(dict.fromkeys(names))

    def compile(self, format: str, n_columns: int) -> _core.FeatureSet:
        """Return the native form, for files of a format and number of columns."""
        resources = {
            "phrases": self.phrases,
            "vectors": self.vectors,
            "lexica": self.lexica,
            "emission": self.emission,
            "function": self._function,
            "sentence": self._given,
        }
        return _core.FeatureSet(self.to_json(), format, n_columns, resources)

    def learn_lexica(self, corpus: Any, target: int, unknown: str) -> None:
        """Count the labels of words, for the templates that ask for them."""
        for template in self.templates:
            for attribute, _ in template.atoms:
                if attribute.kind != "lexicon" or attribute.text(0) in self.lexica:
                    continue
                functions = [
                    self._function(*f) if f[0] in ("match", "call") else f
                    for f in attribute.functions[:-1]
                ]
                column = find_column(attribute.column, corpus.format, corpus.n_columns)
                types = bool(attribute.functions[-1][1])
                self.lexica[attribute.text(0)] = corpus.lexicon(
                    column, functions, target, unknown, types
                )

    def _function(self, name: str, argument: str) -> Callable[[str], Any]:
        """Return what ``match`` or ``call`` of this argument does."""
        if name == "call":
            return self._given(argument)
        try:
            search = re.compile(argument).search
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"the regular expression /{argument}/: {error}") from None
        return lambda s: "1" if search(s) else None

    def _given(self, name: str) -> Callable[..., Any]:
        if name not in self.functions:
            raise MissingFunctionError(
                f"the templates call the function {name!r}, which is not among those given: "
                f"{sorted(self.functions) or 'none'}; pass functions={{{name!r}: ...}}"
            )
        return self.functions[name]

    def to_json(self) -> list[Any]:
        """Return the templates as plain data; :meth:`from_json` reads it."""
        return [
            [
                [[*a, offset, place][: 5 if place else 4] for (a, offset), place in _placed(t)],
                *t[1:4],
                *([t.spelling, t.pieces] if t.spelling else []),
            ]
            for t in self.templates
        ]

    @classmethod
    def from_json(cls, data: Any) -> FeatureTemplates:
        """Read what :meth:`to_json` gave; the resources have to be put in by whoever has them."""
        _core.check_templates(data)
        templates = []
        for atoms, transition, marked, name, *spelled in data:
            spelling, pieces = spelled or ("", ())
            read = tuple(
                (Attribute(kind, column, tuple(map(tuple, functions))), offset)
                for kind, column, functions, offset, *_ in atoms
            )
            places = tuple(atom[4] if len(atom) > 4 else "" for atom in atoms)
            some = places if any(places) else ()
            templates.append(
                Template(read, transition, marked, name, some, spelling, tuple(pieces))
            )
        return cls(templates)

    def copy(self) -> FeatureTemplates:
        """Return the same templates without what was learned for them."""
        return FeatureTemplates(self.templates, self.phrases, self.vectors, self.functions)

    def __getstate__(self) -> dict[str, Any]:
        vectors = {
            name: (words, bytes(v), width) for name, (words, v, width) in self.vectors.items()
        }
        return {**vars(self), "vectors": vectors, "emission": None}  # the model's own

    def __len__(self) -> int:
        return len(self.templates)

    def __repr__(self) -> str:
        return f"<FeatureTemplates: {len(self)} templates>"


def _placed(template: Template) -> zip[tuple[tuple[Attribute, int], str]]:
    """Return the attributes of a template at their offsets, and the places of those."""
    return zip(template.atoms, template.places or ("",) * len(template.atoms), strict=True)


def _resource(attribute: Attribute) -> str:
    """Return the name under which an attribute's file is kept."""
    return _core.resource_of((*attribute, 0))
