"""Pictures as SVG text, displayed by notebooks."""

from __future__ import annotations

import os

__all__ = ["Picture", "text_width"]

#: Letters that are narrower or wider than others, approximately as in sans-serif fonts.
_NARROW = frozenset("iljtfr.,:;'`!|()[]I ")
_WIDE = frozenset("mwMW@%—…")


class Picture:
    """A drawing.

    Attributes
    ----------
    svg : str
        The picture as SVG.
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg

    @property
    def parts(self) -> tuple[str, str]:
        """The style sheet, and the picture without it: a page with many pictures needs one."""
        before, tag, rest = self.svg.partition("<style>")
        style, _, after = rest.partition("</style>")
        return (style, before + after) if tag else ("", self.svg)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:  # used by pages made from notebooks and examples
        return self.svg

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, {len(self.svg)} characters of SVG>"


def text_width(text: str, size: float) -> float:
    """Return the estimated width of a text in a sans-serif font, rather too large."""
    width = 0.0
    for letter in text:
        if ord(letter) > 0x2E80:  # ideographs and the like are square
            width += 1.0
        elif letter in _NARROW:
            width += 0.36
        else:
            width += 0.92 if letter in _WIDE else 0.62
    return width * size
