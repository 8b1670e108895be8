"""Wrong input is refused with the place and the rule, and leaves the estimator as it was."""

import itertools
import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from structlearn.estimators import CRF, HMM, StructuredModel, StructuredPerceptron, StructuredSVM
from structlearn.exceptions import InfeasibleError
from structlearn.structures import Chain, Lattice
from tests.estimators.estimator_data import points, quietly, same_outputs, sentences, sequences


def refused(model, X, y, message, error=ValueError, **options):
    """fit raises, on a fresh estimator and on a fitted one, which stays as it was."""
    with pytest.raises(error, match=message):
        clone(model).fit(X, y, **options)
    if model.get_params()["structure"] == "multiclass":
        good_X, good_y = points()
    else:
        good_X, good_y = sentences()
    fitted = clone(model).set_params(forbid=None, class_weight=None, warm_start=False, n_jobs=None)
    if "cost" in fitted.get_params():
        fitted.set_params(cost="hamming")
    quietly(fitted, good_X, good_y)
    before, state = fitted.predict(good_X), set(vars(fitted))
    coef = fitted._weights.copy()
    fitted.set_params(**model.get_params())
    with pytest.raises(error, match=message):
        fitted.fit(X, y, **options)
    assert same_outputs(fitted.predict(good_X), before)
    assert set(vars(fitted)) == state
    np.testing.assert_array_equal(fitted._weights, coef)


MODELS = pytest.mark.parametrize(
    "model",
    [CRF(), StructuredSVM(max_iter=3), StructuredPerceptron(max_iter=3)],
    ids=["crf", "svm", "perceptron"],
)
WORDS, TAGS = [["the", "dog"], ["dog"]], [["D", "N"], ["N"]]


# -- X --------------------------------------------------------------------------------------------


@MODELS
@pytest.mark.parametrize("X", [[], np.empty((0, 3, 2)), ()], ids=["list", "array", "tuple"])
def test_no_examples(model, X):
    refused(model, X, [], "X is empty: at least one example is needed")


@pytest.mark.parametrize(
    "X",
    [[], np.empty((0, 4)), sparse.csr_matrix((0, 4))],
    ids=["list", "array", "sparse"],
)
def test_no_single_examples(X):
    refused(CRF("multiclass"), X, [], "X is empty: at least one example is needed")


@MODELS
@pytest.mark.parametrize(
    "X",
    [
        [["the"], []],
        [np.ones((1, 3)), np.ones((0, 3))],
        [np.ones((1, 3)), []],
        [sparse.csr_matrix(np.ones((1, 3))), sparse.csr_matrix((0, 3))],
    ],
    ids=["tokens", "arrays", "list among arrays", "sparse"],
)
def test_empty_sequence(model, X):
    refused(model, X, [["D"], []], "example 1 is empty: it has no positions")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["dense", "sparse", "dictionaries", "transition", "nested"])
def test_features_that_are_not_finite(value, kind):
    X, y = sequences(n=6, length=3)
    message = r"example 4, position 2.*(must be finite)"
    X[4][2, 1] = value
    if kind == "sparse":
        X = [sparse.csr_matrix(x) for x in X]
    elif kind == "dictionaries":
        X = [[{f"f{i}": v for i, v in enumerate(row)} for row in x] for x in X]
        message = r"example 4, position 2: feature 'f1' is (nan|-?inf); features must be finite"
    elif kind == "nested":
        X = [[{"f": {str(i): v for i, v in enumerate(row)}} for row in x] for x in X]
        message = r"example 4, position 2: feature 'f:1' is (nan|-?inf)"
    elif kind == "transition":
        good, _ = sequences(n=6, length=4)
        X = [{"label": g, "transition": x} for g, x in zip(good, X, strict=True)]
        y = sequences(n=6, length=4)[1]
        message = r"example 4, position 2: transition contains NaN or infinity"
    refused(CRF(), X, y, message)


