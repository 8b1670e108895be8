r"""
The chart of CKY: two readings of one sentence
==============================================

Who has the telescope? A grammar knows both readings, and CKY finds the better one. Its chart has a
cell for every span of words, filled from short spans to long ones:

.. math:: \text{best}(i, j, A) = \max_{A \to B\,C} \; \max_{i < m < j} \;
          \theta(A \to B\,C) + \text{best}(i, m, B) + \text{best}(m, j, C) .

There are :math:`O(n^2)` cells and :math:`O(n)` splits of each: time :math:`O(n^3)`.
"""

# %%
# A small grammar with scores of rules and words. Symbols are numbers for the structure.

import numpy as np

from structlearn.structures import Constituency, Grammar

words = ["We", "saw", "monsters", "with", "telescopes"]
symbols = ["S", "NP", "VP", "PP", "V", "P"]
S, NP, VP, PP, V, P = range(6)
rules = [(S, NP, VP), (VP, V, NP), (VP, VP, PP), (NP, NP, PP), (PP, P, NP)]
rule_scores = np.array([0.0, -0.5, -0.7, -1.2, 0.0])
lexicon = {
    "We": (NP, -1.0),
    "saw": (V, -0.4),
    "monsters": (NP, -2.0),
    "with": (P, -0.1),
    "telescopes": (NP, -1.5),
}
word = np.full((len(words), len(symbols)), -np.inf)
for i, name in enumerate(words):
    symbol, score = lexicon[name]
    word[i, symbol] = score
root = np.where(np.arange(len(symbols)) == S, 0.0, -np.inf)

parser = Constituency(Grammar(len(symbols), rules))
readings = parser.kbest(5, word=word, binary=rule_scores, root=root)
for score, tree in readings:
    print(
        f"{score:.1f}", [f"{symbols[k]}: {' '.join(words[i:j])}" for i, j, k in tree if j - i > 1]
    )

# %%
# What is in a cell? The best tree over its words alone, for each symbol: ask for it with the root
# set to that symbol.


def cell(i, j):
    """Return the symbols over words i to j with their best scores."""
    found = {}
    for k, name in enumerate(symbols):
        only = np.where(np.arange(len(symbols)) == k, 0.0, -np.inf)
        try:
            found[name] = parser.solve(word=word[i:j], binary=rule_scores, root=only).value
        except ValueError:  # no tree with this symbol
            continue
    return found


# %%
# The chart, short spans below. The two readings part ways in the middle: one has a PP inside the NP
# "monsters with telescopes", the other beside it.

import matplotlib.pyplot as plt

used = [{(i, j) for i, j, _ in tree} for _, tree in readings]
n = len(words)
_, ax = plt.subplots(figsize=(8, 5.6), layout="constrained")
for i in range(n):
    for j in range(i + 1, n + 1):
        x, y = (i + j) / 2, j - i
        first, second = (i, j) in used[0], (i, j) in used[1]
        face = (
            "#E4E4E4" if first and second else "#CFE3F2" if first else "#FAE6BF" if second else "w"
        )
        box = plt.Rectangle((x - 0.47, y - 0.4), 0.94, 0.8, fc=face, ec="0.5", zorder=2)
        ax.add_patch(box)
        text = "\n".join(f"{name} {score:.1f}" for name, score in cell(i, j).items())
        ax.text(x, y, text or "–", ha="center", va="center", fontsize=11, zorder=4)
for i, name in enumerate(words):
    ax.text(i + 0.5, 0.35, name, ha="center", fontsize=12, weight="bold")
handles = [
    plt.Rectangle((0, 0), 1, 1, fc="#E4E4E4", ec="0.5", label="in both trees"),
    plt.Rectangle((0, 0), 1, 1, fc="#CFE3F2", ec="0.5", label=f"best alone: {readings[0][0]:.1f}"),
    plt.Rectangle(
        (0, 0), 1, 1, fc="#FAE6BF", ec="0.5", label=f"second alone: {readings[1][0]:.1f}"
    ),
]
ax.legend(handles=handles, frameon=False, loc="upper right", fontsize=11)
ax.set(
    xlim=(-0.1, n + 0.1),
    ylim=(0.1, n + 0.6),
    ylabel="words in the span",
    xticks=[],
    yticks=range(1, n + 1),
)
ax.spines[["top", "right", "bottom"]].set_visible(False)
plt.show()
