"""hmmlearn's compiled loops, called directly without its Python layers.

They take probabilities for the start and the transitions and, in the logarithmic variants, take the
logarithm of the whole table again in every call; that is how the library works, and the benchmark
also reports a figure without it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hmmlearn import _hmmc

__all__ = ["forward_backward_log", "forward_backward_scaling", "viterbi"]

Array = npt.NDArray[np.float64]


def viterbi(label: list[Array], start: Array, probability: Array) -> list[npt.NDArray[np.int64]]:
    """Return the best path of each sequence; ``label`` are log-likelihoods of frames."""
    native = _hmmc.viterbi
    return [native(start, probability, scores)[1] for scores in label]


def forward_backward_scaling(
    likelihood: list[Array], start: Array, probability: Array
) -> list[tuple[float, Array, Array]]:
    """Return (log-likelihood, posteriors, expected transitions), by normalised exponentials.

    Parameters
    ----------
    likelihood : list of (L, K)
        Likelihoods of frames, exponentials already taken.
    """
    results = []
    for frames in likelihood:
        value, forward, scale = _hmmc.forward_scaling(start, probability, frames)
        backward = _hmmc.backward_scaling(start, probability, frames, scale)
        posterior = forward * backward
        posterior /= posterior.sum(axis=1, keepdims=True)
        pairs = _hmmc.compute_scaling_xi_sum(forward, probability, backward, frames)
        results.append((value, posterior, pairs))
    return results


def forward_backward_log(
    label: list[Array], start: Array, probability: Array
) -> list[tuple[float, Array, Array]]:
    """Return the same in logarithms, hmmlearn's default."""
    results = []
    for scores in label:
        value, forward = _hmmc.forward_log(start, probability, scores)
        backward = _hmmc.backward_log(start, probability, scores)
        posterior = np.exp(forward + backward - value)
        log_pairs = _hmmc.compute_log_xi_sum(forward, probability, backward, scores)
        results.append((value, posterior, np.exp(log_pairs)))
    return results
