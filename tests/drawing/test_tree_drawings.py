"""Trees as SVG: well-formed, every label once, what differs marked."""

import itertools
import re
import xml.etree.ElementTree as ElementTree

import pytest

from structlearn.datasets import make_treebank
from structlearn.drawing.trees import TreeDrawing, draw_tree, draw_trees
from structlearn.text.trees import parse_brackets

SVG = "{http://www.w3.org/2000/svg}"
GOLD = "(S (NP (NP (D the) (N cat)) (PP (P on) (NP (N it)))) (VP (V <sat&>)))"
GUESS = "(S (NP (D the) (N cat)) (PP (P on) (NP (N it))) (VP (N <sat&>)))"


def texts(svg):
    """The class and text of all labels, words and tags."""
    found = []
    for row in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        found += [(row.get("class"), t.text) for t in (list(row) or [row])]
    return found


def test_one_tree():
    (tree,) = parse_brackets(GOLD)
    svg = draw_tree(tree)
    found = [text for _, text in texts(svg)]
    assert sorted(found) == sorted(
        [*tree.words, *tree.tags, *(label for _, _, label in tree.spans())]
    )
    slanted = [line for line in lines(svg)[0] if line[0][1] != line[1][1]]
    ends = {end for line in slanted for end in line}
    assert len(ends) >= len(tree.spans()) - 1 + 5  # a line down to each node and word
    assert tree._repr_svg_() == svg


def test_gold_and_predicted():
    (gold,), (guess,) = parse_brackets(GOLD), parse_brackets(GUESS)
    found = texts(draw_trees(gold, guess))
    assert [text for style, text in found if style == "gold"] == ["NP"]
    assert [text for style, text in found if style == "tag wrong"] == ["N"]
    assert not [text for style, text in found if style == "wrong"]
    assert [text for style, text in texts(draw_trees(guess, gold)) if style == "wrong"] == ["NP"]


def test_other_words_are_refused():
    (a,), (b,) = parse_brackets("(S (X a))"), parse_brackets("(S (X b))")
    with pytest.raises(ValueError, match="different words"):
        draw_trees(a, b)


def lines(svg):
    """The straight pieces of all paths, as pairs of points, and the size of the picture."""
    root = ElementTree.fromstring(svg)
    found = []
    for path in root.iter(f"{SVG}path"):
        at = None
        for command, given in re.findall(r"([MLV])([^MLV]*)", path.get("d")):
            numbers = tuple(map(float, given.split()))
            to = (at[0], *numbers) if command == "V" else numbers
            if command != "M":
                found.append((at, to))
            at = to
    return found, float(root.get("width")), float(root.get("height"))


def cross(one, other):
    """Whether two lines meet other than at their ends."""

    def side(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    (a, b), (c, d) = one, other
    return side(a, b, c) * side(a, b, d) < -1e-6 and side(c, d, a) * side(c, d, b) < -1e-6


@pytest.mark.parametrize("number", range(0, 60, 3))
def test_no_line_crosses_another(number):
    bank = make_treebank(60, random_state=4)
    (tree,) = parse_brackets(bank[number].brackets)
    found, width, height = lines(draw_tree(tree))
    for one, other in itertools.combinations(found, 2):
        assert not cross(one, other)
    for x, y in itertools.chain.from_iterable(found):
        assert 20 < x < width - 20
        assert 0 < y < height


def test_wide_labels_have_room():
    (tree,) = parse_brackets("(S (A-VERY-LONG-LABEL (I a)) (ANOTHER-LONG-LABEL (I b)) (. .))")
    svg = draw_tree(tree)
    places = {t.text: float(t.get("x")) for t in ElementTree.fromstring(svg).iter() if t.get("x")}
    assert places["ANOTHER-LONG-LABEL"] - places["A-VERY-LONG-LABEL"] > 140


def test_pictures_are_saved(tmp_path):
    TreeDrawing("<svg/>").save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text() == "<svg/>" == str(TreeDrawing("<svg/>"))
