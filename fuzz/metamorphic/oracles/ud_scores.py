"""Two annotations of one text compared, by the definition of the CoNLL 2018 shared task.

Tokens and sentences are right where they cover the same characters, blanks left out. Words are
aligned from left to right. Two that are tokens of their own are aligned if they cover the same
characters; otherwise the one that begins first is passed, the gold one if they begin together. A
multiword token opens a stretch, after one word of the other side that begins before it, if there is
one, has been passed. It reaches to the end of the token, and as far as other multiword tokens that
begin inside reach; a token of one word is in it if it ends inside. All words of a stretch are
aligned by a longest common subsequence of their forms in lower case.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

#: Features that all languages have, of UD version 2 at the time of the task.
UNIVERSAL_FEATURES = {
    "PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr",  # of the lexicon
    "Gender", "Animacy", "Number", "Case", "Definite", "Degree",  # of nouns
    "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person", "Polite",
}  # fmt: skip

#: A sentence: tokens (form, words); a word is the ten cells of a line of CoNLL-U.
Sentence = Sequence[tuple[str, Sequence[Sequence[str]]]]


@dataclass(frozen=True)
class Word:
    """A word with the characters of its token, and the place of its head among all words."""

    cells: Sequence[str]
    span: tuple[int, int]
    multiword: bool
    head: int | None

    @property
    def begin(self) -> int:
        """Where the token begins."""
        return self.span[0]

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.span[1]


def _read(sentences: Sequence[Sentence]) -> tuple[set[Any], set[Any], list[Word]]:
    """Return the spans of tokens, those of sentences, and the words."""
    tokens, bounds, words = set(), set(), []
    at = 0
    for sentence in sentences:
        begin, first = at, len(words)
        for form, inner in sentence:
            size = sum(not c.isspace() for c in form)
            span = (at, at + size)
            tokens.add(span)
            for cells in inner:
                number = int(cells[6])
                head = first + number - 1 if number else None
                words.append(Word(cells, span, len(inner) > 1, head))
            at += size
        bounds.add((begin, at))
    return tokens, bounds, words


def _aligned(gold: list[Word], system: list[Word]) -> dict[int, int]:
    """Return the gold words of aligned words of the system, both by number."""
    left, right = deque(enumerate(gold)), deque(enumerate(system))
    pairs: dict[int, int] = {}
    while left and right:
        (i, a), (j, b) = left[0], right[0]
        if not a.multiword and not b.multiword:
            if a.span == b.span:
                pairs[j] = i
                left.popleft()
                right.popleft()
            else:
                (left if a.begin <= b.begin else right).popleft()
            continue
        if not b.multiword and b.begin < a.begin:
            right.popleft()
        elif not a.multiword and a.begin < b.begin:
            left.popleft()
        reach = (a if a.multiword else b).end
        rows, columns = _stretch(left, right, reach)
        for i, j in _common(rows, columns, gold, system):
            pairs[j] = i
    return pairs


def _stretch(
    left: deque[tuple[int, Word]], right: deque[tuple[int, Word]], reach: int
) -> tuple[list[int], list[int]]:
    """Take the words of a stretch from both sides; return their numbers."""
    sides = (left, right)
    taken: tuple[list[int], list[int]] = ([], [])
    while any(
        side and (side[0][1].begin < reach if side[0][1].multiword else side[0][1].end <= reach)
        for side in sides
    ):
        k = min((k for k in (0, 1) if sides[k]), key=lambda k: sides[k][0][1].begin)
        number, word = sides[k].popleft()
        taken[k].append(number)
        if word.multiword:
            reach = max(reach, word.end)
    return taken


def _common(
    rows: list[int], columns: list[int], gold: list[Word], system: list[Word]
) -> list[tuple[int, int]]:
    """Return the pairs of a longest common subsequence.

    Of several one the one that the task takes: equal words are paired as soon as they meet, and a
    gold word is passed over before one of the system if that costs nothing.
    """

    def same(a: int, b: int) -> bool:
        return gold[rows[a]].cells[1].lower() == system[columns[b]].cells[1].lower()

    @functools.cache
    def longest(a: int, b: int) -> int:
        if a == len(rows) or b == len(columns):
            return 0
        if same(a, b):
            return 1 + longest(a + 1, b + 1)
        return max(longest(a + 1, b), longest(a, b + 1))

    pairs, a, b = [], 0, 0
    while a < len(rows) and b < len(columns):
        if same(a, b):
            pairs.append((rows[a], columns[b]))
            a, b = a + 1, b + 1
        elif longest(a + 1, b) == longest(a, b):
            a += 1
        else:
            b += 1
    return pairs


def ud_scores(
    gold: Sequence[Sentence], system: Sequence[Sentence]
) -> dict[str, tuple[int, int, int]]:
    """Return how many units are right, gold and of the system, by the name of the score."""
    tokens, sentences, words = _read(gold)
    found_tokens, found_sentences, system_words = _read(system)
    partner = _aligned(words, system_words)

    def right(same: Callable[[Word, Word], bool]) -> tuple[int, int, int]:
        number = sum(same(words[i], system_words[j]) for j, i in partner.items())
        return number, len(words), len(system_words)

    def features(word: Word) -> set[str]:
        listed = (feature for feature in word.cells[5].split("|") if feature != "_")
        return {feature for feature in listed if feature.split("=")[0] in UNIVERSAL_FEATURES}

    def attached(a: Word, b: Word) -> bool:
        if a.head is None or b.head is None:
            return a.head is b.head
        return partner.get(b.head) == a.head

    def tags(word: Word) -> tuple[Any, ...]:
        return word.cells[3], word.cells[4], features(word)

    return {
        "tokens": (len(tokens & found_tokens), len(tokens), len(found_tokens)),
        "sentences": (len(sentences & found_sentences), len(sentences), len(found_sentences)),
        "words": right(lambda a, b: True),
        "upos": right(lambda a, b: a.cells[3] == b.cells[3]),
        "xpos": right(lambda a, b: a.cells[4] == b.cells[4]),
        "ufeats": right(lambda a, b: features(a) == features(b)),
        "alltags": right(lambda a, b: tags(a) == tags(b)),
        "lemmas": right(lambda a, b: a.cells[2] == "_" or a.cells[2] == b.cells[2]),
        "uas": right(attached),
        "las": right(
            lambda a, b: attached(a, b) and a.cells[7].split(":")[0] == b.cells[7].split(":")[0]
        ),
    }
