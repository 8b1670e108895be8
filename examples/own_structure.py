"""
A structure of your own, in one Python class
============================================

The structure: a *ring* of labels. Each position has a label, neighbours like or dislike each
other, and the last position is a neighbour of the first (think of a circular genome, or the hours
of a day). A chain cannot say that; the ring's dynamic program remembers the first label all the
way round.

What has to be written: the blocks of part scores, how an output is made of parts and back, and the
edges of the dynamic program. argmax, log-partition, marginals, k-best, sampling, entropy and
counting follow; so do the perceptron, the structured SVM and the CRF, with every cost.

Run:  python examples/own_structure.py
"""

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


def make_data(n, rng):
    """Rings in which neighbours tend to be equal, seen through noise."""
    X, y = [], []
    for _ in range(n):
        length = rng.integers(4, 8)
        labels = np.repeat(rng.integers(0, 3, size=length), 2)[:length]
        X.append(np.eye(3)[labels] + rng.normal(scale=0.8, size=(length, 3)))
        y.append(np.array(["day", "dusk", "night"])[labels])
    return X, y


def main():
    # Prove the structure against enumeration first.
    def random_scores(rng):
        return {"label": rng.normal(size=(4, 3)), "transition": rng.normal(size=(3, 3))}

    print("check_structure:", check_structure(Ring(), random_scores))

    rng = np.random.default_rng(0)
    X, y = make_data(120, rng)
    X_test, y_test = make_data(120, rng)
    for model in (
        StructuredPerceptron(Ring(), max_iter=5, random_state=0),
        StructuredSVM(Ring(), C=0.1, max_iter=8, random_state=0),
        StructuredSVM(Ring(), C=0.1, cost="zero-one", max_iter=4, random_state=0),
        CRF(Ring(), C=1.0, tol=1e-3),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # few passes, for a quick example
            model.fit(X, y)
        print(f"{type(model).__name__:22s} {model.score(X_test, y_test):.3f} of the labels right")
    print("a ring and its reading:", y_test[0], model.predict(X_test[:1])[0])


if __name__ == "__main__":
    main()