@pytest.mark.parametrize("kind", ["dense", "sparse", "dictionaries"])
def test_single_features_that_are_not_finite(kind):
    X, y = points(n=8)
    X[5, 2] = np.nan
    if kind == "sparse":
        X = sparse.csr_matrix(X)
    elif kind == "dictionaries":
        X = [{f"f{i}": v for i, v in enumerate(row)} for row in X]
    refused(CRF("multiclass"), X, y, "^example 5: .*features must be finite")


def test_features_that_are_not_finite_at_predict():
    X, y = sequences()
    model = CRF().fit(X, y)
    bad = X[0].copy()
    bad[1, 0] = np.nan
    with pytest.raises(ValueError, match="example 1, position 1: label contains NaN or infinity"):
        model.predict([X[1], bad])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (None, "X must be a list of examples, got NoneType"),
        ("the dog", "X must be a list of examples.*got str"),
        ({"label": []}, "X must be a list of examples.*got dict"),
        (sparse.csr_matrix(np.ones((2, 2))), "X must be a list of examples.*got csr_matrix"),
        (7, "X must be a list of examples, got int"),
        (["the dog", "dog"], "example 0 is a string, 'the dog': an example is a list of tokens"),
        (np.ones((2, 3)), r"example 0: label has shape \(3,\), expected \(positions, features\)"),
        ([np.ones((2, 3)), np.ones((1, 4))], "example 1: label has 4 features, expected 3"),
        ([np.ones((2, 3)), ["dog"]], "example 1: label is not an array of numbers"),
        ([sparse.eye(2, format="csr"), ["dog"]], "example 1: label is not a sparse matrix"),
        ([np.ones((2, 1, 3)), np.ones((1, 1, 3))], r"sites of shape \(2, 1\), not a sequence"),
        ([[["a"], 3], ["b"]], "example 0, position 1: a token is a string, a list of strings or"),
        ([[["a"], ["b"]], [["c", 4]]], "example 1, position 0: a feature in a list is a string"),
        ([[["a"], {"f": None}], ["b"]], "example 0, position 1: feature 'f' has a value of type"),
        (
            [{"label": ["a", "b"], "depth": []}, {"label": ["b"]}],
            "has no block 'depth'; its blocks are",
        ),
        (
            [{"label": ["a", "b"], "transition": [["e"]]}, ["b"]],
            r"example 1 has features for \['label'\], example 0 for \['label', 'transition'\]",
        ),
        (
            [{"transition": [["e"]]}, {"transition": []}],
            "example 0 has no features for the block 'label'",
        ),
    ],
)
def test_x_of_the_wrong_kind(X, message):
    refused(CRF(), X, TAGS, message)


@pytest.mark.parametrize("extra", [-1, 1, 2])
def test_transition_features_for_the_wrong_number_of_places(extra):
    """Between L tokens there are L − 1; anything else would be read past its end."""
    X = [
        {"label": np.ones((2, 3)), "transition": np.ones((1, 2))},
        {"label": np.ones((3, 3)), "transition": np.ones((2 + extra, 2))},
    ]
    message = f"example 1: transition has features for {2 + extra} places, the structure has 2"
    refused(CRF(), X, [["D", "N"], ["D", "N", "N"]], message)
    good = [X[0], {**X[1], "transition": np.ones((2, 2))}]
    model = CRF().fit(good, [["D", "N"], ["D", "N", "N"]])
    with pytest.raises(ValueError, match=message):
        model.predict(X)


def test_one_dimensional_x_for_single_labels():
    with pytest.raises(ValueError, match=r"X must have two dimensions.*got shape \(5,\)"):
        CRF("multiclass").fit(np.ones(5), [0, 1, 2, 0, 1])


def test_wrong_number_of_features_at_predict():
    X, y = sequences()
    model = CRF().fit(X, y)
    for call in (model.predict, model.predict_marginals, lambda Z: model.score(Z, y)):
        with pytest.raises(ValueError, match="example 0: label has 3 features, expected 4"):
            call([x[:, :3] for x in X])
    X, y = points()
    for kind in (np.asarray, sparse.csr_matrix):
        model = CRF("multiclass").fit(kind(X), y)
        with pytest.raises(ValueError, match="X has 2 features, but CRF is expecting 5 features"):
            model.predict(kind(X[:, :2]))


