"""Trees to learn from and sentences to parse, from files and lists, checked and cleaned."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...exceptions import FileError
from ...text.files import read_bytes
from ...text.trees import Tree, parse_brackets, read_trees

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from typing import Any

    #: Words and tags.
    Sentences = list[tuple[list[str], list[str]]]

__all__ = ["read_sentences", "read_treebank"]


def read_treebank(source: Any, *, functions: bool = False, traces: bool = False) -> list[Tree]:
    """Return the trees of a file, a list of trees or a list of bracketed strings, cleaned.

    Functional tags and traces are taken out unless they are to be kept. A tree in which no word
    is left raises an error that names the file, the line and the sentence.
    """
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
    found = _given(source) if path is None else read_trees(path)
    trees = []
    for number, (tree, line) in enumerate(found, 1):
        kept = tree.cleaned(functions=functions, traces=traces)
        if kept is None:
            reason = f"sentence {number} has no words, only traces"
            raise FileError(path, reason, line) if path else ValueError(reason)
        if kept.word is not None:
            kept = Tree("", [kept])
        trees.append(kept)
    if not trees:
        raise ValueError("there are no sentences")
    return trees


def read_sentences(source: Any, *, traces: bool = False) -> Sentences:
    """Return words and tags of what is to be parsed; no tags where the input has none.

    Parameters
    ----------
    source : path, list of trees, or list of lists of words
        A file holds bracketed trees, of which words and tags are read, or plain text: a sentence a
        line, words separated by spaces.
    """
    if not isinstance(source, (str, os.PathLike)):
        rows = list(source)
        if not rows or isinstance(rows[0], (str, Tree)):
            return [(t.words, t.tags) for t in read_treebank(rows, traces=traces)]
        sentences: Sentences = []
        for number, row in enumerate(rows, 1):
            words = [_escaped(str(word)) for word in row]
            if not words:
                raise ValueError(f"sentence {number} is empty")
            for word in words:
                if not word or word.split() != [word]:
                    raise ValueError(
                        f"sentence {number}: {word!r} is no word: empty, or with blanks"
                    )
            sentences.append((words, []))
        return sentences
    path = os.fspath(source)
    text = read_bytes(path)
    if text.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"(":
        return [(t.words, t.tags) for t in _cleaned_text(path, text, traces)]
    try:
        lines = text.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise FileError(path, f"it is not UTF-8: {error.reason} at byte {error.start}") from None
    sentences = [([*map(_escaped, line.split())], []) for line in lines if line.strip()]
    if not sentences:
        raise FileError(path, "there are no sentences in it")
    return sentences


def _escaped(word: str) -> str:
    """Return a word as trees write it: brackets are theirs."""
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def _cleaned_text(path: str, text: bytes, traces: bool) -> list[Tree]:
    """Return the trees of a file whose content has been read: standard input is read once."""
    from ...text.trees import read_tree_text

    trees = []
    for number, (tree, line) in enumerate(read_tree_text(path, text), 1):
        kept = tree.cleaned(traces=traces)
        if kept is None:
            raise FileError(path, f"sentence {number} has no words, only traces", line)
        trees.append(kept)
    return trees


def _given(source: Iterable[Any]) -> list[tuple[Tree, int]]:
    trees = []
    for item in source:
        if isinstance(item, Tree):
            trees.append((item, 0))
        elif isinstance(item, str):
            trees += [(tree, 0) for tree in parse_brackets(item)]
        else:
            raise ValueError(f"a tree is a Tree or a bracketed string, got {type(item).__name__}")
    return trees
