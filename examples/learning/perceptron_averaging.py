r"""
Why the perceptron averages
===========================

The perceptron moves its weights at every mistake,
:math:`w \leftarrow w + \phi(x, y) - \phi(x, \hat y)`. The last examples have the last word, and
from pass to pass its quality jumps about. The mean of all weights it ever had,

.. math:: \bar w = \frac{1}{T} \sum_{t=1}^{T} w_t ,

forgets nobody, and is better nearly always. It costs next to nothing: the sum is kept lazily.
The steps are Algorithm 40 of Daumé's *A Course in Machine Learning*.
"""

# %%
# Words of handwritten digits. The same passes in the same order, once with the last weights and
# once with their mean; ``random_state`` draws the order of the examples.

import numpy as np

from structlearn import StructuredPerceptron
from structlearn.datasets import load_digit_words

train = load_digit_words(60, random_state=0)
test = load_digit_words(100, subset="test", random_state=0)
passes = range(1, 13)
wrong = {}
for average in (False, True):
    wrong[average] = np.array(
        [
            [
                1
                - StructuredPerceptron(max_iter=n, average=average, random_state=seed)
                .fit(train.X, train.y)
                .score(test.X, test.y)
                for n in passes
            ]
            for seed in range(4)
        ]
    )
    mean, spread = wrong[average][:, -5:].mean(), np.ptp(wrong[average][:, -5:])
    print(f"average={average}: {mean:.3f} of the digits wrong, from pass to pass by {spread:.3f}")

# %%
# Four orders of the examples: a thin line each, their mean thick.

import matplotlib.pyplot as plt

_, ax = plt.subplots(figsize=(7, 4.3), layout="constrained")
for average, colour, dashes, name in (
    (False, "#D55E00", "--", "last weights"),
    (True, "#0072B2", "-", "averaged weights"),
):
    ax.plot(passes, 100 * wrong[average].T, dashes, color=colour, lw=0.8, alpha=0.6)
    ax.plot(passes, 100 * wrong[average].mean(axis=0), dashes, color=colour, lw=2.8, label=name)
ax.set(xlabel="passes over the data", ylabel="wrong digits of new words, %", xlim=(1, 12))
ax.legend(frameon=False)
ax.grid(color="0.92")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
