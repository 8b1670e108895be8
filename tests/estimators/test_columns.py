"""Columns of X have numbers and names, and are never taken by their place where names differ."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

from structlearn.estimators import (
    AROW,
    CRF,
    HMM,
    AdaGrad,
    MultiLabelClassifier,
    PassiveAggressive,
    StructuredModel,
    StructuredPerceptron,
    StructuredSVM,
)
from tests.estimators.estimator_data import points, quietly, same_coef, same_outputs, sequences

NAMES = ["a", "b", "c", "d"]


class Frame:
    """The least that scikit-learn takes for a data frame, by either protocol that it knows."""

    def __init__(self, values, columns):
        self.values, self.columns = np.asarray(values), list(columns)

    @property
    def shape(self):
        return self.values.shape

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)

    def __dataframe__(self, **options):
        return self

    def column_names(self):
        return self.columns

    def __narwhals_dataframe__(self):
        from narwhals import Implementation

        self._implementation = Implementation.UNKNOWN
        return self

    def _with_version(self, version):
        self._version = version
        return self


def pandas_frame(values, columns):
    return pytest.importorskip("pandas").DataFrame(np.asarray(values), columns=list(columns))


def polars_frame(values, columns):
    values = np.asarray(values)
    polars = pytest.importorskip("polars")
    return polars.DataFrame({name: values[:, j] for j, name in enumerate(columns)})


FRAMES = pytest.mark.parametrize(
    "frame", [Frame, pandas_frame, polars_frame], ids=["protocol", "pandas", "polars"]
)
SINGLE = [
    StructuredPerceptron("multiclass", random_state=0),
    StructuredSVM("multiclass", C=0.1, random_state=0),
    CRF("multiclass"),
    PassiveAggressive("multiclass", random_state=0),
    AdaGrad("multiclass", random_state=0),
    AROW("multiclass", random_state=0),
    StructuredModel("multiclass", temperature=0.5),
    MultiLabelClassifier(),
]
CHAINS = [CRF(), StructuredSVM(C=0.1, random_state=0), StructuredPerceptron(random_state=0), HMM()]


def of(model, X, y):
    """y as the model wants it."""
    return np.stack([y == k for k in ("D", "N")], axis=1) if "graph" in vars(model) else y


def calls(model, y):
    """Everything that takes X."""
    yield model.predict
    yield model.predict_proba
    yield lambda X: model.score(X, y)
    for name in ("predict_marginals", "predict_kbest", "sample"):
        if hasattr(model, name):
            yield getattr(model, name)
    if hasattr(model, "predict_kbest"):
        yield lambda X: model.predict_proba(X, y)


def messages(call, *arguments):
    """What scikit-learn warns about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*arguments)
    return [str(w.message) for w in caught if "feature names" in str(w.message)]


# -- (n, d) ---------------------------------------------------------------------------------------


@FRAMES
@pytest.mark.parametrize("model", SINGLE, ids=lambda m: type(m).__name__)
def test_names_of_columns(model, frame):
    X, y = points(d=4)
    y = of(model, X, y)
    named, plain = quietly(clone(model), frame(X, NAMES), y), quietly(clone(model), X, y)
    assert named.feature_names_in_.tolist() == NAMES
    assert named.feature_names_in_.dtype == object
    assert named.n_features_in_ == plain.n_features_in_ == 4
    assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_array_equal(named.predict(frame(X, NAMES)), plain.predict(X))
    # What a classifier of scikit-learn says is what is said here.
    rival = GaussianNB().fit(frame(X, NAMES), np.arange(len(X)) % 2)
    for bad in (
        frame(X[:, ::-1], NAMES[::-1]),
        frame(X, ["a", "b", "c", "e"]),
        frame(X[:, :3], NAMES[:3]),
        X[:, :3],
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ValueError, match="feature") as expected:
                rival.predict(bad)
            for call in calls(named, y):
                with pytest.raises(ValueError, match="feature") as found:
                    call(bad)
                theirs = str(expected.value).replace("GaussianNB", type(model).__name__)
                assert str(found.value) == theirs
    name = type(model).__name__
    for call in calls(named, y):
        assert messages(call, frame(X, NAMES)) == []
        assert messages(call, X) == [
            f"X does not have valid feature names, but {name} was fitted with feature names"
        ]
    for call in calls(plain, y):
        assert messages(call, X) == []
        assert messages(call, frame(X, NAMES)) == [
            f"X has feature names, but {name} was fitted without feature names"
        ]
    assert pickle.loads(pickle.dumps(named)).feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize("model", SINGLE, ids=lambda m: type(m).__name__)
