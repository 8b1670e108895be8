"""
Words read jointly: digits that each alone are misread
======================================================

The digits are real handwriting with much noise; the words are made: some digits tend to follow some
others. A model that looks at one digit at a time cannot know that. A chain learns, from the same
words, a score for each pair of neighbours, and reads the word whose digits and pairs score best
together. It is the puzzle of the lecture on structured prediction: four letters that look like
Q V I Z one by one, and read QUIZ when they are looked at together.
"""

# %%
# Two readers that differ in nothing but the pairs: ``Chain(order=0)`` has no transitions.

import numpy as np

from structlearn import CRF
from structlearn.datasets import load_digit_words
from structlearn.structures import Chain

options = {"length": 6, "noise": 0.4, "random_state": 0}
train = load_digit_words(600, subset="train", **options)
new = load_digit_words(300, subset="test", **options)  # other images
readings = []
for name, structure in (("each alone", Chain(order=0)), ("jointly", Chain(order=1))):
    model = CRF(structure, tol=1e-2).fit(train.X, train.y)
    found = model.predict(new.X)
    whole = np.mean([np.array_equal(a, b) for a, b in zip(found, new.y, strict=True)])
    digits = model.score(new.X, new.y)
    print(f"{name:11}{digits:.3f} of the digits right, {whole:.3f} of the words")
    readings.append(found)
alone, jointly = readings

# %%
# Among the words that are read right jointly, those with most digits that are not, alone.

wrong = [np.sum(a != y) for a, y in zip(alone, new.y, strict=True)]
right = [np.array_equal(j, y) for j, y in zip(jointly, new.y, strict=True)]
chosen = sorted(np.flatnonzero(right), key=lambda i: -wrong[i])[:4]
for i in chosen:
    one, all_of = ("".join(map(str, digits)) for digits in (alone[i], jointly[i]))
    print(f"alone {one}, jointly and in truth {all_of}")

# %%
# The images, what each alone is read as, and what they are together.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(4, 6, figsize=(9, 7.6), layout="constrained")
for row, i in zip(axes, chosen, strict=True):
    for ax, image, digit, a, j in zip(
        row, new.images[i], new.y[i], alone[i], jointly[i], strict=True
    ):
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
        mark, color = ("", "black") if a == digit else (" ✗", "tab:orange")
        ax.set_title(f"alone: {a}{mark}", color=color, fontsize=11)
        ax.set_xlabel(f"jointly: {j}", color="tab:blue", fontsize=11)
figure.get_layout_engine().set(h_pad=0.12)
figure.suptitle("Digits that are misread alone, and right in their word")
plt.show()
