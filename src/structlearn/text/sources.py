"""What stands for a corpus: a file, a list of sentences, sentences and their labels apart."""

from __future__ import annotations

import os

from ..exceptions import FileError
from .corpus import Corpus, read_corpus, split_sentence

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["check_source", "not_empty", "paired", "read_source", "with_labels"]


def read_source(source: Any, format: str | None = None) -> Corpus:
    """Return the corpus that a path, a corpus or a list of sentences stands for."""
    if isinstance(source, Corpus):
        return source
    if isinstance(source, (str, os.PathLike)):
        return read_corpus(source, format)
    return Corpus.from_sentences(check_source(source))


def not_empty(corpus: Corpus, name: str = "the corpus") -> Corpus:
    """Return a corpus to learn from or to be judged by, which must have sentences."""
    if not len(corpus):
        raise FileError(corpus.path or name, "there are no sentences in it")
    return corpus


def check_source(source: Any) -> Any:
    """Refuse what is neither a path nor a list of sentences, such as None."""
    named = isinstance(source, (str, os.PathLike))
    if not named and (isinstance(source, (bytes, dict)) or not hasattr(source, "__iter__")):
        kind = "None" if source is None else f"{type(source).__name__} {source!r:.40}"
        raise ValueError(
            f"sentences are a file's name, a Corpus or a list of sentences, got {kind}"
        )
    return source


def paired(X: Any, y: Any) -> list[tuple[Any, Any]]:
    """Return sentences with what scikit-learn keeps apart from them; a dev set is refused."""
    if isinstance(X, (str, os.PathLike)):
        raise ValueError("y goes with a list of sentences; a file has its labels in it")
    if isinstance(y, (str, os.PathLike, Corpus)):
        raise ValueError("y is a list with the labels of each sentence; a dev set is given as dev=")
    sentences, labels = list(check_source(X)), list(check_source(y))
    if len(sentences) != len(labels):
        raise ValueError(
            f"X has {len(sentences)} sentences, y has {len(labels)} (a dev set is given as dev=)"
        )
    return list(zip(sentences, labels, strict=True))


def with_labels(X: Any, y: Any) -> list[list[tuple[Any, ...]]]:
    """Return sentences whose tokens have their labels, given apart, as their last column."""
    found = []
    for number, (sentence, labels) in enumerate(paired(X, y)):
        tokens = split_sentence(sentence)
        if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
            raise ValueError(
                f"sentence {number}: y has a label, a string, for each token (a dev set is given "
                "as dev=)"
            )
        if len(tokens) != len(labels):
            raise ValueError(f"sentence {number} has {len(tokens)} tokens, y has {len(labels)}")
        cells = [(t,) if isinstance(t, str) else tuple(t) for t in tokens]
        found.append([(*t, label) for t, label in zip(cells, labels, strict=True)])
    return found
