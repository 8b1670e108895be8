"""Learning trees from features of spans: the three learners, by name, and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from structlearn.estimators import CRF, StructuredPerceptron, StructuredSVM
from structlearn.structures.trees.spans import read_spans
from tests.estimators.estimator_data import quietly


def draw_trees(n, seed=0, flat=False):
    """Right-nested trees of groups, their spans told by noisy features."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words = int(rng.integers(2, 7))
        tree = [(0, words, "S")]
        i = 0
        while i + 2 <= words:
            width = int(rng.integers(1, 4))
            if 1 < width < words and i + width <= words:
                tree.append((i, i + width, "NP" if width == 2 else "VP"))
            i += width
        features = rng.normal(size=(words, words + 1, 4)) * 0.1
        features[..., 3] = 1.0
        for begin, end, label in tree:
            features[begin, end, ["S", "NP", "VP"].index(label)] += 1.0
        X.append({"span": sparse.csr_matrix(features.reshape(-1, 4)) if flat else features})
        y.append(read_spans(tree))
    return X, y


@pytest.mark.parametrize(
    "learner",
    [
        StructuredPerceptron("constituency", random_state=0),
        CRF("constituency", C=10.0, random_state=0),
        StructuredSVM("constituency", C=10.0, random_state=0),
        StructuredSVM("constituency", C=10.0, random_state=0, cost="zero-one"),
    ],
    ids=["perceptron", "crf", "svm", "svm, zero-one"],
)
@pytest.mark.parametrize("flat", [False, True], ids=["dense", "sparse"])
def test_trees_are_learned(learner, flat):
    X, y = draw_trees(60, flat=flat)
    model = quietly(clone(learner), X[:40], y[:40])
    assert model.classes_.tolist() == ["", "NP", "S", "VP"]
    assert model.score(X[40:], y[40:]) > 0.95
    found = model.predict(X[40:])
    assert sum(a == b for a, b in zip(found, y[40:], strict=True)) > 15


def test_predictions():
    X, y = draw_trees(30)
    model = CRF("constituency", C=10.0, random_state=0).fit(X, y)
    ranked = model.predict_kbest(X[:3], 3)
    assert [r[0][1] for r in ranked] == model.predict(X[:3])
    p = model.predict_marginals(X[:3])
    assert p[0].shape == (*X[0]["span"].shape[:2], 4)
    assert (model.predict_proba(X, y) > 0.3).mean() > 0.8


def test_unknown_labels():
    """A span whose label is not known: any label may stand there."""
    X, y = draw_trees(30)
    open_trees = [
        [(i, j, None if k == "NP" and t % 2 else k) for i, j, k in tree] for t, tree in enumerate(y)
    ]
    model = quietly(StructuredPerceptron("constituency", random_state=0), X, open_trees)
    assert model.score(X, y) > 0.95


def test_crossing_spans_are_refused():
    X, y = draw_trees(3)
    y[1] = [(0, 2, "S"), (1, 3, "NP")]
    with pytest.raises(ValueError, match=r"example 1: .*cross"):
        CRF("constituency", random_state=0).fit(X, y)
