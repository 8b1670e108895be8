"""X, y and sample_weight of any kind that NumPy can read are read as the array that they are."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError

from structlearn.estimators import (
    CRF,
    HMM,
    MultiLabelClassifier,
    StructuredModel,
    StructuredPerceptron,
    StructuredSVM,
)
from tests.estimators.estimator_data import points, quietly, same_coef, same_outputs, sequences


class ArrayLike:
    """An object with nothing but ``__array__``."""

    def __init__(self, values):
        self._values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._values, dtype=dtype)


def read_only(values, path):
    np.save(path, values)
    return np.load(path, mmap_mode="r")


def indicators(y):
    return np.stack([y == "D", y != "V"], axis=1).astype(np.int64)


SINGLE = [
    CRF("multiclass"),
    StructuredSVM("multiclass", C=0.1, random_state=0),
    StructuredPerceptron("multiclass", random_state=0),
]
CHAINS = [CRF(), StructuredPerceptron(random_state=0), HMM()]
BY_NAME = {"ids": lambda m: type(m).__name__}
WHOLE = np.round(10 * points()[0])


def fitted(model):
    """What fit has found, as arrays."""
    model = getattr(model, "estimator_", model)
    if isinstance(model, HMM):
        return [model.transition_, model.start_, model.end_, model.emissions_.means]
    return [model._weights]


def same_fit(one, other):
    return all(map(np.array_equal, fitted(one), fitted(other)))


# -- X --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [*SINGLE, MultiLabelClassifier()], **BY_NAME)
@pytest.mark.parametrize(
    "kind",
    [
        "float32", "int8", "int64", "object", ">f8", "list", "tuples", "rows", "strided", "fortran",
        "array-like", "read-only",
    ],
)  # fmt: skip
def test_points(model, kind, tmp_path):
    y = points()[1]
    y = indicators(y) if isinstance(model, MultiLabelClassifier) else y
    expected = quietly(clone(model), WHOLE, y)
    X = {
        "list": WHOLE.tolist,
        "tuples": lambda: tuple(map(tuple, WHOLE)),
        "rows": lambda: list(WHOLE),
        "strided": lambda: np.repeat(WHOLE, 2, axis=1)[:, ::2],
        "fortran": lambda: np.asfortranarray(WHOLE),
        "array-like": lambda: ArrayLike(WHOLE),
        "read-only": lambda: read_only(WHOLE, tmp_path / "X.npy"),
    }.get(kind, lambda: WHOLE.astype(kind))()
    found = quietly(clone(model), X, y)
    assert same_fit(found, expected)
    np.testing.assert_array_equal(found.predict(X), expected.predict(WHOLE))
    assert found.score(X, y) == expected.score(WHOLE, y)


@pytest.mark.parametrize("model", CHAINS, **BY_NAME)
@pytest.mark.parametrize("kind", ["float32", "int8", "object", "list", "array-like", "read-only"])
def test_sequences(model, kind, tmp_path):
    X, y = sequences()
    X = [np.round(10 * x) for x in X]
    expected = quietly(clone(model), X, y)
    make = {
        "list": lambda x, i: x.tolist(),
        "array-like": lambda x, i: ArrayLike(x),
        "read-only": lambda x, i: read_only(x, tmp_path / f"{i}.npy"),
    }.get(kind, lambda x, i: x.astype(kind))
    given = [make(x, i) for i, x in enumerate(X)]
    found = quietly(clone(model), given, y)
    assert same_fit(found, expected)
    assert same_outputs(found.predict(given), expected.predict(X))


@pytest.mark.parametrize("container", ["array", "matrix"])
@pytest.mark.parametrize("layout", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
@pytest.mark.parametrize("model", [*SINGLE, CRF(), MultiLabelClassifier()], **BY_NAME)
def test_sparse_layouts(model, layout, container):
    make = getattr(sparse, f"{layout}_{container}")
    if model.get_params().get("structure") == "chain":
        X, y = sequences()
        dense = [np.where(x > 0, x, 0.0) for x in X]
        given, plain = [make(x) for x in dense], [sparse.csr_matrix(x) for x in dense]
    else:
        X, y = points()
        y = indicators(y) if isinstance(model, MultiLabelClassifier) else y
        dense = np.where(X > 0, X, 0.0)
        given, plain = make(dense), sparse.csr_matrix(dense)
    found, expected = quietly(clone(model), given, y), quietly(clone(model), plain, y)
    assert same_fit(found, expected)
    assert same_outputs(list(found.predict(given)), list(expected.predict(dense)))


def test_entries_that_stand_twice_are_added_up():
    X, y = points()
    plain = sparse.csr_matrix(np.where(X > 0, np.round(8 * X), 0.0))
    halves = sparse.csr_matrix(
        (np.repeat(plain.data / 2, 2), np.repeat(plain.indices, 2), 2 * plain.indptr), plain.shape
    )
    for model in (CRF("multiclass", solver="lbfgs", tol=1e-10), SINGLE[2]):
        found, expected = quietly(clone(model), halves, y), quietly(clone(model), plain, y)
        np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-9)
    assert halves.nnz == 2 * plain.nnz, "and X stays as it was"


def test_more_columns_than_can_be_numbered():
    X = sparse.csr_matrix(([1.0, 1.0], ([0, 1], [2**31 + 3, 5])), shape=(2, 2**31 + 9))
    with pytest.raises(ValueError, match=r"2147483657 features: more than 2\^31 - 1"):
        CRF("multiclass").fit(X, ["a", "b"])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((4, 0)), r"0 feature\(s\) \(shape=\(4, 0\)\) while a minimum of 1 is required"),
        (sparse.csr_matrix((4, 0)), r"0 feature\(s\) \(shape=\(4, 0\)\)"),
        (np.ones((4, 2, 3)), r"two dimensions.*got shape \(4, 2, 3\).*Reshape your data"),
        (np.float64(3.0), r"two dimensions.*got shape \(\)"),
        ([[1.0, 2.0], [3.0], [4.0, 5.0], [6.0, 7.0]], "example 1 has 1 features, example 0 has 2"),
        ([[1.0, "a"]] * 4, "X is not an array of numbers: could not convert string to float"),
        (np.full((4, 2), 1j), "Complex data not supported"),
        ([[1j, 2.0]] * 4, "Complex data not supported"),
        (sparse.csr_matrix(np.full((4, 2), 1j)), "Complex data not supported"),
    ],
)
def test_points_that_are_none(X, message):
    with pytest.raises(ValueError, match=message):
        CRF("multiclass").fit(X, list("abab"))


@pytest.mark.parametrize("model", CHAINS, **BY_NAME)
def test_sequences_that_are_none(model):
    for X in (np.ones(3), [1.0, 2.0, 3.0]):
        with pytest.raises(ValueError, match="example 0"):
            clone(model).fit(X, [["a"], ["b"], ["a"]])


@pytest.mark.parametrize("model", [*SINGLE, *CHAINS, MultiLabelClassifier()], **BY_NAME)
def test_complex_numbers_are_refused(model):
    """They would lose their imaginary part."""
    if isinstance(model, HMM) or model.get_params().get("structure") == "chain":
        X, y = sequences()
        kinds = [[x + 1j for x in X], [(x + 1j).tolist() for x in X]]
        if not isinstance(model, HMM):
            kinds.append([sparse.csr_matrix(x + 1j) for x in X])
    else:
        X, y = points()
        y = indicators(y) if isinstance(model, MultiLabelClassifier) else y
        kinds = [X + 1j, sparse.csr_matrix(X + 1j)]
    model = quietly(clone(model), X, y)
    for bad in kinds:
        for call in (lambda X: clone(model).fit(X, y), model.predict, lambda X: model.score(X, y)):
            with pytest.raises(ValueError, match="Complex data not supported"):
                call(bad)
    with pytest.raises(ValueError, match="Complex data not supported: sample_weight"):
        clone(model).fit(X, y, sample_weight=np.full(len(y), 1j))


# -- y --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", SINGLE, **BY_NAME)
def test_labels(model):
    X, y = points()
    expected = quietly(clone(model), X, y)
    for given in (y.tolist(), tuple(y), y.astype(object), ArrayLike(y)):
        found = quietly(clone(model), X, given)
        assert same_coef(found, expected)
        assert found.score(X, given) == expected.score(X, y)
    for column in (y[:, np.newaxis], y[:, np.newaxis].tolist(), ArrayLike(y[:, np.newaxis])):
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
            found = clone(model).fit(X, column)
        assert same_coef(found, expected)
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
            assert found.score(X, column) == expected.score(X, y)
    pandas = pytest.importorskip("pandas")
    for series in (
        pandas.Series(y, index=range(7, 7 + len(y))),
        pandas.Series(y, dtype="category"),
    ):
        assert same_coef(quietly(clone(model), X, series), expected)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.linspace(0.0, 1.0, 4), "Unknown label type: continuous"),
        ([0.5, 1.5, 0.5, 1.5], "Unknown label type: continuous"),
        ([1.0, np.inf, 1.0, 2.0], "y contains infinity"),
        ([1.0, np.nan, 1.0, 2.0], "y contains NaN; write None"),
        (np.ones((4, 2)), r"y should be a 1d array, got an array of shape \(4, 2\)"),
        (np.array([1, 2, 1j, 2]), "Complex data not supported"),
        (None, "requires y to be passed, but the target y is None"),
        ({0: "a", 1: "b", 2: "a", 3: "b"}, "y must be a list of outputs, got dict"),
        ({"a", "b", "c", "d"}, "y must be a list of outputs, got set"),
        ("abab", "y must be a list of outputs, got str"),
        (np.float64(3.0), "y must be a list of outputs"),
        ([["a"], ["b", "c"], ["a"], ["b"]], "example 0: a label is a string or a number"),
    ],
)
def test_labels_that_are_none(y, message):
    with pytest.raises(ValueError, match=message):
        CRF("multiclass").fit(np.eye(4), y)


def test_numbers_that_name_classes():
    """Whole numbers are classes whatever their type; sequences may have any numbers."""
    X = np.eye(4)
    assert CRF("multiclass").fit(X, [1.0, 2.0, 1.0, 2.0]).classes_.tolist() == [1.0, 2.0]
    assert CRF("multiclass").fit(X, [True, False, True, False]).classes_.dtype == bool
    assert CRF().fit([X], [[0.5, 1.5, 0.5, 1.5]]).classes_.tolist() == [0.5, 1.5]
    with pytest.raises(ValueError, match="y contains infinity"):
        CRF().fit([X], [[0.5, np.inf, 0.5, 1.5]])


@pytest.mark.parametrize("model", CHAINS, **BY_NAME)
def test_outputs(model):
    X, y = sequences(n=12, length=4)
    expected = quietly(clone(model), X, y)
    for given in (np.array(y), np.array(y, dtype=object), tuple(map(tuple, y))):
        assert same_fit(quietly(clone(model), X, given), expected)
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([pandas.Series(row) for row in y], index=range(7, 19))
    assert same_fit(quietly(clone(model), X, series), expected)


def test_indicators():
    X, y = points()
    Y = indicators(y)
    expected = MultiLabelClassifier().fit(X, Y)
    kinds = [Y.astype(bool), Y.astype(float), Y.tolist(), ArrayLike(Y)]
    for given in [*kinds, sparse.csr_matrix(Y), sparse.coo_array(Y)]:
        assert same_fit(MultiLabelClassifier().fit(X, given), expected)
    for given in kinds:
        assert expected.score(X, given) == expected.score(X, Y)
    for bad, message in (
        (y, "Only binary classification is supported.*'multiclass'"),
        (np.linspace(0, 1, len(X)), "continuous"),
        (np.where(Y, 2, 1), "it must be 0 or 1"),
        (np.where(Y, np.inf, 1), "infinity"),
    ):
        with pytest.raises(ValueError, match=message):
            MultiLabelClassifier().fit(X, bad)


# -- weights of examples --------------------------------------------------------------------------


@pytest.mark.parametrize("model", [*SINGLE, *CHAINS, MultiLabelClassifier()], **BY_NAME)
def test_weights_of_examples(model):
    if isinstance(model, HMM) or model.get_params().get("structure") == "chain":
        X, y = sequences()
    else:
        X, y = points()
        y = indicators(y) if isinstance(model, MultiLabelClassifier) else y
    weights = np.arange(len(y)) % 3
    before = weights.copy()
    expected = clone(model).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(weights, before)
    kinds = [weights.tolist(), weights.astype(np.float32), ArrayLike(weights)]
    for given in kinds:
        assert same_fit(clone(model).fit(X, y, sample_weight=given), expected)
    with pytest.raises(ValueError, match="weight"):
        clone(model).fit(X, y, sample_weight=np.zeros(len(y)))


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (CRF(tol=1e-13, max_iter=2000), sequences),
        (StructuredModel(temperature=0.5, tol=1e-13, max_iter=2000), sequences),
        (HMM(), sequences),
        (MultiLabelClassifier(CRF(solver="lbfgs", tol=1e-13, max_iter=2000)), points),
    ],
    ids=["CRF", "StructuredModel", "HMM", "MultiLabelClassifier"],
)
def test_a_weight_is_a_number_of_copies(model, data):
    """What scikit-learn checks of single labels, for sequences and sets of labels."""
    X, y = data()
    if data is points:
        y = indicators(y)
    weights = np.random.default_rng(0).integers(0, 4, size=len(y))
    weighted = quietly(clone(model), X, y, sample_weight=weights)
    copies = np.repeat(np.arange(len(y)), weights)
    repeated = quietly(clone(model), [X[i] for i in copies], [y[i] for i in copies])
    for one, other in zip(fitted(weighted), fitted(repeated), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)


# -- conventions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [HMM(), MultiLabelClassifier()], **BY_NAME)
def test_conventions_of_the_others(model):
    """As test_scikit_learn.py has it for the learners of structures."""
    X, y = sequences() if isinstance(model, HMM) else points()
    y = y if isinstance(model, HMM) else indicators(y)
    fresh = clone(model)
    for name in ("predict", "predict_proba", "predict_marginals", "predict_kbest", "sample"):
        if hasattr(fresh, name):
            with pytest.raises(NotFittedError):
                getattr(fresh, name)(X)
    with pytest.raises(NotFittedError):
        fresh.score(X, y)
    parameters = fresh.get_params()
    assert fresh.fit(X, y) is fresh
    assert fresh.get_params() == parameters
    again = pickle.loads(pickle.dumps(fresh))
    assert same_outputs(list(again.predict(X)), list(fresh.predict(X)))
    state = dict(vars(fresh))
    fresh.predict(X), fresh.predict_proba(X), fresh.score(X, y)
    assert vars(fresh).keys() == state.keys()
    assert all(vars(fresh)[name] is state[name] for name in state)
    before = fitted(fresh)
    assert all(map(np.array_equal, fitted(fresh.fit(X, y)), before)), "fit begins anew"


@pytest.mark.parametrize("kind", [CRF, StructuredPerceptron, HMM])
def test_iterators_are_read_once(kind):
    X, y = [["the", "dog"], ["dog"]], [["D", "N"], ["N"]]
    seed = {"random_state": 0} if "random_state" in kind().get_params() else {}
    model = quietly(kind(**seed), X, y)
    from_iterators = quietly(kind(**seed), iter(X), (row for row in y))
    assert list(map(list, from_iterators.predict(iter(X)))) == [list(p) for p in model.predict(X)]
    assert from_iterators.score(iter(X), iter(y)) == model.score(X, y)
    np.testing.assert_array_equal(
        from_iterators.predict_proba(iter([*X, []]), iter([*y, []])),
        model.predict_proba([*X, []], [*y, []]),
    )
