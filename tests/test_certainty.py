"""Probabilities are calibrated where there is a dev set, and say so where there is none."""

import json
import math
import re
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from structlearn import cli, load
from structlearn.datasets import make_treebank
from structlearn.estimators import (
    CRF,
    HMM,
    MultiLabelClassifier,
    StructuredPerceptron,
    StructuredSVM,
)
from structlearn.metrics import reliability
from structlearn.structures import Arborescence
from structlearn.tasks import ConstituencyParser, DependencyParser, SegmentTagger, Tagger

BANK = make_treebank(260, random_state=0)
TAGS = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
CHUNKS = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]


def noisy(n, seed):
    """Sentences with labels that no model can know for sure."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        z = rng.integers(2, size=6)
        X.append([[f"x={k}"] if rng.random() < 0.8 else [f"x={1 - k}"] for k in z])
        y.append(["ab"[k] for k in z])
    return X, y


def write(path, sentences):
    path.write_text("\n".join("".join(" ".join(row) + "\n" for row in s) for s in sentences))
    return str(path)


# -- the measure ----------------------------------------------------------------------------------


def test_expected_calibration_error_is_that_of_its_definition():
    rng = np.random.default_rng(0)
    p = rng.random(500)
    right = rng.random(500) < p**2
    found = reliability(p.tolist(), right.tolist(), n_bins=7)
    number = np.minimum((p * 7).astype(int), 6)
    wanted = sum(
        (number == k).mean() * abs(p[number == k].mean() - right[number == k].mean())
        for k in range(7)
    )
    assert found.error == pytest.approx(wanted)
    assert [b.n for b in found.bins] == np.bincount(number, minlength=7).tolist()
    assert reliability([1.0, 0.0], [True, False]).error == 0


# -- estimators -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [StructuredPerceptron, StructuredSVM])
def test_learners_without_a_log_loss_say_that_they_are_not_calibrated(kind):
    model = kind(random_state=0).fit(*noisy(60, 0))
    X, y = noisy(1500, 1)
    for ask in (model.predict_marginals, model.predict_proba):
        with pytest.warns(UserWarning, match="not calibrated"):
            ask(X)
        ask(X, temperature=1.0)
    assert not model.calibrated_
    assert "not calibrated" in model._html_repr()
    before = model.predict(X)
    assert model.calibrate(X, y).calibrated_
    model.predict_marginals(X)
    assert "not calibrated" not in model._html_repr()
    assert [list(a) for a in model.predict(X)] == [list(a) for a in before]


def test_a_conditional_random_field_is_calibrated_from_the_start(recwarn):
    model = CRF().fit(*noisy(60, 0))
    model.predict_marginals(noisy(5, 1)[0])
    assert model.calibrated_
    assert not recwarn.list


def test_calibration_finds_the_temperature_of_the_least_surprise(tmp_path):
    """By which of the predicted labels are right; those that are not known are left out."""
    model = StructuredPerceptron(random_state=0).fit(*noisy(60, 0))
    X, y = noisy(80, 1)
    y = [[None, {"a", "z"}, "z", *row[3:]] for row in y]
    right = np.array([
        [ok == p or (isinstance(ok, set) and p in ok) for ok, p in zip(row[1:], z[1:], strict=True)]
        for row, z in zip(y, model.predict(X), strict=True)
    ])  # fmt: skip

    def surprise(exponent):
        p = np.array(model.predict_marginals(X, temperature=2.0**exponent)).max(axis=2)[:, 1:]
        return -np.log(np.maximum(np.where(right, p, 1 - p), 1 / (right.size + 2))).sum()

    best = minimize_scalar(surprise, bounds=(-4, 12), method="bounded", options={"xatol": 1e-3})
    model.calibrate(X, y)
    assert model.calibration_.n_parts == right.size
    assert surprise(math.log2(model.temperature_)) == pytest.approx(best.fun, rel=1e-3)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.calibration_.as_dict() == model.calibration_.as_dict()
    assert again.confidence(X) == model.confidence(X)
    model.fit(*noisy(60, 0))
    assert (model.calibration_, model.temperature_) == (None, None)


@pytest.mark.parametrize("kind", ["hidden Markov model", "several labels"])
def test_calibrations_are_stored(kind, tmp_path):
    X, y = noisy(60, 0)
    model = HMM()
    if kind == "several labels":
        X = np.random.default_rng(0).normal(size=(60, 3))
        y, model = (X > 0).astype(int), MultiLabelClassifier()
    model.fit(X, y).calibrate(X, y)
    assert model.temperature_ == 1.0  # of a log loss: it stays
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").calibration_.as_dict() == model.calibration_.as_dict()
    assert model.calibration(X, y).n == np.size(y)


# -- tasks ----------------------------------------------------------------------------------------


def test_a_tagger_tells_how_reliable_it_is():
    tagger = Tagger("pos", n_models=1, max_iter=3).fit(TAGS[:40])
    found = tagger.calibration(TAGS[100:160])
    p, right = [], []
    for row, marginals in zip(TAGS[100:160], tagger.predict_marginals(TAGS[100:160]), strict=True):
        for (_, tag), given in zip(row, marginals, strict=True):
            label = max(given, key=given.get)
            p.append(given[label])
            right.append(label == tag)
    assert found.n == len(p)
    assert found.error == pytest.approx(reliability(p, right).error, abs=0.01)
    assert not tagger.calibrated_


def test_a_dev_set_makes_a_perceptron_more_honest():
    plain = Tagger("pos", n_models=1, max_iter=3).fit(TAGS[:30])
    honest = Tagger("pos", n_models=1, max_iter=3).fit(TAGS[:30], dev=TAGS[30:100])
    assert honest.calibrated_ == (honest.calibration_.error <= 0.03)
    assert honest.calibration(TAGS[100:]).error < plain.calibration(TAGS[100:]).error


def test_segments_are_judged_as_a_whole():
    tagger = SegmentTagger(n_models=1, max_iter=2).fit(CHUNKS[:40], dev=CHUNKS[40:80])
    found = tagger.calibration(CHUNKS[100:140])
    assert found.n == sum(map(len, tagger.predict_segments(CHUNKS[100:140])))
    assert 0 <= found.error < 0.2


DEPENDENCIES = {"order": 1, "gold_tags": True, "max_iter": 2, "hash_bits": 14, "n_models": 1}


def test_parsers_of_dependencies_are_calibrated_on_a_dev_set(tmp_path):
    trees = conllu(BANK)
    plain = DependencyParser(**DEPENDENCIES).fit(trees[:60])
    parser = DependencyParser(**DEPENDENCIES).fit(trees[:60], dev=trees[60:120])
    assert not plain.calibrated_
    assert parser.calibration_.n_parts == sum(map(len, trees[60:120]))
    assert parser.predict(trees[120:180]) == plain.predict(trees[120:180])
    found = parser.calibration(trees[120:180])
    assert found.n == sum(map(len, trees[120:180]))
    assert found.error < plain.calibration(trees[120:180]).error
    T, n = parser.temperature_, len(trees[120])
    inputs = parser._inputs(trees[120:121])
    ((_, arcs, width, data),) = inputs.core.scores(0)
    scores = np.frombuffer(data).reshape(arcs, width)
    dense = np.full((n + 1, n + 1, width), -np.inf)
    for j, (word, head, label, _) in enumerate(inputs.marginals(1.0)[0]):
        dense[head, word, label] = scores[j // width, j % width]
    p = Arborescence().marginals(arc=dense / T)["arc"]
    got = parser.predict_marginals(trees[120:121], least=0.0)[0]
    for m, word in enumerate(got, 1):
        for (head, name), value in word.items():
            assert value == pytest.approx(p[head, m, parser.classes_.index(name)], abs=1e-9)
    parser.save(tmp_path / "model")
    assert load(tmp_path / "model").temperature_ == T
    pairs = DependencyParser(**{**DEPENDENCIES, "order": 2}).fit(trees[:30], dev=trees[30:60])
    assert pairs.calibration(trees[:9]).n == sum(map(len, trees[:9]))


def conllu(bank):
    return [
        [
            (str(i), w, "_", t, "_", "_", str(h), r, "_", "_")
            for i, (w, t, h, r) in enumerate(
                zip(s.words, s.tags, s.heads, s.deprels, strict=True), 1
            )
        ]
        for s in bank
    ]


def test_parsers_of_constituents_are_calibrated_on_a_dev_set(tmp_path):
    trees = [s.brackets for s in BANK]
    options = {"gold_tags": True, "learner": "perceptron", "max_iter": 2, "n_models": 1}
    plain = ConstituencyParser(**options).fit(trees[:60])
    parser = ConstituencyParser(**options).fit(trees[:60], dev=trees[60:120])
    assert not plain.calibrated_
    assert parser.calibration_.n_parts > 300
    assert parser.predict(trees[120:180]) == plain.predict(trees[120:180])
    # The probabilities of the k best are softmax(score / T).
    T = parser.temperature_
    ((first, second),) = parser.predict_kbest(trees[120:121], 2)
    p, q = parser.predict_proba(trees[120:121] * 2, [first[1], second[1]])
    assert math.log(p / q) == pytest.approx((first[0] - second[0]) / T, rel=1e-9)
    assert parser.calibration(trees[120:180]).error < plain.calibration(trees[120:180]).error
    parser.save(tmp_path / "model")
    assert load(tmp_path / "model").temperature_ == T


# -- the command line -----------------------------------------------------------------------------


def test_every_surface_says_whether_probabilities_are_calibrated(tmp_path, capsys):
    train, dev = write(tmp_path / "train", TAGS[:40]), write(tmp_path / "dev", TAGS[40:80])
    test = write(tmp_path / "test", TAGS[100:140])
    for name, more in (("plain", []), ("honest", ["--dev", dev])):
        model, page = str(tmp_path / name), tmp_path / "page.html"
        train_it = ["train", "tagger", train, "--model", model, "--n-models", "1", "--quiet"]
        assert cli.run([*train_it, "--features", "pos", "--max-iter", "2", *more]) == 0
        capsys.readouterr()
        assert cli.run(["evaluate", model, test, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["calibration"]["calibrated"] == bool(more)
        assert 0 <= found["expected_calibration_error"] <= 1
        assert cli.run(["evaluate", model, test, "--html", str(page)]) == 0
        text = page.read_text()
        assert ("not calibrated" in text) == (not more)
        bins = [b for b in found["calibration"]["bins"] if b["n"]]
        assert len(re.findall("<circle", text)) == len(bins)
        shown = ["inspect", model, "--sentence", TAGS[0][0][0]]
        assert cli.run(shown) == 0
        assert ("not calibrated" in capsys.readouterr().out) == (not more)
        assert cli.run([*shown, "--html", str(page)]) == 0
        assert ("not calibrated" in page.read_text()) == (not more)


# -- warnings -------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("default:the probabilities of this:UserWarning")
def test_estimators_warn_of_what_rests_on_probabilities():
    X, y = noisy(20, 0)
    model = StructuredPerceptron(max_iter=2).fit(X, y)
    for ask in (model.predict_marginals, model.predict_proba, model.entropy, model.sample):
        match = "of this StructuredPerceptron are not calibrated"
        with pytest.warns(UserWarning, match=match) as caught:
            ask(X)
        assert {warning.filename for warning in caught} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X)
        model.sample(X, temperature=1.0)
        model.entropy([])
        CRF().fit(X, y).entropy(X)


@pytest.mark.filterwarnings("default:the probabilities of this:UserWarning")
@pytest.mark.parametrize("kind", ["tagger", "segments", "parser", "constituency"])
def test_tasks_warn_of_what_rests_on_probabilities(kind, tmp_path):
    make, data = {
        "tagger": (lambda **o: Tagger("pos", max_iter=1, n_models=1, **o), TAGS),
        "segments": (lambda **o: SegmentTagger(max_iter=1, n_models=1, **o), CHUNKS),
        "parser": (
            lambda **o: DependencyParser(1, hash_bits=12, max_iter=1, gold_tags=True, **o),
            [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK],
        ),
        "constituency": (
            lambda **o: ConstituencyParser(max_iter=3, gold_tags=True, **o),
            [s.brackets for s in BANK],
        ),
    }[kind]
    task = make().fit(data[:40])
    some, trees = data[40:42], kind in ("parser", "constituency")
    asked = ["predict_marginals", "entropy", "sample"]
    asked += ["predict_proba"] if trees else []
    asked += ["explain"] if kind != "constituency" else []
    for name in asked:
        with pytest.warns(UserWarning, match="are not calibrated.*dev=") as caught:
            getattr(task, name)(some)
        assert {warning.filename for warning in caught} == {__file__}
    if trees:
        with pytest.warns(UserWarning, match="are not calibrated"):
            task.predict(some, confidence=True)
    else:
        given = tmp_path / "words"
        given.write_text("".join(f"{' '.join(token[:-1])}\n" for token in some[0]) + "\n")
        for option in ("confidence", "marginals") if kind == "tagger" else ("confidence",):
            with pytest.warns(UserWarning, match="are not calibrated") as caught:
                task.label_file(given, tmp_path / "labelled", **{option: True})
            assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        task.predict(some)
        task.evaluate(some)
        if kind == "constituency":
            task.explain(some)
        held_out = make().fit(data[:40], dev=data[50:250])
        for name in asked:
            getattr(held_out, name)(some)
