"""The tags that a parser reads: predicted by taggers of its own, as it will meet them.

A parser that learned on gold tags trusts them too much. So the taggers label the training sentences
too, each fold by taggers that learned on the others (jack-knifing).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from ...text.corpus import Corpus
from ..tagging.model import TaggerModel
from ..tagging.tagger import Tagger

#: The columns that are predicted, in the order in which the native parser takes them.
TAG_COLUMNS = ("upos", "xpos", "feats")
#: For each of these columns the number of each token's tag and their names; None: as in the corpus.
Tags = list[Any]

#: Not a label of any treebank: the _ of an empty column is a label like others here.
_NOTHING_UNKNOWN = "\x00"


def make_tagger(
    corpus: Corpus, column: str, n_jobs: int, random_state: int, n_models: int | None = None
) -> TaggerModel:
    """Return a tagger of one column of a corpus of CoNLL-U."""
    model: TaggerModel = new_tagger(column, n_jobs, random_state, n_models).fit(corpus).model_
    return model


def new_tagger(column: str, n_jobs: int, random_state: int, n_models: int | None = None) -> Tagger:
    """Return a tagger of one column that has not learned yet."""
    return Tagger(
        "pos",
        learner="perceptron",
        target=column,
        names=False,
        n_models=n_models,
        n_jobs=n_jobs,
        random_state=random_state,
        unknown=_NOTHING_UNKNOWN,
    )


def column_tags() -> Tags:
    """Return what stands for the tags in the columns of a corpus."""
    return [None, None, None]


def predicted_tags(taggers: Sequence[TaggerModel], corpus: Corpus, n_jobs: int = 1) -> Tags:
    """Return the tags that taggers predict for a corpus of CoNLL-U."""
    return [(t.core.inputs(corpus.core).solve(n_jobs)[0], t.shown) for t in taggers]


class TaggedCorpus:
    """Sentences with the tags that parsing reads.

    Parameters
    ----------
    corpus : Corpus
        Of CoNLL-U.
    tags : Tags
    """

    def __init__(self, corpus: Corpus, tags: Tags) -> None:
        self.corpus, self.tags = corpus, tags

    @cached_property
    def words(self) -> list[list[str]]:
        """The words of each sentence."""
        return self.corpus.column("form")

    @cached_property
    def upos(self) -> list[list[str]]:
        """The universal tags of each sentence."""
        return tag_names(self.corpus, self.tags, 0)


def tag_names(corpus: Corpus, tags: Tags, column: int) -> list[list[str]]:
    """Return the tags of each sentence as parsing reads them."""
    if tags[column] is None:
        return corpus.column(TAG_COLUMNS[column])
    numbers, names = tags[column]
    flat = [names[k] for k in memoryview(numbers).cast("B").cast("I")]
    ends = accumulate(corpus.core.lengths(), initial=0)
    return [flat[begin:end] for begin, end in pairwise(ends)]
