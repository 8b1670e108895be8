"""
What goes wrong, and is the better model really better?
=======================================================

One number hides where a tagger errs. A table of confusions shows it; an interval says how far the
number would move with other sentences; and a test says whether two models differ by more than
chance would make them.
"""

# %%
# Two taggers on the same sentences: a hidden Markov model, and a CRF that also sees the words
# around.

import numpy as np

from structlearn import CRF, HMM
from structlearn.datasets import make_treebank
from structlearn.metrics import bootstrap_interval, confusion, label_report, randomization_test

bank = make_treebank(800, random_state=0)


def features(words):
    around = ["<", *(w.lower() for w in words), ">"]
    return [
        {"word": around[i + 1], "before": around[i], "after": around[i + 2]}
        | {f"ends{n}": w[-n:] for n in (1, 2, 3)}
        | {"capital": w[0].isupper() and i > 0}
        for i, w in enumerate(words)
    ]


words, tags = [list(s.words) for s in bank], [list(s.tags) for s in bank]
X = [features(w) for w in words]
train, test = slice(0, 500), slice(500, None)
gold = tags[test]
predicted = {
    "HMM": HMM().fit(words[train], tags[train]).predict(words[test]),
    "CRF": CRF(C=1.0).fit(X[train], tags[train]).predict(X[test]),
}

# %%
# The bootstrap draws sentences with replacement, 10,000 times. The randomisation test swaps the
# answers of the two taggers, sentence by sentence, by the toss of a coin, and counts how often the
# difference :math:`|m(a) - m(b)|` comes out as large as the real one:
# :math:`p = (1 + \text{times}) / (1 + \text{draws})`.

intervals = {
    name: bootstrap_interval(gold, answer, random_state=0) for name, answer in predicted.items()
}
for name, interval in intervals.items():
    print(name, interval)
print(randomization_test(gold, predicted["CRF"], predicted["HMM"], random_state=0))

# %%
# The intervals overlap, and chance alone would do as much in one case of twenty: on this evidence
# nobody should bet on either. Which tags? The report has precision, recall and F1 of each.

reports = {name: label_report(gold, answer) for name, answer in predicted.items()}
table = confusion(gold, predicted["CRF"])
for right, said, times in table.most_confused(3):
    print(f"{right} taken for {said}: {times} times")

# %%
# Left: the confusions of the CRF among the tags it confuses most. Middle: F1 of both by tag. Right:
# both accuracies with their intervals.

import matplotlib.pyplot as plt

worst = table.most_confused()
names = sorted({k for pair in worst[:8] for k in pair[:2]})
counts = np.array(
    [[next((n for a, b, n in worst if (a, b) == (r, s)), 0) for s in names] for r in names]
)
_, (one, two, three) = plt.subplots(
    1, 3, figsize=(12.5, 4.6), width_ratios=(5, 5, 2.2), layout="constrained"
)
one.imshow(counts, cmap="Blues")
for (i, j), n in np.ndenumerate(counts):
    if n:
        one.text(j, i, n, ha="center", va="center", color="w" if n > counts.max() / 2 else "0")
one.set(
    title="errors of the CRF",
    xlabel="tag it gave",
    ylabel="gold tag",
    xticks=range(len(names)),
    yticks=range(len(names)),
)
one.set_xticklabels(names, rotation=60)
one.set_yticklabels(names)
at = np.arange(len(names))
COLOURS = {"HMM": "#E69F00", "CRF": "#0072B2"}
for (name, report), shift in zip(reports.items(), (-0.2, 0.2), strict=True):
    f1 = [100 * report.by_label[k].f1 for k in names]
    two.barh(at + shift, f1, 0.38, color=COLOURS[name], label=name)
two.set(title="F1 by tag, %", yticks=at, xlim=(0, 100))
two.set_yticklabels(names)
two.invert_yaxis()
two.legend(frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.07))
for i, (name, interval) in enumerate(intervals.items()):
    low, high = 100 * (interval.value - interval.low), 100 * (interval.high - interval.value)
    three.errorbar(
        i,
        100 * interval.value,
        [[low], [high]],
        fmt="o",
        ms=9,
        capsize=7,
        color=COLOURS[name],
        lw=2,
    )
three.set(title="tags right, %,\nwith 95 % interval", xticks=(0, 1), xlim=(-0.6, 1.6))
three.set_xticklabels(intervals)
for ax in (two, three):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
