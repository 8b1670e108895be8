"""Words of tokens, and lemmas of words: edit scripts as labels.

Each is a :class:`~structlearn.tasks.Tagger` of order 0 (no transitions) whose labels are scripts;
what it looks at includes the scripts that a form had in training. Scripts of few forms are one
label, which stands for a lexicon: it says what the lemmas of these forms were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from ... import _core
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

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ...fitting.split_corpus import Counts, SplitCorpus

#: The label of lemmas that are in the lexicon.
LISTED = "@"
_AS_IT_IS = lemma_script("as", "as")
#: Labels have the same order at any temperature, and at a high one nothing is rounded away.
_FLAT = 10.0
#: Scripts of fewer forms than this are in the lexicon.
_RARE = 5

#: Not the whole form by itself: the ends of forms that are seen must do for those that are not.
SPLITTER_FEATURES = """
ends: marked
suffix(lower(word), 1..4)
seen(lower(word)) suffix(lower(word), 2)
seen(lower(word)) suffix(lower(word), 3)
seen(lower(word)) suffix(lower(word), 4)
lower(word[-1]) lower(word)
lower(word) lower(word[1])
lower(word[-1]) suffix(lower(word), 2)
suffix(lower(word), 2) lower(word[1])
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
suffix(lower(form), 6) xpos
suffix(lower(form), 3) feats
prefix(lower(form), 1..4)
prefix(lower(form), 3) xpos
upos
xpos
feats
upos feats
shape(form, short) upos
shape(form) upos
shape(form, short) xpos
shape(form, short) xpos seen(lower(form))
upos[-1] lower(form)
lower(form[-1]) lower(form)
lower(form) lower(form[1])
upos[1] lower(form)
lower(form) xpos[1]
lower(form) xpos[1] xpos[2]
upos[-1] xpos
xpos upos[1]
shape(form[-1], short) shape(form, short) shape(form[1], short)
shape(form, short) first
bias
"""


def _plain(form: str) -> str:
    """Return a form with the one apostrophe that there is on keyboards."""
    return form.replace("’", "'")


#: Up to so many words a call for each sentence is quicker than one for all.
_FEW = 200


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
        plain = [list(map(_plain, forms)) for forms in sentences]
        scripts: list[Any] = []
        if sum(map(len, plain)) <= _FEW:
            scripts = list(map(self.model.calls.predict, plain))
        if not scripts or None in scripts:  # many words, or a model that reads more than forms
            labels = self.model.shown
            outputs = self.model.inputs(Corpus.from_sentences(plain)).solve(threads).outputs
            scripts = [[labels[k] for k in numbers] for numbers in outputs]
        return list(map(_split, sentences, scripts))


def _split(forms: Sequence[str], scripts: Sequence[str]) -> list[list[str] | None]:
    row: list[list[str] | None] = [None] * len(forms)
    for i, script in enumerate(scripts):
        if script != WHOLE:
            words = apply_split_script(script, forms[i])
            row[i] = words if len(words) > 1 else None
    return row


def train_splitter(corpus: Corpus | SplitCorpus, **parameters: Any) -> TaggerModel | None:
    """Learn the words of multiword tokens; None where a treebank has none."""
    from ...fitting.split_corpus import SplitCorpus

    scripts = SplitCorpus.of(corpus).then(_split_scripts)
    if scripts.counts(1).keys() == {WHOLE}:
        return None
    templates = FeatureTemplates.parse(SPLITTER_FEATURES)
    given = {"learner": "perceptron", "order": 0, "names": False, **parameters}
    tagger = Tagger(templates, unknown="\x00", **given)
    model: TaggerModel = tagger.fit(scripts).model_
    return model


def _split_scripts(corpus: Corpus) -> Corpus:
    """Return the tokens of a treebank with the scripts that split them into words."""
    sentences = []
    for number in range(len(corpus)):
        words = corpus.cells(number, "form")
        rows = []
        for token in surface(corpus, number).tokens:
            script = WHOLE
            if token.last - token.first > 1:
                script = split_script(token.form, words[token.first : token.last])
            rows.append((_plain(token.form), script))
        sentences.append(rows)
    return Corpus.from_sentences(sentences)


class LemmaLabels:
    """The labels of the lemmas of a treebank, and the lexicon that they need.

    A form in lower case and its lemma are the same for two scripts: lower case, or as it stands.
    It gets the one that forms with capitals have more often, given the tag: addresses keep theirs.

    Parameters
    ----------
    corpus : Corpus
        Of CoNLL-U, with tags.
    rare : int
        Scripts of fewer forms than this are in the lexicon.

    Attributes
    ----------
    lexicon : list of (str, str, str)
        Forms in lower case, their XPOS and their lemmas; frequent ones first.
    """

    def __init__(self, corpus: Corpus | SplitCorpus, rare: int = _RARE) -> None:
        from ...fitting.split_corpus import SplitCorpus

        self.corpus = SplitCorpus.of(corpus)
        parts = self.corpus.parts
        cases = parts.sum(_cases).counts
        scripts = Scripts(
            {xpos for xpos, _ in cases if cases[xpos, "k"] > cases.get((xpos, "l"), 0)}
        )
        forms: FormSets = parts.sum(FormSets, scripts)
        scripts.frequent = {script for script, found in forms.sets.items() if len(found) >= rare}
        listed = parts.sum(_listed, scripts).counts
        self.scripts, self.has_lemmas = scripts, bool(forms.sets)
        self.lexicon = sorted(listed, key=lambda row: (-listed[row], row))

    def labelled(self) -> SplitCorpus:
        """Return the treebank with labels in the place of lemmas."""
        return self.corpus.then(_labelled, self.scripts)


class Scripts:
    """Which script a lemma is found by, and which ones are labels of their own.

    Attributes
    ----------
    kept : set of str
        The XPOS whose forms keep their capitals.
    frequent : set of str
        Scripts of enough forms.
    """

    def __init__(self, kept: set[str]) -> None:
        self.kept = kept
        self.frequent: set[str] = set()

    def of(self, form: str, lemma: str, xpos: str) -> str:
        """Return the script of a word's lemma."""
        script = lemma_script(form, lemma)
        if script[0] == "l" and form == form.lower() and xpos in self.kept:
            return "k" + script[1:]
        return script


