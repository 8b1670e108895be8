"""Labels that are None or a set, through fit, score and predict_proba."""

import itertools

import numpy as np
import pytest

from structlearn.estimators import CRF, HMM, StructuredModel, StructuredPerceptron, StructuredSVM
from structlearn.structures import Chain, SemiMarkov
from tests.estimators.estimator_data import NAMES, points, quietly, same_coef, sentences, sequences
from tests.estimators.segment_data import draw_segments

MODELS = {
    "crf": lambda: CRF(max_iter=30, random_state=0),
    "svm": lambda: StructuredSVM(solver="sgd", max_iter=5, random_state=0),
    "perceptron": lambda: StructuredPerceptron(max_iter=3, random_state=0),
    "rounds": lambda: StructuredModel(
        margin=0.0, temperature=1.0, latent="cccp", max_iter=30, random_state=0
    ),
}


def hidden(y, seed=0, share=0.5, names=NAMES):
    """Replace a share of the labels by sets of two."""
    rng = np.random.default_rng(seed)
    following = dict(zip(names, (*names[1:], names[0]), strict=True))
    return [[{k, following[k]} if rng.random() < share else k for k in row] for row in y]


def by_position(segments):
    return [k for start, end, k in segments for _ in range(end - start)]


def forms(y, i, t, label):
    """Return y with another label at one place."""
    changed = [list(row) for row in y]
    changed[i][t] = label
    return changed


# -- what sets stand for --------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_a_set_of_one_is_a_label_and_a_set_of_all_is_none(name):
    X, y = sentences()
    make = MODELS[name]
    plain = quietly(make(), X, y)
    assert same_coef(plain, quietly(make(), X, forms(y, 2, 1, {y[2][1]})))
    unknown = quietly(make(), X, forms(y, 2, 1, None))
    for every in ({"D", "N", "V"}, frozenset({"D", "N", "V"})):
        assert same_coef(unknown, quietly(make(), X, forms(y, 2, 1, every)))
    two = quietly(make(), X, forms(y, 2, 1, {"N", "D"}))
    assert same_coef(two, quietly(make(), X, forms(y, 2, 1, frozenset({"D", "N"}))))
    assert not same_coef(two, unknown)


@pytest.mark.parametrize("name", MODELS)
def test_learns_from_sets(name):
    X, y = sequences(n=60, noise=0.2)
    model = quietly(MODELS[name](), X, hidden(y))
    assert model.score(X, y) > 0.8
    assert model.duality_gap_ is None
    assert model.classes_.tolist() == list(NAMES)
    X, y = points(n=200, noise=0.2)
    labels = [row[0] for row in hidden([[k] for k in y])]
    single = MODELS[name]().set_params(structure="multiclass")
    assert quietly(single, X, labels).score(X, y) > 0.8


def test_segments():
    X, y = draw_segments(40)
    rng = np.random.default_rng(1)
    partly = [[(a, b, {k, "A"} if rng.random() < 0.4 else k) for a, b, k in row] for row in y]
    model = CRF(SemiMarkov(3)).fit(X, partly)
    assert model.score(X, y) > 0.8
    assert model.score(X, partly) >= model.score(X, y)


def test_weights_exist_for_every_label_of_a_set():
    X = [[["a"], ["b"]], [["c"], ["d"]]]
    model = quietly(CRF(), X, [["D", "N"], [{"N", "V"}, None]])
    weights = dict(zip(model.feature_names_["label"], model.coef_["label"].T, strict=True))
    assert weights["c"][0] == 0
    assert (weights["c"][1:] != 0).all()
    assert not weights["d"].any()
    named = [{"segment": [[f"x={i}.{t}.{d}"] for t in range(2) for d in range(2)]} for i in (0, 1)]
    y = [[(0, 1, "A"), (1, 2, "B")], [(0, 1, {"B", "C"}), (1, 2, None)]]
    model = quietly(CRF(SemiMarkov(2)), named, y)
    weights = dict(zip(model.feature_names_["segment"], model.coef_["segment"].T, strict=True))
    assert weights["x=1.0.0"][0] == 0
    assert (weights["x=1.0.0"][1:] != 0).all()
    assert not weights["x=1.1.0"].any()


# -- scores and probabilities ---------------------------------------------------------------------


