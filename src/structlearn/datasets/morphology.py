"""Spelling rules of English inflection and derivation, as far as the lexicon needs them."""

from __future__ import annotations

import re

_VOWELS = "aeiou"
_SIBILANT = ("s", "x", "z", "ch", "sh")
# One vowel group and a single final consonant: "stop" doubles, "visit", "wait" and "row" do not.
_ALSO_DOUBLING = frozenset({"begin", "admit", "travel", "forget", "regret"})
_DOUBLING = re.compile(r"^(?:[^aeiou]*|[^aeiou]*qu)[aeiouy][bdfgklmnprtz]$")


def s_form(stem: str) -> str:
    """Return the regular plural of a noun, which is also the third person of a verb."""
    if stem.endswith(_SIBILANT):
        return stem + "es"
    if stem.endswith("y") and stem[-2] not in _VOWELS:
        return stem[:-1] + "ies"
    if stem.endswith("o") and stem[-2] not in _VOWELS:
        return stem + "es"
    return stem + "s"


def _before_vowel(stem: str) -> str:
    if stem.endswith("e") and not stem.endswith(("ee", "oe", "ye")):
        return stem[:-1]
    if _DOUBLING.match(stem) or stem in _ALSO_DOUBLING:
        return stem + stem[-1]
    return stem


def ed_form(stem: str) -> str:
    """Return the regular past (and past participle) of a verb."""
    if stem.endswith("y") and stem[-2] not in _VOWELS:
        return stem[:-1] + "ied"
    if stem.endswith("e"):
        return stem + "d"
    return _before_vowel(stem) + "ed"


def ing_form(stem: str) -> str:
    """Return the present participle of a verb."""
    if stem.endswith("ie"):
        return stem[:-2] + "ying"
    return _before_vowel(stem) + "ing"


def er_form(stem: str) -> str:
    """Return the agent noun of a verb: ``bake`` gives ``baker``."""
    if stem.endswith("e"):
        return stem + "r"
    if stem.endswith("y") and stem[-2] not in _VOWELS:
        return stem[:-1] + "ier"
    return _before_vowel(stem) + "er"


def able_form(stem: str) -> str:
    """Return the adjective in -able of a verb: ``love`` gives ``lovable``."""
    if stem.endswith("y") and stem[-2] not in _VOWELS:
        return stem[:-1] + "iable"
    if stem.endswith(("ce", "ge")):
        return stem + "able"
    return _before_vowel(stem) + "able"


def ly_form(adjective: str) -> str:
    """Return the adverb of an adjective."""
    if adjective.endswith("ic"):
        return adjective + "ally"
    if adjective.endswith("le") and adjective[-3] not in _VOWELS:
        return adjective[:-1] + "y"
    if adjective.endswith("ll"):
        return adjective + "y"
    if adjective.endswith("y") and len(adjective) > 3:
        return adjective[:-1] + "ily"
    return adjective + "ly"


def ness_form(adjective: str) -> str:
    """Return the quality noun of an adjective."""
    if adjective.endswith("y") and len(adjective) > 3:
        return adjective[:-1] + "iness"
    return adjective + "ness"


def verb_forms(entry: str) -> dict[str, str]:
    """Inflect one verb entry, ``base`` or ``base/past/participle``.

    Returns
    -------
    dict of str to str
        The forms by the letters that the grammar uses: ``b`` base, ``z`` third person, ``p``
        plural present, ``m`` present with "I", ``d`` past, ``w`` past plural, ``g`` present
        participle, ``n`` past participle.
    """
    base, *irregular = entry.split("/")
    past, participle = irregular or (ed_form(base), ed_form(base))
    return {
        "b": base,
        "z": s_form(base),
        "p": base,
        "m": base,
        "d": past,
        "w": past,
        "g": ing_form(base),
        "n": participle,
    }


def noun_forms(entry: str) -> dict[str, str]:
    """Inflect one noun entry, ``singular`` or ``singular/plural``, into ``sg`` and ``pl``."""
    singular, *irregular = entry.split("/")
    return {"sg": singular, "pl": irregular[0] if irregular else s_form(singular)}
