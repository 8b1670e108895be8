"""Trainers without CRFsuite at hand: data, parameters, logs, and what they refuse."""

import os
import struct

import numpy as np
import pytest

from structlearn import crfsuite
from structlearn.crfsuite import ItemSequence, Trainer
from structlearn.io import read_crfsuite
from tests.crfsuite.data import sentences

ALGORITHMS = ["lbfgs", "l2sgd", "ap", "pa", "arow"]


def filled(algorithm="lbfgs", held=5, **parameters):
    """A trainer with sentences, each fifth in group 1."""
    X, y = sentences()
    trainer = Trainer(algorithm, {"max_iterations": 4, **parameters}, verbose=False)
    for i, (xseq, yseq) in enumerate(zip(X, y, strict=True)):
        trainer.append(xseq, yseq, int(i % held == 0))
    return trainer


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_training_writes_a_model_that_labels(tmp_path, algorithm):
    X, y = sentences()
    path = tmp_path / "model.crfsuite"
    trainer = filled(algorithm, max_iterations=15)
    trainer.train(path)
    model = read_crfsuite(path)
    assert list(model.classes_) == list(dict.fromkeys(k for row in y for k in row))
    predicted = model.predict(X)
    assert np.mean(np.concatenate(predicted) == np.concatenate(y)) > 0.85


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_logs(tmp_path, capsys, algorithm):
    trainer = filled(algorithm)
    trainer.verbose = True
    trainer.train(str(tmp_path / "model"), holdout=1)
    log = trainer.logparser
    events = [event for event, _, _ in log.events if event != "featgen_progress"]
    assert events == ["start", "featgen_end", "prepared", *["iteration"] * 4, "optimization_end",
                      "end"]  # fmt: skip
    assert [facts["num"] for facts in log.iterations] == [1, 2, 3, 4]
    assert set(log.last_iteration) >= {"loss", "time", "scores", "avg_f1", "item_accuracy"}
    assert 0 < log.last_iteration["item_accuracy"] <= 1
    assert log.featgen_percent == 100
    assert "".join(log.log) == capsys.readouterr().out
    assert log.log[0] == "Holdout group: 2\n"


def test_held_out_sequences_are_not_learned(tmp_path):
    trainer = Trainer(verbose=False)
    trainer.append([["a"], ["b"]], ["A", "B"])
    trainer.append([["c"]], ["C"], 7)
    trainer.train(tmp_path / "model", holdout=7)
    model = read_crfsuite(tmp_path / "model")
    assert list(model.classes_) == ["A", "B", "C"]  # as CRFsuite: their names are known
    assert model.predict([[["c"]]])[0][0] != "C"
    scores = trainer.logparser.last_iteration["scores"]
    assert (scores["C"].ref, scores["C"].match) == (1, 0)
    assert scores["A"].precision is None


def test_groups_are_refused_by_name(tmp_path):
    trainer = filled()
    with pytest.raises(ValueError, match="holdout=3: no sequence is in this group; groups: 0, 1"):
        trainer.train(tmp_path / "model", holdout=3)
    with pytest.raises(TypeError, match="holdout is an integer, not str"):
        trainer.train(tmp_path / "model", holdout="1")
    with pytest.raises(TypeError, match="a group is an integer, not NoneType"):
        trainer.append([["a"]], ["A"], None)
    assert not (tmp_path / "model").exists()


def test_same_seed_same_file_for_any_threads(tmp_path):
    files = []
    for n_jobs in (1, 2):
        trainer = filled("lbfgs")
        trainer.n_jobs = n_jobs
        trainer.train(tmp_path / "model")
        files.append((tmp_path / "model").read_bytes())
    assert files[0] == files[1]
    for seed in (0, 0, 1):
        trainer = filled("pa")
        trainer.random_state = seed
        trainer.train(tmp_path / "model")
        files.append((tmp_path / "model").read_bytes())
    assert files[2] == files[3] != files[4]


def test_no_data_makes_an_empty_model(tmp_path):
    for algorithm in ALGORITHMS:
        trainer = Trainer(algorithm, verbose=False)
        trainer.append([], [])
        trainer.train(tmp_path / "model")
        data = (tmp_path / "model").read_bytes()
        assert data[:4] == b"lCRF"
        assert struct.unpack_from("<2I", data, 20) == (0, 0)


def test_clear(tmp_path):
    trainer = filled()
    trainer.clear()
    trainer.append([["x"]], ["X"])
    trainer.train(tmp_path / "model")
    assert list(read_crfsuite(tmp_path / "model").classes_) == ["X"]


def test_without_a_file_name_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    filled().train("")
    assert os.listdir(tmp_path) == []


def test_what_is_in_the_way_stays(tmp_path):
    """A file is replaced when the new one is whole, and an error of a callback leaves it."""
    path = tmp_path / "model"
    path.write_bytes(b"before")

    class Failing(Trainer):
        def on_optimization_end(self, log):
            raise ZeroDivisionError

    trainer = Failing(params={"max_iterations": 1})
    trainer.append([["x"], ["y"]], ["A", "B"])
    with pytest.raises(ZeroDivisionError):
        trainer.train(path)
    assert path.read_bytes() == b"before"
    with pytest.raises(FileNotFoundError, match="folder"):  # as python-crfsuite
        filled().train(tmp_path / "no" / "folder" / "model")


