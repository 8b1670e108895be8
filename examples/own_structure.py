r"""
A structure of your own, in one Python class
============================================

The structure: a *ring* of labels. Each position has a label, neighbours like or dislike each other,
and the last position is a neighbour of the first (think of a circular genome, or the hours of a
day),

.. math:: s(y) = \sum_{l=1}^{L} \theta_l(y_l) + \sum_{l=1}^{L} \theta(y_l, y_{l+1}) , \qquad
          y_{L+1} = y_1 .

A chain cannot say that; the ring's dynamic program remembers the first label all the way round.
"""

# %%
# What has to be written: the blocks of part scores, how an output is made of parts and back, and
# the edges of the dynamic program. argmax, log-partition, marginals, k-best, sampling, entropy and
# counting follow; so do the perceptron, the structured SVM and the CRF, with every cost.

import itertools
import warnings

import numpy as np

from structlearn import CRF, ConvergenceWarning, StructuredPerceptron, StructuredSVM
from structlearn.structures import Block, Hyperedges, Structure
from structlearn.testing import check_structure


class Ring(Structure):
    """Labels on a ring. Score blocks: ``label`` (L, K), ``transition`` (K, K); L at least 3.

    Time O(L · K³): for each first label, Viterbi along the rest.
    """

    def blocks(self, n_labels):
        return {
            "label": Block((n_labels,)),
            "transition": Block((n_labels, n_labels), shared=True),
        }

    def encode(self, y, label, transition):
        y = np.asarray(y)
        counts = {"label": np.zeros_like(label), "transition": np.zeros_like(transition)}
        counts["label"][np.arange(len(y)), y] = 1
        np.add.at(counts["transition"], (y, np.roll(y, -1)), 1)  # each label and the next one round
        return counts

    def decode(self, parts):
        return np.asarray(parts["label"]).argmax(axis=1)

    def edges(self, label, transition):
        length, n_labels = label.shape
        if length < 3:
            raise ValueError("a ring has at least three positions")
        part = np.arange(label.size).reshape(label.shape)
        pair = label.size + np.arange(transition.size).reshape(transition.shape)
        # Node (t, first, k): position t has label k, and the ring began with label `first`.
        node = np.arange(length * n_labels**2).reshape(length, n_labels, n_labels)
        goal = node.size
        edges = Hyperedges(goal + 1)
        for first in range(n_labels):
            edges.add(node[0, first, first], parts=[part[0, first]])
            for t in range(1, length):
                for before, k in itertools.product(range(n_labels), repeat=2):
                    if t > 1 or before == first:  # at position 0 there is only `first`
                        edges.add(
                            node[t, first, k],
                            tails=[node[t - 1, first, before]],
                            parts=[part[t, k], pair[before, k]],
                        )
            for last in range(n_labels):  # and the ring closes
                edges.add(goal, tails=[node[length - 1, first, last]], parts=[pair[last, first]])
        return edges

    def outputs(self, label, transition):
        """Every output, for checking against enumeration."""
        return (np.array(y) for y in itertools.product(range(label.shape[1]), repeat=len(label)))


# %%
# Prove the structure against enumeration first: every query, on random scores.


def random_scores(rng):
    return {"label": rng.normal(size=(4, 3)), "transition": rng.normal(size=(3, 3))}


print("check_structure:", check_structure(Ring(), random_scores))

# %%
# Rings in which neighbours tend to be equal, seen through noise. The perceptron, the SVM and the
# CRF learn them; a chain, which does not know that the ends meet, does worse, and each position
# alone worse still.

names = np.array(["day", "dusk", "night"])


def make_data(n, length, seed):
    """Draw rings whose neighbours like to be equal, from the structure itself, and add noise."""
    rng = np.random.default_rng(seed)
    like = {"label": np.zeros((length, 3)), "transition": 1.8 * np.eye(3)}
    rings = Ring().sample(n, random_state=seed, **like)
    X = [np.eye(3)[ring] + rng.normal(scale=0.9, size=(length, 3)) for ring in rings]
    return X, [names[ring] for ring in rings]


X, y = make_data(100, 8, seed=0)
X_test, y_test = make_data(200, 8, seed=1)
for model in (
    StructuredPerceptron(Ring(), max_iter=5, random_state=0),
    StructuredSVM(Ring(), C=0.1, max_iter=5, random_state=0),
    CRF(Ring(), C=1.0, tol=1e-2),
):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few passes, for a quick example
        model.fit(X, y)
    print(f"{type(model).__name__:22s} {model.score(X_test, y_test):.3f} of the labels right")

print(f"{'CRF on a chain':22s} {CRF().fit(X, y).score(X_test, y_test):.3f}")
alone = np.concatenate([names[(x @ model.coef_["label"].T).argmax(axis=1)] for x in X_test])
print(f"{'each position alone':22s} {np.mean(alone == np.concatenate(y_test)):.3f}")

# %%
# Three new rings of twelve hours: the truth outside, what each hour says alone in the middle, the
# reading of the ring inside.

import matplotlib.pyplot as plt

X_new, y_new = make_data(3, 12, seed=5)
colours = dict(zip(names, ("#F0E442", "#E69F00", "#0072B2"), strict=True))
fig, axes = plt.subplots(1, 3, figsize=(10, 4), layout="constrained")
for ax, x, gold, found in zip(axes, X_new, y_new, model.predict(X_new), strict=True):
    alone = names[(x @ model.coef_["label"].T).argmax(axis=1)]
    for labels, radius in ((gold, 1.0), (alone, 0.74), (found, 0.48)):
        wedges, _ = ax.pie(
            [1] * 12,
            radius=radius,
            colors=[colours[k] for k in labels],
            startangle=90,
            counterclock=False,
            wedgeprops={"width": 0.24, "ec": "w", "lw": 1.5},
        )
        for wedge, one, right in zip(wedges, labels, gold, strict=True):
            if one != right:
                wedge.set(hatch="xxx", edgecolor="k", lw=0.8)
    ax.set_title(
        f"{(alone != gold).sum()} wrong alone, {(found != gold).sum()} as a ring", fontsize=11
    )
handles = [plt.Rectangle((0, 0), 1, 1, color=c, label=k) for k, c in colours.items()]
handles.append(plt.Rectangle((0, 0), 1, 1, fc="w", ec="k", hatch="xxx", label="wrong"))
fig.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
plt.show()
