"""Tokens and sentences of running text: a chain over its characters.

A token is a chunk of characters. Its first character begins a sentence (B-S) or not (B-T), the
others are I-T; O is what no token has. Only legal sequences are possible: I-T stands after B-S, B-T
or I-T. What is learned is a :class:`~structlearn.tasks.Tagger` whose tokens are characters.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property

from ... import _core
from ...text.corpus import Corpus
from ...text.line_ends import ENDS, PARAGRAPH_END
from ...text.surface import raw_paragraphs
from ...text.templates import FeatureTemplates
from ...text.tokens import NO_TEXT, is_text
from ..tagging.model import TaggerModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ...fitting.parts import Parts

    Span = tuple[int, int]

LABELS = ["O", "B-S", "B-T", "I-T"]
#: Sentences of one training example: more of them would make the updates coarse.
_TOGETHER = 8

#: ``word`` is the character, ``pos`` and ``chunk`` what blanks leave before it and from it on.
#: Where a sentence may begin, ``c4`` and ``c6`` are what stands before that, ``c5`` and ``c7``
#: behind it; ``c8`` marks addresses.
TOKENISER_FEATURES = """
word[-3..3]
word[-1] word[0]
word[0] word[1]
word[-2] word[-1] word[0]
word[-1] word[0] word[1]
word[0] word[1] word[2]
word[-3] word[-2] word[-1] word[0]
word[-2] word[-1] word[0] word[1]
word[-1] word[0] word[1] word[2]
shape(word[-1]) shape(word[0])
shape(word[-1]) shape(word[0]) shape(word[1])
shape(word[-2]) shape(word[-1]) shape(word[0]) shape(word[1])
shape(word[-1]) shape(word[0]) shape(word[1]) shape(word[2])
c8 word[-1] word[0]
c8 word[0] word[1]
c8 shape(word[-1]) shape(word[0])
lower(digits(pos))
lower(digits(chunk))
lower(digits(pos)) lower(digits(chunk))
suffix(lower(digits(pos)), 2..4)
prefix(lower(digits(chunk)), 2..5)
shape(pos, short)
shape(chunk, short)
shape(pos, short) shape(chunk, short)
shape(pos) shape(chunk)
lower(digits(c4))
lower(digits(c5))
lower(digits(c4)) lower(digits(chunk))
lower(digits(chunk)) lower(digits(c5))
lower(digits(c6)) lower(digits(c4))
lower(digits(c5)) lower(digits(c7))
lower(digits(c4)) shape(chunk, short)
suffix(c4, 1) lower(chunk)
suffix(c4, 1) lower(c5)
suffix(c4, 1) shape(chunk, short)
suffix(c4, 2) shape(chunk, short)
suffix(c4, 1) shape(chunk, short) shape(c5, short)
suffix(c6, 1) suffix(c4, 1) shape(chunk, short)
shape(c4, short) shape(chunk, short)
shape(c4, short) shape(chunk, short) shape(c5, short)
shape(c6, short) shape(c4, short) shape(chunk, short) shape(c5, short)
seen(lower(digits(chunk)))
seen(lower(digits(c4))) seen(lower(digits(chunk)))
suffix(c4, 1) seen(lower(digits(chunk)))
shape(chunk, short) seen(lower(digits(chunk)))
bias
"""

#: Characters of texts whose paragraphs are labelled one by one, by what is kept for single calls.
_FEW = 1000
#: Characters that are labelled together at most: a longer paragraph is cut.
_MOST = 1 << 14
_FINAL = "[.!?…][\"'”’»)\\]]*"
#: Where a long paragraph is cut, the best places first: sentences that end with their line, other
#: sentences that seem to end, lines, blanks.
_CUTS = [
    re.compile(pattern)
    for pattern in (
        rf"(?:{_FINAL}|[。！？][」』”]*)[^\S{ENDS}]*[{ENDS}]\s*(?=\S)",
        rf"{_FINAL}\s+(?=[^\sa-z])|[。！？][」』”]*(?=[^\s」』”])",
        rf"[{ENDS}]\s*(?=\S)",
        r"\s(?=\S)",
    )
]

_SEEN = re.compile(r"\S")

#: What no token has: a blank at an end, one other than a space or a no-break space inside.
_BROKEN = re.compile(r"\A\s|\s\Z|[^\S \xa0]")
_TOKEN = re.compile(rb"[SB]I*")
_BYTE_ORDER_MARK = "\ufeff"


def check_text(text: str) -> None:
    """Refuse what is not text."""
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, got {type(text).__name__}")
    if "\0" in text:
        raise ValueError(
            f"character {text.index(chr(0))} of the text is NUL: this is not text, or it is in "
            "another encoding than UTF-8 (UTF-16?)"
        )
    if not is_text(text):
        raise ValueError(f"the text cannot be read: {NO_TEXT}")


def paragraphs(text: str) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield the characters of each paragraph, and where each of them lies in the text.

    Blank lines separate paragraphs; one of more than 16,384 characters is cut (:func:`next_cut`).
    CRLF is one character as other line ends are (:mod:`structlearn.text.line_ends`); byte order
    marks, which stand where a file began, are blanks.
    """
    begin = 0
    for gap in PARAGRAPH_END.finditer(text):
        yield from _segments(text, begin, gap.start())
        begin = gap.end()
    yield from _segments(text, begin, len(text))


