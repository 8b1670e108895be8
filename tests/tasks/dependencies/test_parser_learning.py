"""Learners of a dependency parser: threads at order 2, weights, parameters, tags."""

import itertools
import warnings
from collections import Counter

import numpy as np
import pytest

from structlearn.datasets import make_treebank
from structlearn.exceptions import CapabilityError, ConvergenceWarning
from structlearn.fitting.jackknife import jackknifed
from structlearn.fitting.learner_registry import LEARNERS
from structlearn.fitting.parts import LocalParts
from structlearn.fitting.split_corpus import SplitCorpus, joined
from structlearn.tasks import DependencyParser
from structlearn.tasks.dependencies.model import _OPTIONS, ParserModel
from structlearn.tasks.dependencies.tags import column_tags, make_tagger, predicted_tags
from structlearn.text import Corpus
from structlearn.text.dependency_treebank import read_treebank

TREES = [
    list(zip(s.words, s.tags, s.heads, s.deprels, strict=True))
    for s in make_treebank(80, random_state=0)
]
TRAIN, TEST = TREES[:60], TREES[60:]
SMALL = {"gold_tags": True, "hash_bits": 12, "max_iter": 3}


def made(learner, order=1, **options):
    return DependencyParser(order, learner, **{**SMALL, **options})


def weights(parser):
    return np.frombuffer(parser.model_.arrays["weights"], np.float32)


def test_threads_at_order_two(tmp_path):
    """The same bits for one thread and two, with the exact search for projective trees."""
    for n_jobs in (1, 2):
        made("svm", 2, n_jobs=n_jobs, projective=True).fit(TRAIN).save(tmp_path / str(n_jobs))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_a_look_at_the_dev_set_copies_no_table():
    """A model with lent tables reads them where they are, and parses as one of its own does."""
    model = made("perceptron").fit(TRAIN).model_
    arrays = {name: np.frombuffer(table, np.uint32).copy() for name, table in model.arrays.items()}
    options = {name: getattr(model, name) for name in _OPTIONS}
    lent = ParserModel(model.labels, arrays, lent=True, **options)
    corpus = read_treebank(TEST)
    best = lent.inputs(corpus, column_tags()).solve().outputs
    assert best == model.inputs(corpus, column_tags()).solve().outputs
    del arrays["pruner"]  # the model keeps it
    arrays["weights"][:] = 0
    assert not np.frombuffer(lent.arrays["weights"], np.uint32).any()
    assert lent.inputs(corpus, column_tags()).solve().outputs != best
    with pytest.raises(ValueError, match="power of two"):
        ParserModel(model.labels, {**model.arrays, "weights": bytes(100)}, lent=True, **options)


@pytest.mark.parametrize("learner", LEARNERS)
def test_weights_of_sentences(learner):
    """Weight 1 changes nothing, another one something, and weight 0 is as if not there."""
    w = np.ones(len(TRAIN))
    plain = made(learner).fit(TRAIN)
    ones = made(learner).fit(TRAIN, sample_weight=w)
    np.testing.assert_array_equal(weights(plain), weights(ones))
    w[::2] = 0.25
    other = made(learner).fit(TRAIN, sample_weight=w)
    assert not np.array_equal(weights(plain), weights(other))
    # Nothing is pruned, so that the arcs are the same; the relations are, in the same order.
    options = {"shuffle": False, "average": False, "most_heads": 100, "least_share": 1e-300}
    trees = TRAIN[:10]
    if learner in ("svm", "crf"):
        options |= {"tol": 1e-4, "max_iter": 500, "hash_bits": 10, "C": 0.02}
    left_out = made(learner, **options).fit(trees)
    zero = made(learner, **options).fit(trees + trees, sample_weight=np.repeat([1.0, 0.0], 10))
    assert zero.classes_ == left_out.classes_
    if learner in ("svm", "crf"):
        optima = [parser.history_[-1]["objective"] for parser in (left_out, zero)]
        assert optima[0] == pytest.approx(optima[1], rel=2e-4)
    else:
        np.testing.assert_array_equal(weights(zero), weights(left_out))


def test_parameters_of_other_learners_are_refused():
    for learner, options in [
        ("perceptron", {"C": 1.0}),
        ("svm", {"eta0": 0.1}),
        ("passive-aggressive", {"r": 1.0}),
        ("crf", {"delta": 0.1}),
        ("arow", {"temperature": 1.0}),
    ]:
        (name,) = options
        with pytest.raises(ValueError, match=f"{name} is a parameter of"):
            made(learner, **options).fit(TRAIN)
    with pytest.raises(ValueError, match="learner must be 'perceptron'"):
        made("hmm").fit(TRAIN)
    with pytest.raises(ValueError, match="eta0"):
        made("adagrad", eta0=0.0).fit(TRAIN)
    with pytest.raises(ValueError, match="C must be"):
        made("svm", C=-1.0).fit(TRAIN)
    for options in ({"learner": "crf"}, {"learner": "adagrad", "temperature": 1.0}):
        with pytest.raises(CapabilityError, match="needs order=1"):
            made(order=2, **options).fit(TRAIN)


