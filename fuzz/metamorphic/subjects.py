"""Subjects: models of every task and estimator, drawn by seed, with inputs to ask them about."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from structlearn import MultiLabelClassifier
from structlearn.datasets import make_shapes, make_treebank
from structlearn.tasks import (
    ConstituencyParser,
    DependencyParser,
    ImageSegmenter,
    Pipeline,
    SegmentTagger,
    Tagger,
)
from structlearn.text import FeatureTemplates

Rng = np.random.Generator

#: The number of models of each subject that are fitted for relations that only query them.
POOL = 3
#: The pool from which the sentences of all subjects are drawn.
N_SENTENCES = 300

#: Characters with special treatment in files, terminals, pages and encodings.
ODD = (
    "/", "|", "\\", '"', "'", "<", "&", "#", "_", "-", ":", ",", ";", "=", "*", "(", "[", "%", "$",
    "é", "ß", "İ", "中", "😀", "e\u0301", "\u200b", "\x1b[31m", "+1",
)  # fmt: skip


def odd_string(rng: Rng, unsafe: Sequence[str] = ()) -> str:
    """Return a word of one to four odd or plain pieces; ``unsafe`` ones may be among them."""
    pieces = (*ODD, "a", "Fish", "7", *unsafe)
    return "".join(pieces[int(i)] for i in rng.integers(len(pieces), size=int(rng.integers(1, 5))))


@dataclass(frozen=True)
class Drawn:
    """An unfitted estimator and its examples.

    Attributes
    ----------
    y : list or None
        None if the examples contain their labels, as for tasks.
    """

    estimator: Any
    X: list[Any]
    y: list[Any] | None = None

    def fit(self, **options: Any) -> Any:
        """Return a fitted copy of the estimator."""
        return self.fit_with({}, **options)

    def fit_with(self, parameters: Mapping[str, Any], **options: Any) -> Any:
        """Return a fitted copy of the estimator with other parameters."""

        model = clone(self.estimator).set_params(**parameters)
        return (
            model.fit(self.X, **options) if self.y is None else model.fit(self.X, self.y, **options)
        )


@dataclass(frozen=True)
class Subject:
    """A kind of model: how to draw one, and inputs for it.

    Attributes
    ----------
    draw : callable
        generator -> `Drawn`.
    inputs : callable
        (generator, n) -> a list of n inputs for ``predict``.
    queries : tuple of str
        Names of the model's queries in `fuzz.metamorphic.queries`.
    """

    name: str
    draw: Callable[[Rng], Drawn]
    inputs: Callable[[Rng, int], list[Any]]
    queries: tuple[str, ...]

    def fitted(self, rng: Rng, pool: int = POOL) -> Any:
        """Return one of the models fitted once for all queries."""
        return _pool(self, int(rng.integers(pool)))

    def drawn(self, number: int) -> Drawn:
        """Return the examples and estimator behind a model of the pool."""
        return self.draw(np.random.default_rng([7, number]))


@functools.cache
def _pool(subject: Subject, number: int) -> Any:
    return subject.drawn(number).fit()


@functools.cache
def _bank() -> Any:
    return make_treebank(N_SENTENCES, random_state=11)


def _sentences(rng: Rng, n: int) -> list[Any]:
    bank = _bank()
    return [bank[int(i)] for i in rng.integers(len(bank), size=n)]


def _words(rng: Rng, sentence: Any) -> list[str]:
    """Return the words of a sentence, some replaced by unknown ones."""
    return [w if rng.random() < 0.9 else odd_string(rng) for w in sentence.words]


def _tagged(sentence: Any) -> list[Any]:
    return list(zip(sentence.words, sentence.tags, strict=True))


def _chunked(sentence: Any) -> list[Any]:
    return list(zip(sentence.words, sentence.tags, sentence.chunks, strict=True))


def _arcs(sentence: Any) -> list[Any]:
    return list(zip(sentence.words, sentence.tags, sentence.heads, sentence.deprels, strict=True))


def _word_inputs(rng: Rng, n: int) -> list[Any]:
    return [_words(rng, s) for s in _sentences(rng, n)]


def _tagged_inputs(rng: Rng, n: int) -> list[Any]:
    return [list(zip(_words(rng, s), s.tags, strict=True)) for s in _sentences(rng, n)]


#: Form of an example -> the pool of examples.
FORMS: dict[str, Callable[[Any], Any]] = {
    "words": lambda s: list(s.words),
    "tags": lambda s: list(zip(s.words, s.tags, strict=True)),
    "tagged": _tagged,
    "chunked": _chunked,
    "arcs": _arcs,
    "brackets": lambda s: s.brackets,
}


def sentences_of(form: str, rng: Rng, n: int) -> list[Any]:
    """Draw n examples in a form of `FORMS`."""
    return [FORMS[form](s) for s in _sentences(rng, n)]


def _drawing(
    kind: Any, example: Callable[[Any], Any], choices: Mapping[str, Sequence[Any]]
) -> Callable[[Rng], Drawn]:
    """Return a function that draws parameters, each from its choices, and sentences."""

    def draw(rng: Rng) -> Drawn:
        options = {key: values[int(rng.integers(len(values)))] for key, values in choices.items()}
        options["random_state"] = int(rng.integers(1000))
        examples = [example(s) for s in _sentences(rng, int(rng.integers(8, 16)))]
        return Drawn(kind(**options), examples)

    return draw


_ONLINE = ("perceptron", "passive-aggressive", "adagrad", "arow")
_CONVEX = ("crf", "svm")
_TEMPLATES = FeatureTemplates.parse("word[-1..1]\nlower(word)\nsuffix(word, 2)")
_TAGS = ("predict", "kbest", "marginals", "sample", "entropy", "explain")
_TREES = (*_TAGS, "proba")


def _tagger(
    name: str, example: Any = _tagged, inputs: Any = _word_inputs, **choices: Any
) -> Subject:
    return Subject(name, _drawing(Tagger, example, {"max_iter": (2, 4), **choices}), inputs, _TAGS)


TAGGERS = [
    _tagger("tagger, online", learner=_ONLINE, features=("pos", "none", _TEMPLATES),
            order=(0, 1, 2), n_models=(1, 2)),
    _tagger("tagger, convex", learner=_CONVEX, features=("pos", _TEMPLATES), order=(0, 1),
            max_iter=(5, 30)),
    _tagger("tagger, hmm", learner=("hmm",), features=("auto",), max_iter=(None,)),
    _tagger("tagger, chunks", _chunked, _tagged_inputs, learner=("perceptron", "crf"),
            features=("chunk",), scheme=("none", "iobes", "bio"), order=(1, 2)),
    _tagger("tagger, hashed", learner=("perceptron", "crf"), features=("pos",), hash_bits=(10, 14),
            names=(True, False)),
    _tagger("tagger, candidates", learner=("perceptron", "svm", "crf"), features=(_TEMPLATES,),
            candidates=(2, 3), order=(1, 2)),
]  # fmt: skip

SEGMENTS = [
    Subject(
        "segments",
        _drawing(SegmentTagger, _chunked,
                 {"learner": (*_ONLINE, *_CONVEX), "max_iter": (2, 3), "n_models": (1, 2)}),
        _tagged_inputs,
        _TAGS,
    )
]  # fmt: skip


def _parser(
    name: str, inputs: Any = _tagged_inputs, example: Any = _arcs, **choices: Any
) -> Subject:
    shared = {"hash_bits": (10, 13), "max_iter": (1, 2), "gold_tags": (True,), "n_models": (1,)}
    return Subject(name, _drawing(DependencyParser, example, {**shared, **choices}), inputs, _TREES)


PARSERS = [
    _parser("parser, order 1", order=(1,), learner=(*_ONLINE, *_CONVEX), projective=(True, False)),
    _parser("parser, order 2", order=(2,), projective=(True, False)),
    _parser("parser with tagger", _word_inputs, order=(1, 2), gold_tags=(False,), folds=(2,)),
]

CONSTITUENTS = [
    Subject(
        "constituency",
        _drawing(ConstituencyParser, lambda s: s.brackets,
                 {"learner": (*_ONLINE, *_CONVEX), "max_iter": (1, 2), "folds": (2,),
                  "min_count": (1, 2), "n_models": (1,)}),
        _word_inputs,
        _TREES,
    ),
    Subject(
        "constituency, pcfg",
        _drawing(ConstituencyParser, lambda s: s.brackets,
                 {"learner": ("pcfg",), "vertical": (1, 2), "horizontal": (0, 1, 2)}),
        _word_inputs,
        _TREES,
    ),
]  # fmt: skip


@functools.cache
def _shapes() -> Any:
    return make_shapes(40, size=(16, 18), n_classes=3, n_shapes=3, noise=0.3, random_state=5)


def _draw_images(rng: Rng) -> Drawn:
    data = _shapes()
    numbers = rng.choice(len(data.images), size=5, replace=False)
    learner = str(rng.choice((*_ONLINE, *_CONVEX)))
    estimator = ImageSegmenter(
        learner, scales=(1, 2)[: int(rng.integers(1, 3))], max_iter=2,
        superpixels=int(rng.choice((0, 0, 20))), random_state=int(rng.integers(1000)),
    )  # fmt: skip
    return Drawn(estimator, [(data.images[i], data.masks[i]) for i in numbers])


IMAGES = [
    Subject(
        "images",
        _draw_images,
        lambda rng, n: [_shapes().images[int(i)] for i in rng.integers(40, size=n)],
        ("predict", "explain"),
    )
]


def _draw_pipeline(rng: Rng) -> Drawn:
    from tests.tasks.pipeline.small_treebank import treebank

    short = {"max_iter": 1, "n_models": 1}
    words = {"learner": str(rng.choice(("perceptron", "crf"))), **short}
    parser = {"hash_bits": 10, "order": int(rng.integers(1, 3)), "lemmas": bool(rng.integers(2)),
              "most_heads": int(rng.choice((2, 10))), **short}  # fmt: skip
    estimator = Pipeline(
        tokeniser=short, splitter=short, tags=words, lemmas=words, parser=parser, folds=2,
        random_state=int(rng.integers(1000)),
    )  # fmt: skip
    return Drawn(estimator, treebank(int(rng.integers(6, 12)), random_state=int(rng.integers(50))))


PIPELINES = {
    "pipeline": Subject("pipeline", _draw_pipeline, _word_inputs, ("predict", "kbest", "annotate"))
}


def _estimator_subject(name: str, estimator: Any, data: Callable[[], Any]) -> Subject:
    """Return a case of the tests' estimators; its inputs are examples of its data."""
    X, y = data()

    def draw(rng: Rng) -> Drawn:
        order = rng.permutation(len(X) if isinstance(X, list) else X.shape[0])
        return Drawn(clone(estimator), _rows(X, order), _rows(y, order))

    def inputs(rng: Rng, n: int) -> Any:
        return _rows(X, rng.integers(len(X) if isinstance(X, list) else X.shape[0], size=n))

    several = isinstance(estimator, MultiLabelClassifier)
    queries = (
        ("predict", "proba") if several else ("predict", "kbest", "marginals", "entropy", "proba")
    )
    return Subject(name, draw, inputs, queries)


def _rows(values: Any, chosen: Any) -> Any:
    return [values[i] for i in chosen] if isinstance(values, list) else values[chosen]


@functools.cache
def _estimators() -> dict[str, Subject]:
    from tests.io.saved_cases import CASES

    return {
        f"estimator, {name}": _estimator_subject(f"estimator, {name}", estimator, data)
        for name, (estimator, data) in CASES.items()
    }


#: Array estimators with every structure, input, cost and constraint.
ESTIMATORS: Mapping[str, Subject] = _estimators()
#: Tasks over text.
TEXT_TASKS = {s.name: s for s in (*TAGGERS, *SEGMENTS, *PARSERS, *CONSTITUENTS)}
#: All tasks but pipelines.
TASKS = {**TEXT_TASKS, **{s.name: s for s in IMAGES}}
