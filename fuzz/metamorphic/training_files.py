"""Relations on training from files, lists and streams: equal sentences give equal models."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import clone

from fuzz.memory_file import memory_file
from fuzz.metamorphic.file_subjects import FILES, FileSubject
from fuzz.metamorphic.formats import Spelling, draw_spelling, spell
from fuzz.metamorphic.model_files import demand_same_file, stored
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import Drawn, Subject, odd_string
from structlearn.tasks import Tagger
from structlearn.text import Corpus, FeatureTemplates
from structlearn.text import stream as streams
from structlearn.text.trees import parse_brackets

__all__: list[str] = []

Rng = np.random.Generator


def _with_odd_words(rng: Rng, sentences: list[Any]) -> list[Any]:
    """Return labelled sentences with some odd words."""
    return [
        [(odd_string(rng) if rng.random() < 0.1 else word, *rest) for word, *rest in sentence]
        for sentence in sentences
    ]


def _formats(it: FileSubject) -> tuple[str, ...]:
    if it.native == "conllu" or it.subject.name.startswith("parser"):
        return ("conllu",)
    if it.subject.name.startswith("constituency"):
        return ("brackets",)
    tables = ("csv", "jsonl", "parquet") if find_spec("pyarrow") else ("csv", "jsonl")
    return ("columns", *tables)


def _rows(it: FileSubject, sentences: Any) -> list[Any]:
    """Return the cells of all tokens in a file."""
    if it.subject.name.startswith("parser"):
        return [
            [
                (str(i), w, "_", t, t, "_", str(h), r, "_", "_")
                for i, (w, t, h, r) in enumerate(s, 1)
            ]
            for s in sentences
        ]
    return [list(map(tuple, sentence)) for sentence in sentences]


def _bracket_file(rng: Rng, trees: list[str], spelling: Spelling) -> bytes:
    """Return trees one on each line, or each over several lines."""
    if rng.random() < 0.5:
        trees = [tree.replace(" (", "\n  (") for tree in trees]
    text = ("\ufeff" * spelling.bom + "\n".join(trees)).replace("\n", spelling.line_end)
    return gzip.compress(text.encode(), mtime=0) if spelling.zipped else text.encode()


@relation("trained on a file = on a list", FILES, cost="fit")
def file_and_list(it: FileSubject, rng: Rng) -> None:
    """The same sentences in a file of any format, and in a list, make the same model file.

    Only files of columns have a separator, and only tables names of columns, which the model keeps.
    """
    drawn = it.subject.draw(rng)
    formats = _formats(it)
    format = formats[int(rng.integers(len(formats)))]
    spelling = draw_spelling(rng, format)
    if format == "brackets":
        content, X = _bracket_file(rng, drawn.X, spelling), drawn.X
    elif isinstance(drawn.X, Corpus):
        X = drawn.X
        content = spell([list(s) for s in X], replace(spelling, asides=False))
    else:
        X = _with_odd_words(rng, drawn.X)
        content = spell(_rows(it, X), spelling)
    expected = clone(drawn.estimator).fit(X)
    path = memory_file(content, spelling.suffix)
    options = {"format": format} if rng.random() < 0.5 else {}
    model = clone(drawn.estimator).fit(path, **options)
    for name in ("separator", "table"):
        model.model_.training.pop(name, None)
    demand_same_file(f"{format}", stored(expected), stored(model))


def _apart(name: str, X: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the sentences, and their labels or trees."""
    if name.startswith("constituency"):
        trees = [parse_brackets(text)[0] for text in X]
        return [tree.words for tree in trees], trees
    if name.startswith("parser"):
        return [[row[:2] for row in s] for s in X], [[row[2:] for row in s] for s in X]
    words = [[row[0] if len(row) == 2 else row[:-1] for row in s] for s in X]
    return words, [[row[-1] for row in s] for s in X]


LISTS = {name: it for name, it in FILES.items() if it.native == "columns"}


@relation("labels apart = labels within", LISTS, cost="fit")
def labels_apart(it: FileSubject, rng: Rng) -> None:
    """``fit(X, y)``, tuples for lists, an iterator and a corpus make the same model file."""
    drawn = it.subject.draw(rng)
    expected = stored(drawn.fit())
    words, labels = _apart(it.subject.name, drawn.X)
    ways: dict[str, Any] = {
        "apart": lambda: clone(drawn.estimator).fit(words, labels),
        "iterator": lambda: clone(drawn.estimator).fit(iter(drawn.X)),
    }
    if not it.subject.name.startswith("constituency"):
        ways["tuples"] = lambda: clone(drawn.estimator).fit([list(map(list, s)) for s in drawn.X])
    if it.subject.name.startswith(("tagger", "segments")):
        ways["corpus"] = lambda: clone(drawn.estimator).fit(Corpus.from_sentences(drawn.X))
    name = str(rng.choice(list(ways)))
    demand_same_file(name, expected, stored(ways[name]()))


# -- streams --------------------------------------------------------------------------------------


@contextmanager
def _pieces_of(size: int) -> Iterator[None]:
    before, streams._PIECE = streams._PIECE, size
    try:
        yield
    finally:
        streams._PIECE = before


_TEMPLATES = (
    "word[-1..1]\nbias",
    "word\nsuffix(word, 1..3)\nshape(word)",
    "word[-2..2]\nword[0] word[1]",
)


def _stream(scheme: bool) -> Subject:
    source = FILES["tagger, chunks" if scheme else "tagger, online"].subject

    def draw(rng: Rng) -> Drawn:
        options: dict[str, Any] = {"hash_bits": int(rng.choice((0, 0, 10)))}
        if scheme:
            options["scheme"] = str(rng.choice(("none", "bio", "iobes")))
        templates = FeatureTemplates.parse(_TEMPLATES[int(rng.integers(len(_TEMPLATES)))])
        estimator = Tagger(
            templates, shuffle=False, n_models=1, max_iter=int(rng.integers(1, 5)),
            min_count=int(rng.choice((0, 0, 2))), average=bool(rng.random() < 0.8), **options,
        )  # fmt: skip
        return Drawn(estimator, source.draw(rng).X)

    return Subject("stream", draw, source.inputs, ())


STREAMS = {"tags": _stream(False), "chunks": _stream(True)}


@relation("stream in file order = fit in file order", STREAMS, cost="fit")
def stream_and_fit(subject: Subject, rng: Rng) -> None:
    """A file read piece by piece in every pass gives the model of the whole file."""
    drawn = subject.draw(rng)
    format = str(rng.choice(("columns", "conllu"))) if subject is STREAMS["tags"] else "columns"
    spelling = draw_spelling(rng, format)
    path = memory_file(spell(drawn.X, spelling), spelling.suffix)
    expected = clone(drawn.estimator).fit(path)
    with _pieces_of(int(rng.choice((1, 50, 300, 1 << 22)))):
        streamed = clone(drawn.estimator).fit_stream(path)
    demand_same_file(format, stored(expected), stored(streamed))
