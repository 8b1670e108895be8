"""
Handwritten numbers with a check digit: the constraint reads what no single digit shows
=======================================================================================

Card numbers end with a digit that makes Luhn's sum divisible by ten: every second digit from the
right is doubled, digits of the doubled ones are added, and all of it is summed. A number in which
one digit is misread breaks the sum, so the best number that keeps to it is often the right one,
though no digit looks like the one that is read.

The best legal number is found twice, by structures of a few lines each:

* as a dynamic program, whose state is the running sum modulo ten, O(L · 10 · 10): with it there are
  sums over all legal numbers too, so a CRF can be learned and a digit has a probability;
* as an integer program, with a row a position, one for the sum and a whole number of tens in it.

Both are learned from data, with the constraint. Run me: ``python examples/reading_checksums.py``,
with the picture's name if you like (``pip install structlearn[plot]``).
"""

import sys
import time

import numpy as np

from structlearn import CRF, StructuredPerceptron
from structlearn.datasets import load_digit_words
from structlearn.structures import Block, Chain, Hyperedges, Program, Structure
from structlearn.testing import check_structure

try:
    import matplotlib as mpl
except ImportError:
    mpl = None

LENGTH = 8
NOISE = 0.3


def contributions(length):
    """Return what digit k at position t adds to Luhn's sum, (length, 10)."""
    plain = np.arange(10)
    doubled = np.where(plain < 5, 2 * plain, 2 * plain - 9)
    return np.array([doubled if (length - t) % 2 == 0 else plain for t in range(length)])


def checksum(digits):
    """Return Luhn's sum modulo ten: 0 for a legal number."""
    return int(contributions(len(digits))[np.arange(len(digits)), digits].sum() % 10)


class LuhnNumbers(Structure):
    """Digits whose sum is divisible by ten. Score block: ``label`` (L, 10)."""

    def blocks(self, n_labels):
        return {"label": Block((n_labels,))}

    def encode(self, y, label):
        if checksum(y) != 0:
            raise ValueError(f"{y} is no legal number: its check digit is wrong")
        counts = np.zeros_like(label)
        counts[np.arange(len(y)), y] = 1
        return {"label": counts}

    def decode(self, parts):
        return np.asarray(parts["label"]).argmax(axis=1)

    def outputs(self, label):
        """Every legal number, for checking against enumeration."""
        numbers = (np.array(y) for y in np.ndindex(*[10] * len(label)))
        return (y for y in numbers if checksum(y) == 0)


class ByDynamicProgram(LuhnNumbers):
    """The state is the sum so far, modulo ten."""

    def edges(self, label):
        length = len(label)
        adds = contributions(length)
        part = np.arange(label.size).reshape(label.shape)
        edges = Hyperedges(10 * (length - 1) + 1)
        for t in range(length):
            for digit in range(10):
                for before in range(10) if t else [0]:
                    total = (before + adds[t, digit]) % 10
                    if t == length - 1 and total != 0:
                        continue  # the last node is the one of sum 0
                    edges.add(
                        10 * t + total,
                        tails=[10 * (t - 1) + before] if t else [],
                        parts=[part[t, digit]],
                    )
        return edges


class ByIntegerProgram(LuhnNumbers):
    """One digit a position, and the sum is ten times a whole number."""

    def __init__(self):
        self.programs = {}  # by length: a program is kept and solved again with other scores

    def argmax(self, label):
        length = len(label)
        if length not in self.programs:
            one_digit = np.kron(np.eye(length), np.ones(10))
            rows = np.zeros((length + 1, label.size + 1))
            rows[:length, :-1] = one_digit
            rows[length, :-1] = contributions(length).ravel()
            rows[length, -1] = -10.0
            right = np.append(np.ones(length), 0.0)
            most = np.append(np.ones(label.size), length)
            names = [f"one digit at position {t}" for t in range(length)] + ["the sum"]
            self.programs[length] = Program(
                rows, right, right, n_parts=label.size, column_upper=most, names=names
            )
        found = self.programs[length].argmax(part=label.ravel())
        return found.reshape(label.shape).argmax(axis=1)


