"""Sentences that are worth a look: those that a model doubts, and those that a tagger gets wrong.

A task says what it ranks (``_pool``) and how an output is shown (``_seen``); doubt is asked of the
model's queries, whatever the task.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..models.temperature import temperature_of

#: What sentences are ordered by -> what it is.
ORDERS = {
    "entropy": "the entropy of all outputs of the sentence, in nats: long sentences first",
    "mean": "the same, divided by the number of tokens",
    "least": "1 − the probability of the part that is least sure: a label, an arc, a span, a word",
    "whole": "1 − the probability of the output as a whole",
}
#: Sentences that are asked about at a time.
_AT_ONCE = 2000
#: Parts below this are counted in the reason.
_SURE = 0.9


class Pool(NamedTuple):
    """Sentences to be ranked.

    Attributes
    ----------
    n : int
    inputs : callable
        From the numbers of some sentences, from 0, to them as scored inputs.
    line : callable
        From a number to the line of the file that the sentence begins on; 0: not known.
    """

    n: int
    inputs: Callable[[Sequence[int]], Any]
    line: Callable[[int], int]


class Seen(NamedTuple):
    """An output as it is shown.

    Attributes
    ----------
    words : list of str
    labels : list of str
        Its parts, as they are written.
    confidence : list of float
        The probability that each of them is right.
    said : callable
        From the number of a part to what it says, in words.
    others : callable, optional
        From the number of a part, and its marginals, to those of what may stand in its place.
    """

    words: list[str]
    labels: list[str]
    confidence: list[float]
    said: Callable[[int], str]
    others: Callable[[int, Any], Iterable[tuple[str, float]]] | None = None


class Looked(NamedTuple):
    """A sentence with what a model says of it.

    Attributes
    ----------
    number, line : int
        Its number, from 1, and the line of the file that it begins on.
    words, labels : list of str
        Labels are what the model predicts: a label for each token, ``2:obj`` for each word of a
        dependency tree, ``0-3:NP`` for each constituent, the words of a text that was cut.
    gold : list of str or None
        The labels of the file, None where they are unknown; None: it has none, or was not asked.
    confidence : list of float
        The probability that each label is right.
    doubt : float
        What it is ordered by; see :data:`ORDERS`.
    reason : str
        What the model is least sure of, in words.
    """

    number: int
    line: int
    words: list[str]
    labels: list[str]
    gold: Sequence[str | None] | None
    confidence: list[float]
    doubt: float
    reason: str = ""

    @property
    def wrong(self) -> list[int]:
        """The tokens whose label is not that of the file."""
        gold = self.gold or [None] * len(self.labels)
        pairs = enumerate(zip(self.labels, gold, strict=True))
        return [t for t, (label, right) in pairs if right is not None and right != label]

    @property
    def sureness(self) -> float:
        """The probability of the wrong label that the tagger is most sure of."""
        return max((self.confidence[t] for t in self.wrong), default=0.0)


def _look(task: Any, pool: Pool, numbers: Sequence[int], by: str, gold: Any = None) -> list[Looked]:
    """Return what a task says of some sentences."""
    inputs, at = pool.inputs(numbers), temperature_of(task.temperature_)
    outputs = inputs.solve(task.n_threads).outputs
    sure = task._confidences(inputs, outputs)
    seen = [task._seen(inputs, i, outputs[i], sure[i]) for i in range(len(outputs))]
    if by == "least":
        doubts = [1 - min(one.confidence, default=1.0) for one in seen]
    elif by == "whole":
        doubts = [-math.expm1(p) for p in task._log_shares(inputs, None, at)]
    else:
        doubts = inputs.entropy(at, task.n_threads)
    if by == "mean":
        doubts = [doubt / len(one.words) for doubt, one in zip(doubts, seen, strict=True)]
    return [
        Looked(
            n + 1, pool.line(n), one.words, one.labels, None if gold is None else gold[n],
            one.confidence, max(0.0, doubt),
        )
        for n, one, doubt in zip(numbers, seen, doubts, strict=True)
    ]  # fmt: skip


def least_sure(
    task: Any, X: Any, n: int, by: str = "entropy", format: str | None = None
) -> list[Looked]:
    """Return the sentences that a task doubts most, the most doubtful one first.

    Parameters
    ----------
    task : FileTask
    X : as ``predict`` takes it
    n : int
        How many.
    by : {"entropy", "mean", "least", "whole"}
        What doubt is: see :data:`ORDERS`. Of equal ones the first of the file comes first.
    format : str, optional
        Of the file; by default it is guessed.

    Returns
    -------
    list of Looked
        With the reason: the part that is least sure, and what else may stand in its place.
    """
    if by not in ORDERS:
        raise ValueError(f"by must be one of {', '.join(ORDERS)}, got {by!r}")
    task._at(None)  # warns if probabilities cannot be trusted
    pool, best = task._pool(X, format), list[Looked]()
    for first in range(0, pool.n, _AT_ONCE):
        best += _look(task, pool, range(first, min(first + _AT_ONCE, pool.n)), by)
        best.sort(key=lambda one: (-one.doubt, one.number))
        del best[n:]
    return _with_reasons(task, pool, best)


def _with_reasons(task: Any, pool: Pool, best: list[Looked]) -> list[Looked]:
    """Return what was found with the reason for each."""
    if not best:
        return []
    inputs, at = pool.inputs([one.number - 1 for one in best]), temperature_of(task.temperature_)
    outputs = inputs.solve(task.n_threads).outputs
    sure = task._confidences(inputs, outputs)
    seen = [task._seen(inputs, i, output, sure[i]) for i, output in enumerate(outputs)]
    rivals = [None] * len(seen)
    if seen[0].others is not None:
        rivals = task._marginals(inputs, at, 0.0)
    return [
        one._replace(reason=_reason(look, parts, task._parts))
        for one, look, parts in zip(best, seen, rivals, strict=True)
    ]


def _reason(seen: Seen, marginals: Any, parts: str) -> str:
    if not seen.confidence:
        return f"it has no {parts}"
    k = min(range(len(seen.labels)), key=seen.confidence.__getitem__)
    told = f"{seen.said(k)} with {seen.confidence[k]:.2f}"
    others = () if seen.others is None else seen.others(k, marginals)
    if other := max(others, key=lambda one: one[1], default=None):
        told += f", or {other[0]} with {other[1]:.2f}"
    unsure = sum(p < _SURE for p in seen.confidence)
    return told + (f"; {unsure} {parts} are below {_SURE:.2f}" if unsure > 1 else "")


def mistakes(tagger: Any, gold: Any, format: str | None = None) -> list[Looked]:
    """Return the sentences with wrong labels, those first whose wrong label is surest.

    Parameters
    ----------
    tagger : Tagger or SegmentTagger
    gold : as ``evaluate`` takes it
    """
    corpus = tagger._gold_corpus(gold, None, format)
    labels = tagger._as_written(tagger._fitted().gold(corpus, some=True))
    pool, found = tagger._pool(corpus), list[Looked]()
    for first in range(0, pool.n, _AT_ONCE):
        numbers = range(first, min(first + _AT_ONCE, pool.n))
        found += [one for one in _look(tagger, pool, numbers, "entropy", labels) if one.wrong]
    return sorted(found, key=lambda one: (-one.sureness, one.number))
