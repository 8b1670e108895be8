"""
Multi-label classification: labels that know of each other against labels that do not
=====================================================================================

Documents made by scikit-learn, each about several of five topics; a model of all pairs of topics
against one classifier a topic, the same features, loss and regulariser. The picture shows what
pairs of topics gain by going together, and what the pairs are good for. Needs matplotlib for that:
``pip install structlearn[plot]``. Run me: ``python examples/multi_label.py``, with the picture's
name if you like.
"""

import sys

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import hamming_loss

from structlearn import CRF, MultiLabelClassifier

try:
    import matplotlib as mpl
except ImportError:
    mpl = None

GRAPHS = {"none": "independent", "tree": "tree", "full": "all pairs"}
SEEDS = range(3)


def compare(seed):
    """Return subset accuracy and the share of right labels of each graph, and the last model."""
    X, Y = make_multilabel_classification(
        n_samples=1000, n_features=20, n_classes=5, n_labels=2, random_state=seed
    )
    X, train, test = X / 10.0, slice(0, 400), slice(400, None)
    found = {}
    for graph in GRAPHS:
        model = MultiLabelClassifier(CRF(C=10.0, solver="lbfgs"), graph=graph).fit(
            X[train], Y[train]
        )
        # All labels right: the best labels together. Each label right: the more probable value.
        each = model.predict_proba(X[test]) > 0.5
        found[graph] = (model.score(X[test], Y[test]), 1 - hamming_loss(Y[test], each))
    return found, model


def draw(scores, model, path):
    """Draw the interactions of the labels beside the scores of the graphs."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    _, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    angle = 2 * np.pi * np.arange(len(model.classes_)) / len(model.classes_)
    x, y = np.cos(angle), np.sin(angle)
    strongest = np.abs(model.interactions_).max()
    for (p, q), gain in zip(model.edges_, model.interactions_, strict=True):
        color = "tab:blue" if gain > 0 else "tab:red"
        left.plot(x[[p, q]], y[[p, q]], color=color, lw=6 * abs(gain) / strongest, zorder=1)
    left.scatter(x, y, s=500, color="white", edgecolor="black", zorder=2)
    for k in model.classes_:
        left.text(x[k], y[k], str(k), ha="center", va="center")
    left.set(title="topics that go together (blue) or do not (red)", aspect="equal")
    left.axis("off")
    places = np.arange(len(GRAPHS))
    for k, (name, hatch) in enumerate((("all labels right", ""), ("each label right", "//"))):
        means = [np.mean([s[graph][k] for s in scores]) for graph in GRAPHS]
        bars = right.bar(places + 0.4 * k - 0.2, means, 0.38, label=name, hatch=hatch)
        right.bar_label(bars, fmt="%.3f")
    right.set_xticks(places, list(GRAPHS.values()))
    right.set(ylabel="share of test documents, labels", ylim=(0, 1.05))
    right.legend(loc="upper right", ncols=2)
    plt.savefig(path, dpi=120)
    print(f"picture in {path}")


def main(path="multi_label.png"):
    """Compare the graphs on several draws of the data."""
    scores = []
    for seed in SEEDS:
        found, model = compare(seed)
        scores.append(found)
    print(f"{'graph':12} all labels right   each label right   (means of {len(scores)} draws)")
    for graph, name in GRAPHS.items():
        subset, each = np.mean([s[graph] for s in scores], axis=0)
        print(f"{name:12} {subset:16.3f} {each:18.3f}")
    if mpl is None:
        print("no picture without matplotlib: pip install structlearn[plot]")
    else:
        draw(scores, model, path)


if __name__ == "__main__":
    main(*sys.argv[1:2])
