"""Conversion between our documents and spaCy's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from spacy.lang.lex_attrs import LEX_ATTRS
from spacy.symbols import IDS
from spacy.tokens import Doc as SpacyDoc
from spacy.tokens import Span as SpacySpan
from spacy.vocab import Vocab

from ..tasks.pipeline.doc import Doc


def spacy_doc(doc: Doc, vocab: Any = None) -> Any:
    """Return a spaCy document; see :meth:`structlearn.tasks.pipeline.doc.Doc.to_spacy`."""
    layout = _Layout(doc)
    tokens, n = doc.tokens, len(layout.texts)
    blank = [""] * n

    def column(name: str) -> list[str]:
        cells = list(blank)
        for place, token in zip(layout.places, tokens, strict=True):
            cell = getattr(token, name)
            cells[place] = "" if cell == "_" else cell
        return cells

    starts = [0] * n
    for sentence in filter(len, doc.sentences):
        starts[layout.places[sentence.first]] = 1
    if layout.places:  # blanks before the first token belong to its sentence
        starts[layout.places[0]], starts[0] = 0, 1
    converted = SpacyDoc(
        Vocab(lex_attr_getters=LEX_ATTRS) if vocab is None else vocab,
        words=layout.texts,
        spaces=layout.spaces,
        tags=column("xpos"),
        pos=[_pos(cell) for cell in column("upos")],
        morphs=column("feats"),
        lemmas=column("lemma"),
        sent_starts=starts,
    )
    if tokens and tokens[0].head_id is not None:
        heads = [None if token.head is None else token.head.i for token in tokens]
        relations = [token.relation for token in tokens]
        put_arcs(converted, layout.places, heads, relations)
    converted.ents = spacy_spans(converted, layout.places, doc.entities)
    for name in dict.fromkeys(name for token in tokens for name in token.labels):
        converted.spans[name] = spacy_spans(converted, layout.places, doc.spans(name))
    return converted


class _Layout:
    """The texts of spaCy's tokens: ours, and whitespace other than single spaces.

    Attributes
    ----------
    texts : list of str
    spaces : list of bool
        Whether a space follows.
    places : list of int
        The number of each of our tokens in spaCy's document.
    """

    def __init__(self, doc: Doc) -> None:
        self.texts: list[str] = []
        self.spaces: list[bool] = []
        self.places: list[int] = []
        at = 0
        for surface in doc.surfaces:
            self._gap(doc.text[at : surface.begin])
            for token in surface.tokens:
                self.places.append(len(self.texts))
                self._add(token.text)
            at = surface.end
        self._gap(doc.text[at:])

    def _add(self, text: str) -> None:
        self.texts.append(text)
        self.spaces.append(False)

    def _gap(self, blanks: str) -> None:
        if blanks.startswith(" ") and self.texts:
            self.spaces[-1], blanks = True, blanks[1:]
        if blanks:
            self._add(blanks)


def _pos(upos: str) -> str:
    """Return a part of speech for spaCy, which knows only those of Universal Dependencies."""
    return upos if upos in IDS else ""


def spacy_spans(doc: Any, places: Sequence[int], spans: Iterable[Any]) -> list[Any]:
    """Return our spans as spans of a spaCy document, in which our tokens have these numbers."""
    return [
        SpacySpan(doc, places[span[0].i], places[span[-1].i] + 1, label=span.label)
        for span in spans
    ]


def put_arcs(
    doc: Any, places: Sequence[int], heads: Sequence[int | None], relations: Sequence[str]
) -> None:
    """Set the heads and relations of a spaCy document.

    Parameters
    ----------
    doc : spacy.tokens.Doc
    places : list of int
        The number of each of our tokens there. The others, blanks, depend on the token before them.
    heads : list of int or None
        The number of the head of each of our tokens; its own for a root.
    relations : list of str
        ``root`` becomes ``ROOT``, spaCy's name.
    """
    import numpy as np

    n = len(doc)
    head, dep = np.arange(n), np.zeros(n, dtype=np.uint64)
    own = set(places)
    before = places[0] if len(places) else 0
    for place in range(n):  # blanks depend on the token before them
        if place in own:
            before = place
        else:
            head[place] = before
    strings = doc.vocab.strings
    for place, number, relation in zip(places, heads, relations, strict=True):
        if number is not None:
            head[place] = places[number]
            dep[place] = strings.add("ROOT" if relation == "root" else relation)
    offsets = (head - np.arange(n)).astype(np.int64).astype(np.uint64)
    doc.from_array(["HEAD", "DEP"], np.stack([offsets, dep], axis=1))


def sentence_starts(doc: Any, model: Any) -> list[int]:
    """Return the character offsets at which the sentences of a spaCy document begin.

    They are its own if it has any, else those of a pipeline with a tokeniser, else there is one
    sentence.
    """
    if doc.has_annotation("SENT_START"):
        return [sentence.start_char for sentence in doc.sents]
    if "tokeniser" in getattr(model, "stages", ()):
        return [sentence[0][0] for sentence in model.places(doc.text) if sentence]
    return [0]


def read_doc(doc: Any, starts: Sequence[int]) -> tuple[Doc, list[int]]:
    """Return a spaCy document as ours, with tags and lemmas, and the places of its tokens.

    Blanks do not become tokens.

    Parameters
    ----------
    starts : list of int
        Character offsets at which sentences begin.
    """
    sentences: list[list[tuple[int, int]]] = []
    places, later = [], [*starts[1:]]
    for token in doc:
        if token.is_space or not token.text.strip():
            continue
        while later and token.idx >= later[0]:
            later.pop(0)
            if sentences and sentences[-1]:
                sentences.append([])
        if not sentences:
            sentences.append([])
        sentences[-1].append((token.idx, token.idx + len(token.text)))
        places.append(token.i)
    ours = Doc.from_places(doc.text, sentences)
    for token, place in zip(ours, places, strict=True):
        other = doc[place]
        token.upos, token.xpos = other.pos_ or "_", other.tag_ or "_"
        token.lemma, token.feats = other.lemma_ or "_", str(other.morph) or "_"
    return ours, places
