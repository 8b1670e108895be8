"""The models that a page may ask: files of the command line, uploads, packages, and small ones.

A file is read as any model file is, by :func:`structlearn.load`; a page cannot name a path.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import os
import tempfile
import threading
import warnings
from collections.abc import Callable
from typing import Any

from ..loading import load
from .requests import Refused

MOST_UPLOADS = 4
#: Bytes of an upload.
MOST_BYTES = 64 * 2**20


# The page shows these functions as the Python that does the same: they import by full names.


def demo_tagger() -> Any:
    from structlearn.datasets import make_treebank
    from structlearn.tasks import Tagger

    bank = make_treebank(200, random_state=0)
    X = [[(w,) for w in s.words] for s in bank]
    return Tagger("pos", learner="crf", max_iter=30).fit(X, [s.tags for s in bank])


def demo_parser() -> Any:
    from structlearn.datasets import make_treebank
    from structlearn.tasks import DependencyParser

    bank = make_treebank(240, random_state=0)
    rows = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in bank]
    # The last sentences are held out: they set the temperature of the probabilities.
    return DependencyParser(order=1, max_iter=4, hash_bits=17).fit(rows[:200], dev=rows[200:])


def demo_constituency() -> Any:
    from structlearn.datasets import make_treebank
    from structlearn.tasks import ConstituencyParser

    bank = [s.brackets for s in make_treebank(240, random_state=0)]
    return ConstituencyParser(max_iter=4).fit(bank[:200], dev=bank[200:])


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
        self._paths: dict[str, str] = {}
        self._later: dict[str, Callable[[], Any]] = {}
        if importlib.util.find_spec("structlearn_english") is not None:
            self._later["english"] = lambda: load("english")
        self._demos = {
            "demo tagger": demo_tagger,
            "demo parser": demo_parser,
            "demo constituency": demo_constituency,
        }
        self._later |= self._demos
        for path in paths or []:
            name = self._free(os.path.basename(path))
            self._models[name], self._paths[name] = load(path), path

    def _free(self, name: str) -> str:
        while name in self._models or name in self._later:
            name += "'"
        return name

    def names(self) -> list[str]:
        """Return the names: the command line's first, uploads last, so that the first stays."""
        with self._lock:
            return [*self._paths, *self._later, *self._uploads]

    def get(self, name: str) -> Any:
        """Return a model."""
        with self._lock:
            if name not in self._models:
                if name not in self._later:
                    known = ", ".join([*self._paths, *self._later, *self._uploads])
                    raise Refused(f"there is no model {name!r}; there are {known}")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self._models[name] = self._later[name]()
            return self._models[name]

    def python(self, name: str) -> str:
        """Return the Python that makes or reads a model, as ``model``."""
        demo = self._demos.get(name)
        if demo is not None:
            source = inspect.getsource(demo).replace(" -> Any", "")
            return f"{source}\n\nmodel = {demo.__name__}()\n"
        return f"import structlearn\n\nmodel = structlearn.load({self._paths.get(name, name)!r})\n"

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
            name = self._free(name)
            self._models[name] = model
            self._uploads.append(name)
            if len(self._uploads) > MOST_UPLOADS:
                del self._models[self._uploads.pop(0)]
        return name
