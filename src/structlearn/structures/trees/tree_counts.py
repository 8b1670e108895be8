"""Exact numbers of trees: the matrix-tree theorem modulo primes, Eisner's chart with integers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["count_arborescences", "count_projective"]

Integers = npt.NDArray[np.int64]


def count_arborescences(ways: Integers, *, single_root: bool) -> int:
    """Return the sum over arborescences of the product of ``ways[h, m]`` over their arcs.

    Parameters
    ----------
    ways : (n + 1, n + 1) array of int
        In how many ways an arc can be had: 0 where it is forbidden. The diagonal and column 0 are
        not read.

    Notes
    -----
    det of the Laplacian (W. T. Tutte 1948), of the one with a row for the root where exactly one
    word hangs from it (T. Koo et al. 2007), modulo as many primes below 2³¹ as the
    number of choices of heads asks for: O(n³) each, in all O(n⁴ log n).

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
    # No more trees than choices of a head for each word.
    most = math.prod(int(x) for x in words.sum(axis=0) + root)
    if most == 0:
        return 0
    value, modulus = 0, 1
    for prime in _primes():
        digit = (_determinant(laplacian, prime) - value) * pow(modulus, -1, prime) % prime
        value, modulus = value + modulus * digit, modulus * prime
        if modulus > most:
            return value
    raise AssertionError


def _primes() -> Iterator[int]:
    """Iterate over the primes below 2³¹, the largest first."""
    sieve = np.ones(46342, dtype=bool)  # up to √2³¹
    for p in range(3, 216, 2):
        sieve[p * p :: p] = False
    small = np.arange(3, len(sieve), 2)[sieve[3::2]]
    for candidate in range(2**31 - 1, 2**30, -2):
        if (candidate % small).all():
            yield candidate


def _determinant(matrix: Integers, prime: int) -> int:
    """Return the determinant modulo a prime below 2³¹, by Gaussian elimination."""
    a = matrix % prime
    value = 1
    for k in range(len(a)):
        pivots = np.flatnonzero(a[k:, k])
        if not len(pivots):
            return 0
        if pivots[0]:
            a[[k, k + int(pivots[0])]] = a[[k + int(pivots[0]), k]]
            value = -value
        pivot = int(a[k, k])
        value = value * pivot % prime
        factors = a[k + 1 :, k] * pow(pivot, -1, prime) % prime
        a[k + 1 :, k:] = (a[k + 1 :, k:] - factors[:, np.newaxis] * a[k, k:] % prime) % prime
    return value % prime


def count_projective(
    ways: Integers, pairs: npt.NDArray[np.bool_] | None, *, single_root: bool
) -> int:
    """Return the same sum over projective trees; ``pairs[h, s, m]`` says which siblings may be.

    Examples
    --------
    >>> import numpy as np
    >>> [count_projective(np.ones((n + 1, n + 1), int), None, single_root=False) for n in (1, 2, 3)]
    [1, 3, 12]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        approximate = _chart(ways, pairs, single_root, np.float64)
    if approximate < 2**53:  # floating point counts exactly so far
        return int(approximate)
    return int(_chart(ways, pairs, single_root, object))


def _chart(
    ways: Integers, pairs: npt.NDArray[np.bool_] | None, single_root: bool, dtype: Any
) -> Any:
    size = len(ways)
    arc = ways.astype(dtype)
    right, left, arc_right, arc_left, between = (
        np.zeros((size, size), dtype=dtype) for _ in range(5)
    )
    for i in range(size - 1, -1, -1):
        right[i, i] = left[i, i] = 1
        for j in range(i + 1, size):
            between[i, j] = right[i, i:j] @ left[i + 1 : j + 1, j]
            first = last = between[i, j]
            if pairs is not None:
                inner = slice(i + 1, j)
                first = left[i + 1, j] * int(pairs[i, i, j]) + (
                    (arc_right[i, inner] * pairs[i, inner, j]) @ between[inner, j]
                )
                last = right[i, j - 1] * int(pairs[j, j, i]) + (
                    (between[i, inner] * pairs[j, inner, i]) @ arc_left[inner, j]
                )
            arc_right[i, j] = first * arc[i, j]
            right[i, j] = arc_right[i, i + 1 : j + 1] @ right[i + 1 : j + 1, j]
            if i > 0:
                arc_left[i, j] = last * arc[j, i]
                left[i, j] = left[i, i:j] @ arc_left[i:j, j]
    if not single_root:
        return right[0, -1]
    root = arc[0, 1:] if pairs is None else arc[0, 1:] * pairs[0, 0, 1:]
    return (root * left[1, 1:] * right[1:, -1]).sum()
