r"""
Looking at weights
==================

A linear model can be read. The score of digit :math:`k` at one place of a word is
:math:`w_k \cdot x`, with a weight for each of the 64 pixels of its image, so that :math:`w_k` is an
image too: ink where the weight is positive speaks for the digit, where it is negative against it.
"""

# %%
# Words of handwritten digits, in which digit d is mostly followed by 3d + 1 or d + 4 (modulo 10).
# The CRF is not told; it sees images and labels.

import numpy as np

from structlearn import CRF
from structlearn.datasets import load_digit_words

words = load_digit_words(300, random_state=0)
crf = CRF(C=0.1).fit(words.X, words.y)
pixels, transition = crf.coef_["label"], crf.coef_["transition"]
print({name: block.shape for name, block in crf.coef_.items()})
follows = transition.argmax(axis=1)
print("most liked after 0 … 9:", follows, "as made:", (3 * np.arange(10) + 1) % 10)

# %%
# Above, the weights of the pixels for each digit. Below, the weights of digit pairs beside the
# chain that the words were drawn from.

import matplotlib.pyplot as plt

fig = plt.figure(figsize=(10, 8), layout="constrained")
above, below = fig.subfigures(2, 1, height_ratios=(1, 1.15))
limit = np.abs(pixels).max()
for digit, ax in enumerate(above.subplots(2, 5).flat):
    shown = ax.imshow(pixels[digit].reshape(8, 8), cmap="PuOr", vmin=-limit, vmax=limit)
    ax.set(title=f"{digit}", xticks=[], yticks=[])
above.colorbar(shown, ax=above.axes, label="against   –   weight   –   for", shrink=0.8)
for ax, table, title, cmap in (
    (below.add_subplot(1, 2, 1), transition, "learned weights of pairs", "PuOr"),
    (below.add_subplot(1, 2, 2), words.transition, "chain that made the words", "Greys"),
):
    limit = np.abs(table).max()
    shown = ax.imshow(table, cmap=cmap, vmin=-limit if cmap == "PuOr" else 0, vmax=limit)
    ax.set(title=title, xlabel="digit", ylabel="digit before", xticks=range(10), yticks=range(10))
    name = "weight" if cmap == "PuOr" else "probability"
    below.colorbar(shown, ax=ax, label=name, shrink=0.85)
plt.show()
