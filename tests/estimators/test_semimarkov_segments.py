"""Learning to segment: the three learners, kinds of X, predictions, and what is refused."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from structlearn.estimators import CRF, StructuredPerceptron, StructuredSVM
from structlearn.structures import Exhaustive, SemiMarkov
from tests.estimators.estimator_data import quietly, same_coef
from tests.estimators.segment_data import NAMES, chunking, draw_segments


@pytest.mark.parametrize(
    "learner",
    [
        StructuredPerceptron("semimarkov", random_state=0),
        CRF("semimarkov", C=10.0),
        CRF("semimarkov", C=10.0, margin=1.0),
        StructuredSVM("semimarkov", max_iter=15, random_state=0),
        StructuredSVM("semimarkov", max_iter=15, random_state=0, cost="zero-one"),
    ],
    ids=["perceptron", "crf", "softmax-margin", "svm", "svm, zero-one"],
)
def test_chunking_is_learned(learner):
    X, y = chunking(150)
    model = quietly(clone(learner), X[:100], y[:100])
    assert model.structure_.max_length == 5
    assert model.score(X[:100], y[:100]) > 0.97
    assert model.score(X[100:], y[100:]) > 0.92
    found = model.predict(X[100:])
    right = sum(len(set(a) & set(b)) for a, b in zip(found, y[100:], strict=True))
    assert 2 * right / (sum(map(len, found)) + sum(map(len, y[100:]))) > 0.88  # F1 of segments
    assert set(model.classes_) == {k for row in y[:100] for _, _, k in row}


def test_predictions():
    X, y = draw_segments(20)
    model = CRF(SemiMarkov(3)).fit(X, y)
    outputs = model.predict(X)
    assert all(type(k) is str for row in outputs for _, _, k in row)
    best = model.predict_kbest(X, 3)
    for x, output, ranked, proba, p, drawn in zip(
        X,
        outputs,
        best,
        model.predict_proba(X),
        model.predict_marginals(X),
        model.sample(X, 2, random_state=0),
        strict=True,
    ):
        assert ranked[0][1] == output
        assert 0 < proba <= 1
        assert p.shape == (len(x), 3, len(NAMES))
        assert [row[-1][1] for row in drawn] == [len(x)] * 2
    assert model.predict_proba(X[:1], [best[0][1][1]])[0] < model.predict_proba(X[:1])[0]
    every = model.predict_marginals(X, block=None)[0]
    assert set(every) == {"segment", "start", "end", "transition"}
    assert model.coef_["segment"].shape == (3, 4)
    # Token accuracy, by hand; a gold segment may be longer than any that is predicted.
    assert model.score(X[:1], [[(0, 5, "A")]]) == pytest.approx(
        np.mean([k == "A" for a, b, k in outputs[0] for _ in range(a, b)])
    )
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X) == outputs
    assert copy.deepcopy(model).structure_.max_length == 3


def test_kinds_of_features_agree():
    """(L, D, d) arrays, (L·D, d) arrays and sparse matrices, bare or by the block's name."""
    X, y = draw_segments(15)
    flat = [x.reshape(-1, x.shape[-1]) for x in X]
    kinds = [
        X,
        flat,
        [{"segment": x} for x in X],
        [sparse.csr_matrix(x) for x in flat],
        [{"segment": sparse.csr_matrix(x)} for x in flat],
    ]
    models = [CRF("semimarkov", all_possible_states=True).fit(kind, y) for kind in kinds]
    for kind, model in zip(kinds, models, strict=True):
        assert model.structure_.max_length == 3
        assert model.predict(kind) == models[0].predict(X)
        np.testing.assert_allclose(model.coef_["segment"], models[0].coef_["segment"], atol=1e-8)


def test_features_of_single_positions_are_a_chain():
    X, y = draw_segments(15, width=1)
    tags = [[k for _, _, k in row] for row in y]
    chain = CRF("chain", tol=1e-8).fit([x[:, 0] for x in X], tags)
    segments = CRF("semimarkov", tol=1e-8).fit(X, y)
    assert segments.objective_ == pytest.approx(chain.objective_, rel=1e-7)
    np.testing.assert_allclose(segments.coef_["segment"], chain.coef_["label"], atol=1e-3)
    np.testing.assert_allclose(segments.coef_["transition"], chain.coef_["transition"], atol=1e-3)
    online = [
        StructuredSVM(s, solver="sgd", max_iter=3, random_state=0, cost="hamming-mean")
        for s in ("chain", "semimarkov")
    ]
    first = quietly(online[0], [x[:, 0] for x in X], tags).coef_["label"]
    np.testing.assert_allclose(quietly(online[1], X, y).coef_["segment"], first, atol=1e-9)