def test_other_blocks_at_predict():
    X, y = sequences()
    model = CRF().fit(X, y)
    with pytest.raises(ValueError, match=r"features for \['label', 'transition'\], expected \['la"):
        model.predict([{"label": X[0], "transition": np.ones((len(X[0]) - 1, 2))}])
    assert model.predict([]) == []


# -- y --------------------------------------------------------------------------------------------


@MODELS
@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["D", "N"]], "X has 2 examples, y has 1 outputs"),
        ([["D", "N"], ["N"], ["N"]], "X has 2 examples, y has 3 outputs"),
        ([["D"], ["N"]], "example 0: y has 1 labels, X has 2 positions"),
        ([["D", "N"], ["N", "N"]], "example 1: y has 2 labels, X has 1 positions"),
        ([["D", "N"], []], "example 1: y has 0 labels, X has 1 positions"),
        (None, "y is needed"),
        (3, "y must be a list of outputs, got int"),
        ([1, 2], "example 0: the output 1 is not a sequence of labels"),
        (["DN", "N"], "example 0: the output 'DN' is a string, not a sequence of labels"),
        ([["D", "N"], [3]], r"labels of y are of different types: \['int', 'str'\]"),
        ([["D", ["N"]], ["N"]], "example 0: a label is a string or a number, not a list"),
        ([["D", ("N", 1)], ["N"]], "a label is a string or a number, not a tuple"),
        ([[0.5, np.nan], [0.5]], "y contains NaN; write None for an unknown label"),
        ([[None, None], [None]], "y has no labels: every one of them is unknown"),
        ([["D", "D\0"], ["N"]], r"the label 'D\\x00' ends in NUL, which NumPy's strings lose"),
    ],
)
def test_y(model, y, message):
    refused(model, WORDS, y, message)


def test_y_of_single_labels():
    X, _ = points(n=4)
    refused(CRF("multiclass"), X, ["D", "N"], "X has 4 examples, y has 2 outputs")
    refused(CRF("multiclass"), X, [None] * 4, "y has no labels")


def test_one_sentence_in_the_place_of_a_list():
    sentence = [{"word": "the", "upper": False}, {"word": "dog", "upper": False}]
    message = "example 0 is one token, .*'word'.*: pass a list of sentences"
    refused(CRF(), sentence, [["D"], ["N"]], message)
    model = CRF().fit([sentence], [["D", "N"]])
    with pytest.raises(ValueError, match=message):
        model.predict(sentence)
    for words in (["the", "dog"], np.array(["the", "dog"]), ["the dog"]):
        with pytest.raises(ValueError, match=r"example 0 is a string, .*\[sentence\]"):
            model.predict(words)
    with pytest.raises(ValueError, match=r"Pass a list of sentences, \[sentence\]"):
        model.predict("the dog")
    assert [list(y) for y in model.predict([sentence])] == [["D", "N"]]


def test_a_vector_among_named_features():
    """The remedy that the message names is one."""
    vector = np.array([0.5, -1.0])
    X = [[{"word": "a", "v": vector}], [{"word": "b", "v": vector}]]
    with pytest.raises(ValueError, match=r"dict\(enumerate\(vector\.tolist\(\)\)\)"):
        CRF().fit(X, [["D"], ["N"]])
    X = [[{**token, "v": dict(enumerate(vector.tolist()))} for token in x] for x in X]
    model = CRF().fit(X, [["D"], ["N"]])
    assert [list(y) for y in model.predict(X)] == [["D"], ["N"]]
    with pytest.raises(ValueError, match="it may be a string, a number, or a list"):
        CRF().fit([[{"word": None}]], [["D"]])