def test_parameters_reach_the_learner():
    base = weights(made("adagrad").fit(TRAIN))
    for options in (
        {"eta0": 0.1},
        {"delta": 1.0},
        {"C": 10.0},
        {"margin": 0.5},
        {"temperature": 1.0},
        {"average": False},
        {"shuffle": False},
    ):
        assert not np.array_equal(weights(made("adagrad", **options).fit(TRAIN)), base), options
    steps = [weights(made("passive-aggressive", C=C, max_iter=1).fit(TRAIN)) for C in (1e-4, 1.0)]
    assert np.abs(steps[0]).max() < np.abs(steps[1]).max()


def test_convex_learners_warn_unless_they_converge():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made("adagrad", max_iter=None).fit(TRAIN[:20])  # nothing to converge to
        made("crf", max_iter=None).fit(TRAIN[:20])
    assert not [w for w in told if w.category is ConvergenceWarning]
    parser = made("crf", max_iter=None, tol=1e-3).fit(TRAIN[:20])
    last = parser.history_[-1]
    assert last["gap"] <= 1e-3 * last["objective"]


def test_crossing_arcs_have_no_projective_sum():
    """Their trees are none of those that the sum is over: such sentences are left out."""
    crossing = [("a", "A", 3, "x"), ("b", "B", 4, "x"), ("c", "C", 0, "root"), ("d", "D", 3, "x")]
    options = {"projective": True, "tol": 1e-6, "max_iter": 200}
    both = made("crf", **options).fit([*TRAIN[:10], crossing], sample_weight=np.ones(11))
    without = np.append(np.ones(10), 0.0)
    alone = made("crf", **options).fit([*TRAIN[:10], crossing], sample_weight=without)
    # The pruner learns from it, the parser does not: what is left to choose may differ.
    assert both.history_[0]["loss"] == pytest.approx(alone.history_[0]["loss"], rel=0.05)
    assert np.isfinite(weights(both)).all()


@pytest.mark.parametrize("cuts", [[0, 7], [0, 1, 7], [0, 3, 4, 7], [0, 2, 5, 6, 7]])
def test_folds_are_those_of_the_corpus_whatever_its_parts_are(cuts):
    words = [[f"w{i}"] for i in range(7)]
    items = [Corpus.from_sentences(words[a:b]) for a, b in itertools.pairwise(cuts)]
    seen = []

    def learn(rest):
        seen.append([row[0] for row in joined(rest.parts.each(Corpus.column, 0))])
        return set(seen[-1])

    def predict(model, corpus):
        found = [row[0] for row in corpus.column(0)]
        assert not model & set(found)
        return [(word, len(model)) for word in found]

    def jackknife(items, folds, learn=learn, predict=predict):
        parts = LocalParts(items, sources=items)
        made = jackknifed(parts, _itself, folds, learn, predict)
        return joined(found for _, found in made.each(_itself))

    found = jackknife(items, 3)
    assert [word for word, _ in found] == [f"w{i}" for i in range(7)]
    assert [n for _, n in found] == [5, 5, 5, 5, 4, 4, 4]
    assert sorted(w for rest in seen for w in rest) == sorted([f"w{i}" for i in range(7)] * 2)
    assert len(jackknife(items, 10)) == 7
    one = [Corpus.from_sentences(words[:1])]
    assert jackknife(one, 5, lambda rest: len(rest), lambda m, held: [(m, len(held))]) == [(1, 1)]


def _itself(item):
    return item


def test_tags_come_from_taggers_that_have_not_seen_them():
    corpus = SplitCorpus.of(read_treebank(TREES))

    def learn(part):
        return make_tagger(part, "upos", 1, 0, 1)

    def predict(model, part):
        return [tag for row in model.label_corpus(part) for tag in row]

    ((_, tags),) = jackknifed(corpus.parts, _itself, 4, learn, predict).each(_itself)
    held_out = range(20, 40)
    rest = [tree for i, tree in enumerate(TREES) if i not in held_out]
    tagger = make_tagger(read_treebank(rest), "upos", 1, 0, n_models=1)
    ((own, shown),) = predicted_tags([tagger], read_treebank(TREES[20:40]))
    first = sum(len(tree) for tree in TREES[:20])
    expected = [shown[k] for k in np.frombuffer(own, np.uint32)]
    assert tags[first : first + len(expected)] == expected
    right = Counter(a == b[1] for a, b in zip(tags, [t for s in TREES for t in s], strict=True))
    assert right[True] > 0.7 * len(tags)
