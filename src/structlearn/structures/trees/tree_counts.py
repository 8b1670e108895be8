"""Exact numbers of trees: the matrix-tree theorem and Eisner's chart, modulo primes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from ... import _core
from ...array_types import Integers


def count_arborescences(ways: Integers, *, single_root: bool, threads: int = 1) -> int:
    """Return the sum over arborescences of the product of ``ways[h, m]`` over their arcs.

    Parameters
    ----------
    ways : (n + 1, n + 1) array of int
        The number of ways to have an arc: 0 if it is forbidden. The diagonal and column 0 are not
        read.

    Notes
    -----
    The determinant of the Laplacian (W. T. Tutte 1948), or of its variant with a row for the root
    if exactly one word may hang from it (T. Koo et al. 2007), modulo as many primes below 2²⁹ as
    the number of choices of heads requires: O(n³) each, O(n⁴ log n) in total.

    Examples
    --------
    >>> import numpy as np
    >>> [count_arborescences(np.ones((n + 1, n + 1), int), single_root=False) for n in range(1, 6)]
    [1, 3, 16, 125, 1296]
    """
    words = ways[1:, 1:].astype(np.int64)
    np.fill_diagonal(words, 0)
    root = ways[0, 1:].astype(np.int64)
    into = words.sum(axis=0) + (0 if single_root else root)
    laplacian = np.diag(into) - words
    if single_root:
        laplacian[0] = root
    # At most as many trees as choices of a head for each word.
    most = math.prod(int(x) for x in words.sum(axis=0) + root)
    return _from_residues(
        most, lambda primes: _core.determinants_modulo(laplacian, primes, threads)
    )


def count_projective(
    ways: Integers, pairs: npt.NDArray[np.bool_] | None, *, single_root: bool, threads: int = 1
) -> int:
    """Return the same sum over projective trees; ``pairs[h, s, m]``: which siblings are allowed.

    Examples
    --------
    >>> import numpy as np
    >>> [count_projective(np.ones((n + 1, n + 1), int), None, single_root=False) for n in (1, 2, 3)]
    [1, 3, 12]
    """
    n = len(ways) - 1
    counts = np.ascontiguousarray(ways, dtype=np.int64)
    choices = counts[:, 1:].copy()
    choices[np.arange(1, n + 1), np.arange(n)] = 0
    # At most as many shapes as ternary trees, each word with its most ways; or all choices.
    shapes = math.comb(3 * n, n) // (2 * n + 1)
    most = min(
        math.prod(map(int, choices.sum(axis=0))),
        shapes * math.prod(map(int, choices.max(axis=0))),
    )
    allowed = None if pairs is None else np.ascontiguousarray(pairs).view(np.uint8)
    return _from_residues(
        most,
        lambda primes: _core.projective_counts_modulo(
            counts, allowed, single_root, primes, threads
        ),
    )


def _from_residues(most: int, count: Callable[[list[int]], list[int]]) -> int:
    """Return the number up to ``most`` with these residues (Chinese remainder theorem)."""
    if most == 0:
        return 0
    primes: list[int] = []
    modulus = 1
    for prime in _primes():
        primes.append(prime)
        modulus *= prime
        if modulus > most:
            break
    value, modulus = 0, 1
    for prime, residue in zip(primes, count(primes), strict=True):
        digit = (residue - value) * pow(modulus, -1, prime) % prime
        value, modulus = value + modulus * digit, modulus * prime
    return value


def _primes() -> Iterator[int]:
    """Iterate over the primes below 2²⁹, the largest first."""
    sieve = np.ones(23171, dtype=bool)  # up to √2²⁹
    for p in range(3, 153, 2):
        sieve[p * p :: p] = False
    divisors = np.arange(3, len(sieve), 2)[sieve[3::2]]
    for candidate in range(2**29 - 1, 2**28, -2):
        if (candidate % divisors).all():
            yield candidate
