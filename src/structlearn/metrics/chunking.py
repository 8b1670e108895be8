"""Precision, recall and F1 of chunks, as the CoNLL shared tasks count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..printing import joined_lines
from .boundaries import chunks, split_label
from .pairs import Sentences, read_pairs
from .scores import Averages, Scores

Span = tuple[int, int, str]


@dataclass(frozen=True)
class ChunkReport:
    """Scores of chunks. ``str()`` of it is :meth:`text`.

    Attributes
    ----------
    n_tokens, n_right : int
        Tokens with a known gold label, and those of them whose label is right.
    by_type : dict of str to Scores
        For every type with a gold or predicted chunk; sorted.
    """

    n_tokens: int
    n_right: int
    by_type: dict[str, Scores]

    @property
    def overall(self) -> Scores:
        """Scores of all chunks together."""
        return sum(self.by_type.values(), Scores(0, 0, 0))

    @property
    def macro(self) -> Averages:
        """Unweighted means over the types."""
        return Averages.of(list(self.by_type.values()))

    @property
    def accuracy(self) -> float:
        """Share of tokens whose label is right; 0.0 without tokens."""
        return self.n_right / self.n_tokens if self.n_tokens else 0.0

    def text(self) -> str:
        """Return the report in conlleval's layout.

        The number at the end of a type's line counts predicted chunks.
        """
        all_ = self.overall
        lines = [
            f"processed {self.n_tokens} tokens with {all_.gold} phrases; "
            f"found: {all_.predicted} phrases; correct: {all_.correct}."
        ]
        if self.n_tokens:
            share = 100 * self.n_right / self.n_tokens
            lines.append(f"accuracy: {share:6.2f}%; {_percentages(all_)}")
        lines += [
            f"{kind:>17}: {_percentages(s)}  {s.predicted}" for kind, s in self.by_type.items()
        ]
        return joined_lines(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {
            "tokens": self.n_tokens,
            "accuracy": self.accuracy,
            "overall": self.overall.as_dict(),
            "macro": self.macro.as_dict(),
            "by_type": {kind: s.as_dict() for kind, s in self.by_type.items()},
        }

    def __str__(self) -> str:
        return self.text()


def chunk_report(gold: Sentences, predicted: Sentences) -> ChunkReport:
    """Score predicted chunks: one is right if it has the extent and the type of a gold chunk.

    Chunks are read from the labels by the rules of conlleval (:func:`chunks`), so gold and
    predicted labels may be in different schemes; the token accuracy compares the labels as they
    are. A predicted None is outside and wrong. The precision is 0.0 without predicted chunks, the
    recall without gold chunks, F1 without either.

    A gold None is an unknown label. Chunks, gold or predicted, that contain such a token or are
    next to one are left out, since their correctness depends on that label. All others count: their
    own tokens and the two neighbours decide.

    Parameters
    ----------
    gold, predicted : iterable of sequences of str

    Returns
    -------
    ChunkReport

    References
    ----------
    E. F. Tjong Kim Sang and S. Buchholz, Introduction to the CoNLL-2000 shared task, 2000.

    Examples
    --------
    >>> gold = [["B-NP", "I-NP", "B-VP", "O"]]
    >>> report = chunk_report(gold, [["B-NP", "I-NP", "B-NP", "O"]])
    >>> print(report)
    processed 4 tokens with 2 phrases; found: 2 phrases; correct: 1.
    accuracy:  75.00%; precision:  50.00%; recall:  50.00%; FB1:  50.00
                   NP: precision:  50.00%; recall: 100.00%; FB1:  66.67  2
                   VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0
    """
    pairs = read_pairs(gold, predicted)
    expected, proposed, right = Counter[str](), Counter[str](), Counter[str]()
    for truth, guess in _spans(pairs):
        expected.update(kind for _, _, kind in truth)
        proposed.update(kind for _, _, kind in guess)
        right.update(kind for _, _, kind in set(truth).intersection(guess))
    by_type = {
        k: Scores(right[k], proposed[k], expected[k])
        for k in sorted(expected.keys() | proposed.keys())
    }
    n_right = sum(_right(truth, guess) for truth, guess in pairs)
    n_known = sum(len(truth) - truth.count(None) for truth, _ in pairs)
    return ChunkReport(n_known, n_right, by_type)


def chunk_f1(gold: Sentences, predicted: Sentences) -> float:
    """Return the F1 of all chunks together; see :func:`chunk_report`.

    Examples
    --------
    >>> chunk_f1([["B-NP", "I-NP", "B-VP", "O"]], [["B-NP", "I-NP", "B-NP", "O"]])
    0.5
    """
    counts = chunk_counts(gold, predicted)
    return Scores(*(sum(row[j] for row in counts) for j in range(3))).f1


def chunk_counts(gold: Sentences, predicted: Sentences) -> list[tuple[int, int, int]]:
    """Return the numbers of (right, predicted, gold) chunks of each sentence."""
    return [
        (len(set(truth).intersection(guess)), len(guess), len(truth))
        for truth, guess in _spans(read_pairs(gold, predicted))
    ]


def _right(truth: list[Any], guess: list[Any]) -> int:
    """Return the number of correct labels; conlleval takes "B-" for "B"."""
    if truth == guess and None not in truth:
        return len(truth)
    return sum(
        a == b or (b is not None and split_label(a) == split_label(b))
        for a, b in zip(truth, guess, strict=True)
        if a is not None
    )


def _spans(pairs: list[tuple[list[Any], list[Any]]]) -> Iterator[tuple[list[Span], list[Span]]]:
    for i, (truth, guess) in enumerate(pairs):
        try:
            yield _judged(chunks(truth), truth), _judged(chunks(guess), truth)
        except TypeError as error:
            raise TypeError(f"sentence {i}, {error}") from None


def _judged(spans: list[Span], truth: list[Any]) -> list[Span]:
    """Return the chunks whose tokens and neighbours all have known gold labels."""
    if None not in truth:
        return spans
    return [(a, b, kind) for a, b, kind in spans if None not in truth[max(a - 1, 0) : b + 1]]


def _percentages(scores: Scores) -> str:
    """Return the ratios in conlleval's layout, with the same rounding."""
    precision = 100 * scores.correct / scores.predicted if scores.predicted else 0.0
    recall = 100 * scores.correct / scores.gold if scores.gold else 0.0
    both = precision + recall
    f1 = 2 * precision * recall / both if both else 0.0
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"