def next_cut(text: str, begin: int, end: int) -> int | None:
    """Return where a long paragraph is cut first, or None if it is short enough.

    The place depends only on the 16,384 characters from its first one that is not blank. So what
    follows a cut is cut alike, whether the text before it is known or not.

    Parameters
    ----------
    begin, end : int
        Where the paragraph lies, or as much of it as is known.
    """
    first = _SEEN.search(text, begin, end)
    if first is None:
        return None
    last = first.start() + _MOST
    rest = _SEEN.search(text, last, end)
    if rest is None:
        return None
    for pattern in _CUTS:
        ends = [found.end() for found in pattern.finditer(text, last - _MOST // 2, last)]
        if ends:
            return ends[-1]
    return rest.start()


def _segments(text: str, begin: int, end: int) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield a paragraph, or its segments if it is long."""
    while end - begin > _MOST and (cut := next_cut(text, begin, end)) is not None:
        yield from _trimmed(text, begin, cut)
        begin = cut
    yield from _trimmed(text, begin, end)


def _trimmed(text: str, begin: int, end: int) -> Iterator[tuple[str, Sequence[int]]]:
    piece = text[begin:end].replace(_BYTE_ORDER_MARK, " ")
    bare = piece.strip()
    if not bare:
        return
    first = begin + len(piece) - len(piece.lstrip())
    if "\r\n" not in bare:
        yield bare, range(first, first + len(bare))
        return
    places = array("q")
    for line in bare.split("\r\n"):
        places.extend(range(first, first + len(line) + 1))  # the line end lies where its CR does
        first += len(line) + 2
    yield bare.replace("\r\n", "\n"), places[:-1]


def train_tokeniser(characters: Corpus | Parts, **parameters: Any) -> TaggerModel:
    """Learn where tokens and sentences begin.

    Parameters
    ----------
    characters : Corpus or Parts
        What :func:`labelled_characters` gives.
    parameters
        Of :class:`~structlearn.tasks.Tagger`.
    """
    from ..tagging.tagger import Tagger

    given = {"learner": "perceptron", "names": False, "min_count": 2, **parameters}
    tagger = Tagger(FeatureTemplates.parse(TOKENISER_FEATURES), scheme="beginnings", **given)
    model: TaggerModel = tagger.fit(characters).model_
    return model


def labelled_characters(corpus: Corpus, language: str = "none", seed: int = 0) -> Corpus:
    """Return the text of a treebank as a corpus whose tokens are characters with labels.

    Parameters
    ----------
    corpus : Corpus
        Of CoNLL-U.
    language : str
        Of the variants that follow the texts (:mod:`~structlearn.tasks.pipeline.variants`).
    seed : int
        Of the variants.
    """
    from .variants import LANGUAGES, variants

    core = _core.Corpus("columns")
    for text, sentences in _examples(corpus):
        _add(core, text, sentences)
        if language != "none":
            for variant in variants(text, sentences, LANGUAGES[language], seed):
                _add(core, *variant)
    return Corpus(core, "columns", corpus.path)


def _examples(corpus: Corpus) -> Iterator[tuple[str, list[list[Span]]]]:
    """Yield texts of some sentences, and where the tokens of each sentence lie in them."""
    for text, sentences in raw_paragraphs(corpus):
        for k in range(0, len(sentences), _TOGETHER):
            row = sentences[k : k + _TOGETHER]
            begin, end = row[0][0][0], row[-1][-1][1]
            yield text[begin:end], [[(a - begin, b - begin) for a, b in spans] for spans in row]


def _add(core: _core.Corpus, text: str, sentences: Sequence[Sequence[Span]]) -> None:
    """Add a text whose tokens are known as an example."""
    labels = bytearray(len(text))
    for spans in sentences:
        for number, (begin, end) in enumerate(spans):
            first = 1 if number == 0 else 2
            labels[begin:end] = bytes([first]) + bytes([3]) * (end - begin - 1)
    core.add_characters(text.encode(), bytes(labels), LABELS)


class Tokeniser:
    """Finds the tokens and sentences of text.

    Parameters
    ----------
    model : TaggerModel
        What :func:`train_tokeniser` gives.
    words : WordSegmenter, optional
        Cuts the sentences into words, of languages without blanks between words or with blanks
        inside words.
    """

    def __init__(self, model: TaggerModel, words: Any = None) -> None:
        self.model, self.words = model, words
        marks = {"O": "O", "B-S": "S", "B-T": "B"}
        self._marks = "".join(marks.get(label, "I") for label in model.labels).encode().ljust(256)

    def __call__(self, texts: Sequence[str], threads: int = 1) -> list[list[list[Span]]]:
        """Return, for each text, the tokens of each sentence as places in the text."""
        for text in texts:
            check_text(text)
        read = [list(paragraphs(text)) for text in texts]
        marks = self._marked([characters for pieces in read for characters, _ in pieces], threads)
        found, at = [], 0
        for pieces in read:
            sentences: list[list[Span]] = []
            for characters, places in pieces:
                row = _sentences(characters, marks[at : at + len(characters)])
                if self.words is not None:
                    row = self._words(characters, row)
                sentences += [[(places[a], places[b - 1] + 1) for a, b in spans] for spans in row]
                at += len(characters)
            found.append(sentences)
        return found

    def _words(self, text: str, sentences: list[list[Span]]) -> list[list[Span]]:
        """Cut sentences into words."""
        bounds = [(spans[0][0], spans[-1][1]) for spans in sentences]
        rows = self.words.places([text[begin:end] for begin, end in bounds])
        return [
            [(begin + a, begin + b) for a, b in row]
            for (begin, _), row in zip(bounds, rows, strict=True)
        ]

    def _marked(self, pieces: list[str], threads: int) -> bytes:
        """Return the marks of the characters of paragraphs, one behind the other."""
        if sum(map(len, pieces)) <= _FEW:
            return b"".join(bytes(self._calls.predict(characters)) for characters in pieces)
        core = _core.Corpus("columns")
        for characters in pieces:
            core.add_characters(characters.encode())
        numbers = array("i", self.model.core.inputs(core).solve(threads)[0])
        return bytes(list(numbers)).translate(self._marks)

    @cached_property
    def _calls(self) -> _core.CharacterCalls:
        """What marks one paragraph in one call."""
        return _core.CharacterCalls(self.model.core, list(self._marks[: len(self.model.labels)]))


def _sentences(text: str, marks: bytes) -> list[list[Span]]:
    """Return the sentences of a paragraph by the marks of its characters.

    Every character that is not blank is in a token, and no token begins or ends with a blank.
    """
    sentences: list[list[Span]] = [[]]
    reached = 0
    for match in _TOKEN.finditer(marks):
        first, last = match.span()
        if first > reached:
            sentences[-1] += _left_out(text, reached, first)
        reached = last
        if marks[match.start()] == 83 and sentences[-1]:  # S
            sentences.append([])
        if _BROKEN.search(text[first:last]):
            sentences[-1] += _left_out(text, first, last)
        else:
            sentences[-1].append((first, last))
    sentences[-1] += _left_out(text, reached, len(text))
    return [sentence for sentence in sentences if sentence]


def _left_out(text: str, begin: int, end: int) -> list[Span]:
    """Return as tokens what blanks separate in a stretch that is no token."""
    return [
        (begin + match.start(), begin + match.end())
        for match in re.finditer(r"\S+", text[begin:end])
    ]
