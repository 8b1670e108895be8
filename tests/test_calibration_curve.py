"""The monotone map from a probability to confidence, against SciPy's minimum of the same loss."""

import numpy as np
import pytest
from scipy.optimize import minimize

from structlearn.models.calibration import _curved, _features, _fitted_curve


def loss(curve, p, right):
    q = np.array([_curved(tuple(curve), x) for x in p])
    return float(-np.log(np.where(right, q, 1 - q)).mean())


@pytest.mark.parametrize("sharpness", [0.5, 2.0, 8.0, 30.0])
@pytest.mark.parametrize("plateau", [1.0, 0.8])
def test_the_curve_has_the_least_loss(sharpness, plateau):
    """Also where most probabilities are next to 1, and right less often than they say."""
    rng = np.random.default_rng(0)
    z = rng.normal(1.0, 1.0, size=4000)
    right = rng.uniform(size=len(z)) < plateau / (1 + np.exp(-z))
    p = 1 / (1 + np.exp(-sharpness * z))
    curve = _fitted_curve(list(zip(p.tolist(), right.tolist(), strict=True)))
    assert min(curve[:2]) >= 0
    features = np.array([(*_features(x), 1.0) for x in p])

    def objective(w):
        s = features @ w
        return float(np.mean(np.logaddexp(0.0, s) - right * s))

    best = minimize(objective, [1.0, 1.0, 0.0], bounds=[(0, None), (0, None), (None, None)])
    assert loss(curve, p, right) <= best.fun + 2e-3