@pytest.mark.parametrize("model", [CRF(), CRF(Chain(order=2)), HMM()], ids=repr)
def test_an_empty_sequence_has_an_empty_prediction(model):
    X = [["the", "dog"], ["dog"]]
    model.fit(X, TAGS)
    expected = [list(y) for y in model.predict(X)]
    found = [list(y) for y in model.predict([[], X[0], (), X[1]])]
    assert found == [[], expected[0], [], expected[1]]
    assert [list(y) for y in model.predict([[]])] == [[]]
    with pytest.raises(ValueError, match="example 1 is empty"):
        model.fit([*X[:1], []], TAGS)


@pytest.mark.parametrize("model", [CRF(), CRF(Chain(order=2)), HMM()], ids=repr)
def test_an_empty_sequence_has_empty_answers(model):
    """Whatever is asked; the others have the answers that they have without it."""
    X = [["the", "dog"], ["dog"]]
    model.fit(X, TAGS)
    given = [[], X[0], (), X[1]]
    for ask in (
        model.predict_marginals,
        lambda X: model.predict_marginals(X, block=None),
        model.predict_kbest,
        lambda X: model.sample(X, 2, random_state=0),
        model.predict_proba,
        model.entropy,
    ):
        found, alone = ask(given), ask(X)
        assert str([found[1], found[3]]) == str(list(alone))
        assert len(found) == 4
    assert [p.shape for p in model.predict_marginals(given)] == [(0, 2), (2, 2), (0, 2), (1, 2)]
    assert model.predict_marginals([[]], block=None)[0]["label"].shape == (0, 2)
    assert [list(y) for y in model.sample(given, 2)[2]] == [[], []]
    ((score, output),) = model.predict_kbest(given)[0]
    assert (score, list(output)) == (0.0, [])
    assert model.predict_proba(given)[0] == 1.0
    assert model.predict_proba(given, [[], TAGS[0], [], TAGS[1]])[2] == 1.0
    assert model.entropy(given)[0] == 0.0


def test_unseen_label_at_score_time():
    X, y = sequences()
    model = CRF().fit(X, y)
    y[2][-1] = "X"
    message = rf"example 2, position {len(y[2]) - 1}: label 'X' is not among the classes 'D', 'N'"
    with pytest.raises(ValueError, match=message):
        model.predict_proba(X, y)
    with pytest.raises(ValueError, match="at least one known label"):
        model.score(X, [[None] * len(x) for x in X])
    with pytest.raises(ValueError, match="example 0: y has 1 labels"):
        model.score(X, [["D"]] * len(X))
    for other in (3, math.nan, ("D",)):  # no unseen labels, but none of the right kind
        y[2][-1] = other
        with pytest.raises(ValueError, match="is not among the classes"):
            model.score(X, y)


def test_zero_one_cost_needs_every_label():
    y = [["D", None], ["N"]]
    refused(
        StructuredSVM(cost="zero-one", max_iter=3), WORDS, y, "example 0: the zero-one cost needs"
    )


# -- weights of examples and classes --------------------------------------------------------------


@MODELS
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -0.5], r"example 1: sample_weight is -0\.5; it must be finite and >= 0"),
        ([np.nan, 1], "example 0: sample_weight is nan"),
        ([1, np.inf], "example 1: sample_weight is inf"),
        ([1], r"sample_weight has shape \(1,\), expected \(2,\)"),
        ([[1], [1]], r"sample_weight has shape \(2, 1\), expected \(2,\)"),
        (["a", "b"], "could not convert string"),
    ],
)
def test_sample_weight(model, weights, message):
    refused(model, WORDS, TAGS, message, sample_weight=weights)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({"X": 1.0}, r"class_weight names \['X'\], which are not classes"),
        ({"D": -1.0}, "class weights must be finite and >= 0"),
        ({"D": np.nan}, "class weights must be finite and >= 0"),
        ("even", "class_weight must be None, 'balanced' or a dict, got 'even'"),
        (3, "class_weight must be None, 'balanced' or a dict, got 3"),
    ],
)
def test_class_weight(class_weight, message):
    refused(CRF(class_weight=class_weight), WORDS, TAGS, message)


