"""Scores of annotated text against a treebank with other tokens and sentences.

Tokens and sentences are compared as spans of non-blank characters. Words are aligned:
those of tokens with equal spans one by one, those of multiword tokens by a longest common
subsequence of their forms. A tag, lemma or head is right if it is that of the aligned gold word.
Precision is over the words found, recall over the gold ones, as in the CoNLL 2018 shared task
(Zeman et al. 2018). A gold ``_`` is unknown: such words, and those aligned with them, are left out
of the score. (The shared task counted an unknown lemma as right.) The exception are features, where
``_`` means that a word has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .scores import Scores

__all__ = ["AlignedScores", "AlignedWord", "aligned_scores", "has_lemma", "word_alignment"]

#: Features that count for UFeats: the universal ones.
UNIVERSAL = {
    "Abbr", "Animacy", "Aspect", "Case", "Definite", "Degree", "Evident", "Foreign", "Gender",
    "Mood", "NumType", "Number", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex",
    "Tense", "VerbForm", "Voice",
}  # fmt: skip

Sentence = Sequence[tuple[str, Sequence[Sequence[str]]]]


@dataclass(frozen=True)
class AlignedScores(Scores):
    """Counts of correct, predicted and gold units.

    Attributes
    ----------
    correct, predicted, gold : int
    aligned : int or None
        For scores of words: the words that have a counterpart.
    """

    aligned: int | None = None

    @property
    def aligned_accuracy(self) -> float | None:
        """The share of the aligned words that are right."""
        if self.aligned is None:
            return None
        return self.correct / self.aligned if self.aligned else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return ratios and counts, for JSON."""
        ratios = super().as_dict()
        if self.aligned_accuracy is not None:
            ratios["aligned_accuracy"] = self.aligned_accuracy
        return ratios


class AlignedWord(NamedTuple):
    """A word and the characters of its token, [begin, end); ``cells`` are its ten columns."""

    cells: Sequence[str]
    begin: int
    end: int
    shared: bool
    head: int | None  # the number of the head among all words, -1: the root; None: unknown


class _Text(NamedTuple):
    characters: str
    tokens: list[tuple[int, int]]
    sentences: list[tuple[int, int]]
    words: list[AlignedWord]


def _read(sentences: Sequence[Sentence]) -> _Text:
    characters: list[str] = []
    at = 0
    text = _Text("", [], [], [])
    for sentence in sentences:
        begin, first = at, len(text.words)
        for form, words in sentence:
            bare = "".join(form.split())
            characters.append(bare)
            text.tokens.append((at, at + len(bare)))
            for cells in words:
                head = None if cells[6] == "_" else int(cells[6]) - 1
                if head is not None and head >= 0:
                    head += first
                span = (at, at + len(bare))
                text.words.append(AlignedWord(cells, *span, len(words) > 1, head))
            at += len(bare)
        text.sentences.append((begin, at))
    return text._replace(characters="".join(characters))


