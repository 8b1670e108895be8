r"""
From hinge to log loss: one family
==================================

The SVM looks at the most dangerous output, the CRF at all of them. Between the two lies a
temperature ε,

.. math:: L_{\gamma,\varepsilon}(\theta) = F_\varepsilon(\theta + \gamma c)
          + \gamma c_0 - \langle \theta, \mu(y) \rangle , \qquad
          F_\varepsilon(\theta) = \varepsilon \log \sum_{\hat y}
          \exp \frac{\langle \theta, \mu(\hat y) \rangle}{\varepsilon} .

:math:`F_\varepsilon` is a soft maximum: at ε = 1 the log-partition, at ε = 0 the maximum itself.
The cost is :math:`\Delta(y, \hat y) = \langle c, \mu(\hat y) \rangle + c_0`; for the Hamming cost
:math:`c_0` is 0 where :math:`c` marks the wrong labels. After remark 1.1 of *Lecture 11 –
Structured Prediction*.
"""

# %%
# ``StructuredLoss(margin=γ, temperature=ε)`` is that formula. Two classes, and how far the gold one
# is ahead:

import numpy as np

from structlearn.losses import StructuredLoss
from structlearn.structures import Chain, Multiclass

lead = np.linspace(-2, 3, 151)


def curve(margin, temperature):
    loss = StructuredLoss(margin=margin, temperature=temperature)
    return [loss(Multiclass(), 0, label=np.array([m, 0.0]))[0] for m in lead]


# %%
# A sentence: "Fish Sleep" with gold noun, verb, ε between the hinge loss and beyond the log loss.
# The soft loss lies above the hinge, and never by more than ε times the logarithm of the number of
# outputs.

scores = {
    "label": np.array([[2.0, 1.0], [1.0, 0.0]]),
    "start": np.array([1.0, -1.0]),
    "transition": np.array([[-2.0, 1.0], [2.0, -2.0]]),
}
temperatures = np.linspace(0, 2, 41)
chain = Chain()
soft = {
    margin: [
        StructuredLoss(margin=margin, temperature=e)(chain, [0, 1], **scores)[0]
        for e in temperatures
    ]
    for margin in (0, 1)
}
bound = temperatures * np.log(chain.count(**scores))
print(f"hinge {soft[1][0]:.4f}, log loss {soft[0][20]:.4f}, softmax-margin {soft[1][20]:.4f}")

# %%
# Left: the corner of the hinge is rounded off as ε grows. Right: the losses of the sentence over ε.

import matplotlib.pyplot as plt

_, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.3), layout="constrained")
for margin, temperature, name, colour, dashes in (
    (0, 0, "γ=0, ε=0: perceptron", "0", ":"),
    (1, 0, "γ=1, ε=0: hinge", "#0072B2", "-"),
    (1, 0.3, "γ=1, ε=0.3", "#56B4E9", "--"),
    (1, 1, "γ=1, ε=1: softmax-margin", "#E69F00", "-."),
    (0, 1, "γ=0, ε=1: log loss", "#D55E00", "-"),
):
    left.plot(lead, curve(margin, temperature), dashes, color=colour, lw=2, label=name)
left.set(xlabel="lead of the gold class", ylabel="loss", title="two classes", ylim=(-0.1, 3.6))
left.legend(frameon=False)

right.fill_between(
    temperatures,
    soft[1][0],
    soft[1][0] + bound,
    color="#DCEAF5",
    lw=0,
    label="hinge + ε log(number of outputs)",
)
right.plot(temperatures, soft[1], color="#0072B2", lw=2, label="γ = 1")
right.plot(temperatures, soft[0], "--", color="#D55E00", lw=2, label="γ = 0")
for e, margin, name, shift in (
    (0, 1, "hinge", (10, -16)),
    (0, 0, "perceptron", (10, 6)),
    (1, 0, "log loss", (8, -14)),
    (1, 1, "softmax-margin", (6, -14)),
):
    value = soft[margin][int(20 * e)]
    right.plot(e, value, "ko", ms=6, zorder=4, clip_on=False)
    right.annotate(name, (e, value), xytext=shift, textcoords="offset points")
right.set(
    xlabel="temperature ε",
    ylabel="loss",
    title="“Fish Sleep”, gold noun verb",
    xlim=(0, 2),
    ylim=(-0.05, 4),
)
right.legend(frameon=False, loc="upper left")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