def test_score_takes_any_label_of_a_set():
    X, y = sequences()
    model = CRF().fit(X, y)
    predicted = model.predict(X)
    weights = np.arange(len(X)) % 3
    right = total = 0.0
    loose = [
        [{k, "V"} if t % 2 else (None if t == 2 else k) for t, k in enumerate(row)] for row in y
    ]
    for row, found, weight in zip(loose, predicted, weights, strict=True):
        for gold, label in zip(row, found, strict=True):
            if gold is None:
                continue
            right += weight * (label in gold if isinstance(gold, set) else label == gold)
            total += weight
    assert model.score(X, loose, sample_weight=weights) == pytest.approx(right / total)
    segments, outputs = draw_segments(20)
    model = CRF(SemiMarkov(3)).fit(segments, outputs)
    anything = [[(a, b, {"A", "B"}) for a, b, _ in row] for row in outputs]
    found = np.concatenate([by_position(row) for row in model.predict(segments)])
    assert model.score(segments, anything) == pytest.approx(np.mean(np.isin(found, ["A", "B"])))


def test_probability_of_a_partial_output_is_that_of_all_it_allows():
    X, y = sequences(n=6, length=3)
    model = CRF().fit(X, y)
    loose = [["D", {"N", "V"}, None]] * len(X)
    total = sum(
        model.predict_proba(X, [["D", b, c]] * len(X)) for b, c in itertools.product("NV", "DNV")
    )
    np.testing.assert_allclose(model.predict_proba(X, loose), total, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X, [[None] * 3] * len(X)), 1.0, rtol=1e-12)


# -- weights of examples and classes --------------------------------------------------------------


def test_sample_weight_is_a_number_of_copies():
    X, y = sequences(n=12)
    y = hidden(y)
    weights = np.arange(len(X)) % 3 + 1
    options = {"margin": 0.0, "temperature": 1.0, "tol": 1e-10, "max_iter": 500}
    copies = np.repeat(np.arange(len(X)), weights)
    twins = [X[i] for i in copies], [y[i] for i in copies]
    for latent in ("direct", "cccp"):
        weighted = StructuredModel(latent=latent, random_state=0, **options)
        copied = StructuredModel(latent=latent, random_state=0, **options)
        quietly(weighted, X, y, sample_weight=weights)
        quietly(copied, *twins)
        assert weighted.objective_ == pytest.approx(copied.objective_, rel=1e-6)


def test_class_weights_of_sets():
    X = np.eye(4)
    y = ["a", "b", {"b", "c"}, None]
    X_all, y_all = np.vstack([X, [[1, 1, 0, 0]]]), [*y, "c"]
    given = {"a": 1.0, "b": 2.0, "c": 6.0}
    problem = StructuredModel("multiclass", class_weight=given).problem(X_all, y_all)
    assert problem.sample_weight.tolist() == [1.0, 2.0, 4.0, 1.0, 6.0]
    balanced = StructuredModel("multiclass", class_weight="balanced").problem(X_all, y_all)
    # a: 1, b: 1½, c: 1½ of 4 known labels; 4 / (3 · count).
    a, b = 4 / 3, 4 / 4.5
    np.testing.assert_allclose(balanced.sample_weight, [a, b, b, 1.0, b])


# -- rounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"margin": 1.0, "temperature": 0.0, "solver": "sgd", "tol": 1e-2},
        {"margin": 0.0, "temperature": 1.0, "solver": "lbfgs"},
        {"margin": 0.0, "temperature": 1.0, "l1": 0.1},
    ],
    ids=["svm", "crf", "l1"],
)
def test_history_is_by_rounds(options):
    X, y = sequences(n=30)
    y = [*y[:10], *hidden(y[10:])]
    make = lambda **more: StructuredModel(  # noqa: E731
        latent="cccp", max_iter=300, random_state=0, **options, **more
    )
    model = quietly(make(), X, y)
    values = [record["objective"] for record in model.history_]
    assert all(b <= a for a, b in itertools.pairwise(values))
    assert model.objective_ == values[-1]
    assert all("inner_gap" in record for record in model.history_)
    assert model.duality_gap_ is None
    assert same_coef(model, quietly(make(n_jobs=2), X, y))
    # The rounds go on from where they ended.
    going = quietly(make(warm_start=True), X, y)
    assert quietly(going, X, y).objective_ <= model.objective_ * (1 + 1e-12)


def test_rounds_only_where_labels_are_unknown():
    X, y = sequences()
    plain = CRF().fit(X, y)
    model = StructuredModel(
        margin=0.0, temperature=1.0, latent="cccp", max_iter=1000
    ).fit(X, y)  # fmt: skip
    assert same_coef(plain, model)
    assert model.duality_gap_ == plain.duality_gap_


