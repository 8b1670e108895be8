r"""
How much regularisation? A path with warm starts
================================================

The weight C of the losses is tried over a range,

.. math:: w(C) = \arg\min_w \; \frac{1}{2} \lVert w \rVert^2 + C \sum_n L_n(w) ,

and neighbours on the path have similar solutions. With ``warm_start=True`` each fit begins where
the last one ended, and has less to do.
"""

# %%
# Words of digits, thirteen values of C, each fitted afresh and from the one before.

import numpy as np

from structlearn import CRF
from structlearn.datasets import load_digit_words

train = load_digit_words(120, noise=0.25, random_state=0)
test = load_digit_words(200, noise=0.25, subset="test", random_state=0)
values = np.logspace(-3, 1, 13)
calls, right, known = {}, [], []
for warm in (False, True):
    model = CRF(solver="lbfgs", tol=1e-3, warm_start=warm, max_iter=500)
    calls[warm] = []
    for C in values:
        model.set_params(C=C).fit(train.X, train.y)
        calls[warm].append(model.history_[-1]["oracle_calls"] / len(train.X))
        if warm:
            right.append(model.score(test.X, test.y))
            known.append(model.score(train.X, train.y))
    print(f"warm_start={warm}: {sum(calls[warm]):.0f} passes of inference over the data in all")
print(f"best C {values[int(np.argmax(right))]:.3g}: {max(right):.3f} of the digits right")

# %%
# Left: where to stop. Right: what each step of the path took.

import matplotlib.pyplot as plt

_, (left, second) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
left.plot(values, 100 * np.array(known), "s--", color="#E69F00", lw=2, label="training words")
left.plot(values, 100 * np.array(right), "o-", color="#0072B2", lw=2, label="new words")
left.axvline(values[int(np.argmax(right))], color="0.5", ls=":", label="best C")
left.set(ylabel="digits right, %")
for warm, colour, style, name in (
    (False, "#D55E00", "^--", "from zero"),
    (True, "#0072B2", "o-", "from the C before"),
):
    second.plot(values, calls[warm], style, color=colour, lw=2, label=name)
second.set(ylabel="passes of inference over the data", ylim=(0, None))
for ax in (left, second):
    ax.set(xscale="log", xlabel="C")
    ax.legend(frameon=False)
    ax.grid(color="0.92")
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
