"""One model, however its features are written down."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp

from structlearn.estimators import CRF, StructuredModel, StructuredPerceptron, StructuredSVM
from structlearn.features.encoder import ExampleEncoder
from structlearn.structures import Chain, Exhaustive
from tests.estimators.estimator_data import (
    points,
    quietly,
    same_coef,
    same_outputs,
    sentences,
    sequences,
)

VOCABULARY = ["a", "b", "c", "d"]


def bags(n=15, seed=0):
    """Sequences of sets of names, none empty, in the order of the vocabulary."""
    rng = np.random.default_rng(seed)
    X = [
        [
            [name for name, used in zip(VOCABULARY, row, strict=True) if used]
            for row in rng.random((rng.integers(1, 5), 4)) < 0.5
        ]
        for _ in range(n)
    ]
    X[0] = [VOCABULARY, ["a"], ["b"]]  # fixes the order of the columns
    y = [[("N", "V", "D")[len(token) % 3] for token in x] for x in X]
    return X, y


def one_hot(X):
    return [np.array([[float(n in token) for n in VOCABULARY] for token in x]) for x in X]


WAYS = {
    "lists": lambda X: X,
    "tuples": lambda X: [tuple(map(tuple, x)) for x in X],
    "sets": lambda X: [[set(token) for token in x] for x in X],
    "frozen sets": lambda X: [[frozenset(token) for token in x] for x in X],
    "dictionaries of bools": lambda X: [[dict.fromkeys(t, True) for t in x] for x in X],
    "dictionaries of floats": lambda X: [[dict.fromkeys(t, 1.0) for t in x] for x in X],
    "dictionaries of ints": lambda X: [[dict.fromkeys(t, np.int32(1)) for t in x] for x in X],
    "arrays of strings": lambda X: [[np.array(t, dtype=str) for t in x] for x in X],
    "arrays": one_hot,
    "nested lists of numbers": lambda X: [x.tolist() for x in one_hot(X)],
    "float32": lambda X: [x.astype(np.float32) for x in one_hot(X)],
    "ints": lambda X: [x.astype(np.int8) for x in one_hot(X)],
    "Fortran order": lambda X: [np.asfortranarray(x) for x in one_hot(X)],
    "CSR": lambda X: [sparse.csr_matrix(x) for x in one_hot(X)],
    "CSR arrays": lambda X: [sparse.csr_array(x) for x in one_hot(X)],
    "CSC": lambda X: [sparse.csc_matrix(x) for x in one_hot(X)],
    "COO with repeats": lambda X: [halves(x) for x in one_hot(X)],
    "block dictionaries": lambda X: [{"label": x} for x in X],
    "object array": lambda X: np.array([*X, None], dtype=object)[:-1],
}


def halves(x):
    """A sparse matrix that stores every entry as two halves."""
    rows, columns = np.nonzero(x)
    values = np.full(2 * len(rows), 0.5)
    return sparse.coo_matrix((values, (np.tile(rows, 2), np.tile(columns, 2))), shape=x.shape)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("all_possible_states", [False, True])
def test_same_features_same_model(way, all_possible_states):
    X, y = bags()
    if way in ("arrays", "nested lists of numbers", "float32", "ints", "Fortran order"):
        all_possible_states = True  # dense arrays have every weight
    options = {"all_possible_states": all_possible_states, "tol": 1e-13, "max_iter": 10_000}
    expected = CRF(**options).fit(X, y)
    found = CRF(**options).fit(WAYS[way](X), y)
    for name, block in expected.coef_.items():
        np.testing.assert_allclose(found.coef_[name], block, rtol=0, atol=1e-6)
    assert same_outputs(found.predict(WAYS[way](X)), expected.predict(X))
    options = {"all_possible_states": all_possible_states, "random_state": 0}
    expected = StructuredPerceptron(**options).fit(X, y)
    assert same_coef(StructuredPerceptron(**options).fit(WAYS[way](X), y), expected)


def test_one_string_a_token():
    X = [["the", "dog"], ["dog"], ["a", "dog"]]
    y = [["D", "N"], ["N"], ["D", "N"]]
    strings = CRF().fit(X, y)
    lists = CRF().fit([[[token] for token in x] for x in X], y)
    assert strings.feature_names_ == {"label": ["the", "dog", "a"]} == lists.feature_names_
    assert same_coef(strings, lists)
    assert same_coef(strings, CRF().fit([np.array(x) for x in X], y))


def test_dictionaries():
    """Strings make name:value, numbers their value, what is nested name:name and name:value."""
    X = [[
        {"w": "dog", "upper": True, "long": False, "size": 2.5, "of": {"x": 0.5, "y": "z"},
         "parts": ["p", "q"], "set": {"t", "s"}},
        {"w": "the"},
    ]]  # fmt: skip
    model = CRF(all_possible_states=True).fit(X, [["N", "D"]])
    names = ["w:dog", "upper", "long", "size", "of:x", "of:y:z", "parts:p", "parts:q", "set:s",
             "set:t", "w:the"]  # fmt: skip
    assert model.feature_names_["label"] == names
    dense = np.array([[1, 1, 0, 2.5, 0.5, 1, 1, 1, 1, 1, 0], [0] * 10 + [1.0]])
    assert same_coef(model, CRF().fit([dense], [["N", "D"]]))


def test_features_that_repeat_in_a_token_add_up():
    X = [[["a", "a", "b"], ["b"]], [["b", "b", "b"], ["a"]]]
    y = [["N", "V"], ["V", "N"]]
    dense = [np.array([[2.0, 1.0], [0.0, 1.0]]), np.array([[0.0, 3.0], [1.0, 0.0]])]
    model = CRF(all_possible_states=True, tol=1e-13).fit(X, y)
    for name, block in CRF(tol=1e-13).fit(dense, y).coef_.items():
        np.testing.assert_allclose(model.coef_[name], block, rtol=0, atol=1e-6)


def test_tokens_without_features():
    X = [[["a"], []], [[], ["b"]], [{}, set()]]
    model = CRF().fit(X, [["N", "V"], ["V", "V"], ["N", "V"]])
    assert [len(p) for p in model.predict(X)] == [2, 2, 2]
    assert [len(p) for p in model.predict([[[]], [["never seen"]]])] == [1, 1]


def test_unseen_features_are_left_out():
    X, y = sentences()
    model = CRF().fit(X, y)
    more = [[[*token, "new", "w=zebra"] for token in x] for x in X]
    for p, q in zip(model.predict_marginals(more), model.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(p, q)


@pytest.mark.parametrize("way", ["lists", "sets", "dictionaries of floats", "arrays", "CSR"])
def test_single_labels(way):
    X, y = bags()
    tokens, labels = [t for x in X for t in x], [k for row in y for k in row]
    options = {"structure": "multiclass", "all_possible_states": True, "tol": 1e-13}
    dense = np.vstack(one_hot(X))
    if way == "arrays":
        given = [row.tolist() for row in dense]
    elif way == "CSR":
        given = sparse.csr_matrix(dense)
    else:
        given = WAYS[way]([tokens])[0]
    model = CRF(**options).fit(given, labels)
    expected = CRF(**options).fit(dense, labels)
    assert model.coef_.shape == (3, 4)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(model.predict(given), expected.predict(dense))


def test_data_frames():
    """Anything with to_numpy, as data frames have."""

    class Frame:
        def __init__(self, values):
            self.values = values

        def to_numpy(self):
            return self.values

    X, y = points()
    assert same_coef(CRF("multiclass").fit(Frame(X), y), CRF("multiclass").fit(X, y))


# -- transition features --------------------------------------------------------------------------


def with_edges(seed=3, kind="dense"):
    X, y = sequences(n=10, seed=seed)
    rng = np.random.default_rng(seed)
    edges = [rng.normal(size=(len(x) - 1, 2)) for x in X]
    if kind == "tokens":
        edges = [[{"u": row[0], "v": row[1]} for row in e] for e in edges]
    elif kind == "sparse":
        edges = [sparse.csr_matrix(e) for e in edges]
    return [{"label": x, "transition": e} for x, e in zip(X, edges, strict=True)], y


def enumerated_objective(model, X, y, C):
    """½‖w‖² + C Σ log loss with every sequence scored from coef_ by hand."""
    coef, classes = model.coef_, model.classes_.tolist()
    total = 0.5 * sum((block**2).sum() for block in coef.values())
    for x, gold in zip(X, y, strict=True):

        def score(z, x=x):
            s = sum(coef["label"][k] @ x["label"][t] for t, k in enumerate(z))
            s += coef["start"][z[0]] + coef["end"][z[-1]]
            for t in range(1, len(z)):
                s += coef["transition"][z[t - 1], z[t]] @ x["transition"][t - 1]
            return s

        every = [score(z) for z in itertools.product(range(3), repeat=len(gold))]
        total += C * (logsumexp(every) - score([classes.index(k) for k in gold]))
    return total


def test_transition_features_against_enumeration():
    X, y = with_edges()
    model = CRF(C=0.6, tol=1e-12).fit(X, y)
    assert model.coef_["transition"].shape == (3, 3, 2)
    assert model.coef_["label"].shape == (3, 4)
    assert model.objective_ == pytest.approx(enumerated_objective(model, X, y, 0.6), rel=1e-12)
    # It is a minimum: any step away costs.
    problem = model.problem(X, y)
    w = problem.layout.pack(model.coef_)
    rng = np.random.default_rng(0)
    for _ in range(5):
        away = w + 1e-3 * rng.normal(size=len(w))
        assert problem.objective(away, C=0.6, margin=0, temperature=1)[0] > model.objective_
    # And the features are used.
    plain = CRF(C=0.6, tol=1e-12).fit([x["label"] for x in X], y)
    assert plain.coef_["transition"].shape == (3, 3)
    assert model.objective_ != pytest.approx(plain.objective_, rel=1e-3)


@pytest.mark.parametrize("kind", ["tokens", "sparse"])
def test_transition_features_of_other_kinds(kind):
    dense, y = with_edges()
    other, _ = with_edges(kind=kind)
    options = {"all_possible_states": True, "tol": 1e-13}
    expected, found = CRF(**options).fit(dense, y), CRF(**options).fit(other, y)
    np.testing.assert_allclose(
        found.coef_["transition"], expected.coef_["transition"], rtol=0, atol=1e-6
    )
    assert same_outputs(found.predict(other), expected.predict(dense))


def test_a_transition_feature_of_ones_is_no_feature():
    X, y = sequences()
    ones = [{"label": x, "transition": np.ones((len(x) - 1, 1))} for x in X]
    plain, with_ones = CRF(tol=1e-13).fit(X, y), CRF(tol=1e-13).fit(ones, y)
    np.testing.assert_allclose(
        with_ones.coef_["transition"][..., 0], plain.coef_["transition"], rtol=0, atol=1e-6
    )


def test_every_query_with_transition_features():
    """Predictions of a model with features on labels, transitions and boundaries."""
    X, y = with_edges()
    X = [{**x, "start": np.full((1, 1), 0.5)} for x in X]
    model = CRF().fit(X, y)
    assert model.coef_["start"].shape == (3, 1)
    problem = model._inputs(X).problem
    for i, best in enumerate(model.predict_kbest(X, 3)):
        oracle = Exhaustive(Chain())
        expected = oracle.kbest(3, **problem.scores(i, model._weights))
        assert len(best) == len(expected)
        for (value, output), (score, z) in zip(best, expected, strict=True):
            assert value == pytest.approx(score, abs=1e-12)
            assert output.tolist() == model.classes_[list(z)].tolist()
    marginals = model.predict_marginals(X, block=None)
    assert marginals[0]["transition"].shape == (len(y[0]) - 1, 3, 3)
    assert same_outputs(model.predict(X), [best[0][1] for best in model.predict_kbest(X, 1)])


# -- which weights exist --------------------------------------------------------------------------

TINY = [[["a"], ["b"]], [["b", "c"], ["a"]], [["a"]]]
TAGS = [["N", "V"], ["V", "N"], ["D"]]


def exists(model):
    """Which entries of coef_ are weights of the model."""
    ones = np.ones(model._layout.n_weights)
    return {name: block.astype(int).tolist() for name, block in model._layout.coef(ones).items()}


def n_weights(model):
    return {name: block.n_weights for name, block in model._layout.present().items()}


@pytest.mark.parametrize("cls", [CRF, StructuredPerceptron, StructuredSVM])
def test_only_observed_pairs_by_default(cls):
    model = quietly(cls(max_iter=5), TINY, TAGS)
    assert model.classes_.tolist() == ["D", "N", "V"]
    assert model.feature_names_["label"] == ["a", "b", "c"]
    # a with D and N, b and c with V.
    assert exists(model)["label"] == [[1, 0, 0], [1, 0, 0], [0, 1, 1]]
    assert n_weights(model) == {"label": 4, "start": 3, "end": 3, "transition": 9}
    unobserved = np.array(exists(model)["label"]) == 0
    assert (model.coef_["label"][unobserved] == 0).all()


def test_all_possible_states():
    model = quietly(CRF(all_possible_states=True, max_iter=5), TINY, TAGS)
    assert exists(model)["label"] == [[1] * 3] * 3
    assert n_weights(model) == {"label": 9, "start": 3, "end": 3, "transition": 9}
    assert np.count_nonzero(model.coef_["label"]) == 9


def test_only_observed_transitions():
    model = quietly(CRF(all_possible_transitions=False, max_iter=5), TINY, TAGS)
    assert exists(model)["transition"] == [[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert n_weights(model) == {"label": 4, "start": 3, "end": 3, "transition": 2}
    assert np.count_nonzero(model.coef_["transition"]) == 2
    # Unobserved is not forbidden.
    assert np.isfinite(model._inputs(TINY).problem.scores(0, model._weights)["transition"]).all()


def test_without_boundaries():
    model = quietly(CRF(boundaries=False, max_iter=5), TINY, TAGS)
    assert n_weights(model) == {"label": 4, "transition": 9}
    assert set(model.coef_) == {"label", "transition"}


def test_a_forbidden_start_needs_no_weights():
    model = CRF(boundaries=False, forbid={"start": ["V"]}, max_iter=5)
    quietly(model, TINY, [["N", "V"], ["N", "N"], ["D"]])
    assert n_weights(model) == {"label": 5, "start": 0, "transition": 9}
    np.testing.assert_array_equal(model.coef_["start"], np.zeros(3))
    assert all(p[0, 2] == 0 for p in model.predict_marginals(TINY))


def test_rows_that_are_nearly_full():
    """Many labels: rows with more than a quarter of them are stored full, and no weight is made."""
    rng = np.random.default_rng(4)
    labels = [f"{k:02}" for k in range(20)]
    X = [[["common", f"w{k}"]] for k in range(20)]
    y = [[labels[k]] if k < 12 else [labels[int(rng.integers(12))]] for k in range(20)]
    y[-1] = ["19"]
    model = CRF(tol=1e-9, boundaries=False).fit(X, y)
    classes = sorted({row[0] for row in y})
    assert n_weights(model)["label"] == len(classes) + 20
    column = model.feature_names_["label"].index("common")
    assert np.count_nonzero(model.coef_["label"][:, column]) == len(classes)
    for name in ("w0", "w19"):
        column = model.feature_names_["label"].index(name)
        assert np.count_nonzero(model.coef_["label"][:, column]) == 1


def test_partly_filled_rows_stay_zero():
    """Of ten labels a feature goes with five: the other five weights are none, and stay zero."""
    labels = list("abcdefghij")
    X = [[[f"w={k}", *(["half"] if k in "abcde" else [])]] for k in labels]
    y = [[k] for k in labels]
    for model in (CRF(tol=1e-9), StructuredPerceptron(),
                  StructuredSVM(solver="sgd", max_iter=9, C=0.1)):  # fmt: skip
        quietly(model, X, y)
        column = model.feature_names_["label"].index("half")
        half = model.coef_["label"][:, column]
        assert (half[5:] == 0).all()
        assert half[:5].any()
        assert n_weights(model)["label"] == 15


def test_second_order():
    """The structure's lower orders are tables of their own."""
    X, y = sequences()
    model = CRF(Chain(order=2), C=0.5, tol=1e-12).fit(X, y)
    assert {name: block.shape for name, block in model.coef_.items()} == {
        "label": (3, 4), "start": (3,), "end": (3,), "transition1": (3, 3),
        "transition": (3, 3, 3),
    }  # fmt: skip
    coef, total = model.coef_, 0.0
    for x, gold in zip(X, y, strict=True):

        def score(z, x=x):
            s = coef["label"][list(z), :][np.arange(len(z))]
            s = (s * x).sum() + coef["start"][z[0]] + coef["end"][z[-1]]
            s += sum(coef["transition1"][z[t - 1], z[t]] for t in range(1, len(z)))
            return s + sum(coef["transition"][z[t - 2], z[t - 1], z[t]] for t in range(2, len(z)))

        every = [score(z) for z in itertools.product(range(3), repeat=len(gold))]
        total += logsumexp(every) - score([["D", "N", "V"].index(k) for k in gold])
    norm = sum((block**2).sum() for block in coef.values())
    assert model.objective_ == pytest.approx(0.5 * norm + 0.5 * total, rel=1e-12)
    first = CRF(C=0.5, tol=1e-12).fit(X, y)
    assert model.objective_ < first.objective_


