"""Attachment scores of dependency trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..printing import joined_lines
from .bootstrap import Interval, bootstrap_interval
from .pairs import read_pairs
from .scores import Scores, score_rows

#: One tree per sentence: the (head, relation) of each word, head 0 being the root; None: unknown.
Trees = Iterable[Sequence[tuple[int | None, str | None]]]


@dataclass(frozen=True)
class AttachmentReport:
    """Attachment scores over all words, punctuation included, as the CoNLL 2018 task counts them.

    Attributes
    ----------
    uas : float
        Share of the words with the right head.
    las : float
        Share of the words with the right head and relation, subtypes included.
    label_accuracy : float
        Share of the words with the right relation, whatever their head.
    root_accuracy : float
        Share of the sentences whose root is right.
    exact : float
        Share of the sentences with every head and relation right.
    n_words, n_sentences : int
        Words whose head is known, and all sentences.
    by_label : dict of str to Scores
        A word with this relation is correct if its head is right too.
    """

    uas: float
    las: float
    label_accuracy: float
    root_accuracy: float
    exact: float
    n_words: int
    n_sentences: int
    by_label: dict[str, Scores]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {
            "uas": self.uas,
            "las": self.las,
            "label_accuracy": self.label_accuracy,
            "root_accuracy": self.root_accuracy,
            "exact": self.exact,
            "tokens": self.n_words,
            "sentences": self.n_sentences,
            "by_label": {label: scores.as_dict() for label, scores in self.by_label.items()},
        }

    def text(self) -> str:
        """Return a table: the scores, then each relation, the most frequent first."""
        lines = [
            f"{self.n_sentences} sentences, {self.n_words} words",
            f"UAS {100 * self.uas:.2f}  LAS {100 * self.las:.2f}  "
            f"relations {100 * self.label_accuracy:.2f}  roots {100 * self.root_accuracy:.2f}  "
            f"whole trees {100 * self.exact:.2f}",
            "",
            *score_rows("relation", "words", self.by_label),
        ]
        return joined_lines(lines) + "\n"


def attachment_report(gold: Trees, predicted: Trees) -> AttachmentReport:
    """Compare predicted with gold dependency trees.

    Parameters
    ----------
    gold, predicted : iterable of sequences of (head, relation)
        The same sentences in the same order; heads are numbered from 1, 0 is the root. A gold head
        or relation that is None is unknown and left out: a word without a head is not judged, one
        without a relation only by its head. A sentence with an unknown head does not count in
        ``root_accuracy``, and one without any known word not in ``exact``.

    Returns
    -------
    AttachmentReport

    Notes
    -----
    UAS is the share of words with the right head, LAS of those with the right relation too; time
    O(N) for N words.

    References
    ----------
    D. Zeman et al., CoNLL 2018 Shared Task: Multilingual Parsing from Raw Text to Universal
    Dependencies, 2018 (LAS over all words; there relations are cut at the colon, here they are
    compared whole).

    Examples
    --------
    >>> gold = [[(2, "nsubj"), (0, "root"), (2, "obj")]]
    >>> found = attachment_report(gold, [[(2, "nsubj"), (0, "root"), (2, "obl")]])
    >>> round(found.uas, 2), round(found.las, 2), found.root_accuracy
    (1.0, 0.67, 1.0)
    """
    heads = both = labels = roots = whole = 0
    words = labelled = rooted = judged = 0  # the denominators
    in_gold: Counter[str] = Counter()
    in_predicted: Counter[str] = Counter()
    right: Counter[str] = Counter()
    pairs = read_pairs(gold, predicted)
    for truth, guess in pairs:
        if all(head is not None for head, _ in truth):
            rooted += 1
            roots += _roots(truth) == _roots(guess)
        wrong, before = 0, words
        for (head, label), (other_head, other_label) in zip(truth, guess, strict=True):
            if head is None:
                continue
            words += 1
            heads += head == other_head
            wrong += head != other_head or label not in (None, other_label)
            if label is None:
                continue
            labelled += 1
            in_gold[label] += 1
            in_predicted[other_label] += 1
            labels += label == other_label
            if head == other_head and label == other_label:
                both += 1
                right[label] += 1
        if words > before or not truth:
            judged += 1
            whole += not wrong
    names = sorted({*in_gold, *in_predicted}, key=lambda name: (-in_gold[name], name))
    return AttachmentReport(
        uas=heads / max(words, 1),
        las=both / max(labelled, 1),
        label_accuracy=labels / max(labelled, 1),
        root_accuracy=roots / max(rooted, 1),
        exact=whole / max(judged, 1),
        n_words=words,
        n_sentences=len(pairs),
        by_label={name: Scores(right[name], in_predicted[name], in_gold[name]) for name in names},
    )


def _roots(tree: Sequence[tuple[int | None, str | None]]) -> list[int]:
    return [word for word, (head, _) in enumerate(tree) if head == 0]


def attachment_interval(
    gold: Trees, predicted: Trees, *, labelled: bool = True, **options: Any
) -> Interval:
    """Return the bootstrap interval of LAS, or of UAS if not ``labelled``.

    Parameters
    ----------
    options
        Those of :func:`bootstrap_interval`: confidence, n_resamples, random_state.
    """
    if not labelled:
        gold = [[(head, "") for head, _ in tree] for tree in gold]
        predicted = [[(head, "") for head, _ in tree] for tree in predicted]
    arcs = [[None if None in arc else arc for arc in tree] for tree in gold]
    interval = bootstrap_interval(arcs, predicted, "token_accuracy", **options)
    name = "las" if labelled else "uas"
    return Interval(
        name, interval.value, interval.low, interval.high, interval.confidence, interval.n_resamples
    )
