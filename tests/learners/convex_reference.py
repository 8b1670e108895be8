"""Optima of small learning problems, from joint feature vectors of all outputs and SciPy."""

from __future__ import annotations

import numpy as np
from scipy.optimize import LinearConstraint, minimize
from scipy.special import logsumexp


class Enumerated:
    """½‖w‖² + l1·‖w‖₁ + C Σ_n L_n with every output of every example written down.

    Parameters
    ----------
    phi : list of (outputs, weights) arrays
        Joint features of each example's outputs.
    gold : list of int
        Which output is the right one.
    cost : list of arrays
        Δ(gold, output).
    weights : array, optional
        Of the examples.
    """

    def __init__(self, phi, gold, cost, C, margin, temperature, l1=0.0, weights=None):
        self.phi, self.gold, self.cost = phi, gold, cost
        self.margin, self.temperature, self.l1 = margin, temperature, l1
        self.size = phi[0].shape[1]
        self.C = C * (np.ones(len(phi)) if weights is None else np.asarray(weights))

    def smooth(self, w):
        """Return ½‖w‖² + C Σ L and its (sub)gradient."""
        value, gradient = 0.5 * w @ w, w.copy()
        for phi, g, cost, C in zip(self.phi, self.gold, self.cost, self.C, strict=True):
            s = phi @ w + self.margin * cost
            if self.temperature == 0:
                best = int(np.argmax(s))
                upper, p = s[best], np.eye(len(s))[best]
            else:
                upper = self.temperature * logsumexp(s / self.temperature)
                p = np.exp((s - upper) / self.temperature)
            value += C * (upper - phi[g] @ w)
            gradient += C * (p @ phi - phi[g])
        return value, gradient

    def primal(self, w):
        return self.smooth(w)[0] + self.l1 * np.abs(w).sum()

    def optimum(self):
        """Return the optimal value: by the split problem at ε > 0, by the dual at ε = 0."""
        if self.temperature == 0:
            return self._dual_optimum()

        def split(x):
            w = x[: self.size] - x[self.size :]
            value, gradient = self.smooth(w)
            slope = np.concatenate([gradient, -gradient]) + self.l1
            return value + self.l1 * x.sum(), slope

        start = np.zeros(2 * self.size)
        options = {"maxiter": 20000, "maxfun": 20000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 50}
        found = minimize(
            split, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(start),
            options=options,
        )  # fmt: skip
        return float(found.fun)

    def _dual_optimum(self):
        """max −½‖Σ_n C_n Σ_y α_n(y) (φ_gold − φ_y)‖² + Σ C_n α_n(y) Δ(y), α_n on a simplex."""
        examples = list(zip(self.phi, self.gold, self.cost, self.C, strict=True))
        V = np.vstack([C * (phi[g] - phi) for phi, g, _, C in examples])
        b = self.margin * np.concatenate([C * cost for _, _, cost, C in examples])
        Q = V @ V.T
        sizes = [len(phi) for phi in self.phi]
        rows = np.repeat(np.arange(len(sizes)), sizes)
        simplex = LinearConstraint((rows == np.arange(len(sizes))[:, np.newaxis]) * 1.0, 1.0, 1.0)
        start = 1.0 / np.repeat(sizes, sizes)
        rng = np.random.default_rng(0)
        for _ in range(10):
            found = minimize(
                lambda a: (0.5 * a @ Q @ a - b @ a, Q @ a - b),
                start,
                jac=True,
                method="SLSQP",
                bounds=[(0, 1)] * len(start),
                constraints=[simplex],
                options={"maxiter": 2000, "ftol": 1e-14},
            )
            # Whatever SciPy says of its end: the primal of the dual's weights shows how exact it
            # is. Now and then it is not, and another beginning helps.
            if self.primal(V.T @ found.x) + found.fun < 1e-5 * max(1.0, abs(found.fun)):
                return -float(found.fun)
            start = np.concatenate([rng.dirichlet(np.ones(n)) for n in sizes])
        raise AssertionError("the reference has no optimum")
