"""Checkpoints of pipelines: a folder of the stages that are finished."""

from __future__ import annotations

import glob
import hashlib
import io
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ...checks import check_path
from ...exceptions import CheckpointWarning, FileError
from ...fitting.checkpoint import check_same_training, check_writable
from ...io.container import read_container, write_container
from ...text.corpus import Corpus

#: The file that tells which training the stages belong to.
_TRAINING = "training"


class KeptStages:
    """The stages of one training that are kept in a folder.

    Parameters
    ----------
    folder : str or path, optional
        Made where it does not exist; None: nothing is kept.
    belongs_to : callable
        Returns what decides how the training ends, as JSON can hold it: a folder of another one is
        refused.
    """

    def __init__(self, folder: Any, belongs_to: Callable[[], dict[str, Any]]) -> None:
        check_path("checkpoint", folder)
        self._folder = None if folder is None else os.fspath(folder)
        if self._folder is None:
            return
        try:
            os.makedirs(self._folder, exist_ok=True)
        except OSError as error:
            reason = f"cannot be the folder of a checkpoint: {error.strerror or error}"
            raise FileError(self._folder, reason) from None
        check_writable(self._path(_TRAINING))
        own = {"kind": "checkpoint", **belongs_to()}
        whose = self.take(_TRAINING, lambda path: read_container(path, "checkpoint")[0])
        if whose is None:
            write_container(self._path(_TRAINING), own, {})
        else:
            check_same_training(self._folder, whose, own, "folder")

    @property
    def keeps(self) -> bool:
        """Whether there is a folder."""
        return self._folder is not None

    def _path(self, name: str) -> str:
        return os.path.join(self._folder or "", name)

    def take(self, name: str, read: Callable[[str], Any]) -> Any:
        """Return what a file of the folder has; None where there is none."""
        if self._folder is None or not os.path.exists(self._path(name)):
            return None
        try:
            return read(self._path(name))
        except FileError as error:
            reason = f"{error.reason}; delete the file to do this stage again"
            raise FileError(self._path(name), reason) from None

    def keep(self, name: str, write: Callable[[str], None]) -> None:
        """Write a file of the folder; where that fails, warn: what was learned is worth more."""
        if self._folder is not None:
            with self._warned(name):
                write(self._path(name))

    def checkpoint(self, name: str) -> str | None:
        """Return the checkpoint of a stage that takes long; None where there can be none."""
        if self._folder is not None:
            with self._warned(name):
                check_writable(self._path(name))
                return self._path(name)
        return None

    def close(self) -> None:
        """Remove what processes left that were killed while they wrote."""
        if self._folder is not None:
            for half in glob.glob(os.path.join(glob.escape(self._folder), "*.[0-9]*.part")):
                with suppress(OSError):
                    os.unlink(half)

    @contextmanager
    def _warned(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileError as error:
            reason = f"no checkpoint {name}: {error}; training continues"
            warnings.warn(reason, CheckpointWarning, stacklevel=4)


def corpora_digest(*corpora: Corpus | None) -> str:
    """Return a name for corpora: the same for the same sentences, another one for others."""
    digest = hashlib.blake2b(digest_size=16)
    for corpus in corpora:
        text = io.BytesIO()
        if corpus is not None:
            corpus._write(text)
        digest.update(f"{len(text.getvalue())};".encode() + text.getvalue())
    return digest.hexdigest()