def test_names_follow_fit(model):
    """A new fit forgets the names, a failed one changes nothing."""
    X, y = points(d=4)
    y = of(model, X, y)
    model = quietly(clone(model), Frame(X, NAMES), y)
    before, expected = set(vars(model)), model.predict(Frame(X, NAMES))
    with pytest.raises(ValueError, match=r"X has|inconsistent"):
        model.fit(Frame(X[:, :2], ["u", "v"]), y[:-1])
    assert model.feature_names_in_.tolist() == NAMES
    assert model.n_features_in_ == 4
    assert set(vars(model)) == before
    np.testing.assert_array_equal(model.predict(Frame(X, NAMES)), expected)
    quietly(model, Frame(X[:, :2], ["u", "v"]), y)
    assert model.feature_names_in_.tolist() == ["u", "v"]
    quietly(model, X[:, :3], y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3


def test_learner_that_fails_leaves_labels_as_they_were():
    X, y = points(d=4)
    Y = of(MultiLabelClassifier(), X, y)
    model = MultiLabelClassifier().fit(X, Y)
    expected = model.predict(X)
    with pytest.raises(ValueError, match="C must be"):
        model.set_params(estimator=CRF(C=-1)).fit(X[:, :2], Y[:, :1])
    assert model.n_features_in_ == 4
    assert model.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(model.predict(X), expected)


def test_going_on_needs_the_same_columns():
    X, y = points(d=4)
    other = Frame(X[:, ::-1], NAMES[::-1])
    classes = ["D", "N", "V"]
    one = StructuredPerceptron("multiclass").partial_fit(Frame(X, NAMES), y, classes=classes)
    two = CRF("multiclass", warm_start=True).fit(Frame(X, NAMES), y)
    for model, go_on in ((one, one.partial_fit), (two, two.fit)):
        coef = model.coef_
        with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
            go_on(other, y)
        np.testing.assert_array_equal(model.coef_, coef)
        go_on(Frame(X, NAMES), y)
        assert model.feature_names_in_.tolist() == NAMES


def test_other_kinds_of_input_forget_the_columns():
    X, y = points(d=4)
    model = CRF("multiclass").fit(Frame(X, NAMES), y)
    assert model.feature_names_ == {"label": NAMES}
    model.fit([{"u": row[0]} for row in X], y)
    assert model.feature_names_ == {"label": ["u"]}
    assert not hasattr(model, "feature_names_in_")
    assert not hasattr(model, "n_features_in_"), "tokens have no columns"


def test_columns_in_a_grid_search():
    X, y = points(d=4)
    frame = pandas_frame(X, NAMES)
    search = GridSearchCV(CRF("multiclass"), {"C": [0.1, 1.0]}, cv=2).fit(frame, y)
    assert search.feature_names_in_.tolist() == NAMES
    with pytest.raises(ValueError, match="same order"):
        search.predict(frame[NAMES[::-1]])


# -- examples with rows of their own --------------------------------------------------------------


@FRAMES
@pytest.mark.parametrize("model", CHAINS, ids=lambda m: type(m).__name__)
def test_sequences_of_frames(model, frame):
    X, y = sequences()
    frames = [frame(x, NAMES) for x in X]
    named, plain = clone(model).fit(frames, y), clone(model).fit(X, y)
    assert named.feature_names_in_.tolist() == NAMES
    assert named.n_features_in_ == plain.n_features_in_ == 4
    assert not hasattr(plain, "feature_names_in_")
    assert same_outputs(named.predict(frames), plain.predict(X))
    assert named.score(frames, y) == plain.score(X, y)
    swapped = frame(X[2][:, ::-1], NAMES[::-1])
    for call in calls(named, y):
        with pytest.raises(ValueError, match=r"example 2: label: .*\n.*same order"):
            call([*frames[:2], swapped, *frames[3:]])
        assert messages(call, frames) == []
        (told,) = messages(call, [*frames[:-1], X[-1]])
        assert "X does not have valid feature names" in told
    for call in calls(plain, y):
        (told,) = messages(call, frames)
        assert "was fitted without feature names" in told
        # Even then those of one X agree with each other.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ValueError, match=r"example 2: label: .*\n.*same order"):
                call([*frames[:2], swapped, *frames[3:]])
    with pytest.raises(ValueError, match=r"example 2: label: .*\n.*same order"):
        clone(model).fit([*frames[:2], swapped, *frames[3:]], y)
    with pytest.raises(ValueError, match=r"must be a list of examples.*got"):
        clone(model).fit(frames[0], y)


def test_frames_of_blocks():
    """The columns of every block have names; what says where the edges are is no feature."""
    rng = np.random.default_rng(0)
    y = [[0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1]]
    plain = [
        {"label": rng.normal(size=(3, 2)), "edge": rng.random((2, 2)), "edges": [(0, 1), (1, 2)]}
        for _ in y
    ]
    named = [
        {
            "label": Frame(x["label"], "pq"),
            "edge": Frame(x["edge"], "uv"),
            "edges": Frame(x["edges"], ["from", "to"]),
        }
        for x in plain
    ]
    model = StructuredPerceptron("graph", random_state=0).fit(named, y)
    assert model.feature_names_ == {"label": ["p", "q"], "edge": ["u", "v"]}
    assert model.feature_names_in_.tolist() == ["p", "q"]
    expected = StructuredPerceptron("graph", random_state=0).fit(plain, y)
    assert same_coef(model, expected)
    assert same_outputs(model.predict(named), expected.predict(plain))
    named[1]["edge"] = Frame(plain[1]["edge"][:, ::-1], "vu")
    with pytest.raises(ValueError, match=r"example 1: edge: .*\n.*same order"):
        model.predict(named)


@pytest.mark.parametrize("model", CHAINS, ids=lambda m: type(m).__name__)
def test_frames_that_are_not_numbers(model):
    frames = [Frame([["the"], ["dog"]], ["word"]), Frame([["dog"]], ["word"])]
    with pytest.raises(ValueError, match="example 0: label is a data frame with non-numeric"):
        clone(model).fit(frames, [["D", "N"], ["N"]])


def test_counting_on_needs_the_same_columns():
    X, y = sequences()
    frames = [Frame(x, NAMES) for x in X]
    model = HMM().partial_fit(frames, y, classes=["D", "N", "V"])
    with pytest.raises(ValueError, match="same order"):
        model.partial_fit([Frame(x[:, ::-1], NAMES[::-1]) for x in X], y)
    assert model.partial_fit(frames, y).feature_names_in_.tolist() == NAMES
