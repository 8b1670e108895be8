"""No examples, no features, no classes: what estimators make of it."""

import numpy as np
import pytest
from scipy import sparse

from structlearn.estimators import (
    CRF,
    HMM,
    MultiLabelClassifier,
    StructuredPerceptron,
    StructuredSVM,
)

WORDS, TAGS = [["the", "dog"], ["dog"]], [["D", "N"], ["N"]]
RNG = np.random.default_rng(0)


MODELS = {
    "tokens": lambda: CRF().fit(WORDS, TAGS),
    "perceptron": lambda: StructuredPerceptron(max_iter=2).fit(WORDS, TAGS),
    "vectors": lambda: CRF().fit([RNG.normal(size=(2, 3))] * 2, [["D", "N"]] * 2),
    "hmm": lambda: HMM().fit(WORDS, TAGS),
    "trees": lambda: CRF("arborescence").fit(
        [RNG.normal(size=(4, 4, 2))] * 3, [np.array([0, 1, 2])] * 3
    ),
    "grid": lambda: StructuredSVM("grid").fit(
        [RNG.normal(size=(2, 2, 1))] * 2, [[[0, 1], [1, 0]]] * 2
    ),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("X", [[], (), np.empty((0, 3, 2))], ids=["list", "tuple", "array"])
def test_nothing_in_nothing_out(name, X):
    model = MODELS[name]()
    assert model.predict(X) == []
    assert model.predict_kbest(X, 2) == []
    assert model.predict_marginals(X) == []
    assert model.sample(X, 2) == []
    assert model.predict_proba(X).shape == (0,)
    assert model.predict_proba(X, []).shape == (0,)
    with pytest.raises(ValueError, match="X is empty"):
        model.score(X, [])
    with pytest.raises(ValueError, match="X is empty"):
        model.predict_proba(X, TAGS)
    for n in (0, -1, 1.5, None, True):
        for ask in (model.predict_kbest, model.sample):
            with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
                ask(X, n)


@pytest.mark.parametrize(
    "X", [[], np.empty((0, 4)), sparse.csr_matrix((0, 4))], ids=["list", "array", "sparse"]
)
def test_no_single_examples(X):
    model = CRF("multiclass").fit(np.eye(4), ["a", "b", "a", "b"])
    found = model.predict(X)
    assert found.shape == (0,)
    assert found.dtype == model.classes_.dtype
    assert model.predict_proba(X).shape == (0, 2)
    assert model.predict_kbest(X) == model.predict_marginals(X) == []
    labels = MultiLabelClassifier().fit(np.eye(4), [[0, 1], [1, 0], [1, 1], [0, 0]])
    assert labels.predict(X).shape == labels.predict_proba(X).shape == (0, 2)


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        (CRF("multiclass"), np.zeros((4, 0)), [0, 1, 0, 1]),
        (CRF("multiclass"), sparse.csr_matrix((4, 0)), [0, 1, 0, 1]),
        (CRF(), [np.zeros((2, 0))] * 2, [[0, 1]] * 2),
        (CRF(), [sparse.csr_matrix((2, 0))] * 2, [[0, 1]] * 2),
        (StructuredSVM("grid"), [np.zeros((2, 2, 0))], [[[0, 1], [1, 0]]]),
        (CRF("arborescence"), [np.zeros((3, 3, 0))], [[0, 1]]),
        (HMM(emission="gaussian"), [np.zeros((2, 0))] * 2, [[0, 1]] * 2),
    ],
)
def test_no_features(model, X, y):
    with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(.*0\)\) while a minimum of 1"):
        model.fit(X, y)


@pytest.mark.parametrize("classes", [None, [], ["x"]])
@pytest.mark.parametrize(
    ("structure", "X", "y"),
    [
        ("arborescence", RNG.normal(size=(5, 4, 4, 3)), [np.array([0, 1, 2])] * 5),
        ("spanning-tree", RNG.normal(size=(5, 3, 3, 2)), [[(0, 1), (1, 2)]] * 5),
        ("matching", RNG.normal(size=(5, 3, 3, 2)), [[0, 2, 1]] * 5),
    ],
)
def test_passes_without_labels(structure, X, y, classes):
    """Outputs without labels have no classes to announce; a pass is the one that fit makes."""
    going = StructuredPerceptron(structure)
    for k in (1, 2, 3):
        going.partial_fit(list(X), y, classes=classes)
        whole = StructuredPerceptron(structure, max_iter=k, shuffle=False).fit(list(X), y)
        for block, weights in going.coef_.items():
            np.testing.assert_array_equal(weights, whole.coef_[block])
    assert len(going.classes_) == 0


@pytest.mark.parametrize("classes", [None, [], ()])
def test_passes_with_labels_need_classes(classes):
    for structure, X, y in (
        ("chain", WORDS, TAGS),
        ("arborescence", [RNG.normal(size=(3, 3, 2))], [([0, 1], ["a", "b"])]),
    ):
        with pytest.raises(ValueError, match="the first call of partial_fit needs classes"):
            StructuredPerceptron(structure).partial_fit(X, y, classes=classes)
