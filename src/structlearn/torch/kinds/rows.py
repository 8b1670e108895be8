"""Rows of a batch that have positions. Those without have one output, of score 0, without parts.

The library's structures know no examples of that kind: such rows are left out of what it is asked.
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
    """Let errors name the row of a batch where the library counts the filled ones."""
    try:
        yield
    except ValueError as error:
        message = re.sub(r"^example (\d+)", lambda m: f"example {rows[int(m[1])]}", str(error))
        error.args = (message, *error.args[1:])
        raise
