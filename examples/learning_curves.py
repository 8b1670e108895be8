"""
Learning curves, with proofs
============================

How fast do solvers of the same objective come to its optimum? Words written in digits, seen as images; a structured SVM
and a CRF, each by several solvers that prove how far they still are at most.
"""

# %%
# Fit each. Few iterations are allowed, so that some end before they are sure; the curves tell who was too slow.

import warnings

from structlearn import CRF, StructuredSVM
from structlearn.datasets import load_digit_words
from structlearn.exceptions import ConvergenceWarning

words = load_digit_words(60, random_state=0)
solvers = {StructuredSVM: ("frank-wolfe", "n-slack", "one-slack"), CRF: ("dual", "lbfgs")}
fitted = {}
for kind, names in solvers.items():
    for solver in names:
        model = kind(C=0.1, solver=solver, tol=1e-3, max_iter=500, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted.setdefault(kind, {})[solver] = model.fit(words.X, words.y)
        gap = model.duality_gap_ / model.objective_
        print(f"{kind.__name__:14} {solver:12} {len(model.history_):3} iterations, gap {gap:.1e}")

# %%
# Relative gaps, over seconds and over calls of inference. Seconds are what you wait; calls are what stays the same on every
# machine, and what counts where inference is dear.

import matplotlib.pyplot as plt

from structlearn.plotting import plot_convergence

_, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
for row, (kind, models) in zip(axes, fitted.items(), strict=True):
    for ax, x in zip(row, ("seconds", "oracle_calls"), strict=True):
        plot_convergence(models, x=x, y="relative gap", ax=ax).set_title(kind.__name__)
plt.show()
