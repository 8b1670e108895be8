"""Variants of texts for the tokeniser to learn from: what treebanks have too few examples of.

Tags of social media, addresses, markup and abbreviations are put between the tokens of a text. Each
is one token, as far as it has no blanks, whatever stands beside it. None of them ends a sentence,
and they begin one only where the token before which they stand did.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

Span = tuple[int, int]
Sentences = Sequence[Sequence[Span]]
#: What is put before and behind tokens, by the number of the sentence and of the token: tokens, and
#: blanks.
Changes = dict[tuple[int, int], tuple[list[str], list[str]]]

#: Abbreviations that end no sentence, by language and by what stands behind them.
LANGUAGES: dict[str, dict[str, tuple[str, ...]]] = {
    "english": {
        kind: tuple(names.split())
        for kind, names in {
            "number": (
                "approx. approx. ca. no. nos. No. Nos. fig. figs. Fig. Figs. p. pp. vol. Vol. ch. "
                "Ch. sec. Sec. eq. Eq. est. max. min. avg. ext. art. Art. para. ver. tel. Tel."
            ),
            "month": "Jan. Feb. Mar. Apr. Aug. Sept. Sep. Oct. Nov. Dec.",
            "word": (
                "i.e. i.e. e.g. e.g. approx. viz. cf. esp. incl. excl. vs. vs. resp. a.k.a. orig. "
                "prob. usu. misc."
            ),
            "name": (
                "Dr. Mr. Mrs. Ms. Prof. Rev. Gen. Col. Capt. Lt. Sgt. Sen. Rep. Gov. Hon. St. Ft. "
                "Mt. Messrs. Supt. Maj. Adm. Pres."
            ),
        }.items()
    }
}

#: How many texts have a variant, and how many sentences of one are changed.
_TEXTS, _SENTENCES = 0.35, 0.7
_DOMAINS = ("com", "org", "net", "edu", "gov", "co.uk", "io", "info", "de", "tv")
_ELEMENTS = ("b", "i", "em", "strong", "p", "span", "div", "a", "h1", "li", "u", "td", "code")
_SINGLE = ("<br>", "<br/>", "<br />", "<hr>", "<p>", "</p>", "<li>", "</div>")
_WORD = re.compile(r"\b[^\W\d_]{2,9}\b")


def variants(
    text: str, sentences: Sentences, abbreviations: Mapping[str, Sequence[str]], seed: int
) -> Iterator[tuple[str, list[list[Span]]]]:
    """Yield a variant of a text, or none: the text, and by sentence where its tokens lie.

    Parameters
    ----------
    text : str
    sentences : list of lists of (begin, end)
        Where its tokens lie.
    abbreviations : mapping
        One of :data:`LANGUAGES`.
    seed : int
        The same text has the same variant, whatever other texts there are.
    """
    import random

    draw = random.Random(f"{seed} {text}")
    words = _WORD.findall(text)
    if len(words) < 3 or draw.random() >= _TEXTS:
        return
    changes: Changes = {}
    kinds = [*_KINDS]
    for number, spans in enumerate(sentences):
        if draw.random() < _SENTENCES:
            kind = draw.choices(kinds, [*_KINDS.values()])[0]
            for place, change in kind(_Place(text, spans, draw, words, abbreviations)):
                changes[number, place] = change
    if changes:
        yield _changed(text, sentences, changes)


def _changed(text: str, sentences: Sentences, changes: Changes) -> tuple[str, list[list[Span]]]:
    pieces: list[str] = []
    tokens: list[list[Span]] = []
    reached = at = 0

    def add(piece: str, token: bool) -> None:
        nonlocal at
        if token:
            tokens[-1].append((at, at + len(piece)))
        pieces.append(piece)
        at += len(piece)

    for number, spans in enumerate(sentences):
        tokens.append([])
        for place, (begin, end) in enumerate(spans):
            before, behind = changes.get((number, place), ((), ()))
            add(text[reached:begin], False)
            for piece in before:
                add(piece, not piece.isspace())
            add(text[begin:end], True)
            for piece in behind:
                add(piece, not piece.isspace())
            reached = end
    add(text[reached:], False)
    return "".join(pieces), tokens


class _Place:
    """A sentence that is to be changed, and what it is changed with."""

    def __init__(
        self,
        text: str,
        spans: Sequence[Span],
        draw: random.Random,
        words: Sequence[str],
        abbreviations: Mapping[str, Sequence[str]],
    ) -> None:
        self.tokens = [text[begin:end] for begin, end in spans]
        self.draw, self.words, self.abbreviations = draw, words, abbreviations
        #: Whether a blank stands before each token.
        self.free = [begin == 0 or text[begin - 1].isspace() for begin, _ in spans]

    def any(self, holds: Callable[[int], bool] = lambda k: True) -> list[int]:
        """Return a token with a blank before it for which something holds, or none."""
        places = [k for k, free in enumerate(self.free) if free and holds(k)]
        return [self.draw.choice(places)] if places else []

    def name(self) -> str:
        """Return one to three words as one, as tags of social media are spelled."""
        draw = self.draw
        parts = draw.choices(self.words, k=draw.choices((1, 2, 3), (6, 3, 1))[0])
        ways: list[Callable[[], str]] = [
            lambda: "".join(parts).lower(),
            lambda: "".join(word.capitalize() for word in parts),
            lambda: "".join(parts).upper(),
            lambda: "_".join(parts).lower(),
        ]
        number = str(draw.randrange(1, 2030)) if draw.random() < 0.15 else ""
        return draw.choices(ways, (4, 3, 2, 1))[0]() + number

    def address(self) -> str:
        """Return an address of the web."""
        draw = self.draw
        names = [word.lower() for word in draw.choices(self.words, k=6)]
        begin = draw.choice(("http://", "https://", "http://www.", "https://www.", "www."))
        address = f"{begin}{names[0]}{names[1] * draw.randrange(2)}.{draw.choice(_DOMAINS)}"
        address += "".join(f"/{word}" for word in names[2 : 2 + draw.randrange(3)])
        ends = ("", "", "/", ".html", f"?{names[4]}={draw.randrange(99)}", f"#{names[5]}")
        return address + draw.choice(ends)


Change = Iterator[tuple[int, tuple[list[str], list[str]]]]


def _tags(at: _Place) -> Change:
    """Put hashtags or names of users before a token, or behind the last one."""
    pieces: list[str] = []
    for _ in range(at.draw.choices((1, 2, 3), (6, 2, 1))[0]):
        pieces += [("#" if at.draw.random() < 0.7 else "@") + at.name(), " "]
    if at.draw.random() < 0.3:
        yield len(at.tokens) - 1, ([], [" ", *pieces[:-1]])
        return
    for place in at.any():
        yield place, (pieces, [])


def _addresses(at: _Place) -> Change:
    """Put an address before a token, or before the mark that ends the sentence."""
    last = len(at.tokens) - 1
    if last > 0 and not at.free[last] and at.tokens[last] in (".", "!", "?", ",", ")"):
        yield last, ([" ", at.address()], [])
        return
    for place in at.any():
        yield place, ([at.address(), " "], [])


def _markup(at: _Place) -> Change:
    """Put an element around some tokens, or one without content before a token."""
    draw = at.draw
    if draw.random() < 0.25:
        for place in at.any():
            yield place, ([*_parted(draw.choice(_SINGLE)), *[" "] * draw.randrange(2)], [])
        return
    element = draw.choice(_ELEMENTS)
    attributes = {
        "a": f' href="{at.address()}"',
        "div": f' class="{draw.choice(at.words).lower()}"',
    }
    begin, end = f"<{element}{attributes.get(element, '')}>", f"</{element}>"
    if draw.random() < 0.1:
        begin, end = begin.upper(), end.upper()
    opening = _parted(begin)
    for first in at.any():
        last = min(first + draw.choice((0, 0, 1, 2, 5)), len(at.tokens) - 1)
        if first == last:
            yield first, (opening, [end])
        else:
            yield first, (opening, [])
            yield last, ([], [end])


def _parted(markup: str) -> list[str]:
    """Return markup as tokens, which have no blanks, and the blanks between them."""
    return re.findall(r"\S+|\s+", markup)


def _abbreviations(at: _Place) -> Change:
    """Put an abbreviation, and what belongs to it, before a token."""
    draw = at.draw
    kind = draw.choices(("word", "number", "name", "month"), (5, 4, 3, 1))[0]
    short = draw.choice(at.abbreviations[kind])
    number = str(draw.randrange(1, draw.choice((10, 100, 3000))))
    if kind == "name":
        pieces = [short, " ", draw.choice(at.words).capitalize(), " "]
    elif kind == "word":
        pieces = [short, *[","] * (draw.random() < 0.1), " "]
        if draw.random() < 0.3:
            pieces = ["(", *pieces, *draw.choices(at.words), ")", " "]
    else:
        pieces = [short, " ", number, " "]
    for place in at.any(lambda k: k > 0):
        yield place, (pieces, [])


#: How to change a sentence, and how often.
_KINDS: dict[Callable[[_Place], Change], float] = {
    _abbreviations: 4.0,
    _tags: 3.0,
    _markup: 2.0,
    _addresses: 1.0,
}
