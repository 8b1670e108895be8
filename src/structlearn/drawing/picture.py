"""A drawing that notebooks show and files can hold."""

from __future__ import annotations

from pathlib import Path

__all__ = ["Picture"]


class Picture:
    """An SVG drawing, complete in itself, readable on light and dark paper.

    Attributes
    ----------
    svg : str
        The drawing.
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:  # pages made of notebooks and examples ask for this
        return self.svg

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, {len(self.svg)} characters of SVG>"

    def save(self, path: str | Path) -> None:
        """Write the drawing to an ``.svg`` file."""
        Path(path).write_text(self.svg, encoding="utf-8")
