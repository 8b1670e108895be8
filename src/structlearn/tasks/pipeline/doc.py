"""Annotated text: documents of sentences, tokens and words."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...printing import escape, visible
from ...text.answers import BLANKS, as_json, cell_fault
from ...text.dependency_tree import DependencyTree
from ...text.line_ends import PARAGRAPH_END

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Doc", "DocSentence", "Token", "Word"]

_ESCAPES = {" ": "\\s", "\t": "\\t", "\n": "\\n", "\r": "\\r", "|": "\\p", "\\": "\\\\"}


class Word:
    """A word of a sentence, with what was found for it.

    Attributes
    ----------
    id : int
        Its number in the sentence, from 1.
    form, lemma, upos, xpos, feats : str
        As in CoNLL-U; ``_`` where a stage was left out.
    head : int or None
        The id of its head, 0 for the root; None where there is no tree.
    relation : str
        To its head.
    entity : str
        ``B-PER``, ``I-PER``, …, ``O``; where the pipeline has no entities ``_``.
    confidence : dict of str to float
        Probabilities by name (``upos``, ``lemma``, ``head``), where they were asked for.
    """

    __slots__ = (
        "confidence", "entity", "feats", "form", "head", "id", "lemma", "relation", "upos", "xpos",
    )  # fmt: skip

    def __init__(self, id: int, form: str) -> None:
        self.id, self.form = id, form
        self.lemma = self.upos = self.xpos = self.feats = self.relation = self.entity = "_"
        self.head: int | None = None
        self.confidence: dict[str, float] = {}

    @property
    def morphology(self) -> dict[str, str]:
        """The features as a dictionary: ``{"Number": "Sing"}``."""
        if self.feats == "_":
            return {}
        return dict(pair.partition("=")[::2] for pair in self.feats.split("|"))

    def __repr__(self) -> str:
        return f"<Word {self.form!r} {self.upos} {self.relation}>"


class Token:
    """A token of the text: one word, or several words (a multiword token).

    Attributes
    ----------
    text : str
        As it stands in the text.
    begin, end : int
        Where: ``doc.text[begin:end]``.
    words : list of Word
    confidence : float or None
        The probability that the token begins where it does, where it was asked for.
    """

    __slots__ = ("begin", "confidence", "end", "text", "words")

    def __init__(self, text: str, begin: int, end: int, words: list[Word]) -> None:
        self.text, self.begin, self.end, self.words = text, begin, end, words
        self.confidence: float | None = None

    def __repr__(self) -> str:
        return f"<Token {self.text!r} {self.begin}:{self.end}>"


class DocSentence:
    """A sentence: a sequence of words, with the tokens that they come from.

    Attributes
    ----------
    doc : Doc
        That it is part of.
    tokens : list of Token
        Empty if the sentence was given without tokens.
    words : list of Word
    begin, end : int
        Where it lies: ``doc.text[begin:end]``.
    """

    __slots__ = ("begin", "doc", "end", "tokens", "words")

    def __init__(self, doc: Doc, tokens: list[Token], begin: int, end: int) -> None:
        self.doc, self.tokens, self.begin, self.end = doc, tokens, begin, end
        self.words = [word for token in tokens for word in token.words]

    @property
    def text(self) -> str:
        """Its text."""
        return self.doc.text[self.begin : self.end]

    @property
    def entities(self) -> list[tuple[str, list[Word]]]:
        """The entities: (type, words)."""
        from ...metrics.boundaries import chunks

        found = chunks("O" if word.entity == "_" else word.entity for word in self.words)
        return [(name, self.words[begin:end]) for begin, end, name in found]

    @property
    def tree(self) -> DependencyTree | None:
        """The tree, which draws itself; None if the pipeline had no parser.

        That of a sentence without words is empty.
        """
        words = self.words
        if words and words[0].head is None:
            return None
        found = [word.confidence.get("head") for word in words]
        known = [p for p in found if p is not None]
        return DependencyTree(
            [(word.head or 0, word.relation) for word in words],
            [word.form for word in words],
            [word.upos for word in words],
            confidence=known if len(known) == len(words) else None,
        )

    def draw(self) -> Any:
        """Return a picture of the tree, :class:`~structlearn.drawing.arcs.ArcDrawing`."""
        tree = self.tree
        if tree is None:
            raise ValueError("there is no tree to draw: the pipeline had no parser")
        return tree.draw()

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence as plain data; probabilities are rounded to four digits."""
        tokens = []
        for token in self.tokens:
            words = []
            for word in token.words:
                row: dict[str, Any] = {"id": word.id, "form": word.form}
                for name in ("lemma", "upos", "xpos", "feats"):
                    if getattr(word, name) != "_":
                        row[name] = getattr(word, name)
                if word.head is not None:
                    row.update(head=word.head, relation=word.relation)
                if word.entity not in ("_", "O"):
                    row["entity"] = word.entity
                if word.confidence:
                    row["confidence"] = as_json(word.confidence)
                words.append(row)
            one: dict[str, Any] = {"text": token.text, "begin": token.begin, "end": token.end}
            if token.confidence is not None:
                one["confidence"] = as_json(token.confidence)
            tokens.append({**one, "words": words})
        return {"text": self.text, "begin": self.begin, "end": self.end, "tokens": tokens}

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, index: int) -> Word:
        return self.words[index]

    def __repr__(self) -> str:
        return f"<DocSentence of {len(self.words)} words: {self.text[:60]!r}>"


