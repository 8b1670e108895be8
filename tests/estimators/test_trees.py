"""Trees learned by every kind of estimator."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from structlearn.estimators import CRF, StructuredPerceptron, StructuredSVM
from structlearn.structures import Arborescence, SpanningTree

N_FEATURES = 6


def arc_examples(n_examples=30, *, labels=None, projective=False, seed=0):
    """Arcs with features, and the best trees under weights that are not known."""
    rng = np.random.default_rng(seed)
    structure = Arborescence(projective)
    weights = rng.normal(size=(N_FEATURES, len(labels)) if labels else N_FEATURES)
    X, y = [], []
    for _ in range(n_examples):
        size = int(rng.integers(2, 7))
        features = rng.normal(size=(size, size, N_FEATURES))
        X.append({"arc": features})
        best = structure.argmax(arc=features @ weights)
        y.append((best[0], np.array(labels)[best[1]]) if labels else best)
    return X, y


LEARNERS = [
    StructuredPerceptron(max_iter=30, structure="arborescence", random_state=0),
    StructuredSVM(C=10.0, structure="arborescence", random_state=0),
    CRF(C=10.0, structure="arborescence", random_state=0),
]


@pytest.mark.parametrize("model", LEARNERS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("labels", [None, ["nsubj", "obj", "det"], ["dep"]])
def test_estimators_learn_trees(model, labels):
    X, y = arc_examples(labels=labels)
    model = clone(model).fit(X, y)
    assert model.score(X, y) > 0.9
    predicted = model.predict(X[:3])
    if labels:
        assert set(np.concatenate([label for _, label in predicted]).tolist()) <= set(labels)
    assert model.score(X[:3], predicted) == 1.0


def test_frank_wolfe_closes_its_duality_gap():
    X, y = arc_examples()
    model = StructuredSVM(
        C=1.0, structure="arborescence", tol=1e-3, max_iter=2000, random_state=0
    ).fit(X, y)
    assert 0 <= model.duality_gap_ <= 1e-3 * model.objective_


def test_svm_objective_is_that_of_its_definition():
    X, y = arc_examples(8, labels=["a", "b"])
    model = StructuredSVM(C=1.0, structure="arborescence", random_state=0).fit(X, y)
    w = model.coef_["arc"]
    loss = 0.0
    for example, (heads, labels) in zip(X, y, strict=True):
        scores = example["arc"] @ w.T
        index = np.searchsorted(model.classes_, labels)
        words = np.arange(1, len(heads) + 1)
        augmented = scores + 1.0  # a wrong head or a wrong label costs 1
        augmented[heads, words, index] -= 1.0
        best = Arborescence().solve(arc=augmented).value
        loss += best - scores[heads, words, index].sum()
    assert model.objective_ == pytest.approx(0.5 * (w**2).sum() + loss)


def test_crf_gradient_vanishes_at_its_solution():
    X, y = arc_examples(10)
    model = CRF(C=1.0, structure="arborescence", tol=1e-9, max_iter=500, random_state=0).fit(X, y)
    w = model.coef_["arc"]
    gradient = w.copy()
    for example, heads in zip(X, y, strict=True):
        p = Arborescence().marginals(arc=example["arc"] @ w)["arc"]
        p[heads, np.arange(1, len(heads) + 1)] -= 1.0
        gradient += np.einsum("hm,hmd->d", p, example["arc"])
    assert np.abs(gradient).max() < 1e-3


def test_structure_objects_and_marginals():
    X, y = arc_examples(projective=True)
    model = CRF(structure=Arborescence(projective=True), random_state=0).fit(X, y)
    p = model.predict_marginals(X[:2])
    for one, example in zip(p, X, strict=False):
        assert one.shape == example["arc"].shape[:2]
        np.testing.assert_allclose(one[:, 1:].sum(axis=0), 1.0)
    assert model.predict_kbest(X[:1], 2)[0][0][1].tolist() == model.predict(X[:1])[0].tolist()
    assert 0 < model.predict_proba(X[:1], y[:1])[0] <= 1


def test_sibling_features():
    rng = np.random.default_rng(1)
    structure = Arborescence(projective=True)
    X, y = [], []
    for _ in range(25):
        size = int(rng.integers(3, 6))
        arc, pair = rng.normal(size=(size, size, 3)), rng.normal(size=(size, size, size, 2))
        X.append({"arc": arc, "sibling": pair})
        y.append(structure.argmax(arc=arc.sum(axis=-1), sibling=pair @ [2.0, -2.0]))
    for model in (StructuredSVM(C=10.0, random_state=0), CRF(C=10.0, random_state=0)):
        model.set_params(structure=structure).fit(X, y)
        assert model.score(X, y) > 0.9
        assert model.coef_["sibling"].shape == (2,)
        alone = clone(model).fit([{"arc": x["arc"]} for x in X], y)
        assert alone.score([{"arc": x["arc"]} for x in X], y) < model.score(X, y)


def test_rows_of_sparse_features():
    X, y = arc_examples(10)
    flat = [sparse.csr_matrix(x["arc"].reshape(-1, N_FEATURES)) for x in X]
    dense = CRF(structure="arborescence", random_state=0).fit(X, y)
    rows = CRF(structure="arborescence", random_state=0).fit([{"arc": x} for x in flat], y)
    np.testing.assert_allclose(rows.coef_["arc"], dense.coef_["arc"], atol=1e-4)


def test_unknown_labels():
    X, y = arc_examples(labels=["a", "b"])
    partly = [(h, [None if i % 3 == 0 else k for i, k in enumerate(t.tolist())]) for h, t in y]
    model = CRF(C=10.0, structure="arborescence", random_state=0).fit(X, partly)
    assert model.score(X, y) > 0.8
    assert 0.9 < model.score(X, partly) <= 1.0


def test_spanning_trees():
    rng = np.random.default_rng(2)
    weights = rng.normal(size=4)
    X, y = [], []
    for _ in range(20):
        size = int(rng.integers(2, 7))
        features = rng.normal(size=(size, size, 4))
        X.append({"edge": features + features.transpose(1, 0, 2)})
        y.append(SpanningTree().argmax(edge=X[-1]["edge"] @ weights))
    for model in (
        StructuredPerceptron(max_iter=20, random_state=0),
        StructuredSVM(C=10.0, random_state=0),
        CRF(C=10.0, random_state=0),
    ):
        model.set_params(structure="spanning-tree").fit(X, y)
        assert model.score(X, y) > 0.9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, [[2, 1], *y[1:]]), "example 0: .*"),
        (lambda X, y: (X, [[*y[0], 0], *y[1:]]), "example 0: y is"),
        (lambda X, y: ([{"arc": X[0]["arc"][:, :-1]}, *X[1:]], y), "example 0: arc has features"),
        (lambda X, y: (X, [np.arange(1, len(y[0]) + 1), *y[1:]]), "example 0: the heads have"),
        (lambda X, y: (X, [np.zeros(len(y[0]), int), *y[1:]]), "example 0: .* have head 0"),
    ],
)
def test_bad_trees_are_named(change, message):
    X, y = arc_examples(5, seed=3)
    X, y = change(X, y)
    with pytest.raises(ValueError, match=message):
        StructuredPerceptron(structure="arborescence", random_state=0).fit(X, y)
