"""Dependency trees as results: what a parser finds, with the words that it found it for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..printing import joined_lines

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from typing import Any


class DependencyTree(list[tuple[int, str]]):
    """The (head, relation) of each word: a list of them that knows its words and draws itself.

    It compares and unpacks as that list. Notebooks show it as arcs over the words; ``print`` shows
    it as indented text.

    Parameters
    ----------
    arcs : iterable of (int, str)
        Heads count from 1; 0 is the root.
    words : sequence of str
    tags : sequence of str, optional
        The tags (UPOS) that the parser read or predicted.
    probability : float, optional
        P(tree | sentence), where it was asked for.
    confidence : sequence of float, optional
        The probability that head and relation are right, of each word, where it was asked for.

    Examples
    --------
    >>> from structlearn.text import DependencyTree
    >>> tree = DependencyTree([(2, "nsubj"), (0, "root")], ["Fish", "sleep"], ["NOUN", "VERB"])
    >>> tree == [(2, "nsubj"), (0, "root")]
    True
    >>> tree.heads, tree.relations
    ([2, 0], ['nsubj', 'root'])
    >>> print(tree)
    sleep VERB root
    └─ Fish NOUN nsubj
    """

    words: list[str]
    tags: list[str]
    probability: float | None
    confidence: list[float] | None

    def __init__(
        self,
        arcs: Iterable[tuple[int, str]],
        words: Sequence[str],
        tags: Sequence[str] = (),
        probability: float | None = None,
        confidence: Sequence[float] | None = None,
    ) -> None:
        super().__init__(arcs)
        self.words = list(words)
        self.tags = list(tags)
        self.probability = probability
        self.confidence = None if confidence is None else list(confidence)

    @property
    def heads(self) -> list[int]:
        """The head of each word, 0 for the root."""
        return [head for head, _ in self]

    @property
    def relations(self) -> list[str]:
        """The relation of each word to its head."""
        return [relation for _, relation in self]

    def draw(self, gold: Sequence[tuple[int, str]] | None = None) -> Any:
        """Return a picture, :class:`~structlearn.drawing.arcs.ArcDrawing`.

        Parameters
        ----------
        gold : sequence of (head, relation), optional
            What the tree should be: arcs that it does not have are red, those that are missing
            are drawn dashed and green below the words.
        """
        from ..drawing.arcs import draw_arcs

        return draw_arcs(self.words, self, gold, self.tags or None)

    def __str__(self) -> str:
        below: list[list[int]] = [[] for _ in range(len(self) + 1)]
        for word, (head, _) in enumerate(self, 1):
            below[head].append(word)
        lines = []
        # Each word with what stands before it, and before the words below it.
        stack = [(word, "", "") for word in reversed(below[0])]
        while stack:
            word, before, indent = stack.pop()
            cells = [self.words[word - 1], *self.tags[word - 1 : word], self[word - 1][1]]
            if self.confidence is not None:
                cells.append(f"{self.confidence[word - 1]:.3f}")
            lines.append(before + " ".join(cells))
            for child in reversed(below[word]):
                last = child == below[word][-1]
                stack.append((child, indent + ("└─ " if last else "├─ "),
                              indent + ("   " if last else "│  ")))  # fmt: skip
        return joined_lines(lines)

    def _repr_svg_(self) -> str:
        return str(self.draw().svg)

    _repr_html_ = _repr_svg_
