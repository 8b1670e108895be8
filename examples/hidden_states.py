"""
Hidden states: labels that remember more than they say
======================================================

Two dialects write the same sounds with opposite letters, and only the first sound of a message
tells which one is spoken. A chain of letters forgets it at once: the letter before says nothing.
With two hidden states a letter, {"A/0", "A/1"} in the place of "A", the states can carry it along,
though no example shows which state is which. Run me: ``python examples/hidden_states.py``.
"""

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


def main():
    """Compare a chain of letters with chains of hidden states on new messages."""
    rng = np.random.default_rng(0)
    (X, y), (X_new, y_new) = messages(200, rng), messages(100, rng)
    plain = CRF().fit(X, y)
    print(f"letters alone:           {plain.score(X_new, y_new):.2f} right")
    hidden = CRF(random_state=0).fit(X, hide(y))
    print(f"hidden states:           {hidden.score(X_new, hide(y_new)):.2f} right")
    states = " ".join(hidden.predict(X_new[:1])[0])
    print(f"  one message: {states}")
    # Round by round: fill the states in, learn from them, again. There are local optima, and the
    # lowest objective of a few beginnings is the one to keep.
    rounds = [
        StructuredModel(
            margin=0.0, temperature=1.0, latent="cccp", max_iter=300, random_state=seed
        ).fit(X, hide(y))
        for seed in range(3)
    ]
    best = min(rounds, key=lambda model: model.objective_)
    print(f"hidden states by rounds: {best.score(X_new, hide(y_new)):.2f} right")
    print(f"  objectives: {', '.join(f'{model.objective_:.0f}' for model in rounds)}")


if __name__ == "__main__":
    main()
