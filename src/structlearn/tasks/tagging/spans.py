"""Spans of texts, found by taggers of tokens and of segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import _core
from ...metrics.boundaries import chunks
from ...text.layouts import Layout
from ...text.spans import Document, Span, are_chunks, cut_document, found_spans
from ...text.tokenisers import tokeniser
from ...text.tokens import add_tokens


def document_spans(
    tagger: Any, documents: Sequence[Document], *, confidence: bool, constraints: Any = None
) -> list[list[Span]]:
    """Return the spans that a tagger finds in each text.

    Texts are cut by the model's tokeniser; their lines are its sentences.
    """
    cut = tokeniser(tagger.model_.tokens or "words")
    texts = [cut_document(Document(one.text), cut) for one in documents]
    sentences = [
        [document.text[begin:end] for begin, end in places]
        for document, tokens in zip(documents, texts, strict=True)
        for places in tokens.sentences
    ]
    if not sentences:
        return [[] for _ in texts]
    answers = iter(labelled_words(tagger, sentences, confidence, constraints))
    chunked = are_chunks(tagger._labels_in_files())
    spans = []
    for tokens in texts:
        rows = [next(answers) for _ in tokens.sentences]
        labels = [[answer[0] for answer in row] for row in rows]
        sure = [[answer[1] for answer in row] for row in rows] if confidence else None
        spans.append(found_spans(tokens.sentences, labels, sure, chunked))
    return spans


def labelled_words(
    tagger: Any, sentences: Sequence[Sequence[str]], confidence: bool, constraints: Any = None
) -> list[list[Any]]:
    """Return (label, confidence) of each word: of words of a chunk that of the chunk."""
    model = tagger.model_
    corpus, layout = _core.Corpus(model.format), Layout(model, "columns", 1)
    for number, words in enumerate(sentences):
        add_tokens(corpus, [layout.row(i, (w,)) for i, w in enumerate(words, 1)], number)
    labeller = tagger._labeller(" ", 1, constraints, confidence=confidence, spans=True)
    answers: list[list[Any]] = labeller.answers(corpus, tagger.n_threads)
    return answers


def judged_spans(
    tagger: Any, corpus: Any, constraints: Any = None, *, curved: bool = True
) -> tuple[list[list[float]], list[list[bool | None]]]:
    """Return the confidence of each span found in labelled sentences, and whether it is right.

    None: a label in the span or beside it is not known. Not ``curved``: the probability itself.
    """
    labeller = tagger._labeller(" ", 1, constraints, confidence=True, spans=True, curved=curved)
    gold = tagger._fitted().gold(corpus, some=True)
    sure: list[list[float]] = []
    right: list[list[bool | None]] = []
    for answers, labels in zip(labeller.answers(corpus.core, tagger.n_threads), gold, strict=True):
        found, true = chunks(answer[0] for answer in answers), set(chunks(labels))
        sure.append([answers[begin][1] for begin, _, _ in found])
        right.append(
            [
                None if None in labels[max(0, one[0] - 1) : one[1] + 1] else one in true
                for one in found
            ]
        )
    return sure, right
