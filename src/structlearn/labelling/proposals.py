"""Proposals: what a tagger says of a text, as the page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..tasks.tagging.spans import labelled_words
from .kinds import Kind, Text

#: Probabilities below this are not shown as alternatives.
_LEAST = 0.02


@dataclass
class Proposal:
    """Labels of tokens, with the probability of each and the label that comes second.

    Attributes
    ----------
    labels : list of str
        None where there is nothing to propose.
    confidence : list of float, or None
        None: nothing was learned yet.
    rivals : list of (str, float) or None for each token
    chunks : list of float, or None
        The probability of the span that a token is in.
    """

    labels: list[str | None]
    confidence: list[float] | None = None
    rivals: list[tuple[str, float] | None] | None = None
    chunks: list[float] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return everything, for the page."""
        if self.confidence is None:
            return {"labels": self.labels, "confidence": None, "rivals": None, "chunks": None}
        sure = [round(p, 4) for p in self.confidence]
        rivals = [None if one is None else [one[0], round(one[1], 4)] for one in self.rivals or ()]
        chunks = None if self.chunks is None else [round(p, 4) for p in self.chunks]
        return {"labels": self.labels, "confidence": sure, "rivals": rivals, "chunks": chunks}


def proposal(tagger: Any, text: Text, kind: Kind) -> Proposal:
    """Return what a tagger proposes; without one there are no spans, and nothing else is known."""
    if tagger is None:
        return Proposal(["O" if kind.name == "spans" else None] * len(text.places))
    words = [[text.words[t] for t in sentence] for sentence in text.sentences]
    labels = [label for row in tagger.predict(words) for label in row]
    shares = [t for row in tagger.predict_marginals(words, temperature=1.0) for t in row]
    sure, rivals = [], list[tuple[str, float] | None]()
    for label, probabilities in zip(labels, shares, strict=True):
        sure.append(float(probabilities.get(label, 0.0)))
        rivals_of_token = [(p, k) for k, p in probabilities.items() if k != label and p >= _LEAST]
        rivals.append(
            (max(rivals_of_token)[1], float(max(rivals_of_token)[0])) if rivals_of_token else None
        )
    chunks = None
    if kind.name == "spans":
        chunks = [p for row in labelled_words(tagger, words, True) for _, p in row]
    return Proposal(labels, sure, rivals, chunks)
