r"""
How sure is it? Probabilities put to the test
=============================================

A CRF answers with probabilities: of a whole word, :math:`P(y \mid x) = e^{s(x, y)} / Z`, and of
each label in it, the marginal :math:`P(y_l = k \mid x)`. Are they true? Of all digits that are read
with probability 0.8, eight in ten should be right.
"""

# %%
# Words of handwritten digits under noise, so that there is something to be unsure of.

import numpy as np

from structlearn import CRF
from structlearn.datasets import load_digit_words

train = load_digit_words(200, noise=0.3, random_state=0)
test = load_digit_words(400, noise=0.3, subset="test", random_state=0)
crf = CRF(C=3.0).fit(train.X, train.y)
predicted = crf.predict(test.X)
marginals = crf.predict_marginals(test.X)  # (digits, 10) for each word

sure = np.concatenate([p[range(len(k)), k] for p, k in zip(marginals, predicted, strict=True)])
right = np.concatenate([k == gold for k, gold in zip(predicted, test.y, strict=True)])
word_sure = crf.predict_proba(test.X)
word_right = np.array([(k == gold).all() for k, gold in zip(predicted, test.y, strict=True)])
print(f"digits: {right.mean():.3f} right, expected {sure.mean():.3f}")
print(f"words:  {word_right.mean():.3f} right, expected {word_sure.mean():.3f}")

# %%
# With a small C, which keeps the weights small, the same model is far too modest:

modest = CRF(C=0.1).fit(train.X, train.y)
answers = zip(modest.predict_marginals(test.X), modest.predict(test.X), test.y, strict=True)
said = [(p[range(len(k)), k], k == gold) for p, k, gold in answers]
modest_sure, modest_right = (np.concatenate(column) for column in zip(*said, strict=True))
print(f"digits, C = 0.1: {modest_right.mean():.3f} right, expected {modest_sure.mean():.3f}")

# %%
# And where the best answer is wrong, how far down the list of the ten best is the right one?

ten = crf.predict_kbest(test.X, 10)
rank = np.array(
    [
        next((i for i, (_, k) in enumerate(row, 1) if (k == gold).all()), 11)
        for row, gold in zip(ten, test.y, strict=True)
    ]
)
for k in (1, 2, 5, 10):
    print(f"the right word is among the {k:2} best: {np.mean(rank <= k):.3f}")

# %%
# Left: of what is said with probability p, how much is right. A bar spans two standard errors up
# and down. Right: the lists.

import matplotlib.pyplot as plt

_, (left, second) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for name, p, hit, colour, marker in (
    ("digits", sure, right, "#0072B2", "o"),
    ("whole words", word_sure, word_right, "#E69F00", "s"),
    ("digits, C = 0.1", modest_sure, modest_right, "#CC79A7", "^"),
):
    cell = np.minimum((p * 8).astype(int), 7)
    used = [c for c in range(8) if np.sum(cell == c) >= 15]
    x = [p[cell == c].mean() for c in used]
    share = np.array([hit[cell == c].mean() for c in used])
    error = [2 * np.sqrt(s * (1 - s) / np.sum(cell == c)) for s, c in zip(share, used, strict=True)]
    left.errorbar(x, share, error, marker=marker, color=colour, lw=1.8, capsize=3, label=name)
left.plot([0, 1], [0, 1], ":", color="0.4", label="true probabilities")
left.set(
    xlabel="probability it gives",
    ylabel="share that is right",
    aspect="equal",
    xlim=(0, 1.02),
    ylim=(0, 1.02),
)
left.legend(frameon=False, loc="lower right")
n = np.arange(1, 11)
second.bar(n, [100 * np.mean(rank <= k) for k in n], color="#56B4E9")
second.set(
    xlabel="length of the list", ylabel="lists with the right word, %", xticks=n, ylim=(0, 100)
)
for ax in (left, second):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
