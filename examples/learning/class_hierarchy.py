r"""
Related classes learn from each other
=====================================

Music and movies are both entertainment; oncology is neither. A *hierarchy* gives the two a block of
weights that they share,

.. math:: s(x, \text{music}) = (w_{\text{music}} + w_{\text{shared}}) \cdot x , \quad
          s(x, \text{movies}) = (w_{\text{movies}} + w_{\text{shared}}) \cdot x , \quad
          s(x, \text{oncology}) = w_{\text{oncology}} \cdot x ,

so that what is learned from the one helps the other, where examples are few: eq. 17.9–17.11 of
Daumé's *A Course in Machine Learning*.
"""

# %%
# Documents as counts of 100 words. A document has words of its topic, words of its field, and much
# that says nothing. Nine topics in three fields.

import numpy as np

from structlearn import CRF

fields = {
    "arts": ("music", "movies", "books"),
    "medicine": ("oncology", "surgery", "genetics"),
    "sport": ("tennis", "rowing", "chess"),
}
topics = [topic for group in fields.values() for topic in group]
tree = tuple(fields.values())  # the classes as nested tuples


def documents(n, rng):
    """Return (n, 100) counts and topics: fifteen words a field, two a topic, the rest anywhere."""
    which = rng.integers(len(topics), size=n)
    rates = np.full((n, 100), 0.2)
    for row, k in zip(rates, which, strict=True):
        row[15 * (k // 3) : 15 * (k // 3) + 15] += 0.3
        row[45 + 2 * k : 47 + 2 * k] += 0.8
    return rng.poisson(rates).astype(float), np.array(topics)[which]


rng = np.random.default_rng(0)
X_test, y_test = documents(1000, rng)
sizes = (20, 40, 80, 160, 320)
right = {"flat": [], "hierarchy": []}
for n in sizes:
    scores = {name: [] for name in right}
    for _ in range(10):
        X, y = documents(n, rng)
        while len(set(y)) < len(topics):  # every topic at least once
            X, y = documents(n, rng)
        for name, given in (("flat", None), ("hierarchy", tree)):
            model = CRF("multiclass", hierarchy=given, C=0.03).fit(X, y)
            scores[name].append(model.score(X_test, y_test))
    for name, values in scores.items():
        right[name].append(values)
    print(f"{n:3} documents:", *(f"{k} {np.mean(v):.3f}" for k, v in scores.items()))

# %%
# Left: the share of new documents that get the right topic, mean of ten draws. Right: what the
# hierarchy gains on the same documents, with two standard errors up and down. It is much where
# examples are few, and little where they are many.

import matplotlib.pyplot as plt

_, (left, second) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for name, colour, style in (("hierarchy", "#0072B2", "o-"), ("flat", "#D55E00", "s--")):
    left.plot(sizes, 100 * np.mean(right[name], axis=1), style, color=colour, lw=2, label=name)
left.set(ylabel="topics right, %")
left.legend(frameon=False, loc="upper left")
gain = 100 * (np.array(right["hierarchy"]) - np.array(right["flat"]))
error = 2 * gain.std(axis=1, ddof=1) / np.sqrt(gain.shape[1])
second.errorbar(sizes, gain.mean(axis=1), error, fmt="o", color="#0072B2", capsize=4, lw=2)
second.axhline(0, color="0.5", lw=1)
second.set(ylabel="gain by the hierarchy, percentage points")
for ax in (left, second):
    ax.set(xscale="log", xlabel="documents to learn from", xticks=sizes)
    ax.set_xticklabels(sizes)
    ax.minorticks_off()
    ax.grid(color="0.92")
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
