"""Trees as SVG: well-formed, every label once, what differs marked."""

import xml.etree.ElementTree as ElementTree

import pytest

from structlearn.drawing.trees import draw_tree, draw_trees
from structlearn.text.trees import parse_brackets

SVG = "{http://www.w3.org/2000/svg}"
GOLD = "(S (NP (NP (D the) (N cat)) (PP (P on) (NP (N it)))) (VP (V <sat&>)))"
GUESS = "(S (NP (D the) (N cat)) (PP (P on) (NP (N it))) (VP (N <sat&>)))"


def texts(svg):
    return [(t.get("class"), t.text) for t in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_one_tree():
    (tree,) = parse_brackets(GOLD)
    svg = draw_tree(tree)
    found = [text for _, text in texts(svg)]
    assert sorted(found) == sorted(
        [*tree.words, *tree.tags, *(label for _, _, label in tree.spans())]
    )
    assert len(list(ElementTree.fromstring(svg).iter(f"{SVG}path"))) == len(tree.spans()) - 1 + 5
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
