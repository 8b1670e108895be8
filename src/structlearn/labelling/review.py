"""Review: texts about which a model and a gold file, or several annotators, do not agree.

Where a model is sure of another label than the gold file, the file is often wrong. Those texts come
first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..exceptions import FileError
from ..text import read_annotations, read_corpus
from ..text.conversion import read_documents
from .kinds import Kind, Spans, Text
from .proposals import proposal


def gold_disagrees(
    path: str, kind: Kind, tagger: Any, *, format: str | None = None, target: str | None = None
) -> list[Text]:
    """Return the texts whose gold labels a tagger does not propose, the surest one first.

    Parameters
    ----------
    path : str
        Texts with spans; for word tags and classes sentences of tokens.
    tagger : Tagger
        One that has not learned from this file: it would repeat its mistakes.
    """
    texts = []
    for text, gold in _gold(path, kind, format, target):
        proposed = proposal(tagger, text, kind)
        wrong = [
            proposed.confidence[t] if proposed.confidence else 0.0
            for t, (right, label) in enumerate(zip(gold, proposed.labels, strict=True))
            if right is not None and right != label
        ]
        if wrong:
            text.rank = max(wrong)
            text.versions = [("gold", gold), ("model", list(proposed.labels))]
            texts.append(text)
    if not texts:
        raise FileError(path, "the model agrees with all of its labels: there is nothing to review")
    return sorted(texts, key=lambda text: -text.rank)


def _gold(
    path: str, kind: Kind, format: str | None, target: str | None
) -> list[tuple[Text, list[str | None]]]:
    """Return the texts of a gold file with their labels."""
    if isinstance(kind, Spans):
        rows = []
        for document in read_documents(path, format, target):
            text = kind.cut(0, document.text)
            spans = [
                {"start": s.start, "end": s.end, "label": s.label} for s in document.spans or ()
            ]
            if document.spans is not None and text.places:
                rows.append((text, kind.labels(text, {"text": document.text, "spans": spans})))
        return rows
    corpus = read_corpus(path, format)
    column = corpus.find_column(target or -1)
    return [
        (text, [None if cell == "_" else cell for cell in sentence.column(column)])
        for sentence in corpus
        for text in [kind.cut(0, " ".join(sentence.column(1 if corpus.format == "conllu" else 0)))]
        if len(text.places) == len(sentence)
    ]


def annotators_disagree(path: str, kind: Kind, annotator: str, **reading: Any) -> list[Text]:
    """Return the texts that annotators label differently, those with most such tokens first.

    Parameters
    ----------
    path, annotator, **reading
        As for :func:`~structlearn.text.read_annotations`.
    """
    read, texts = read_annotations(path, annotator, **reading), []
    for words, answers in zip(read.words, read.answers, strict=True):
        text = kind.cut(0, " ".join(words))
        if len(text.places) != len(words):
            raise FileError(path, f"{' '.join(words)!r:.60}: a word is cut; use --tokens blank")
        rows = {who: [_single(one) for one in labels] for who, labels in sorted(answers.items())}
        columns = list(zip(*rows.values(), strict=True)) if rows else []
        split = sum(len({label for label in column if label is not None}) > 1 for column in columns)
        if split:
            text.rank = float(split)
            text.versions = [("most", [_most(column) for column in columns]), *rows.items()]
            texts.append(text)
    if not texts:
        raise FileError(path, "its annotators agree in every label: there is nothing to review")
    return sorted(texts, key=lambda text: -text.rank)


def _single(answer: Any) -> str | None:
    return answer if isinstance(answer, str) else None


def _most(column: Sequence[str | None]) -> str | None:
    """Return the label that most have given; of equals the first."""
    counts = Counter(label for label in column if label is not None)
    return counts.most_common(1)[0][0] if counts else None
