r"""
A rule that changes the answer
==============================

A chain sees two labels at a time. It cannot know that an address has *one* postcode, or a sentence
one main verb. A finite automaton can, which reads the labels from left to right and counts, and a
chain whose labels are pairs (label, state) is a chain again:

.. math:: \delta_t(k, q') = \theta_t(k) + \max_{j, \; q \xrightarrow{k} q'}
          \bigl( \delta_{t-1}(j, q) + \theta(j, k) \bigr) .

On other structures the rule is a row of an integer program.
"""

# %%
# "Old fish need sleep": scores in which *sleep* is the best verb there is, and *need* too.

import numpy as np

from structlearn.constraints import Label, exactly, require, with_constraints
from structlearn.structures import Chain

words, labels = ("old", "fish", "need", "sleep"), ("adj", "noun", "verb")
adj, noun, verb = range(3)
scores = {
    "label": np.array([[2.0, 0.5, 0.0], [0.0, 2.0, 1.0], [0.0, 1.0, 1.8], [0.0, 1.6, 2.1]]),
    "transition": np.array([[0.2, 1.0, -1.0], [-1.0, -0.3, 0.8], [0.5, 0.6, 0.3]]),
}
answers = {"no rule": Chain().solve(**scores)}
one_verb = exactly(1, Label(verb))
last_verb = require(Label(verb, at=-1))
answers["exactly one verb"] = with_constraints(Chain(), [one_verb]).solve(**scores)
answers["one verb, and at the end"] = with_constraints(Chain(), [one_verb, last_verb]).solve(
    **scores
)
for rule, answer in answers.items():
    print(f"{rule:26}", [labels[k] for k in answer.output], f"{answer.value:.1f}", answer.method)

# %%
# What becomes of a rule? One that only forbids parts is a mask, and Viterbi goes on as before. One
# that counts becomes an automaton.

print(with_constraints(Chain(), [one_verb, last_verb]).report(**scores))

# %%
# The price of a rule is never negative: fewer outputs are left to choose from. A circle holds the
# score of a label at a word.

import matplotlib.pyplot as plt

COLOURS = ("#0072B2", "#E69F00", "#CC79A7")
_, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
for ax, (rule, answer), colour in zip(axes, answers.items(), COLOURS, strict=True):
    for t in range(1, len(words)):
        for j in range(3):
            for k in range(3):
                ax.plot([t - 1, t], [j, k], color="0.88", lw=1, zorder=1)
    ax.plot(range(len(words)), answer.output, color=colour, lw=4, zorder=2)
    for t in range(len(words)):
        for k in range(3):
            on = answer.output[t] == k
            ax.plot(
                t, k, "o", ms=27, mfc=colour if on else "w", mec=colour if on else "0.6", zorder=3
            )
            ax.text(
                t,
                k,
                f"{scores['label'][t, k]:g}",
                ha="center",
                va="center",
                zorder=4,
                color="w" if on and colour == COLOURS[0] else "0",
            )
    ax.set(xticks=range(len(words)), yticks=range(3), xlim=(-0.4, 3.4), ylim=(2.5, -0.5))
    ax.set_title(f"{rule}\nbest path scores {answer.value:.1f}")
    ax.set_xticklabels(words)
    ax.set_yticklabels(labels)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
plt.show()
