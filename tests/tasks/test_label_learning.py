"""Taggers of tokens and of segments by every learner, with a dev set and several models.

Their objectives are those of the estimators on the same features.
"""

import warnings

import numpy as np
import pytest

from structlearn import CRF, StructuredSVM, _core
from structlearn.exceptions import ConvergenceWarning, FileError
from structlearn.fitting.learner_registry import LEARNERS, learner_facts
from structlearn.learners import Training
from structlearn.metrics.segments import to_segments
from structlearn.structures import SemiMarkov
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.text import Corpus, FeatureTemplates
from tests.tasks.tagging.tagger_data import TEMPLATES, chunked, feature_lists, labels_of, tagged

SEGMENTS = "begin(lower(word))\nend(pos)\ninside(pos)\nwhole(pos)\nlength\nbefore(pos)\nafter(pos)"
CONVEX = ("svm", "crf")


def tokens(learner, **options):
    return Tagger(FeatureTemplates.parse(TEMPLATES), learner, **{"max_iter": 3, **options})


def segments(learner, **options):
    return SegmentTagger(FeatureTemplates.parse(SEGMENTS), learner, **{"max_iter": 3, **options})


#: What makes a tagger, and sentences to learn from and to be judged by.
TASKS = {
    "tokens": (tokens, tagged(60), tagged(20, 1)),
    "segments": (segments, chunked(60), chunked(20, 1)),
}
EVERY = [(task, learner) for task in TASKS for learner in LEARNERS]


def arrays(tagger):
    return {name: bytes(memoryview(x).cast("B")) for name, x in tagger.model_.arrays.items()}


def quietly(tagger, *data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return tagger.fit(*data, **more)


# -- with a dev set, which test_matrix does without ----------------------------------------------


@pytest.mark.parametrize(("task", "learner"), EVERY)
def test_threads_and_files(task, learner, tmp_path):
    """The same bytes for one thread and two, again and from a file."""
    make, train, test = TASKS[task]
    files = []
    for n_jobs in (1, 2):
        tagger = make(learner, n_jobs=n_jobs, n_models=2).fit(train, dev=test)
        files.append(tmp_path / str(n_jobs))
        tagger.save(files[-1])
        assert tagger.model_.temperature > 0
        assert tagger.score(test) > 0.7
    assert files[0].read_bytes() == files[1].read_bytes()
    again = type(tagger).load(files[0])
    assert again.predict(test) == tagger.predict(test)
    kept = {k: v for k, v in tagger.get_params().items() if k not in ("features", "n_jobs")}
    loaded = again.get_params()
    assert {name: loaded[name] for name in kept if name != "target"} == {
        name: value for name, value in kept.items() if name != "target"
    }


@pytest.mark.parametrize(("task", "learner"), EVERY)
def test_a_run_that_ended_goes_on_to_the_same_bits(task, learner, tmp_path, monkeypatch):
    monkeypatch.setattr("structlearn.fitting.checkpoint.EVERY", 0.0)
    make, train, test = TASKS[task]
    path = tmp_path / "checkpoint"

    def end(record):
        if record["iteration"] == 3:
            raise KeyboardInterrupt

    whole = make(learner, max_iter=4).fit(train, dev=test)
    with pytest.raises(KeyboardInterrupt):
        make(learner, max_iter=4, checkpoint=path, callbacks=end).fit(train, dev=test)
    assert path.exists()
    with pytest.raises(FileError, match="another training"):
        make(learner, max_iter=4, checkpoint=path).fit(train[:-1], dev=test)
    resumed = make(learner, max_iter=4, checkpoint=path, n_jobs=2).fit(train, dev=test)
    assert not path.exists()
    assert arrays(resumed) == arrays(whole)
    assert resumed.model_.temperature == whole.model_.temperature
    assert len(resumed.history_) == len(whole.history_)


@pytest.mark.parametrize("task", TASKS)
def test_class_weights(task):
    make, train, _ = TASKS[task]
    tagger = make("crf").fit(train)
    label = tagger.model_.labels[1]
    same = make("crf", class_weight=dict.fromkeys(tagger.model_.labels, 1.0)).fit(train)
    assert arrays(same) == arrays(tagger)
    for chosen in ("balanced", {label: 5.0}):
        assert arrays(make("crf", class_weight=chosen).fit(train)) != arrays(tagger)
    with pytest.raises(ValueError, match="which are not classes"):
        make("crf", class_weight={"nothing": 1.0}).fit(train)


# -- the objectives are the estimators' -----------------------------------------------------------


def segment_lists(tagger, sentences):
    """Names of the features of all segments, none beyond the end, and the gold segments."""
    corpus, width = Corpus.from_sentences(sentences), tagger.model_.max_length
    features = tagger.model_.templates.compile("columns", 3)
    extractor = _core.Extractor(features, corpus.core, True)
    X, y = [], []
    for s, sentence in enumerate(sentences):
        n = len(sentence)
        spans = [(b, b + d) for b in range(n) for d in range(1, width + 1)]
        rows = [[f for f, _ in extractor.named(s, b, e)] if e <= n else [] for b, e in spans]
        X.append({"segment": rows})
        y.append(to_segments([token[-1] for token in sentence])[0])
    return X, y


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    ("learner", "estimator", "options"),
    [
        ("svm", StructuredSVM, {}),
        ("crf", CRF, {}),
        ("crf", CRF, {"margin": 1.0}),
        ("crf", CRF, {"temperature": 0.5}),
        ("crf", CRF, {"l1": 0.3}),
    ],
    ids=["svm", "crf", "softmax-margin", "half temperature", "l1"],
)
def test_objectives_are_those_of_the_estimators(task, learner, estimator, options):
    make, train, _ = TASKS[task]
    train = train[:25]
    options = {"C": 0.4, "tol": 1e-4, "max_iter": 2000, **options}
    tagger = make(learner, **options).fit(train)
    if task == "tokens":
        model = estimator(**options)
        X, y = feature_lists(train), labels_of(train)
    else:
        X, y = segment_lists(tagger, train)
        width = tagger.model_.max_length
        forbidden = {"segment": [(d, "O") for d in range(2, width + 1)]}
        model = estimator(SemiMarkov(width), forbid=forbidden, **options)
    model.fit(X, y)
    record = tagger.model_.training
    assert record["objective"] == pytest.approx(model.objective_, rel=3e-4)
    if not options.get("l1"):
        assert record["gap"] <= 1e-4 * record["objective"]
        assert record["objective"] - record["gap"] <= model.objective_
        assert model.objective_ - model.duality_gap_ <= record["objective"]


