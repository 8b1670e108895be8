"""Coined words: names from syllables, derived words on coined stems, numerals.

Every function takes a source of uniform numbers and returns one word. They keep the vocabulary
open, as in real text: however large the training part, the test part has unknown words, and the
suffix (or the capital, or the digits) of an unknown word says much about its class, but not all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from structlearn.datasets.morphology import ly_form, ness_form, noun_forms, verb_forms
from structlearn.datasets.randomness import Draw


def _items(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ONSETS = _items("b br c ch cl d dr f fl g gr h j k l m n p pl r s sh sl st t th tr v w")
_VOWELS = _items("a e i o u a e o ai ea oo")
_CODAS = _items("b ck d g l m n nd nt p r rk rm rt sk st t v x")

_PERSON_ENDINGS = _items("a o ie y an en us son ette bert ric wyn")
_SURNAME_ENDINGS = _items("son er man ley ford ton well stein berg sky ing")
_PLACE_ENDINGS = _items("ton ford ville burg land ia mouth ham field stead bury")

_ANIMATE_ENDINGS = _items("er er er ist or ian ling")
_MASS_ENDINGS = _items("ness ment ism ship ity hood age")
_THING_ENDINGS = _items("er ment tion let ery ing")
_ADJECTIVE_ENDINGS = _items("able ous ful less ic al ive ish y ed ing")
_VERB_ENDINGS = _items("ise ise ify ate en le")


def _pick(items: Sequence[str], draw: Draw) -> str:
    return items[int(draw() * len(items))]


def _stem(draw: Draw) -> str:
    stem = _pick(_ONSETS, draw) + _pick(_VOWELS, draw) + _pick(_CODAS, draw)
    if draw() < 0.3:
        stem += _pick(_VOWELS, draw) + _pick(_CODAS, draw)
    return stem


def _with_ending(endings: Sequence[str]) -> Callable[[Draw], str]:
    return lambda draw: _stem(draw) + _pick(endings, draw)


def _name(endings: Sequence[str]) -> Callable[[Draw], str]:
    return lambda draw: (_stem(draw) + _pick(endings, draw)).capitalize()


person = _name(_PERSON_ENDINGS)
surname = _name(_SURNAME_ENDINGS)
place = _name(_PLACE_ENDINGS)

adjective = _with_ending(_ADJECTIVE_ENDINGS)
mass_noun = _with_ending(_MASS_ENDINGS)


def count_noun(kind: str, number: str) -> Callable[[Draw], str]:
    """Return a coiner of countable nouns: persons if ``kind`` is ``anim``, else things."""
    coin = _with_ending(_ANIMATE_ENDINGS if kind == "anim" else _THING_ENDINGS)
    return lambda draw: noun_forms(coin(draw))[number]


def verb(form: str) -> Callable[[Draw], str]:
    """Return a coiner of verbs in one inflected form."""
    coin = _with_ending(_VERB_ENDINGS)
    return lambda draw: verb_forms(coin(draw))[form]


def adverb(draw: Draw) -> str:
    """Coin an adverb on a coined adjective."""
    return ly_form(adjective(draw))


def quality(draw: Draw) -> str:
    """Coin an abstract noun, some of them on a coined adjective."""
    return ness_form(adjective(draw)) if draw() < 0.3 else mass_noun(draw)


def numeral(draw: Draw) -> str:
    """Write a number above one in digits; small ones are more frequent."""
    digits = 1 + int(draw() * 3)
    return str(2 + int(draw() * (10**digits - 2)))


def year(draw: Draw) -> str:
    """Write a year in digits."""
    return str(1500 + int(draw() * 530))