class FormSets:
    """The forms of each script in a part of a treebank; those of parts are joined."""

    def __init__(self, corpus: Corpus, scripts: Scripts) -> None:
        self.sets: dict[str, set[str]] = {}
        for form, lemma, xpos in _lemmas(corpus):
            self.sets.setdefault(scripts.of(form, lemma, xpos), set()).add(form.lower())

    def __add__(self, other: FormSets) -> FormSets:
        for script, forms in other.sets.items():
            self.sets.setdefault(script, set()).update(forms)
        return self


def _lemmas(corpus: Corpus) -> Iterator[tuple[str, str, str]]:
    """Yield the form, the lemma and the tag of the words that have a lemma."""
    from ...metrics.alignment import has_lemma  # annotating does without it

    for s in range(len(corpus)):
        columns = (corpus.cells(s, name) for name in ("form", "lemma", "xpos"))
        for form, lemma, xpos in zip(*columns, strict=True):
            if has_lemma(form, lemma):
                yield form, lemma, xpos


def _cases(corpus: Corpus) -> Counts:
    """Return how often words with capitals keep them in their lemmas, by their tags."""
    from ...fitting.split_corpus import Counts

    rows = [
        (x, lemma_script(form, lemma)[0])
        for form, lemma, x in _lemmas(corpus)
        if form != form.lower()
    ]
    return Counts(Counter(rows))


def _listed(corpus: Corpus, scripts: Scripts) -> Counts:
    """Return how often the words are there whose scripts are rare."""
    from ...fitting.split_corpus import Counts

    words = ((word, scripts.of(*word)) for word in _lemmas(corpus))
    rare = [word for word, script in words if script not in scripts.frequent]
    return Counts(Counter((form.lower(), xpos, lemma) for form, lemma, xpos in rare))


