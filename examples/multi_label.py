"""
Multi-label classification as a graph over labels
=================================================

Documents made by scikit-learn, each about several of five topics. A model of all pairs of topics
against one classifier a topic, with the same features, loss and regulariser: do labels that know of
each other find more?
"""

# %%
# Three graphs over the labels: none, the tree of the strongest dependences (Chow and Liu), and all
# pairs. All of them are small enough for exact inference. *All labels right* asks for the best
# labels together; *each label right* for the more probable value of each.

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import hamming_loss

from structlearn import CRF, MultiLabelClassifier

graphs = {"none": "independent", "tree": "tree", "full": "all pairs"}
scores = {graph: [] for graph in graphs}
for seed in range(3):
    X, Y = make_multilabel_classification(
        n_samples=1000, n_features=20, n_classes=5, n_labels=2, random_state=seed
    )
    X, train, test = X / 10.0, slice(0, 400), slice(400, None)
    for graph in graphs:
        model = MultiLabelClassifier(CRF(C=10.0, solver="lbfgs"), graph=graph)
        model.fit(X[train], Y[train])
        each = model.predict_proba(X[test]) > 0.5
        scores[graph].append((model.score(X[test], Y[test]), 1 - hamming_loss(Y[test], each)))

print(f"{'graph':12} all labels right   each label right   (means of 3 draws)")
means = {graph: np.mean(found, axis=0) for graph, found in scores.items()}
for graph, name in graphs.items():
    print(f"{name:12} {means[graph][0]:16.3f} {means[graph][1]:18.3f}")

# %%
# What the pairs have learned, and what they are good for: sets of labels are right more often,
# single ones about as often as before.

import matplotlib.pyplot as plt

_, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
angle = 2 * np.pi * np.arange(len(model.classes_)) / len(model.classes_)
x, y = np.cos(angle), np.sin(angle)
strongest = np.abs(model.interactions_).max()
for (p, q), gain in zip(model.edges_, model.interactions_, strict=True):
    color = "tab:blue" if gain > 0 else "tab:orange"
    left.plot(x[[p, q]], y[[p, q]], color=color, lw=6 * abs(gain) / strongest, zorder=1)
left.scatter(x, y, s=500, color="white", edgecolor="black", zorder=2)
for k in model.classes_:
    left.text(x[k], y[k], str(k), ha="center", va="center")
left.set(title="topics that go together (blue) or do not (orange)", aspect="equal")
left.axis("off")
places = np.arange(len(graphs))
for k, (name, hatch) in enumerate((("all labels right", ""), ("each label right", "//"))):
    heights = [means[graph][k] for graph in graphs]
    bars = right.bar(places + 0.4 * k - 0.2, heights, 0.38, label=name, hatch=hatch)
    right.bar_label(bars, fmt="%.3f")
right.set_xticks(places, list(graphs.values()))
right.set(ylabel="share of test documents, labels", ylim=(0, 1.15))
right.legend(loc="upper right", ncols=2)
plt.show()
