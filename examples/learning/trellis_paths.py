r"""
The best path, and the most dangerous one
=========================================

"Fish Sleep": each word is a noun or a verb. The best labels are the best path through a *trellis*.
While a structured SVM learns, it looks for another path: the one that scores well *and* is wrong,

.. math:: \hat y = \arg\max_{\hat y} \left[ s(x, \hat y) + \Delta(y, \hat y) \right] .

Where the cost is a sum over parts, that is the same search with other scores: eq. 17.30 and 17.53
of Daumé's *A Course in Machine Learning*.
"""

# %%
# The part scores, and the best path. A label has a score of its own, and so has a label after
# another one: :math:`s(x, y) = \sum_l \theta_l(y_l) + \sum_l \theta(y_{l-1}, y_l)`.

import numpy as np

from structlearn.losses import Hamming, hinge_loss
from structlearn.structures import Chain, trellis

words, labels = ("Fish", "Sleep"), ("N", "V")
scores = {
    "label": np.array([[2.0, 1.0], [1.0, 0.0]]),
    "start": np.array([1.0, -1.0]),
    "transition": np.array([[-2.0, 1.0], [2.0, -2.0]]),
}
best = Chain().solve(**scores)
print("best path:", [labels[k] for k in best.output], "scores", best.value)

# %%
# The gold labels are noun, verb. The Hamming cost adds 1 to every label that is wrong,
# :math:`c_{l,k} = 1` where :math:`k \ne y_l`, and the search is run again.

gold = [0, 1]
cost, _ = Hamming().parts(Chain(), gold, **scores)
augmented = {**scores, "label": scores["label"] + cost["label"]}
worst = Chain().solve(**augmented)
print("most dangerous:", [labels[k] for k in worst.output], "scores", worst.value)
slack, _ = hinge_loss()(Chain(), gold, **scores)
print("the hinge loss is what it is ahead by:", slack)

# %%
# Both searches side by side. A circle holds the score of its label, a line that of its pair.

import matplotlib.pyplot as plt

BLUE, RED, GREY = "#0072B2", "#D55E00", "0.75"


def draw(ax, scores, paths, title):
    """Draw all parts, then the paths over them: (labels, colour, dashes, name)."""
    place = [(0.0, 0.5)] + [(t + 1.0, 1.0 - k) for t in range(2) for k in range(2)]
    edges = [(0, 1 + k, scores["start"][k], 0.5) for k in range(2)]
    for j in range(2):
        edges += [(1 + j, 3 + k, scores["transition"][j, k], 0.28) for k in range(2)]
    for a, b, value, at in edges:
        (x, y), (u, v) = place[a], place[b]
        ax.plot([x, u], [y, v], color=GREY, lw=1.2, zorder=1)
        ax.text(
            x + at * (u - x),
            y + at * (v - y),
            f"{value:g}",
            ha="center",
            va="center",
            fontsize=10,
            zorder=3,
            bbox={"fc": "w", "ec": "none", "pad": 1.5},
        )
    for path, colour, dashes, name in paths:
        at = [place[0], place[1 + path[0]], place[3 + path[1]]]
        ax.plot(*zip(*at, strict=True), color=colour, lw=3.5, ls=dashes, zorder=2, label=name)
    for t, word in enumerate(words):
        ax.text(t + 1, 1.36, word, ha="center", fontsize=13, weight="bold")
        for k, label in enumerate(labels):
            x, y = place[1 + 2 * t + k]
            ax.plot(x, y, "o", ms=44, mfc="w", mec="0.3", zorder=4)
            text = f"{label}\n{scores['label'][t, k]:g}"
            ax.text(x, y, text, ha="center", va="center", fontsize=11, zorder=5)
    ax.plot(*place[0], "o", ms=10, color="0.3", zorder=4)
    ax.text(0, 0.36, "start", ha="center", va="top")
    ax.set(title=title, xlim=(-0.3, 2.3), ylim=(-0.55, 1.55))
    ax.axis("off")
    ax.legend(loc="lower center", ncols=2, frameon=False, bbox_to_anchor=(0.5, -0.06))


_, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
draw(axes[0], scores, [(best.output, BLUE, "-", f"best path: {best.value:g}")], "scores")
draw(
    axes[1],
    augmented,
    [
        (gold, BLUE, "-", f"gold path: {Chain().score(gold, **augmented):g}"),
        (worst.output, RED, (0, (3, 1.5)), f"most dangerous path: {worst.value:g}"),
    ],
    "scores + cost",
)
plt.show()

# %%
# In a notebook the table that the search fills draws itself: a box holds the best score of all
# paths that end there.

trellis(**augmented).draw(words, labels, other=gold, names=("most dangerous", "gold"))
