"""Annotated text: documents, which are sequences of tokens."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator

from ...printing import escape, visible
from .span import DocSentence, Span, neighbours
from .token import Surface, Token

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any, overload

__all__ = ["Doc"]


class Doc:
    """A text with what a pipeline found in it: a sequence of tokens.

    ``doc[0]`` is a token and ``doc[2:5]`` a span of tokens; ``for token in doc`` gives all of them,
    and ``doc.sentences`` and ``doc.entities`` are spans.

    Attributes
    ----------
    text : str
    sentences : list of DocSentence

    Examples
    --------
    >>> from structlearn.tasks.pipeline.doc import Doc
    >>> doc = Doc.from_places("Fish swim. Cats sleep.", [
    ...     [(0, 4), (5, 9), (9, 10)], [(11, 15), (16, 21), (21, 22)],
    ... ])
    >>> [token.text for token in doc], doc.rebuilt == doc.text
    (['Fish', 'swim', '.', 'Cats', 'sleep', '.'], True)
    >>> doc[3].text, doc[3].i, doc[3].begin, doc[3].sentence.text
    ('Cats', 3, 11, 'Cats sleep.')
    >>> doc[3:5]
    <Span: 'Cats sleep'>
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.sentences: list[DocSentence] = []

    @classmethod
    def from_places(
        cls, text: str, sentences: list[list[tuple[int, int]]], splits: Any = None
    ) -> Doc:
        """Return a document of a text whose surfaces lie at these places.

        Parameters
        ----------
        splits : list of lists, optional
            For each surface its tokens, or None if it is one token.
        """
        doc, reached, first = cls(text), 0, 0
        for s, places in enumerate(sentences):
            surfaces, n = [], 1
            for t, (begin, end) in enumerate(places):
                forms = None if splits is None else splits[s][t]
                surfaces.append(Surface.of(text, begin, end, n, forms))
                n += len(surfaces[-1].tokens)
            begin = surfaces[0].begin if surfaces else reached
            reached = surfaces[-1].end if surfaces else reached
            doc.sentences.append(DocSentence(doc, surfaces, begin, reached, first))
            first += n - 1
        return doc

    def append(self, other: Doc) -> None:
        """Add the text behind this one, with its sentences, which are then of this document."""
        offset, first = len(self.text), len(self)
        self.text += other.text
        for sentence in other.sentences:
            sentence.doc = self
            sentence.first += first
            places: list[Any] = [sentence, *sentence.surfaces, *sentence.tokens]
            for part in places:
                part.begin += offset
                part.end += offset
        self.sentences += other.sentences

    @property
    def tokens(self) -> list[Token]:
        """The tokens of all sentences."""
        return [token for sentence in self.sentences for token in sentence.tokens]

    @property
    def surfaces(self) -> list[Surface]:
        """What the tokens of all sentences are written as."""
        return [surface for sentence in self.sentences for surface in sentence.surfaces]

    def spans(self, name: str = "entities") -> list[Span]:
        """Return the spans that the labels of a stage make: ``B-PER``, ``I-PER``, ….

        Parameters
        ----------
        name : str, default="entities"
            Of the stage.
        """
        return [span for sentence in self.sentences for span in sentence.spans(name)]

    @property
    def entities(self) -> list[Span]:
        """The entities, each with its label and its place."""
        return self.spans()

    @property
    def rebuilt(self) -> str:
        """The text, put together again from the surfaces and the blanks between them."""
        parts, at = [], 0
        for surface in self.surfaces:
            parts += [self.text[at : surface.begin], surface.text]
            at = surface.end
        return "".join([*parts, self.text[at:]])

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
        from .conllu import conllu_of

        return conllu_of(self, first_id, confidence, begins, ends)

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
                words = " ".join(f"{token.text}/{token.upos}" for token in sentence)
                body.append(f"<p>{escape(words)}</p>")
            else:
                body.append(f'<div class="wide">{tree.draw().svg}</div>')
        return "\n".join(body)

    def to_spacy(self, vocab: Any = None) -> Any:
        """Return the document as one of spaCy, which must be installed.

        Tags, lemmas, morphology, heads, sentences and entities go along. Blanks other than one
        space are tokens of their own there, so that the text is the same; the tokens of a surface
        that are not simply its parts are joined without blanks.

        Parameters
        ----------
        vocab : spacy.Vocab, optional
            By default a new one; give ``nlp.vocab`` to use the document in a pipeline of spaCy.
        """
        from ...spacy.conversion import spacy_doc

        return spacy_doc(self, vocab)

    def _repr_html_(self) -> str:
        return self.to_html()

    def __iter__(self) -> Iterator[Token]:
        return (token for sentence in self.sentences for token in sentence.tokens)

    def __len__(self) -> int:
        return self.sentences[-1].first + len(self.sentences[-1]) if self.sentences else 0

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: int) -> Token: ...
        @overload
        def __getitem__(self, index: slice) -> Span: ...

    def __getitem__(self, index: int | slice) -> Token | Span:
        if isinstance(index, slice):
            return Span(self, neighbours(self.tokens, index))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"there is no token {index}: the document has {len(self)}")
        sentence = self.sentences[bisect_right(self.sentences, place, key=_first) - 1]
        return sentence.tokens[place - sentence.first]

    def __str__(self) -> str:
        shown = [(sentence, sentence.tree) for sentence in self.sentences if sentence.tokens]
        return "\n\n".join(
            str(tree) if tree is not None else visible(" ".join(t.text for t in sentence))
            for sentence, tree in shown
        )

    def __repr__(self) -> str:
        return f"<Doc of {len(self)} tokens, {len(self.sentences)} sentences: {self.text[:60]!r}>"


def _first(sentence: DocSentence) -> int:
    return sentence.first
