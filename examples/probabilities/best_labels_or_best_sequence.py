r"""
The best sequence, or the best label at each place?
===================================================

They are not the same question. The best sequence is :math:`\arg\max_y P(y \mid x)`. Who pays for
each wrong label wants few of them, and takes at each place the label with the largest *marginal*,

.. math:: \hat y_l = \arg\max_k \sum_{y : y_l = k} P(y \mid x) ,

which is the answer of least expected cost (minimum Bayes risk) under the Hamming cost. The
*max-marginal*, :math:`\max_{y : y_l = k} P(y \mid x)`, belongs to the first question: its best
labels form the best sequence.
"""

# %%
# Three places, three labels. One sequence is ahead of every other, but the rest agree against it.

import numpy as np

from structlearn import CRF
from structlearn.datasets import load_digit_words
from structlearn.structures import Chain

chain = Chain()
scores = {
    "label": np.array([[0.0, 0.0, 0.0], [0.0, 1.2, 1.1], [0.0, 0.9, 1.0]]),
    "transition": np.array([[2.0, -1.0, -1.0], [-1.0, 0.4, 0.6], [-1.0, 0.8, 0.3]]),
}
marginals = chain.marginals(**scores)["label"]
log_z = chain.log_partition(**scores)


def max_marginal(t, k):
    """Return the probability of the best sequence with label k at place t."""
    allowed = scores["label"].copy()
    allowed[t] = -np.inf
    allowed[t, k] = scores["label"][t, k]
    return np.exp(chain.solve(**{**scores, "label": allowed}).value - log_z)


best = chain.argmax(**scores)
each = marginals.argmax(axis=1)
for name, y in (("best sequence", best), ("best labels", each)):
    wrong = sum(1 - marginals[t, k] for t, k in enumerate(y))
    chance = np.exp(chain.score(y, **scores) - log_z)
    print(f"{name:14} {y}: probability {chance:.3f}, {wrong:.2f} wrong labels expected")

# %%
# On words of digits the two differ now and then. Of whole words the best sequence has clearly more
# right, of single digits the best labels, by a hair.

train = load_digit_words(250, noise=0.3, random_state=0)
test = load_digit_words(400, noise=0.3, subset="test", random_state=0)
crf = CRF(C=3.0).fit(train.X, train.y)
by_word = crf.predict(test.X)
by_digit = [p.argmax(axis=1) for p in crf.predict_marginals(test.X)]
share = {}
for name, rows in (("best sequence", by_word), ("best labels", by_digit)):
    digits = np.mean(np.concatenate([a == b for a, b in zip(rows, test.y, strict=True)]))
    words = np.mean([(a == b).all() for a, b in zip(rows, test.y, strict=True)])
    share[name] = (100 * digits, 100 * words)
    print(f"{name}: {digits:.4f} of the digits, {words:.3f} of the words right")

# %%
# Marginals, and max-marginals beside them. A frame marks the label that each of them chooses.

import matplotlib.pyplot as plt

bests = np.array([[max_marginal(t, k) for k in range(3)] for t in range(3)])
_, axes = plt.subplots(1, 3, figsize=(11, 3.9), width_ratios=(1, 1, 1.15), layout="constrained")
for ax, table, title in (
    (axes[0], marginals, "marginals:\nall sequences with the label"),
    (axes[1], bests, "max-marginals:\nthe best sequence with the label"),
):
    ax.imshow(table.T, cmap="Blues", vmin=0, vmax=0.5)
    for (t, k), p in np.ndenumerate(table):
        ax.text(
            t, k, f"{p:.3f}", ha="center", va="center", fontsize=12, color="w" if p > 0.3 else "0"
        )
        if table[t].argmax() == k:
            frame = plt.Rectangle((t - 0.47, k - 0.47), 0.94, 0.94, fc="none", ec="#D55E00", lw=3)
            ax.add_patch(frame)
    ax.set(title=title, xlabel="place", xticks=range(3), yticks=range(3), ylabel="label")
    ax.set_xticklabels((1, 2, 3))
    ax.set_yticklabels("abc")
for i, (name, values) in enumerate(share.items()):
    bars = axes[2].bar(
        np.arange(2) + 0.38 * (i - 0.5), values, 0.36, label=name, color=("#0072B2", "#E69F00")[i]
    )
    axes[2].bar_label(bars, fmt="%.2f", fontsize=10)
axes[2].set(title="words of digits under noise", ylabel="right, %", xticks=(0, 1), ylim=(0, 115))
axes[2].set_xticklabels(("digits", "whole words"))
axes[2].legend(frameon=False, ncols=2, loc="upper center", fontsize=9)
axes[2].spines[["top", "right"]].set_visible(False)
plt.show()