def test_hidden_states_are_told_apart():
    """XOR of two sides: no single state a label can do it, two can."""
    rng = np.random.default_rng(3)
    side = rng.integers(0, 2, size=(200, 2))
    X = np.column_stack([2.0 * side - 1, np.ones(200)]) + 0.1 * rng.normal(size=(200, 3))
    y = np.where(side[:, 0] == side[:, 1], "same", "other")
    states = [{f"{k}/0", f"{k}/1"} for k in y]
    assert CRF("multiclass").fit(X, y).score(X, y) < 0.8
    options = {"C": 10.0, "random_state": 1, "max_iter": 500}
    for latent in ("direct", "cccp"):
        model = StructuredModel(
            "multiclass", margin=0.0, temperature=1.0, latent=latent, **options
        )  # fmt: skip
        assert quietly(model, X, states).score(X, states) == 1.0
    hinge = StructuredModel("multiclass", latent="cccp", solver="sgd", tol=1e-2, **options)
    assert quietly(hinge, X, states).score(X, states) == 1.0


# -- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["D", set()], ["N"]], "example 0, position 1: the set of allowed labels is empty"),
        ([["D", "N"], [{None, "N"}]], "example 1, position 0: label None of a set is not among"),
        ([["D", {("N", 0), "V"}], ["N"]], "a label is a string or a number, not a tuple"),
        ([["D", {1, 2}], ["N"]], "the labels of y are of different types"),
        ([{"D", "N"}, ["N"]], r"example 0: the output \{.*\} is a set, not a sequence of labels"),
        ([[set(), None], [None]], "y has no labels"),
    ],
)
def test_bad_sets(y, message):
    with pytest.raises(ValueError, match=message):
        CRF().fit([[["a"], ["b"]], [["c"]]], y)


def test_unseen_label_in_a_set():
    """It is never predicted, so the rest of the set decides."""
    X, y = sequences()
    model = CRF().fit(X, y)
    with pytest.raises(ValueError, match="example 0, position 1: label 'X' of a set is not among"):
        model.predict_proba(X, forms(y, 0, 1, {"D", "X"}))
    assert model.score(X, forms(y, 0, 1, {"D", "X"})) == model.score(X, forms(y, 0, 1, "D"))
    assert model.score(X, forms(y, 0, 1, {"Y", "X"})) == model.score(X, forms(y, 0, 1, "X"))
    everything = set(model.classes_.tolist())
    unknown = model.score(X, forms(y, 0, 1, None))
    assert model.score(X, forms(y, 0, 1, everything | {"X"})) == unknown


def test_options_that_make_no_sense():
    X, y = sequences()
    loose = forms(y, 0, 0, {"D", "N"})
    with pytest.raises(ValueError, match="latent must be 'auto', 'cccp' or 'direct', got 'em'"):
        StructuredModel(latent="em").fit(X, y)
    with pytest.raises(ValueError, match="which 'perceptron' is not"):
        StructuredModel(margin=0.0, latent="cccp").fit(X, loose)
    with pytest.raises(ValueError, match="the zero-one cost needs all labels to be known"):
        StructuredSVM(cost="zero-one", solver="sgd").fit(X, loose)
    with pytest.raises(ValueError, match="no legal output is left"):
        StructuredModel(forbid={"label": ["D", "N"]}, solver="sgd").fit(
            X[:1], [[{"D", "N"}, *["V"] * (len(X[0]) - 1)]]
        )


def test_a_count_leaves_sets_out():
    X = [["the", "dog", "ate"], ["the", "fish"]]
    y = [["D", "N", "V"], ["D", {"N", "V"}]]
    unknown = HMM().fit(X, forms(y, 1, 1, None))
    found = HMM().fit(X, y)
    assert found.predict(X)[0].tolist() == ["D", "N", "V"]
    assert found.score(X, y) == 1.0
    for one, other in zip(unknown.predict_marginals(X), found.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(one, other)


def test_partial_fit_takes_sets():
    X, y = sequences(n=10)
    y = hidden(y)
    model = StructuredModel(Chain(), solver="sgd", latent="cccp", random_state=0)
    for _ in range(3):
        model.partial_fit(X, y, classes=list(NAMES))
    fitted = StructuredModel(
        Chain(), solver="sgd", latent="direct", random_state=0, max_iter=3, shuffle=False
    )  # fmt: skip
    assert same_coef(model, quietly(fitted, X, y))
