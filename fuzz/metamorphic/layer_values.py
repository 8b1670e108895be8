"""Relations on values and gradients of tensors, against structures and finite differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import torch
from fuzz.metamorphic.answers import Different, demand_same, plain
from fuzz.metamorphic.padded import (
    BATCHES,
    IGNORE,
    QUERIES,
    TEMPERATURES,
    Batch,
    ask,
    demand_tensors,
)
from fuzz.metamorphic.relation import relation
from structlearn.losses import StructuredLoss
from structlearn.torch import (
    ChainCRF,
    ConstituencyCRF,
    DependencyCRF,
    SemiMarkovCRF,
    infer,
    structured_loss,
)

Rng = np.random.Generator
Subject = Callable[[Rng], Batch]
Tensor = torch.Tensor

#: The tolerance of float32, whose sums are float64 on the CPU except for the loss of chains: 2⁻²³
#: for each score, and as much for each of about ten steps.
SINGLE = 2e-6
STEP = 1e-4


def size_of(batch: Batch) -> float:
    """Return the magnitudes of one output's scores, added up."""
    finite = [v[v.isfinite()].abs() for v in batch.scores.values()]
    most = max(float(v.max()) for v in finite if v.numel())
    return 4 * most * batch.main.shape[1]


def _loss(batch: Batch, scores: dict[str, Tensor] | None = None, **options: Any) -> Tensor:
    arguments = {"margin": batch.margin, "temperature": batch.temperature, **options}
    return structured_loss(batch.structure, batch.scores if scores is None else scores,
                           batch.gold(), lengths=batch.lengths, **arguments)  # fmt: skip


def _parts(batch: Batch, y: Any) -> Any:
    """Return an output of a structure as lists: labels, heads, labelled segments or spans."""
    if isinstance(y, list):
        return sorted(part for part in y if part[2] or "segment" in batch.scores)
    return [list(row) for row in (y if isinstance(y, tuple) else (y,))]


def _read(batch: Batch, rows: list[Tensor]) -> Any:
    """Return an output of tensors as lists, without padding."""
    if "span" in batch.scores:
        return [[*place, int(rows[0][tuple(place)])] for place in (rows[0] > 0).nonzero().tolist()]
    lists = [[k for k in row.tolist() if k != IGNORE] for row in rows]
    if "segment" not in batch.scores:
        return lists
    starts = [t for t, k in enumerate(lists[0]) if k >= 0]
    ends = [*starts[1:], len(lists[0])]
    return [[s, e, lists[0][s]] for s, e in zip(starts, ends, strict=True)]


@relation("tensors = structures", BATCHES, claim="to rounding; outputs bit for bit")
def as_structures(subject: Subject, rng: Rng) -> None:
    """Each row as the structure itself answers it, with NumPy's arrays."""
    batch = subject(rng)
    query = str(rng.choice(("infer", "kbest", "entropy")))
    heat = batch.temperature or 1.0
    answer = ask(batch, query)
    close = 1e-12 * size_of(batch) + 1e-11 * heat
    for b in range(len(batch.lengths)):
        example = batch.example(b)
        if query == "entropy":
            right: dict[str, Any] = {
                "entropy": batch.structure.entropy(temperature=heat, **example)
            }
        elif query == "kbest":
            ranked = batch.structure.kbest(3, **example)
            right = {"value": [*(value for value, _ in ranked), *[-np.inf] * (3 - len(ranked))]}
            for rank, (_, y) in enumerate(ranked):
                rows = [answer[name][b, rank] for name in answer if name != "value"]
                demand_same("kbest: output", plain(_parts(batch, y)), _read(batch, rows))
        else:
            value, parts = batch.structure.infer(temperature=batch.temperature, **example)
            right = {"value": value}
            for name, part in parts.items():
                full = np.zeros(answer[f"parts of {name}"].shape[1:])
                full[tuple(slice(0, n) for n in np.shape(part))] = part
                right[f"parts of {name}"] = full
        got = {name: answer[name][b] for name in right}
        wanted = {name: torch.as_tensor(np.array(a)) for name, a in right.items()}
        demand_tensors(query, got, wanted, 1e4 * close if query == "entropy" else close)


def _cost(batch: Batch, rng: Rng) -> Any:
    """Draw a cost: a name, or a table δ(gold, label) that is not symmetric."""
    names = ("hamming", "hamming-mean", "table")
    cost = str(
        rng.choice(names if batch.main.dim() > 3 or "arc" not in batch.scores else names[:2])
    )
    n = batch.main.shape[-1]
    return rng.uniform(size=(n, n)) * (1 - np.eye(n)) if cost == "table" else cost


