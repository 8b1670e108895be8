"""The learner that a tagger takes when its user names none."""

from types import SimpleNamespace

import pytest

from structlearn.cli import run
from structlearn.metrics import token_accuracy
from structlearn.tasks import Tagger
from structlearn.tasks.tagging import choice

from .tagger_data import tagged

FEW = "without a dev set, {} tokens are few (C = 10)"


def learned(capsys, X, *, dev=None, start=None, **parameters):
    """Return the learner of a model, and what training said of it."""
    tagger = Tagger("pos", verbose=1, **parameters).fit(X, dev=dev, start=start)
    lines = capsys.readouterr().err.splitlines()
    return tagger.model_.training["learner"], [x for x in lines if x.startswith("learner ")]


def test_few_tokens_without_a_dev_set_are_learned_by_a_crf(capsys):
    X = tagged(20)
    n = sum(map(len, X))
    name, said = learned(capsys, X)
    assert name == "crf"
    assert said == [f"learner crf: {FEW.format(n)}"]
    same = Tagger("pos", learner="crf", C=10.0).fit(X)
    assert Tagger("pos").fit(X).predict_marginals(X) == same.predict_marginals(X)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"dev": tagged(10, seed=1)}, "the dev set chooses the best pass"),
        ({"max_iter": 3}, "max_iter goes with passes"),
        ({"n_models": 1}, "n_models goes with passes"),
        ({"average": False}, "average goes with passes"),
    ],
)
def test_otherwise_a_perceptron_does(capsys, given, reason):
    name, said = learned(capsys, tagged(20), **given)
    assert name == "perceptron"
    assert said == [f"learner perceptron: {reason}"]


def test_the_border_is_where_it_is_said_to_be(capsys, monkeypatch):
    X = tagged(20)
    n = sum(map(len, X))
    for border, name in ((n, "perceptron"), (n + 1, "crf")):
        monkeypatch.setattr(choice, "FEW_TOKENS", border)
        assert learned(capsys, X)[0] == name
    assert f"{50_000:,}" in Tagger.__doc__


def test_many_labels_and_a_start_are_for_the_perceptron(capsys):
    many = [[(f"w{i}", f"L{i}") for i in range(70)]] * 2
    assert learned(capsys, many)[1] == ["learner perceptron: 70 labels are many"]
    first = Tagger("pos", learner="perceptron", n_models=1).fit(tagged(10))
    name, said = learned(capsys, tagged(10, seed=2), start=first)
    assert name == "perceptron"
    assert said == ["learner perceptron: it continues from a model"]


@pytest.mark.parametrize(("n", "C"), [(20, 10.0), (4_000, 5.0), (45_000, 0.5)])
def test_few_examples_count_more(n, C):
    corpus = SimpleNamespace(n_tokens=n)
    chosen, _ = choice.with_learner(Tagger(), corpus, 3, dev=False, start=False)
    assert (chosen.learner, chosen.C) == ("crf", C)


def test_a_learner_that_is_named_is_taken_and_nothing_is_said(capsys):
    assert learned(capsys, tagged(20), learner="svm") == ("svm", [])


def test_a_stream_takes_what_a_file_takes(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("\n\n".join("\n".join(map(" ".join, s)) for s in tagged(20)) + "\n")
    stream = Tagger("pos").fit_stream(path)
    assert stream.model_.training["learner"] == "crf"
    assert stream.predict(path) == Tagger("pos").fit(path).predict(path)


def test_the_command_has_the_same_rule(tmp_path, capsys):
    path, model = tmp_path / "train.txt", tmp_path / "m.model"
    path.write_text("\n\n".join("\n".join(map(" ".join, s)) for s in tagged(20)) + "\n")
    assert run(["train", "tagger", str(path), "--model", str(model)]) == 0
    assert "learner crf: without a dev set" in capsys.readouterr().err
    gold = [[tag for _, tag in s] for s in tagged(20)]
    assert token_accuracy(gold, Tagger.load(model).predict(path)) > 0.95
