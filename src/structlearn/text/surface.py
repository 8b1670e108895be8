"""The text that a treebank in CoNLL-U was made from: its tokens, blanks, paragraphs.

A token is what stands in the text: a word, or a multiword token (a range such as ``3-4``), which
several words share.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator

from ..exceptions import FileError
from .corpus import Corpus

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any


class SurfaceToken(namedtuple("SurfaceToken", "form first last blank")):
    """A token of the text.

    Attributes
    ----------
    form : str
    first, last : int
        Its words are those from ``first`` up to, not including, ``last``, from 0.
    blank : bool
        Whether a blank follows.
    """

    __slots__ = ()
    form: str
    first: int
    last: int
    blank: bool


class SurfaceSentence(namedtuple("SurfaceSentence", "tokens text begins")):
    """A sentence of the text.

    Attributes
    ----------
    tokens : list of SurfaceToken
    text : str or None
        The comment ``# text``; None where there is none.
    begins : {"", "paragraph", "document"}
        What begins with it.
    """

    __slots__ = ()
    tokens: list[SurfaceToken]
    text: str | None
    begins: str

    @property
    def rebuilt(self) -> str:
        """The text by forms and ``SpaceAfter=No``; without a blank at the end."""
        parts = (t.form + " " if t.blank else t.form for t in self.tokens)
        return "".join(parts).removesuffix(" ")


def surface(corpus: Corpus, number: int) -> SurfaceSentence:
    """Return a sentence of a corpus of CoNLL-U as it stands in the text."""
    forms, misc = corpus.cells(number, "form"), corpus.cells(number, "misc")
    ranges: dict[int, tuple[str, int, str]] = {}
    text, begins = None, ""
    for position, aside in corpus.core.asides(number):
        if aside.startswith("#"):
            key, _, value = aside[1:].partition("=")
            words = key.split()
            if words == ["text"]:
                text = value.strip()
            elif words[:1] == ["newdoc"]:
                begins = "document"
            elif words[:1] == ["newpar"]:
                begins = begins or "paragraph"
            continue
        cells = aside.split("\t")
        first, hyphen, last = cells[0].partition("-")
        if not hyphen:
            continue  # an empty node
        # No sentence has numbers of forty digits, and Python refuses to read those of thousands.
        length = int(last) - int(first) + 1 if len(cells[0]) < 40 else 0
        if length < 1 or int(first) != position + 1 or position + length > len(forms):
            raise FileError(
                corpus.path or "the corpus",
                f"the range {cells[0]:.40} of a multiword token does not fit its sentence",
                corpus.core.line_number(number),
            )
        ranges[position] = (cells[1], length, cells[9])
    tokens, at = [], 0
    while at < len(forms):
        form, length, more = ranges.get(at, (forms[at], 1, misc[at]))
        tokens.append(SurfaceToken(form, at, at + length, "SpaceAfter=No" not in more.split("|")))
        at += length
    return SurfaceSentence(tokens, text, begins)


def raw_paragraphs(corpus: Corpus) -> Iterator[tuple[str, list[list[tuple[int, int]]]]]:
    """Yield the paragraphs of a treebank: the text, and by sentence where each token lies in it.

    Sentences follow each other after one blank, or none where the last token says
    ``SpaceAfter=No``.

    Raises
    ------
    FileError
        Where a sentence has no comment ``# text``, or one that its tokens do not make up.
    """
    text, sentences, blank = "", list[list[tuple[int, int]]](), ""
    for number in range(len(corpus)):
        sentence = surface(corpus, number)
        if sentence.begins and sentences:
            yield text, sentences
            text, sentences, blank = "", [], ""
        text += blank
        spans = _spans(corpus, number, sentence)
        sentences.append([(begin + len(text), end + len(text)) for begin, end in spans])
        assert sentence.text is not None
        text += sentence.text
        blank = " " if sentence.tokens[-1].blank else ""
    if sentences:
        yield text, sentences


def _spans(corpus: Corpus, number: int, sentence: SurfaceSentence) -> list[tuple[int, int]]:
    """Return where the tokens of a sentence lie in its text."""
    text = sentence.text

    def wrong(reason: str) -> Any:
        where = corpus.core.line_number(number)
        return FileError(corpus.path or "the corpus", f"sentence {number + 1}: {reason}", where)

    if text is None:
        raise wrong(
            "there is no comment '# text = ...', from which a tokeniser learns; add it, or train "
            "without a tokeniser (tokeniser=False, --no-tokeniser)"
        )
    spans, at = [], 0
    for token in sentence.tokens:
        while at < len(text) and text[at].isspace() and not text.startswith(token.form, at):
            at += 1
        if not text.startswith(token.form, at):
            raise wrong(
                f"the token {token.form!r} is not where '# text' has {text[at : at + 20]!r}"
            )
        spans.append((at, at + len(token.form)))
        at += len(token.form)
    if text[at:].strip():
        raise wrong(f"'# text' goes on after the last token: {text[at : at + 20]!r}")
    return spans


def raw_text(corpus: Corpus) -> str:
    """Return the text of a treebank, paragraphs separated by blank lines."""
    return "".join(f"{text}\n\n" for text, _ in raw_paragraphs(corpus))