@relation(
    "losses of tensors = losses of structures",
    {name: BATCHES[name] for name in BATCHES if name != "constituents"},
    claim="to rounding",
    not_claimed={"constituents": "gold trees of the library label the whole"},
)
def losses(subject: Subject, rng: Rng) -> None:
    """The loss of each row and its gradient, by the library's own loss."""
    batch = subject(rng)
    cost = _cost(batch, rng)
    loss = StructuredLoss(cost, margin=batch.margin, temperature=batch.temperature)
    answers = _loss(batch, cost=cost if isinstance(cost, str) else torch.from_numpy(cost))
    close = 1e-11 * (size_of(batch) + batch.margin * batch.main.shape[1] + batch.temperature)
    for b, n in enumerate(batch.lengths.tolist()):
        y: Any = tuple(t[b, :n].numpy() for t in batch.y)
        if "segment" in batch.scores:
            starts = np.flatnonzero(y[0] >= 0)
            ends = [*starts[1:].tolist(), n]
            y = [(int(s), int(e), int(y[0][s])) for s, e in zip(starts, ends, strict=True)]
        else:
            y = y if len(y) > 1 else y[0]
        value = loss(batch.structure, y, **batch.example(b))[0]
        right = {"loss": torch.tensor(value, dtype=torch.float64)}
        demand_tensors("loss", {"loss": answers[b]}, right, close)


@relation("temperature of tensors scaled", BATCHES, claim="to rounding")
def scaled(subject: Subject, rng: Rng) -> None:
    """Scores, margin and temperature a times as large: losses and values are."""
    batch = subject(rng)
    a, query = (
        float(rng.choice((0.5, 4.0, 3.0, 0.1))),
        str(rng.choice(("loss", "infer", "entropy"))),
    )
    heat = batch.temperature or float(query == "entropy")  # an entropy needs a temperature above 0
    batch = replace(batch, temperature=heat)
    scores = {k: a * v for k, v in batch.scores.items()}
    other = replace(batch, scores=scores, margin=a * batch.margin, temperature=a * heat)
    answer, rescaled = ask(batch, query), ask(other, query)
    answer = {k: a * v if k in ("loss", "value") else v for k, v in answer.items()}
    close = 1e-11 * max(a, 1.0) * (size_of(batch) + heat)
    if heat == 0:  # ties may be broken differently
        answer = {k: v for k, v in answer.items() if k in ("loss", "value")}
    demand_tensors(query, answer, rescaled, 1e4 * close if query == "entropy" else close)


@relation("losses of tensors in order", BATCHES, claim="inequalities, to rounding")
def ordered(subject: Subject, rng: Rng) -> None:
    """0 ≤ perceptron ≤ hinge ≤ softmax-margin, perceptron ≤ log loss: growing with γ and ε."""
    batch = subject(rng)
    heats, margins = (0.0, float(rng.choice(TEMPERATURES))), (0.0, float(rng.uniform(0, 2)), 2.5)
    losses = {(g, e): _loss(batch, margin=g, temperature=e) for g in margins for e in heats}
    close = 1e-11 * (size_of(batch) + 3 * batch.main.shape[1] + heats[1])
    pairs = [((g, heats[0]), (g, heats[1])) for g in margins]
    pairs += [((g, e), (h, e)) for e in heats for g, h in itertools.pairwise(margins)]
    for low, high in pairs:
        if not bool(((losses[low] >= -close) & (losses[low] <= losses[high] + close)).all()):
            raise Different(f"{losses[low].tolist()} at {low}, {losses[high].tolist()} at {high}")


