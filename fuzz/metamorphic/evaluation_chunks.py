"""Relations on random chunks and their scores, against independent rules and seqeval."""

from __future__ import annotations

import importlib.util
import itertools
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import demand_same, plain
from fuzz.metamorphic.oracles import chunk_scores as chunking
from fuzz.metamorphic.oracles.schemes import is_legal
from fuzz.metamorphic.relation import relation
from structlearn import metrics
from structlearn.metrics.boundaries import chunks
from structlearn.metrics.chunking import chunk_counts

Rng = np.random.Generator
#: The tolerance for one division more or less.
ROUNDING = 1e-12

#: Schemes -> the tags of labels, from which any sequence is drawn.
SCHEMES = {"iob1": "BIO", "bio": "BIO", "iobes": "BIOES", "bilou": "BILOU"}
TYPES = ("PER", "LOC", "date-time", "x", "")


def _chunked(rng: Rng, types: Any = TYPES) -> tuple[list[tuple[int, int, str]], int]:
    """Return chunks of a sentence, and its length."""
    length = int(rng.integers(1, 9))
    spans, at = [], 0
    while at < length:
        end = min(length, at + int(rng.integers(1, 4)))
        if rng.random() < 0.6:
            spans.append((at, end, str(rng.choice(types))))
        at = end
    return spans, length


def _any_labels(rng: Rng, length: int, tags: str, types: Any = TYPES) -> list[str]:
    """Return labels in random order."""
    rows = zip(rng.choice(list(tags), size=length), rng.choice(types, size=length), strict=True)
    return ["O" if t == "O" else f"{t}-{k}" if k else str(t) for t, k in rows]


def corrupted(rng: Rng, labels: list[str], other: list[str]) -> list[str]:
    """Return labels with random replacements."""
    return [b if rng.random() < 0.25 else a for a, b in zip(labels, other, strict=True)]


def _labelled(rng: Rng, scheme: str, types: Any = TYPES) -> tuple[list[Any], list[Any]]:
    """Return gold labels, mostly of valid chunks, and predicted ones, of a few sentences."""
    gold, predicted = [], []
    for _ in range(int(rng.integers(1, 5))):
        spans, length = _chunked(rng, [k for k in types if k])
        truth = chunking.written_in(spans, length, scheme)
        strange = _any_labels(rng, length, SCHEMES[scheme], types)
        gold.append(truth if rng.random() < 0.8 else strange)
        predicted.append(corrupted(rng, truth, strange))
    return gold, predicted


@relation("chunks as drawn", {name: name for name in SCHEMES})
def chunks_as_drawn(scheme: str, rng: Rng) -> None:
    """Chunks that are written in a scheme are read from it, and stay in every conversion."""
    spans, length = _chunked(rng, [k for k in TYPES if k])
    labels = chunking.written_in(spans, length, scheme)
    demand_same("chunks", plain(spans), plain(chunks(labels)))
    demand_same("to_bio", chunking.written_in(spans, length, "bio"), metrics.to_bio(labels))
    demand_same("to_iobes", chunking.written_in(spans, length, "iobes"), metrics.to_iobes(labels))


@relation("legal transitions", {name: name for name in ("bio", "iobes", "beginnings")})
def legal_transitions(scheme: str, rng: Rng) -> None:
    """The sequences that `forbid` allows are the legal ones."""
    types = ("A", "B")
    tags = [tag for tag in ("BIOES" if scheme == "iobes" else "BIO") if tag != "O"]
    names = ["O", *(f"{tag}-{kind}" for tag in tags for kind in types)]
    forbidden = metrics.legal_transitions(names, scheme)
    length = int(rng.integers(1, 6))
    labels = [str(k) for k in rng.choice(names, size=length)]
    if rng.random() < 0.6:
        spans, length = _chunked(rng, types)
        labels = chunking.written_in(spans, length, "iobes" if scheme == "iobes" else "bio")
        labels = corrupted(rng, labels, labels[::-1]) if rng.random() < 0.5 else labels
    pairs = set(itertools.pairwise(labels))
    allowed = (
        labels[0] not in forbidden["start"]
        and labels[-1] not in forbidden["end"]
        and not pairs & set(forbidden["transition"])
    )
    demand_same(f"legal: {labels}", is_legal(labels, scheme), allowed)


