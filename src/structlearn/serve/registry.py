"""The models of a server: read whole into memory, and read again when their files change."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from typing import Any

from .. import _core
from ..exceptions import FileError
from ..io.container import kind_of_file, parse_container
from ..loading import TASKS, from_container, model_file
from .refusals import Refused

#: How a file of CRFsuite begins.
_CRFSUITE = b"lCRF"
_Signature = tuple[int, int, int]


class Held:
    """One version of a model: what answers, and what it was read from.

    Attributes
    ----------
    name : str
        As requests call it.
    model : object
        Of the library.
    task : str
        "tagger", "pipeline", ...; "estimator" for models of lists and dictionaries.
    version : str
        The checksum of the file: answers name it.
    size : int
        Bytes of the file.
    loaded : float
        When it was read, in seconds since 1970.
    """

    def __init__(self, name: str, model: Any, task: str, version: str, size: int) -> None:
        self.name, self.model, self.task = name, model, task
        self.version, self.size, self.loaded = version, size, time.time()

    def describe(self) -> dict[str, Any]:
        """Return what ``GET /v1/models`` says of it."""
        return {
            "name": self.name,
            "task": self.task,
            "kind": type(self.model).__name__,
            "version": self.version,
            "bytes": self.size,
            "loaded": round(self.loaded, 3),
            "calibrated": bool(getattr(self.model, "calibrated_", False)),
        }


def read_model(name: str, path: str) -> Held:
    """Return the model in a file.

    The file is read, not mapped: whatever becomes of it, the model stays as it was. Its checksum is
    compared, so that half of a file that is being written is refused.
    """
    path = model_file(path)
    content, version = _read(path)
    if content.startswith(_CRFSUITE):
        from ..io import read_crfsuite

        model: Any = read_crfsuite(path)
        return Held(name, model, "estimator", version, len(content))
    description, tensors = parse_container(path, memoryview(content))
    task = _task(path, description)
    model = from_container(path, description, tensors)
    if task == "pipeline":
        model("Warm up.")  # imports what it needs; the first request should not wait for that
    return Held(name, model, task, version, len(content))


def _read(path: str) -> tuple[bytes, str]:
    """Return the content of a file, and its checksum."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise FileError(path, (error.strerror or str(error)).lower()) from None
    return content, f"{_core.checksum([content]):016x}"


def _task(path: str, description: Mapping[str, Any]) -> str:
    """Return the task of a model file; refuse those that are not of text."""
    task = description.get("task")
    if task in ("words", "word lattice"):
        raise FileError(path, "structlearn serve labels tokens, and a model of words cuts text")
    if task not in TASKS or task == "segmenter":
        raise FileError(path, f"{kind_of_file(description)}; structlearn serve has models of text")
    return str(task)


class Registry:
    """The models by name, each in the version that its file had last.

    Parameters
    ----------
    paths : dict of str to str
        Files by name.
    """

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths = {name: model_file(path) for name, path in paths.items()}
        self._lock = threading.Lock()
        self._held: dict[str, Held] = {}
        #: What was seen of the files when they were read, and when they were looked at last.
        self._read: dict[str, _Signature | None] = {}
        self._seen: dict[str, _Signature | None] = {}

    def load(self) -> None:
        """Read all models; a file that cannot be read raises FileError."""
        for name, path in self._paths.items():
            signature = _signature(path)
            self._held[name] = read_model(name, path)
            self._read[name] = self._seen[name] = signature

    def check(self) -> None:
        """Raise FileError if a file is not a model that can be served; only heads are looked at."""
        for path in self._paths.values():
            content, _ = _read(path)
            if not content.startswith(_CRFSUITE):
                _task(path, parse_container(path, memoryview(content))[0])

    def get(self, name: str | None) -> Held:
        """Return a model; without a name the only one."""
        with self._lock:
            if name is None:
                if len(self._held) == 1:
                    return next(iter(self._held.values()))
                raise Refused(422, f"model must name one of {', '.join(self._held)}")
            held = self._held.get(name)
        if held is None:
            raise Refused(
                404, f"there is no model {name!r:.80}; there are {', '.join(self._paths)}"
            )
        return held

    def all(self) -> list[Held]:
        """Return all models."""
        with self._lock:
            return list(self._held.values())

    def changed(self) -> list[str]:
        """Return the models whose files have changed since they were read, and change no more.

        A file that was different a moment ago is still being written.
        """
        names = []
        for name, path in self._paths.items():
            signature = _signature(path)
            steady = signature == self._seen[name]
            self._seen[name] = signature
            if signature is not None and steady and signature != self._read[name]:
                names.append(name)
        return names

    def reload(self, name: str) -> Held:
        """Read a model again; if that fails, the version before stays and FileError is raised."""
        path = self._paths[name]
        self._read[name] = _signature(path)
        held = read_model(name, path)
        with self._lock:
            self._held[name] = held
        return held


def _signature(path: str) -> _Signature | None:
    """Return what tells versions of a file apart; None: there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
