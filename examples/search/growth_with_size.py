r"""
How the time grows
==================

What does an exact search cost on inputs twice as long, or with twice as many labels? On scales that
are both logarithmic, time :math:`c \cdot n^a` is a straight line of slope :math:`a`: the measured
slopes can be held against the theory.
"""

# %%
# Times of single calls, the fastest of a few: for a chain of n words, heads of n words (any tree,
# or trees whose arcs do not cross), and constituents over n words.

import time

import numpy as np

from structlearn.structures import Arborescence, Chain, Constituency

rng = np.random.default_rng(0)
jobs = {
    "chain, 20 labels": (
        (64, 128, 256, 512, 1024),
        Chain(),
        lambda n: {"label": rng.normal(size=(n, 20)), "transition": rng.normal(size=(20, 20))},
    ),
    "dependency tree": (
        (32, 64, 128, 256, 512),
        Arborescence(),
        lambda n: {"arc": rng.normal(size=(n + 1, n + 1))},
    ),
    "without crossing arcs": (
        (16, 32, 64, 128, 256),
        Arborescence(projective=True),
        lambda n: {"arc": rng.normal(size=(n + 1, n + 1))},
    ),
    "constituents, 4 labels": (
        (16, 32, 64, 128, 256),
        Constituency(),
        lambda n: {"span": rng.normal(size=(n, n + 1, 4))},
    ),
}
seconds = {}
for name, (sizes, structure, make) in jobs.items():
    seconds[name] = []
    for n in sizes:
        scores = make(n)
        times = []
        for _ in range(9):
            begin = time.perf_counter()
            structure.argmax(**scores)
            times.append(time.perf_counter() - begin)
        seconds[name].append(min(times))
    print(f"{name}: {1000 * seconds[name][-1]:.2f} ms for {sizes[-1]} words")

# %%
# Theory says 1 for chains, 2 for dependency trees by Chu-Liu/Edmonds, 3 for Eisner's chart and CKY.
# Small inputs are dominated by what every call costs; so slopes come out a little lower.

import matplotlib.pyplot as plt

from structlearn.plotting import plot_growth

_, ax = plt.subplots(figsize=(7.5, 5), layout="constrained")
for name, (sizes, _, _) in jobs.items():
    plot_growth(
        sizes,
        1000 * np.array(seconds[name]),
        ax=ax,
        label=name,
        xlabel="words",
        ylabel="milliseconds",
    )
plt.show()
