"""Corpora whose gold labels stand in for a person: CoNLL-2000 chunks, CoNLL-2002 entities."""

from __future__ import annotations

import gzip
from pathlib import Path

#: Folder, training file, test file, encoding.
CORPORA = {
    "conll2000": ("conll2000", "train.txt.gz", "test.txt.gz", "utf-8"),
    "conll2002_es": ("conll2002_es", "train.txt.gz", "testb.txt.gz", "utf-8"),
}

Sentence = list[tuple[str, str]]


def read(data: Path, name: str) -> tuple[list[Sentence], list[Sentence]]:
    """Return training and test sentences: words with their labels."""
    folder, train, test, encoding = CORPORA[name]
    return _read(data / folder / train, encoding), _read(data / folder / test, encoding)


def _read(path: Path, encoding: str) -> list[Sentence]:
    sentences: list[Sentence] = [[]]
    with gzip.open(path, "rt", encoding=encoding) as file:
        for line in file:
            cells = line.split()
            if cells:
                sentences[-1].append((cells[0], cells[-1]))
            elif sentences[-1]:
                sentences.append([])
    return [sentence for sentence in sentences if sentence]
