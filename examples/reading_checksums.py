"""
A check digit: the constraint reads what no single digit shows
==============================================================

Card numbers end with a digit that makes Luhn's sum divisible by ten: every second digit from the
right is doubled, digits of the doubled ones are added, and all of it is summed. A number in which
one digit is misread breaks the sum, so the best number that keeps to it is often the right one,
though no digit looks like the one that is read.

The letters of the lecture that are read as QUIZ only together (see the page on words) are held by
scores of pairs; here it is one rule about all of them. The best legal number is found twice, by
structures of a few lines each:

* as a dynamic program, whose state is the running sum modulo ten, O(L · 10 · 10): with it there are
  sums over all legal numbers too, so a CRF can be learned and a digit has a probability;
* as an integer program, with a row a position, one for the sum and a whole number of tens in it.
"""

# %%

import time

import numpy as np

from structlearn import CRF, StructuredPerceptron
from structlearn.datasets import load_digit_words
from structlearn.structures import Block, Chain, Hyperedges, Program, Structure
from structlearn.testing import check_structure

LENGTH = 8
NOISE = 0.3


# %%
# Luhn's sum, and the numbers that keep to it.


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


# %%
# The dynamic program: its nodes are the sums so far, modulo ten.


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


# %%
# The integer program: one digit per position, and the sum is ten times a whole number. It is kept
# and solved again with other scores.


class ByIntegerProgram(LuhnNumbers):
    """One digit per position, and the sum is ten times a whole number."""

    def __init__(self):
        self.programs = {}  # by length

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


# %%
# Legal numbers of real digits, new ones for the test, of other images.


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


X, y = make_numbers(300, "train", seed=0)
X_new, y_new = make_numbers(300, "test", seed=1)

# %%
# Learn with the constraint and without, and compare. The structures are checked against enumeration
# first, as every structure of one's own should be.

check_structure(ByDynamicProgram(), lambda rng: {"label": rng.normal(size=(3, 10))}, n_inputs=2)


def show(name, found):
    """Print how good a reading is."""
    digits = np.mean([a == b for a, b in zip(found, y_new, strict=True)])
    numbers = np.mean([np.array_equal(a, b) for a, b in zip(found, y_new, strict=True)])
    legal = np.mean([checksum(one) == 0 for one in found])
    print(
        f"{name:35}{digits:.3f} of the digits, {numbers:.3f} of the numbers right, "
        f"{legal:.2f} legal"
    )


alone = CRF(Chain(order=0), tol=1e-2).fit(X, y).predict(X_new)
show("each digit alone, CRF", alone)
crf = CRF(ByDynamicProgram(), tol=1e-2).fit(X, y)
legal = crf.predict(X_new)
show("legal, CRF, dynamic program", legal)
perceptron = StructuredPerceptron(ByIntegerProgram(), max_iter=2, random_state=0)
perceptron.fit(X[:100], y[:100])  # fewer: a program a number and pass
show("legal, perceptron, integer program", perceptron.predict(X_new))

# %%
# The scores of the CRF, read by one program and by the other: the same numbers.

scores = [x @ crf.coef_["label"].T for x in X_new]
readings = []
for structure in (ByDynamicProgram(), ByIntegerProgram()):
    structure.argmax(label=scores[0])  # made once, then kept
    began = time.perf_counter()
    readings.append([structure.argmax(label=one) for one in scores])
    seconds = time.perf_counter() - began
    print(f"{type(structure).__name__:17} {1e3 * seconds / len(scores):.2f} ms a number")
same = sum(np.array_equal(a, b) for a, b in zip(*readings, strict=True))
print(f"{same} of {len(scores)} numbers are read the same by both")

# %%
# Numbers in which most digits are misread alone, and none in the best legal number.

import matplotlib.pyplot as plt

wrong = [np.sum(a != b) for a, b in zip(alone, y_new, strict=True)]
right = [np.array_equal(a, b) for a, b in zip(legal, y_new, strict=True)]
chosen = sorted(np.flatnonzero(right), key=lambda i: -wrong[i])[:3]
figure, axes = plt.subplots(3, LENGTH, figsize=(1.3 * LENGTH, 5.6), layout="constrained")
for row, i in zip(axes, chosen, strict=True):
    for ax, pixels, digit, a, j in zip(row, X_new[i], y_new[i], alone[i], legal[i], strict=True):
        ax.imshow(pixels.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
        mark, color = ("", "black") if a == digit else (" ✗", "tab:orange")
        ax.set_title(f"alone: {a}{mark}", color=color, fontsize=10)
        ax.set_xlabel(f"legal: {j}", color="tab:blue", fontsize=10)
figure.suptitle("Read alone, and as the best number whose sum holds")
plt.show()
