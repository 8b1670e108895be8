"""Training that goes on from an earlier model."""

import numpy as np
import pytest

from structlearn import StructuredPerceptron
from structlearn.structures import Chain
from structlearn.tasks import Tagger
from structlearn.text import FeatureTemplates
from tests.tasks.tagging.tagger_data import (
    TEMPLATES,
    chunked,
    feature_lists,
    labels_of,
    same_model,
    table_of,
    tagged,
    weights_by_name,
)


def templates(more=""):
    return FeatureTemplates.parse(TEMPLATES + more)


def last(**options):
    """A tagger whose weights are whole numbers: a file keeps them as they are."""
    options.setdefault("max_iter", 2)
    return Tagger(templates(), average=False, shuffle=False, **options)


def with_labels_of(sentences, others):
    """The sentences whose labels all occur in others."""
    known = {k for s in others for *_, k in s}
    return [s for s in sentences if {k for *_, k in s} <= known]


@pytest.fixture
def data():
    """Two sets of sentences with the same labels."""
    first = tagged(40)
    more = with_labels_of(tagged(40, seed=1), first)
    return with_labels_of(first, more), more


@pytest.mark.parametrize("order", [1, 2])
def test_goes_on_as_the_estimator_does(data, order):
    first, more = data
    # With a weight for every pair: a model forgets which of its weights are 0.
    before = last(order=order, all_possible_states=True).fit(first)
    tagger = last(order=order, all_possible_states=True).fit(more, start=before)
    estimator = StructuredPerceptron(
        Chain(order=order),
        average=False,
        shuffle=False,
        max_iter=2,
        warm_start=True,
        all_possible_states=True,
    )
    estimator.fit(feature_lists(first), labels_of(first))
    estimator.fit(feature_lists(more), labels_of(more))
    names, coef = estimator.feature_names_["label"], estimator.coef_
    expected = {
        (names[f], estimator.classes_[k]): coef["label"][k, f]
        for k, f in zip(*np.nonzero(coef["label"]), strict=True)
    }
    assert weights_by_name(tagger.model_) == expected
    np.testing.assert_array_equal(table_of(tagger.model_, "start"), coef["start"])
    np.testing.assert_array_equal(table_of(tagger.model_, f"transition{order}"), coef["transition"])


def test_passes_one_after_another_are_passes_at_once(data):
    """Two passes, and one more from there, end where three passes end."""
    first, _ = data
    whole = last(max_iter=3).fit(first)
    parts = last(max_iter=1).fit(first, start=last(max_iter=2).fit(first))
    assert weights_by_name(parts.model_) == weights_by_name(whole.model_)
    for table in ("start", "end", "transition1"):
        np.testing.assert_array_equal(table_of(parts.model_, table), table_of(whole.model_, table))


@pytest.mark.parametrize(
    "options",
    [
        {"order": 2},
        {"scheme": "bio"},
        {"scheme": "iobes"},
        {"hash_bits": 12},
        {"all_possible_states": True},
        {"min_count": 2},
    ],
)
def test_passes_one_after_another_with_options(options):
    sentences = chunked(30)
    whole = last(max_iter=3, **options).fit(sentences)
    parts = last(max_iter=1, **options).fit(
        sentences, start=last(max_iter=2, **options).fit(sentences)
    )
    assert parts.predict(sentences) == whole.predict(sentences)
    if not options.get("hash_bits"):
        assert weights_by_name(parts.model_) == weights_by_name(whole.model_)
    else:
        assert list(parts.model_.unpacked()[3]) == list(whole.model_.unpacked()[3])
    for table in ("start", "end", "transition1"):
        np.testing.assert_array_equal(table_of(parts.model_, table), table_of(whole.model_, table))


def test_features_of_label_pairs_cannot_go_on():
    sentences = tagged(10)
    pairs = templates("transition: word[0]\n")
    before = Tagger(pairs, max_iter=1).fit(sentences)
    with pytest.raises(ValueError, match="label pairs"):
        Tagger(pairs, max_iter=1).fit(sentences, start=before)


def test_old_features_stay_and_new_ones_come(data, tmp_path):
    first, more = data
    before = Tagger(templates(), max_iter=3).fit(first)
    after = Tagger(templates(), max_iter=3).fit(more, start=before)
    old = {name for name, _ in weights_by_name(before.model_)}
    new = {name for name, _ in weights_by_name(after.model_)}
    seen = {name for rows in feature_lists(more) for row in rows for name in row}
    gone = old - seen  # the new data does not have them: their weights are what they were
    assert gone
    ours, theirs = weights_by_name(before.model_), weights_by_name(after.model_)
    kept = {key: w for key, w in ours.items() if key[0] in gone}
    assert {key: theirs.get(key) for key in kept} == pytest.approx(kept)
    assert new - old
    assert after.score(more) > before.score(more)
    # From a file it is the same.
    before.save(tmp_path / "m")
    again = Tagger(templates(), max_iter=3).fit(more, start=Tagger.load(tmp_path / "m"))
    assert same_model(again.model_, after.model_)
    assert again.model_.feature_names() == after.model_.feature_names()


def test_a_crf_at_its_optimum_stays_there(data):
    first, _ = data
    before = Tagger(templates(), "crf").fit(first)
    after = Tagger(templates(), "crf").fit(first, start=before)
    assert len(after.history_) <= 3 < len(before.history_)
    assert after.history_[-1]["objective"] <= before.history_[-1]["objective"] * (1 + 1e-3)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({}, {"order": 2}),
        ({"order": 2}, {"order": 1}),
        ({}, {"hash_bits": 10}),
        ({"hash_bits": 10}, {}),
        ({"hash_bits": 10}, {"hash_bits": 12}),
        ({"learner": "hmm"}, {}),
    ],
)
def test_a_model_of_another_kind_is_refused(first, then):
    """Its weights would mean something else."""
    sentences = tagged(20)
    before = Tagger(max_iter=1, **first).fit(sentences)
    with pytest.raises(ValueError, match=r"order|hash|hmm|hidden"):
        Tagger(max_iter=1, **then).fit(sentences, start=before)


def test_hmm_cannot_go_on():
    sentences = tagged(20)
    before = Tagger("pos", max_iter=1).fit(sentences)
    with pytest.raises(ValueError, match="start"):
        Tagger(learner="hmm").fit(sentences, start=before)


def test_a_model_of_other_columns_is_refused():
    before = Tagger("chunk", max_iter=1).fit(chunked(20))
    with pytest.raises(ValueError, match="column"):
        Tagger("chunk", max_iter=1).fit(tagged(20), start=before)
