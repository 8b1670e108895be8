"""Constituent trees: bracketed text in and out, and what is done to a treebank before learning."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator

from ..exceptions import LineError

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from typing import Any

#: Nodes inside each other; deeper ones are an accident.
_MOST_DEPTH = 10_000
_TOKEN = re.compile(r"[()]|[^\s()]+")
#: What may follow a category: -SBJ, =2, |… . Categories such as -LRB- and -NONE- begin with it.
_FUNCTION = re.compile(r"[-=|]")


class Tree:
    """A node of a constituent tree: a label with children, or a tag with a word.

    Attributes
    ----------
    label : str
        The category, or the tag of a word.
    children : list of Tree
        Empty for a word.
    word : str or None
        The word itself.
    probability : float or None
        P(tree | sentence), where a parser was asked for it.

    Examples
    --------
    >>> tree = parse_brackets("(S (NP (N fish)) (VP (V sleep)))")[0]
    >>> tree.words, tree.tags
    (['fish', 'sleep'], ['N', 'V'])
    >>> tree.spans()
    [(0, 2, 'S'), (0, 1, 'NP'), (1, 2, 'VP')]
    >>> print(tree)
    (S (NP (N fish)) (VP (V sleep)))
    """

    __slots__ = ("children", "label", "probability", "word")

    def __init__(self, label: str, children: Iterable[Tree] = (), word: str | None = None) -> None:
        self.label = label
        self.children = list(children)
        self.word = word
        self.probability: float | None = None

    def leaves(self) -> list[Tree]:
        """Return the words' nodes from left to right."""
        found: list[Tree] = []
        stack = [self]
        while stack:
            node = stack.pop()
            if node.word is not None:
                found.append(node)
            stack += reversed(node.children)
        return found

    @property
    def words(self) -> list[str]:
        """The words."""
        return [leaf.word or "" for leaf in self.leaves()]

    @property
    def tags(self) -> list[str]:
        """The tags of the words."""
        return [leaf.label for leaf in self.leaves()]

    def spans(self) -> list[tuple[int, int, str]]:
        """Return (begin, end, label) of all nodes above tags, outer first, left before right."""
        found: list[tuple[int, int, str]] = []
        at = 0
        # A node is met twice: when it opens, and when its words have been counted.
        stack: list[tuple[Tree, int]] = [(self, -1)]
        while stack:
            node, place = stack.pop()
            if place >= 0:
                found[place] = (found[place][0], at, node.label)
            elif node.word is not None:
                at += 1
            else:
                found.append((at, at, node.label))
                stack.append((node, len(found) - 1))
                stack += [(child, -1) for child in reversed(node.children)]
        return found

    def __str__(self) -> str:
        pieces: list[str] = []
        stack: list[Tree | str] = [self]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                pieces.append(node)
            elif node.word is not None:
                pieces.append(f"({node.label} {node.word})")
            else:
                pieces.append(f"({node.label} ")
                stack.append(")")
                for i, child in enumerate(reversed(node.children)):
                    if i:
                        stack.append(" ")
                    stack.append(child)
        return "".join(pieces)

    def __repr__(self) -> str:
        return f"Tree({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def draw(self, gold: Tree | None = None) -> Any:
        """Return a picture, :class:`~structlearn.drawing.trees.TreeDrawing`.

        Parameters
        ----------
        gold : Tree, optional
            What the tree should be: it is drawn above the words, this one below them.
        """
        from ..drawing.trees import TreeDrawing, draw_tree, draw_trees

        return TreeDrawing(draw_tree(self) if gold is None else draw_trees(gold, self))

    def _repr_svg_(self) -> str:
        return str(self.draw().svg)

    _repr_html_ = _repr_svg_

    # -- what treebanks carry besides -----------------------------------------------------------

    def cleaned(self, *, functions: bool = False, traces: bool = False) -> Tree | None:
        """Return the tree without functional tags and traces; None where no word is left.

        Parameters
        ----------
        functions : bool
            Keep what follows a category: NP-SBJ, NP=2. Tags of words lose nothing.
        traces : bool
            Keep empty elements, words tagged -NONE-.
        """
        top: list[Tree] = []
        # A node is met twice: when it opens, and when all below it are clean. With each goes the
        # list that it is to stand in, and the list of its own children.
        stack: list[tuple[Tree, list[Tree], list[Tree] | None]] = [(self, top, None)]
        while stack:
            node, beside, kept = stack.pop()
            if node.word is not None:
                if node.label != "-NONE-" or traces:
                    beside.append(node)
            elif kept is None:
                kept = []
                stack.append((node, beside, kept))
                stack += [(child, kept, None) for child in reversed(node.children)]
            elif kept:
                label = node.label
                if not functions and label[:1] != "-":
                    label = _FUNCTION.split(label, maxsplit=1)[0] or label
                beside.append(Tree(label, kept))
        return top[0] if top else None

    def collapsed(self) -> list[tuple[int, int, tuple[str, ...]]]:
        """Return the spans with unary chains joined: (begin, end, labels from the top down)."""
        joined: list[tuple[int, int, tuple[str, ...]]] = []
        for begin, end, label in self.spans():
            if joined and joined[-1][:2] == (begin, end):
                joined[-1] = (begin, end, (*joined[-1][2], label))
            else:
                joined.append((begin, end, (label,)))
        return joined