def test_the_same_as_a_structure_without_a_core():
    """Every route through the learner again, by enumeration in Python."""
    X, y = draw_segments(8, longest=4)
    for cost in ("hamming", "hamming-mean", "zero-one", [[0, 1, 2], [3, 0, 1], [1, 1, 0]]):
        native, slow = (
            quietly(StructuredSVM(s, max_iter=2, shuffle=False, cost=cost), X, y)
            for s in (SemiMarkov(3), Exhaustive(SemiMarkov(3)))
        )
        np.testing.assert_allclose(native.coef_["segment"], slow.coef_["segment"], atol=1e-9)
        assert native.predict(X) == slow.predict(X)


def test_transition_features_by_position():
    X, y = draw_segments(10)
    rng = np.random.default_rng(0)
    both = [{"segment": x, "transition": rng.normal(size=(len(x) - 1, 2))} for x in X]
    model = CRF("semimarkov").fit(both, y)
    assert model.coef_["transition"].shape == (3, 3, 2)
    assert model.predict_marginals(both, block="transition")[0].shape == (4, 3, 3)
    both[3]["transition"] = np.zeros((len(X[3]) + 2, 2))
    with pytest.raises(ValueError, match="example 3: transition has features for"):
        model.fit(both, y)


def test_constraints_and_weights():
    X, y = draw_segments(20)
    y = [[(a, b, "C" if k == "B" and i else k) for i, (a, b, k) in enumerate(row)] for row in y]
    model = CRF(SemiMarkov(3), forbid={"transition": [("A", "B"), ("B", "B"), ("C", "B")]})
    outputs = model.fit(X, y).predict(X)
    assert not any(k == "B" for row in outputs for _, _, k in row[1:])
    with pytest.raises(ValueError, match="the gold output uses transition"):
        CRF(SemiMarkov(3), forbid={"transition": [("A", "C"), ("B", "C"), ("C", "C")]}).fit(X, y)
    balanced = CRF(SemiMarkov(3), class_weight="balanced").fit(X, y)
    assert not same_coef(balanced, CRF(SemiMarkov(3)).fit(X, y))


def test_unknown_labels():
    """A segment without a label teaches its place; a model of such data still finds the rest."""
    X, y = draw_segments(40)
    rng = np.random.default_rng(1)
    hidden = [[(a, b, None if rng.random() < 0.2 else k) for a, b, k in row] for row in y]
    hidden[0] = y[0]
    model = CRF(SemiMarkov(3)).fit(X, hidden)
    assert model.score(X, y) > 0.8
    assert model.score(X, hidden) > 0.8
    # What is known of a partly labelled example gets weights, what is not does not.
    named = [{"segment": [[f"x={i}.{t}.{d}"] for t in range(2) for d in range(2)]} for i in (0, 1)]
    partly = [[(0, 1, "A"), (1, 2, "B")], [(0, 1, "B"), (1, 2, None)]]
    coef = quietly(CRF(SemiMarkov(2)), named, partly)
    weights = dict(zip(coef.feature_names_["segment"], coef.coef_["segment"].T, strict=True))
    assert weights["x=1.0.0"][1] != 0
    assert not weights["x=1.0.0"][0]
    assert not weights["x=1.1.0"].any()
    with pytest.raises(ValueError, match="the zero-one cost needs all labels to be known"):
        StructuredSVM(SemiMarkov(3), cost="zero-one").fit(X, hidden)


def test_online_and_scikit_learn():
    X, y = draw_segments(24)
    online = StructuredPerceptron(SemiMarkov(3), shuffle=False, max_iter=2).fit(X, y)
    stepwise = StructuredPerceptron(SemiMarkov(3))
    for _ in range(2):
        stepwise.partial_fit(X, y, classes=list(NAMES))
    assert same_coef(online, stepwise)
    again = CRF("semimarkov", warm_start=True).fit(X, y)
    before = again.objective_
    assert again.fit(X, y).objective_ <= before + 1e-9
    assert len(cross_val_score(CRF(SemiMarkov(3)), X, y, cv=3)) == 3
    one, two = (CRF(SemiMarkov(3), n_jobs=n).fit(X, y) for n in (1, 2))
    assert same_coef(one, two)


