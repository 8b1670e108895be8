"""The zero-one cost above temperature 0: every output but the gold one gains a factor exp(γ/ε)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..exceptions import CapabilityError
from ..structures.base import Structure
from ..structures.parts import Parts

#: The largest rounding error of loss / ε; above it the other outputs are summed alone.
_TOLERANCE = 1e-9
_ROUNDING = 8 * np.finfo(np.float64).eps


def zero_one_sums(
    structure: Structure,
    y: Any,
    theta: dict[str, Any],
    gold: float,
    known: Parts,
    *,
    margin: float,
    temperature: float,
) -> tuple[float, Parts]:
    """Return (loss, gradient by block), with R the odds against the gold output y:

        loss = ε log(1 + exp(γ/ε) R),   gradient = exp(γ/ε) R / (1 + exp(γ/ε) R) · (q − μ(y)),

    q the expected counts of the other outputs.

    Parameters
    ----------
    gold : float
        The score of y.
    known : dict of arrays
        μ(y).
    """
    eps = temperature
    value, p = structure.infer(temperature=eps, **theta)
    surprise = max(0.0, (value - gold) / eps)  # −log P(y), so that R = exp(surprise) − 1
    size = abs(value) + abs(gold)
    for name, counts in known.items():
        used = (counts != 0) | (p[name] != 0)
        size += float(np.abs(theta[name][used]) @ (np.abs(counts) + np.abs(p[name]))[used])
    # Rounding errors of the surprise, and of p, grow by this factor.
    others = -math.expm1(-surprise)  # the probability of the other outputs
    left = math.exp(-margin / eps) * (1.0 - others) + others
    factor = 1.0 / left if left > 0.0 else math.inf
    if _ROUNDING * (1.0 + size / eps) * factor > _TOLERANCE:
        try:
            value, q = structure.infer_others(y, temperature=eps, **theta)
        except CapabilityError:
            pass
        else:
            if value == -math.inf:
                return 0.0, {name: np.zeros_like(a) for name, a in known.items()}
            loss, share = _soft_plus((margin + value - gold) / eps)
            return eps * loss, {name: share * (q[name] - a) for name, a in known.items()}
    if others == 0.0:
        return 0.0, {name: np.zeros_like(a) for name, a in known.items()}
    loss, _ = _soft_plus(margin / eps + surprise + math.log(others))
    # share · (q − μ) = share / others · (p − μ)
    return eps * loss, {name: factor * (p[name] - a) for name, a in known.items()}


def _soft_plus(x: float) -> tuple[float, float]:
    """Return log(1 + exp(x)) and its derivative."""
    softplus = float(np.logaddexp(0.0, x))
    return softplus, math.exp(x - softplus)