@relation("chunk scores", {name: name for name in SCHEMES}, claim="to 1e-12")
def scores_of_chunks(scheme: str, rng: Rng) -> None:
    """Reports, counts, F1 and its interval are those of independent rules."""
    gold, predicted = _labelled(rng, scheme)
    counts = chunking.chunk_scores(gold, predicted)
    report = metrics.chunk_report(gold, predicted)
    by_type = {k: (s.correct, s.predicted, s.gold) for k, s in report.by_type.items()}
    demand_same("by type", plain(counts), plain(by_type))
    sums = [sum(column) for column in zip(*counts.values(), strict=True)] or [0, 0, 0]
    f1 = f1_of(*sums)
    demand_same("sums", sums, [sum(c) for c in zip(*chunk_counts(gold, predicted), strict=True)])
    demand_same("F1", f1, report.overall.f1, ROUNDING)
    demand_same("chunk_f1", f1, metrics.chunk_f1(gold, predicted), ROUNDING)
    macro = [f1_of(*row) for row in counts.values()]
    demand_same("macro F1", sum(macro) / max(len(macro), 1), report.macro.f1, ROUNDING)
    for metric, value in (("chunk_f1", f1), ("chunk_precision", _ratio(sums[0], sums[1]))):
        interval = metrics.bootstrap_interval(gold, predicted, metric, n_resamples=20,
                                              random_state=0)  # fmt: skip
        demand_same(f"interval of {metric}", value, interval.value, ROUNDING)


def _ratio(a: int, b: int) -> float:
    return a / b if b else 0.0


def f1_of(right: int, found: int, given: int) -> float:
    precision, recall = _ratio(right, found), _ratio(right, given)
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


_HAS_SEQEVAL = importlib.util.find_spec("seqeval") is not None


@relation(
    "chunk scores: seqeval",
    {name: name for name in SCHEMES} if _HAS_SEQEVAL else {},
    claim="to 1e-12",
    not_claimed={
        "bilou, sequences out of order": "seqeval reads L and U in strict mode alone",
        **({} if _HAS_SEQEVAL else {"all": "seqeval is not installed"}),
    },
)
def scores_of_seqeval(scheme: str, rng: Rng) -> None:
    """Scores of seqeval: any sequences by its usual rules, BILOU in order by its strict ones."""
    import seqeval.metrics
    import seqeval.scheme

    types = ("PER", "LOC", "x")  # seqeval divides at the last hyphen, and a missing type is "_"
    gold, predicted = _labelled(rng, scheme, types)
    options: dict[str, Any] = {}
    if scheme == "bilou":
        options = {"mode": "strict", "scheme": seqeval.scheme.BILOU}
        drawn = [_chunked(rng, types) for _ in range(4)]
        gold = [chunking.written_in(spans, n, scheme) for spans, n in drawn]
        predicted = [
            chunking.written_in([s for s in spans if rng.random() < 0.7], n, scheme)
            for spans, n in drawn
        ]
    report = metrics.chunk_report(gold, predicted)
    ours = [report.overall.precision, report.overall.recall, report.overall.f1]
    theirs = [
        float(function(gold, predicted, zero_division=0, **options))
        for function in (
            seqeval.metrics.precision_score,
            seqeval.metrics.recall_score,
            seqeval.metrics.f1_score,
        )
    ]
    demand_same("precision, recall, F1", theirs, ours, ROUNDING)


@relation("scores: order and names", {name: name for name in SCHEMES}, claim="to 1e-12")
def order_and_names(scheme: str, rng: Rng) -> None:
    """Sentences in another order, types by other names, a file in two: scores stay."""
    gold, predicted = _labelled(rng, scheme)
    report = metrics.chunk_report(gold, predicted)
    order = rng.permutation(len(gold)).tolist()
    moved = metrics.chunk_report([gold[i] for i in order], [predicted[i] for i in order])
    demand_same("another order", report.as_dict(), moved.as_dict())
    names = dict(zip(TYPES, ("b", "a", "b-a", "b-b"), strict=False))

    def renamed(rows: list[Any]) -> list[Any]:
        return [[_renamed(k, names) for k in row] for row in rows]

    other = metrics.chunk_report(renamed(gold), renamed(predicted))
    demand_same("other names", report.overall.as_dict(), other.overall.as_dict())
    demand_same("accuracy by other names", report.accuracy, other.accuracy)
    cut = int(rng.integers(len(gold) + 1))
    halves = [metrics.chunk_report(gold[a], predicted[a]) for a in (slice(cut), slice(cut, None))]
    both = halves[0].overall + halves[1].overall
    demand_same("two halves", report.overall.as_dict(), both.as_dict())


def _renamed(label: str, names: dict[str, str]) -> str:
    tag, mark, kind = label.partition("-")
    return f"{tag}{mark}{names.get(kind, kind)}"
