"""Rows of a batch that have positions.

A row without positions has a single output, with score 0 and no parts. The library's structures do
not allow such examples, so these rows are left out of its batches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import torch


def filled_rows(lengths: torch.Tensor) -> list[int]:
    """Return the numbers of the rows that have positions."""
    return [b for b, n in enumerate(lengths.tolist()) if n]


@contextmanager
def named_rows(rows: list[int]) -> Iterator[None]:
    """Make errors name the row of the batch, although the library counts only filled rows."""
    try:
        yield
    except ValueError as error:
        message = re.sub(r"^example (\d+)", lambda m: f"example {rows[int(m[1])]}", str(error))
        error.args = (message, *error.args[1:])
        raise
