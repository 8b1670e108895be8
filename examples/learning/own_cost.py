r"""
A cost of your own moves the mistakes
=====================================

Not all mistakes are alike. Missing a disease is worse than a false alarm. A structured SVM takes
the cost :math:`\delta(k, \hat k)` of answering :math:`\hat k` where :math:`k` is right, and asks
for a margin as large:

.. math:: \xi = \max_{\hat y} \left[ \sum_l \delta(y_l, \hat y_l) + s(x, \hat y) \right] - s(x, y) .
"""

# %%
# Days of a patient, ill or well, in spells; two measurements a day that say something, not all.

import numpy as np

from structlearn import StructuredSVM


def patients(n, rng):
    """Return (days, 3) measurements, with a constant, and the state of each day."""
    X, y = [], []
    for _ in range(n):
        ill = np.repeat(rng.random(8) < 0.35, rng.integers(1, 6, size=8))
        values = 0.9 * ill[:, np.newaxis] + rng.normal(size=(len(ill), 2))
        X.append(np.column_stack([values, np.ones(len(ill))]))
        y.append(np.where(ill, "ill", "well"))
    return X, y


rng = np.random.default_rng(0)
(X, y), (X_test, y_test) = patients(80, rng), patients(200, rng)

# %%
# The table reads [right, answered], in the order of the classes: ill, well. To miss an ill day
# costs m, a false alarm 1.

gold = np.concatenate(y_test) == "ill"
prices = (0.25, 0.5, 1, 2, 4, 8)
missed, alarms = [], []
for m in prices:
    svm = StructuredSVM(C=0.05, cost=[[0, m], [1, 0]], random_state=0).fit(X, y)
    answer = np.concatenate(svm.predict(X_test)) == "ill"
    missed.append(np.mean(~answer[gold]))
    alarms.append(np.mean(answer[~gold]))
    print(f"m = {m:<4}: {missed[-1]:.2f} of ill days missed, {alarms[-1]:.2f} of well days alarmed")

# %%
# Left: both kinds of mistakes. Right: what the answers cost at each price, against a model that was
# trained with all mistakes alike.

import matplotlib.pyplot as plt

_, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
left.plot(prices, 100 * np.array(missed), "o-", color="#D55E00", lw=2, label="ill days missed")
left.plot(prices, 100 * np.array(alarms), "s--", color="#0072B2", lw=2, label="false alarms")
left.set(ylabel="%", ylim=(0, None))
share = gold.mean()
own = [m * share * a + (1 - share) * b for m, a, b in zip(prices, missed, alarms, strict=True)]
same = [m * share * missed[2] + (1 - share) * alarms[2] for m in prices]
right.plot(prices, same, "^--", color="#E69F00", lw=2, label="trained with m = 1")
right.plot(prices, own, "o-", color="#0072B2", lw=2, label="trained with its m")
right.set(ylabel="cost a day", ylim=(0, None))
for ax in (left, right):
    ax.set_xscale("log", base=2)
    ax.set(xlabel="cost m of a missed ill day (a false alarm: 1)", xticks=prices)
    ax.set_xticklabels(prices)
    ax.legend(frameon=False)
    ax.grid(color="0.92")
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
