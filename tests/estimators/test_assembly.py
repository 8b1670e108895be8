"""A fitted model taken apart and put together again says the same."""

import numpy as np
import pytest
from sklearn.base import clone

from structlearn.estimators import CRF, StructuredPerceptron, StructuredSVM
from structlearn.estimators.assembly import assemble
from structlearn.features.arrays import DenseEncoder
from structlearn.features.tokens import TokenEncoder
from structlearn.features.vocabulary import Vocabulary
from structlearn.scoring import SparseWeights
from structlearn.structures import Chain
from tests.estimators.estimator_data import points, quietly, sentences, sequences


def pieces(model):
    """The encoders and the stored rows of a fitted model."""
    weights = {}
    for name, block in model._layout.present().items():
        values = model._weights[block.offset : block.offset + block.size]
        if block.column is not None:
            weights[name] = SparseWeights(block.row_ptr, block.column, values, block.real)
        elif block.hierarchy:
            weights[name] = values.reshape(block.n_features, block.n_columns).T
        else:
            weights[name] = block.to_dense(values)
    return model._encoder.encoders, weights


TREE = (("D", "N"), "V")
CASES = [
    (CRF(max_iter=5), sentences),
    (CRF(Chain(order=2), boundaries=False, all_possible_transitions=False, max_iter=5), sentences),
    (CRF(all_possible_states=True, max_iter=5), sentences),
    (CRF(forbid={"transition": [("D", "V")], "start": ["V"]}, boundaries=False, max_iter=5), None),
    (StructuredPerceptron(max_iter=3, random_state=0), sequences),
    (StructuredSVM(hierarchy=TREE, max_iter=3, random_state=0), sequences),
    (CRF("multiclass", max_iter=5), points),
]


@pytest.mark.parametrize(("estimator", "data"), CASES, ids=range(len(CASES)))
def test_there_and_back(estimator, data):
    X, y = (data or sentences)()
    model = quietly(estimator, X, y)
    encoders, weights = pieces(model)
    again = assemble(clone(model), model.classes_, encoders, weights)
    assert again.n_iter_ == 0
    assert again.objective_ is None
    np.testing.assert_array_equal(again._weights, model._weights)
    for a, b in zip(model.predict(X), again.predict(X), strict=True):
        np.testing.assert_array_equal(a, b)
    if isinstance(model, CRF):
        for a, b in zip(model.predict_marginals(X), again.predict_marginals(X), strict=True):
            np.testing.assert_array_equal(a, b)
    assert getattr(again, "n_features_in_", None) == getattr(model, "n_features_in_", None)


def test_weights_as_in_coef():
    X, y = sequences()
    model = quietly(CRF(max_iter=5), X, y)
    again = assemble(CRF(), model.classes_, model._encoder.encoders, model.coef_)
    np.testing.assert_array_equal(again._weights, model._weights)


def test_training_goes_on():
    X, y = sentences()
    model = quietly(CRF(max_iter=3), X, y)
    warm = assemble(CRF(warm_start=True, tol=1e-12), model.classes_, *pieces(model))
    warm.fit(X, y)
    cold = CRF(tol=1e-12).fit(X, y)
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-9)


def test_an_online_learner_begins_anew():
    """Averages and step counts belong to the weights that were there before."""
    X, y = sequences()
    model = quietly(StructuredPerceptron(max_iter=3, random_state=0), X, y)
    assemble(model, model.classes_, *pieces(model))
    with pytest.raises(ValueError, match="the first call of partial_fit needs classes"):
        model.partial_fit(X, y)


def tokens(*names):
    return {"label": TokenEncoder(vocabulary=Vocabulary(names))}


def rows(row_ptr, column, values, real=None):
    arrays = [np.array(a) for a in (row_ptr, column)]
    return SparseWeights(*arrays, np.array(values, dtype=np.float64), real)


GOOD = {"label": rows([0, 1, 3], [1, 0, 1], [1.0, 2.0, 3.0]), "transition": np.zeros((2, 2))}


def test_rows_of_weights():
    model = assemble(CRF(boundaries=False), np.array(["A", "B"]), tokens("x", "y"), GOOD)
    np.testing.assert_array_equal(model.coef_["label"], [[0, 2], [1, 3]])
    assert model.predict([["x", "?"]])[0].tolist() == ["B", "A"]


@pytest.mark.parametrize(
    ("classes", "encoders", "changed", "message"),
    [
        ([], tokens("x", "y"), {}, "at least one label"),
        (["A", "A"], tokens("x", "y"), {}, "a label appears twice"),
        (["A", "B"], {}, {}, "no features for the block 'label'"),
        (["A", "B"], tokens("x", "y"), {"start": np.zeros(2)}, r"expected weights of \['label"),
        (["A", "B", "C"], tokens("x", "y"), {}, r"transition: expected weights of shape \(3, 3\)"),
        (["A", "B"], tokens("x"), {}, "the row pointers of label must go from 0 to 3"),
        (["A", "B"], {"label": DenseEncoder()}, {}, "the row pointers of label must go"),
        (["A", "B"], None, {"label": np.zeros((2, 3))}, "label: expected weights of shape"),
        (["A", "B"], None, {"label": rows([0, 2, 1], [0], [1.0])}, "pointers of label decrease"),
        (["A", "B"], None, {"label": rows([1, 1, 1], [0], [1.0])}, "row pointers of label must"),
        (["A", "B"], None, {"label": rows([0, 0, 1], [0, 1], [1.0])}, "not as many outcomes"),
        (["A", "B"], None, {"label": rows([0, 0, 1], [0], [1.0], [1, 1])}, "not as many outcomes"),
        (["A", "B"], None, {"label": rows([0, 0, 1], [2], [1.0])}, "belongs to another one"),
        (["A", "B"], None, {"label": rows([0, 0, 1], [-1], [1.0])}, "belongs to another one"),
        (["A", "B"], None, {"label": rows([0, 0, 2], [1, 0], [1, 1])}, "must increase within"),
        (["A", "B"], None, {"label": rows([0, 2, 2], [1, 1], [1, 1])}, "must increase within"),
        (["A", "B"], None, {"label": rows([0, 0, 1], [0], [np.nan])}, "must be finite"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together(classes, encoders, changed, message):
    estimator = CRF(boundaries=False)
    with pytest.raises(ValueError, match=message):
        assemble(
            estimator,
            np.array(classes),
            tokens("x", "y") if encoders is None else encoders,
            {**GOOD, **changed},
        )
    assert not hasattr(estimator, "classes_")  # left as it was


def test_shared_weights_are_dense_and_by_node():
    estimator = CRF(hierarchy=(("A", "B"), "C"), boundaries=False)
    given = {"label": rows([0, 0], [], []), "transition": np.zeros((3, 3))}
    with pytest.raises(ValueError, match="shared in a hierarchy"):
        assemble(estimator, np.array(["A", "B", "C"]), tokens("x"), given)
    with pytest.raises(ValueError, match=r"expected weights of shape \(4, 1\), one row per node"):
        assemble(
            estimator, np.array(["A", "B", "C"]), tokens("x"), {**given, "label": np.zeros((3, 1))}
        )
