"""Small grids and graphs whose free optimum is not submodular, with every output written down."""

from __future__ import annotations

import numpy as np
from scipy.optimize import LinearConstraint, minimize

from structlearn.problem import PartVector
from structlearn.structures.parts import flatten
from tests.learners.convex_reference import Enumerated


def checkered(n=5, seed=0, potts=False, graph=False, labels=2):
    """Noisy checkerboards of 2 × 3, whose neighbours differ: what submodular weights cannot say."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        truth = (np.add.outer(np.arange(2), np.arange(3)) + rng.integers(2)) % labels
        truth = np.where(rng.random(truth.shape) < 0.2, 1 - truth, truth)
        grey = truth + rng.normal(size=truth.shape)
        x = {"label": np.stack((grey, np.ones_like(grey)), axis=-1)}
        across, down = np.abs(np.diff(grey, axis=1)), np.abs(np.diff(grey, axis=0))
        pairs = [np.stack((np.ones_like(d), d), axis=-1) for d in (across, down)]
        if graph:
            node = np.arange(6).reshape(2, 3)
            ends = [(node[:, :-1], node[:, 1:]), (node[:-1], node[1:])]
            x["label"] = x["label"].reshape(6, 2)
            x["edges"] = np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in ends])
            x["edge"] = np.concatenate([p.reshape(-1, 2) for p in pairs])
            truth = truth.ravel()
        else:
            names = ("potts_right", "potts_down") if potts else ("right", "down")
            x.update(zip(names, pairs, strict=True))
        X.append(x)
        y.append(truth)
    return X, y


class ConeReference(Enumerated):
    """The objective over the weights in the problem's cone, from all outputs."""

    def __init__(self, problem, C, margin, temperature):
        phi, gold, cost = [], [], []
        structure = problem.structure
        for i in range(problem.n_examples):
            scores = problem.as_arguments(i, np.zeros(problem.native.parts(i)))
            right = problem.gold.outputs[i]
            rows = []
            outputs = list(structure.outputs(**scores))
            for y in outputs:
                parts = structure.encode(y, **scores)
                flat = flatten({name: parts[name] for name in problem.shapes(i)})
                row = np.zeros(problem.n_weights)
                problem.scatter(i, PartVector(None, flat), 1.0, row)
                rows.append(row)
            phi.append(np.array(rows))
            gold.append(next(k for k, y in enumerate(outputs) if np.array_equal(y, right)))
            cost.append(np.array([float((y != right).sum()) for y in outputs]))
        super().__init__(phi, gold, cost, C, margin, temperature)
        cone = problem.cone
        self.rows = np.zeros((cone.n_rows, problem.n_weights))
        at = np.repeat(np.arange(cone.n_rows), np.diff(cone.ptr))
        self.rows[at, cone.index] = cone.value

    def optimum(self):
        """Return the optimal value, by SciPy's sequential quadratic programs."""
        rows, n = self.rows, len(self.phi)
        if self.temperature > 0:
            found = minimize(
                self.smooth, np.zeros(self.size), jac=True, method="SLSQP",
                constraints=[LinearConstraint(rows, 0.0, np.inf)],
                options={"maxiter": 1000, "ftol": 1e-13},
            )  # fmt: skip
            return float(found.fun)
        limits, sides = [np.hstack([rows, np.zeros((len(rows), n))])], [np.zeros(len(rows))]
        for i, (phi, g, cost) in enumerate(zip(self.phi, self.gold, self.cost, strict=True)):
            limits.append(np.hstack([phi[g] - phi, np.tile(np.eye(n)[i], (len(phi), 1))]))
            sides.append(self.margin * cost)
        found = minimize(
            lambda x: (
                0.5 * x[: self.size] @ x[: self.size] + self.C @ x[self.size :],
                np.concatenate([x[: self.size], self.C]),
            ),
            np.concatenate([np.zeros(self.size), np.full(n, 10.0)]),
            jac=True, method="SLSQP",
            constraints=[LinearConstraint(np.vstack(limits), np.concatenate(sides), np.inf)],
            options={"maxiter": 1000, "ftol": 1e-13},
        )  # fmt: skip
        return float(found.fun)
