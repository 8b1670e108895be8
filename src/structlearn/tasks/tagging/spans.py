"""Spans of texts, found by taggers of tokens and of segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import _core
from ...text.layouts import Layout
from ...text.spans import Document, Span, are_chunks, cut_document, found_spans
from ...text.tokenisers import tokeniser
from ...text.tokens import add_tokens

__all__ = ["document_spans"]


def document_spans(
    tagger: Any, documents: Sequence[Document], *, confidence: bool, constraints: Any = None
) -> list[list[Span]]:
    """Return the spans that a tagger finds in each text.

    Texts are cut by the model's tokeniser; their lines are its sentences.
    """
    model = tagger.model_
    cut, layout = tokeniser(model.tokens or "words"), Layout(model, "columns", 1)
    texts = [cut_document(Document(one.text), cut) for one in documents]
    corpus, number = _core.Corpus(model.format), 0
    for document, tokens in zip(documents, texts, strict=True):
        for places in tokens.sentences:
            words = [document.text[begin:end] for begin, end in places]
            add_tokens(corpus, [layout.row(i, (w,)) for i, w in enumerate(words, 1)], number)
            number += 1
    if not number:
        return [[] for _ in texts]
    labeller = tagger._labeller(" ", 1, constraints, confidence=confidence)
    answers = iter(labeller.answers(corpus, tagger.n_threads))
    chunked = are_chunks(tagger._labels_in_files())
    spans = []
    for tokens in texts:
        rows = [next(answers) for _ in tokens.sentences]
        labels = [[answer[0] for answer in row] for row in rows]
        sure = [[answer[1] for answer in row] for row in rows] if confidence else None
        spans.append(found_spans(tokens.sentences, labels, sure, chunked))
    return spans
