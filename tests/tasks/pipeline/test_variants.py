"""Variants of texts for the tokeniser: what is put in is known, and the rest is what it was."""

import re

import pytest

from structlearn.tasks.pipeline.pipeline import Pipeline
from structlearn.tasks.pipeline.tokeniser import labelled_characters
from structlearn.tasks.pipeline.variants import LANGUAGES, variants
from structlearn.text.surface import raw_paragraphs

from .small_treebank import treebank

PARAGRAPHS = list(raw_paragraphs(treebank(300)))
KINDS = {
    "hashtag": re.compile(r"#\w+"),
    "user": re.compile(r"@\w+"),
    "address": re.compile(r"(https?://|www\.)\S+"),
    "element": re.compile(r"</?\w+[/>]*"),
    "abbreviation": re.compile(
        "|".join(re.escape(a) for some in LANGUAGES["english"].values() for a in some)
    ),
}


def made(seed=0, paragraphs=PARAGRAPHS):
    """Return what is made of texts: their tokens, the variant, and where its tokens lie."""
    found = []
    for text, sentences in paragraphs:
        for other, spans in variants(text, sentences, LANGUAGES["english"], seed):
            before = [[text[a:b] for a, b in row] for row in sentences]
            found.append((before, other, spans))
    return found


def among(items, kept):
    """Return whether some items are among others, in their order."""
    rest = iter(items)
    return all(any(item == other for other in rest) for item in kept)


def test_the_tokens_of_the_text_stay_in_their_sentences():
    found = made()
    assert len(found) > 20
    for before, text, spans in found:
        assert len(spans) == len(before)
        assert sum(map(len, spans)) > sum(map(len, before))
        for old, new in zip(before, spans, strict=True):
            assert among([text[a:b] for a, b in new], old)


def test_nothing_but_blanks_is_between_tokens():
    for _, text, spans in made():
        at = 0
        for begin, end in (span for row in spans for span in row):
            assert at <= begin < end
            assert not text[at:begin].strip()
            assert not re.search(r"\s", text[begin:end])
            at = end
        assert not text[at:].strip()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_put_in_as_a_token(kind):
    both = [*made(), *made(1), *made(2)]
    new = [text[a:b] for _, text, spans in both for row in spans for a, b in row]
    assert sum(KINDS[kind].fullmatch(token) is not None for token in new) > 5


def test_the_same_text_has_the_same_variant():
    forwards, backwards = made(), made(paragraphs=PARAGRAPHS[::-1])
    assert forwards == backwards[::-1]  # whatever texts there were before
    assert forwards != made(seed=1)


def test_the_texts_themselves_are_learned_from_as_well():
    plain, more = (
        [list(tokens) for tokens in labelled_characters(treebank(300), language)]
        for language in ("none", "english")
    )
    assert len(more) > len(plain)
    assert among(more, plain)


def test_the_languages_that_can_be_asked_for():
    for language in LANGUAGES:
        Pipeline(variants=language)._check_declared()
    known = " or ".join(map(repr, ["none", *LANGUAGES]))
    with pytest.raises(ValueError, match=f"variants must be {known}, got 'latin'"):
        Pipeline(variants="latin")._check_declared()
