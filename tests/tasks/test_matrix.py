"""Every task with every learner it has: files, threads, a killed training, weights of examples."""

import functools
import multiprocessing
import os
import signal
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import structlearn
from structlearn.datasets import make_shapes, make_treebank
from structlearn.exceptions import FileError
from structlearn.fitting import checkpoint
from structlearn.tasks import (
    ConstituencyParser,
    DependencyParser,
    ImageSegmenter,
    SegmentTagger,
    Tagger,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::structlearn.exceptions.InexactInferenceWarning",
    "ignore::structlearn.exceptions.ConvergenceWarning",
)

BANK = make_treebank(30, random_state=0)
SHAPES = make_shapes(5, size=(16, 20), n_classes=2, n_shapes=6, noise=0.2, random_state=0)
DISCRIMINATIVE = ("perceptron", "svm", "crf", "passive-aggressive", "adagrad", "arow")
CONVEX = ("svm", "crf")
COUNTED = ("hmm", "pcfg")


@dataclass
class Task:
    """A task, a handful of examples for it, and what keeps it small.

    Attributes
    ----------
    convex : dict
        Parameters that make the objective a function of the examples and their weights alone, so
        that optima can be compared: nothing is pruned or cut by counts.
    """

    kind: Any
    examples: list[Any]
    inputs: list[Any]
    options: dict[str, Any] = field(default_factory=dict)
    convex: dict[str, Any] = field(default_factory=dict)
    learners: tuple[str, ...] = DISCRIMINATIVE

    def make(self, learner, **more):
        options = {} if learner in COUNTED else {"max_iter": 3, **self.options}
        return self.kind(learner=learner, **{**options, **more})

    def fit(self, learner, n=None, **more):
        """Return it trained on the first n examples."""
        return self.make(learner, **more).fit(self.examples[:n])

    def answers(self, model):
        """Return its predictions as what can be compared."""
        return [np.asarray(y).tolist() if self.kind is ImageSegmenter else y
                for y in model.predict(self.inputs)]  # fmt: skip


WORDS = [s.words for s in BANK]
TASKS = {
    "tagger": Task(
        Tagger,
        [list(zip(s.words, s.tags, strict=True)) for s in BANK],
        WORDS,
        {"n_models": 1},
        {"C": 0.01},
        learners=(*DISCRIMINATIVE, "hmm"),
    ),
    "segments": Task(
        SegmentTagger,
        [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK],
        [list(zip(s.words, s.tags, strict=True)) for s in BANK],
        {"n_models": 1},
        {"C": 0.01},
    ),
    "parser": Task(
        DependencyParser,
        [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK],
        [list(zip(s.words, s.tags, strict=True)) for s in BANK],
        {"order": 1, "gold_tags": True, "hash_bits": 12},
        {"most_heads": 100, "least_share": 1e-300, "C": 0.02, "hash_bits": 10},
    ),
    "parser of pairs": Task(  # as it is by default
        DependencyParser,
        [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK],
        [list(zip(s.words, s.tags, strict=True)) for s in BANK],
        {"gold_tags": True, "hash_bits": 12},
        learners=("passive-aggressive",),
    ),
    "parser of projective pairs": Task(
        DependencyParser,
        [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK],
        [list(zip(s.words, s.tags, strict=True)) for s in BANK],
        {"projective": True, "gold_tags": True, "hash_bits": 12},
        {"most_heads": 100, "least_share": 1e-300, "C": 0.02, "hash_bits": 10},
        learners=("crf",),
    ),
    "constituency": Task(
        ConstituencyParser,
        [s.brackets for s in BANK],
        WORDS,
        {"gold_tags": False, "folds": 2},
        {"min_count": 1, "gold_tags": True, "C": 0.02},
        learners=(*DISCRIMINATIVE, "pcfg"),
    ),
    "segmenter": Task(
        ImageSegmenter,
        list(zip(SHAPES.images, SHAPES.masks, strict=True)),
        list(SHAPES.images),
        {"scales": (1,)},
        {"C": 100.0},  # without it the weights are divided by their sum
    ),
}
MATRIX = [(task, learner) for task, it in TASKS.items() for learner in it.learners]
every = pytest.mark.parametrize(("task", "learner"), MATRIX)


def stored(estimator, path):
    """Return the bytes of its model file."""
    estimator.save(path)
    return path.read_bytes()


@functools.cache
def trained(task, learner, **options):
    """Return the task, trained on all examples without a break, on one thread."""
    return TASKS[task].fit(learner, **options)


@every
def test_files_and_threads(task, learner, tmp_path):
    """One thread and two give the same file, and the file the same answers."""
    it, one = TASKS[task], trained(task, learner)
    two = it.make(learner, n_jobs=2).fit(it.examples)
    assert stored(one, tmp_path / "one") == stored(two, tmp_path / "two")
    again = structlearn.load(tmp_path / "one")
    assert type(again) is it.kind
    assert again.get_params()["learner"] == learner
    assert again.get_params()["max_iter"] == one.max_iter
    found = it.answers(again)
    assert found == it.answers(one)
    assert len(found) == len(it.inputs)


def killed_training(task, learner, path):
    """Train, and end this process by SIGKILL after the second pass."""
    checkpoint.EVERY, checkpoint.SHARE = 0.0, 1e9  # a checkpoint at every pass

    def kill(record):
        if record["iteration"] == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    it = TASKS[task]
    it.make(learner, checkpoint=path, callbacks=kill).fit(it.examples)


