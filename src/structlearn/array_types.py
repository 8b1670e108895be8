"""Types of NumPy arrays, for annotations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: Double-precision numbers: an array of any rank, and a vector.
Array = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]
