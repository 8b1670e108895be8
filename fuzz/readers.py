"""Targets that read text files, write them again and use their content.

A reader may refuse its input by its documented errors. Any other exception, a crash, a second of
time or a gigabyte of memory is a finding.
"""

from __future__ import annotations

import io
import random
import warnings
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fuzz.memory_file import memory_file
from fuzz.mutation import mutated
from structlearn import _core
from structlearn.exceptions import FileError, LineError, MissingFunctionError
from structlearn.metrics.alignment import aligned_scores
from structlearn.tasks import WordSegmenter
from structlearn.tasks.pipeline.scores import treebank_sentences
from structlearn.tasks.words.cut_text import FORMATS as CUT_FORMATS
from structlearn.tasks.words.cut_text import parse_cut
from structlearn.tasks.words.dictionary import read_dictionary
from structlearn.text import FeatureTemplates
from structlearn.text.bracket_treebank import read_tree_text
from structlearn.text.corpus import corpus_of
from structlearn.text.dependency_treebank import gold_trees
from structlearn.text.formats import FORMATS
from structlearn.text.resources import read_phrases, read_vectors
from structlearn.text.surface import raw_text
from structlearn.text.tree_rules import RuleCounts
from structlearn.text.trees import parse_brackets

HERE = Path(__file__).parent


#: Formats of texts with spans that need no optional package.
_SPANS = ("prodigy", "doccano", "labelstudio", "brat")


@dataclass
class Target:
    """A reader to be fuzzed.

    Attributes
    ----------
    make : callable
        Makes an input from a generator of random numbers.
    read : callable
        Reads an input; may raise only one of the ``refusals``.
    refusals : tuple of exception types
        Exactly these types, not subclasses.
    """

    name: str
    make: Callable[[random.Random], Any]
    read: Callable[[Any], None]
    refusals: tuple[type[Exception], ...] = (FileError,)

    def check(self, data: Any) -> bool:
        """Read an input; return whether it was accepted. Undocumented errors are raised."""
        try:
            self.read(data)
        except Exception as error:
            if type(error) not in self.refusals:
                raise
            return False
        return True


def seeds_of(name: str) -> list[bytes]:
    """Return the repository's seeds and earlier findings, from which inputs are made."""
    folders = (HERE / "seeds" / name, HERE / "found" / name)
    return [path.read_bytes() for folder in folders for path in sorted(folder.glob("*"))]


def _corpus(format: str) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        corpus = corpus_of("input", data, format)
        for sentence in corpus:
            assert len(list(sentence)) == len(sentence) > 0
            sentence.comments  # noqa: B018
        if format == "columns":
            for column in range(corpus.n_columns):
                corpus.core.copy().to_iobes(column, "_")

    return read


def _conllu(data: bytes) -> None:
    _corpus("conllu")(data)
    corpus = corpus_of("input", data, "conllu")
    for use in (gold_trees, raw_text):
        with suppress(FileError, LineError):
            use(corpus)
    with suppress(FileError):
        sentences = treebank_sentences(corpus)
        scores = aligned_scores(sentences, sentences)
        assert scores["tokens"].f1 == scores["words"].f1 == 1.0


def _named(sentences: Any, names: Sequence[str], wanted: Sequence[str]) -> Any:
    """Return the columns with these names: labels are last, and a new one moves others."""
    if len(set(names)) < len(names):
        wanted, names = names[:1], names[:1]
    places = [names.index(name) for name in wanted]
    return [[tuple(row[i] for i in places) for row in sentence] for sentence in sentences]


def _format(format: str) -> Callable[[bytes], None]:
    """Read, and write again with labels: the written file must be read as the same."""

    def read(data: bytes) -> None:
        layout = FORMATS[format]()
        sentences = layout.read(data, 0)
        cells = [[cells for _, cells in sentence] for sentence in sentences]
        if not cells:
            return
        added = [[("X",) for _ in sentence] for sentence in cells]
        reader = FORMATS[format]()
        again = reader.read(layout.write(added, ("label",), None), 0)
        read_back = [[row for _, row in sentence] for sentence in again]
        assert _named(read_back, reader.names, layout.names) == _named(
            cells, layout.names, layout.names
        ), "the written file reads differently"

    return read


