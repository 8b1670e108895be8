"""Relations on routes of a file: pieces and threads, gzip, pipes, command line, shards."""

from __future__ import annotations

import contextlib
import copy
import gzip
import io
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from fuzz.memory_file import memory_file, memory_folder
from fuzz.metamorphic.answers import Different, Refusal, demand_same
from fuzz.metamorphic.file_subjects import FILES, TAGGERS, FileSubject, tokens
from fuzz.metamorphic.formats import read_added, spell
from fuzz.metamorphic.model_files import precisions
from fuzz.metamorphic.relation import relation
from structlearn import cli, distributed
from structlearn.exceptions import FileError
from structlearn.text import labelling

__all__: list[str] = []

Rng = np.random.Generator


def _labelled(model: Any, source: str, format: str) -> bytes:
    out = io.BytesIO()
    model.label_file(source, out, format=format)
    return out.getvalue()


def _demand_same_text(question: str, one: bytes, other: bytes) -> None:
    demand_same(question, one.decode().split("\n"), other.decode().split("\n"))


@contextlib.contextmanager
def _small_pieces(size: int) -> Iterator[None]:
    """Read files in pieces of a few bytes, so that short files have several."""
    names = ("_PIECE", "_LEAST", "_SLOW_PIECE", "_SLOW_LEAST")
    before = {name: getattr(labelling, name) for name in names}
    vars(labelling).update(dict.fromkeys(names, size))
    try:
        yield
    finally:
        vars(labelling).update(before)


@contextlib.contextmanager
def _standard_input(content: bytes) -> Iterator[None]:
    before = sys.stdin
    sys.stdin = SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(content)))  # type: ignore
    try:
        yield
    finally:
        sys.stdin = before


@relation("pieces, threads, gzip, pipes", FILES)
def other_routes(it: FileSubject, rng: Rng) -> None:
    """In pieces, on threads, compressed and from standard input a file is labelled the same."""
    model, X, spelling = it.draw(rng)
    spelling = replace(spelling, zipped=False)
    content = spell([tokens(s) for s in X], spelling)
    expected = _labelled(model, memory_file(content, spelling.suffix), spelling.format)
    route = str(rng.choice(("pieces", "threads", "gzip", "standard input", "to a gzip file")))
    size, threads = int(rng.integers(1, 60)), int(rng.integers(1, 5))
    threaded = copy.copy(model).set_params(n_jobs=threads)
    if route in ("pieces", "threads"):
        path = memory_file(content, spelling.suffix)
        with _small_pieces(size):
            labelled = _labelled(model if route == "pieces" else threaded, path, spelling.format)
    elif route == "gzip":
        path = memory_file(gzip.compress(content, mtime=0), spelling.suffix)
        labelled = _labelled(threaded, path, spelling.format)
    elif route == "standard input":
        with _standard_input(content):
            labelled = _labelled(threaded, "-", spelling.format)
    else:
        target = memory_folder() / "labelled.gz"
        model.label_file(memory_file(content), target, format=spelling.format)
        labelled = gzip.decompress(target.read_bytes())
    _demand_same_text(f"{spelling.format}, {route}", expected, labelled)


@relation("carriage returns", TAGGERS, claim="bit for bit, or refused")
def carriage_returns(it: FileSubject, rng: Rng) -> None:
    """A file whose lines end in CR alone is labelled as one with LF, or refused."""
    model, X, spelling = it.draw(rng)
    spelling = replace(spelling, zipped=False, line_end="\n", asides=False, bom=False)
    sentences = [tokens(s) for s in X]
    expected = _labelled(model, memory_file(spell(sentences, spelling)), spelling.format)
    content = spell(sentences, replace(spelling, line_end="\r"))
    try:
        labelled = _labelled(model, memory_file(content), spelling.format)
    except FileError:
        return
    place = it.place(spelling, False)
    demand_same(
        f"{spelling.format}, CR",
        read_added(expected, spelling, place, 1),
        read_added(labelled.replace(b"\r", b"\n"), spelling, place, 1),
    )


_saved: dict[int, str] = {}


