"""The estimator with sklearn-crfsuite's parameters, and its metrics."""

import os
import pickle
import struct

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from structlearn.crfsuite import CRF, Trainer, metrics, scorers
from tests.crfsuite.data import sentences


@pytest.fixture(scope="module")
def data():
    X, y = sentences()
    return X[:60], y[:60]


@pytest.fixture(scope="module")
def fitted(data):
    return CRF(c1=0.1, c2=0.1, max_iterations=20).fit(*data)


def test_what_is_learned_is_what_a_trainer_learns(data, fitted, tmp_path):
    X, y = data
    trainer = Trainer("lbfgs", {"c1": 0.1, "c2": 0.1, "max_iterations": 20}, verbose=False)
    for xseq, yseq in zip(X, y, strict=True):
        trainer.append(xseq, yseq)
    trainer.train(tmp_path / "model")
    data = (tmp_path / "model").read_bytes()
    assert pickle.loads(pickle.dumps(fitted)).__dict__["_model"] == data
    assert fitted.size_ == len(data)
    assert fitted.num_attributes_ == struct.unpack_from("<I", data, 24)[0]
    assert len(fitted.training_log_.iterations) == 20


def test_predictions(data, fitted):
    X, y = data
    predicted = fitted.predict(X)
    assert isinstance(predicted, np.ndarray)
    assert predicted.dtype == object
    assert all(type(row) is list and type(row[0]) is str for row in predicted)
    assert fitted.predict_single(X[0]) == predicted[0]
    assert fitted.score(X, y) == metrics.flat_accuracy_score(y, predicted) > 0.9
    marginals = fitted.predict_marginals(X)
    rows = fitted.predict_marginals_single(X[3])
    assert rows == list(marginals[3])
    for row in rows:
        assert list(row) == fitted.classes_
        assert sum(row.values()) == pytest.approx(1.0)
    same = fitted.predict(X[:1] * 3)  # of one length: as with sklearn-crfsuite one array
    assert same.shape == (3, len(X[0]))


def test_what_was_learned(fitted):
    assert set(fitted.attributes_) == {a for a, _ in fitted.state_features_}
    assert {k for pair in fitted.transition_features_ for k in pair} <= set(fitted.classes_)
    info = fitted.tagger_.info()
    assert fitted.state_features_ == info.state_features
    assert fitted.transition_features_ == info.transitions


def test_before_fit():
    crf = CRF()
    names = ["tagger_", "size_", "classes_", "num_attributes_", "attributes_", "state_features_",
             "transition_features_", "training_log_"]  # fmt: skip
    assert [getattr(crf, name) for name in names] == [None] * len(names)
    assert crf.modelfile.name is None
    with pytest.raises(NotFittedError, match="call fit, or set model_filename"):
        crf.predict([[["a"]]])


def test_parameters_reach_the_trainer(data):
    X, y = data
    crf = CRF("pa", pa_type=2, c=0.5, error_sensitive=False, max_iterations=2, min_freq=1.5,
              all_possible_states=True, all_possible_transitions=True)  # fmt: skip
    log = "".join(crf.fit(X, y).training_log_.log)
    for line in ("type: 2", "c: 0.500000", "error_sensitive: 0", "feature.minfreq: 1.500000",
                 "feature.possible_states: 1", "feature.possible_transitions: 1"):  # fmt: skip
        assert f"\n{line}\n" in log
    crf = CRF("l2sgd", calibration_eta=0.5, calibration_samples=7, period=3, max_iterations=2)
    log = "".join(crf.fit(X, y).training_log_.log)
    for line in ("calibration.eta: 0.500000", "calibration.samples: 7", "period: 3"):
        assert f"\n{line}\n" in log
    with pytest.raises(ValueError, match="Parameter not found: c1"):
        CRF("ap", c1=1.0).fit(X, y)


def test_parameters_are_sklearn_crfsuites():
    library = pytest.importorskip("sklearn_crfsuite")
    assert CRF().get_params() == library.CRF().get_params()


