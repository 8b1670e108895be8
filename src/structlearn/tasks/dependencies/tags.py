"""The tags that a parser reads: predicted by taggers of its own, as it will meet them.

A parser that learned on gold tags trusts them too much. So the taggers label the training sentences
too, each fold by taggers that learned on the others (jack-knifing).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from ...text.corpus import Corpus
from ..tagging.model import TaggerModel
from ..tagging.tagger import Tagger

__all__ = ["TAG_COLUMNS", "Tags", "column_tags", "jackknifed_tags", "make_tagger", "predicted_tags"]

#: The columns that are predicted, in the order in which the native parser takes them.
TAG_COLUMNS = ("upos", "xpos", "feats")
#: For each of these columns the number of each token's tag and their names; None: as in the corpus.
Tags = list[Any]

#: No label of any treebank: the _ of an empty column is a label like others here.
_NOTHING_UNKNOWN = "\x00"


def make_tagger(
    sentences: Sequence[tuple[list[str], list[str]]] | Corpus,
    column: str,
    n_jobs: int,
    random_state: int,
    n_models: int | None = None,
) -> Tagger:
    """Return a tagger of one column, learned from words and their tags, or from a corpus."""
    tagger = Tagger(
        "pos",
        target=2 if not isinstance(sentences, Corpus) else column,
        names=False,
        n_models=n_models,
        n_jobs=n_jobs,
        random_state=random_state,
        unknown=_NOTHING_UNKNOWN,
    )
    if isinstance(sentences, Corpus):
        return tagger.fit(sentences)
    return tagger.fit([list(zip(*pair, strict=True)) for pair in sentences])


def column_tags() -> Tags:
    """Return what stands for the tags in the columns of a corpus."""
    return [None, None, None]


def predicted_tags(taggers: Sequence[TaggerModel], corpus: Corpus, n_jobs: int = 1) -> Tags:
    """Return the tags that taggers predict for a corpus of CoNLL-U."""
    return [(t.core.predict(corpus._core, b"", n_jobs), t.shown) for t in taggers]


def jackknifed_tags(
    corpus: Corpus, folds: int, n_jobs: int, random_state: int, report: Any = None
) -> Tags:
    """Return predicted tags for the sentences that the taggers are to be learned from.

    Fold k of contiguous sentences gets its tags from taggers that learned on the others.

    Parameters
    ----------
    report : callable, optional
        Called with a line of text now and then.
    """
    n = len(corpus)
    folds = min(folds, n)
    words = corpus.column("form")
    bounds = [k * n // folds for k in range(folds + 1)]
    out: Tags = []
    for column in TAG_COLUMNS:
        gold = corpus.column(column)
        pairs = list(zip(words, gold, strict=True))
        names: dict[str, int] = {}
        cells = array("I")
        wrong = 0
        for k in range(folds):
            held_out = slice(bounds[k], bounds[k + 1])
            rest = pairs[: bounds[k]] + pairs[bounds[k + 1] :]
            if not rest:  # a single sentence: nothing to hold out
                rest = pairs
            tagger = make_tagger(rest, column, n_jobs, random_state, n_models=1)
            found = tagger.predict(words[held_out])
            for tags, truth in zip(found, gold[held_out], strict=True):
                cells.extend(names.setdefault(tag, len(names)) for tag in tags)
                wrong += sum(a != b for a, b in zip(tags, truth, strict=True))
        out.append((cells.tobytes(), list(names)))
        if report is not None:
            accuracy = 1 - wrong / max(1, corpus.n_tokens)
            report(f"tags of {column} in {folds} folds: accuracy {accuracy:.4f}")
    return out
