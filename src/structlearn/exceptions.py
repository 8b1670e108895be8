"""The errors and warnings of the library; each says what was wrong, where, and what to do."""

from __future__ import annotations

import os

from ._core import InfeasibleError

__all__ = [
    "CapabilityError",
    "CheckpointWarning",
    "ConflictError",
    "ConvergenceWarning",
    "FileError",
    "InexactInferenceWarning",
    "InfeasibleError",
    "LineError",
    "NotFittedError",  # noqa: F822 (found when it is asked for)
    "NotSubmodularError",
    "UnboundedError",
]

#: The message of KeyboardInterrupt after a training that keeps its weights.
INTERRUPTED = "training was interrupted; the model holds the weights reached so far"

# Defined by the core, where a class cannot have a docstring.
InfeasibleError.__doc__ = "No legal output is left: every output scores −∞, or breaks a constraint."


class CapabilityError(ValueError):
    """The structure does not support this query, for mathematical reasons or by its author's will.

    The message names alternatives.
    """


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; training continues."""


class ConflictError(InfeasibleError):
    """Constraints contradict each other, so that no output is left.

    Attributes
    ----------
    conflict : list of str
        Names of constraints that contradict each other. It is minimal: without any one of them, the
        others do not, unless the message says that there was no time to reduce it.
    """

    def __init__(self, message: str, conflict: list[str]) -> None:
        super().__init__(message)
        self.conflict = conflict

    def __reduce__(self) -> tuple[type, tuple[str, list[str]]]:
        return type(self), (str(self), self.conflict)


class ConvergenceWarning(UserWarning):
    """A learner stopped before its certificate reached the tolerance."""


class InexactInferenceWarning(UserWarning):
    """Inference did not find the best outputs; the message says which guarantee is lost."""


class FileError(ValueError):
    """A file cannot be read, written or used; the message names it, and the line if known.

    Attributes
    ----------
    path : str
        The file.
    line : int or None
        The line, from 1.
    reason : str
        The error, without the place.
    """

    def __init__(self, path: str, reason: str, line: int | None = None) -> None:
        name = "standard input" if path == "-" else path
        where = f"{name}, line {line}" if line else name
        super().__init__(f"{where}: {reason}")
        self.path = path
        self.line = line
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None]]:
        return type(self), (self.path, self.reason, self.line)


class _NotFittedError(ValueError, AttributeError):
    """A model was used before it was fitted."""


_NotFittedError.__name__ = _NotFittedError.__qualname__ = "NotFittedError"


def __getattr__(name: str) -> type[ValueError]:
    """Return ``NotFittedError``: scikit-learn's, or one like it if that is not installed."""
    if name != "NotFittedError":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return _NotFittedError
    return NotFittedError  # type: ignore[no-any-return]


class NotSubmodularError(ValueError):
    """A cut was demanded, and a pair's scores cannot be represented by one."""


class UnboundedError(ValueError):
    """A program has outputs with arbitrarily high scores; the message names the growing parts."""


class MissingFunctionError(ValueError):
    """Templates call a function that was not given."""


class LineError(ValueError):
    """A line of a text cannot be read; raised by the native readers, which do not know the file."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}" if line else reason)
        self.line = line
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[int, str]]:
        return type(self), (self.line, self.reason)

    def in_file(self, path: str, advice: str = "") -> FileError:
        """Return the same error with the name of the file.

        ``advice`` answers a reason that ends with a question such as "Is this running text?": the
        remedy depends on the purpose of reading.
        """
        reason = f"{self.reason} {advice}" if self.reason.endswith("?") else self.reason
        # One file of a folder may be named already, and may be all that is read.
        reason = reason.removeprefix(f"{os.path.basename(path)}, ")
        return FileError(path, reason.rstrip(), self.line)
