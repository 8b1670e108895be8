"""The synthetic treebank as files, to try the command line on."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from pathlib import Path

from ..exceptions import FileError
from .sentence import Sentence
from .treebank import make_treebank

#: First letter of a tag -> the universal part of speech.
_COARSE = {"N": "NOUN", "V": "VERB", "J": "ADJ", "D": "DET", "R": "ADV", "I": "ADP", "P": "PRON"}


def write_treebank(
    folder: str | os.PathLike[str], n_sentences: int = 1000, *, random_state: int = 0
) -> list[str]:
    """Write a synthetic treebank in every format that the text tasks read.

    The files are ``train``, ``dev`` and ``test`` (70, 15 and 15 per cent), each with the endings
    ``.txt`` (columns: word, tag, chunk), ``.conllu``, ``.mrg`` and ``.mrg.gz`` (bracketed trees);
    and the test sentences to label: ``input.txt`` without chunks, ``text.txt`` with one sentence
    per line, ``text.conllu``.

    Parameters
    ----------
    folder : str or path
        Created if it does not exist.
    n_sentences : int
    random_state : int
        Seed of :func:`make_treebank`.

    Returns
    -------
    list of str
        The names of the files.

    Raises
    ------
    FileError
        If a file with one of these names exists and has other content; nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> from structlearn.datasets import write_treebank
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_treebank(folder, 20)[:2])
    ['dev.conllu', 'dev.mrg']
    """
    bank = make_treebank(n_sentences, random_state=random_state)
    first, second = n_sentences * 70 // 100, n_sentences * 85 // 100
    parts = {"train": bank[:first], "dev": bank[first:second], "test": bank[second:]}
    contents: dict[str, bytes] = {}
    for name, part in parts.items():
        trees = "".join(f"{s.brackets}\n" for s in part).encode()
        contents[f"{name}.txt"] = _columns(part, 3)
        contents[f"{name}.conllu"] = _conllu(part)
        contents[f"{name}.mrg"] = trees
        contents[f"{name}.mrg.gz"] = gzip.compress(trees, mtime=0)
    contents["input.txt"] = _columns(parts["test"], 2)
    contents["text.txt"] = "".join(" ".join(s.words) + "\n" for s in parts["test"]).encode()
    contents["text.conllu"] = contents["test.conllu"]
    paths = {Path(folder, name): content for name, content in contents.items()}
    for path, content in paths.items():
        if path.exists() and not (path.is_file() and path.read_bytes() == content):
            raise FileError(str(path), "exists already; name another folder")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for path, content in paths.items():
        path.write_bytes(content)
    return sorted(contents)


def _columns(sentences: Sequence[Sentence], n: int) -> bytes:
    """Return the first n of word, tag and chunk, one token per line."""
    rows = [zip(s.words, s.tags, s.chunks, strict=True) for s in sentences]
    lines = ["".join(" ".join(row[:n]) + "\n" for row in sentence) for sentence in rows]
    return "\n".join(lines).encode()


def _conllu(sentences: Sequence[Sentence]) -> bytes:
    lines = []
    for s in sentences:
        lines.append(f"# text = {' '.join(s.words)}\n")
        rows = zip(s.words, s.tags, s.heads, s.deprels, strict=True)
        for i, (word, tag, head, relation) in enumerate(rows, 1):
            coarse = _COARSE.get(tag[0], "X") if tag[0].isalpha() else "PUNCT"
            lines.append(f"{i}\t{word}\t_\t{coarse}\t{tag}\t_\t{head}\t{relation}\t_\t_\n")
        lines.append("\n")
    return "".join(lines).encode()
