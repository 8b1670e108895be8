"""Words as corpora of CoNLL-U, which the stages read."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from ... import _core
from ...text.corpus import Corpus

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any


def words_corpus(sentences: Sequence[Sequence[str]]) -> Corpus:
    """Return words as a corpus of CoNLL-U with nothing else in it."""
    core = _core.Corpus("conllu")
    for forms in sentences:
        n = len(forms)
        ids, blank = list(map(str, range(1, n + 1))), ["_"] * n
        core.add_sentence([ids, list(forms), *[blank] * 8])
    return Corpus(core, "conllu")


def sentence_corpus(
    sentences: Sequence[tuple[list[str], list[str], Sequence[Sequence[str]]]],
) -> Corpus:
    """Return sentences, each its forms, lemmas and rows of tags, as a corpus of CoNLL-U."""
    core = _core.Corpus("conllu")
    for forms, lemmas, tags in sentences:
        n = len(forms)
        ids, blank = list(map(str, range(1, n + 1))), ["_"] * n
        core.add_sentence([ids, forms, lemmas, *map(list, zip(*tags, strict=True)), *[blank] * 4])
    return Corpus(core, "conllu")


def tagged_corpus(sentences: Sequence[Sequence[Any]]) -> Corpus:
    """Return tokens that have their tags and lemmas as a corpus of CoNLL-U."""
    corpus = words_corpus([[token.text for token in tokens] for tokens in sentences])
    rows = [(token.upos, token.xpos, token.feats) for tokens in sentences for token in tokens]
    names = sorted(set(rows))
    place = {row: k for k, row in enumerate(names)}
    put_tags(corpus, map(place.__getitem__, rows), names)
    put_lemmas(corpus, [token.lemma for tokens in sentences for token in tokens])
    return corpus


def put_tags(corpus: Corpus, numbers: Iterable[int], combinations: Sequence[Any]) -> None:
    """Set the three columns of tags, given by the numbers of their combinations."""
    cells = array("I", numbers)
    for column in range(3):
        corpus.core.set_column(3 + column, cells, [row[column] for row in combinations])


def put_lemmas(corpus: Corpus, lemmas: Sequence[str]) -> None:
    """Set the column of lemmas."""
    names = sorted(set(lemmas))
    place = {name: k for k, name in enumerate(names)}
    corpus.core.set_column(2, array("I", map(place.__getitem__, lemmas)), names)
