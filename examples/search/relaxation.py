r"""
Half a label: when the relaxation is not whole
==============================================

Every search is an integer program. Drop "whole" and a linear program is left, which is easy:

.. math:: \max_\mu \; \langle \theta, \mu \rangle \quad \text{over} \quad
          0 \le \mu_p \le 1 , \; A \mu \le b .

Its value is never below the best score. On chains and trees its solutions are whole, and then it
*is* the best. Round a circle of odd length they need not be. Eq. 17.32 of
Daumé's *A Course in Machine Learning* is the integer program.
"""

# %%
# Five people at a round table, red team or blue, who dislike to sit beside their own team: each
# pair of neighbours of the same team costs ``strength``. A mild wish of two of them is on top.

import numpy as np

from structlearn.structures import Graph

n = 5
ring = Graph([(i, (i + 1) % n) for i in range(n)])
row = Graph([(i, i + 1) for i in range(n - 1)])  # the same without the last pair: a tree
label = np.zeros((n, 2))
label[0] = [1.0, 0.0]
label[2] = [0.0, 1.0]


def relaxed(graph, strength):
    """Return the linear relaxation, and the best whole answer."""
    scores = {"label": label, "edge": -strength * np.eye(2)}
    return graph.as_program(**scores).relax(**scores), graph.solve(**scores)


# %%
# Along a row, and around the table:

for name, graph in (("row", row), ("ring", ring)):
    found, best = relaxed(graph, 2.0)
    print(f"{name}: relaxation {found.value:g}, best {best.value:g}, whole: {found.integral}")
    print("  share of blue:", found.parts["label"][:, 1].round(2) + 0.0, "best:", best.output)

# %%
# Left: the relaxed answer at the table. Where nobody can be content, it makes everybody half a
# member of each team, and no pair pays. Right: how far the bound is from the truth as the dislike
# grows.

import matplotlib.pyplot as plt

RED, BLUE = "#D55E00", "#0072B2"
strengths = np.linspace(0, 3, 31)
bound, truth = np.array(
    [[found.value, best.value] for found, best in (relaxed(ring, s) for s in strengths)]
).T
found, best = relaxed(ring, 2.0)
angle = np.pi / 2 - 2 * np.pi * np.arange(n) / n
x, y = np.cos(angle), np.sin(angle)
_, axes = plt.subplots(1, 3, figsize=(11.5, 4), width_ratios=(1, 1, 1.3), layout="constrained")
answers = {
    f"relaxation: {found.value:g}": found.parts["label"][:, 1],
    f"best whole answer: {best.value:g}": best.output,
}
for ax, (title, share) in zip(axes, answers.items(), strict=False):
    ax.plot([*x, x[0]], [*y, y[0]], color="0.6", lw=2, zorder=1)
    for i in range(n):
        shares = [share[i], 1 - share[i]]
        ax.pie(shares, center=(x[i], y[i]), radius=0.27, colors=(BLUE, RED), startangle=90)
    ax.set(title=title, xlim=(-1.4, 1.4), ylim=(-1.3, 1.4), aspect="equal")
    handles = [plt.Rectangle((0, 0), 1, 1, color=c) for c in (RED, BLUE)]
    ax.legend(handles, ("red", "blue"), frameon=False, loc="center")
axes[2].fill_between(strengths, truth, bound, color="0.9", label="gap")
axes[2].plot(strengths, bound, "--", color="0", lw=2, label="relaxation, an upper bound")
axes[2].plot(strengths, truth, color="#009E73", lw=2, label="best whole answer")
axes[2].set(xlabel="strength of the dislike", ylabel="score", ylim=(None, 2.6))
axes[2].legend(frameon=False, loc="lower left")
axes[2].spines[["top", "right"]].set_visible(False)
plt.show()
