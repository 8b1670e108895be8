"""What a check found: the summary it returns, and the message of a failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..printing import joined_lines


@dataclass
class Report:
    """Summary of a structure's check.

    Attributes
    ----------
    structure : str
        Its ``repr``.
    n_inputs, n_outputs : int
        How many inputs were tried, and how many outputs they have together.
    checked : dict of str to int
        How often each query was compared with enumeration.
    missing : dict of str to str
        Queries that the structure does not answer, with the reason.
    """

    structure: str
    n_inputs: int = 0
    n_outputs: int = 0
    checked: dict[str, int] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def count(self, query: str) -> None:
        """Count one more comparison of a query."""
        self.checked[query] = self.checked.get(query, 0) + 1

    def __str__(self) -> str:
        lines = [f"{self.structure}: {self.n_inputs} inputs, {self.n_outputs} outputs enumerated"]
        lines += [f"  {query}: right {n} times" for query, n in self.checked.items()]
        lines += [f"  {query}: missing ({reason})" for query, reason in self.missing.items()]
        return joined_lines(lines)


def describe(value: Any) -> str:
    """Return an answer or scores as text that can be pasted back into Python."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k!r}: {describe(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (tuple, list)) and any(isinstance(v, np.ndarray) for v in value):
        return "(" + ", ".join(describe(v) for v in value) + ")"
    if isinstance(value, np.ndarray):
        with np.printoptions(threshold=1000, precision=17, floatmode="unique", linewidth=100):
            return repr(value)
    return repr(value)
