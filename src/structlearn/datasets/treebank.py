"""A treebank sampled from the authored grammar and lexicon."""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import index

from structlearn.datasets.category import Category
from structlearn.datasets.chunking import chunks_of
from structlearn.datasets.grammar import Phrase, grammar
from structlearn.datasets.randomness import Draw, RandomStateLike, as_generator, uniform_draws
from structlearn.datasets.sentence import Sentence, Span, Tree

MIN_LENGTH = 3
MAX_LENGTH = 25

_VOWEL_SOUND = re.compile("[aeio]|u(?!s)|hour|honest", re.IGNORECASE)


class _TooLong(Exception):
    """Raised to abandon a derivation longer than the longest sentence."""


class _Derivation:
    """A sentence under construction; words, heads and spans grow together."""

    __slots__ = ("deprels", "draw", "heads", "spans", "tags", "words")

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.words: list[str] = []
        self.tags: list[str] = []
        self.heads: list[int] = []
        self.deprels: list[str] = []
        self.spans: list[Span] = []

    def expand(self, phrase: Phrase) -> int:
        """Rewrite a phrase down to words and return the position of its head word."""
        rule = phrase.rules[bisect_right(phrase.bounds, self.draw())]
        if rule.passes is not None:
            return self.expand(rule.passes)
        words, spans = self.words, self.spans
        if len(words) > MAX_LENGTH:
            raise _TooLong
        start, slot = len(words), len(spans)
        spans.append((start, start, phrase.label))
        positions = []
        for child in rule.children:
            if isinstance(child, Category):
                positions.append(len(words))
                words.append(child.sample(self.draw))
                self.tags.append(child.tag)
                self.heads.append(0)
                self.deprels.append("root")
            else:
                positions.append(self.expand(child))
        head = positions[rule.head]
        for position, relation in zip(positions, rule.relations, strict=True):
            if position != head:
                self.heads[position] = head + 1
                self.deprels[position] = relation
        spans[slot] = (start, len(words), phrase.label)
        return head

    def finish(self) -> Sentence:
        """Settle the spelling and freeze the sentence."""
        words = self.words
        for i, word in enumerate(words):
            if word == "a" and _VOWEL_SOUND.match(words[i + 1]):
                words[i] = "an"
        words[0] = words[0][0].upper() + words[0][1:]
        tree = _build(self.spans, words, self.tags)
        return Sentence(
            words=tuple(words),
            tags=tuple(self.tags),
            chunks=tuple(chunks_of(tree)),
            heads=tuple(self.heads),
            deprels=tuple(self.deprels),
            tree=tree,
        )


def _build(spans: list[Span], words: list[str], tags: list[str]) -> Tree:
    """Return the tree whose constituents are ``spans``, outermost first."""
    rest = iter(spans)
    following = next(rest, None)

    def node(span: Span) -> Tree:
        nonlocal following
        position, end, label = span
        parts: list[str | Tree] = [label]
        following = next(rest, None)
        while position < end:
            if following is not None and following[0] == position:
                position, inner = following[1], following
                parts.append(node(inner))
            else:
                parts.append((tags[position], words[position]))
                position += 1
        return tuple(parts)

    return node(spans[0])


def make_treebank(
    n_sentences: int = 1000, *, random_state: RandomStateLike = None
) -> list[Sentence]:
    """Sample English-like sentences with tags, chunks, dependencies and constituents.

    The sentences come from a grammar and a lexicon written for this library. They mean little,
    but they are ambiguous the way English is: "fish", "sleep" and "light" are nouns, verbs and
    more; "that" is a determiner, a relative pronoun or opens a clause; "her" is a pronoun or a
    possessive; "to" is a preposition or a particle; "walked" is a past form or a participle,
    "broken" a participle or an adjective; prepositional phrases and relative clauses attach to
    more than one place. Open classes have Zipf-like frequencies and never run out: names, derived
    words and numbers are coined as they are needed, so a test part always has unknown words. Some
    ambiguity is real: not even the grammar itself could resolve it, and no model reaches 100 %.

    All layers of a sentence come from one derivation and agree. Every dependency tree is
    projective and has a single root.

    Parameters
    ----------
    n_sentences : int, default=1000
        How many sentences.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState, default=None
        Same seed, same sentences; a longer treebank begins with the shorter one of the same seed.

    Returns
    -------
    list of Sentence
        Independent samples, so any slice is a fair training or test part. Lengths run from 3 to
        25 words, about 11 in the mean.

    Notes
    -----
    ``structlearn.datasets.lexicon`` has the tagset and the relations, ``TAGS`` and ``DEPRELS``.

    Examples
    --------
    >>> from structlearn.datasets import make_treebank
    >>> bank = make_treebank(100, random_state=0)
    >>> train, test = bank[:80], bank[80:]
    >>> X = [sentence.words for sentence in train]
    >>> y = [sentence.tags for sentence in train]
    """
    n_sentences = index(n_sentences)
    if n_sentences < 0:
        raise ValueError(f"n_sentences must not be negative, got {n_sentences}")
    draw = uniform_draws(as_generator(random_state))
    start = grammar()
    bank: list[Sentence] = []
    while len(bank) < n_sentences:
        derivation = _Derivation(draw)
        try:
            derivation.expand(start)
        except _TooLong:
            continue
        if MIN_LENGTH <= len(derivation.words) <= MAX_LENGTH:
            bank.append(derivation.finish())
    return bank
