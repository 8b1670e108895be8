"""Feature templates of segments: what a recogniser of entities looks at.

The language of :mod:`structlearn.text.templates` with places: everything stands inside one of ::

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

from collections import namedtuple
from collections.abc import Callable, Mapping

from .. import _core
from ..exceptions import FileError
from .templates import Attribute, FeatureTemplates, _check_attribute

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["PLACES", "SegmentTemplate", "SegmentTemplates"]

#: Name of a place -> where it is counted from, and how far from there it is.
PLACES = {
    "before": ("begin", -1),
    "begin": ("begin", 0),
    "inside": ("inside", 0),
    "whole": ("whole", 0),
    "end": ("end", 0),
    "after": ("end", 1),
}
_COUNTED_FROM = ("begin", "inside", "whole", "end", "length")


class SegmentTemplate(namedtuple("SegmentTemplate", "atoms places marked", defaults=(False,))):
    """Attributes at places of a segment, joined.

    Attributes
    ----------
    atoms : tuple of (Attribute, offset)
    places : tuple of {"begin", "inside", "whole", "end", "length"}
        Where the offset of each is counted from.
    marked : bool
        Beyond the ends of the sentence there are values of their own.
    """

    __slots__ = ()
    atoms: tuple[tuple[Attribute, int], ...]
    places: tuple[str, ...]
    marked: bool

    def text(self) -> str:
        """Return a line that stands for the template."""
        return " ".join(
            "length" if place == "length" else f"{place}({attribute.text(offset)})"
            for place, (attribute, offset) in zip(self.places, self.atoms, strict=True)
        )


class SegmentTemplates(FeatureTemplates):
    """A list of templates of segments, with the files that they name.

    Examples
    --------
    >>> SegmentTemplates.parse("before(word)\\nbegin(lower(word)) length")
    <SegmentTemplates: 2 templates>
    """

    templates: list[Any]

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        name: str = "templates",
        folder: str = "",
        functions: Mapping[str, Callable[[str], Any]] | None = None,
    ) -> SegmentTemplates:
        """Read templates; files they name are looked for in ``folder``."""
        from .crfpp import is_crfpp

        if is_crfpp(text):
            raise FileError(name, "templates of CRF++ are about tokens, not about segments")
        made = super().parse(text, name=name, folder=folder, functions=functions)
        assert isinstance(made, SegmentTemplates)
        return made

    @staticmethod
    def _parse_line(line: str) -> list[Any]:
        from .segment_grammar import parse_segment_line

        return list(parse_segment_line(line))

    def without_column(self, name: str) -> SegmentTemplates:
        """Return the templates that do not read a column."""
        kept = [t for t in self.templates if all(a.column != name for a, _ in t.atoms)]
        return SegmentTemplates(kept, self.phrases, self.vectors, self.functions)

    def compile_segments(self, format: str, n_columns: int) -> _core.SegmentFeatures:
        """Return the native form, for files of a format and number of columns."""
        numbers: dict[Attribute, int] = {}
        specs: list[dict[str, Any]] = []
        lines: list[tuple[str, list[tuple[str, int, int]], bool]] = []
        for template in self.templates:
            atoms = []
            for place, (attribute, offset) in zip(template.places, template.atoms, strict=True):
                if attribute not in numbers:
                    numbers[attribute] = len(specs)
                    specs.append(self._specification(attribute, format, n_columns))
                atoms.append((place, numbers[attribute], offset))
            lines.append((template.text(), atoms, template.marked))
        return _core.SegmentFeatures(_core.FeatureSet(specs, []), lines)

    def compile(self, format: str, n_columns: int) -> _core.FeatureSet:
        """Refuse: what labels tokens has no segments."""
        raise ValueError(
            "these templates are about segments (before(), begin(), inside(), ...): they are for a "
            "SegmentTagger, not for a Tagger"
        )

    def to_json(self) -> list[Any]:
        """Return the templates as plain data; :meth:`from_json` reads it."""
        return [
            [[[*a, offset, p] for (a, offset), p in zip(t.atoms, t.places, strict=True)], t.marked]
            for t in self.templates
        ]

    @classmethod
    def from_json(cls, data: Any) -> SegmentTemplates:
        """Read what :meth:`to_json` gave; the resources have to be put in by whoever has them."""
        templates: list[Any] = []
        for atoms, marked in data:
            read, places = [], []
            for kind, column, functions, offset, place in atoms:
                steps = tuple((function, argument) for function, argument in functions)
                _check_attribute(kind, column, steps, offset)
                if place not in _COUNTED_FROM or (place == "whole" and offset):
                    raise ValueError(f"an invalid template: {place} {column}")
                read.append((Attribute(kind, column, steps), offset))
                places.append(place)
            templates.append(SegmentTemplate(tuple(read), tuple(places), bool(marked)))
        return cls(templates)

    def copy(self) -> SegmentTemplates:
        """Return the same templates without what was learned for them."""
        return SegmentTemplates(self.templates, self.phrases, self.vectors, self.functions)

    def __repr__(self) -> str:
        return f"<SegmentTemplates: {len(self)} templates>"
