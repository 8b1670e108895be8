"""Tokens and sentences: whatever the text, none of it is lost."""

import os
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import _core
from structlearn.tasks.pipeline.doc import Doc
from structlearn.tasks.pipeline.tokeniser import (
    Tokeniser,
    labelled_characters,
    paragraphs,
    train_tokeniser,
)
from structlearn.text.surface import raw_paragraphs

from .small_treebank import treebank

#: Scripts of all kinds, marks, blanks of all kinds, emoji, direction marks.
ODD = st.text(
    st.one_of(
        st.sampled_from(" \n\t\r\x0b\x1c\x85\xa0\u2003\u2028\u200b\u200d\u200f\u202e\ufeff.!?-'\""),
        st.sampled_from("abcXYZ019אבג\u0301ا日本語かनि👩🏽‍💻é"),
        st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"),
    ),
    max_size=60,
)


@pytest.fixture(scope="module")
def tokeniser():
    return Tokeniser(train_tokeniser(labelled_characters(treebank(200)), n_models=1, max_iter=4))


def test_columns_of_characters():
    core = _core.Corpus("columns")
    core.add_characters(b"ab c.D\n", bytes([0, 1, 2, 0, 1, 0, 2]), ["O", "B", "I"])
    columns = [core.cells(0, c) for c in range(core.n_columns)]
    assert columns[0] == ["a", "b", " ", "c", ".", "D", " "]
    assert columns[1] == ["^", "a", "ab", "^", "c", "c.", "c.D"]
    assert columns[2] == ["ab", "b", "c.D", "c.D", ".D", "D", "$"]
    assert columns[3] == ["^", " ", " ", "ab", " ", "ab", " "]  # where a sentence may begin
    assert columns[4] == ["c.D", " ", " ", "$", " ", "$", " "]
    assert columns[8] == ["O", "B", "I", "O", "B", "O", "I"]


def test_kinds_of_chunks():
    core = _core.Corpus("columns")
    core.add_characters(b"a@b www.x http://y")
    kinds = core.cells(0, 7)
    assert kinds == ["m"] * 3 + ["-"] + ["u"] * 5 + ["-"] + ["u"] * 8


@pytest.mark.parametrize(
    ("text", "labels", "names", "told"),
    [
        (b"ab", b"\0", ["O"], "1 labels for 2 characters"),
        (b"a", b"\1", ["O"], "a label without a name"),
        (b"\xff", b"", [], "not valid UTF-8"),
        (b"a", b"\0", [], "labels without names"),
    ],
)
def test_characters_that_make_no_sense_are_refused(text, labels, names, told):
    core = _core.Corpus("columns")
    with pytest.raises(ValueError, match=told):
        core.add_characters(text, labels, names)
    assert core.n_tokens == 0


def test_it_finds_the_tokens_it_has_learned(tokeniser):
    other = treebank(60, random_state=1)
    right = total = 0
    for text, sentences in raw_paragraphs(other):
        found = {span for spans in tokeniser([text])[0] for span in spans}
        gold = {span for spans in sentences for span in spans}
        right += len(found & gold)
        total += len(gold)
    assert right / total > 0.98


def test_sentences_end_at_blank_lines(tokeniser):
    text = "they swim\n \t\nthey swim"
    assert [text[s[0][0] : s[-1][1]] for s in tokeniser([text])[0]] == ["they swim", "they swim"]


def test_paragraphs_are_trimmed():
    text = " \n\n a\nb \n\n\nc\r\n d\n"
    found = [(characters, list(places)) for characters, places in paragraphs(text)]
    assert found == [("a\nb", [4, 5, 6]), ("c\n d", [11, 12, 14, 15])]
    assert list(paragraphs(" \n\n ")) == []


@settings(max_examples=int(os.environ.get("STRUCTLEARN_EXAMPLES", "1000")), deadline=None)
@given(ODD)
def test_any_text_is_put_together_again(tokeniser, text):
    (sentences,) = tokeniser([text])
    assert all(sentences)
    doc = Doc.from_places(text, sentences)
    assert doc.rebuilt == text
    bare, at = text.replace("\ufeff", " "), 0
    for token in doc:
        assert token.text == token.text.strip() == text[token.begin : token.end] != ""
        assert not bare[at : token.begin].strip()  # nothing but blanks is left out
        at = token.end
    assert not bare[at:].strip()


@pytest.mark.parametrize("text", ["{}", "{0}{0}", "\n{}", " {} ", "they swim\n\n{}", "they\n{}"])
def test_byte_order_marks_are_no_tokens(tokeniser, text):
    text = text.format("\ufeff") + "fish swim"
    plain = text.replace("\ufeff", " ")
    assert tokeniser([text]) == tokeniser([plain])
    tokens = [text[begin:end] for spans in tokeniser([text])[0] for begin, end in spans]
    assert tokens[-2:] == ["fish", "swim"]
    assert "\ufeff" not in "".join(tokens)


def test_texts_together_are_what_they_are_alone(tokeniser):
    texts = ["They don't! Fish swim.", "", " \n", "a\n\nb"]
    assert tokeniser(texts) == [tokeniser([text])[0] for text in texts]
    assert tokeniser(texts, threads=2) == tokeniser(texts)


@pytest.mark.parametrize(
    ("text", "told"), [("a\0b", "character 1 of the text is NUL"), ("\ud800", "surrogate")]
)
def test_what_is_no_text_is_refused(tokeniser, text, told):
    with pytest.raises(ValueError, match=told):
        tokeniser([text])


def test_time_is_linear_without_blanks(tokeniser):
    """A chunk of any length has features of bounded length."""
    core = _core.Corpus("columns")
    core.add_characters(b"ab." * 100_000)
    assert max(map(len, core.strings(1))) <= 12
    begin = time.perf_counter()
    (sentences,) = tokeniser(["ab" * 500_000])
    assert sum(b - a for spans in sentences for a, b in spans) == 1_000_000
    assert time.perf_counter() - begin < 300  # quadratic time would be hours