def test_sequences_are_read_when_they_are_appended(tmp_path):
    item = {"w": "a"}
    trainer = Trainer(verbose=False)
    trainer.append([item], ["A"])
    trainer.append((item for item in [{"w": "b"}]), iter("B"))
    trainer.append(ItemSequence([{"w": b"c", b"v": {"x": b"y"}}]), [b"C"])
    item["w"] = "z"
    trainer.train(tmp_path / "model")
    model = read_crfsuite(tmp_path / "model")
    for attribute, label in (("w:a", "A"), ("w:b", "B"), ("w:c", "C"), ("v:x:y", "C")):
        assert list(model.predict([[[attribute]]])[0]) == [label]
    assert list(model.predict([[["w:z"]]])[0]) == list(model.predict([[["?"]]])[0])


@pytest.mark.parametrize(
    ("xseq", "yseq", "error", "message"),
    [
        ([["a"]], ["A", "B"], ValueError, r"\|x\| = 1, \|y\| = 2"),
        ([["a"]], [1], TypeError, "a label is a string, not int"),
        ("ab", ["A", "B"], ValueError, "not the string 'ab'"),
        (["ab"], ["A"], ValueError, "not the string 'ab'"),
        ([[{"a": 1}]], ["A"], ValueError, "a feature in a list is a string, not dict"),
        ([{"a": float("nan")}], ["A"], ValueError, "features must be finite"),
        ([{"a": b"\xff"}], ["A"], ValueError, "codec can't decode"),
    ],
)
def test_data_that_is_refused(tmp_path, xseq, yseq, error, message):
    trainer = Trainer(verbose=False)
    trainer.append([["b"]], ["B"])
    with pytest.raises(error, match=message):
        trainer.append(xseq, yseq)
    trainer.train(tmp_path / "model")
    assert list(read_crfsuite(tmp_path / "model").classes_) == ["B"]


@pytest.mark.parametrize(
    ("algorithm", "name", "value", "message"),
    [
        ("lbfgs", "c3", 1, "Parameter not found: c3 = 1; lbfgs has feature.minfreq, "),
        ("ap", "c2", 1, "Parameter not found: c2"),
        ("lbfgs", "c2", "much", "the parameter c2 is a number, got 'much'"),
        ("lbfgs", "c2", None, "the parameter c2 is a number, got None"),
        ("lbfgs", "c1", float("nan"), "is a number"),
        ("lbfgs", "feature.possible_states", "yes", "is 0 or 1, got 'yes'"),
        ("lbfgs", "max_iterations", float("inf"), "is a number, got inf"),
    ],
)
def test_parameters_that_are_refused(algorithm, name, value, message):
    trainer = Trainer(algorithm)
    with pytest.raises(ValueError, match=message):
        trainer.set(name, value)
    assert trainer.get_params() == Trainer(algorithm).get_params()


@pytest.mark.parametrize(
    ("algorithm", "parameters", "message"),
    [
        ("lbfgs", {"c2": -1}, "must not be negative"),
        ("lbfgs", {"c1": -1}, "must not be negative"),
        ("lbfgs", {"c2": float("inf")}, "must not be negative or infinite"),
        ("l2sgd", {"c2": 0}, "l2sgd needs c2 > 0"),
        ("l2sgd", {"calibration.eta": 0}, "calibration.eta must be above 0"),
        ("l2sgd", {"calibration.rate": 0}, "calibration.rate must be above 0"),
        ("arow", {"gamma": 0}, "must be above 0"),
    ],
)
def test_values_without_a_meaning(tmp_path, algorithm, parameters, message):
    with pytest.raises(ValueError, match=message):
        filled(algorithm, **parameters).train(tmp_path / "model")


def test_values_may_be_strings_as_in_configuration_files():
    trainer = Trainer("l2sgd")
    trainer.set_params({"c2": "0.25", "max_iterations": "7.9", "calibration.samples": "12.5"})
    assert trainer.get("c2") == 0.25
    assert trainer.get("max_iterations") == 7
    assert trainer.get("calibration.samples") == 12.0
    trainer.set("feature.possible_states", "1")
    assert trainer.get("feature.possible_states") is True


def test_names_of_parameters_may_be_bytes():
    trainer = Trainer(params={b"c2": b"0.25", b"linesearch": b"Backtracking"})
    assert trainer.get(b"c2") == trainer.get("c2") == 0.25
    assert trainer.get("linesearch") == "Backtracking"
    assert trainer.help(b"c2") == trainer.help("c2")
    with pytest.raises(TypeError, match="the name of a parameter is a string, not int"):
        trainer.get(1)


def test_selecting_resets_the_parameters():
    trainer = Trainer("lbfgs", {"c2": 5})
    trainer.select("l2sgd")
    assert trainer.get("c2") == 1.0
    with pytest.raises(ValueError, match="Bad arguments: algorithm='sgd'"):
        trainer.select("sgd")
    with pytest.raises(ValueError, match="type='crf2d'"):
        trainer.select("ap", "crf2d")
    assert trainer.get("c2") == 1.0  # as it was


def test_subclasses_need_not_call_the_constructor(tmp_path):
    class Silent(Trainer):
        def __init__(self):
            self.lines = []

        def message(self, message):
            self.lines.append(message)

    trainer = Silent()
    trainer.append([["a"]], ["A"])
    trainer.train(tmp_path / "model")
    assert "type: CRF1d\n" in trainer.lines


def test_public_names():
    for name in crfsuite.__all__:
        assert getattr(crfsuite, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Segmenter'"):
        crfsuite.Segmenter  # noqa: B018
