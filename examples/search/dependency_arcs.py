r"""
Dependency arcs, right and wrong
================================

In a dependency tree each word has a head. The score of a tree is the sum over its arcs, and the
best tree is a maximum spanning arborescence,

.. math:: \hat y = \arg\max_{y \in \text{trees}} \; \sum_{(h, d) \in y} \theta(h, d) .
"""

# %%
# A parser from a treebank that is generated: (word, tag, head, relation), heads counted from
# 1, and 0 for the root.

from structlearn.datasets import make_treebank
from structlearn.tasks import DependencyParser

bank = make_treebank(260, random_state=0)
rows = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in bank]
parser = DependencyParser(order=1, gold_tags=True, hash_bits=18, max_iter=4).fit(rows[:120])
report = parser.evaluate(rows[120:])
print(f"heads right {report['uas']:.3f}, and relations too {report['las']:.3f}")

# %%
# A sentence with a mistake: the first one of moderate length whose heads are not all right.

trees = parser.predict(rows[120:], gold_tags=True)
place = next(
    120 + i
    for i, (tree, gold) in enumerate(zip(trees, rows[120:], strict=True))
    if 7 <= len(tree) <= 10 and any(h != g[2] for (h, _), g in zip(tree, gold, strict=True))
)
tree, gold = trees[place - 120], [(h, r) for _, _, h, r in rows[place]]
print(" ".join(w for w, *_ in rows[place]))

# %%
# Arcs go from the head to its word. Above: what the parser found; below: what it missed.

import matplotlib.pyplot as plt
from matplotlib.patches import Arc

INK, RED, BLUE = "0.25", "#D55E00", "#0072B2"


def arc(ax, head, word, name, colour, side, dashes="-"):
    """Draw the arc of a word, with an arrowhead at the word and the relation at the top."""
    base = 0.0 if side > 0 else -0.8  # above the words, or under the tags
    if head == 0:
        ax.annotate(
            name,
            (word, base + 0.05 * side),
            (word, base + 2.7 * side),
            color=colour,
            ha="center",
            va="center",
            fontsize=9,
            arrowprops={"arrowstyle": "-|>", "color": colour, "ls": dashes},
        )
        return
    width = abs(head - word)
    height = 0.55 * width**0.75
    middle = (head + word) / 2
    turn = (0, 180) if side > 0 else (180, 360)
    ax.add_patch(
        Arc(
            (middle, base),
            width - 0.12,
            2 * height,
            theta1=turn[0],
            theta2=turn[1],
            color=colour,
            ls=dashes,
            lw=1.8,
        )
    )
    end = word + (0.06 if head > word else -0.06)
    ax.plot(end, base + 0.05 * side, marker="v" if side > 0 else "^", color=colour, ms=7)
    ax.text(
        middle,
        base + side * height,
        name,
        color=colour,
        ha="center",
        va="center",
        fontsize=9,
        bbox={"fc": "w", "ec": "none", "pad": 1},
    )


n = len(tree)
_, ax = plt.subplots(figsize=(11, 5.4), layout="constrained")
for d, (found, wanted) in enumerate(zip(tree, gold, strict=True), 1):
    right = found == wanted
    arc(ax, found[0], d, found[1], INK if right else RED, 1)
    if not right:
        arc(ax, wanted[0], d, wanted[1], BLUE, -1, "--")
for d, (word, tag, *_) in enumerate(rows[place], 1):
    ax.text(
        d,
        -0.2,
        word,
        ha="center",
        va="top",
        fontsize=12,
        weight="bold",
        bbox={"fc": "w", "ec": "none", "pad": 1},
    )
    ax.text(d, -0.5, tag, ha="center", va="top", fontsize=9, color="0.4")
handles = [
    plt.Line2D([], [], color=INK, label="right"),
    plt.Line2D([], [], color=RED, label="wrong"),
    plt.Line2D([], [], color=BLUE, ls="--", label="missed"),
]
ax.legend(handles=handles, frameon=False, loc="lower right")
ax.set(xlim=(0.4, n + 0.6), ylim=(-3.8, 3.0))
ax.axis("off")
plt.show()

# %%
# In notebooks the parser draws by itself:

parser.draw(rows, place, gold=True)