@pytest.mark.parametrize(
    ("width", "change", "message"),
    [
        (2, {}, r"example 0: segment has sites of shape \(5, 3\), expected \(positions, 2"),
        (3, {"y": [(0, 5, "A")]}, "example 1: .* has length 5, max_length is 3"),
        (3, {"y": [(0, 5, None)]}, "example 1: the segment .* has length 5, max_length"),
        (3, {"y": [(0, 3, "A")]}, "example 1: y has 3 labels, X has 5 positions"),
        (3, {"y": [(0, 2, "A"), (3, 5, "A")]}, "example 1: the segment .* must start at 2"),
        (3, {"y": ["A"] * 5}, r"example 1: a segment is \(start, end, label\), got 'A'"),
        (3, {"y": "AAAAA"}, "example 1: the output 'AAAAA' is a string"),
        (3, {"y": 3}, "example 1: the output 3 is not a sequence of labels"),
        (3, {"y": []}, "example 1: the output has no segments"),
        (3, {"x": np.zeros((14, 4))}, "example 1: segment has 14 rows of features"),
        (3, {"x": np.zeros((0, 3, 4))}, "example 1 is empty: it has no positions"),
        (3, {"x": {"label": np.zeros((5, 4))}}, "SemiMarkov.* has no block"),
        (None, {"x": np.zeros((5, 2, 4))}, r"example 1: segment has sites of shape \(5, 2\)"),
    ],
)
def test_refusals(width, change, message):
    X, y = draw_segments(4)
    X[1], y[1] = np.zeros((5, 3, 4)), [(0, 3, "A"), (3, 5, "B")]
    X[1], y[1] = change.get("x", X[1]), change.get("y", y[1])
    with pytest.raises(ValueError, match=message):
        CRF("semimarkov" if width is None else SemiMarkov(width)).fit(X, y)


@pytest.mark.parametrize("empty", [[], np.zeros((0, 3, 4)), {"segment": np.zeros((0, 3, 4))}])
def test_an_array_without_positions_has_no_segments(empty):
    """As other sequences without positions; it is refused in training alone."""
    X, y = draw_segments(4)
    model = CRF(SemiMarkov(3)).fit(X, y)
    given = [X[0], empty, X[1]]
    assert model.predict(given) == [*model.predict(X[:1]), [], *model.predict(X[1:2])]
    assert model.predict_kbest(given)[1] == [(0.0, [])]
    marginals = model.predict_marginals(given)
    assert [p.shape for p in marginals] == [(len(X[0]), 3, 3), (0, 3, 3), (len(X[1]), 3, 3)]
    assert model.entropy(given)[1] == 0.0
    assert model.predict_proba(given)[1] == 1.0


def test_a_name_needs_examples_to_go_by():
    X, y = draw_segments(4)
    flat = [x.reshape(-1, 4) for x in X]
    with pytest.raises(
        ValueError, match="has 14 rows of features, not a multiple of its 5 positions"
    ):
        CRF("semimarkov").fit([flat[0][:14], *flat[1:]], y)
    for bad_X, bad_y in (([], []), (None, y), (X, None)):
        with pytest.raises(ValueError, match=r"X|y"):
            CRF("semimarkov").fit(bad_X, bad_y)
    with pytest.raises(ValueError, match="example 0 has no features for the block 'segment'"):
        CRF("semimarkov").fit([{"label": 1}], y[:1])


def test_a_length_can_be_forbidden_for_a_label():
    X, y = chunking(60)
    lengths = {(end - start, k) for row in y for start, end, k in row}
    assert (1, "O") in lengths
    assert not any(d > 1 for d, k in lengths if k == "O")
    never = [(d, "O") for d in range(2, 6)]
    for learner in (StructuredPerceptron, CRF):
        model = quietly(learner("semimarkov", forbid={"segment": never}), X, y)
        for x, p in zip(X[:5], model.predict_marginals(X[:5]), strict=True):
            o = model.classes_.tolist().index("O")
            assert (p[:, 1:, o] == 0).all()
            assert p[:, 0, o].max() > 0
            assert not any(b - a > 1 for a, b, k in model.predict([x])[0] if k == "O")
    with pytest.raises(ValueError, match="which a constraint forbids"):
        CRF("semimarkov", forbid={"segment": [(1, "O")]}).fit(X, y)
    with pytest.raises(ValueError, match="lengths are from 1 to 5"):
        CRF("semimarkov", forbid={"segment": [(6, "O")]}).fit(X, y)