def test_scikit_learn(data, fitted):
    X, y = data
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    assert fresh.classes_ is None
    search = GridSearchCV(CRF(max_iterations=5), {"c2": [0.01, 1.0]}, cv=2)
    assert set(search.fit(X, y).best_params_) == {"c2"}
    scores = cross_val_score(CRF(max_iterations=5), X, y, cv=2, scoring=scorers.flat_accuracy)
    assert scores.min() > 0.5
    whole = cross_val_score(CRF(max_iterations=5), X, y, cv=2, scoring=scorers.sequence_accuracy)
    assert (whole < scores).all()


def test_files(data, fitted, tmp_path):
    X, y = data
    path = tmp_path / "model.crfsuite"
    crf = CRF(c1=0.1, c2=0.1, max_iterations=20, model_filename=path).fit(X, y)
    assert crf.modelfile.name == str(path)
    read = CRF(model_filename=path)
    assert read.predict(X[:9]).tolist() == fitted.predict(X[:9]).tolist()
    again = pickle.loads(pickle.dumps(read))
    path.unlink()
    assert again.predict_single(X[1]) == fitted.predict_single(X[1])


def test_temporary_files(data, fitted):
    crf = pickle.loads(pickle.dumps(fitted))
    name = crf.modelfile.name
    assert crf.modelfile.name == name
    with open(name, "rb") as file:
        assert file.read() == crf.tagger_._data
    del crf
    assert not os.path.exists(name)
    crf = pickle.loads(pickle.dumps(fitted)).set_params(keep_tempfiles=True)
    name = crf.modelfile.name
    del crf
    os.unlink(name)


def test_dev_data_and_what_is_printed(data, capsys):
    X, y = data
    CRF(verbose=True, max_iterations=2).fit(X[:40], y[:40], X_dev=X[40:], y_dev=y[40:])
    printed = capsys.readouterr().out
    assert "Iter 1    time=" in printed
    assert "F1=" in printed
    assert "Label  Precision  Recall     F1  Support\n" in printed
    with pytest.raises(ValueError, match="Pass both X_dev and y_dev"):
        CRF().fit(X, y, X)
    with pytest.raises(ValueError, match="shorter"):
        CRF().fit(X, y[:-1])


def test_fitting_again_starts_anew(data):
    X, y = data
    crf = CRF(max_iterations=3).fit(X, y)
    first = crf.size_, crf.modelfile
    crf.fit([[["a"]]], [["A"]])
    assert crf.classes_ == ["A"]
    assert crf.size_ < first[0]
    assert crf.modelfile is not first[1]


@pytest.mark.parametrize("options", [{"average": "macro"}, {"average": "micro"},
                                     {"labels": ["DT"], "average": None}])  # fmt: skip
def test_metrics_against_sklearn_crfsuite(data, fitted, options):
    theirs = pytest.importorskip("sklearn_crfsuite.metrics")
    X, y = data
    predicted = fitted.predict(X)
    for name in ("precision", "recall", "f1"):
        mine = getattr(metrics, f"flat_{name}_score")(y, predicted, **options)
        assert mine == pytest.approx(getattr(theirs, f"flat_{name}_score")(y, predicted, **options))
    assert metrics.flat_fbeta_score(y, predicted, beta=2.0, **options) == pytest.approx(
        theirs.flat_fbeta_score(y, predicted, beta=2.0, **options)
    )
    assert metrics.flat_classification_report(y, predicted, labels=["DT", "NN"]) == (
        theirs.flat_classification_report(y, predicted, labels=["DT", "NN"])
    )
    assert metrics.sequence_accuracy_score(y, predicted) == theirs.sequence_accuracy_score(
        y, predicted
    )


def test_sequence_accuracy():
    score = metrics.sequence_accuracy_score
    assert score([["a", "b"], ["c"]], [["a", "b"], ["d"]]) == 0.5
    assert score([["a", "b"], ["c"]], [["c"], ["a", "b"]]) == 0.0
    assert score([], []) == 0
