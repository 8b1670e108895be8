"""Taggers with a dev set: a score a pass, the best pass kept, probabilities calibrated."""

import math

import numpy as np
import pytest

from structlearn.fitting.dev_monitor import Watch
from structlearn.metrics import chunk_f1, token_accuracy
from structlearn.models.calibration import Calibration
from structlearn.structures import Chain
from structlearn.tasks import Tagger
from structlearn.text import FeatureTemplates
from tests.tasks.tagging.tagger_data import (
    TEMPLATES,
    chunked,
    feature_lists,
    labels_of,
    same_model,
    score_blocks,
    tagged,
)


def templates():
    return FeatureTemplates.parse(TEMPLATES)


@pytest.mark.parametrize("learner", ["perceptron", "arow"])
def test_each_pass_is_scored_as_a_run_of_so_many_passes_would_be(learner):
    """The passes of a run are what shorter runs end with, so these say what the scores are."""
    train, dev = chunked(40), chunked(20, seed=1)
    tagger = Tagger(templates(), learner, max_iter=6, patience=0).fit(train, dev=dev)
    runs = [Tagger(templates(), learner, max_iter=p).fit(train) for p in range(1, 7)]
    scores = [chunk_f1(labels_of(dev), run.predict(dev)) for run in runs]
    assert [record["dev_f1"] for record in tagger.history_] == pytest.approx(scores, abs=1e-12)
    assert [record["pass"] for record in tagger.history_] == [1, 2, 3, 4, 5, 6]
    best = int(np.argmax(scores))
    assert same_model(tagger.model_, runs[best].model_)
    assert tagger.model_.training["passes"] == best + 1
    assert tagger.evaluate(dev)["f1"] == max(scores)


def test_accuracy_decides_where_labels_are_no_chunks():
    train, dev = tagged(30), tagged(20, seed=1)
    tagger = Tagger(templates(), max_iter=4, patience=0).fit(train, dev=dev)
    best = max(record["dev_accuracy"] for record in tagger.history_)
    assert token_accuracy(labels_of(dev), tagger.predict(dev)) == best
    assert "dev_f1" not in tagger.history_[0]


def noisy(sentences, share, seed=0):
    """Sentences with some labels drawn at random: no learner gets them right."""
    rng = np.random.default_rng(seed)
    names = sorted({k for s in sentences for _, k in s})
    return [
        [(w, names[rng.integers(len(names))] if rng.random() < share else k) for w, k in s]
        for s in sentences
    ]


@pytest.mark.parametrize("patience", [1, 3])
def test_patience(patience):
    train, dev = noisy(tagged(60), 0.3), tagged(20, seed=1)
    tagger = Tagger(templates(), max_iter=60, patience=patience).fit(train, dev=dev)
    scores = [record["dev_accuracy"] for record in tagger.history_]
    best = int(np.argmax(scores))  # the first of the best
    assert len(scores) == best + 1 + patience < 60
    assert tagger.model_.training["passes"] == best + 1
    # At no earlier pass had it waited so long.
    for i in range(len(scores) - 1):
        assert i - int(np.argmax(scores[: i + 1])) < patience
    without = Tagger(templates(), max_iter=len(scores) + 2, patience=0).fit(train, dev=dev)
    assert len(without.history_) == len(scores) + 2
    assert [r["dev_accuracy"] for r in without.history_][: len(scores)] == scores


def test_each_of_several_models_has_its_own_best_pass():
    train, dev = noisy(tagged(40), 0.3), tagged(20, seed=1)
    tagger = Tagger(templates(), max_iter=4, n_models=2, patience=1).fit(train, dev=dev)
    runs = [
        Tagger(templates(), max_iter=4, patience=1, random_state=seed).fit(train, dev=dev)
        for seed in (0, 1)
    ]
    lengths = [len(run.history_) for run in runs]
    assert len(tagger.history_) == sum(lengths)
    scores = [r["dev_accuracy"] for run in runs for r in run.history_]
    assert [r["dev_accuracy"] for r in tagger.history_] == scores
    start = [np.frombuffer(bytes(run.model_.arrays["start"])) for run in runs]
    np.testing.assert_allclose(
        np.frombuffer(bytes(tagger.model_.arrays["start"])), (start[0] + start[1]) / 2
    )


def binary_log_loss(p, right):
    """−Σ log P(right or wrong), no probability being below what so many answers can show."""
    p, right = np.array(p), np.array(right)
    return -np.log(np.maximum(np.where(right, p, 1 - p), 1 / (len(p) + 2))).sum()