# -- constraints ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("forbid", "message"),
    [
        ({"transition": [("D", "N")]}, "example 0: the gold output uses transition D -> N"),
        ({"label": ["N"]}, "example 0: the gold output uses label N at position 1"),
        ({"start": ["N"]}, "example 1: the gold output uses start N"),
        ({"end": ["N"]}, "example 0: the gold output uses end N"),
    ],
)
@MODELS
def test_gold_that_is_forbidden(model, forbid, message):
    refused(
        clone(model).set_params(forbid=forbid),
        WORDS,
        TAGS,
        message + ".*which a constraint forbids",
    )


@pytest.mark.parametrize(
    ("forbid", "message"),
    [
        ({"arc": [("D", "N")]}, "forbid names the block 'arc'; there is"),
        ({"transition": [("D", "X")]}, r"forbid\['transition'\] has the entry \('D', 'X'\)"),
        ({"transition": ["D"]}, "expected 2 of the classes"),
    ],
)
def test_constraints_that_name_nothing(forbid, message):
    refused(CRF(forbid=forbid), WORDS, TAGS, message)


def test_partly_known_gold_that_is_forbidden():
    """No way to fill in the unknown label is left."""
    X, y = [["a", "b", "a"], ["b", "b"], ["a"]], [["N", None, "N"], ["N", "V"], ["N"]]
    forbid = {"transition": [("N", "N"), ("V", "N")]}
    refused(CRF(forbid=forbid), X, y, "example 0: no legal output is left", error=InfeasibleError)


def test_constraints_hold_in_predictions():
    X, y = sequences(n=40)
    y = [
        ["D" if k == "V" and t and row[t - 1] == "D" else k for t, k in enumerate(row)] for row in y
    ]
    bigrams = {pair for row in y for pair in itertools.pairwise(row)}
    assert ("D", "V") not in bigrams
    for model in (CRF(C=1e-3), StructuredSVM(max_iter=3, C=1e-3), StructuredPerceptron(max_iter=1)):
        model.set_params(forbid={"transition": [("D", "V")]})
        quietly(model, X, y)
        for row in model.predict(X):
            assert ("D", "V") not in set(itertools.pairwise(row))
        transitions = model.predict_marginals(X, block=None)
        assert all((m["transition"][:, 0, 2] == 0).all() for m in transitions)


