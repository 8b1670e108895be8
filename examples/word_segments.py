r"""
Chunks found as whole segments
==============================

A semi-Markov model labels segments, not words. A segment has features of its own, here all of its
tags at once and its length, which a chain of tags cannot see. The score of a segmentation is

.. math:: s(x, y) = \sum_{(i, j, k) \in y} \theta(i, j, k) + \sum \theta(k', k) ,

over its segments from :math:`i` to :math:`j` with label :math:`k`, and over labels that follow each
other. The best one is found in :math:`O(L \cdot \ell K^2)`, for segments of up to :math:`\ell`
words.
"""

# %%
# Sentences with their chunks. An example has a row of features for each start and length.

from structlearn import CRF
from structlearn.datasets import make_treebank
from structlearn.structures import SemiMarkov

LONGEST = 8


def chunks(sentence):
    """Return (start, end, label) segments that cover the sentence; words outside stand alone."""
    segments = []
    for t, chunk in enumerate(sentence.chunks):
        start = segments.pop()[0] if chunk.startswith("I-") else t
        segments.append((start, t + 1, chunk[2:] or "O"))
    return segments


def features(sentence):
    """Return a list of names for each start and length, start by start; none beyond the end."""
    around = ("<", *sentence.tags, ">")
    rows = []
    for i in range(len(sentence)):
        for j in range(i + 1, i + LONGEST + 1):
            tags = "_".join(sentence.tags[i:j])
            named = [f"length={j - i}", f"tags={tags}", f"before={around[i]}"]
            rows.append([*named, f"after={around[j + 1]}"] if j <= len(sentence) else [])
    return rows


sentences = make_treebank(200, random_state=0)
X, y = [features(s) for s in sentences], [chunks(s) for s in sentences]
model = CRF(structure=SemiMarkov(max_length=LONGEST), C=10.0).fit(X[:150], y[:150])
print(f"{model.score(X[150:], y[150:]):.3f} of the words are in a segment of the right label")

# %%
# A new sentence: its best segmentation, the second best, and the probability of every segment,
# ``(start, length, label)``.

place = max(range(150, 200), key=lambda i: (len(sentences[i]) <= 12, len(sentences[i])))
words = sentences[place].words
(best, found), (second, _) = model.predict_kbest(X[place : place + 1], 2)[0]
p = model.predict_marginals(X[place : place + 1])[0].reshape(len(words), LONGEST, -1)
for start, end, label in found:
    print(f"{label:5} {' '.join(words[start:end])}")
print(f"the second best segmentation scores {best - second:.2f} less")

# %%
# Every segment with a probability above one in a hundred, and the best segmentation below the
# words.

import matplotlib.pyplot as plt

labels = model.classes_.tolist()
colours = dict(
    zip(
        labels,
        ("#0072B2", "#E69F00", "#CC79A7", "#009E73", "#D55E00", "#56B4E9", "#F0E442", "#999999"),
        strict=False,
    )
)
_, ax = plt.subplots(figsize=(11, 4.8), layout="constrained")
likely = [
    (p[i, n, k], i, i + n + 1, labels[k]) for i, n, k in zip(*(p > 0.01).nonzero(), strict=True)
]
used = []  # rows of bars: those in one row do not overlap
for chance, i, j, label in sorted(likely, reverse=True):
    row = next((r for r, taken in enumerate(used) if not taken & set(range(i, j))), len(used))
    if row == len(used):
        used.append(set())
    used[row] |= set(range(i, j))
    ax.barh(row, j - i - 0.08, 0.8, i + 0.04, color=colours[label], alpha=0.25 + 0.75 * chance)
    ax.text((i + j) / 2, row, f"{label} {chance:.2f}", ha="center", va="center", fontsize=9)
for start, end, label in found:
    ax.barh(-2, end - start - 0.08, 0.8, start + 0.04, color=colours[label])
    ax.text((start + end) / 2, -2, label, ha="center", va="center", weight="bold", fontsize=10)
for t, word in enumerate(words):
    ax.text(t + 0.5, -1, word, ha="center", va="center")
ax.set(yticks=[-2, *range(len(used))], xticks=[], xlim=(0, len(words)), ylim=(-2.6, len(used)))
ax.set_yticklabels(["best", *["probability"], *[""] * (len(used) - 1)])
shown = {label for _, _, _, label in likely}
handles = [plt.Rectangle((0, 0), 1, 1, color=colours[k], label=k) for k in labels if k in shown]
ax.legend(handles=handles, ncols=len(handles), frameon=False, loc="upper left")
ax.tick_params(length=0)
ax.spines[:].set_visible(False)
plt.show()
