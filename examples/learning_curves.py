r"""
Learning curves, with proofs
============================

How fast do solvers of the same objective come to its optimum? All of these know a lower bound of
it, the dual, and so how far above it they are at most: the *duality gap*,

.. math:: P(w) - \min_v P(v) \le P(w) - D , \qquad
          P(w) = \frac{1}{2} \lVert w \rVert^2 + C \sum_n L_n(w) .

Words written in digits, seen as images; a structured SVM and a CRF, each by several solvers.
"""

# %%
# Fit each. ``history_`` has one record per iteration.

from structlearn import CRF, StructuredSVM
from structlearn.datasets import load_digit_words

words = load_digit_words(40, random_state=0)
kinds = {
    StructuredSVM: (1e-3, ("frank-wolfe", "n-slack", "one-slack")),
    CRF: (1e-6, ("dual", "sag", "lbfgs")),
}
fitted = {}
for kind, (tol, names) in kinds.items():
    for solver in names:
        model = kind(C=0.1, solver=solver, tol=tol, max_iter=1000, random_state=0)
        fitted.setdefault(kind, {})[solver] = model.fit(words.X, words.y)
        gap = model.duality_gap_ / model.objective_
        print(f"{kind.__name__:14} {solver:12} {len(model.history_):3} iterations, gap {gap:.1e}")

# %%
# Gaps over seconds, and over calls of inference. Seconds are what you wait; calls are what stays
# the same on every machine, and what counts where inference is dear. Some solvers prove their gap
# only when they believe to be done, and estimate it on the way.

import matplotlib.pyplot as plt

from structlearn.plotting import plot_convergence

_, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
for row, (kind, models) in zip(axes, fitted.items(), strict=True):
    for ax, x in zip(row, ("seconds", "oracle_calls"), strict=True):
        plot_convergence(models, x=x, y="estimated gap", ax=ax).set_title(kind.__name__)
        if ax.get_xscale() == "linear":
            ax.locator_params(axis="x", nbins=6)
plt.show()
