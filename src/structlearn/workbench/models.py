"""The models that a page may ask: those named on the command line, uploads, and small ones.

A file is read as any model file is, by :func:`structlearn.load`; a page cannot name a path.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import warnings
from collections.abc import Callable
from typing import Any

from ..loading import load
from .requests import Refused

__all__ = ["Models"]

MOST_UPLOADS = 4
#: Bytes of an upload.
MOST_BYTES = 64 * 2**20


def _demo_data() -> Any:
    from ..datasets import make_treebank

    return make_treebank(200, random_state=0)


def _demo_tagger() -> Any:
    from ..tasks import Tagger

    bank = _demo_data()
    X = [[(w,) for w in s.words] for s in bank]
    return Tagger("pos", learner="crf", max_iter=30).fit(X, [s.tags for s in bank])


def _demo_parser() -> Any:
    from ..tasks import DependencyParser

    rows = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in _demo_data()]
    return DependencyParser(order=1, max_iter=4, hash_bits=17).fit(rows)


def _demo_constituency() -> Any:
    from ..tasks import ConstituencyParser

    return ConstituencyParser(max_iter=4).fit([s.brackets for s in _demo_data()])


class Models:
    """Models by name. Small ones are learned from the library's own sentences when first asked for.

    Parameters
    ----------
    paths : list of str
        Files named on the command line; one that cannot be read raises :class:`FileError`.
    """

    def __init__(self, paths: list[str] | None = None) -> None:
        self._lock = threading.Lock()
        self._models: dict[str, Any] = {}
        self._uploads: list[str] = []
        self._demos: dict[str, Callable[[], Any]] = {
            "demo tagger": _demo_tagger,
            "demo parser": _demo_parser,
            "demo constituency": _demo_constituency,
        }
        for path in paths or []:
            name = os.path.basename(path)
            while name in self._models:
                name += "'"
            self._models[name] = load(path)

    def names(self) -> list[str]:
        """Return the names, the user's own first."""
        with self._lock:
            return [*(m for m in self._models if m not in self._demos), *self._demos]

    def get(self, name: str) -> Any:
        """Return a model."""
        with self._lock:
            if name in self._models:
                return self._models[name]
            if name not in self._demos:
                raise Refused(f"there is no model {name!r}; there are {', '.join(self._models)}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._models[name] = self._demos[name]()
            return self._models[name]

    def upload(self, name: str, content: bytes) -> str:
        """Read a model file that a page sends; return the name it has from now on."""
        name = os.path.basename(name)[:60] or "model"
        handle, path = tempfile.mkstemp(suffix=".model")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            try:
                model = load(path)
            except ValueError as error:
                raise Refused(str(error).replace(path, name)) from None
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)
        with self._lock:
            while name in self._models or name in self._demos:
                name += "'"
            self._models[name] = model
            self._uploads.append(name)
            if len(self._uploads) > MOST_UPLOADS:
                del self._models[self._uploads.pop(0)]
        return name
