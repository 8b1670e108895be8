"""Numbers of threads: ``n_jobs``, and limits of BLAS."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

#: More threads than machines have.
_MOST_THREADS = 1024


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs`` (None: 1, −1: all cores).

    At most 1024, because each thread takes memory even when idle.
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}")
    if n_jobs > 0:
        return min(int(n_jobs), _MOST_THREADS)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) + 1 + int(n_jobs))


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread, so that sums do not depend on the number of threads."""
    if "numpy" not in sys.modules:
        return nullcontext()  # no BLAS library is loaded yet
    limits: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(
        limits=1, user_api="blas"
    )
    return limits


@functools.lru_cache(maxsize=1)
def _libraries(n_modules: int) -> Any:
    """Return a controller of the BLAS libraries loaded so far.

    The search takes as long as a small fit, so it is repeated only after further imports.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def warn_of_one_thread(
    who: str, n_jobs: int | None, *, structure: bool = True, stacklevel: int
) -> None:
    """Warn that ``n_jobs`` has no effect.

    Parameters
    ----------
    structure : bool
        Whether the whole structure runs on one thread, not only one of its queries.
    """
    help_ = (
        ". A structure that may be asked by several threads at once, and releases the "
        "interpreter lock while it searches, says so by runs_on_threads = True"
    )
    warnings.warn(
        f"n_jobs={n_jobs} has no effect: {who} is written in Python, and runs on one "
        f"thread{help_ if structure else ''}",
        UserWarning,
        stacklevel=stacklevel + 1,
    )
