"""What is asked of a model has one name and one signature, for estimators, tasks and pipelines."""

import inspect
import io
import warnings

import numpy as np
import pytest

import structlearn.estimators
import structlearn.tasks
from structlearn.datasets import make_shapes, make_treebank
from structlearn.estimators import (
    CRF,
    HMM,
    AnnotatorModel,
    MultiLabelClassifier,
    PerToken,
    StructuredPerceptron,
)
from structlearn.structures import SemiMarkov
from structlearn.tasks import (
    ConstituencyParser,
    DependencyParser,
    ImageSegmenter,
    LatticeSegmenter,
    Pipeline,
    SegmentTagger,
    Tagger,
    WordSegmenter,
)


def classes(module):
    named = (getattr(module, name) for name in module.__all__)
    return [one for one in named if inspect.isclass(one)]


#: They answer other questions: what annotators are like, and tokens changed one by one.
OTHERS = (AnnotatorModel, PerToken)
ESTIMATORS = [kind for kind in classes(structlearn.estimators) if kind not in OTHERS]
ALL_TASKS = classes(structlearn.tasks)
TASKS = [kind for kind in ALL_TASKS if kind is not Pipeline]
PARSERS = [ConstituencyParser, DependencyParser]
READING = "**reading"

#: Of each method: parameters after self that must be there with these defaults, in this order where
#: they are positional; further ones are by keyword.
MODELS = {
    "predict_kbest": "X, n=5, *, **reading",
    "predict_marginals": "X, *, temperature=None",
    "predict_proba": "X, y=None, *, temperature=None",
    "sample": "X, n=1, *, random_state=None, temperature=None, **reading",
    "entropy": "X, *, temperature=None, **reading",
    "log_loss": "X, y, *, temperature=None, **reading",
    "confidence": "X, **reading",
    "calibrate": "X, y=None, **reading",
    "calibration": "X, y=None, **reading",
    "top_features": "label=None, n=10, *, in_words=False, as_frame=False",
    "transitions": "*, as_frame=False",
    "explain": "X, *, in_words=False, as_frame=False",
    "predict_single": "x, **reading",
}
OF_TASKS = {
    "fit": "X, y=None, *, dev=None, sample_weight=None",
    "score": "X, y=None",
    "label_file": "source, output, *, progress=None",
    "evaluate": "X, y=None",
    "report": "X, y=None",
    "save": "path, precision=None",
}
OF_TEXT = {
    "label_file": "source, output, *, format=None, confidence=False, progress=None, notice=None",
    "evaluate": "X, y=None, *, format=None",
    "report": "X, y=None, *, format=None",
}
OF_TREES = {
    "predict": "X, *, gold_tags=None, confidence=False",
    "label_file": "source, output, *, gold_tags=None",
    "evaluate": "X, y=None, *, gold_tags=None",
    "report": "X, y=None, *, gold_tags=None",
    "draw": "X, sentence=0, *, gold=False, gold_tags=None",
}
OF_ESTIMATORS = {
    "fit": "X, y, sample_weight=None",
    "predict": "X",
    "score": "X, y, sample_weight=None",
    "save": "path",
}
OF_PIPELINES = {
    "fit": "X, y=None, *, dev=None",
    "predict": "X",
    "predict_kbest": "X, n=5",
    "score": "X, y=None",
    "label_file": "source, output, *, confidence=False, progress=None",
    "evaluate": "X",
    "save": "path, precision=None",
}
ATTRIBUTES = ("calibrated_", "calibration_", "temperature_", "n_threads")
#: Parameters of classes -> the default that all who have them share.
PARAMETERS = {"n_jobs": None, "verbose": 0, "checkpoint": None, "folds": 5, "gold_tags": False}
#: Names that were used for one of these, or for something else.
GONE = {
    "methods": ("calibrated", "label_files", "decisions", "inspection", "sums", "certainty"),
    "parameters": ("probabilities", "dev_set", "threads", "seed", "max_sentence_length"),
}
TABLE = [
    *(
        (kind, method, wanted)
        for kind in [*ESTIMATORS, *TASKS]
        for method, wanted in MODELS.items()
    ),
    *((kind, method, wanted) for kind in TASKS for method, wanted in OF_TASKS.items()),
    *(
        (kind, method, wanted)
        for kind in TASKS
        if kind is not ImageSegmenter
        for method, wanted in OF_TEXT.items()
        # Their files are running text.
        if kind not in (LatticeSegmenter, WordSegmenter) or method != "label_file"
    ),
    *((kind, method, wanted) for kind in PARSERS for method, wanted in OF_TREES.items()),
    *((kind, method, wanted) for kind in ESTIMATORS for method, wanted in OF_ESTIMATORS.items()),
    *((Pipeline, method, wanted) for method, wanted in OF_PIPELINES.items()),
]


