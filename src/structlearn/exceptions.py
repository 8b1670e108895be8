"""The errors and warnings of the library; each says what was wrong, where, and what to do."""

from __future__ import annotations

from ._core import InfeasibleError

__all__ = ["CapabilityError", "ConvergenceWarning", "InfeasibleError"]


class CapabilityError(ValueError):
    """A structure was asked for what mathematics (or its author) does not give it.

    The message names what does work instead.
    """


class ConvergenceWarning(UserWarning):
    """A learner stopped before its certificate reached the tolerance."""
