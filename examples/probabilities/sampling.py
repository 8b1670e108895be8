r"""
Drawing outputs at random
=========================

A model that gives probabilities can be asked for samples,

.. math:: y \sim P_\varepsilon(y) =
          \frac{e^{s(y) / \varepsilon}}{\sum_{\hat y} e^{s(\hat y) / \varepsilon}} ,

and the temperature says how adventurous they are: near 0 the best output comes again and again, at
a high one all are alike. No chain of random steps is needed: sums go forward, and labels are drawn
on the way back, so every sample is exact and independent of the others.
"""

# %%
# "Fish Sleep" has four outputs: count what is drawn, beside the true probabilities.

import numpy as np

from structlearn.structures import Chain, Grid

scores = {
    "label": np.array([[2.0, 1.0], [1.0, 0.0]]),
    "start": np.array([1.0, -1.0]),
    "transition": np.array([[-2.0, 1.0], [2.0, -2.0]]),
}
outputs = ["NV", "VN", "NN", "VV"]
chain = Chain()
drawn, true = {}, {}
for temperature in (0.5, 1.0, 3.0):
    log_z = chain.log_partition(temperature=temperature, **scores)
    pairs = [["NV".index(k) for k in y] for y in outputs]
    true[temperature] = [np.exp((chain.score(y, **scores) - log_z) / temperature) for y in pairs]
    samples = chain.sample(2000, temperature=temperature, random_state=0, **scores)
    drawn[temperature] = [np.mean([list(s) == y for s in samples]) for y in pairs]
    print(temperature, np.round(true[temperature], 3), np.round(drawn[temperature], 3))

# %%
# A grid whose neighbours like to agree, the model of a magnet: no pixel prefers a label, and what
# is drawn depends on the temperature alone. A grid of ten columns is narrow enough for exact sums.

label = np.zeros((24, 10, 2))
fields = {
    temperature: Grid().sample(
        2, temperature=temperature, random_state=1, label=label, potts_right=1.0, potts_down=1.0
    )
    for temperature in (0.9, 1.15, 3.0)
}

# %%
# Above: lines are the true probabilities. Below: two samples of the grid at each temperature.

import matplotlib.pyplot as plt

fig, axes = plt.subplots(2, 3, figsize=(9.5, 7), height_ratios=(1, 1.5), layout="constrained")
for ax, (temperature, shares) in zip(axes[0], drawn.items(), strict=True):
    ax.bar(range(4), shares, color="#56B4E9", label="drawn")
    ax.hlines(
        true[temperature],
        np.arange(4) - 0.45,
        np.arange(4) + 0.45,
        color="#D55E00",
        lw=2.5,
        label="true",
    )
    ax.set(title=f"“Fish Sleep”, ε = {temperature:g}", xticks=range(4), ylim=(0, 1))
    ax.set_xticklabels(outputs)
    ax.spines[["top", "right"]].set_visible(False)
axes[0, 0].set_ylabel("share of the samples")
axes[0, 0].legend(frameon=False)
for ax, (temperature, (one, two)) in zip(axes[1], fields.items(), strict=True):
    side_by_side = np.hstack([one, np.full((24, 2), np.nan), two])
    ax.imshow(side_by_side, cmap="cividis", vmin=0, vmax=1)
    ax.set(title=f"grid, ε = {temperature:g}")
    ax.axis("off")
plt.show()
