"""Checks of samples: legal, repeatable, and with the right frequencies."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from ..array_types import Array
from ..structures.canonical import canonical
from .best import is_exact
from .trial import MISSING, Trial

#: A correct sampler fails a comparison with probability about exp(−30), and always or never, since
#: the seeds are fixed.
_LOG_RISK = 30.0


def check_sample(trial: Trial, temperature: float, n: int, seed: int) -> None:
    """Check that draws are legal, the same for the same seed, and follow exp(score/ε)."""
    options: dict[str, Any] = {"temperature": temperature, "random_state": seed}
    capability = "sample" if temperature > 0 else "sample at temperature 0"
    drawn = trial.ask("sample", n, capability=capability, **options)
    if drawn is MISSING:
        return
    if len(drawn) != n:
        trial.fail(f"sample({n})", f"{n} outputs", len(drawn), **options)
    outputs = [canonical(y) for y in drawn]
    tally = np.zeros(len(trial.truth.outputs))
    examples = {canonical(y): y for y in drawn}
    for y, times in Counter(outputs).items():
        row = trial.row(f"sample({n})", examples[y], **options)
        tally[row] += times
    p = trial.truth.probabilities(temperature)
    if temperature == 0:
        if is_exact(trial) and (tally[p == 0] > 0).any():
            trial.fail(f"sample({n})", "best outputs only", outputs[:5], **options)
        return
    statistic, bound = _chi_square(tally, p)
    if statistic > bound:
        trial.fail(
            f"sample({n}): frequencies, chi-square at most {bound:.1f}", n * p, tally, **options
        )
    _check_seeds(trial, min(n, 50), temperature, seed)


def _check_seeds(trial: Trial, n: int, temperature: float, seed: int) -> None:
    """Check that the same seed draws the same outputs, and another seed others."""
    first, again, other = (
        [canonical(y) for y in trial.ask("sample", n, temperature=temperature, random_state=state)]
        for state in (seed, seed, seed + 1)
    )
    options: dict[str, Any] = {"temperature": temperature, "random_state": seed}
    if first != again:
        trial.fail(f"sample({n})", f"the same draw again: {first}", again, **options)
    if first == other and n * trial.truth.entropy(temperature) > 40:
        trial.fail(f"sample({n})", "another draw for another random_state", "the same", **options)


def _chi_square(tally: Array, p: Array) -> tuple[float, float]:
    """Return Pearson's statistic, with rare outputs pooled, and a bound beyond chance.

    For k degrees of freedom, P(χ² ≥ k + 2√(kx) + 2x) ≤ exp(−x) (Laurent & Massart 2000, lemma 1).
    """
    n = tally.sum()
    expected = n * p
    common = expected >= 10
    cells = list(zip(tally[common], expected[common], strict=True))
    rest = (float(tally[~common].sum()), float(expected[~common].sum()))
    if rest[1] >= 10 or not cells:
        cells.append(rest)
    else:
        cells[-1] = (cells[-1][0] + rest[0], cells[-1][1] + rest[1])
    k = max(len(cells) - 1, 1)
    statistic = sum((seen - due) ** 2 / due for seen, due in cells)
    return statistic, k + 2 * math.sqrt(k * _LOG_RISK) + 2 * _LOG_RISK
