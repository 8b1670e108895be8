"""Checkpoints: a training that was killed goes on, and ends as if nothing had happened.

The file is a container as models are (:mod:`structlearn.io.container`), of the kind "checkpoint":
there is a whole one at any moment, damage is found, and nothing in it is ever run.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from ..exceptions import CheckpointWarning, FileError
from ..io.container import kind_of_file, read_container, write_container
from ..learners.base import Progress, Settings, Snapshot
from ..problem import Problem
from ..problem.digest import problem_digest
from .values import Reader, Writer

#: Seconds between two checkpoints, at least,
EVERY = 30.0
#: and the most of the time that writing them may take.
SHARE = 0.05

_DIGEST = 16


def check_writable(path: str) -> None:
    """Write a few bytes beside a file: what cannot be done should be known at once."""
    trial = f"{os.path.realpath(path)}.{os.getpid()}.part"
    try:
        with open(trial, "wb") as file:
            file.write(b"structlearn")
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            os.unlink(trial)


def check_same_training(
    path: str, whose: dict[str, Any], own: dict[str, Any], what: str = "file"
) -> None:
    """Refuse a checkpoint, a file or a folder, that belongs to another training."""
    # By way of JSON, as the other one was: the same numbers, lists for tuples.
    own = json.loads(json.dumps(own))
    others = [key for key in {**whose, **own} if whose.get(key) != own.get(key)]
    if others:
        told = ", ".join(
            key if key == "data" else f"{key} was {whose.get(key)!r} and is {own.get(key)!r}"
            for key in others
        )
        raise FileError(
            path,
            f"this is the checkpoint of another training run ({told}); delete the {what} to start "
            "again, or give another name",
        )


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
            raise FileError(
                self.path, "cannot be written: its folder does not exist or is not writable"
            )
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise FileError(self.path, "cannot be a checkpoint: it is not a regular file")
        check_writable(self.path)

    def attach(self, progress: Progress) -> bool:
        """Watch a training; where there is a file, make it go on. Return whether there is."""
        self._progress = progress
        progress.keep = self._keep
        if not os.path.exists(self.path):
            return False
        whose, state, watching, records, seconds = _read(self.path)
        check_same_training(self.path, whose, self._belongs_to)
        progress.resume(state, records, seconds)
        for callback, known in zip(progress.callbacks, watching, strict=False):
            if known is not None and hasattr(callback, "load"):
                callback.load(known)
        return True

    @contextmanager
    def resuming(self) -> Iterator[None]:
        """Turn what the file makes go wrong before the first iteration into an error that names it.

        The learners check the sizes of what they go on with, and do not know where it is from.
        """
        known = len(self._progress.records)
        try:
            yield
        except (
            ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError
        ) as error:  # fmt: skip
            if self._progress.saved is None or len(self._progress.records) > known:
                raise
            raise FileError(
                self.path,
                f"training cannot go on from this checkpoint ({error}); delete the file to start "
                "again",
            ) from error

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
        writer = Writer()
        description = {
            "kind": "checkpoint",
            "belongs_to": self._belongs_to,
            "records": writer.value(self._progress.records[:done]),
            "seconds": self._progress.seconds,
            "state": writer.value(kept),
            "watching": writer.value(watching),
        }
        try:
            write_container(self.path, description, writer.tensors)
        except FileError as error:  # a full disk, say: what was learned is worth more than the file
            warnings.warn(
                f"no checkpoint after iteration {done}: {error}; training continues",
                CheckpointWarning,
                stacklevel=2,
            )
        self._late = None


def _read(path: str) -> tuple[dict[str, Any], dict[str, Any], list[Any], list[Any], float]:
    """Return whose it is, the state, those of the callbacks, the records and the seconds."""
    try:
        description, tensors = read_container(path, "checkpoint")
        if description.get("kind") != "checkpoint":
            raise FileError(path, f"{kind_of_file(description)}, not a checkpoint")
        reader = Reader(path, tensors)
        names = ("state", "watching", "records")
        state, watching, records = (reader.value(description[name]) for name in names)
        whose, seconds = description["belongs_to"], float(description["seconds"])
        plain = isinstance(whose, dict) and isinstance(state, dict) and isinstance(watching, list)
        listed = isinstance(records, list) and all(
            isinstance(r, dict) and "loss" in r for r in records
        )
        if not (plain and listed):
            raise ValueError("its parts are inconsistent")
        reader.finish()
    except FileError as error:
        raise FileError(path, f"{error.reason}; delete the file to start again") from None
    except (LookupError, TypeError, ValueError, OverflowError, RecursionError) as error:
        reason = f"not a structlearn checkpoint, or damaged: {error}"
        raise FileError(path, f"{reason}; delete the file to start again") from None
    return whose, state, watching, records, seconds


def identity(
    problem: Problem, solver: str, settings: Settings, options: Any, *, latent: str, start: Any
) -> dict[str, Any]:
    """Return all that decides how a training ends, as JSON can hold it.

    The number of threads is not part of it. ``start`` (weights or states) and the problem are
    represented by a digest.
    """
    digest = hashlib.blake2b(problem_digest(problem).encode(), digest_size=_DIGEST)
    writer = Writer()
    digest.update(json.dumps(writer.value(start)).encode())
    for tensor in writer.tensors.values():
        digest.update(f"{tensor.dtype}{tensor.shape}".encode())
        digest.update(tensor.data)
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
