"""Relations on the loss: enumeration, scaled costs and margins, inequalities, unknown labels."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import Different, Refusal
from fuzz.metamorphic.instances import STRUCTURES, Instance
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.twins import TEMPERATURES, demand_close
from structlearn.losses import Hamming, LabelCost, StructuredLoss
from structlearn.structures import Arborescence

__all__: list[str] = []

Rng = np.random.Generator
Subject = Callable[[Rng], Instance]
Parts = dict[str, Any]

#: Structures whose outputs are one label for each place.
PLACED = ("classes", "chains of order 0", "chains of order 1", "chains of order 2",
          "chains of order 3", "trees", "graphs", "grids", "enumeration",
          "accepted chains")  # fmt: skip
LABELLED = (*PLACED, "segments", "accepted segments", "projective arcs", "arcs", "spans")
#: The most outputs in a list of all outputs.
MOST = 60


def _drawn(subject: Subject, rng: Rng) -> tuple[Instance, Any] | None:
    """Return an instance and a gold output, or None if no output is legal."""
    it = _learnable(subject(rng))
    exact = getattr(it.structure, "sums_are_exact", None)
    if isinstance(it.best, Refusal) or (exact is not None and not exact(**it.scores)):
        return None
    drawn = it.structure.sample(1, temperature=100.0 * max(it.size, 1.0),
                                random_state=int(rng.integers(1000)), **it.scores)  # fmt: skip
    y = (drawn[0][0], drawn[1][0]) if isinstance(drawn, tuple) else drawn[0]
    return it, int(y) if np.ndim(it.scores.get("label", [[0]])) == 1 else y


def _learnable(it: Instance) -> Instance:
    """Return an instance in the form for losses: arcs have labels, trees a labelled root."""
    if "span" in it.scores:
        span = it.scores["span"].copy()
        span[0, -1, 0] = -np.inf
        return Instance(it.structure, {"span": span})
    if "arc" in it.scores and it.scores["arc"].ndim == 3:
        options = it.structure.projective, it.structure.single_root, True
        return Instance(Arborescence(*options), it.scores)
    return it


def _loss(it: Instance, y: Any, cost: Any, margin: float, temperature: float) -> tuple[float, Any]:
    loss = StructuredLoss(cost, margin=margin, temperature=temperature)
    return loss(it.structure, y, **it.scores)


def _close(it: Instance, cost: float, temperature: float) -> float:
    """Return the allowed error of a loss, a difference of two values."""
    return 4 * (it.slack + 1e-12 * cost + 1e-11 * temperature)


def _n_labels(it: Instance) -> int:
    main = it.scores[it.structure.label_block]
    return 1 if it.structure.label_block == "arc" and main.ndim == 2 else int(main.shape[-1])


def _most(it: Instance, y: Any, largest: float) -> float:
    """Return a rough upper bound of an output's cost: the maximum at every place."""
    return largest * 2 * float(sum(np.shape(it.scores[it.structure.label_block])[:2]))


@relation(
    "costs scaled = margin scaled",
    {name: STRUCTURES[name] for name in LABELLED},
    claim="to rounding",
)
def costs_scaled(subject: Subject, rng: Rng) -> None:
    """A cost a times as large, and a margin a times as large."""
    if (drawn := _drawn(subject, rng)) is None:
        return
    it, y = drawn
    n, a = _n_labels(it), float(rng.choice((0.5, 3.0, 10.0)))
    table = np.abs(rng.normal(size=(n, n))) * (1 - np.eye(n))
    margin, temperature = float(rng.choice((0.3, 1.0))), float(rng.choice((0.0, *TEMPERATURES)))
    value, slope = _loss(it, y, LabelCost(table), a * margin, temperature)
    other, line = _loss(it, y, LabelCost(a * table), margin, temperature)
    close = _close(it, a * _most(it, y, float(table.max())), temperature)
    demand_close("loss", value, other, close)
    if temperature and (blur := 2 * it.blur(temperature)) < 0.01:
        for name, part in slope.items():
            apart = float(np.abs(part - line[name]).max(initial=0.0))
            demand_close(
                f"gradient of {name}", apart, 0.0, blur * max(1, np.abs(part).max(initial=0))
            )