def bracket_fault(label: str) -> str:
    """Say why a label cannot be written in a bracketed tree; empty: it can."""
    if _TOKEN.findall(label) == [label] and label not in "()":
        return ""
    return "it is empty, or has blanks or brackets in it"


def tree_from_spans(
    words: list[str], tags: list[str], spans: Iterable[tuple[int, int, tuple[str, ...]]]
) -> Tree:
    """Return the tree of joined spans, outer before inner; undoes :meth:`Tree.collapsed`.

    Where nothing covers the whole sentence a nameless node does.
    """
    root = Tree("")
    # Whose children come now, with where each ends.
    stack: list[tuple[Tree, int]] = [(root, len(words))]
    at = 0

    def fill(until: int) -> None:
        nonlocal at
        while at < until:
            while stack[-1][1] <= at:
                stack.pop()
            end = min(until, stack[-1][1])
            node = stack[-1][0]
            node.children += [Tree(tags[t], (), words[t]) for t in range(at, end)]
            at = end

    for begin, end, labels in spans:
        fill(begin)
        while stack[-1][1] <= begin:
            stack.pop()
        for label in labels:
            node = Tree(label)
            stack[-1][0].children.append(node)
            stack.append((node, end))
    fill(len(words))
    if len(root.children) == 1 and root.children[0].word is None:
        return root.children[0]
    return root


def parse_brackets(text: str) -> list[Tree]:
    """Return the trees of a string; ``LineError`` says where it is wrong."""
    return [tree for tree, _ in scan_brackets(text)]


def scan_brackets(text: str) -> Iterator[tuple[Tree, int]]:
    """Yield the trees of a text, each with the line that it begins on; a mistake: ``LineError``."""
    line_starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line(at: int) -> int:
        return bisect.bisect_right(line_starts, at)

    def error(reason: str, at: int) -> LineError:
        return LineError(line(at), f"sentence {sentence}{reason}")

    # Open nodes: [label, children, word, where]
    stack: list[list[Any]] = []
    sentence = 1
    last = "("
    for match in _TOKEN.finditer(text):
        token, at = match.group(), match.start()
        if token == "(":
            if stack and stack[-1][2] is not None:
                raise error(
                    f": the word {stack[-1][2]!r} is next to a constituent",
                    at,
                )
            stack.append(["", [], None, at])
            if len(stack) > _MOST_DEPTH:
                raise error(
                    f": more than {_MOST_DEPTH} nodes inside each other; is a bracket missing?",
                    at,
                )
        elif token == ")":
            if not stack:
                raise error(": a closing bracket without an opening one", at)
            label, children, word, begin = stack.pop()
            if word is None and not children:
                raise error(
                    f": the node ({label}) is empty" if stack or label else " is empty",
                    begin,
                )
            node = Tree(label, children, word)
            if stack:
                stack[-1][1].append(node)
            else:
                node = _unwrapped(node)
                if not node.label and all(c.word is None for c in node.children):
                    raise error(
                        f": {len(node.children)} trees in one pair of brackets; "
                        "put each in brackets of its own, or name the node that joins them",
                        begin,
                    )
                yield node, line(begin)
                sentence += 1
        elif not stack:
            raise error(f": {token!r} is outside of brackets", at)
        elif last == "(":
            stack[-1][0] = token
        elif stack[-1][1] or stack[-1][2] is not None:
            raise error(
                f": {token!r} is next to another word or constituent",
                at,
            )
        else:
            stack[-1][2] = token
        last = token
    if stack:
        begin = stack[0][3]
        raise error(
            f", which begins here, is not closed: {len(stack)} brackets are still open at the end",
            begin,
        )


def _unwrapped(tree: Tree) -> Tree:
    # All of them, one inside another too: a tree that is written and read again stays as it is.
    while tree.label in ("", "TOP", "ROOT", "S1") and len(tree.children) == 1:
        tree = tree.children[0]
    return tree
