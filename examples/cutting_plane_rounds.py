"""Cutting planes: how many rounds a tolerance ε costs.

The one-slack method is proven to end after O(1/ε) rounds (Joachims, Finley & Yu 2009), the n-slack
method after O(1/ε²) (Tsochantaridis et al. 2005); on data both need far fewer. Words written in
digits, one fit a tolerance. Needs matplotlib: ``pip install structlearn[plot]``. Run me:
``python examples/cutting_plane_rounds.py``, with the picture's name if you like.
"""

import sys

from structlearn import StructuredSVM
from structlearn.datasets import load_digit_words

try:
    import matplotlib as mpl
except ImportError:
    mpl = None

TOLERANCES = (0.2, 0.1, 0.05, 0.02, 0.005, 0.001)
METHODS = ("one-slack", "n-slack")


def count_rounds(X, y):
    """Return the number of rounds for each tolerance, by method."""
    found = {}
    for method in METHODS:
        for tolerance in TOLERANCES:
            # tol=0: ε alone ends the rounds, however small the duality gap is by then.
            model = StructuredSVM(
                C=0.1,
                cost="hamming-mean",
                solver=method,
                violation_tol=tolerance,
                tol=0,
                max_iter=2000,
            ).fit(X, y)
            found.setdefault(method, []).append(model.n_iter_)
        shown = zip(TOLERANCES, found[method], strict=True)
        print(f"{method:10}", *(f"ε={tolerance}: {rounds}" for tolerance, rounds in shown))
    return found


def main(path="cutting_plane_rounds.png"):
    """Count rounds on digit words and draw them against 1/ε."""
    if mpl is None:
        print("no picture without matplotlib: pip install structlearn[plot]")
        return
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from structlearn.plotting import plot_growth

    words = load_digit_words(8, random_state=0)
    inverse = [1 / e for e in TOLERANCES]
    _, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
    found = count_rounds(words.X, words.y)
    for method, rounds in found.items():
        plot_growth(inverse, rounds, ax=ax, label=method, xlabel="1/ε", ylabel="rounds")
    first = found[METHODS[0]][0]
    ax.plot(inverse, [first * x / inverse[0] for x in inverse], ":", color="0.5", label="slope 1")
    ax.legend()
    plt.savefig(path, dpi=120)
    print(f"picture in {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
