"""The tags that a parser reads: predicted by taggers of its own, as it will meet them.

A parser that learned on gold tags trusts them too much. So the taggers label the training sentences
too, each fold by taggers that learned on the others (jack-knifing).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from ...text.corpus import Corpus
from ..jackknife import jackknife
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
    corpus: Corpus, column: str, n_jobs: int, random_state: int, n_models: int | None = None
) -> TaggerModel:
    """Return a tagger of one column of a corpus of CoNLL-U."""
    return (
        Tagger(
            "pos",
            target=column,
            names=False,
            n_models=n_models,
            n_jobs=n_jobs,
            random_state=random_state,
            unknown=_NOTHING_UNKNOWN,
        )
        .fit(corpus)
        .model_
    )


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
    out: Tags = []
    for column in TAG_COLUMNS:
        names: dict[str, int] = {}

        def learn(rest: Sequence[int], column: str = column) -> TaggerModel:
            return make_tagger(corpus.subset(rest), column, n_jobs, random_state, n_models=1)

        def predict(
            tagger: TaggerModel, held_out: Sequence[int], names: dict[str, int] = names
        ) -> list[int]:
            ((cells, own),) = predicted_tags([tagger], corpus.subset(held_out), n_jobs)
            numbers = [names.setdefault(name, len(names)) for name in own]
            return [numbers[cell] for cell in array("I", cells)]

        cells = jackknife(len(corpus), folds, learn, predict)
        out.append((array("I", cells).tobytes(), list(names)))
        if report is not None:
            gold = [tag for tags in corpus.column(column) for tag in tags]
            right = sum(names.get(tag) == cell for tag, cell in zip(gold, cells, strict=True))
            folded = min(folds, len(corpus))
            report(f"tags of {column} in {folded} folds: accuracy {right / len(gold):.4f}")
    return out