def make_numbers(n, subset, seed):
    """Return legal numbers of real digits: random ones, with their check digit."""
    rng = np.random.default_rng(seed)
    words = load_digit_words(n, length=16, noise=NOISE, subset=subset, random_state=seed)
    images, digits = np.concatenate(words.X), np.concatenate(words.y)
    of_digit = [np.flatnonzero(digits == k) for k in range(10)]
    X, y = [], []
    for _ in range(n):
        number = rng.integers(10, size=LENGTH)
        number[-1] = (number[-1] - checksum(number)) % 10
        X.append(images[[rng.choice(of_digit[k]) for k in number]])
        y.append(number)
    return X, y


def accuracy(found, y):
    """Return the shares of digits and of whole numbers that are right."""
    pairs = list(zip(found, y, strict=True))
    return np.mean([a == b for a, b in pairs]), np.mean([np.array_equal(a, b) for a, b in pairs])


def show(name, found, y):
    """Print how good a reading is."""
    digits, numbers = accuracy(found, y)
    legal = np.mean([checksum(one) == 0 for one in found])
    print(
        f"{name:34} {digits:.3f} of the digits, {numbers:.3f} of the numbers right, "
        f"{legal:.2f} legal"
    )


def compare_programs(scores):
    """Read the same scores by both programs; print whether they agree and what they take."""
    readings = []
    for structure in (ByDynamicProgram(), ByIntegerProgram()):
        structure.argmax(label=scores[0])  # made once, then kept
        began = time.perf_counter()
        readings.append([structure.argmax(label=one) for one in scores])
        seconds = time.perf_counter() - began
        print(f"{type(structure).__name__:34} {1e3 * seconds / len(scores):.2f} ms a number")
    same = sum(np.array_equal(a, b) for a, b in zip(*readings, strict=True))
    print(f"{same} of {len(scores)} numbers are read the same by both")
    if same != len(scores):
        raise AssertionError("the two programs do not agree")
    return readings[0]


def draw(images, digits, alone, legal, path):
    """Draw numbers: the images, what each alone is read as, and what the legal number has."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(images), LENGTH, figsize=(1.3 * LENGTH, 1.8 * len(images)), layout="constrained"
    )
    for row, *number in zip(axes, images, digits, alone, legal, strict=True):
        for ax, pixels, digit, a, j in zip(row, *number, strict=True):
            ax.imshow(pixels.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            ax.set(xticks=[], yticks=[])
            color = "tab:green" if a == digit else "tab:red"
            ax.set_title(f"alone: {a}", color=color, fontsize=10)
            color = "tab:green" if j == digit else "tab:red"
            ax.set_xlabel(f"legal: {j}", color=color, fontsize=10)
    figure.suptitle("Green is right, red is wrong; the legal number is the best with its sum")
    plt.savefig(path, dpi=100)


def main(path="reading_checksums.png"):
    """Learn readers with and without the constraint; compare them on numbers of other images."""
    check_structure(
        ByDynamicProgram(), lambda rng: {"label": rng.normal(size=(3, 10))}, n_inputs=2
    )  # against enumeration
    X, y = make_numbers(300, "train", seed=0)
    X_new, y_new = make_numbers(300, "test", seed=1)

    alone = CRF(Chain(order=0), tol=1e-2).fit(X, y).predict(X_new)
    show("each digit alone, CRF", alone, y_new)
    crf = CRF(ByDynamicProgram(), tol=1e-2).fit(X, y)
    legal = crf.predict(X_new)
    show("legal, CRF, dynamic program", legal, y_new)
    perceptron = StructuredPerceptron(ByIntegerProgram(), max_iter=2, random_state=0)
    perceptron.fit(X[:100], y[:100])  # fewer: a program a number and pass
    show("legal, perceptron, integer program", perceptron.predict(X_new), y_new)

    # The scores of the CRF, by one program and by the other.
    read = compare_programs([x @ crf.coef_["label"].T for x in X_new])
    assert all(np.array_equal(a, b) for a, b in zip(read, legal, strict=True))

    wrong = [np.sum(a != b) for a, b in zip(alone, y_new, strict=True)]
    right = [np.array_equal(a, b) for a, b in zip(legal, y_new, strict=True)]
    chosen = sorted(np.flatnonzero(right), key=lambda i: -wrong[i])[:3]
    for i in chosen:
        readings = ("".join(map(str, digits)) for digits in (alone[i], y_new[i]))
        print("alone {}, the legal number and the truth {}".format(*readings))
    if mpl is None:
        print("no picture without matplotlib: pip install structlearn[plot]")
        return
    draw(*([found[i] for i in chosen] for found in (X_new, y_new, alone, legal)), path)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