def test_second_order_with_observed_transitions_only():
    X = [[["a"], ["b"], ["a"]], [["b"]]]
    y = [["N", "V", "N"], ["V"]]
    model = quietly(CRF(Chain(order=2), all_possible_transitions=False, max_iter=5), X, y)
    assert n_weights(model) == {
        "label": 2, "start": 2, "end": 2, "transition1": 2, "transition": 1,
    }  # fmt: skip
    assert np.count_nonzero(model.coef_["transition"]) == 1
    assert model.coef_["transition"][0, 1, 0] != 0


def test_order_zero():
    X, y = sequences()
    assert set(CRF(Chain(order=0)).fit(X, y).coef_) == {"label", "start", "end"}


@pytest.mark.parametrize(("min_count", "kept"), [(0, "abcd"), (1, "abcd"), (2, "abc"), (4, "a")])
def test_min_count(min_count, kept):
    """By how often a name occurs, not by the number of tokens."""
    X = [[["a", "b"], ["a", "c"], ["a", "a"]], [["b", "d"], ["c", "b"]]]
    y = [["N", "V", "N"], ["V", "N"]]
    model = quietly(CRF(min_count=min_count, max_iter=5), X, y)
    assert model.feature_names_["label"] == list(kept)
    fewer = [[[n for n in token if n in kept] for token in x] for x in X]
    expected = quietly(CRF(max_iter=5), fewer, y)
    assert same_coef(model, expected)
    assert same_outputs(model.predict(X), expected.predict(fewer))