def aligned_scores(
    gold: Sequence[Sentence], system: Sequence[Sentence]
) -> dict[str, AlignedScores]:
    """Compare two annotations of one text.

    Parameters
    ----------
    gold, system : list of sentences
        A sentence is a list of tokens (form, words), a word the ten columns of CoNLL-U.

    Returns
    -------
    dict of str to AlignedScores
        tokens, sentences, words, upos, xpos, ufeats, alltags, lemmas, uas, las; those known for
        some gold word. ``las`` compares relations without their subtypes, ``ufeats`` the universal
        features, ``alltags`` the known tags.

    Raises
    ------
    ValueError
        If the texts differ in more than blanks.

    Examples
    --------
    >>> from structlearn.metrics.alignment import aligned_scores
    >>> word = lambda i, form, head: (str(i), form, "_", "X", "_", "_", str(head), "dep", "_", "_")
    >>> gold = [[("Fish", [word(1, "Fish", 2)]), ("swim", [word(2, "swim", 0)])]]
    >>> aligned_scores(gold, [[("Fishswim", [word(1, "Fishswim", 0)])]])["tokens"].f1
    0.0
    """
    ours, theirs = _read(gold), _read(system)
    if ours.characters != theirs.characters:
        pairs = zip(ours.characters, theirs.characters, strict=False)
        shorter = min(len(ours.characters), len(theirs.characters))
        at = next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)
        raise ValueError(
            "the texts differ in more than blanks, first where the gold one has "
            f"{ours.characters[at : at + 20]!r} and the other {theirs.characters[at : at + 20]!r}"
        )
    aligned = word_alignment(ours.words, theirs.words)
    partner: dict[int | None, int] = {s: g for g, s in aligned}
    partner[-1] = -1

    def spans(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> AlignedScores:
        return AlignedScores(len(set(one) & set(other)), len(other), len(one))

    def words(
        same: Callable[[AlignedWord, AlignedWord], bool],
        known: Callable[[AlignedWord], bool] = lambda g: True,
    ) -> AlignedScores:
        judged = [(g, s) for g, s in aligned if known(ours.words[g])]
        right = sum(same(ours.words[g], theirs.words[s]) for g, s in judged)
        n_found = len(theirs.words) - (len(aligned) - len(judged))
        return AlignedScores(right, n_found, sum(map(known, ours.words)), len(judged))

    def cell(column: int) -> AlignedScores:
        def same(g: AlignedWord, s: AlignedWord) -> bool:
            return g.cells[column] == s.cells[column]

        return words(same, lambda g: g.cells[column] != "_")

    def same_features(g: AlignedWord, s: AlignedWord) -> bool:
        return universal(g.cells[5]) == universal(s.cells[5])

    def same_tags(g: AlignedWord, s: AlignedWord) -> bool:
        return same_features(g, s) and all(g.cells[c] in ("_", s.cells[c]) for c in (3, 4))

    def attached(g: AlignedWord, s: AlignedWord) -> bool:
        return partner.get(s.head, -2) == g.head

    def relation(word: AlignedWord) -> str:
        return word.cells[7].partition(":")[0]

    scores = {
        "upos": cell(3),
        "xpos": cell(4),
        "ufeats": words(same_features),
        "alltags": words(same_tags, lambda g: g.cells[3] != "_" or g.cells[4] != "_"),
        "lemmas": words(lambda g, s: g.cells[2] == s.cells[2], lambda g: has_lemma(*g.cells[1:3])),
        "uas": words(attached, lambda g: g.head is not None),
        "las": words(
            lambda g, s: attached(g, s) and relation(g) == relation(s),
            lambda g: g.head is not None and g.cells[7] != "_",
        ),
    }
    return {
        "tokens": spans(ours.tokens, theirs.tokens),
        "sentences": spans(ours.sentences, theirs.sentences),
        "words": words(lambda g, s: True),
        **{name: score for name, score in scores.items() if score.gold},
    }


def has_lemma(form: str, lemma: str) -> bool:
    """Return whether a lemma is known: ``_`` is unknown, except for the word ``_``."""
    return lemma != "_" or form == "_"


def universal(feats: str) -> str:
    """Return the universal features of a word, in alphabetical order."""
    return "|".join(sorted(f for f in feats.split("|") if f.partition("=")[0] in UNIVERSAL))


def word_alignment(
    gold: Sequence[AlignedWord], system: Sequence[AlignedWord]
) -> list[tuple[int, int]]:
    """Return the pairs of numbers of aligned words, in order. O(n), except for ranges."""
    pairs: list[tuple[int, int]] = []
    g = s = 0
    while g < len(gold) and s < len(system):
        a, b = gold[g], system[s]
        if not a.shared and not b.shared:
            if (a.begin, a.end) == (b.begin, b.end):
                pairs.append((g, s))
                g, s = g + 1, s + 1
            elif a.begin <= b.begin:
                g += 1
            else:
                s += 1
        else:
            # One word that begins before the multiword token is skipped; as in the task's script,
            # a second one, of a gold token with other boundaries, belongs to the stretch.
            if not b.shared and b.begin < a.begin:
                s += 1
            elif not a.shared and a.begin < b.begin:
                g += 1
            g_end, s_end = _block(gold, system, g, s, a if a.shared else b)
            pairs += _common(gold, system, range(g, g_end), range(s, s_end))
            g, s = g_end, s_end
    return pairs


def _block(
    gold: Sequence[AlignedWord], system: Sequence[AlignedWord], g: int, s: int, opening: AlignedWord
) -> tuple[int, int]:
    """Return the end of the stretch that a multiword token begins: no token crosses it."""
    end = opening.end

    def opens(words: Sequence[AlignedWord], i: int) -> bool:
        return i < len(words) and words[i].shared and words[i].begin == opening.begin

    # They belong to it even if they are empty: a token of blanks alone has length 0.
    if opens(gold, g):
        end, g = max(end, gold[g].end), g + 1
    if opens(system, s):
        end, s = max(end, system[s].end), s + 1

    def outside(words: Sequence[AlignedWord], i: int) -> bool:
        if i >= len(words):
            return True
        return words[i].begin >= end if words[i].shared else words[i].end > end

    def order(word: AlignedWord) -> tuple[int, bool]:  # a token of blanks alone comes first
        return word.begin, word.begin < word.end

    while not (outside(gold, g) and outside(system, s)):
        takes_gold = g < len(gold) and (s >= len(system) or order(gold[g]) <= order(system[s]))
        word = gold[g] if takes_gold else system[s]
        if word.shared:
            end = max(end, word.end)
        g, s = (g + 1, s) if takes_gold else (g, s + 1)
    return g, s


def _common(
    gold: Sequence[AlignedWord], system: Sequence[AlignedWord], rows: range, columns: range
) -> list[tuple[int, int]]:
    """Return the longest common subsequence of the forms, as pairs. O(rows × columns)."""
    a = [gold[i].cells[1].lower() for i in rows]
    b = [system[j].cells[1].lower() for j in columns]
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            skip = max(best[i + 1][j], best[i][j + 1])
            best[i][j] = 1 + best[i + 1][j + 1] if a[i] == b[j] else skip
    pairs = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            pairs.append((rows[i], columns[j]))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs
