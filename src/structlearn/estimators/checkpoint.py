"""Checkpoints: a training that was killed goes on, and ends as if nothing had happened.

The file: a line with the format's version, a digest of all that follows, the length of a header,
the header (JSON), the arrays one after another, little-endian. It is written under another name and
renamed when whole, so that there is a whole one at any moment; nothing in it is ever run.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import time
import warnings
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import CheckpointWarning, FileError
from ..learners.base import Progress, Settings, Snapshot
from ..learners.snapshot import pack, unpack
from ..problem import Problem, problem_digest
from ..text.files import replaced

__all__ = ["Checkpoint", "check_path", "identity"]

#: Seconds between two checkpoints, at least,
EVERY = 30.0
#: and the most of the time that writing them may take.
SHARE = 0.05

_FORMAT = b"structlearn checkpoint "
_FIRST = _FORMAT + b"1\n"
_DIGEST = 16


def check_path(path: Any) -> None:
    """Refuse what cannot be the name of a checkpoint."""
    if path is not None and not (isinstance(path, (str, os.PathLike)) and os.fspath(path)):
        raise ValueError(f"checkpoint must be None or the name of a file, got {path!r}")


class Checkpoint:
    """The checkpoint of one training.

    Parameters
    ----------
    path : str or path
        The file; only this training may use it.
    belongs_to : dict
        What the training is of (:func:`identity`): a file of another one is refused.
    """

    def __init__(self, path: str | os.PathLike[str], belongs_to: dict[str, Any]) -> None:
        self.path = os.fspath(path)
        self._belongs_to = belongs_to
        self._late: tuple[Snapshot, list[Any], int] | None = None
        self._due = time.perf_counter() + EVERY
        folder = os.path.dirname(os.path.realpath(self.path))
        if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
            raise FileError(self.path, "cannot be written: no folder that can be written to")
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise FileError(self.path, "cannot be a checkpoint: it is not a file")
        self._try()

    def _try(self) -> None:
        """Write a few bytes beside the file: what cannot be done should be known at once."""
        trial = f"{os.path.realpath(self.path)}.{os.getpid()}.part"
        try:
            with open(trial, "wb") as file:
                file.write(_FIRST)
        except OSError as error:
            raise FileError(self.path, f"cannot be written: {error.strerror or error}") from None
        finally:
            with suppress(OSError):
                os.unlink(trial)

    def attach(self, progress: Progress) -> bool:
        """Watch a training; where there is a file, make it go on. Return whether there is."""
        self._progress = progress
        progress.keep = self._keep
        if not os.path.exists(self.path):
            return False
        header, arrays = _read(self.path)
        try:
            whose = header["belongs_to"]
            state, watching = unpack(header["state"], arrays)
            records, seconds = header["records"], float(header["seconds"])
            if not (isinstance(whose, dict) and isinstance(state, dict)):
                raise ValueError("its header is another program's")
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(self.path, str(error)) from None
        # By way of JSON, as the other one was: the same numbers, lists for tuples.
        own = json.loads(json.dumps(self._belongs_to))
        others = [key for key in {**whose, **own} if whose.get(key) != own.get(key)]
        if others:
            told = ", ".join(
                key if key == "data" else f"{key} was {whose.get(key)!r} and is {own.get(key)!r}"
                for key in others
            )
            raise FileError(
                self.path,
                f"the checkpoint of another training ({told}); delete the file to begin anew, or "
                "give another name",
            )
        progress.resume(state, records, seconds)
        for callback, known in zip(progress.callbacks, watching, strict=False):
            if known is not None and hasattr(callback, "load"):
                callback.load(known)
        return True

    def interrupted(self) -> None:
        """Write what is still whole after Ctrl-C; otherwise the last file stays."""
        if self._late is not None:
            self._write(*self._late)

    def remove(self) -> None:
        """Remove the file, and what a process left that was killed while it wrote."""
        halves = glob.glob(glob.escape(os.path.realpath(self.path)) + ".[0-9]*.part")
        for name in (self.path, *halves):
            with suppress(FileNotFoundError):
                os.unlink(name)

    def _keep(self, state: Snapshot, lasting: bool) -> None:
        done = len(self._progress.records)
        callbacks = self._progress.callbacks
        watching = [c.dump() if hasattr(c, "dump") else None for c in callbacks]
        self._late = (state, watching, done) if lasting else None
        begin = time.perf_counter()
        if begin < self._due:
            return
        self._write(state, watching, done)
        end = time.perf_counter()
        self._due = end + max(EVERY, (end - begin) / SHARE)

    def _write(self, state: Snapshot, watching: list[Any], done: int) -> None:
        kept = state()
        if kept is None:
            return
        text, arrays = pack([kept, watching])
        records, _ = pack(self._progress.records[:done])
        little = [a.astype(a.dtype.newbyteorder("<"), copy=False) for a in arrays]
        header = json.dumps(
            {
                "belongs_to": self._belongs_to,
                "records": json.loads(records),
                "seconds": self._progress.seconds,
                "state": text,
                "arrays": [[a.dtype.str, list(a.shape)] for a in little],
            }
        ).encode()
        length = len(header).to_bytes(8, "little")
        content: list[Any] = [_flat(a) for a in little]
        digest = hashlib.blake2b(digest_size=_DIGEST)
        for piece in (length, header, *content):
            digest.update(piece)
        try:
            with replaced(self.path) as file:
                for part in (_FIRST, digest.digest(), length, header, *content):
                    file.write(part)
        except FileError as error:  # a full disk, say: what was learned is worth more than the file
            warnings.warn(
                f"no checkpoint after iteration {done}: {error}; the training goes on",
                CheckpointWarning,
                stacklevel=2,
            )
        self._late = None


def _flat(array: npt.NDArray[Any]) -> Any:
    """Return the bytes of an array."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _damaged(path: str, reason: str) -> FileError:
    return FileError(path, f"not a checkpoint, or damaged: {reason}; delete the file to begin anew")


