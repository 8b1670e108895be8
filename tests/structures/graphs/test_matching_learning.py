"""Matchings of any shape, learned: as many rows as columns, fewer, and more."""

import numpy as np
import pytest

from structlearn import StructuredPerceptron, StructuredSVM
from structlearn.estimators import PassiveAggressive
from structlearn.exceptions import CapabilityError
from structlearn.structures import Matching

WEIGHTS = np.array([1.0, -1.0, 0.5])


def examples(shapes, seed=0):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(*shape, 3)) for shape in shapes]
    return X, [Matching().argmax(pair=x @ WEIGHTS) for x in X]


SHAPES = {
    "square": [(3, 3)] * 20,
    "wide": [(2, 4), (2, 3), (1, 5)] * 8,
    "tall": [(4, 2), (3, 2), (5, 1)] * 8,
    "all": [(3, 3), (2, 4), (4, 2), (1, 1), (3, 5)] * 5,
}


@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(
    "model",
    [
        StructuredPerceptron(Matching(), random_state=0),
        PassiveAggressive(Matching(), max_iter=10, random_state=0),
        StructuredSVM(Matching(), C=10.0, random_state=0),
        StructuredSVM(Matching(), C=10.0, solver="n-slack", random_state=0),
        StructuredSVM(Matching(), C=10.0, cost="zero-one", max_iter=30, random_state=0),
    ],
    ids=["perceptron", "passive-aggressive", "frank-wolfe", "n-slack", "zero-one cost"],
)
@pytest.mark.filterwarnings("ignore::structlearn.exceptions.ConvergenceWarning")
def test_every_shape_is_learned(model, shapes):
    X, y = examples(shapes)
    model.fit(X, y)
    assert model.score(X, y) > 0.9
    for x, partners in zip(X, model.predict(X), strict=True):
        assert (partners >= 0).sum() == min(x.shape[:2])


def test_outputs_of_another_size_are_refused():
    X, y = examples([(4, 2)] * 3)
    y[1] = y[1][:2]
    with pytest.raises(ValueError, match=r"example 1: .*4 places"):
        StructuredPerceptron(Matching()).fit(X, y)
    y[1] = np.array([0, 1, -1, 0])
    with pytest.raises(ValueError, match="twice"):
        StructuredPerceptron(Matching()).fit(X, y)


def test_crf_says_why_not():
    from structlearn import CRF

    with pytest.raises(CapabilityError, match="#P-hard"):
        CRF(Matching()).fit(*examples([(2, 3)] * 3))
