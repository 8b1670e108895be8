"""Spelling of inflected and derived words."""

from __future__ import annotations

import pytest

from structlearn.datasets import morphology as m


@pytest.mark.parametrize(
    ("make", "stem", "form"),
    [
        (m.s_form, "dog", "dogs"),
        (m.s_form, "box", "boxes"),
        (m.s_form, "watch", "watches"),
        (m.s_form, "fly", "flies"),
        (m.s_form, "play", "plays"),
        (m.ed_form, "stop", "stopped"),
        (m.ed_form, "visit", "visited"),
        (m.ed_form, "wait", "waited"),
        (m.ed_form, "carry", "carried"),
        (m.ed_form, "chase", "chased"),
        (m.ing_form, "swim", "swimming"),
        (m.ing_form, "begin", "beginning"),
        (m.ing_form, "see", "seeing"),
        (m.ing_form, "lie", "lying"),
        (m.ing_form, "open", "opening"),
        (m.er_form, "bake", "baker"),
        (m.er_form, "run", "runner"),
        (m.er_form, "carry", "carrier"),
        (m.able_form, "love", "lovable"),
        (m.able_form, "notice", "noticeable"),
        (m.able_form, "carry", "carriable"),
        (m.ly_form, "happy", "happily"),
        (m.ly_form, "gentle", "gently"),
        (m.ly_form, "pale", "palely"),
        (m.ly_form, "tragic", "tragically"),
        (m.ly_form, "dull", "dully"),
        (m.ly_form, "shy", "shyly"),
        (m.ness_form, "lazy", "laziness"),
        (m.ness_form, "dry", "dryness"),
    ],
)
def test_spelling(make, stem, form):
    assert make(stem) == form


def test_irregular_entries():
    assert m.verb_forms("eat/ate/eaten") == {
        "b": "eat",
        "z": "eats",
        "p": "eat",
        "m": "eat",
        "d": "ate",
        "w": "ate",
        "g": "eating",
        "n": "eaten",
    }
    assert m.noun_forms("child/children") == {"sg": "child", "pl": "children"}
    assert m.noun_forms("fish/fish")["pl"] == "fish"