def _labelled(corpus: Corpus, scripts: Scripts) -> Corpus:
    from ...metrics.alignment import has_lemma

    sentences: list[list[list[str]]] = []
    for sentence in corpus:
        rows = [list(cells) for cells in sentence]
        for cells in rows:
            if has_lemma(cells[1], cells[2]):
                script = scripts.of(cells[1], cells[2], cells[4])
                cells[2] = script if script in scripts.frequent else LISTED
            cells[6:] = "____"
        sentences.append(rows)
    return Corpus.from_sentences(sentences, "conllu")


class Lemmatiser:
    """Finds the lemmas of tagged words.

    Parameters
    ----------
    model : TaggerModel
        What :func:`train_lemmatiser` gives.
    lexicon : list of (str, str, str)
        Of :class:`LemmaLabels`.
    """

    def __init__(self, model: TaggerModel, lexicon: Sequence[tuple[str, str, str]] = ()) -> None:
        self.model = model
        self._listed: dict[tuple[str, str | None], str] = {}
        for form, xpos, lemma in lexicon:
            self._listed.setdefault((form, xpos), lemma)
            self._listed.setdefault((form, None), lemma)

    def __call__(self, corpus: Corpus, threads: int = 1) -> list[list[str]]:
        """Return the lemmas of the words of each sentence of a tagged corpus of CoNLL-U."""
        lemmas = []
        inputs = self.model.inputs(corpus)
        labels = self.model.shown
        likely: Any = None
        for s, numbers in enumerate(inputs.solve(threads).outputs):
            forms, scripts = corpus.cells(s, "form"), [labels[k] for k in numbers]
            if LISTED not in scripts:
                lemmas.append(list(map(apply_lemma_script, scripts, forms)))
                continue
            row = []
            listed = map(self.lemma, scripts, forms, corpus.cells(s, "xpos"))
            for place, (form, lemma) in enumerate(zip(forms, listed, strict=True)):
                if lemma is None:  # not in the lexicon: the best of the other labels
                    likely = likely or inputs.marginals(_FLAT, 0.0, threads)
                    lemma = self._unlisted(likely[s], place, form)
                row.append(lemma)
            lemmas.append(row)
        return lemmas

    def single(self, forms: list[str], tags: list[tuple[str, str, str]]) -> list[str] | None:
        """Return the lemmas of one tagged sentence, in one call.

        None if the model reads more than forms and tags, or a lemma is not in the lexicon.
        """
        rows = [[form, *tag] for form, tag in zip(forms, tags, strict=True)]
        scripts = self._calls.predict(rows)
        if scripts is None:
            return None
        lemmas: list[Any] = list(map(self.lemma, scripts, forms, (xpos for _, xpos, _ in tags)))
        return None if None in lemmas else lemmas

    @cached_property
    def _calls(self) -> _core.SentenceCalls:
        sources = {4: [-1, 0, -1, 1, 2, 3]}  # the columns of CoNLL-U
        return _core.SentenceCalls(self.model.core, sources, self.model.shown)

    def lemma(self, label: str, form: str, xpos: str) -> str | None:
        """Return the lemma that a label gives a form; None where the lexicon does not have it."""
        if label != LISTED:
            return apply_lemma_script(label, form)
        low = form.lower()
        return self._listed.get((low, xpos)) or self._listed.get((low, None))

    def _unlisted(self, likely: Any, place: int, form: str) -> str:
        """Return the lemma of a form by the likeliest script other than the lexicon."""
        labels = self.model.shown
        ranked = sorted((-p, labels[k]) for at, _, k, p in likely if at == place)
        return apply_lemma_script(next((k for _, k in ranked if k != LISTED), _AS_IT_IS), form)


def train_lemmatiser(labels: LemmaLabels, **parameters: Any) -> TaggerModel | None:
    """Learn the lemmas of a treebank; None where it has none."""
    if not labels.has_lemmas:
        return None
    templates = FeatureTemplates.parse(LEMMATISER_FEATURES)
    given = {"learner": "perceptron", "order": 0, "names": False, **parameters}
    tagger = Tagger(templates, target="lemma", **given)
    model: TaggerModel = tagger.fit(labels.labelled()).model_
    return model
