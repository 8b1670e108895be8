"""Learning curves: how fast solvers of the same objective come to its optimum.

Words written in digits, seen as images; a structured SVM and a CRF, each by several solvers that
prove how far they still are. Needs matplotlib: ``pip install structlearn[plot]``. Run me:
``python examples/learning_curves.py``, with the picture's name if you like.
"""

import sys
import warnings

from structlearn import CRF, StructuredSVM
from structlearn.datasets import load_digit_words
from structlearn.exceptions import ConvergenceWarning

try:
    import matplotlib as mpl
except ImportError:
    mpl = None

SOLVERS = {
    StructuredSVM: ("frank-wolfe", "n-slack", "one-slack"),
    CRF: ("dual", "lbfgs"),
}


def fit_all(X, y):
    """Return the fitted estimators of each kind, by solver."""
    found = {}
    for kind, solvers in SOLVERS.items():
        for solver in solvers:
            model = kind(C=0.1, solver=solver, tol=1e-3, max_iter=500, random_state=0)
            found.setdefault(kind, {})[solver] = model.fit(X, y)
            gap = model.duality_gap_ / model.objective_
            print(
                f"{kind.__name__:14} {solver:12} {len(model.history_):3} iterations, gap {gap:.1e}"
            )
    return found


def main(path="learning_curves.png"):
    """Fit on digit words and draw relative gaps against seconds and calls of inference."""
    if mpl is None:
        print("no picture without matplotlib: pip install structlearn[plot]")
        return
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from structlearn.plotting import plot_convergence

    words = load_digit_words(60, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the curves tell who was too slow
        models = fit_all(words.X, words.y)
    _, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    for row, (kind, fitted) in zip(axes, models.items(), strict=True):
        for ax, x in zip(row, ("seconds", "oracle_calls"), strict=True):
            plot_convergence(fitted, x=x, y="relative gap", ax=ax).set_title(kind.__name__)
    plt.savefig(path, dpi=120)
    print(f"picture in {path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