ITERATIVE = [(task, learner) for task, learner in MATRIX if learner not in COUNTED]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")
@pytest.mark.parametrize(("task", "learner"), ITERATIVE)
def test_a_killed_training_goes_on_to_the_same_file(task, learner, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 1e9)
    path = tmp_path / "checkpoint"
    context = multiprocessing.get_context("forkserver")  # one import for all of them
    context.set_forkserver_preload([__name__])
    process = context.Process(target=killed_training, args=(task, learner, path))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert path.exists()
    it, seen = TASKS[task], []
    with pytest.raises(FileError, match="another training"):
        it.make(learner, checkpoint=path).fit(it.examples[:-1])
    resumed = it.make(learner, checkpoint=path, callbacks=lambda r: seen.append(r["iteration"]))
    resumed.fit(it.examples)
    assert min(seen, default=9) > 1  # the first pass was not done again
    assert not path.exists()
    assert len(resumed.history_) == len(trained(task, learner).history_)
    assert stored(resumed, tmp_path / "a") == stored(trained(task, learner), tmp_path / "b")


@every
def test_weights_of_examples(task, learner, tmp_path):
    """Weights of 1 change no bit, others do; bad ones are refused and leave no model."""
    it, plain = TASKS[task], stored(trained(task, learner), tmp_path / "plain")
    ones = it.make(learner).fit(it.examples, sample_weight=np.ones(len(it.examples)))
    assert stored(ones, tmp_path / "ones") == plain
    weight = np.ones(len(it.examples))
    weight[::2] = 1e-3  # so little that it bounds passive-aggressive steps too
    other = it.make(learner).fit(it.examples, sample_weight=weight)
    assert stored(other, tmp_path / "other") != plain
    for bad in (weight[:-1], -weight, np.nan * weight, 0 * weight):
        fresh = it.make(learner)
        with pytest.raises(ValueError, match=r"sample_weight|weight above 0"):
            fresh.fit(it.examples, sample_weight=bad)
        assert not hasattr(fresh, "model_")


@pytest.mark.parametrize(
    ("task", "learner"), [(task, learner) for task, learner in MATRIX if learner in CONVEX]
)
def test_a_weight_of_two_is_the_example_twice(task, learner):
    """At the optimum of a convex objective, where repetition changes nothing else."""
    it = TASKS[task]
    copies = [example for example in it.examples[:3] for _ in range(2)]
    options = {**it.convex, "tol": 1e-3, "max_iter": 3000}
    bounds = []  # of the optimum: the objective reached, and that less the proven gap
    for weight in (np.ones(6), np.tile([2.0, 0.0], 3), np.tile([1.0, 0.0], 3)):
        last = it.make(learner, **options).fit(copies, sample_weight=weight).history_[-1]
        assert 0 <= last["gap"] <= 1e-3 * last["objective"]
        bounds.append((last["objective"] - last["gap"], last["objective"]))
    twice, heavy, plain = bounds
    assert max(twice[0], heavy[0]) <= min(twice[1], heavy[1]) * (1 + 1e-12)
    assert twice[0] > plain[1]


@pytest.mark.parametrize(("task", "learner"), ITERATIVE)
def test_callbacks_see_and_end_a_training(task, learner):
    seen = []

    def stop(record):
        assert isinstance(record["weights"](), np.ndarray)
        seen.append((record["iteration"], len(record["weights"]())))
        return record["iteration"] == 2

    it = TASKS[task]
    found = it.make(learner, callbacks=stop).fit(it.examples)
    assert [iteration for iteration, _ in seen] == [1, 2]
    assert seen[0][1] == seen[1][1] > 0
    assert len(found.history_) == 2


@pytest.mark.parametrize(("task", "learner"), ITERATIVE)
def test_no_later_iteration_changes_the_weights_of_a_callback(task, learner):
    """A dev set keeps the best of them without a copy."""
    given, then = [], []

    def keep(record):
        given.append(record["weights"]())
        then.append(given[-1].copy())

    it = TASKS[task]
    it.make(learner, callbacks=keep).fit(it.examples)
    assert len(given) > 1
    for weights, before in zip(given, then, strict=True):
        np.testing.assert_array_equal(weights, before)


SHARED = {"callbacks": print, "checkpoint": "x", "n_models": 2, "min_count": 3, "C": 2.0}
IGNORED = {
    ("tagger", "hmm"): {**SHARED, "class_weight": "balanced", "features": "pos"},
    ("constituency", "pcfg"): {**SHARED, "folds": 3, "max_words": 7},
}


@pytest.mark.parametrize(
    ("task", "learner", "name"), [(*key, name) for key, it in IGNORED.items() for name in it]
)
def test_what_counting_would_ignore_is_refused(task, learner, name):
    it = TASKS[task]
    made = it.make(learner, **{name: IGNORED[task, learner][name]})
    with pytest.raises(ValueError, match=rf"\b{name}\b.*") as error:
        made.fit(it.examples)
    assert learner in str(error.value)
    assert not hasattr(made, "model_")


def test_class_weights_count_in_a_grammar():
    """They weigh the trees that are counted."""
    it, plain = TASKS["constituency"], trained("constituency", "pcfg")
    weighted = it.make("pcfg", class_weight="balanced").fit(it.examples)
    assert not np.array_equal(weighted.model_.grammar.scores, plain.model_.grammar.scores)