@pytest.mark.parametrize(
    ("kind", "method", "wanted"), TABLE, ids=[f"{k.__name__}.{m}" for k, m, _ in TABLE]
)
def test_signatures(kind, method, wanted):
    given = list(inspect.signature(getattr(kind, method)).parameters.values())[1:]
    by_name = {p.name: p for p in given}
    positional = [p.name for p in given if p.kind is p.POSITIONAL_OR_KEYWORD]
    star, expected = False, []
    for entry in wanted.split(", "):
        name, _, default = entry.partition("=")
        if entry in ("*", READING):
            star = True
            continue  # a class may name what it reads instead
        if not star:
            expected.append(name)
        assert name in by_name, name
        assert by_name[name].default is (eval(default) if default else inspect.Parameter.empty)
        assert (by_name[name].kind is inspect.Parameter.KEYWORD_ONLY) == star, name
    assert positional == expected  # what else there is comes by keyword
    assert not set(by_name) & set(GONE["parameters"])


@pytest.mark.parametrize("kind", [*ESTIMATORS, *ALL_TASKS])
def test_names(kind):
    assert not [name for name in GONE["methods"] if hasattr(kind, name)]
    wanted = ("calibrated_", "n_threads") if kind is Pipeline else ATTRIBUTES
    assert [name for name in wanted if not hasattr(kind, name)] == []
    parameters = inspect.signature(kind).parameters
    for name, default in PARAMETERS.items():
        if name in parameters:
            assert parameters[name].default is default or parameters[name].default == default, name
    assert not set(parameters) & set(GONE["parameters"])
    assert ("gold_tags" in parameters) == (kind in PARSERS)
    assert ("n_jobs" in parameters) == (kind is not MultiLabelClassifier)  # its learner has it


def test_length_is_that_of_segments():
    """``max_length`` is how many positions a segment may have; sentences have ``max_words``."""
    kinds = [*ESTIMATORS, *ALL_TASKS]
    assert [k for k in kinds if "max_length" in inspect.signature(k).parameters] == [SegmentTagger]
    assert "max_length" in inspect.signature(SemiMarkov).parameters
    assert "max_words" in inspect.signature(ConstituencyParser).parameters


def test_order_is_how_far_scores_reach():
    """Labels before a label, and arcs above or beside an arc: 1 is the least that looks beyond."""
    having = {
        kind for kind in [*ESTIMATORS, *ALL_TASKS] if "order" in inspect.signature(kind).parameters
    }
    assert having == {HMM, Tagger, DependencyParser}
    for kind, wrong in ((HMM, 0), (DependencyParser, 0), (Tagger, -1)):
        for order in (wrong, 1.5, True):
            with pytest.raises(ValueError, match="order"):
                kind(order=order).fit([[("a", "X", 0, "root")]], [["X"]])


BANK = make_treebank(60, random_state=0)
SMALL = {"max_iter": 1}


