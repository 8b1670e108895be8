"""
Handwritten words read jointly: digits that each alone are misread, and right together
======================================================================================

The digits are real, with much noise; the words are made: some digits tend to follow some others.
A model that looks at one digit at a time cannot know that. A chain learns, from the same words, a
score for each pair of neighbours, and reads the word whose digits and pairs score best together.

The picture shows words in which several digits alone are misread and all of them jointly are not.
It needs matplotlib, ``pip install structlearn[plot]``. Run me:
``python examples/reading_words.py``, with the picture's name if you like.
"""

import sys

import numpy as np

from structlearn import CRF
from structlearn.datasets import load_digit_words
from structlearn.structures import Chain

try:
    import matplotlib as mpl
except ImportError:
    mpl = None

NOISE = 0.4
LENGTH = 6


def word(digits):
    """Return the digits in a row."""
    return "".join(map(str, digits))


def draw(words, alone, jointly, path):
    """Draw words: the images, what each alone is read as, and what they are together."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(words), LENGTH, figsize=(1.5 * LENGTH, 1.9 * len(words)), layout="constrained"
    )
    for row, (images, digits), one, all_of in zip(axes, words, alone, jointly, strict=True):
        for ax, image, digit, a, j in zip(row, images, digits, one, all_of, strict=True):
            ax.imshow(image, cmap="gray_r", vmin=0, vmax=1)
            ax.set(xticks=[], yticks=[])
            color = "tab:green" if a == digit else "tab:red"
            ax.set_title(f"alone: {a}", color=color, fontsize=11)
            color = "tab:green" if j == digit else "tab:red"
            ax.set_xlabel(f"jointly: {j}", color=color, fontsize=11)
    figure.get_layout_engine().set(h_pad=0.12)
    figure.suptitle("Green is right, red is wrong")
    plt.savefig(path, dpi=100)


def main(path="reading_words.png"):
    """Learn both readers from words, compare them on new words of other images."""
    options = {"length": LENGTH, "noise": NOISE, "random_state": 0}
    train = load_digit_words(600, subset="train", **options)
    new = load_digit_words(300, subset="test", **options)
    readings = []
    for name, structure in (("each alone", Chain(order=0)), ("jointly", Chain(order=1))):
        model = CRF(structure, tol=1e-2).fit(train.X, train.y)
        found = model.predict(new.X)
        whole = np.mean([np.array_equal(a, b) for a, b in zip(found, new.y, strict=True)])
        print(
            f"{name:11}{model.score(new.X, new.y):.3f} of the digits right, "
            f"{whole:.3f} of the words"
        )
        readings.append(found)
    alone, jointly = readings

    # Among the words that are read right jointly, those with most digits that are not alone.
    wrong = [np.sum(a != y) for a, y in zip(alone, new.y, strict=True)]
    right = [np.array_equal(j, y) for j, y in zip(jointly, new.y, strict=True)]
    chosen = sorted(np.flatnonzero(right), key=lambda i: -wrong[i])[:4]
    for i in chosen:
        print(f"alone {word(alone[i])}, jointly and in truth {word(jointly[i])}")
    if mpl is None:
        print("no picture without matplotlib: pip install structlearn[plot]")
        return
    draw(
        [(new.images[i], new.y[i]) for i in chosen],
        [alone[i] for i in chosen],
        [jointly[i] for i in chosen],
        path,
    )
    print(f"wrote {path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