def _model_file(model: Any) -> str:
    """Return the file of a model of the pool, which lasts as long as this process."""
    if id(model) not in _saved:
        path = memory_folder() / f"pool{len(_saved)}.model"
        model.save(path, **({} if precisions(model) == (None,) else {"precision": "float32"}))
        _saved[id(model)] = os.fspath(path)
    return _saved[id(model)]


@relation("command line = label_file", FILES, cost="fit")
def command_line(it: FileSubject, rng: Rng) -> None:
    """``structlearn predict`` writes what ``label_file`` writes, for any number of threads."""
    model, X, spelling = it.draw(rng)
    content = spell([tokens(s) for s in X], spelling)
    path = memory_file(content, spelling.suffix)
    options: dict[str, Any] = {}
    if it.subject.name in TAGGERS:
        options["confidence"] = bool(rng.random() < 0.5)
    out, target = io.BytesIO(), memory_folder() / "predicted"
    model.label_file(path, out, format=spelling.format, **options)
    arguments = ["predict", _model_file(model), path, "--output", os.fspath(target)]
    arguments += ["--threads", str(int(rng.integers(1, 4))), "--format", spelling.format]
    arguments += [f"--{name}" for name, value in options.items() if value]
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), _small_pieces(int(rng.integers(1, 200))):
        code = cli.run(arguments)
    if code != 0:
        raise Different(f"{spelling.format}: exit code {code}: {errors.getvalue()[:200]}")
    _demand_same_text(spelling.format, out.getvalue(), target.read_bytes())


@relation("distributed labelling = label_file", FILES, cost="fit")
def shards(it: FileSubject, rng: Rng) -> None:
    """Several files are labelled like each alone; a bad file does not affect the others."""
    model, _, spelling = it.draw(rng)
    sources, folder = memory_folder() / "sources", memory_folder() / "outputs"
    for used in (sources, folder):
        shutil.rmtree(used, ignore_errors=True)
    sources.mkdir()
    expected: dict[str, Any] = {}
    for number in range(int(rng.integers(1, 4))):
        path = sources / f"{number}{spelling.suffix}"
        X = it.subject.inputs(rng, int(rng.integers(1, 3)))
        content = spell([tokens(s) for s in X], spelling)
        path.write_bytes(content if rng.random() < 0.9 else b"\xff\xfe" + content)
        try:
            expected[path.name] = _labelled(model, os.fspath(path), spelling.format)
        except FileError as error:
            expected[path.name] = Refusal(str(error))
    done = distributed.predict(
        _model_file(model) if rng.random() < 0.5 else model, os.fspath(sources / "*"), folder,
        cluster=None, threads=int(rng.integers(1, 4)), format=spelling.format,
    )  # fmt: skip
    contents: dict[str, Any] = {p.name: p.read_bytes() for p in folder.iterdir()}
    contents |= {os.path.basename(p): Refusal(reason) for p, reason in done.bad.items()}
    for name in expected:
        demand_same(f"{spelling.format}, {name}", expected[name], contents.get(name))
    demand_same("files", sorted(expected), sorted(contents))


KEEPERS = {n: it for n, it in TAGGERS.items() if n not in ("segments", "tagger, two columns")}


@relation("known labels = predict given them", KEEPERS, not_claimed={
    "segments": "it keeps no labels",
    "tagger, two columns": "a label is in two cells",
})  # fmt: skip
def known_labels(it: FileSubject, rng: Rng) -> None:
    """Labels in a file are kept, and the others are the best given these."""
    model, X, spelling = it.draw(rng)
    if it.place(spelling, True) is None:
        return  # a format without a place for them
    # Labels of one of the best sequences are possible together.
    ranked = [row[int(rng.integers(len(row)))][1] for row in model.predict_kbest(X, n=4)]
    partial = [[k if rng.random() < 0.4 else None for k in row] for row in ranked]
    sentences = [
        [(*cells, k or "_") for cells, k in zip(tokens(s), row, strict=True)]
        for s, row in zip(X, partial, strict=True)
    ]
    out = io.BytesIO()
    path = memory_file(spell(sentences, spelling), spelling.suffix)
    model.label_file(path, out, format=spelling.format, known=True)
    rows = read_added(out.getvalue(), spelling, it.place(spelling, True), 1)
    labels = [[label for _, label in row] for row in rows]
    demand_same(spelling.format, model.predict(X, known=partial), labels)
