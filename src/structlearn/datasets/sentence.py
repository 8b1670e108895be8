"""Annotated sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

# A word with its tag is ("NN", "dog"); a phrase is its label and its children.
Tree: TypeAlias = "tuple[str | Tree, ...]"
Span: TypeAlias = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with five layers of annotation that agree with each other.

    Attributes
    ----------
    words : tuple of str
        The words; punctuation marks are words.
    tags : tuple of str
        The part of speech of each word.
    chunks : tuple of str
        Flat phrases in IOB2 notation: ``B-NP``, ``I-NP``, ``B-VP``, ..., ``O``.
    heads : tuple of int
        The head of each word, counted from 1; 0 marks the root, of which there is one.
    deprels : tuple of str
        The relation of each word to its head.
    tree : nested tuple
        The constituents: ``("S", ("NP", ("DT", "The"), ("NN", "dog")), ...)``.

    Examples
    --------
    >>> s = Sentence(
    ...     words=("Fish", "sleep", "."),
    ...     tags=("NNS", "VBP", "."),
    ...     chunks=("B-NP", "B-VP", "O"),
    ...     heads=(2, 0, 2),
    ...     deprels=("nsubj", "root", "punct"),
    ...     tree=("S", ("NP", ("NNS", "Fish")), ("VP", ("VBP", "sleep")), (".", ".")),
    ... )
    >>> print(s)
    Fish/NNS sleep/VBP ./.
    >>> s.brackets
    '(S (NP (NNS Fish)) (VP (VBP sleep)) (. .))'
    >>> s.spans
    [(0, 3, 'S'), (0, 1, 'NP'), (1, 2, 'VP')]
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    chunks: tuple[str, ...]
    heads: tuple[int, ...]
    deprels: tuple[str, ...]
    tree: Tree

    def __len__(self) -> int:
        return len(self.words)

    def __str__(self) -> str:
        return " ".join(f"{word}/{tag}" for word, tag in zip(self.words, self.tags, strict=True))

    @property
    def text(self) -> str:
        """The words, separated by blanks."""
        return " ".join(self.words)

    @property
    def brackets(self) -> str:
        """The tree on one line, in the format of treebank files."""
        return _brackets(self.tree)

    @property
    def spans(self) -> list[Span]:
        """The constituents as ``(start, end, label)``, ``end`` exclusive, outermost first.

        Tags are not constituents. No two constituents cover the same words.
        """
        out: list[Span] = []
        _collect_spans(self.tree, 0, out)
        return out


def is_leaf(tree: Tree) -> bool:
    """Return whether a node is a word with its tag."""
    return len(tree) == 2 and isinstance(tree[1], str)


def _brackets(tree: Tree) -> str:
    inner = (part if isinstance(part, str) else _brackets(part) for part in tree)
    return f"({' '.join(inner)})"


def _collect_spans(tree: Tree, start: int, out: list[Span]) -> int:
    """Append the spans below a node that starts at ``start``; return its end."""
    if is_leaf(tree):
        return start + 1
    slot = len(out)
    label = str(tree[0])
    out.append((start, start, label))
    end = start
    for child in tree[1:]:
        if not isinstance(child, str):
            end = _collect_spans(child, end, out)
    out[slot] = (start, end, label)
    return end
