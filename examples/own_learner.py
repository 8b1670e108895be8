r"""
A learner of your own, in one Python class
==========================================

Adam (Kingma & Ba 2015) keeps running means :math:`m` and :math:`v` of the gradient :math:`g` and of
its square, and moves each weight by

.. math:: w \leftarrow w - \eta \, \frac{\hat m}{\sqrt{\hat v} + \delta} , \qquad
          \hat m = \frac{m}{1 - \beta_1^t}, \quad \hat v = \frac{v}{1 - \beta_2^t} .

Nothing in it is about sequences, trees or grids, so it is written once and learns them all.
"""

# %%
# What has to be written: ``run``, which sees a problem, the settings of the estimator, and a
# ``progress`` to report to. The problem gives the loss of an example with its gradient over parts,
# and ``scatter`` turns that into a gradient over weights.

from itertools import pairwise

import numpy as np

from structlearn import CRF, StructuredSVM
from structlearn.datasets import make_treebank
from structlearn.learners import Training


class Adam:
    """Steps along running means of the gradient, each weight at its own pace."""

    def __init__(self, rate=0.1, batch=16, random_state=0):
        self.rate, self.batch, self.random_state = rate, batch, random_state

    def run(self, problem, settings, progress, *, start=None, n_jobs=None):
        rng = np.random.default_rng(self.random_state)
        n = problem.n_examples
        w = np.zeros(problem.n_weights) if start is None else start.copy()
        m, v, t = np.zeros_like(w), np.zeros_like(w), 0
        for k in range(1, settings.max_iter + 1):
            order, total = rng.permutation(n), 0.0
            for batch in np.array_split(order, -(-n // self.batch)):
                g = w * (len(batch) / n)  # the share of the regulariser
                for i in batch:
                    loss, parts = problem.loss(i, w, settings.margin, settings.temperature)
                    problem.scatter(i, parts, settings.C, g)
                    total += loss
                t += 1
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                rate = self.rate / np.sqrt(k)  # steps that shrink: it would hover otherwise
                w -= rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
            if progress.report(w.copy, iteration=k, loss=total):
                break
        objective, _ = problem.objective(
            w, C=settings.C, margin=settings.margin, temperature=settings.temperature
        )
        return Training(w, objective=objective)


# %%
# It goes where the name of a solver goes. The same class minimises the log loss of a CRF and the
# hinge of a structured SVM, here on part-of-speech tags; the built-in solvers, which prove how far
# they are from the optimum, tell how well it does.

sentences = make_treebank(120, random_state=0)
X = [
    [[word, word[-2:], f"after {before}"] for before, word in pairwise(["", *s.words])]
    for s in sentences
]
y = [s.tags for s in sentences]

for estimator in (CRF, StructuredSVM):
    own = estimator(solver=Adam(), max_iter=20).fit(X[:90], y[:90])
    best = estimator().fit(X[:90], y[:90])
    print(
        f"{estimator.__name__:<14} objective {own.objective_:8.3f} (best {best.objective_:8.3f}), "
        f"accuracy {own.score(X[90:], y[90:]):.3f} ({best.score(X[90:], y[90:]):.3f})"
    )

# %%
# The path to the optimum: the sum of the losses after each pass.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for rate, style in ((0.02, ":"), (0.1, "-"), (0.5, "--")):
    own = CRF(solver=Adam(rate), max_iter=20).fit(X[:90], y[:90])
    curve = [record["loss"] for record in own.history_]
    axes.plot(range(1, 21), curve, style, label=f"η = {rate}")
axes.set(xlabel="pass", ylabel="sum of log losses", yscale="log")
axes.legend(frameon=False)
plt.show()
