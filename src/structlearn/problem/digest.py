"""Digests of learning problems: equal for equal data, different otherwise."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..structures.base import Structure
from .problem import Problem


def problem_digest(problem: Problem) -> str:
    """Return a digest of everything that a problem's objective depends on except C, γ and ε.

    It covers every feature, topology, gold part, cost and weight of an example, the layout of the
    weights, kind and parameters of the structure, and the losses of some examples at random
    weights. It takes one pass over the data, at some 1 GB/s, and is the same in every process.
    """
    digest = hashlib.blake2b(digest_size=16)
    _add(digest, problem.specification())
    w = np.random.default_rng(0).normal(size=problem.n_weights)
    if problem.cone is not None:  # outside of the cone inference may be impossible
        w = problem.cone.project(w)
    margin = 0.0 if problem.zero_one_cost else 1.0  # that cost would need the second-best output
    for i in problem.probes:
        _add(digest, problem.loss(i, w, margin, 0.0)[0])
    return digest.hexdigest()


def _add(digest: Any, value: Any) -> None:
    """Feed a value: arrays with their shapes, lists and dictionaries with their sizes."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiubc":
        digest.update(f"array {value.dtype.str} {value.shape};".encode())
        digest.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8))
    elif isinstance(value, Structure):
        _add(digest, f"{type(value).__module__}.{type(value).__qualname__}")
        _add(digest, {k: v for k, v in vars(value).items() if k != "_core"})
    elif isinstance(value, Mapping):
        digest.update(f"mapping {len(value)};".encode())
        for key in sorted(value, key=str):
            _add(digest, str(key))
            _add(digest, value[key])
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        digest.update(f"sequence {len(value)};".encode())
        for item in value:
            _add(digest, item)
    elif value is None or isinstance(value, (bool, int, float, str, np.generic)):
        text = repr(value.item() if isinstance(value, np.generic) else value)
        digest.update(f"{len(text)} {text};".encode())
    else:  # a user's object: its type; its effect shows in the losses
        digest.update(f"object {type(value).__qualname__};".encode())
