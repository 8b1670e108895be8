"""Predictions for training data by models that have not seen them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from ..text.corpus import Corpus

__all__ = ["jackknife", "jackknifed_tags"]

Model = TypeVar("Model")
Item = TypeVar("Item")


def jackknife(
    n_examples: int,
    folds: int,
    learn: Callable[[Sequence[int]], Model],
    predict: Callable[[Model, Sequence[int]], Iterable[Item]],
) -> list[Item]:
    """Return what is predicted for each fold by a model that learned from the others.

    A model that learns from the predictions of another one, such as a parser from those of a
    tagger, has to see them as they will be: for examples that the other one has learned from they
    would be too good. So would they be for examples between those that it has learned from, whose
    neighbours are like them: folds are of neighbours.

    Parameters
    ----------
    n_examples : int
        Examples have the numbers from 0 to this, in ``folds`` folds of neighbours, at most as many
        as there are examples. A single example has nothing else to learn from than itself.
    learn : callable
        Makes a model from the examples with these numbers.
    predict : callable
        Gives the model's predictions for the examples with these numbers, in their order.

    Returns
    -------
    list
        The predictions of all folds, one after another.

    Examples
    --------
    >>> from structlearn.fitting.jackknife import jackknife
    >>> y = [0.0, 2.0, 4.0, 6.0]
    >>> jackknife(4, 2, lambda rest: sum(y[i] for i in rest) / 2, lambda m, held: [m for _ in held])
    [5.0, 5.0, 1.0, 1.0]
    """
    folds = max(1, min(folds, n_examples))
    found: list[Item] = []
    for k in range(folds):
        begin, end = k * n_examples // folds, (k + 1) * n_examples // folds
        rest = [*range(begin), *range(end, n_examples)]
        found.extend(predict(learn(rest or range(n_examples)), range(begin, end)))
    return found


def jackknifed_tags(
    corpus: Corpus, folds: int, learn: Callable[[Corpus], Any], n_jobs: int = 1
) -> tuple[array[int], list[str]]:
    """Return predicted tags for the sentences that taggers are to be learned from.

    Parameters
    ----------
    corpus : Corpus
        Sentences with their tags.
    learn : callable
        Makes a tagger from a part of the corpus.

    Returns
    -------
    numbers : array of unsigned int
        The number of each token's tag.
    names : list of str
        The tags that they stand for.
    """
    names: dict[str, int] = {}

    def predict(tagger: Any, held_out: Sequence[int]) -> list[int]:
        outputs = tagger.inputs(corpus.subset(held_out)).solve(n_jobs).outputs
        numbers = [names.setdefault(name, len(names)) for name in tagger.shown]
        return [numbers[cell] for row in outputs for cell in row]

    found = jackknife(len(corpus), folds, lambda rest: learn(corpus.subset(rest)), predict)
    return array("I", found), list(names)
