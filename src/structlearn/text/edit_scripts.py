"""Edit scripts: how one string is made of another, so that the same script fits many.

Lemmas and the words of multiword tokens are predicted as scripts: ``walked`` → ``walk`` and
``Talked`` → ``talk`` share one, "lower case, two characters off the end".
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

_RUN = re.compile(r"(.)\1\1+")

#: Ways to write a word before it is edited: in lower case, as it stands, as a title, in capitals;
#: in lower case without commas (12,000), or with one letter for three and more (soooo).
_CASES: dict[str, Callable[[str], str]] = {
    "l": str.lower, "k": str, "t": str.capitalize, "u": str.upper,
    "n": lambda form: form.lower().replace(",", ""),
    "r": lambda form: _RUN.sub(r"\1", form.lower()),
}  # fmt: skip

#: The script that leaves a token whole.
WHOLE = "_"


def lemma_script(form: str, lemma: str) -> str:
    """Return the script that makes a lemma of a form.

    A letter for the case; how many characters go at the start and at the end; how many of those
    that come instead are put at the start; and these: ``l;0;3;0;y``. Where the two have nothing in
    common it is the lemma itself, after ``=``.

    >>> lemma_script("Flies", "fly"), lemma_script("went", "go"), lemma_script("Rome", "Rome")
    ('l;0;3;0;y', '=go', 'k;0;0;0;')
    >>> lemma_script("12,000", "12000"), lemma_script("soooo", "so")
    ('n;0;0;0;', 'r;0;0;0;')
    """
    for case in "nr":
        if _CASES[case](form) == lemma != form.lower():
            return f"{case};0;0;0;"
    cases = "l" if lemma == lemma.lower() else "ktu"
    scripts = [_edit(case, _CASES[case](form), lemma) for case in cases]
    known = [script for script in scripts if script is not None]
    return min(known, key=len) if known else f"={lemma}"


def _edit(case: str, form: str, lemma: str) -> str | None:
    at, to, length = _common_substring(form, lemma)
    if length == 0:
        return None
    behind = len(form) - at - length
    return f"{case};{at};{behind};{to};{lemma[:to]}{lemma[to + length :]}"


def _common_substring(a: str, b: str) -> tuple[int, int, int]:
    """Return where the longest common substring begins in both, the first one, and its length."""
    best = (0, 0, 0)
    row = [0] * (len(b) + 1)
    for i, x in enumerate(a, 1):
        before = 0
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], before + 1 if x == y else 0
            if row[j] > best[2]:
                best = (i - row[j], j - row[j], row[j])
    return best


def apply_lemma_script(script: str, form: str) -> str:
    """Return the lemma; the form itself where the script does not fit it.

    >>> apply_lemma_script("l;0;3;0;y", "Tries")
    'try'
    """
    if script[:1] == "=":
        return script[1:]
    case, start, end, front, put = script.split(";", 4)
    word = _CASES[case](form)
    first, last, n = int(start), int(end), int(front)
    if first + last > len(word):
        return form
    return put[:n] + word[first : len(word) - last] + put[n:] or form


def split_script(form: str, words: list[str]) -> str:
    """Return the script that makes the words of a multiword token.

    ``c3`` cuts before the last three characters, ``c3,1`` also before the last. Where the words
    are not pieces of the token, ``s2;e lo`` takes two characters off and puts ``e lo`` on.

    >>> split_script("don't", ["do", "n't"]), split_script("darlo", ["dare", "lo"])
    ('c3', 's2;e lo')
    """
    if len(words) == 1 and words[0] == form:
        return WHOLE
    if "".join(words) == form:
        sizes = [len(word) for word in words[1:]]
        return "c" + ",".join(str(sum(sizes[i:])) for i in range(len(sizes)))
    whole, text = form.lower(), " ".join(words).lower()
    same = 0
    while same < min(len(whole), len(text)) and whole[same] == text[same]:
        same += 1
    return f"s{len(whole) - same};{text[same:]}"


def apply_split_script(script: str, form: str) -> list[str]:
    """Return the words of a token; the token itself where the script does not fit it.

    >>> apply_split_script("c3", "Don't"), apply_split_script("s2;u dem", "Zum")
    (['Do', "n't"], ['Zu', 'dem'])
    """
    if script[:1] == "c":
        cuts = [0, *(len(form) - int(size) for size in script[1:].split(",")), len(form)]
        words = [form[a:b] for a, b in itertools.pairwise(cuts) if a >= 0]
        return words if all(words) and "".join(words) == form else [form]
    if script[:1] != "s":
        return [form]
    number, _, put = script[1:].partition(";")
    taken = int(number)
    if taken > len(form):
        return [form]
    text = form[: len(form) - taken] + (put.upper() if _is_shouted(form) else put)
    if taken == len(form) and form[:1].isupper():
        text = text[:1].upper() + text[1:]
    words = text.split(" ")
    return words if all(words) else [form]


def _is_shouted(form: str) -> bool:
    return len(form) > 1 and form.isupper()