def fitted():
    rows = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
    tags = [[row[:2] for row in s] for s in rows]
    chunks = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]
    words = [[[w] for w in s.words] for s in BANK]
    one = {"n_models": 1, **SMALL}
    parser = {"gold_tags": True, "hash_bits": 12, **SMALL}
    shapes = make_shapes(2, size=16, n_classes=2, random_state=0)
    X = np.random.default_rng(0).normal(size=(30, 3))
    bare = [list(s.words) for s in BANK[:3]]
    yield Tagger("pos", **one).fit(tags), bare
    yield Tagger(learner="hmm").fit(tags), bare
    yield SegmentTagger(**one).fit(chunks), [[row[:2] for row in s] for s in chunks[:3]]
    yield DependencyParser(**parser).fit(rows), rows[:3]
    yield (
        ConstituencyParser(gold_tags=True, **SMALL).fit([s.brackets for s in BANK]),
        [list(zip(s.words, s.tags, strict=True)) for s in BANK[:3]],
    )
    yield StructuredPerceptron(**SMALL).fit(words, [s.tags for s in BANK]), words[:3]
    yield CRF(max_iter=5).fit(words, [s.tags for s in BANK]), words[:3]
    yield HMM().fit([s.words for s in BANK], [s.tags for s in BANK]), bare
    yield MultiLabelClassifier().fit(X, (X > 0).astype(int)), X[:3]
    yield ImageSegmenter(scales=(1,), **SMALL).fit(shapes.images, shapes.masks), shapes.images[:1]


@pytest.mark.filterwarnings("ignore")
def test_types_of_answers():
    """Numbers are Python's own, the same seed gives the same draws, and every ``n_jobs`` works."""
    for model, X in fitted():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(model, ImageSegmenter):
                assert [type(y) for y in model.predict(X)] == [np.ndarray]
                continue
            entropy, confidence = model.entropy(X), model.confidence(X)
            assert type(entropy) is type(confidence) is list
            assert {type(h) for h in entropy} == {float}
            assert {type(p) for row in confidence for p in row} == {float}
            assert len(entropy) == len(confidence) == len(X)
            assert type(model.log_loss(X, model.predict(X))) is float
            draws = [model.sample(X, 2, random_state=k) for k in (3, 3, 4)]
            assert repr(draws[0]) == repr(draws[1])
            assert [len(rows) for rows in draws[0]] == [2] * len(X)
            with pytest.raises(ValueError, match="random_state"):
                model.sample(X, random_state=-1)
        ranked = model.predict_kbest(X, 2)
        assert all(type(score) is float for row in ranked for score, _ in row)
        assert type(model.calibrated_) is bool
        if hasattr(model, "n_jobs"):
            for n_jobs in (None, 1, 2, -1):
                assert repr(model.set_params(n_jobs=n_jobs).predict_kbest(X, 2)) == repr(ranked)
            with pytest.raises(ValueError, match="n_jobs"):
                model.set_params(n_jobs=0).predict_kbest(X, 2)


def test_readings_belong_to_their_tasks():
    models = [
        (model, X) for model, X in fitted() if not isinstance(model, (*PARSERS, ImageSegmenter))
    ]
    for model, X in models:
        with pytest.raises(TypeError, match="gold_tags"):
            model.predict(X, gold_tags=True)
    assert len(models) == 7


def test_a_file_is_labelled_into_anything(tmp_path):
    """A path, or a file that is open; both get the same bytes."""
    (tmp_path / "x.txt").write_text("Fish sleep .\n")
    tagger = Tagger("pos", n_models=1, **SMALL).fit(
        [list(zip(s.words, s.tags, strict=True)) for s in BANK]
    )
    parser = ConstituencyParser(**SMALL).fit([s.brackets for s in BANK])
    for task in (tagger, parser):
        out = io.BytesIO()
        n = task.label_file(tmp_path / "x.txt", out, format="text")
        assert n == task.label_file(tmp_path / "x.txt", tmp_path / "out", format="text") == 3
        assert out.getvalue() == (tmp_path / "out").read_bytes() != b""
