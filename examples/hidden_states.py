r"""
Hidden states: labels that remember more than they say
======================================================

Two dialects write the same sounds with opposite letters, and only the first sound of a message
tells which one is spoken. A chain of letters forgets it at once: the letter before says nothing.
Give every letter two hidden states, and let the model find out what they are good for: the gold
label of a token is then a *set*, ``{"A/0", "A/1"}``, of which any will do. The loss is

.. math:: \log \sum_{\hat y} e^{s(\hat y)} - \log \sum_{y \in \text{allowed}} e^{s(y)} .
"""

# %%
# Messages: sounds with a greeting at the first, and letters.

import numpy as np

from structlearn import CRF
from structlearn.estimators import StructuredModel

STATES = {letter: {f"{letter}/0", f"{letter}/1"} for letter in "AB"}


def messages(n, rng):
    """Return sounds, the first with a greeting, and letters."""
    X, y = [], []
    for _ in range(n):
        dialect = int(rng.integers(2))
        sounds = rng.integers(2, size=rng.integers(4, 9)).tolist()
        tokens = [[f"sound={sound}"] for sound in sounds]
        tokens[0].append(f"greeting={dialect}")
        X.append(tokens)
        y.append(["AB"[sound ^ dialect] for sound in sounds])
    return X, y


def hide(y):
    """Return sets of states in the place of letters."""
    return [[STATES[letter] for letter in row] for row in y]


rng = np.random.default_rng(0)
(X, y), (X_new, y_new) = messages(200, rng), messages(100, rng)

# %%
# A chain of letters, and one of hidden states. Nobody tells the states apart but the data.

plain = CRF().fit(X, y)
hidden = CRF(random_state=0).fit(X, hide(y))
print(f"letters alone:           {plain.score(X_new, y_new):.2f} right")
print(f"hidden states:           {hidden.score(X_new, hide(y_new)):.2f} right")
print("one message:", *hidden.predict(X_new[:1])[0])

# %%
# Another way, round by round: fill the states in, learn from them, again. There are local optima,
# and the lowest objective of a few beginnings is the one to keep.

rounds = [
    StructuredModel(
        margin=0.0, temperature=1.0, latent="cccp", max_iter=300, random_state=seed
    ).fit(X, hide(y))
    for seed in range(3)
]
best = min(rounds, key=lambda model: model.objective_)
print(f"hidden states by rounds: {best.score(X_new, hide(y_new)):.2f} right")
print(f"objectives: {', '.join(f'{model.objective_:.0f}' for model in rounds)}")

# %%
# Left: what is right at each place of a message. The chain of letters is no better than chance,
# even at the first: sound and greeting would have to be seen together. Right: the weights of state
# pairs. The states have become two tracks that are not left: they remember the dialect.

import matplotlib.pyplot as plt

guesses = {
    "letters alone": plain.predict(X_new),
    "hidden states": [[k[0] for k in row] for row in hidden.predict(X_new)],
}
_, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
places = range(1, 9)
for (name, rows), colour, marker in zip(guesses.items(), ("#D55E00", "#0072B2"), "so", strict=True):
    hits = [
        np.mean([g[t] == k[t] for g, k in zip(rows, y_new, strict=True) if len(k) > t])
        for t in range(8)
    ]
    left.plot(places, 100 * np.array(hits), marker=marker, color=colour, lw=2, label=name)
left.axhline(50, color="0.6", ls=":", label="by chance")
left.set(xlabel="place in the message", ylabel="letters right, %", ylim=(30, 103), xticks=places)
left.legend(frameon=False, loc="center right", bbox_to_anchor=(1, 0.62))
left.spines[["top", "right"]].set_visible(False)
table = hidden.coef_["transition"]
order = [0, *sorted(range(1, 4), key=lambda k: -table[0, k] - table[k, 0])]  # tracks together
table = table[np.ix_(order, order)]
names = hidden.classes_[order]
limit = np.abs(table).max()
shown = right.imshow(table, cmap="PuOr", vmin=-limit, vmax=limit)
right.set(
    title="weights of state pairs",
    xlabel="state",
    ylabel="state before",
    xticks=range(4),
    yticks=range(4),
)
right.set_xticklabels(names)
right.set_yticklabels(names)
right.figure.colorbar(shown, ax=right, shrink=0.8)
plt.show()
