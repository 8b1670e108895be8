"""Checks of infer and its derived queries: log-partition, marginals, entropy, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array_types import Array
from .best import is_exact
from .enumeration import enumerate_outputs
from .trial import MISSING, Trial


def _at(temperature: float) -> str:
    """Return the suffix of a capability's name at this temperature."""
    return "" if temperature > 0 else " at temperature 0"


def check_infer_best(trial: Trial) -> None:
    """Check that infer at temperature 0 gives the maximum and the parts of a best output."""
    options: dict[str, Any] = {"temperature": 0.0}
    exact = is_exact(trial)
    answer = trial.ask("infer", capability="infer" + _at(0.0), **options)
    if answer is not MISSING:
        value, p = answer
        p = {name: np.asarray(a, dtype=np.float64) for name, a in p.items()}
        if exact:
            trial.number("infer: value", trial.truth.best, value, trial.value_slack(), **options)
            row = trial.truth.find(p) if set(p) == set(trial.scores) else None
            if row is None or trial.truth.values[row] < trial.truth.best - trial.value_slack():
                trial.fail("infer: gradient", "the parts of a best output", p, **options)
    value = trial.ask("log_partition", capability="log_partition" + _at(0.0), **options)
    if value is not MISSING and exact:
        trial.number("log_partition", trial.truth.best, value, trial.value_slack(), **options)
    entropy = trial.ask("entropy", capability="entropy" + _at(0.0), **options)
    if entropy is not MISSING:
        trial.number("entropy", 0.0, entropy, 0.0, **options)


def check_infer(trial: Trial, temperature: float) -> None:
    """Check value, expected counts, marginals by position and entropy at ε > 0."""
    options: dict[str, Any] = {"temperature": temperature}
    right, mean = trial.truth.infer(temperature)
    answer = trial.ask("infer", **options)
    if answer is not MISSING:
        trial.number("infer: value", right, answer[0], trial.value_slack(), **options)
        slack = trial.mean_slack(temperature)
        trial.blocks("infer: gradient", mean, answer[1], slack, **options)
    value = trial.ask("log_partition", **options)
    if value is not MISSING:
        trial.number("log_partition", right, value, trial.value_slack(), **options)
    marginals = trial.ask("marginals", **options)
    if marginals is not MISSING:
        _check_marginals(trial, mean, marginals, temperature)
    entropy = trial.ask("entropy", **options)
    if entropy is not MISSING:
        # H = (value − ⟨θ, p⟩) / ε: rounding in p is multiplied by the scores.
        ratio = trial.truth.size / temperature
        slack = 10 * trial.mean_slack(temperature) + 1e-15 * ratio**2
        trial.number("entropy", trial.truth.entropy(temperature), entropy, slack, **options)


def _check_marginals(
    trial: Trial, mean: dict[str, Array], marginals: dict[str, Array], temperature: float
) -> None:
    """Check marginals by position: a shared block has additional leading axes."""
    expected = dict(mean)
    if isinstance(marginals, dict) and set(marginals) == set(mean):
        shapes = {name: np.shape(marginals[name]) for name in mean}
        if any(shapes[name] != mean[name].shape for name in mean):
            spread: dict[str, Any] = {
                name: np.broadcast_to(a, shapes[name])
                if shapes[name][max(len(shapes[name]) - a.ndim, 0) :] == a.shape
                else a
                for name, a in trial.scores.items()
            }
            anchored = enumerate_outputs(
                trial.structure, {**spread, **trial.truth.topology}, outputs=trial.truth.outputs
            )
            expected = anchored.infer(temperature)[1]
    slack = trial.mean_slack(temperature)
    trial.blocks("marginals", expected, marginals, slack, temperature=temperature)


def check_gradient(
    trial: Trial, temperature: float, rng: np.random.Generator, coordinates: int = 12
) -> None:
    """Check the gradient of infer against finite differences of its value, at some parts."""
    options: dict[str, Any] = {"temperature": temperature}
    capability = "infer" + _at(temperature)
    if capability in trial.report.missing:
        return
    _, p = trial.ask("infer", capability=capability, **options)
    most = float(trial.truth.parts.max(initial=1.0))
    size = trial.truth.size
    if temperature > 0:
        step = 1e-4 * temperature
        slack = 1e-6 + (1e-4) ** 2 * most**3 + 1e-14 * size / step
    else:
        # The maximum is linear around the scores only if the best output leads clearly.
        step = 1e-7 * max(1.0, size)
        slack = 1e-5
        ranked = np.sort(trial.truth.values[np.isfinite(trial.truth.values)])
        if len(ranked) > 1 and ranked[-1] - ranked[-2] < 10 * step * most:
            return
    places = [
        (name, int(i)) for name, a in trial.scores.items() for i in np.flatnonzero(np.isfinite(a))
    ]
    topology = trial.truth.topology
    picks = rng.permutation(len(places))[:coordinates]
    for name, i in (places[int(c)] for c in picks):
        ends = []
        for sign in (1.0, -1.0):
            moved = {k: a.copy() for k, a in trial.scores.items()}
            moved[name].flat[i] += sign * step
            ends.append(
                float(trial.structure.infer(temperature=temperature, **moved, **topology)[0])
            )
        slope = (ends[0] - ends[1]) / (2 * step)
        got = float(np.asarray(p[name]).flat[i])
        query = f"infer: gradient against finite differences, at {name}.flat[{i}]"
        trial.number(query, slope, got, slack, **options)
    trial.report.count("finite differences")
