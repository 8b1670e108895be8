"""Every solver of an objective comes to the same value, where outputs are trees or lie on them."""

import numpy as np
import pytest

from structlearn import CRF, StructuredSVM
from structlearn.structures import Arborescence, SpanningTree, Tree

SVM_SOLVERS = ["frank-wolfe", "n-slack", "one-slack"]
CRF_SOLVERS = ["dual", "lbfgs", "sag"]


def dependency_trees(rng, projective):
    structure, weights = Arborescence(projective), rng.normal(size=5)
    X = [{"arc": rng.normal(size=(n, n, 5))} for n in rng.integers(2, 6, size=8)]
    return X, [structure.argmax(arc=x["arc"] @ weights) for x in X], structure


def spanning_trees(rng):
    weights, X = rng.normal(size=4), []
    for n in rng.integers(2, 6, size=8):
        half = rng.normal(size=(n, n, 4))
        X.append({"edge": half + half.transpose(1, 0, 2)})
    structure = SpanningTree()
    return X, [structure.argmax(edge=x["edge"] @ weights) for x in X], structure


def labels_on_trees(rng):
    weights, table, X, y = rng.normal(size=(4, 3)), rng.normal(size=(3, 3)), [], []
    for n in rng.integers(1, 6, size=8):
        parents = np.array([-1, *(rng.integers(v) for v in range(1, n))])
        X.append({"label": rng.normal(size=(n, 4)), "parents": parents})
        y.append(Tree(parents).argmax(label=X[-1]["label"] @ weights, edge=table))
    y[0] = np.array([2] * len(y[0]))  # every label occurs
    y[1] = np.array([1] * len(y[1]))
    y[2] = np.array([0] * len(y[2]))
    return X, y, "tree"


PROBLEMS = {
    "dependencies": lambda rng: dependency_trees(rng, projective=False),
    "projective dependencies": lambda rng: dependency_trees(rng, projective=True),
    "spanning trees": spanning_trees,
    "labels on trees": labels_on_trees,
}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(
    ("kind", "solvers"), [(StructuredSVM, SVM_SOLVERS), (CRF, CRF_SOLVERS)], ids=["SVM", "CRF"]
)
def test_solvers_agree(problem, kind, solvers):
    X, y, structure = PROBLEMS[problem](np.random.default_rng(5))
    found = [
        kind(
            structure=structure, C=0.5, solver=solver, tol=2e-5, max_iter=5000, random_state=0
        ).fit(X, y)
        for solver in solvers
    ]
    objectives = np.array([model.objective_ for model in found])
    gaps = np.array([model.duality_gap_ for model in found])
    assert (gaps <= 2.001e-5 * objectives).all()
    np.testing.assert_allclose(objectives, objectives.min(), rtol=1e-4)
    # No dual is above another's primal.
    assert (objectives - gaps).max() <= objectives.min() * (1 + 1e-9)
