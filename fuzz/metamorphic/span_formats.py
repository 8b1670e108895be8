"""Relations on texts with spans: every format trains the same model."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from fuzz.memory_file import memory_file
from fuzz.metamorphic.answers import demand_same
from fuzz.metamorphic.model_files import demand_same_file, stored
from fuzz.metamorphic.relation import relation
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.text import read_corpus
from structlearn.text.formats import FORMATS, span_formats
from structlearn.text.spans import Document, Span

__all__: list[str] = []

Rng = np.random.Generator
_TAGGERS = {"tagger": Tagger, "segments": SegmentTagger}
_PIECES = (
    "Ann", "Bob", "in", "Rome", " ", " ", "\n", "\r\n", ",", "don't", "2cups", "😀", "e\u0301",
    "שלום", "👩\u200d👧", "\u2028",
)  # fmt: skip
_FORMATS = tuple(name for name in span_formats() if name != "docbin" or find_spec("spacy"))


def _documents(rng: Rng) -> list[Document]:
    documents = []
    for _ in range(int(rng.integers(1, 6))):
        pieces = [str(rng.choice(_PIECES)) for _ in range(int(rng.integers(1, 14)))]
        text, spans, reached = "".join(pieces), [], 0
        for a, b in sorted(sorted(map(int, rng.integers(0, len(text) + 1, 2))) for _ in range(3)):
            if a >= reached and text[a:b].strip():
                spans.append(Span(a, b, str(rng.choice(["PER", "LOC"]))))
                reached = b
        documents.append(Document(text, spans))
    documents.append(Document("Ann in Rome", [Span(0, 3, "PER"), Span(7, 11, "LOC")]))
    return documents


def _file(format: str, documents: list[Document]) -> str:
    writer: Any = FORMATS[format]()
    return memory_file(writer.render(documents), f"-{format}")


@relation("span formats train one model", _TAGGERS, cost="fit")
def span_formats_alike(kind: Any, rng: Rng) -> None:
    """Texts with spans in any two formats, and the tokens of one of them, train the same model.

    Models of texts remember the tokeniser; for a list of tokens it is passed.
    """
    documents = _documents(rng)
    first_format, second_format = map(str, rng.choice(_FORMATS, 2, replace=False))
    tokens = str(rng.choice(["words", "blank", "characters"]))
    parameters = {"max_iter": 2, "tokens": tokens, "random_state": int(rng.integers(100))}
    files = [_file(format, documents) for format in (first_format, second_format)]
    first, second = (kind(**parameters).fit(file) for file in files)
    demand_same_file(f"{first_format}, {second_format}", stored(first), stored(second))
    corpus = read_corpus(files[0], tokens=tokens)
    third = kind(**parameters).fit([list(sentence) for sentence in corpus])
    demand_same_file(f"{first_format}, tokens", stored(first), stored(third))
    texts = [document.text for document in documents]
    predictions = [model.predict_spans(texts, confidence=False) for model in (first, third)]
    demand_same("spans", *predictions)
    demand_same("a file", predictions[0], second.predict_spans(files[1], confidence=False))
