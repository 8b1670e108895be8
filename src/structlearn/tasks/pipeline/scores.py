"""Scores of a pipeline on the text of a treebank."""

from __future__ import annotations

import time
from typing import Any

from ...exceptions import FileError
from ...metrics.alignment import Sentence, aligned_scores
from ...text.corpus import Corpus
from ...text.dependency_treebank import read_treebank
from ...text.sources import not_empty
from ...text.surface import raw_text, surface
from .doc import Doc


def _rows(corpus: Corpus, number: int) -> list[tuple[str, ...]]:
    """Return the words of a sentence, whose heads must be numbers, or open."""
    rows = list(corpus[number])
    for position, row in enumerate(rows):
        if row[6] != "_" and not (row[6].isascii() and row[6].isdecimal() and len(row[6]) < 10):
            raise FileError(
                corpus.path or "the corpus",
                f"the head {row[6]!r:.40} is not the number of a word",
                corpus.core.line_number(number, position),
            )
    return rows


def treebank_sentences(corpus: Corpus) -> list[Sentence]:
    """Return the sentences of a treebank as :func:`aligned_scores` takes them."""
    found: list[Sentence] = []
    for number in range(len(corpus)):
        rows = _rows(corpus, number)
        tokens = surface(corpus, number).tokens
        found.append([(token.form, rows[token.first : token.last]) for token in tokens])
    return found


def doc_sentences(doc: Doc) -> list[Sentence]:
    """Return the sentences of a document as :func:`aligned_scores` takes them."""
    return [
        [
            (
                surface.text,
                [
                    (
                        str(t.id), t.text, t.lemma, t.upos, t.xpos, t.feats,
                        "_" if t.head_id is None else str(t.head_id), t.relation, "_", "_",
                    )
                    for t in surface.tokens
                ],
            )
            for surface in sentence.surfaces
        ]
        for sentence in doc.sentences
    ]  # fmt: skip


def evaluate_pipeline(pipeline: Any, X: Any, gold_tokens: bool) -> dict[str, Any]:
    """Return what :meth:`Pipeline.evaluate` does."""
    corpus = not_empty(read_treebank(X))
    if gold_tokens:
        gold: list[Sentence] = [
            [(row[1], [row]) for row in _rows(corpus, number)] for number in range(len(corpus))
        ]
        forms = corpus.column("form")
        begin = time.perf_counter()
        doc = pipeline.annotate(forms)
    else:
        gold = treebank_sentences(corpus)
        text = raw_text(corpus)
        begin = time.perf_counter()
        doc = pipeline(text)
    seconds = time.perf_counter() - begin
    scores = aligned_scores(gold, doc_sentences(doc))
    found: dict[str, Any] = {name: score.as_dict() for name, score in scores.items()}
    n = len(doc)
    return {**found, "n_words": n, "words_per_second": n / max(seconds, 1e-9)}