def test_weights_do_not_depend_on_the_order_within_a_set():
    X = [[set("qwertyuiop")], [set("poiuytrewq")]]
    model = StructuredPerceptron().fit(X, [["N"], ["V"]])
    assert model.feature_names_["label"] == sorted("qwertyuiop")


def test_partial_labels_are_observed_where_known():
    model = quietly(CRF(max_iter=5), TINY, [["N", None], [None, "N"], ["D"]])
    assert exists(model)["label"] == [[1, 0, 0], [1, 0, 0]]
    same = StructuredModel(Exhaustive(Chain()), margin=0, temperature=1, max_iter=5)
    quietly(same, TINY, [["N", None], [None, "N"], ["D"]])
    assert exists(same)["label"] == exists(model)["label"]


def test_the_encoder_by_itself():
    encoder = ExampleEncoder(Chain(), single_site=False)
    examples = encoder.fit_transform([[["a"], ["b", "a"]], [["c"]]])
    rows = examples.blocks["label"]
    assert examples.n == 2
    assert rows.site_ptr.tolist() == [0, 2, 3]
    assert rows.indices.tolist() == [0, 1, 0, 2]
    assert rows.indptr.tolist() == [0, 1, 3, 4]
    assert rows.values is None
    rows = encoder.transform([[["z", "c"]]]).blocks["label"]
    assert rows.indices.tolist() == [2]
    assert rows.n_features == 3