def surprise(tagger, sentences, temperature):
    """How much the tagger is surprised by which of its own labels are right."""
    p, right = [], []
    marginals = tagger.predict_marginals(sentences, temperature=temperature)
    for tokens, labels, gold in zip(
        marginals, tagger.predict(sentences), labels_of(sentences), strict=True
    ):
        p += [token[label] for token, label in zip(tokens, labels, strict=True)]
        right += [label == true for label, true in zip(labels, gold, strict=True)]
    assert not all(right)
    return binary_log_loss(p, right)


@pytest.mark.parametrize("scheme", [None, "bio", "iobes"])
def test_calibration(scheme):
    train, dev = chunked(40), chunked(40, seed=1)
    tagger = Tagger(templates(), max_iter=5, scheme=scheme).fit(train, dev=dev)
    chosen = tagger.temperature_
    assert chosen == tagger.calibration_.temperature
    assert tagger.calibration_.n_parts == sum(map(len, dev))
    grid = 2.0 ** np.arange(-3, 8, 0.25)
    losses = [surprise(tagger, dev, t) for t in grid]
    assert surprise(tagger, dev, chosen) <= min(losses) * (1 + 1e-4)
    assert abs(math.log2(chosen / grid[int(np.argmin(losses))])) <= 0.26


def test_a_log_loss_has_its_temperature():
    train, dev = chunked(40), chunked(40, seed=1)
    tagger = Tagger(templates(), "crf", max_iter=5).fit(train)
    assert (tagger.temperature_, tagger.calibrated_, tagger.calibration_) == (1.0, True, None)
    tagger.calibrate(dev)
    assert tagger.temperature_ == 1.0
    assert tagger.calibration_.n_parts == sum(map(len, dev))


def test_calibration_changes_no_labels(tmp_path):
    train, dev = chunked(40), chunked(20, seed=1)
    tagger = Tagger(templates(), max_iter=3, patience=0).fit(train, dev=dev)
    before = tagger.predict(dev)
    tagger.save(tmp_path / "m")
    again = Tagger.load(tmp_path / "m")
    assert again.calibration_.as_dict() == tagger.calibration_.as_dict()
    assert again.predict_marginals(dev) == tagger.predict_marginals(dev)
    assert again.confidence(dev) == tagger.confidence(dev)
    tagger.model_.calibration = Calibration(50.0, 9, 0.0)
    assert tagger.temperature_ == 50.0
    assert tagger.predict(dev) == before
    X, y = [[token[:-1] for token in s] for s in dev], labels_of(dev)
    assert tagger.calibrate(X, y).calibration_.as_dict() == again.calibration_.as_dict()


def test_calibration_of_iobes_is_of_labels_as_they_are_written():
    """The probabilities of B- and S-, which are written alike, add up."""
    train, dev = chunked(40), chunked(25, seed=1)
    tagger = Tagger(templates(), max_iter=5, scheme="iobes").fit(train, dev=dev)
    model = tagger.model_
    blocks = [score_blocks(model, rows) for rows in feature_lists(dev)]
    shown = np.array(model.shown)

    def loss(temperature):
        p, right = [], []
        for theta, labels, gold in zip(blocks, tagger.predict(dev), labels_of(dev), strict=True):
            table = Chain().marginals(**theta, temperature=temperature)["label"]
            for row, label, true in zip(table, labels, gold, strict=True):
                p.append(row[shown == label].sum())
                right.append(label == true)
        return binary_log_loss(p, right)

    chosen = tagger.temperature_
    for factor in (0.8, 0.9, 0.95, 1.05, 1.1, 1.25):
        assert loss(chosen) < loss(factor * chosen)


def test_of_equal_passes_the_first_is_kept():
    scores = iter([0.5, 0.7, 0.7, 0.6])
    watch = Watch(lambda _: next(scores), "accuracy", patience=2)
    passes = [{"iteration": k, "weights": lambda k=k: np.array([k])} for k in (1, 2, 3, 4)]
    stops = [watch(record) for record in passes]
    assert (watch.best.tolist(), watch.best_pass, watch.best_score) == ([2], 2, 0.7)
    assert stops == [False, False, False, True]


def test_lines_of_progress(capsys):
    tagger = Tagger("pos", max_iter=3, verbose=1, patience=0, n_models=1)
    tagger.fit(tagged(20), dev=tagged(10, seed=1))
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    tags = [tag for sentence in tagged(20) for _, tag in sentence]
    some = ", ".join(sorted(set(tags))[:5])
    assert lines[0] == (
        f"20 sentences, {len(tags)} tokens, {len(set(tags))} labels in column 2 ({some}, ...)"
    )
    assert lines[1] == "learner perceptron: the dev set chooses the best pass"
    assert lines[2] == "features pos, target pos, scheme none"
    assert len(lines) == 6
    assert all("dev accuracy" in line and "updates" in line for line in lines[3:])
    Tagger("pos", max_iter=3).fit(tagged(20))
    assert capsys.readouterr() == ("", "")
