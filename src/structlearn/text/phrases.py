"""Names of features in words: ``suffix(lower(word[0]), 3)=ing`` says that the word ends in "ing".

The name of a feature is the text of its template, and the values that the template has there. It is
what programs compare; people read the phrase. Blanks separate values, "/" labels that a word was
seen with; inside of a value or label they have a backslash before them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from .templates import Attribute, FeatureTemplates

#: What columns are called.
_COLUMNS = {
    "word": "word",
    "form": "word",
    "pos": "tag",
    "upos": "UPOS",
    "xpos": "XPOS",
    "feats": "morphology",
}
_ORDINALS = {1: "first", 2: "second", 3: "third"}
_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four"}
_POSITION = "it is"  # the first token
_BEYOND = "_B"  # values beyond the ends of a sentence: _B-1, _B+2


class Phrases:
    """The names of a model's features in words.

    Parameters
    ----------
    templates : FeatureTemplates
        Of tokens or of segments.

    Examples
    --------
    >>> from structlearn.text import FeatureTemplates
    >>> phrases = Phrases(FeatureTemplates.parse("seen(lower(digits(word)))\\nsuffix(word[-1], 2)"))
    >>> phrases("seen(lower(digits(word[0])))=ADP/SCONJ")
    'the word, lower-cased, digits as 0, was seen as ADP or SCONJ'
    >>> phrases("suffix(word[-1], 2)=ly")
    'the word before ends in "ly"'
    """

    def __init__(self, templates: FeatureTemplates) -> None:
        self._templates = {t.name or t.text(): t for t in templates.templates}

    def __call__(self, name: str) -> str:
        """Return a name in words; one that no template has is returned as it is."""
        template, value = self._found(name)
        if template is None:  # what stands before it, as in "at 'dog': word[0]=dog"
            cut = name.find(": ")
            while cut >= 0 and self._found(name[cut + 2 :])[0] is None:
                cut = name.find(": ", cut + 1)
            if cut >= 0:
                return f"{name[: cut + 2]}{self(name[cut + 2 :])}"
        if template is None:
            column, found, word = name.partition("=")  # of a hidden Markov model: word=dog
            known = found and column in _COLUMNS
            return f"the {_COLUMNS[column]} is {_quoted(word)}" if known else name
        atoms = template.atoms
        values = [value] if len(atoms) == 1 else [_plain(v) for v in _cut(value, " ")]
        places = template.places or ("",) * len(atoms)
        if len(values) != len(atoms):  # a value has blanks, and cannot be told from the others
            return f"{template.text()} is {_quoted(value)}" if value else template.text()
        parts = [
            _part(attribute, offset, place, one)
            for (attribute, offset), place, one in zip(atoms, places, values, strict=True)
        ]
        parts.sort(key=lambda part: not part.startswith(_POSITION))  # one order, one phrase
        phrase = " and ".join(dict.fromkeys(parts))
        return f"pair of labels where {phrase}" if template.transition else phrase

    def _found(self, name: str) -> tuple[Any, str]:
        """Return the template of a feature and its value."""
        if name in self._templates:  # a constant
            return self._templates[name], ""
        at = name.find("=")
        while at >= 0:
            if name[:at] in self._templates:
                return self._templates[name[:at]], name[at + 1 :]
            at = name.find("=", at + 1)
        text, _, number = name.rpartition("[")  # a number of a vector
        if text in self._templates and number.endswith("]"):
            return self._templates[text], number[:-1]
        return None, ""


def _part(attribute: Attribute, offset: int, place: str, value: str) -> str:
    """Return what an attribute at a place says."""
    if place == "length":
        return f"it has {value} {'token' if value == '1' else 'tokens'}"
    if attribute.kind == "constant":
        return "always"
    if attribute.kind in ("first", "last"):
        where = "it" if not offset else _subject("token", offset, place)
        return f"{where} is the {attribute.kind} token"
    noun = "token" if attribute.kind == "sentence" else _noun(attribute.column)
    subject = _subject(noun, offset, place)
    if value.startswith(_BEYOND) and value[len(_BEYOND) :].lstrip("+-").isdigit():
        return _at_an_end(offset, place, int(value[len(_BEYOND) :]))
    several = place == "whole"
    *before, last = [*attribute.functions] or [("", None)]
    if last[0] in ("lower", "digits"):  # they change the string, and say nothing of it
        before.append(last)
        last = ("", None)
    if last[0] in ("", "prefix", "suffix") and "0" not in value:
        before = [one for one in before if one[0] != "digits"]  # it changed nothing that is shown
    told = [_changed(function, argument) for function, argument in reversed(before)]
    subject += "".join(f", {one}" for one in told) + ("," if told else "")
    return f"{subject} {_says(*last, value, several)}"


def _at_an_end(offset: int, place: str, beyond: int) -> str:
    """Return where a token lies whose neighbour is beyond the sentence: 1 or more, or -1 or less.

    A missing neighbour two before and a missing tag one before say the same, so they read the same.
    """
    if beyond < 0:
        which = f"{_ordinal(beyond - offset + 1)} token"
    else:
        which = f"last token{_but(offset - beyond)}"
    verbs = {"begin": "it begins at", "end": "it ends at", "inside": "one in it is"}
    return f"{verbs.get(place, _POSITION)} the {which}"


def _ordinal(number: int) -> str:
    return _ORDINALS.get(number, f"{number}th")


def _but(n_others: int) -> str:
    return f" but {_NUMBERS.get(n_others, str(n_others))}" if n_others else ""


def _noun(column: str) -> str:
    if column[:1] == "c" and column[1:].isdigit():
        return f"column {column[1:]}"
    return _COLUMNS.get(column, column)


def _subject(noun: str, offset: int, place: str) -> str:
    """Return which token is meant."""
    if place == "whole":
        return f"its {noun}s"
    if place == "begin" and offset >= 0:
        return f"its {_ordinal(offset + 1)} {noun}"
    if place == "end" and offset <= 0:
        return f"its last {noun}{_but(-offset)}"
    if place == "inside" and not offset:
        return f"a {noun} in it"
    far = _NUMBERS.get(abs(offset), str(abs(offset)))
    side = "before" if offset < 0 else "after"
    where = "" if not offset else side if abs(offset) == 1 else f"{far} {side}"
    of = {"begin": " it", "end": " it", "inside": " one in it"}.get(place, "")
    return f"the {noun} {where}{of}".rstrip()


def _changed(function: str, argument: Any) -> str:
    """Return what a function makes of a string."""
    if function == "lower":
        return "lower-cased"
    if function == "digits":
        return "digits as 0"
    if function in ("prefix", "suffix"):
        return f"its {'first' if function == 'prefix' else 'last'} {argument} characters"
    return "its short shape" if function == "shape" and argument else f"its {function}"


def _says(function: str, argument: Any, value: str, several: bool) -> str:
    """Return what the last function of an attribute found."""
    shown = _quoted(value)
    are, have, were = ("are", "have", "were") if several else ("is", "has", "was")
    if function == "prefix":
        return f"begins with {shown}"
    if function == "suffix":
        return f"ends in {shown}"
    if function == "shape":
        return f"{have} the {'short shape' if argument else 'shape'} {value}"
    if function == "ngrams":
        if value.startswith("^"):
            return f"begins with {_quoted(value[1:])}"
        return f"ends in {_quoted(value[:-1])}" if value.endswith("$") else f"contains {shown}"
    if function == "match":
        return f"matches /{argument}/"
    if function == "seen":
        return _seen(value, were, several)
    if function == "in":
        kind = value[2:]
        named = f", {kind}" if kind else ""
        what = "begins" if value.startswith("B-") else "continues"
        return f'{what} a phrase of "{argument}"{named}'
    if function == "vector":
        return f'has a vector in "{argument}": number {value} of it'
    if function in ("call", "sentence"):
        return f"gives {shown} in {argument}()"
    return f"{are} {shown}"


def _seen(value: str, were: str, several: bool) -> str:
    """Return the labels that words had in training."""

    def listed(labels: Sequence[str]) -> str:
        *some, last = labels
        return f"{', '.join(some)} or {last}" if some else last

    words = _cut(value, " ") if several else [value]
    if words == ["?"]:
        return f"{were} not seen in training"
    return f"{were} seen as " + ", ".join(
        "(unseen)" if word == "?" else listed([_plain(k) or '""' for k in _cut(word, "/")])
        for word in words
    )


def _cut(text: str, mark: str) -> list[str]:
    """Return the parts of a text between marks that have no backslash before them."""
    parts = [""]
    for piece in re.findall(r"\\.|.", text, re.DOTALL):
        if piece == mark:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _plain(part: str) -> str:
    """Return a part without the backslashes before marks."""
    return re.sub(r"\\([\\/ ?])", r"\1", part)


def _quoted(value: str) -> str:
    return f'"{value}"'
