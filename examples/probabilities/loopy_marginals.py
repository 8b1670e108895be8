"""
Loopy messages against exact marginals
======================================

On a grid, messages go round in circles. *Loopy belief propagation* sends them all the same, until
they change no more, and reads marginals off: an approximation. A narrow grid can be summed exactly
by elimination, at a cost that is exponential in its width, and shows how good it is. How strongly
neighbours are coupled decides.
"""

# %%
# Grids of 8 × 8 pixels with random scores, couplings of both signs and of three strengths. ``Grid``
# sums exactly wherever it can. To see messages go round, the small grid is put into the corner of
# a large one, too wide for elimination, and tied to nothing else there.

import warnings

import numpy as np

from structlearn.exceptions import InexactInferenceWarning
from structlearn.structures import Grid

rng = np.random.default_rng(0)
strengths = (0.5, 1.0, 2.0)
exact, loopy = {}, {}
for strength in strengths:
    scores = {
        "label": np.stack([np.zeros((8, 8)), rng.normal(size=(8, 8))], axis=-1),
        "potts_right": strength * rng.normal(size=(8, 7)),
        "potts_down": strength * rng.normal(size=(7, 8)),
    }
    exact[strength] = Grid().marginals(**scores)["label"][..., 1].ravel()
    corner = {name: np.pad(a, [(0, 12), (0, 12), (0, 0)][: a.ndim]) for name, a in scores.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InexactInferenceWarning)  # that is what we look at
        found = Grid(damping=0.3).marginals(**corner)["label"]
    loopy[strength] = found[:8, :8, 1].ravel()
    error = np.abs(exact[strength] - loopy[strength])
    print(f"coupling {strength}: off by {error.mean():.3f} on average, {error.max():.3f} at most")

# %%
# A point a pixel. On the diagonal the two agree.

import matplotlib.pyplot as plt

_, axes = plt.subplots(1, 3, figsize=(11, 4), sharey=True, layout="constrained")
for ax, strength in zip(axes, strengths, strict=True):
    ax.plot([0, 1], [0, 1], ":", color="0.5", label="equal")
    ax.plot(
        exact[strength], loopy[strength], "o", ms=5, color="#0072B2", alpha=0.7, label="a pixel"
    )
    ax.set(
        title=f"coupling {strength:g}",
        xlabel="exact marginal of label 1",
        aspect="equal",
        xlim=(-0.03, 1.03),
        ylim=(-0.03, 1.03),
    )
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("loopy marginal")
axes[0].legend(frameon=False, loc="upper left")
plt.show()
