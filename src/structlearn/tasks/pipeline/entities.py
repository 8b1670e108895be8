"""Entities: a further layer, learned from a file of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...text.corpus import Corpus
from ...text.sources import not_empty, read_source
from ..tagging.model import TaggerModel
from ..tagging.tagger import Tagger

__all__ = ["entity_labels", "forms_corpus", "read_entities", "train_entities"]


def read_entities(X: Any) -> Corpus:
    """Return words with labels such as ``B-PER``, ``I-PER`` and ``O`` in two columns.

    Parameters
    ----------
    X : path, Corpus or list of sentences
        In columns: the first one has the words, the last one the labels; what is between is not
        read.
    """
    corpus = not_empty(read_source(X), "the corpus of entities")
    if corpus.format != "columns":
        raise ValueError(
            f"entities are learned from a file in columns, a word and its label on each line; this "
            f"one is {corpus.format}"
        )
    return Corpus.from_sentences([[(row[0], row[-1]) for row in sentence] for sentence in corpus])


def train_entities(corpus: Corpus, **parameters: Any) -> TaggerModel:
    """Learn entities from what :func:`read_entities` gives; parameters are those of a tagger."""
    model: TaggerModel = Tagger("ner", names=False, **parameters).fit(corpus).model_
    return model


def forms_corpus(sentences: Sequence[Sequence[Any]]) -> Corpus:
    """Return the forms of words as a corpus in columns."""
    return Corpus.from_sentences([[(word.form,) for word in words] for words in sentences])


def entity_labels(
    model: TaggerModel, sentences: Sequence[Sequence[Any]], threads: int
) -> list[str]:
    """Return the labels of the words of all sentences."""
    found = model.label_corpus(forms_corpus(sentences), threads)
    return [label for row in found for label in row]
