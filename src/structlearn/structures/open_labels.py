"""Open gold labels: unknown ones, and sets of possible ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def is_open(label: Any) -> bool:
    """Tell whether a gold label is open: None, an index below 0, or a set of indices."""
    return label is None or isinstance(label, (set, frozenset)) or label < 0


def allowed_labels(label: Any, n_labels: int) -> npt.NDArray[np.bool_]:
    """Return which labels a gold label allows: itself, those of a set, or all."""
    if isinstance(label, (set, frozenset)):
        picked = [int(k) for k in label]
        if not picked:
            raise ValueError("the set of allowed labels is empty")
    elif is_open(label):
        return np.ones(n_labels, dtype=bool)
    else:
        picked = [int(label)]
    if min(picked) < 0 or max(picked) >= n_labels:
        raise ValueError(f"labels must be among 0..{n_labels - 1}: {sorted(picked)}")
    allowed = np.zeros(n_labels, dtype=bool)
    allowed[picked] = True
    return allowed
