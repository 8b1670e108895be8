"""Subjects that read and write files: tasks with their formats and columns of labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fuzz.metamorphic.formats import Spelling, draw_spelling
from fuzz.metamorphic.subjects import TEXT_TASKS, Drawn, Subject
from structlearn.tasks import Tagger
from structlearn.text import Corpus, FeatureTemplates

Rng = np.random.Generator
#: Formats of sentences without trees.
FORMATS = ("columns", "conllu", "csv", "jsonl", "text")


@dataclass(frozen=True)
class FileSubject:
    """A task and the files that it reads.

    Attributes
    ----------
    width : int
        Cells of a token to be labelled: the word, or the word and its tag.
    formats : tuple of str
        The formats that have all of these cells.
    native : str
        The format of the training file.
    targets : tuple of int
        Columns of the labels in files of that format.
    """

    subject: Subject
    width: int = 1
    formats: tuple[str, ...] = FORMATS
    native: str = "columns"
    targets: tuple[int, ...] = (1,)

    def draw(self, rng: Rng) -> tuple[Any, list[Any], Spelling]:
        """Return a model, sentences to be labelled and a way to write them."""
        model, X = self.subject.fitted(rng), self.subject.inputs(rng, int(rng.integers(1, 5)))
        return model, X, self.spelling(rng)

    def spelling(self, rng: Rng, **options: Any) -> Spelling:
        """Return a random spelling with the cells that the model reads."""
        format = self.formats[int(rng.integers(len(self.formats)))]
        drawn = draw_spelling(rng, format, **options)
        return replace(drawn, numbered=True) if self.width == 1 else drawn

    def place(self, spelling: Spelling, labelled: bool) -> tuple[int, ...] | None:
        """Return the place of labels in a labelled file; None for new cells."""
        format = spelling.format
        if format == self.native and (labelled or format == "conllu"):
            return self.targets
        if len(self.targets) > 1 or format == "text":
            return None
        if format == "conllu":
            return (3,) if self.targets == (1,) else None
        replaced = labelled and (format != "columns" or self.native == "columns")
        return (self.width,) if replaced else None


def tokens(sentence: Any) -> list[tuple[str, ...]]:
    """Return a sentence of words, or of words with tags, as tuples of cells."""
    return [(token,) if isinstance(token, str) else tuple(token) for token in sentence]


_WORDS = FeatureTemplates.parse("word[-1..1]\nsuffix(word, 2)")


def _conllu(name: str, target: str) -> Subject:
    """Return a tagger of words that learns from CoNLL-U; the first letter of a tag is its UPOS."""
    words = TEXT_TASKS["tagger, online"]

    def draw(rng: Rng) -> Drawn:
        drawn = words.draw(rng)
        rows = [
            [(str(i), w, "_", t[0], t, "_", "_", "_", "_", "_") for i, (w, t) in enumerate(s, 1)]
            for s in drawn.X
        ]
        learner = str(rng.choice(("perceptron", "crf")))
        estimator = Tagger(_WORDS, learner, target=target, max_iter=3, random_state=1)
        return Drawn(estimator, Corpus.from_sentences(rows, "conllu"))

    return Subject(name, draw, words.inputs, words.queries)


def _file_subjects() -> dict[str, FileSubject]:
    subjects: dict[str, FileSubject] = {}
    for name, subject in TEXT_TASKS.items():
        if name in ("tagger, chunks", "segments"):
            subjects[name] = FileSubject(subject, 2, FORMATS[:4], targets=(2,))
        elif name == "parser with tagger":
            subjects[name] = FileSubject(subject)
        elif name.startswith("parser"):
            subjects[name] = FileSubject(subject, 2, ("conllu",))
        elif name.startswith("constituency"):
            subjects[name] = FileSubject(subject, formats=(*FORMATS, "brackets"))
        else:
            subjects[name] = FileSubject(subject)
    subjects["tagger, CoNLL-U"] = FileSubject(
        _conllu("tagger, CoNLL-U", "upos"), native="conllu", targets=(3,)
    )
    # In text "|" separates words and labels, and the parts of these labels.
    subjects["tagger, two columns"] = FileSubject(
        _conllu("tagger, two columns", "upos,xpos"), 1, FORMATS[:4], "conllu", (3, 4)
    )
    return subjects


#: All text tasks as readers of files, and two taggers that learn from CoNLL-U.
FILES: Mapping[str, FileSubject] = _file_subjects()
#: Those that add labels to files.
TAGGERS = {name: s for name, s in FILES.items() if name.startswith(("tagger", "segments"))}
