r"""
Each label in one run
=====================

*12 Oak St Hill Rd Salem* is a corner of two streets. A chain trained on addresses with one street
calls both *Street*, and a program that wants one value for each label gets two. The rule
``contiguous()`` can be given to the trained model:

.. math:: P(y \mid x, \text{legal}) = \frac{\exp s(x, y)}{\sum_{y' \text{ legal}} \exp s(x, y')} .

Probabilities are then of the outputs that keep to it, and add up to one.
"""

# %%
# A tagger learns from five addresses, and is asked with and without the rule.

from structlearn.tasks import Tagger

ADDRESSES = """\
12/Number Oak/Street St/Type Dover/City
7/Number Hill/Street Rd/Type Apt/Unit 3/Unit Salem/City
90/Number Lake/Street Ave/Type Salem/City
5/Number Elm/Street St/Type Unit/Unit 8/Unit Dover/City
31/Number Park/Street Rd/Type Austin/City"""
rows = [[token.split("/") for token in line.split()] for line in ADDRESSES.splitlines()]
X = [[(word,) for word, _ in row] for row in rows]
tagger = Tagger(learner="crf", random_state=0).fit(X, [[label for _, label in row] for row in rows])

corner = [[(word,) for word in ["12", "Oak", "St", "Hill", "Rd", "Salem"]]]
found = {}
for name, rule in (("no rule", None), ("contiguous()", "contiguous()")):
    best = tagger.predict_kbest(corner, 4, constraints=rule)[0]
    outputs = [labels for _, labels in best]
    p = tagger.predict_proba(corner * len(outputs), outputs, constraints=rule)
    found[name] = list(zip(outputs, p, strict=True))
    print(f"{name:13}", " ".join(outputs[0]), f"{best[0][0]:.2f}")

# %%
# The four best of each. What breaks the rule, in orange, has no probability any more; the others
# keep their order.

import itertools

import matplotlib.pyplot as plt

_, axes = plt.subplots(2, 1, figsize=(8, 4.6), sharex=True, layout="constrained")
for ax, (name, ranked) in zip(axes, found.items(), strict=True):
    for place, (labels, p) in enumerate(ranked):
        legal = len(set(labels)) == len(list(itertools.groupby(labels)))
        ax.barh(place, p, color="#0072B2" if legal else "#E69F00")
        ax.text(p + 0.005, place, " ".join(labels), va="center", fontsize=9)
    ax.set(title=name, yticks=[], ylim=(3.6, -0.6), xlim=(0, 0.5))
    ax.spines[["top", "right", "left"]].set_visible(False)
axes[-1].set_xlabel("probability")
plt.show()
