"""Sentences, entities and other stretches of an annotated text."""

from __future__ import annotations

from collections.abc import Iterator

from ...text.answers import as_json
from ...text.dependency_tree import DependencyTree

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any, overload

    from .doc import Doc
    from .token import Surface, Token

__all__ = ["DocSentence", "Span"]


class Span:
    """Neighbouring tokens of a document: a sequence of them.

    Attributes
    ----------
    doc : Doc
    tokens : list of Token
    label : str
        Of an entity its type, such as ``PER``; "" if there is none.
    begin, end : int
        Where it lies: ``doc.text[begin:end]`` is its text.
    """

    __slots__ = ("begin", "doc", "end", "label", "tokens")

    def __init__(self, doc: Doc, tokens: list[Token], label: str = "") -> None:
        self.doc, self.tokens, self.label = doc, tokens, label
        self.begin = tokens[0].begin if tokens else 0
        self.end = tokens[-1].end if tokens else 0

    @property
    def text(self) -> str:
        """Its text."""
        return self.doc.text[self.begin : self.end]

    @property
    def root(self) -> Token | None:
        """The first token whose head lies outside, or that is the root; None without a tree."""
        inside = {token.i for token in self.tokens}
        for token in self.tokens:
            head = token.head
            if head is not None and (head is token or head.i not in inside):
                return token
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data: label, text, begin, end."""
        return {"label": self.label, "text": self.text, "begin": self.begin, "end": self.end}

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: int) -> Token: ...
        @overload
        def __getitem__(self, index: slice) -> Span: ...

    def __getitem__(self, index: int | slice) -> Token | Span:
        if isinstance(index, slice):
            return Span(self.doc, neighbours(self.tokens, index))
        return self.tokens[index]

    def __iter__(self) -> Iterator[Token]:
        return iter(self.tokens)

    def __len__(self) -> int:
        return len(self.tokens)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        label = f" {self.label}" if self.label else ""
        return f"<{type(self).__name__}{label}: {self.text[:60]!r}>"


class DocSentence(Span):
    """A sentence: a sequence of tokens.

    Attributes
    ----------
    doc : Doc
    tokens : list of Token
    surfaces : list of Surface
        What the tokens are written as.
    first : int
        The number of its first token in the document.
    begin, end : int
        Where it lies: ``doc.text[begin:end]``.
    """

    __slots__ = ("first", "surfaces")

    def __init__(
        self, doc: Doc, surfaces: list[Surface], begin: int, end: int, first: int = 0
    ) -> None:
        self.doc, self.surfaces, self.first = doc, surfaces, first
        self.tokens = [token for surface in surfaces for token in surface.tokens]
        self.label, self.begin, self.end = "", begin, end
        for token in self.tokens:
            token.sentence = self

    def spans(self, name: str = "entities") -> list[Span]:
        """Return the spans that the labels of a stage make: ``B-PER``, ``I-PER``, ….

        Parameters
        ----------
        name : str, default="entities"
            Of the stage.
        """
        from ...metrics.boundaries import chunks

        if name == "entities":
            labels = [token.entity for token in self.tokens]
        else:
            labels = [token.labels.get(name, "_") for token in self.tokens]
        found = chunks("O" if label == "_" else label for label in labels)
        return [Span(self.doc, self.tokens[begin:end], kind) for begin, end, kind in found]

    @property
    def entities(self) -> list[Span]:
        """The entities, each with its label and its place."""
        return self.spans()

    @property
    def tree(self) -> DependencyTree | None:
        """The tree, which draws itself; None if the pipeline had no parser.

        That of a sentence without tokens is empty.
        """
        tokens = self.tokens
        if tokens and tokens[0].head_id is None:
            return None
        found = [token.confidence.get("head") for token in tokens]
        known = [p for p in found if p is not None]
        return DependencyTree(
            [(token.head_id or 0, token.relation) for token in tokens],
            [token.text for token in tokens],
            [token.upos for token in tokens],
            confidence=known if len(known) == len(tokens) else None,
        )

    def draw(self) -> Any:
        """Return a picture of the tree, :class:`~structlearn.drawing.arcs.ArcDrawing`."""
        tree = self.tree
        if tree is None:
            raise ValueError("there is no tree to draw: the pipeline had no parser")
        return tree.draw()

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence as plain data; probabilities are rounded to four digits."""
        found: dict[str, Any] = {"text": self.text, "begin": self.begin, "end": self.end}
        found["tokens"] = [_token_row(token) for token in self.tokens]
        several = [surface for surface in self.surfaces if len(surface.tokens) > 1]
        if several:
            found["multiword"] = [
                {
                    "first": surface.tokens[0].id,
                    "last": surface.tokens[-1].id,
                    "text": surface.text,
                    "begin": surface.begin,
                    "end": surface.end,
                }
                for surface in several
            ]
        if any(token.entity != "_" for token in self.tokens):
            found["entities"] = [span.to_dict() for span in self.entities]
        return found


def _token_row(token: Token) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": token.id, "text": token.text, "begin": token.begin, "end": token.end,
    }  # fmt: skip
    for name in ("lemma", "upos", "xpos", "feats"):
        if getattr(token, name) != "_":
            row[name] = getattr(token, name)
    if token.head_id is not None:
        row.update(head=token.head_id, relation=token.relation)
    if token.entity not in ("_", "O"):
        row["entity"] = token.entity
    if token.labels:
        row["labels"] = dict(token.labels)
    confidence = token.confidence
    if token.surface.confidence is not None:
        confidence = {"token": token.surface.confidence, **confidence}
    if confidence:
        row["confidence"] = as_json(confidence)
    return row


def neighbours(tokens: list[Token], places: slice) -> list[Token]:
    if places.step not in (None, 1):
        raise ValueError(f"a span has neighbouring tokens: no step {places.step}")
    return tokens[places]
