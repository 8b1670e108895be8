"""Targets that label files, by taggers, parsers and a pipeline, in every format."""

from __future__ import annotations

import functools
import gzip
import io
import json
from typing import Any

from fuzz.memory_file import memory_file
from fuzz.readers import seeds_of
from structlearn.text.corpus import corpus_of
from structlearn.text.surface import surface
from structlearn.text.trees import parse_brackets


@functools.cache
def _labellers() -> list[Any]:
    """Return taggers of column files, with and without tags, and parsers."""
    from structlearn.tasks import ConstituencyParser, DependencyParser, Tagger
    from structlearn.text import FeatureTemplates

    rows = [
        [("fish", "N", "B-NP"), ("sleep", "V", "O")],
        [("the", "D", "B-NP"), ("eels", "N", "I-NP")],
    ]
    words = FeatureTemplates.parse("word[-1..1]")
    both = FeatureTemplates.parse("word\npos")
    trees = [[("fish", "N", 2, "subj"), ("sleep", "V", 0, "root")]]
    return [
        Tagger(features=words, max_iter=2).fit([[t[:2] for t in row] for row in rows]),
        Tagger(features=both, max_iter=2).fit(rows),
        DependencyParser(max_iter=1, order=1, hash_bits=10, gold_tags=True).fit(trees),
        ConstituencyParser(max_iter=1, folds=2).fit(
            ["(S (NP (N fish)) (VP (V sleep)))", "(S (NP (D the) (N eels)) (VP (V eat)))"]
        ),
    ]


_FORMATS = ("columns", "conllu", "csv", "jsonl", "text", None)


def label(data: bytes) -> None:
    """Label a file of any format: no token is lost or added, and everything else stays.

    The first byte selects the labeller and the format, the second one the options.
    """
    if len(data) < 2:
        return
    who, format = data[0] % 4, _FORMATS[data[0] // 4 % 6]
    labeller, text, out = _labellers()[who], data[2:], io.BytesIO()
    if who >= 2:  # parsing takes the square or the cube of a sentence's length
        n = labeller.label_file(memory_file(text[:600]), out, format=format)
        if who == 2:
            assert corpus_of("output", out.getvalue(), "conllu").n_tokens == n
        else:
            assert sum(len(t.words) for t in parse_brackets(out.getvalue().decode())) == n
        return
    confidence, marginals, with_labels, header = (bool(data[1] >> bit & 1) for bit in range(4))
    n = labeller.label_file(
        memory_file(text), out, format=format, confidence=confidence, marginals=marginals,
        known=with_labels, header=header,
    )  # fmt: skip
    if text[:2] != b"\x1f\x8b" and format in ("csv", "jsonl", "columns", "conllu"):
        before, after = (
            corpus_of("input", content, format, header=header) for content in (text, out.getvalue())
        )
        assert before.n_tokens == after.n_tokens == n
        assert before.column(0) == after.column(0), "other words"


def seeds() -> list[bytes]:
    """Return files of all formats for each labeller."""
    formats = ("columns", "csv", "jsonl", "conllu", "brackets")
    texts = [text for format in formats for text in seeds_of(format)]
    texts += [b"fish N\nsleep V\n", b"fish sleep .\nthe eels\n", b"word pos\nfish N\neels V\n"]
    texts.append(gzip.compress(texts[-1], mtime=0))
    options = (0, 1, 2, 3, 4, 8)
    return [bytes([k, options[k % 6]]) + text for k in range(24) for text in texts]


#: Running text.
RUNNING = [
    b"Fish don't sleep. Eels eat.\n\nSo?\n",
    b"\xe2\x80\x9cEels,\xe2\x80\x9d she said - www.a.org/x (10,000 of them)...\n",
    gzip.compress(b"Fish sleep.", mtime=0),
]


@functools.cache
def pipeline() -> Any:
    """Return a small pipeline."""
    from tests.tasks.pipeline.small_treebank import treebank

    from structlearn.tasks import Pipeline

    short = {"max_iter": 2}
    stages: dict[str, Any] = dict.fromkeys(("tokeniser", "splitter", "tags", "lemmas"), short)
    stages["parser"] = {"hash_bits": 10, **short}
    return Pipeline(**stages, folds=2).fit(treebank(8))


def annotate(data: bytes) -> None:
    """Annotate a text: all of its non-blank characters must be in tokens of valid files."""
    path, nlp, out = memory_file(data), pipeline(), io.BytesIO()
    n = nlp.label_file(path, out)
    if n == 0:
        return
    corpus = corpus_of("output", out.getvalue(), "conllu")
    assert corpus.n_tokens == n
    raw = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    tokens = "".join(t.form for n in range(len(corpus)) for t in surface(corpus, n).tokens)
    text = raw.decode().replace("\ufeff", " ")  # a byte order mark is a blank anywhere
    assert "".join(tokens.split()) == "".join(text.split()), "other characters"
    if len(data) % 8 == 0:
        out = io.BytesIO()
        assert nlp.label_file(path, out, format="json") == n
        for line in out.getvalue().splitlines():
            json.loads(line)
