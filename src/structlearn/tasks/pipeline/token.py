"""Tokens of an annotated text: the units that have tags, lemmas, heads and labels."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from .doc import Doc
    from .span import DocSentence

__all__ = ["Surface", "Token"]


class Token:
    """A token of a document, with what was found for it.

    What is written together can be several tokens: ``didn't`` is ``did`` and ``n't``. Each is a
    token of its own, and ``surface`` says what they are written as.

    Attributes
    ----------
    id : int
        Its number in the sentence, from 1, as in CoNLL-U; ``i`` is its number in the document.
    text : str
    begin, end : int
        Where it lies: ``doc.text[begin:end]`` is its text, or that of its surface if its tokens
        are not simply its parts (French ``du`` for ``de le``).
    lemma, upos, xpos, feats : str
        As in CoNLL-U; ``_`` if that stage was left out.
    head_id : int or None
        The ``id`` of its head, 0 at the root; None without a tree. ``head`` is the head itself.
    relation : str
        To its head.
    entity : str
        ``B-PER``, ``I-PER``, …, ``O``; ``_`` if the pipeline has no entities.
    labels : dict of str to str
        Labels of further stages, by the name of the stage.
    confidence : dict of str to float
        Probabilities by name (``upos``, ``lemma``, ``head``), if they were asked for.
    sentence : DocSentence
    surface : Surface
    """

    __slots__ = (
        "begin", "confidence", "end", "entity", "feats", "head_id", "id", "labels", "lemma",
        "relation", "sentence", "surface", "text", "upos", "xpos",
    )  # fmt: skip
    sentence: DocSentence
    surface: Surface

    def __init__(self, id: int, text: str, begin: int, end: int) -> None:
        self.id, self.text, self.begin, self.end = id, text, begin, end
        self.lemma = self.upos = self.xpos = self.feats = self.relation = self.entity = "_"
        self.head_id: int | None = None
        self.labels: dict[str, str] = {}
        self.confidence: dict[str, float] = {}

    @property
    def doc(self) -> Doc:
        """The document."""
        return self.sentence.doc

    @property
    def i(self) -> int:
        """Its number in the document, from 0: ``doc[token.i]`` is the token."""
        return self.sentence.first + self.id - 1

    @property
    def head(self) -> Token | None:
        """Its head; the root of a sentence is its own head. None if there is no tree."""
        if self.head_id is None:
            return None
        return self.sentence.tokens[self.head_id - 1] if self.head_id else self

    @property
    def children(self) -> list[Token]:
        """The tokens whose head it is, in their order."""
        return [token for token in self.sentence.tokens if token.head_id == self.id]

    @property
    def ancestors(self) -> list[Token]:
        """Its head, the head of that, and so on up to the root."""
        found: list[Token] = []
        token: Token | None = self
        while token is not None and token.head is not token and len(found) < len(self.sentence):
            token = token.head
            if token is not None:
                found.append(token)
        return found

    @property
    def subtree(self) -> list[Token]:
        """The token and all that depend on it, in their order."""
        tokens = self.sentence.tokens
        below: list[list[int]] = [[] for _ in range(len(tokens) + 1)]
        for token in tokens:
            if token.head_id is not None:
                below[token.head_id].append(token.id)
        reached, waiting = {self.id}, [self.id]
        while waiting:
            found = [node for node in below[waiting.pop()] if node not in reached]
            reached.update(found)
            waiting += found
        return [tokens[node - 1] for node in sorted(reached)]

    @property
    def morphology(self) -> dict[str, str]:
        """The features as a dictionary: ``{"Number": "Sing"}``."""
        if self.feats == "_":
            return {}
        return dict(pair.partition("=")[::2] for pair in self.feats.split("|"))

    @property
    def space_after(self) -> bool:
        """Whether a blank follows it in the text."""
        return self.doc.text[self.end : self.end + 1].isspace()

    def __len__(self) -> int:
        return len(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Token {self.text!r} {self.upos} {self.relation}>"


class Surface:
    """What stands in the text between two blanks or signs: one token, or several.

    Attributes
    ----------
    text : str
    begin, end : int
        Where it lies: ``doc.text[begin:end]``.
    tokens : list of Token
        What it consists of.
    confidence : float or None
        The probability that it begins where it does, if that was asked for.
    """

    __slots__ = ("begin", "confidence", "end", "text", "tokens")

    def __init__(self, text: str, begin: int, end: int, tokens: list[Token]) -> None:
        self.text, self.begin, self.end, self.tokens = text, begin, end, tokens
        self.confidence: float | None = None
        for token in tokens:
            token.surface = self

    @classmethod
    def of(cls, text: str, begin: int, end: int, first_id: int, forms: list[str] | None) -> Surface:
        """Return the surface at a place of a text, with its tokens.

        Parameters
        ----------
        first_id : int
            The number of its first token in the sentence.
        forms : list of str or None
            Its tokens; None if it is one.
        """
        form = text[begin:end]
        if forms is None or len(forms) == 1:
            return cls(form, begin, end, [Token(first_id, forms[0] if forms else form, begin, end)])
        whole = "".join(forms) == form  # then each has a place of its own
        tokens, at = [], begin
        for i, one in enumerate(forms, first_id):
            tokens.append(Token(i, one, *((at, at + len(one)) if whole else (begin, end))))
            at += len(one)
        return cls(form, begin, end, tokens)

    def __repr__(self) -> str:
        return f"<Surface {self.text!r} {self.begin}:{self.end}>"