# -- parameters -----------------------------------------------------------------------------------


class Steepest:
    """A learner of one's own: a few steps of gradient descent."""

    def run(self, problem, settings, progress, *, start=None, n_jobs=None):
        w = np.zeros(problem.n_weights)
        for k in range(1, settings.max_iter + 1):
            goal = {"C": settings.C, "margin": settings.margin}
            value, gradient = problem.objective(w, temperature=settings.temperature, **goal)
            w = w - 0.01 * gradient
            if progress.report(w.copy, iteration=k, objective=value):
                break
        return Training(w)


@pytest.mark.parametrize("task", TASKS)
def test_a_learner_of_ones_own(task):
    make, train, test = TASKS[task]
    seen = []
    tagger = make("crf", solver=Steepest(), max_iter=20, callbacks=seen.append).fit(train)
    assert tagger.score(test) > 0.5
    assert [record["iteration"] for record in seen] == list(range(1, 21))
    objectives = [record["objective"] for record in tagger.history_]
    assert objectives == sorted(objectives, reverse=True)
    assert tagger.model_.training["learner_parameters"]["solver"] == "Steepest"


@pytest.mark.parametrize("task", TASKS)
def test_parameters_of_other_learners_are_refused(task):
    make, train, _ = TASKS[task]
    for learner, options in {
        "perceptron": {"C": 1.0},
        "svm": {"margin": 2.0},
        "arow": {"tol": 0.1},
        "crf": {"eta0": 1.0},
        "adagrad": {"r": 1.0},
        "passive-aggressive": {"delta": 1.0},
    }.items():
        with pytest.raises(ValueError, match=f"{next(iter(options))} is a parameter of"):
            make(learner, **options).fit(train)


@pytest.mark.parametrize(("task", "learner"), EVERY)
def test_the_record_has_the_parameters_that_counted(task, learner):
    make, train, _ = TASKS[task]
    tagger = quietly(make(learner, max_iter=None), train[:10])
    record = tagger.model_.training
    passes = {"svm": 100, "crf": 100, "adagrad": 20}.get(learner, 10)
    assert record["learner_parameters"]["max_iter"] == passes
    told = dict(learner_facts(record))["parameters"]
    assert f"max_iter {passes}" in told
    assert ("(estimator's default: 1000)" in told) == (learner in CONVEX)


@pytest.mark.parametrize("task", TASKS)
def test_the_best_labellings(task):
    make, train, test = TASKS[task]
    tagger = make("crf").fit(train)
    for best, ranked in zip(tagger.predict(test), tagger.predict_kbest(test, n=4), strict=True):
        assert ranked[0][1] == best
        assert [s for s, _ in ranked] == sorted((s for s, _ in ranked), reverse=True)
        assert len({tuple(labels) for _, labels in ranked}) == len(ranked) <= 4
