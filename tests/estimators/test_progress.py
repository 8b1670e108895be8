"""Callbacks, records and lines on standard error."""

import numpy as np
import pytest

from structlearn.estimators import CRF, StructuredPerceptron, StructuredSVM
from tests.estimators.estimator_data import quietly, same_coef, sequences

MODELS = [
    StructuredPerceptron(max_iter=6, random_state=0),
    StructuredSVM(max_iter=6, tol=0, random_state=0),
    CRF(tol=1e-10),
    CRF(solver="sgd", max_iter=6, tol=0, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_callbacks_see_every_record(model):
    X, y = sequences()
    records = []
    model.set_params(callbacks=records.append)
    quietly(model, X, y)
    weights = [record.pop("weights") for record in records]
    assert records == model.history_
    assert weights[-1]().shape == model._weights.shape
    assert records[-1]["seconds"] > 0
    assert [r["iteration"] for r in records] == list(range(1, model.n_iter_ + 1))
    assert all(r["loss"] >= 0 for r in records)
    if not isinstance(model, StructuredPerceptron):
        assert records[-1]["objective"] == model.objective_
        assert records[-1]["gap"] == model.duality_gap_
    # What a callback does to its record is its own business.
    model.set_params(callbacks=[lambda r: r.clear(), lambda r: None])
    quietly(model, X, y)
    assert len(model.loss_curve_) == len(records)
    assert model.loss_curve_ == [r["loss"] for r in records]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_true_stops(model):
    """At once, without another call, and without a warning: the user knows."""
    X, y = sequences()
    seen = []

    def stop(record):
        seen.append(record["iteration"])
        return len(seen) == 3

    other = []
    model.set_params(callbacks=[stop, other.append])
    model.fit(X, y)
    assert seen == [1, 2, 3]
    assert len(other) == 3
    assert model.n_iter_ == 3
    assert model.score(X, y) > 0.4
    if not isinstance(model, StructuredPerceptron):  # still a statement about coef_
        problem = model.problem(X, y)
        w = problem.layout.pack(model.coef_)
        options = {"C": model.C, "margin": model.margin, "temperature": model.temperature}
        assert model.objective_ == pytest.approx(problem.objective(w, **options)[0], rel=1e-12)
        assert model.duality_gap_ > 0


def test_stopping_after_k_passes_is_max_iter_k():
    X, y = sequences()
    stopped = StructuredPerceptron(random_state=0, callbacks=lambda r: r["iteration"] == 4)
    whole = StructuredPerceptron(random_state=0, max_iter=4)
    assert same_coef(stopped.fit(X, y), whole.fit(X, y))


def test_only_true_stops():
    X, y = sequences()
    for answer in (1, "yes", [0], None, False):
        model = StructuredPerceptron(max_iter=4, callbacks=lambda r, a=answer: a).fit(X, y)
        assert model.n_iter_ == 4


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_error_in_a_callback(model):
    X, y = sequences()
    model.set_params(callbacks=None)
    quietly(model, X, y)
    before = model.coef_

    def fail(record):
        raise RuntimeError("out of paper")

    model.set_params(callbacks=fail)
    with pytest.raises(RuntimeError, match="out of paper"):
        model.fit(X, y)
    np.testing.assert_array_equal(model.coef_["label"], before["label"])
    assert model.n_iter_ > 1


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_verbose_writes_to_standard_error(model, capfd):
    X, y = sequences()
    quietly(model.set_params(verbose=1, callbacks=None), X, y)
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == model.n_iter_
    assert lines[0].startswith(f"{type(model).__name__} iteration   1  loss ")
    if not isinstance(model, StructuredPerceptron):
        assert "gap" in lines[-1]
    quietly(model.set_params(verbose=0), X, y)
    model.predict(X)
    assert capfd.readouterr() == ("", "")