class Doc:
    """A text with what a pipeline found in it: a sequence of sentences.

    Attributes
    ----------
    text : str
    sentences : list of DocSentence

    Examples
    --------
    >>> from structlearn.tasks.pipeline.doc import Doc
    >>> doc = Doc.from_places("Fish swim.", [[(0, 4), (5, 9), (9, 10)]])
    >>> [token.text for token in doc.tokens], doc.rebuilt == doc.text
    (['Fish', 'swim', '.'], True)
    >>> doc[0][1].form
    'swim'
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.sentences: list[DocSentence] = []

    @classmethod
    def from_places(
        cls, text: str, sentences: list[list[tuple[int, int]]], splits: Any = None
    ) -> Doc:
        """Return a document of a text whose tokens lie at these places.

        Parameters
        ----------
        splits : list of lists, optional
            For each token the words of it, or None where it is one word.
        """
        doc, reached = cls(text), 0
        for s, places in enumerate(sentences):
            tokens, n = [], 1
            for t, (begin, end) in enumerate(places):
                form = text[begin:end]
                forms = None if splits is None else splits[s][t]
                words = [Word(n + i, one) for i, one in enumerate(forms or (form,))]
                n += len(words)
                tokens.append(Token(form, begin, end, words))
            begin = tokens[0].begin if tokens else reached
            reached = tokens[-1].end if tokens else reached
            doc.sentences.append(DocSentence(doc, tokens, begin, reached))
        return doc

    def append(self, other: Doc) -> None:
        """Add the text behind this one, with its sentences, which are then of this document."""
        offset = len(self.text)
        self.text += other.text
        for sentence in other.sentences:
            sentence.doc = self
            sentence.begin += offset
            sentence.end += offset
            for token in sentence.tokens:
                token.begin += offset
                token.end += offset
        self.sentences += other.sentences

    @property
    def tokens(self) -> list[Token]:
        """The tokens of all sentences."""
        return [token for sentence in self.sentences for token in sentence.tokens]

    @property
    def words(self) -> list[Word]:
        """The words of all sentences."""
        return [word for sentence in self.sentences for word in sentence.words]

    @property
    def rebuilt(self) -> str:
        """The text, put together again from the tokens and the blanks between them."""
        return "".join(before + token.text for token, before in self._blanks()) + self._trailing

    def _blanks(self) -> Iterator[tuple[Token, str]]:
        """Yield the tokens, each with what stands between it and the one before."""
        at = 0
        for token in self.tokens:
            yield token, self.text[at : token.begin]
            at = token.end

    @property
    def _trailing(self) -> str:
        return self.text[self.sentences[-1].end if self.sentences else 0 :]

    # -- formats --------------------------------------------------------------------------------

    def to_conllu(
        self,
        *,
        first_id: int = 1,
        confidence: bool = False,
        begins: bool = True,
        ends: bool = True,
    ) -> str:
        """Return the document in CoNLL-U.

        With ``# text``, ranges of multiword tokens, ``SpaceAfter=No``; blanks other than one space
        are in ``SpacesAfter`` (``SpacesBefore`` of the first token), so that the text can be put
        together again. Sentences without words are left out: CoNLL-U has none.

        Parameters
        ----------
        first_id : int, default=1
            The number of the first sentence; a document begins with number 1.
        confidence : bool, default=False
            Write the probabilities that words have into the last column.
        begins, ends : bool, default=True
            Whether it begins and ends where a paragraph does; a piece of a long one does not.

        Raises
        ------
        ValueError
            If a cell cannot be written: it is empty, or has a tab or a line end in it. JSON can
            hold it.
        """
        out: list[str] = []
        text = self.text
        starts = [token.begin for sentence in self.sentences for token in sentence.tokens]
        starts.append(len(text))
        paragraph, k = begins, 0
        for number, sentence in enumerate(filter(len, self.sentences), first_id):
            if paragraph:
                out.append("# newpar" if number > 1 else "# newdoc\n# newpar")
            at = len(out)
            line = []
            for token in sentence.tokens:
                k += 1
                behind = text[token.end : starts[k]]
                line.append(token.text + " " if behind else token.text)
                misc = "_"
                if behind != " " or k + 1 == len(starts):
                    misc = _space_after(behind, ends and k + 1 == len(starts))
                if k == 1 and token.begin > 0:
                    misc = _joined(misc, f"SpacesBefore={_escaped(text[: token.begin])}")
                words = token.words
                if len(words) > 1:
                    span = f"{words[0].id}-{words[-1].id}"
                    out.append(_row(span, token.text, "_", "_", "_", "_", "_", "_", "_", misc))
                    misc = "_"
                for word in words:
                    head = "_" if word.head is None else word.head
                    told = misc
                    if word.entity not in ("_", "O"):
                        if "|" in word.entity:
                            raise ValueError(
                                f"CoNLL-U cannot hold the entity {word.entity!r}: '|' separates "
                                "the entries of its last column; JSON can (to_json)"
                            )
                        told = _joined(told, f"NE={word.entity}")
                    if confidence:
                        for name, p in word.confidence.items():
                            told = _joined(told, f"{name.capitalize()}Confidence={p:.4f}")
                    out.append(
                        _row(
                            str(word.id), word.form, word.lemma, word.upos, word.xpos, word.feats,
                            str(head), word.relation, "_", told,
                        )
                    )  # fmt: skip
            out.insert(at, f"# sent_id = {number}\n# text = {''.join(line).rstrip(' ')}")
            paragraph = PARAGRAPH_END.search(behind) is not None
            out.append("")
        return "\n".join([*out, ""]) if out else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the document as plain data: dictionaries, lists, strings, numbers.

        Probabilities are rounded to four digits.
        """
        return {"text": self.text, "sentences": [s.to_dict() for s in self.sentences]}

    def to_json(self) -> str:
        """Return the document as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_html(self) -> str:
        """Return the trees of the sentences as HTML, without the frame of a page."""
        body = []
        for sentence in filter(len, self.sentences):
            tree = sentence.tree
            if tree is None:
                words = " ".join(f"{word.form}/{word.upos}" for word in sentence.words)
                body.append(f"<p>{escape(words)}</p>")
            else:
                body.append(f'<div class="wide">{tree.draw().svg}</div>')
        return "\n".join(body)

    def _repr_html_(self) -> str:
        return self.to_html()

    def __iter__(self) -> Iterator[DocSentence]:
        return iter(self.sentences)

    def __len__(self) -> int:
        return len(self.sentences)

    def __getitem__(self, index: int) -> DocSentence:
        return self.sentences[index]

    def __str__(self) -> str:
        shown = [(sentence, sentence.tree) for sentence in self.sentences if sentence.words]
        return "\n\n".join(
            str(tree) if tree is not None else visible(" ".join(w.form for w in sentence.words))
            for sentence, tree in shown
        )

    def __repr__(self) -> str:
        return f"<Doc of {len(self.sentences)} sentences: {self.text[:60]!r}>"


def _row(*cells: str) -> str:
    """Return a line of CoNLL-U; refuse cells that a reader would not find again."""
    row = "\t".join(cells)
    whole = row.count("\t") == 9 and "\t\t" not in row and "\n" not in row and "\r" not in row
    if not whole or row[-1] in BLANKS:
        for number, cell in enumerate(cells, 1):
            if fault := cell_fault(cell, False, last=number == 10):
                raise ValueError(
                    f"CoNLL-U cannot hold {cell!r:.60}: {fault}; JSON can (to_json, --format json)"
                )
    return row


def _space_after(behind: str, last: bool) -> str:
    if behind in ("", " "):
        return "_" if behind or last else "SpaceAfter=No"
    return f"SpacesAfter={_escaped(behind)}"


def _escaped(blanks: str) -> str:
    return "".join(
        _ESCAPES.get(c) or (c if c.isprintable() else f"\\u{ord(c):04x}") for c in blanks
    )


def _joined(misc: str, more: str) -> str:
    return more if misc == "_" else f"{misc}|{more}"