def _spans(format: str) -> Callable[[bytes], None]:
    """Read texts with spans, write them again, and fill them with labels of their tokens."""

    def read(data: bytes) -> None:
        documents = FORMATS[format]().documents(data)
        again = FORMATS[format]().documents(FORMATS[format]().render(documents))
        for document, other in zip(documents, again, strict=True):
            assert (document.text, document.name) == (other.text, other.name)
            assert [s[:3] for s in document.spans or ()] == [s[:3] for s in other.spans or ()]
        layout = FORMATS[format]()
        layout.prepare(b"", ["B-X", "O"])
        sentences = layout.read(data, 0)
        words = [[cells[0] for _, cells in sentence] for sentence in sentences]
        written = layout.write([[("B-X",) for _ in row] for row in words], ("label",), None)
        filled = FORMATS[format]()
        filled.prepare(b"", ["B-X", "O"])
        assert [[c[0] for _, c in row] for row in filled.read(written, 0)] == words
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of tokens cut by spans
            _corpus(format)(data)

    return read


def _brackets(data: bytes) -> None:
    trees = read_tree_text("input", data)
    RuleCounts([tree for tree, _ in trees]).rules()
    for tree, line in trees:
        assert line > 0
        assert len(tree.words) == len(tree.tags) > 0
        tree.spans()
        tree.collapsed()
        tree.cleaned(functions=True, traces=True)
        (again,) = parse_brackets(str(tree))
        assert str(again) == str(tree)


#: Functions for templates: they return one string, several, none, or one for each word.
_GIVEN: dict[str, Callable[..., Any]] = {
    "one": lambda word: word[::-1] or None,
    "some": lambda word: list(word[:3]),
    "whole": lambda words: [f"{i}" for i, _ in enumerate(words)],
}


