"""Entities and other labels of tokens: layers, each learned from a file of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...text.corpus import Corpus
from ...text.layouts import Layout, as_trained, columns_read
from ...text.sources import not_empty, read_source
from ..tagging.model import TaggerModel
from ..tagging.tagger import Tagger
from .corpora import tagged_corpus


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
    given = {"learner": "perceptron", "names": False, **parameters}
    model: TaggerModel = Tagger("ner", **given).fit(corpus).model_
    return model


def forms_corpus(sentences: Sequence[Sequence[Any]]) -> Corpus:
    """Return the texts of tokens as a corpus in columns."""
    return Corpus.from_sentences([[(token.text,) for token in tokens] for tokens in sentences])


def labeller_corpus(model: Any, sentences: Sequence[Sequence[Any]]) -> Corpus:
    """Return tokens as a model reads them that gives them labels.

    One that reads more than their text finds their lemmas, UPOS (as ``pos``), XPOS and features.
    """
    if model.format == "columns" and columns_read(model) in ([], ["word"]):
        return forms_corpus(sentences)
    return as_trained(model, tagged_corpus(sentences))


def check_labeller(name: str, model: Any) -> None:
    """Refuse a model that cannot give the tokens of a pipeline labels."""
    if model.templates.functions:
        raise ValueError(
            f"the stage {name!r} calls functions in its features, which files of pipelines do not "
            "hold: train it without call()"
        )
    try:
        Layout(model, "conllu", 10)
    except ValueError as error:
        raise ValueError(f"the stage {name!r} does not fit a pipeline: {error}") from None
