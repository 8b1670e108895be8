"""Arcs as SVG."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from structlearn.drawing.arcs import draw_arcs

WORDS = ["Fish", "<eat>", "fish", "&", "chips"]
TREE = [(2, "nsubj"), (0, "root"), (2, "obj"), (5, "cc"), (3, "conj")]


def _classes(svg: str, tag: str) -> list[str]:
    space = "{http://www.w3.org/2000/svg}"
    return [e.get("class", "") for e in ElementTree.fromstring(svg).iter(space + tag)]


def test_one_tree() -> None:
    drawing = draw_arcs(WORDS, TREE, tags=list("NVNCN"))
    assert drawing._repr_svg_() == drawing._repr_html_() == drawing.svg == str(drawing)
    assert _classes(drawing.svg, "path").count("right") == 2 * len(WORDS)
    texts = _classes(drawing.svg, "text")
    assert (texts.count("w"), texts.count("t"), texts.count("l right")) == (5, 5, 5)


def test_two_trees_in_one_picture() -> None:
    guess = [(2, "nsubj"), (0, "root"), (2, "obl"), (5, "cc"), (2, "conj")]
    classes = _classes(draw_arcs(WORDS, guess, TREE).svg, "text")
    counted = [classes.count(f"l {kind}") for kind in ("right", "wrong", "missed")]
    assert counted == [3, 2, 2]


def test_refusals() -> None:
    with pytest.raises(ValueError, match="gold has 1"):
        draw_arcs(WORDS, TREE, TREE[:1])
    with pytest.raises(ValueError, match="head of word 1 is 9"):
        draw_arcs(WORDS, [(9, "x"), *TREE[1:]])
