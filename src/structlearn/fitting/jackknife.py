"""Predictions for training data by models that have not seen them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, TypeVar

from ..text.corpus import Corpus
from .parts import Parts
from .split_corpus import SplitCorpus

Model = TypeVar("Model")
Item = TypeVar("Item")


def jackknifed(
    parts: Parts,
    corpus_of: Callable[[Any], Corpus],
    folds: int,
    learn: Callable[[SplitCorpus], Model],
    predict: Callable[[Model, Corpus], Iterable[Item]],
) -> Parts:
    """Return what is predicted for each fold by a model that learned from the others.

    A model that learns from the predictions of another one, such as a parser from those of a
    tagger, has to see them as they will be: for examples that the other one has learned from they
    would be too good. So would they be for examples between those that it has learned from, whose
    neighbours are like them: folds are of neighbours. They are those of the corpus, whatever its
    parts are.

    Parameters
    ----------
    parts : Parts
    corpus_of : callable
        Gives the sentences of a part.
    folds : int
        At most as many as there are sentences. A single sentence has nothing else to learn from
        than itself.
    learn : callable
        Makes a model from some of the sentences; it is sent to where the parts are.
    predict : callable
        Gives the model's predictions for sentences, in their order.

    Returns
    -------
    Parts
        What there is of each part, and the list of the predictions for it.
    """
    corpus = SplitCorpus(parts.then(corpus_of))
    n, begins = len(corpus), list(accumulate(corpus.sizes, initial=0))
    folds = max(1, min(folds, n))
    made = parts.then(_unpredicted)
    for k in range(folds):
        fold = k * n // folds, (k + 1) * n // folds
        held = [
            tuple(min(max(place - begin, 0), size) for place in fold)
            for begin, size in zip(begins, corpus.sizes, strict=False)
        ]
        model = learn(corpus.then(_without, own=held) if folds > 1 else corpus)
        made = made.then(_with_predictions, corpus_of, model, predict, own=held)
    return made


def _unpredicted(item: Any) -> tuple[Any, list[Any]]:
    return item, []


def _without(corpus: Corpus, held: tuple[int, int]) -> Corpus | None:
    begin, end = held
    rest = [*range(begin), *range(end, len(corpus))]
    return corpus.subset(rest) if rest else None


def _with_predictions(
    made: tuple[Any, list[Item]],
    held: tuple[int, int],
    corpus_of: Callable[[Any], Corpus],
    model: Model,
    predict: Callable[[Model, Corpus], Iterable[Item]],
) -> tuple[Any, list[Item]]:
    item, found = made
    if held[0] < held[1]:
        found = [*found, *predict(model, corpus_of(item).subset(range(*held)))]
    return item, found


def numbered(items: Sequence[Item]) -> tuple[array[int], list[Item]]:
    """Return items as numbers, and the different items that these stand for."""
    numbers: dict[Item, int] = {}
    cells = array("I", (numbers.setdefault(item, len(numbers)) for item in items))
    return cells, list(numbers)
