"""Sentences that are worth a look: those that a tagger doubts, and those that it gets wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...models.temperature import temperature_of

#: What sentences are ordered by -> what it is.
ORDERS = {
    "entropy": "the entropy of the sentence's labels, in nats: long sentences first",
    "mean": "the same, divided by the number of tokens",
    "least": "1 − the probability of the label that is least sure",
}
#: Sentences that are asked about at a time.
_AT_ONCE = 2000


class Looked(NamedTuple):
    """A sentence with what a tagger says of it.

    Attributes
    ----------
    number, line : int
        Its number, from 1, and the line of the file that it begins on.
    words, labels : list of str
    gold : list of str or None
        The labels of the file, None where they are unknown; None: it has none.
    confidence : list of float
        The probability that the label of each token is right.
    doubt : float
        What it is ordered by; see :data:`ORDERS`.
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


def _look(tagger: Any, corpus: Any, by: str, first: int, gold: Any = None) -> list[Looked]:
    """Return the sentences of a corpus; ``first``: the number of the first one, from 0."""
    model = tagger._fitted()
    inputs = model.inputs(corpus)
    outputs = inputs.solve(tagger.n_threads).outputs
    named = tagger._all_named(inputs, outputs)
    sure = tagger._confidences(inputs, outputs)
    entropy = [0.0] * len(named)
    if by != "least":
        entropy = inputs.entropy(temperature_of(tagger.temperature_), tagger.n_threads)
    column, rows = 1 if model.format == "conllu" else 0, []
    for i, labels in enumerate(named):
        confidence = list(sure[i])
        if hasattr(model, "segments"):
            spans = zip(model.segments(outputs[i]), confidence, strict=True)
            confidence = [p for (begin, end, *_), p in spans for _ in range(begin, end)]
        doubt = 1 - min(confidence) if by == "least" else entropy[i]
        doubt = max(0.0, doubt / len(labels) if by == "mean" else doubt)
        line = int(corpus.core.line_number(i, 0))
        told = None if gold is None else gold[i]
        words = corpus.cells(i, column)
        rows.append(Looked(first + i + 1, line, words, list(labels), told, confidence, doubt))
    return rows


def least_sure(tagger: Any, X: Any, n: int, by: str = "entropy") -> list[Looked]:
    """Return the sentences that the tagger doubts most, the most doubtful one first.

    Parameters
    ----------
    tagger : Tagger or SegmentTagger
    X : as ``predict`` takes it
    n : int
        How many.
    by : {"entropy", "mean", "least"}
        What doubt is: see :data:`ORDERS`. Of equal ones the first of the file comes first.

    Returns
    -------
    list of Looked
        With the reason: the label that is least sure, and the next one where there are marginals.
    """
    if by not in ORDERS:
        raise ValueError(f"by must be one of {', '.join(ORDERS)}, got {by!r}")
    tagger._at(None)  # warns if probabilities cannot be trusted
    corpus, best = tagger._read_input(X), []
    for first in range(0, len(corpus), _AT_ONCE):
        part = corpus.subset(range(first, min(first + _AT_ONCE, len(corpus))))
        best += _look(tagger, part, by, first)
        best.sort(key=lambda one: (-one.doubt, one.number))
        del best[n:]
    rivals = _rivals(tagger, corpus.subset([one.number - 1 for one in best]))
    return [
        one._replace(reason=_reason(one, marginals))
        for one, marginals in zip(best, rivals, strict=True)
    ]


def _rivals(tagger: Any, corpus: Any) -> list[Any]:
    """Return the probabilities of all labels of each token; None where there are none."""
    if not len(corpus):
        return []
    if hasattr(tagger._fitted(), "segments"):  # those of segments are of places and lengths
        return [None] * len(corpus)
    at = temperature_of(tagger.temperature_)
    found: list[Any] = tagger.predict_marginals(corpus, temperature=at)
    return found


def _reason(one: Looked, marginals: Any) -> str:
    t = min(range(len(one.labels)), key=one.confidence.__getitem__)
    label, p = one.labels[t], one.confidence[t]
    told = f"{one.words[t]!r} is {label} with {p:.2f}"
    others = {} if marginals is None else {k: q for k, q in marginals[t].items() if k != label}
    if others:
        other = max(others, key=others.__getitem__)
        told += f", or {other} with {others[other]:.2f}"
    unsure = sum(q < 0.9 for q in one.confidence)
    return told + (f"; {unsure} labels are below 0.90" if unsure > 1 else "")


def mistakes(tagger: Any, gold: Any, format: str | None = None) -> list[Looked]:
    """Return the sentences with wrong labels, those first whose wrong label is surest.

    Parameters
    ----------
    tagger : Tagger or SegmentTagger
    gold : as ``evaluate`` takes it
    """
    corpus = tagger._gold_corpus(gold, None, format)
    labels = tagger._as_written(tagger._fitted().gold(corpus, some=True))
    found: list[Looked] = []
    for first in range(0, len(corpus), _AT_ONCE):
        numbers = range(first, min(first + _AT_ONCE, len(corpus)))
        rows = [labels[i] for i in numbers]
        looked = _look(tagger, corpus.subset(numbers), "entropy", first, rows)
        found += [one for one in looked if one.wrong]
    return sorted(found, key=lambda one: (-one.sureness, one.number))