def _read(path: str) -> tuple[dict[str, Any], list[npt.NDArray[Any]]]:
    """Return header and arrays of a file, all of it checked."""
    try:
        with open(path, "rb") as file:
            whole = memoryview(file.read())
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from None
    if whole[: len(_FORMAT)] != _FORMAT or len(whole) < len(_FIRST):
        raise _damaged(path, "it does not begin as one")
    if whole[: len(_FIRST)] != _FIRST:
        raise FileError(
            path, "a checkpoint of another version of structlearn; delete the file to begin anew"
        )
    begin = len(_FIRST) + _DIGEST
    stored, rest = whole[len(_FIRST) : begin], whole[begin:]
    if hashlib.blake2b(rest, digest_size=_DIGEST).digest() != stored:
        raise _damaged(path, "its digest does not agree with its content")
    try:
        at = 8 + int.from_bytes(rest[:8], "little")
        header = json.loads(bytes(rest[8:at]))
        arrays = []
        for name, shape in header["arrays"]:
            kind = np.dtype(name)
            size = prod(shape) * kind.itemsize
            if kind.kind not in "fiub" or size < 0 or at + size > len(rest):
                raise ValueError("an array lies outside of it")
            flat = np.frombuffer(rest[at : at + size], dtype=kind)
            arrays.append(flat.astype(kind.newbyteorder("="), copy=True).reshape(shape))
            at += size
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise _damaged(path, str(error)) from None
    return header, arrays


def identity(
    problem: Problem, solver: str, settings: Settings, options: Any, *, latent: str, start: Any
) -> dict[str, Any]:
    """Return all that decides how a training ends, as JSON can hold it.

    The number of threads is none of it. Of ``start``, weights or states, and of the problem there
    is a digest.
    """
    digest = hashlib.blake2b(problem_digest(problem).encode(), digest_size=_DIGEST)
    text, arrays = pack(start)
    digest.update(text.encode())
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(_flat(array))
    return {
        "solver": solver,
        **vars(settings),
        **{k: v for k, v in vars(options).items() if k not in ("random_state", "beam")},
        "beam": None if options.beam is None else list(vars(options.beam).values()),
        "random_state": _seed(options.random_state),
        "latent": latent,
        "n_examples": problem.n_examples,
        "n_weights": problem.n_weights,
        "data": digest.hexdigest(),
    }


def _seed(random_state: Any) -> Any:
    """Return the seed, or the kind of a generator: where it stands is part of the checkpoint."""
    if random_state is None or isinstance(random_state, (int, np.integer)):
        return None if random_state is None else int(random_state)
    kind = getattr(random_state, "bit_generator", random_state)
    return f"{type(random_state).__name__} of {type(kind).__name__}"