# -- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a number above 0, got 0"),
        ({"C": -1.0}, r"C must be a number above 0, got -1\.0"),
        ({"C": np.nan}, "C must be a number above 0, got nan"),
        ({"C": np.inf}, "C must be a finite number"),
        ({"C": "1"}, "C must be a number above 0, got '1'"),
        ({"C": None}, "C must be a number above 0, got None"),
        ({"l1": -0.1}, r"l1 must be a number of at least 0, got -0\.1"),
        ({"tol": -1e-3}, r"tol must be a number of at least 0, got -0\.001"),
        ({"margin": -1}, "margin must be a number of at least 0, got -1"),
        ({"temperature": -1}, "temperature must be a number of at least 0, got -1"),
        ({"temperature": np.nan}, "temperature must be a number of at least 0, got nan"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
        ({"max_iter": -1}, "max_iter must be a whole number of at least 1, got -1"),
        ({"max_iter": 1.5}, r"max_iter must be a whole number of at least 1, got 1\.5"),
        ({"max_iter": True}, "max_iter must be a whole number of at least 1, got True"),
        ({"min_count": -1}, "min_count must be a whole number of at least 0, got -1"),
        ({"min_count": "2"}, "min_count must be a whole number of at least 0, got '2'"),
        ({"time_limit": -1}, "time_limit must be a number of at least 0, got -1"),
        ({"time_limit": "abc"}, "time_limit must be a number of at least 0, got 'abc'"),
        ({"time_limit": np.nan}, "time_limit must be a number of at least 0, got nan"),
        ({"verbose": "a"}, "verbose must be a whole number of at least 0, got 'a'"),
        ({"verbose": -1}, "verbose must be a whole number of at least 0, got -1"),
        ({"average": "yes"}, "average must be True or False, got 'yes'"),
        ({"shuffle": 7}, "shuffle must be True or False, got 7"),
        ({"all_possible_states": "x"}, "all_possible_states must be True or False, got 'x'"),
        ({"warm_start": None}, "warm_start must be True or False, got None"),
        ({"solver": "newton"}, "solver must be .*got 'newton'"),
        ({"step": "big"}, "step must be 'decaying' or 'constant', got 'big'"),
        ({"structure": "knot"}, "structure must be one of .* or a Structure, got 'knot'"),
        ({"structure": 3}, "structure must be one of .* or a Structure, got 3"),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0, got 0"),
        ({"hierarchy": ("D",)}, r"the hierarchy has no leaf for \['N'\]"),
        ({"hierarchy": ("D", ("N", "D"))}, "class 'D' appears twice in the hierarchy"),
        ({"margin": 1, "cost": "f1"}, "cost must be one of .*got 'f1'"),
        ({"margin": 1, "cost": np.ones((3, 3))}, r"label cost is \(3, 3\), but there are 2 labels"),
        ({"margin": 1, "cost": np.ones((1, 1))}, r"label cost is \(1, 1\), but there are 2 labels"),
        (
            {"margin": 1, "cost": -np.ones((2, 2))},
            "the entries of a label cost must be finite and >= 0",
        ),
    ],
)
def test_parameters(parameters, message):
    X, y = sentences()
    model = CRF().fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match=message):
        model.set_params(**parameters).fit(WORDS, TAGS)
    assert same_outputs(model.set_params(**CRF().get_params()).predict(X), before)


@pytest.mark.parametrize("cls", [StructuredSVM, StructuredPerceptron, StructuredModel])
def test_parameters_of_other_estimators(cls):
    for name, value in [("max_iter", 0), ("min_count", -1), ("structure", "knot"), ("n_jobs", 0)]:
        with pytest.raises(ValueError, match=name):
            cls(**{name: value}).fit(WORDS, TAGS)
    if cls is not StructuredPerceptron:
        for name, value in [("C", 0), ("solver", "newton"), ("step", "big"), ("tol", -1)]:
            with pytest.raises(ValueError, match=name):
                cls(**{name: value}).fit(WORDS, TAGS)
        with pytest.raises(ValueError, match="C must be a number above 0"):
            cls(C=0, solver="sgd").partial_fit(WORDS, TAGS, classes=["D", "N"])


def test_parameters_are_checked_at_fit_not_before():
    CRF(C=-1, solver="newton", structure="tree")
    StructuredSVM(C=-1, cost="f1")


def test_label_costs_need_labels():
    """A lattice has none; what to do instead is said."""
    lattice = Lattice([(0, 1), (0, 1)])
    X = [{"edge": np.ones((2, 1))}]
    with pytest.raises(ValueError, match=r"outputs of Lattice.*have none: use cost='zero-one'"):
        StructuredSVM(lattice).fit(X, [[0]])


def test_structures_without_sums():
    """A structure that only has an argmax learns by perceptron and hinge, not by log loss."""

    class OnlyBest(Chain):
        native = None

        def infer(self, *, temperature=1.0, n_jobs=None, **scores):
            from structlearn.exceptions import CapabilityError

            if temperature > 0:
                raise CapabilityError("OnlyBest has no marginals. What works: argmax")
            return super().infer(temperature=0, **scores)

    X, y = sequences()
    with pytest.raises(ValueError, match=r"OnlyBest has no marginals\. What works: argmax"):
        CRF(OnlyBest()).fit(X, y)
    model = StructuredPerceptron(OnlyBest(), random_state=0).fit(X, y)
    assert same_outputs(model.predict(X), StructuredPerceptron(random_state=0).fit(X, y).predict(X))
