"""Arcs as SVG."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from structlearn.datasets import make_treebank
from structlearn.drawing.arcs import draw_arcs

WORDS = ["Fish", "<eat>", "fish", "&", "chips"]
TREE = [(2, "nsubj"), (0, "root"), (2, "obj"), (5, "cc"), (3, "conj")]


SPACE = "{http://www.w3.org/2000/svg}"


def _groups(svg: str) -> dict[str, list[str]]:
    """Return the texts by what they are: words, tags, relations that are right, wrong, missed."""
    found: dict[str, list[str]] = {}
    for element in ElementTree.fromstring(svg):
        if element.tag in (f"{SPACE}text", f"{SPACE}g"):
            texts = [t.text or "" for t in element if t.tag != f"{SPACE}path"]
            found[element.get("class", "")] = texts
    return found


def test_one_tree() -> None:
    drawing = draw_arcs(WORDS, TREE, tags=list("NVNCN"))
    assert drawing._repr_svg_() == drawing._repr_html_() == drawing.svg == str(drawing)
    found = _groups(drawing.svg)
    assert found == {"w": WORDS, "t": list("NVNCN"), "right": [label for _, label in TREE]}
    (path,) = ElementTree.fromstring(drawing.svg).iter(f"{SPACE}path")
    assert path.get("d", "").count("M") == len(WORDS)  # an arc for each word


def test_two_trees_in_one_picture() -> None:
    guess = [(2, "nsubj"), (0, "root"), (2, "obl"), (5, "cc"), (2, "conj")]
    found = _groups(draw_arcs(WORDS, guess, TREE).svg)
    assert found["right"] == ["nsubj", "root", "cc"]
    assert found["wrong"] == ["obl", "conj"]
    assert found["missed"] == ["obj", "conj"]


BANK = make_treebank(60, random_state=4)
#: A verb with a full stop at the end of a long sentence, over an object of a few words.
WIDE = [2, 0, 6, 6, 6, 2, *range(6, 39), 2]


@pytest.mark.parametrize("heads", [WIDE, *(BANK[i].heads for i in range(0, 60, 4))])
def test_arcs_do_not_cross(heads: list[int]) -> None:
    """Those of projective trees: one lies beside or wholly above another, at every point."""
    words = [f"word{m}" for m in range(len(heads))]
    arcs = _arcs_of(draw_arcs(words, [(head, "x") for head in heads]).svg)
    assert len(arcs) == len(heads) - 1
    for one, other in itertools.combinations(arcs, 2):
        (a, b), (c, d) = (sorted(ends[:2]) for ends in (one, other))
        if max(a, c) < min(b, d):
            places = np.linspace(max(a, c), min(b, d), 200)
            gaps = [_height(one, x) - _height(other, x) for x in places]
            assert min(gaps) > -1e-9 or max(gaps) < 1e-9


def _arcs_of(svg: str) -> list[tuple[float, float, float, float]]:
    """Return start, end, height and width of the bend of each arc above the words."""
    found = []
    for path in ElementTree.fromstring(svg).iter(f"{SPACE}path"):
        for piece in path.get("d", "").split("M"):
            if "q" in piece:
                start, _, _, high, bend, _, flat = map(float, re.findall(r"-?\d+", piece)[:7])
                found.append((start, flat + bend, -high, abs(bend)))
    return found


def _height(arc: tuple[float, float, float, float], x: float) -> float:
    """Return the height of an arc at a place: q0 -h b -h is x = b t², y = h (2t − t²)."""
    start, end, high, bend = arc
    left, right = sorted((start, end))
    away = min(x - left, right - x)
    t = min(1.0, (max(away, 0.0) / bend) ** 0.5)
    return high * (2 * t - t * t)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="gold has 1"):
        draw_arcs(WORDS, TREE, TREE[:1])
    with pytest.raises(ValueError, match="head of word 1 is 9"):
        draw_arcs(WORDS, [(9, "x"), *TREE[1:]])
