"""Words of tokens, and lemmas of words: edit scripts as labels.

Each is a :class:`~structlearn.tasks.Tagger` of order 0 (no transitions) whose labels are scripts;
what it looks at includes the scripts that a form had in training, the lexicon of the seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...text.corpus import Corpus
from ...text.edit_scripts import (
    WHOLE,
    apply_lemma_script,
    apply_split_script,
    lemma_script,
    split_script,
)
from ...text.surface import surface
from ...text.templates import FeatureTemplates
from ..tagging.model import TaggerModel
from ..tagging.tagger import Tagger

__all__ = ["Lemmatiser", "Splitter", "train_lemmatiser", "train_splitter"]

SPLITTER_FEATURES = """
ends: marked
lower(word)
seen(lower(word))
suffix(lower(word), 1..4)
seen(lower(word)) suffix(lower(word), 2)
seen(lower(word)) suffix(lower(word), 3)
seen(lower(word)) suffix(lower(word), 4)
prefix(lower(word), 1..2) suffix(lower(word), 2)
lower(word[-1]) lower(word)
lower(word) lower(word[1])
lower(word[-1]) suffix(lower(word), 2)
suffix(lower(word), 2) lower(word[1])
shape(word, short)
shape(word, short) suffix(lower(word), 1)
bias
"""

LEMMATISER_FEATURES = """
ends: marked
lower(form)
form
form upos
lower(form) upos
lower(form) xpos
lower(form) xpos feats
seen(lower(form))
seen(lower(form)) upos
seen(lower(form)) xpos
suffix(lower(form), 1..6)
suffix(lower(form), 1) xpos
suffix(lower(form), 2) xpos
suffix(lower(form), 3) xpos
suffix(lower(form), 4) xpos
suffix(lower(form), 5) xpos
suffix(lower(form), 3) feats
prefix(lower(form), 1..4)
prefix(lower(form), 3) xpos
upos
xpos
feats
upos feats
shape(form, short) upos
shape(form) upos
shape(form, short) xpos seen(lower(form))
upos[-1] lower(form)
lower(form[-1]) lower(form)
upos[1] lower(form)
upos[-1] xpos
xpos upos[1]
shape(form[-1], short) shape(form, short) shape(form[1], short)
shape(form, short) first
bias
"""


class Splitter:
    """Finds the words of multiword tokens.

    Parameters
    ----------
    model : TaggerModel
        What :func:`train_splitter` gives.
    """

    def __init__(self, model: TaggerModel) -> None:
        self.model = model

    def __call__(self, sentences: Sequence[Sequence[str]], threads: int = 1) -> list[Any]:
        """Return, for each token of each sentence, None, or its words where it has several."""
        if not sentences:
            return []
        corpus = Corpus.from_sentences(sentences)
        labels = self.model.shown
        found = []
        for forms, numbers in zip(
            sentences, self.model.label_numbers(corpus, threads), strict=True
        ):
            row: list[list[str] | None] = [None] * len(forms)
            for i, k in enumerate(numbers):
                if labels[k] != WHOLE:
                    words = apply_split_script(labels[k], forms[i])
                    row[i] = words if len(words) > 1 else None
            found.append(row)
        return found


def train_splitter(corpus: Corpus, **parameters: Any) -> TaggerModel | None:
    """Learn the words of multiword tokens; None where a treebank has none."""
    sentences, any_split = [], False
    for number in range(len(corpus)):
        words = corpus.cells(number, "form")
        rows = []
        for token in surface(corpus, number).tokens:
            script = WHOLE
            if token.last - token.first > 1:
                script, any_split = split_script(token.form, words[token.first : token.last]), True
            rows.append((token.form, script))
        sentences.append(rows)
    if not any_split:
        return None
    templates = FeatureTemplates.parse(SPLITTER_FEATURES)
    tagger = Tagger(templates, order=0, names=False, unknown="\x00", **parameters)
    model: TaggerModel = tagger.fit(Corpus.from_sentences(sentences)).model_
    return model


class Lemmatiser:
    """Finds the lemmas of tagged words.

    Parameters
    ----------
    model : TaggerModel
        What :func:`train_lemmatiser` gives.
    """

    def __init__(self, model: TaggerModel) -> None:
        self.model = model

    def __call__(self, corpus: Corpus, threads: int = 1) -> list[list[str]]:
        """Return the lemmas of the words of each sentence of a tagged corpus of CoNLL-U."""
        scripts = self.model.label_corpus(corpus, threads)
        return [
            list(map(apply_lemma_script, row, corpus.cells(s, "form")))
            for s, row in enumerate(scripts)
        ]


def train_lemmatiser(corpus: Corpus, *, rare: int = 1, **parameters: Any) -> TaggerModel | None:
    """Learn lemmas from a treebank; None where it has none.

    Parameters
    ----------
    corpus : Corpus
        Of CoNLL-U, with tags.
    rare : int
        Scripts of fewer forms than this are not learned.
    """
    sentences: list[list[list[str]]] = []
    forms: dict[str, set[str]] = {}
    for number in range(len(corpus)):
        rows = [list(cells) for cells in corpus[number]]
        for cells in rows:
            if cells[2] != "_" or cells[1] == "_":
                cells[2] = lemma_script(cells[1], cells[2])
                forms.setdefault(cells[2], set()).add(cells[1].lower())
            cells[6:] = "____"
        sentences.append(rows)
    if not forms:
        return None
    for rows in sentences:
        for cells in rows:
            if cells[2] in forms and len(forms[cells[2]]) < rare:
                cells[2] = "_"
    templates = FeatureTemplates.parse(LEMMATISER_FEATURES)
    tagger = Tagger(templates, order=0, target="lemma", names=False, **parameters)
    model: TaggerModel = tagger.fit(Corpus.from_sentences(sentences, "conllu")).model_
    return model
