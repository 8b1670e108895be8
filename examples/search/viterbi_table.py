r"""
The table of Viterbi, step by step
==================================

The best of :math:`K^L` label sequences is found without looking at them. Let
:math:`\alpha_{l,k}` be the best score of labels up to word :math:`l` that end in :math:`k`. Then

.. math:: \alpha_{l+1,k} = \max_{k'} \left[ \alpha_{l,k'} + \theta(k', k) \right]
          + \theta_{l+1}(k) ,

and a note :math:`\zeta_{l+1,k}` of the :math:`k'` that won leads back from the end: time
:math:`O(L K^2)`. This is Algorithm 42 of Daumé's *A Course in Machine Learning* (eq. 17.37–17.49),
which starts from :math:`\alpha_{0,k} = 0`. Its line 12 is misprinted: the way back is
:math:`y_l \leftarrow \zeta_{l+1, y_{l+1}}`.
"""

# %%
# Scores of labels and of label pairs. The step from "eat" to "tasty" is the one that the chapter
# works out. An adjective there scores 1.2 by itself, so that its α is (17.38–17.40)
#
# .. math:: \max \{ 2 + 1.2 - 5, \; 9 + 1.2 + 2.5, \; -1 + 1.2 + 2.2 \}
#           = \max \{ -1.8, \; 12.7, \; 2.4 \} = 12.7 .

import numpy as np

from structlearn.structures import Chain, trellis

words, labels = ("monsters", "eat", "tasty", "bunnies"), ("noun", "verb", "adj")
scores = {
    "label": np.array([[4, 1, 0], [-0.5, 3, -4.5], [-1, 0.3, 1.2], [3, -1, 0]], dtype=float),
    "transition": np.array([[-2.5, 2, -5], [1.5, -4, 2.5], [2.5, -3, 2.2]], dtype=float),
}
table = trellis(**scores)
print(table.alpha)
print("α of adj at tasty:", table.alpha[2, 2], "from", labels[table.back[2, 2]])
print("path:", [labels[k] for k in table.path])

# %%
# The same path from the fast core, with its score and how it was found:

print(Chain().solve(**scores))

# %%
# Five pictures: one column of α per step, then the way back along the notes.

import matplotlib.pyplot as plt

BLUE, LIGHT, NEW = "#0072B2", "#DCEAF5", "#F5DFAE"
fig, axes = plt.subplots(5, 1, figsize=(7.5, 11), layout="constrained")
for step, ax in enumerate(axes):
    back = step == 4
    known = min(step, 3)
    for t, word in enumerate(words):
        ax.text(t, 0.75, word, ha="center", color="0" if t <= known else "0.65")
        for k in range(3):
            colour = "w" if t > known else LIGHT
            if t == step:
                colour = NEW
            if back:
                colour = BLUE if table.path[t] == k else "w"
            box = plt.Rectangle((t - 0.2, -k - 0.33), 0.4, 0.66, fc=colour, ec="0.4", zorder=3)
            ax.add_patch(box)
            if t <= known:
                ink = "w" if back and table.path[t] == k else "0"
                ax.text(
                    t, -k, f"{table.alpha[t, k]:g}", ha="center", va="center", color=ink, zorder=4
                )
            if 0 < t <= known:
                before = table.back[t, k]
                on_path = back and table.path[t] == k and table.path[t - 1] == before
                new = t == step
                ax.plot(
                    [t - 0.8, t - 0.2],
                    [-before, -k],
                    color=BLUE if on_path else "0" if new else "0.7",
                    lw=3.5 if on_path else 1.6 if new else 1,
                )
    for k, label in enumerate(labels):
        ax.text(-0.35, -k, label, ha="right", va="center")
    title = "back along ζ" if back else f"step {step + 1}: α at “{words[step]}”"
    ax.set(title=title, xlim=(-0.8, 3.4), ylim=(-2.45, 1.05))
    ax.title.set(fontsize=11, fontweight="bold")
    ax.axis("off")
handles = [
    plt.Rectangle((0, 0), 1, 1, fc=NEW, ec="0.4", label="computed now"),
    plt.Rectangle((0, 0), 1, 1, fc=LIGHT, ec="0.4", label="known"),
    plt.Rectangle((0, 0), 1, 1, fc=BLUE, ec="0.4", label="best path"),
    plt.Line2D([], [], color="0", label="ζ, the label before"),
]
fig.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
plt.show()
