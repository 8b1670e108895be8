"""Relations on odd words and labels: files preserve them, or an error names them."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np

from fuzz.memory_file import memory_file
from fuzz.metamorphic.answers import Different, demand_same
from fuzz.metamorphic.file_subjects import TAGGERS, FileSubject, tokens
from fuzz.metamorphic.formats import read_added, spell
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import odd_string
from structlearn.tasks import DependencyParser, SegmentTagger, Tagger
from structlearn.text import FeatureTemplates, read_corpus

__all__: list[str] = []

Rng = np.random.Generator
#: Strings that end a word, a cell, a line or an entry in some format.
UNSAFE = (
    " ", "\t", "\n", "\r", "\r\n", "\u2028", "\x85", "\xa0", "\x0b", "\x0c", "\u3000", "\ufeff",
    "\x1c", "\x00", "\\n", "&amp;", "NA",
)  # fmt: skip
_WORD = FeatureTemplates.parse("word")


def _named(error: ValueError, strings: list[str]) -> bool:
    """Return whether an error names one of the strings, or its line in a file."""
    message = str(error)
    return ", line " in message or any(repr(s)[:20] in message for s in strings)


def _labels(rng: Rng, n: int) -> list[str]:
    """Return n labels, most of them odd."""
    names: dict[str, None] = {}
    while len(names) < n:
        label = odd_string(rng, UNSAFE) if rng.random() < 0.95 else ""
        if label != "_":  # the unknown label
            names[label] = None
    return list(names)


TASKS = {"tagger": Tagger, "segments": SegmentTagger}


@relation("odd labels are written as they are", TASKS, claim="bit for bit, or refused by name",
          cost="fit")  # fmt: skip
def odd_labels(kind: Any, rng: Rng) -> None:
    """A label of any characters comes back from every format, or an error names it."""
    labels = _labels(rng, 3)
    words = [f"w{i}" for i in range(len(labels))]
    marked = labels if kind is Tagger else [f"B-{k}" for k in labels]
    sentence = list(zip(words, marked, strict=True))
    options = {} if kind is SegmentTagger else {"features": _WORD}
    try:
        model = kind(max_iter=3, **options).fit([sentence] * 3)
    except ValueError as error:
        if not _named(error, marked):
            raise
        return
    demand_same("predict", [marked], model.predict([words]))
    # Only for its places of labels; CoNLL-U has none for chunks.
    it = FileSubject(None, targets=(1,) if kind is Tagger else (2,))  # type: ignore[arg-type]
    spelling = it.spelling(rng)
    added: dict[str, Any] = {"confidence": bool(rng.random() < 0.5)}
    if kind is Tagger:
        added["nbest"] = int(rng.integers(1, 3))
    path, out = memory_file(spell([[(w,) for w in words]], spelling), spelling.suffix), io.BytesIO()
    try:
        model.label_file(path, out, format=spelling.format, **added)
    except ValueError as error:
        if not _named(error, marked) or spelling.format == "jsonl":  # which holds any string
            raise Different(f"{spelling.format}: refused without a reason: {error}") from None
        return
    n_added = added["confidence"] + added.get("nbest", 1)
    barred = any("|" in label for label in marked)
    labelled = read_added(out.getvalue(), spelling, it.place(spelling, False), n_added, barred)
    written = [[row[1] if len(row) > 1 else "" for row in rows] for rows in labelled]
    demand_same(f"{spelling.format}, {marked}", [marked], written)


def _odd_sentences(it: FileSubject, rng: Rng) -> list[Any]:
    X = []
    for sentence in it.subject.inputs(rng, int(rng.integers(1, 3))):
        cells = [list(row) for row in tokens(sentence)]
        row = cells[int(rng.integers(len(cells)))]
        row[0] = odd_string(rng, UNSAFE)
        X.append([tuple(row) if len(row) > 1 else row[0] for row in cells])
    return X


@relation("odd words are read as they are", TAGGERS, claim="bit for bit, or refused by name")
def odd_words(it: FileSubject, rng: Rng) -> None:
    """A word of any characters is the same in a list, in JSON lines and in CSV, or refused."""
    model, X = it.subject.fitted(rng), _odd_sentences(it, rng)
    spelling = it.spelling(rng)
    # Columns and text cannot say what belongs to a word; CSV and JSON can.
    format = ("csv", "jsonl")[int(rng.integers(2))]
    spelling = replace(spelling, format=format, separator=",", numbered=True)
    sentences = [tokens(s) for s in X]
    words = [cells[0] for row in sentences for cells in row]
    path, out = memory_file(spell(sentences, spelling), spelling.suffix), io.BytesIO()
    try:
        expected = model.predict(X)
    except ValueError as error:
        if not _named(error, words):
            raise
        return
    try:
        demand_same(f"{format}, predict", expected, model.predict(read_corpus(path, format)))
    except ValueError as error:
        if not _named(error, words):
            raise
    try:
        model.label_file(path, out, format=format)
    except ValueError as error:
        if not _named(error, words):
            raise
        return
    rows = read_added(out.getvalue(), spelling, it.place(spelling, False), 1)
    wanted = [
        [[cells[0], label] for cells, label in zip(row, labels, strict=True)]
        for row, labels in zip(sentences, expected, strict=True)
    ]
    demand_same(f"{format}, label_file", wanted, rows)


@relation("odd relations are written as they are", {"parser": DependencyParser},
          claim="bit for bit, or refused by name", cost="fit")  # fmt: skip
def odd_relations(kind: Any, rng: Rng) -> None:
    """The relation of an arc comes back from CoNLL-U, or an error names it."""
    from fuzz.metamorphic.formats import conllu_rows

    root, other, tag = _labels(rng, 3)
    sentence = [("fish", tag, 2, other), ("sleep", "V", 0, root)]
    try:
        model = kind(1, gold_tags=True, hash_bits=10, max_iter=2).fit([sentence] * 3)
        trees = model.predict([[("fish", tag), ("sleep", "V")]])
    except ValueError as error:
        if not _named(error, [root, other, tag]):
            raise
        return
    content = "1\tfish\t_\tN\tN\t_\t_\t_\t_\t_\n2\tsleep\t_\tV\tV\t_\t_\t_\t_\t_\n\n"
    out = io.BytesIO()
    try:
        model.label_file(memory_file(content.encode(), ".conllu"), out)
    except ValueError as error:
        if not _named(error, [root, other, tag]):
            raise
        return
    trees = model.predict([[("fish", "N"), ("sleep", "V")]])
    rows = conllu_rows(out.getvalue())
    demand_same("relations", [[[h, r] for h, r in trees[0]]],
                [[[int(c[6]), c[7]] for c in row] for row in rows])  # fmt: skip
