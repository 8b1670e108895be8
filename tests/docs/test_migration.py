"""What ``docs/howto/migrate.md`` says of sklearn-crfsuite, against it."""

import numpy as np
import pytest

from structlearn import CRF
from structlearn.metrics import label_report
from tests.estimators.estimator_data import sentences

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def data():
    X, y = sentences()
    return X, [[str(k) for k in row] for row in y]


@pytest.fixture(scope="module")
def fit(data):
    """Train the other library's CRF to its optimum."""
    library = pytest.importorskip("sklearn_crfsuite", reason="sklearn_crfsuite is not installed")

    def train(**parameters):
        closely = {"max_iterations": 5000, "epsilon": 1e-12, "delta": 1e-14}
        return library.CRF(algorithm="lbfgs", **closely, **parameters).fit(*data)

    return train


def close_to(ours, theirs, X):
    """Whether the marginals of all labels are the same."""
    for mine, rows in zip(ours.predict_marginals(X), theirs.predict_marginals(X), strict=True):
        wanted = [[row[k] for k in ours.classes_] for row in rows]
        if not np.allclose(mine, wanted, rtol=0, atol=1e-5):
            return False
    return True


@pytest.mark.parametrize("options", [{}, {"all_possible_states": True}])
@pytest.mark.parametrize("pairs", [True, False])
@pytest.mark.parametrize("c2", [0.5, 2.0])
def test_c2(data, fit, c2, pairs, options):
    theirs = fit(c2=c2, all_possible_transitions=pairs, **options)
    closely = {"tol": 1e-12, "max_iter": 10_000, "all_possible_transitions": pairs, **options}
    ours = CRF(C=1 / (2 * c2), boundaries=False, **closely).fit(*data)
    assert close_to(ours, theirs, data[0])
    assert [row.tolist() for row in ours.predict(data[0])] == [*map(list, theirs.predict(data[0]))]
    with_ends = CRF(C=1 / (2 * c2), **closely).fit(*data)
    assert not close_to(with_ends, theirs, data[0])


@pytest.mark.parametrize(("c1", "c2"), [(0.3, 0.5), (1.0, 0.1)])
def test_c1(data, fit, c1, c2):
    theirs = fit(c1=c1, c2=c2, all_possible_transitions=True)
    ours = CRF(
        C=1 / (2 * c2), l1=c1 / (2 * c2), solver="lbfgs", boundaries=False, tol=1e-10,
        max_iter=20_000,
    ).fit(*data)  # fmt: skip
    assert close_to(ours, theirs, data[0])
    assert np.count_nonzero(ours.coef_["label"]) == len(theirs.state_features_)
    assert np.count_nonzero(ours.coef_["transition"]) == len(theirs.transition_features_)


def weighed(model):
    """The features that have a weight, each with its label."""
    names = model.feature_names_["label"]
    rows = zip(*np.nonzero(model.coef_["label"]), strict=True)
    return {(names[f], str(model.classes_[k])) for k, f in rows}


def test_counts_of_features(data, fit):
    """Theirs counts a feature with a label, and pairs of labels; here whatever the label."""
    X, y = data
    theirs = fit(c2=0.5, all_possible_transitions=True, min_freq=8)
    ours = CRF(boundaries=False, min_count=8).fit(X, y)
    counts, pairs = {}, {}
    for tokens, labels in zip(X, y, strict=True):
        for token, label in zip(tokens, labels, strict=True):
            for name in token:
                counts[name] = counts.get(name, 0) + 1
                pairs[name, label] = pairs.get((name, label), 0) + 1
    assert weighed(ours) == {pair for pair in pairs if counts[pair[0]] >= 8}
    assert set(theirs.state_features_) == {pair for pair, count in pairs.items() if count >= 8}
    assert len(theirs.transition_features_) < len(ours.classes_) ** 2


def test_scores_of_labels(data, fit):
    metrics = pytest.importorskip(
        "sklearn_crfsuite.metrics", reason="sklearn_crfsuite is not installed"
    )
    X, y = data
    predicted = fit(c2=100.0).predict(X)
    report = label_report(y, predicted)
    assert report.macro.f1 == pytest.approx(metrics.flat_f1_score(y, predicted, average="macro"))
    assert report.accuracy == pytest.approx(metrics.flat_accuracy_score(y, predicted))
