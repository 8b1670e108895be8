"""Relations on running text: line ends, pieces and files change neither tokens nor trees."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from fuzz.memory_file import memory_file
from fuzz.metamorphic.answers import Different, demand_same
from fuzz.metamorphic.formats import conllu_rows
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import PIPELINES, Subject
from structlearn.exceptions import FileError
from structlearn.tasks.pipeline import files as pipeline_files

__all__: list[str] = []

Rng = np.random.Generator
#: Ways to end a line.
LINE_ENDS = ("\r\n", "\r", "\v", "\x85", "\u2028")


def _text(subject: Subject, rng: Rng) -> str:
    """Return paragraphs of lines; some lines end within a sentence."""
    pieces = []
    for words in subject.inputs(rng, int(rng.integers(1, 5))):
        row = " ".join(words[: int(rng.integers(1, 9))])
        if rng.random() < 0.4:
            row = row.replace(" ", "\n", 1 + int(rng.integers(2)))
        pieces += [row, str(rng.choice(("\n", " ", "\n\n", "\n \n", "\n\n\n")))]
    return "".join(pieces)


def _said(doc: Any) -> Any:
    """Return the sentences of a document: words with all their annotations."""
    return [
        [[t.text for t in s.surfaces],
         [[w.text, w.lemma, w.upos, w.xpos, w.feats, w.head_id, w.relation] for w in s]]
        for s in doc.sentences
    ]  # fmt: skip


@relation("line ends of running text", PIPELINES)
def line_ends(subject: Subject, rng: Rng) -> None:
    """The line ends of a text do not change its sentences, tokens, tags and trees."""
    nlp, text = subject.fitted(rng), _text(subject, rng)
    end = LINE_ENDS[int(rng.integers(len(LINE_ENDS)))]
    demand_same(repr(end), _said(nlp(text)), _said(nlp(text.replace("\n", end))))


@contextlib.contextmanager
def _small_pieces(size: int) -> Iterator[None]:
    before = pipeline_files._SIZE
    pipeline_files._SIZE = size
    try:
        yield
    finally:
        pipeline_files._SIZE = before


def _surfaces(item: Any) -> list[Any]:
    """Return the surface tokens of a sentence in JSON, with multiword tokens as one."""
    joined = {several["first"]: several for several in item.get("multiword", ())}
    rows: list[Any] = []
    last = 0
    for token in item["tokens"]:
        if token["id"] > last:
            rows.append(joined.get(token["id"], token))
            last = rows[-1].get("last", token["id"])
    return rows


@relation("texts one by one, together, in files", PIPELINES)
def text_routes(subject: Subject, rng: Rng) -> None:
    """One text at a time, a list of them, and a file in pieces: the same sentences."""
    nlp, end = subject.fitted(rng), str(rng.choice(("\n", "\n", *LINE_ENDS)))
    texts = [_text(subject, rng).replace("\n", end) for _ in range(int(rng.integers(1, 3)))]
    expected = [_said(nlp(text)) for text in texts]
    demand_same(
        f"pipe, {end!r}",
        expected,
        [_said(d) for d in nlp.pipe(texts, n_jobs=int(rng.choice((1, 1, 2, 3))))],
    )
    whole = (2 * end).join(texts)
    content = whole.encode()
    if rng.random() < 0.3:
        content = gzip.compress(content, mtime=0)
    path, out = memory_file(content), io.BytesIO()
    form = str(rng.choice(("conllu", "json", "text")))
    wanted = [sentence for sentences in expected for sentence in sentences]
    if form == "text" and any(token.split() != [token] for s in wanted for token in s[0]):
        try:
            nlp.label_file(path, out, format=form)
        except FileError as error:
            if "text cannot hold the token" in str(error):
                return
            raise
        raise Different("text: a token with a blank is written, and nobody could tell it from two")
    with _small_pieces(int(rng.integers(1, 300))):
        nlp.label_file(path, out, format=form)
    if form == "conllu":
        printed = [[c[1:8] for c in row] for row in conllu_rows(out.getvalue())]
        rows = [
            [[w[0], *(x or "_" for x in w[1:5]), str(w[5]), w[6]] for w in s[1]] for s in wanted
        ]
        demand_same(f"conllu, {end!r}", rows, printed)
    elif form == "text":
        lines = out.getvalue().decode().splitlines()
        demand_same(f"text, {end!r}", [" ".join(s[0]) for s in wanted], lines)
    else:
        items = [json.loads(line) for line in out.getvalue().decode().split("\n") if line]
        tokens = [s[0] for s in wanted]
        surfaces = [_surfaces(item) for item in items]
        printed = [[t["text"] for t in row] for row in surfaces]
        demand_same(f"json, {end!r}", tokens, printed)
        printed = [[whole[t["begin"] : t["end"]] for t in row] for row in surfaces]
        demand_same(f"json, places, {end!r}", tokens, printed)
