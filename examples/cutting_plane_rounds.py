r"""
How many rounds a tolerance costs
=================================

Cutting planes end when no constraint is violated by more than ε. The one-slack method is proven to
need :math:`O(1/\varepsilon)` rounds (Joachims, Finley & Yu 2009), the n-slack method
:math:`O(1/\varepsilon^2)` (Tsochantaridis et al. 2005). On data both need far fewer.
"""

# %%
# Words written in digits, one fit a tolerance. With ``tol=0`` ε alone ends the rounds, however
# small the duality gap is by then.

from structlearn import StructuredSVM
from structlearn.datasets import load_digit_words

words = load_digit_words(8, random_state=0)
tolerances = (0.2, 0.1, 0.05, 0.02, 0.005, 0.001)
rounds = {}
for method in ("one-slack", "n-slack"):
    for tolerance in tolerances:
        model = StructuredSVM(
            C=0.1,
            cost="hamming-mean",
            solver=method,
            violation_tol=tolerance,
            tol=0,
            max_iter=2000,
        ).fit(words.X, words.y)
        rounds.setdefault(method, []).append(model.n_iter_)
    shown = zip(tolerances, rounds[method], strict=True)
    print(f"{method:10}", *(f"ε={tolerance}: {n}" for tolerance, n in shown))

# %%
# Rounds against 1/ε, both scales logarithmic. The bound of the one-slack method has slope 1.

import matplotlib.pyplot as plt

from structlearn.plotting import plot_growth

inverse = [1 / e for e in tolerances]
_, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
for method, counts in rounds.items():
    plot_growth(inverse, counts, ax=ax, label=method, xlabel="1/ε", ylabel="rounds")
first = rounds["one-slack"][0]
ax.plot(inverse, [first * x / inverse[0] for x in inverse], ":", color="0.5", label="slope 1")
ax.legend()
plt.show()
