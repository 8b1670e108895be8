r"""
A beam against the exact search
===============================

A chain of order 3 scores four labels at a time,
:math:`s(y) = \sum_l \theta(y_{l-3}, y_{l-2}, y_{l-1}, y_l) + \ldots`, and its exact search takes
:math:`O(L K^4)`. A beam keeps the best :math:`b` beginnings at each word and drops the rest:
:math:`O(L K b)`. What it finds is an output; nothing proves that it is the best.
"""

# %%
# A hundred sentences of 25 words and 12 labels, with random scores of all that a part may see.

import time

import numpy as np

from structlearn.structures import Chain

rng = np.random.default_rng(0)
chain, n_labels = Chain(order=3), 12
batch = {
    "label": [rng.normal(scale=2.5, size=(25, n_labels)) for _ in range(100)],
    "transition1": rng.normal(size=(n_labels,) * 2),  # pairs
    "transition2": rng.normal(size=(n_labels,) * 3),  # triples
    "transition": rng.normal(size=(n_labels,) * 4),  # four in a row
}


def timed(search):
    """Return the solutions, and the seconds of the fastest of three runs."""
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        found = search()
        seconds.append(time.perf_counter() - begin)
    return found, min(seconds)


exact, exact_seconds = timed(lambda: chain.solve(**batch))
best = np.array([s.value for s in exact])
widths = (1, 2, 4, 8, 16, 32, 64, 128, 256)
share, behind, seconds = [], [], []
for width in widths:
    found, needed = timed(lambda width=width: chain.beam(width, **batch))
    values = np.array([s.value for s in found])
    share.append(np.mean(values > best - 1e-9))
    behind.append(np.mean(best - values))
    seconds.append(needed)
    print(f"beam {width:3}: the best output {share[-1]:4.0%}, {behind[-1]:5.2f} behind on average")
print("a beam says so:", found[0].exact, "with bound", found[0].bound)

# %%
# Wider beams find more, and take longer. Where the exact search is as fast as here, it is the
# better choice; a beam is for structures that have none, and for many more labels.

import matplotlib.pyplot as plt

_, (left, middle, right) = plt.subplots(1, 3, figsize=(11.5, 3.8), layout="constrained")
left.plot(widths, 100 * np.array(share), "o-", color="#0072B2", lw=2)
left.set(ylabel="sentences whose best output is found, %", ylim=(-3, 103))
middle.plot(widths, behind, "s-", color="#E69F00", lw=2)
middle.set(ylabel="score behind the best, mean", ylim=(-0.3, None))
right.plot(widths, 10 * np.array(seconds), "^-", color="#CC79A7", lw=2, label="beam")
right.axhline(10 * exact_seconds, color="k", ls="--", label="exact search")
right.set(ylabel="milliseconds per sentence", yscale="log")
right.legend(frameon=False)
for ax in (left, middle, right):
    ax.set_xscale("log", base=2)
    ax.set(xlabel="width of the beam", xticks=widths)
    ax.set_xticklabels(widths, fontsize=8)
    ax.grid(color="0.92")
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
