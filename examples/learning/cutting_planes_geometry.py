r"""
Cutting planes closing in
=========================

A structured SVM wants small weights under one constraint for every wrong output,

.. math:: \min_{w, \xi} \frac{1}{2} \lVert w \rVert^2 + C \xi \quad \text{subject to} \quad
          w \cdot (\phi(x, y) - \phi(x, \hat y)) \ge \Delta(y, \hat y) - \xi .

There are too many to write down. So solve with none, look for the one that is violated most, add
it, and solve again, until none is violated by more than ε. Each is a half plane of weights. The
sentence and its features are those of the Caltech CS 159 lecture on structural SVMs (2017).
"""

# %%
# "Fish Sleep" with the features of the lectures; gold is noun, verb. ``rounds_`` tells what each
# round added.

import warnings

import numpy as np

from structlearn import ConvergenceWarning, StructuredSVM

X, y = [[["Fish", "Start"], ["Sleep"]]], [["N", "V"]]
fits = []
for rounds in (1, 2, 3):
    model = StructuredSVM(
        C=1.0,
        solver="n-slack",
        violation_tol=0.1,
        tol=0,
        max_iter=rounds,
        boundaries=False,
        all_possible_states=True,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopped early, to look at it
        fits.append(model.fit(X, y))
for r in model.rounds_:
    added = [(" ".join(c.output), round(c.violation, 3)) for c in r.constraints]
    print(f"round {r.iteration}: constraints {r.n_constraints}, ½‖w‖² = {r.dual:.3f}, adds {added}")

# %%
# The weights are ten numbers, but two constraints were enough, and the weights are sums of their
# normals :math:`\phi(x, y) - \phi(x, \hat y)`: all that happens, happens in one plane.


def phi(labels):
    """Count the features of the labels: words with labels, the mark at the first, label pairs."""
    one, two = ("NV".index(k) for k in labels)
    counts = np.zeros((3, 2)), np.zeros((2, 2))  # Fish, Start, Sleep; pairs
    counts[0][[0, 1], one] = 1
    counts[0][2, two] = 1
    counts[1][one, two] = 1
    return np.concatenate([c.ravel() for c in counts])


costs = {"VN": 2, "NN": 1, "VV": 1}
normals = {rival: phi("NV") - phi(rival) for rival in costs}
across = normals["VN"] / np.linalg.norm(normals["VN"])
up = normals["NN"] - normals["NN"] @ across * across
up /= np.linalg.norm(up)
basis = np.array([across, up])

# %%
# Three rounds. Weights on the hatched side of a line violate its constraint. With the constraints
# of a round, the best weights are the shortest that obey them.

import matplotlib.pyplot as plt

COLOURS = {"VN": "#0072B2", "NN": "#E69F00", "VV": "#CC79A7"}
known = [[], ["VN"], ["VN", "NN"]]
names = fits[-1].feature_names_["label"]
order = [names.index(n) for n in ("Fish", "Start", "Sleep")]
side = np.linspace(-0.35, 1.35, 300)
plane = np.stack(np.meshgrid(side, side - 0.35), axis=-1) @ basis  # (300, 300, 10) weights

_, axes = plt.subplots(1, 3, figsize=(12, 5), sharey=True, layout="constrained")
for i, (ax, fitted) in enumerate(zip(axes, fits, strict=True)):
    for rival, normal in normals.items():
        room = plane @ normal - costs[rival]
        chosen = rival in known[i]
        ax.contour(
            side,
            side - 0.35,
            room,
            levels=[0],
            colors=COLOURS[rival],
            linewidths=3 if chosen else 1.4,
            linestyles="-" if chosen else ":",
        )
        if chosen:
            shade = ax.contourf(
                side,
                side - 0.35,
                room,
                levels=[-9, 0],
                colors=[COLOURS[rival]],
                alpha=0.13,
                hatches=["//"],
            )
            shade.set_edgecolor(COLOURS[rival])
    coef = fitted.coef_
    w = np.concatenate([coef["label"].T[order].ravel(), coef["transition"].ravel()])
    at = basis @ w
    ring = plt.Circle((0, 0), np.linalg.norm(w), fc="none", ec="0.5", lw=1, ls="--")
    ax.add_patch(ring)
    ax.plot(*at, "o", color="k", ms=9, zorder=5)
    ax.plot(0, 0, "+", color="0.3", ms=10)
    worst = fitted.rounds_[-1]
    title = f"round {i + 1}: largest violation {worst.violation:.2f}"
    ax.set(
        title=title,
        xlabel="weights along the first normal",
        aspect="equal",
        xlim=(side[0], side[-1]),
        ylim=(side[0] - 0.35, side[-1] - 0.35),
    )
axes[0].set_ylabel("across it")
handles = [
    plt.Line2D([], [], color=c, lw=3, label=f"margin against {rival[0]} {rival[1]}")
    for rival, c in COLOURS.items()
]
handles += [
    plt.Line2D([], [], color="0.3", lw=1.4, ls=":", label="not found yet"),
    plt.Line2D([], [], color="k", marker="o", ms=8, ls="none", label="weights of the round"),
    plt.Line2D([], [], color="0.5", ls="--", label="weights as short"),
]
axes[0].figure.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False)
plt.show()