@relation(
    "loss = all outputs added up",
    {name: STRUCTURES[name] for name in PLACED},
    claim="to rounding",
)
def added_up(subject: Subject, rng: Rng) -> None:
    """max, or ε log Σ exp, of score(z) + γ Σ δ(gold label, label of z), less the gold score."""
    if (drawn := _drawn(subject, rng)) is None or drawn[0].large:
        return
    it, y = drawn
    if not 0 < (number := it.structure.count(**it.scores)) <= MOST:
        return
    n, margin = _n_labels(it), float(rng.choice((0.3, 1.0)))
    table = np.abs(rng.normal(size=(n, n)))
    temperature = float(rng.choice((0.0, *TEMPERATURES)))
    ranked = it.structure.kbest(number + 1, **it.scores)
    costs = [table[np.ravel(y), np.ravel(z)].sum() for _, z in ranked]
    raised = np.array([value for value, _ in ranked]) + margin * np.array(costs)
    right = top = raised.max()
    if temperature:
        right = top + temperature * np.log(np.exp((raised - top) / temperature).sum())
    loss, gradient = _loss(it, y, LabelCost(table), margin, temperature)
    gold = float(it.structure.score(y, **it.scores))
    close = _close(it, margin * _most(it, y, float(table.max())), temperature)
    demand_close("loss", float(right) - gold, loss, close)
    if temperature and (blur := 10 * it.blur(temperature)) < 0.01:
        label = np.zeros(it.scores["label"].shape).reshape(-1, n)
        for p, (_, z) in zip(np.exp((raised - right) / temperature), ranked, strict=True):
            label[np.arange(len(label)), np.ravel(z)] += p
        label[np.arange(len(label)), np.ravel(y)] -= 1.0
        apart = float(np.abs(label - gradient["label"].reshape(-1, n)).max())
        demand_close("gradient of label", apart, 0.0, blur)


@relation(
    "losses in order",
    {name: STRUCTURES[name] for name in LABELLED},
    claim="inequalities, to rounding",
)
def ordered(subject: Subject, rng: Rng) -> None:
    """0 ≤ perceptron ≤ hinge ≤ softmax-margin, perceptron ≤ log loss, growing with γ and ε."""
    if (drawn := _drawn(subject, rng)) is None:
        return
    it, y = drawn
    cost = Hamming(normalize=bool(rng.random() < 0.3))
    margins = sorted((0.0, *rng.uniform(0, 3, size=2).tolist()))
    heats = sorted((0.0, *rng.choice(TEMPERATURES, size=1).tolist()))
    losses = {(g, e): _loss(it, y, cost, g, e)[0] for g in margins for e in heats}
    close = _close(it, 3 * _most(it, y, 1.0), heats[-1])
    ascending = [((g, heats[0]), (g, heats[1])) for g in margins]
    ascending += [((g, e), (h, e)) for e in heats for g, h in itertools.pairwise(margins)]
    for low, high in ascending:
        if not -close <= losses[low] <= losses[high] + close:
            raise Different(f"loss {losses[low]!r} at (γ, ε) = {low}, {losses[high]!r} at {high}")


@relation(
    "unknown labels = all that agree",
    {name: STRUCTURES[name] for name in PLACED if name != "enumeration"},
    claim="to rounding",
)
def unknown(subject: Subject, rng: Rng) -> None:
    """The loss of partly known labels is F(θ) − F(θ, those ruled out at −∞); of none, 0."""
    if (drawn := _drawn(subject, rng)) is None:
        return
    it, y = drawn
    label = it.scores["label"]
    flat = np.ravel(y)
    n = label.shape[-1]
    mask = np.zeros((len(flat), n), dtype=bool)
    labels: list[Any] = []
    share = float(rng.choice((0.0, 0.3, 0.7, 1.0)))
    for row, k in zip(mask, flat.tolist(), strict=True):
        kind = rng.random()
        if kind < share:
            labels.append(None)
            row[:] = True
        elif kind < share + 0.2:
            choice = {k, int(rng.integers(n))}
            labels.append(choice)
            row[list(choice)] = True
        else:
            labels.append(k)
            row[k] = True
    partial = labels[0] if label.ndim == 1 else labels
    if label.ndim == 3:
        width = label.shape[1]
        partial = [labels[i : i + width] for i in range(0, len(labels), width)]
    temperature = float(rng.choice((0.0, *TEMPERATURES)))
    loss, gradient = StructuredLoss(temperature=temperature)(it.structure, partial, **it.scores)
    held = {**it.scores, "label": np.where(mask.reshape(label.shape), label, -np.inf)}
    values = [it.structure.log_partition(temperature=temperature, **s) for s in (it.scores, held)]
    demand_close("loss", values[0] - values[1], loss, _close(it, 0.0, temperature))
    if mask.all():
        demand_close("loss of nothing known", loss, 0.0, _close(it, 0.0, temperature))
        apart = max(float(np.abs(p).max(initial=0.0)) for p in gradient.values())
        demand_close("its gradient", apart, 0.0, it.blur(temperature or 1.0))