@relation("gradient of tensors = differences", BATCHES, claim="to rounding and the step's square")
def differences(subject: Subject, rng: Rng) -> None:
    """Slopes of losses, values and entropies along a random line, above temperature 0."""
    batch = subject(rng)
    batch = replace(batch, temperature=float(rng.choice(TEMPERATURES)))
    query = str(rng.choice(("loss", "value", "entropy", "parts")))
    weights: dict[str, Tensor] = {}

    def value(scores: dict[str, Tensor]) -> Tensor:
        options = {"lengths": batch.lengths, "temperature": batch.temperature}
        if query == "loss":
            return _loss(batch, scores).sum()
        if query == "entropy":
            from structlearn.torch import entropy

            return entropy(batch.structure, scores, **options).sum()
        values, parts = infer(batch.structure, scores, **options)
        if query == "value":
            return values.sum()
        for name, p in parts.items():
            weights.setdefault(name, torch.from_numpy(rng.normal(size=p.shape)))
        return sum((weights[name] * p).sum() for name, p in parts.items())  # type: ignore[return-value]

    line = {k: torch.from_numpy(rng.normal(size=v.shape)) / 3 for k, v in batch.scores.items()}
    leaves = {k: v.clone().requires_grad_() for k, v in batch.scores.items()}
    slopes = torch.autograd.grad(value(leaves), list(leaves.values()))
    slope = sum(float((line[k] * g).sum()) for k, g in zip(leaves, slopes, strict=True))
    steps = [value({k: v + sign * STEP * line[k] for k, v in batch.scores.items()})
             for sign in (1.0, -1.0, 2.0, -2.0)]  # fmt: skip
    # Of fourth order: the step's square cancels between one step and two.
    near, coarse = (steps[0] - steps[1]) / (2 * STEP), (steps[2] - steps[3]) / (4 * STEP)
    estimate = float((4 * near - coarse) / 3)
    # A scores' sum along the line is at most 2 per position; cumulants grow with its powers.
    span = 2.0 * batch.main.shape[1] * len(batch.lengths) / batch.temperature
    close = 1e-11 * (size_of(batch) + 1) / STEP + 1e-14 * span**5 + 1e-7
    if not abs(slope - estimate) <= close * (10 if query in ("entropy", "parts") else 1):
        raise Different(
            f"slope of {query}: {slope!r}, by differences {estimate!r}, not {close:.1g}"
        )


@relation("float32 = float64", BATCHES, claim="to some parts in a million of the scores")
def narrow(subject: Subject, rng: Rng) -> None:
    """Scores in float32, and the same numbers in float64."""
    batch = subject(rng)
    query = str(rng.choice([name for name in QUERIES if name not in ("argmax", "kbest")]))
    single = replace(batch, scores={k: v.float() for k, v in batch.scores.items()})
    double = replace(batch, scores={k: v.double() for k, v in single.scores.items()})
    answer, other = ask(single, query), ask(double, query)
    for name, a in answer.items():
        if a.dtype != torch.float32:
            raise Different(f"{query}, {name}: {a.dtype}, not float32")
    if query == "gradient" and batch.temperature == 0:
        return  # any of several tied outputs may be returned
    heat = batch.temperature or 1.0
    size = size_of(batch) + batch.margin * batch.main.shape[1]
    close = SINGLE * (size + heat) * (1 if query == "loss" else 1 / min(heat, 1.0))
    demand_tensors(query, answer, other, close * (10 if query == "gradient" else 1))


def layer_of(batch: Batch) -> torch.nn.Module:
    """Return the layer of a batch with its loss, and its shared scores as parameters."""
    options: dict[str, Any] = {"margin": batch.margin, "temperature": batch.temperature}
    if "arc" in batch.scores:
        it: Any = batch.structure
        return DependencyCRF(projective=it.projective, single_root=it.single_root,
                             labelled=bool(it.labelled), **options)  # fmt: skip
    if "span" in batch.scores:
        return ConstituencyCRF(**options)
    n = batch.main.shape[-1]
    layer = (
        ChainCRF(n, **options)
        if "label" in batch.scores
        else SemiMarkovCRF(n, batch.main.shape[2], **options)
    ).double()
    with torch.no_grad():
        for name in ("transition", "start", "end"):
            getattr(layer, name).copy_(batch.scores[name])
    return layer


@relation(
    "a layer = its functions",
    {name: BATCHES[name] for name in BATCHES if name != "chain by position"},
    not_claimed={"chain by position": "a layer's transitions are shared"},
)
def as_layers(subject: Subject, rng: Rng) -> None:
    """A layer with these parameters, and the functions with these scores."""
    batch = subject(rng)
    layer = layer_of(batch)
    query = str(rng.choice(("loss", "argmax", "kbest", "entropy", "infer")))
    heat = batch.temperature or 1.0
    answer = ask(replace(batch, temperature=heat) if query == "infer" else batch, query)
    options = {"lengths": batch.lengths}
    with torch.no_grad():
        if query == "loss":
            other: dict[str, Any] = {"loss": layer(batch.main, batch.gold(), **options)}
        elif query == "entropy":
            other = {"entropy": layer.entropy(batch.main, **options)}
        elif query == "infer":
            answer = {"value": answer["value"],
                     "parts": answer[f"parts of {batch.structure.label_block}"]}  # fmt: skip
            other = {"value": layer.log_partition(batch.main, **options),
                     "parts": layer.marginals(batch.main, **options)}  # fmt: skip
        else:
            y = layer.argmax(batch.main, **options) if query == "argmax" else (
                layer.kbest(3, batch.main, **options)
            )  # fmt: skip
            other = {}
            if query == "kbest":
                other["value"], y = y
            other |= {f"output {i}": t for i, t in enumerate(y if isinstance(y, tuple) else (y,))}
    demand_tensors(query, answer, other)
