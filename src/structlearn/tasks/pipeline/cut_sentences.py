"""The sentences of a treebank as cut text, from which models of words learn."""

from __future__ import annotations

from itertools import pairwise

from ...text.corpus import Corpus
from ...text.surface import raw_paragraphs
from ..words.cut_text import BEGINS, GOES_ON, Cut

#: A language needs a model of words if at least this share of neighbouring words has no blank
#: between them, or this share of words has a blank inside.
_JOINED, _BLANKS_INSIDE = 0.5, 0.02


def cut_sentences(corpus: Corpus) -> list[Cut]:
    """Return the text of each sentence of a treebank with the places where its tokens begin."""
    found = []
    for text, sentences in raw_paragraphs(corpus):
        for spans in sentences:
            first, last = spans[0][0], spans[-1][1]
            marks = bytearray([GOES_ON]) * (last - first)
            for begin, end in spans:
                marks[begin - first] = BEGINS
                if end < last:  # a blank between words is a word that is not written
                    marks[end - first] = BEGINS
            found.append(Cut(text[first:last], bytes(marks)))
    return found


def needs_words(sentences: list[Cut]) -> bool:
    """Tell whether blanks do not say where the words of a language begin and end."""
    pairs = without = words = inside = 0
    for cut in sentences:
        spans = cut.spans()
        words += len(spans)
        inside += sum(any(char.isspace() for char in cut.text[a:b]) for a, b in spans)
        pairs += len(spans) - 1
        without += sum(a == b for (_, a), (b, _) in pairwise(spans))
    return without >= _JOINED * max(pairs, 1) or inside >= _BLANKS_INSIDE * max(words, 1)
