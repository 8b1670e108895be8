"""Edit scripts: what is made by a script is what the script was made from."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.text.edit_scripts import (
    WHOLE,
    apply_lemma_script,
    apply_split_script,
    lemma_script,
    split_script,
)

WORDS = st.text("abcdeABCéßİ12-' ", min_size=1, max_size=8).filter(lambda w: w == w.strip())


@settings(deadline=None)
@given(WORDS, WORDS)
def test_a_lemma_script_gives_the_lemma(form, lemma):
    assert apply_lemma_script(lemma_script(form, lemma), form) == lemma


@pytest.mark.parametrize(
    ("form", "lemma", "other", "expected"),
    [
        ("walked", "walk", "Talked", "talk"),
        ("flies", "fly", "TRIES", "try"),
        ("mice", "mouse", "lice", "louse"),
        ("gekauft", "kaufen", "gemacht", "machen"),
        ("Rome", "Rome", "Oslo", "Oslo"),
        ("went", "go", "WENT", "go"),
    ],
)
def test_a_lemma_script_fits_other_words(form, lemma, other, expected):
    assert apply_lemma_script(lemma_script(form, lemma), other) == expected


def test_a_lemma_script_that_does_not_fit_leaves_the_form():
    assert apply_lemma_script("l;0;5;0;", "ab") == "ab"
    assert apply_lemma_script("l;0;2;0;", "ab") == "ab"


@settings(deadline=None)
@given(st.lists(st.text("abcd'", min_size=1, max_size=4), min_size=2, max_size=4))
def test_pieces_of_a_token_are_cut(words):
    form = "".join(words)
    assert apply_split_script(split_script(form, words), form) == words


@settings(deadline=None)
@given(
    st.text("abcd", min_size=1, max_size=6),
    st.lists(st.text("abcd", min_size=1, max_size=4), min_size=2, max_size=3),
)
def test_words_that_are_no_pieces_are_rewritten(form, words):
    assert apply_split_script(split_script(form, words), form) == words


@pytest.mark.parametrize(
    ("form", "words", "other", "expected"),
    [
        ("don't", ["do", "n't"], "CAN'T", ["CA", "N'T"]),
        ("zum", ["zu", "dem"], "Zum", ["Zu", "dem"]),
        ("du", ["de", "le"], "DU", ["DE", "LE"]),
        ("darlo", ["dare", "lo"], "Farlo", ["Fare", "lo"]),
    ],
)
def test_a_split_script_fits_other_tokens(form, words, other, expected):
    assert apply_split_script(split_script(form, words), other) == expected


def test_a_split_script_that_does_not_fit_leaves_the_token():
    assert split_script("word", ["word"]) == WHOLE
    for script in (WHOLE, "c9", "c4", "s9;x y"):
        assert apply_split_script(script, "word") == ["word"]
