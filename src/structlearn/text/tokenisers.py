"""Tokenisers with names: how running text is cut into tokens.

================  ================================================================================
blank             at white space alone
words             runs of letters, numbers, and every other sign by itself; English contractions
                  come apart (do|n't, it|'s), and so do 2|cups and flour|,
characters        each character, with the marks that combine with it
english           as the English pipeline cuts it (the package structlearn_english)
FILE.model        as a model of words (structlearn train words) cuts it, by its file; what learns
                  with it keeps the model in its own file
anything else     a regular expression whose matches are the tokens: ``\\d+|[A-Z]\\w*``
================  ================================================================================

Whatever a tokeniser finds, every character that is not blank is in a token: what a regular
expression leaves out are tokens too, cut at white space. Tokens are places in the text.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from hashlib import blake2b

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable
    from re import Pattern
    from typing import Any

    #: From a text to the places of its tokens, (begin, end), from left to right.
    Tokeniser = Callable[[str], list[tuple[int, int]]]

_BLANK = re.compile(r"\S+")
#: Ends of English words that are tokens of their own.
_CONTRACTION = re.compile(r"(?:n['’]t|['’](?:s|m|d|re|ve|ll))\Z", re.IGNORECASE)
_JOINER = "\u200d"
_CONTINUING = {_JOINER, "\u200c", *map(chr, range(0x1F3FB, 0x1F400))}
#: Characters of the longest regular expression that names a tokeniser.
_LONGEST = 1000


def _blank(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _BLANK.finditer(text)]


def _words(text: str) -> list[tuple[int, int]]:
    marks, numerals = ("", "") if text.isascii() else _special(text)
    places = []
    for match in _word_pattern(marks, numerals).finditer(text):
        begin, end = match.span()
        cut = _CONTRACTION.search(match[0]) if end - begin > 2 else None
        if cut is not None and cut.start() > 0:
            places += [(begin, begin + cut.start()), (begin + cut.start(), end)]
        else:
            places.append((begin, end))
    return places


def _characters(text: str) -> list[tuple[int, int]]:
    marks = "" if text.isascii() else _special(text)[0]
    return [match.span() for match in _character_pattern(marks).finditer(text)]


def _special(text: str) -> tuple[str, str]:
    """Return the characters of a text that continue the one before, and digits beyond 0 to 9.

    The first are combining marks, signs that join their neighbours or keep them apart, skin tones.
    """
    from unicodedata import category

    letters = sorted(c for c in set(text) if not c.isascii())
    marks = (c for c in letters if category(c)[0] == "M" or c in _CONTINUING)
    return "".join(marks), "".join(c for c in letters if category(c)[0] == "N")


@lru_cache(maxsize=64)
def _word_pattern(marks: str, numerals: str) -> Pattern[str]:
    after = _any_of(marks)
    also = re.escape(numerals)
    digit = rf"[0-9{also}]{after}"
    letter = rf"[^\W\d_{also}]{after}"
    word = rf"(?:{letter})+(?:['’](?:{letter})+)*"
    number = rf"(?:{digit})+(?:[.,](?:{digit})+)*"
    return re.compile(rf"{word}|{number}|([.!?*=~_–—-])\1+|{_sign(marks)}")


@lru_cache(maxsize=64)
def _character_pattern(marks: str) -> Pattern[str]:
    return re.compile(_sign(marks))


def _sign(marks: str) -> str:
    """Return a pattern of one character as one sees it: joined emoji are one."""
    after = _any_of(marks.replace(_JOINER, ""))
    return rf"\S{after}(?:{_JOINER}\S{after})*{_JOINER}*" if _JOINER in marks else rf"\S{after}"


def _any_of(marks: str) -> str:
    return f"[{re.escape(marks)}]*" if marks else ""


#: Models of words that other models keep, by their names there: ``FILE.model#checksum``.
_KEPT: dict[str, Any] = {}


def kept_name(name: str) -> str:
    """Return the name of a tokeniser for a model file: models of words are kept with the model."""
    if name in TOKENISERS or name in _KEPT or not name.endswith(".model"):
        return name
    return keep(os.path.basename(name), _model_of_words(name))


def keep(name: str, words: Any) -> str:
    """Keep a model of words; return the name that stands for it from now on."""
    content = words.model_.to_bytes()
    full = f"{name.partition('#')[0]}#{blake2b(content, digest_size=8).hexdigest()}"
    _KEPT[full] = words
    return full


def kept_words(name: str | None) -> Any:
    """Return the model of words that a name stands for; None: it stands for something else."""
    return None if name is None else _KEPT.get(name)


@lru_cache(maxsize=8)
def _model_of_words(path: str) -> Any:
    from ..loading import load

    model = load(path)
    if not hasattr(model, "places") or not hasattr(model, "boundaries"):
        raise ValueError(f"tokens: {path} cuts no texts: it is a {type(model).__name__}")
    return model


def _of_model(model: Any) -> Tokeniser:
    """Return what a model of words does."""

    def cut(text: str) -> list[tuple[int, int]]:
        places: list[tuple[int, int]] = model.places([text])[0]
        return places

    return cut


def _english(text: str) -> list[tuple[int, int]]:
    return [place for sentence in _english_pipeline().places(text) for place in sentence]


@lru_cache(maxsize=1)
def _english_pipeline() -> Any:
    from ..loading import load

    return load("english")


#: Tokenisers by their names.
TOKENISERS: dict[str, Tokeniser] = {
    "blank": _blank,
    "words": _words,
    "characters": _characters,
    "english": _english,
}


def tokeniser(name: str) -> Tokeniser:
    """Return the tokeniser of a name, or of a regular expression.

    Examples
    --------
    >>> from structlearn.text.tokenisers import words_of
    >>> words_of("2cups flour, don't sift", "words")
    ['2', 'cups', 'flour', ',', 'do', "n't", 'sift']
    >>> words_of("AB12 x", r"[A-Z]|\\d+")
    ['A', 'B', '12', 'x']
    """
    if name in TOKENISERS:
        return TOKENISERS[name]
    if isinstance(name, str) and (name in _KEPT or name.endswith(".model")):
        return _of_model(_KEPT[name] if name in _KEPT else _model_of_words(name))
    pattern = _pattern(name)

    def cut(text: str) -> list[tuple[int, int]]:
        places: list[tuple[int, int]] = []
        reached = 0
        for match in pattern.finditer(text):
            begin, end = match.span()
            if not match[0].strip():
                continue
            places += _between(text, reached, begin)
            places.append((begin, end))
            reached = end
        return places + _between(text, reached, len(text))

    return cut


def _between(text: str, begin: int, end: int) -> list[tuple[int, int]]:
    return [match.span() for match in _BLANK.finditer(text, begin, end)]


@lru_cache(maxsize=64)
def _pattern(name: str) -> Pattern[str]:
    known = ", ".join(TOKENISERS)
    if not isinstance(name, str) or not name or len(name) > _LONGEST:
        raise ValueError(
            f"tokens must be {known}, or a regular expression of at most {_LONGEST} characters, "
            f"got {name!r:.60}"
        )
    if name.replace("-", "_").isidentifier():
        raise ValueError(
            f"there is no tokeniser {name!r:.60}: there are {known}, or a regular expression such "
            r"as '\d+|\w+|\S'"
        )
    try:
        return re.compile(name)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(
            f"tokens must be {known}, or a regular expression; {name!r:.60} is none: {error}"
        ) from None


def words_of(text: str, name: str) -> list[str]:
    """Return the tokens of a text as strings."""
    return [text[begin:end] for begin, end in tokeniser(name)(text)]


class TokeniserName:
    """The check of a parameter that names a tokeniser."""

    def __call__(self, name: str, value: Any) -> None:
        """Refuse what is neither a name nor a regular expression."""
        if not isinstance(value, str):
            raise ValueError(f"{name} must name a tokeniser, got {value!r:.60}")
        tokeniser(value)