def _templates() -> Callable[[bytes], None]:
    corpus = corpus_of("input", b"Fish NN B-NP\nsleep VB O\n\nEels NN B-NP\n", "columns")

    def read(data: bytes) -> None:
        """Read templates, store them, fit them, and extract features of words."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return
        made = FeatureTemplates.parse(
            text, name="input", folder=str(HERE / "seeds"), functions=_GIVEN
        )
        again = FeatureTemplates.from_json(made.to_json())
        assert again.to_json() == made.to_json()
        made.learn_lexica(corpus, 2, "_")
        features = made.compile("columns", corpus.n_columns)
        extractor = _core.Extractor(features, corpus.core)
        for number in range(len(corpus)):
            extractor.names(corpus.core, number)
            if made.of_segments:
                extractor.named(number, 0, 1)

    return read


def _cut(data: bytes) -> None:
    """Read segmented text in every format; its words, written and read again, must be the same."""
    refused = 0
    for format in (None, *CUT_FORMATS):
        try:
            sentences = parse_cut("input", data, format)
        except FileError:
            refused += 1
            continue
        for sentence in sentences:
            assert len(sentence.text) == len(sentence.marks)
            assert sentence.text
            if sentence.whole and not set(sentence.text) & set(" \t\r\f\v\n\ufeff"):
                (again,) = parse_cut("input", " ".join(sentence.words()).encode(), "cut")
                assert again.words() == sentence.words()
    if refused > len(CUT_FORMATS):
        raise FileError("input", "no format reads it")


def _raw() -> Callable[[bytes], None]:
    """Segment raw text whole, in pieces and line by line: the words must be the same."""
    words = ["東京", "都", "日本", "日本海", "海", "は", "ab", "11", "👩"]
    lines = [" ".join(random.Random(k).choices(words, k=6)) for k in range(40)]
    model = WordSegmenter(n_models=1).fit(lines)

    def read(data: bytes) -> None:
        own = ["海は", "b1"] if len(data) % 2 else None
        whole = model._cutter(own).cut(data, True)
        cutter = model._cutter(own)
        cuts = [data[i : i + 7] for i in range(0, len(data), 7)]
        assert (
            b"".join([*(cutter.cut(chunk, False) for chunk in cuts), cutter.cut(b"", True)])
            == whole
        )
        text = data.decode()
        rows = model.predict(text.split("\n"), dictionary=own)
        assert whole.decode() == "\n".join(" ".join(row) for row in rows)

    return read


def _file(read: Callable[[str], Any], suffix: str = "") -> Callable[[bytes], None]:
    """Turn a reader of files into a reader of bytes."""

    def of_bytes(data: bytes) -> None:
        read(memory_file(data, suffix))

    return of_bytes


def _text(name: str, read: Callable[[bytes], None], *more: type[Exception]) -> Target:
    seeds = seeds_of(name)
    return Target(name, lambda rng: mutated(rng, seeds), read, (FileError, *more))


#: Odd values of table cells, none of them a valid label.
_ODD = (
    None, True, -1, 2**63 - 1, 1.5, float("nan"), float("inf"), b"\xff", date(2020, 1, 1),
    datetime(2020, 1, 1), [], ["a"], ["a", None], [[1]], {"a": 1}, [{"start": 0}], "", " ", "\n",
    "\ud7ff", "😀", "B-X", "_", "x" * 3000,
)  # fmt: skip
_HEADINGS = ("tokens", "tags", "word", "label", "sentence_id", "text", "pos", "", "tags ", "é")


def _parquet_tables() -> Callable[[random.Random], bytes]:
    """Make Parquet tables with odd values, or valid ones with changed bytes."""
    import pyarrow
    from pyarrow import parquet

    def made(rows: list[dict[str, Any]]) -> bytes:
        out = io.BytesIO()
        table = pyarrow.Table.from_pylist(rows)
        parquet.write_table(table, out, compression="NONE", use_dictionary=False)
        return out.getvalue()

    seeds = [
        made([{"tokens": ["Ann", "in", "Rome"], "tags": ["B-PER", "O", "B-LOC"]}] * 3),
        made([{"sentence_id": i // 2, "word": "w", "tag": "N", "n": 1.5} for i in range(6)]),
        made([{"text": "Ann in Rome", "tags": "N P N"}]),
    ]

    def make(rng: random.Random) -> bytes:
        if rng.random() < 0.3:
            return mutated(rng, seeds)
        names = rng.sample(_HEADINGS, rng.randint(1, 4))
        columns = {}
        n = rng.randint(0, 5)
        for name in names:
            kind = rng.choice(_ODD)
            good = ["a", "b"][: rng.randint(1, 2)] if rng.random() < 0.5 else "a"
            columns[name] = [rng.choice((kind, kind, good, None)) for _ in range(n)]
        rows = [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        try:
            return made(rows)
        except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
            return made([{"tokens": ["a"], "tags": [str(rng.random())]}])

    return make


def _doc_bins() -> Callable[[random.Random], bytes]:
    """Make spaCy files with changed bytes inside the compressed data."""
    seeds = [
        zlib.decompress(FORMATS["docbin"]().render(FORMATS["prodigy"]().documents(seed)))
        for seed in (
            b'{"text": "Ann in Rome.", "spans": [{"start": 0, "end": 3, "label": "PER"}]}\n',
            '{"text": "Zo\u00e9 \U0001f600\\n\u05e9", "spans": []}\n{"text": ""}\n'.encode(),
        )
    ]

    def make(rng: random.Random) -> bytes:
        data = mutated(rng, seeds)
        return data if rng.random() < 0.05 else zlib.compress(data, 1)

    return make


def _other_packages() -> list[Target]:
    """Return the readers whose optional packages are installed."""
    targets = []
    if find_spec("pyarrow"):
        targets.append(
            Target("parquet", _parquet_tables(), _format("parquet"), (FileError, LineError))
        )
    if find_spec("spacy"):
        targets.append(Target("docbin", _doc_bins(), _spans("docbin"), (FileError, LineError)))
    return targets


def text_targets() -> dict[str, Target]:
    """Return the readers of text by name."""
    targets = (
        _text("columns", _corpus("columns")),
        _text("conllu", _conllu),
        _text("csv", _format("csv"), LineError),
        _text("jsonl", _format("jsonl"), LineError),
        *(_text(name, _spans(name), LineError) for name in _SPANS),
        _text("brackets", _brackets),
        _text("templates", _templates(), ValueError, MissingFunctionError),
        _text("segment_templates", _templates(), ValueError, MissingFunctionError),
        _text("phrases", _file(read_phrases)),
        _text("vectors", _file(read_vectors)),
        *_other_packages(),
        _text("cut", _cut),
        _text("raw", _raw(), LineError),
        _text("dictionary", _file(read_dictionary)),
    )
    return {target.name: target for target in targets}
