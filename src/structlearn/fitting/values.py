"""Values of Python as JSON and arrays, and back: nothing that is stored is ever run.

Numbers, strings, None, lists and dictionaries of strings are what they are in JSON, which keeps
every bit of a float. Everything else is an object with the entry "$", the name of its kind. Arrays
of numbers are arrays of the file. Files of estimators and checkpoints are written in this way.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import FileError
from ..io.arrays import array_of, tensor_of
from ..io.container import Tensor
from ..structures.base import Structure
from .kinds import KINDS, Kind, Unstorable

#: Characters that an array may have room for although none of its strings is as long.
_MOST_WIDTH = 1024
_COLLECTIONS: dict[str, Any] = {"tuple": tuple, "set": set, "frozenset": frozenset}


class Writer:
    """Collects what a file holds.

    Parameters
    ----------
    kinds : dict of class to Kind
        Objects that can be stored.

    Attributes
    ----------
    tensors : dict of str to Tensor
        The arrays written so far.
    left_out : list of str
        What could not be stored, and why.
    """

    def __init__(self, kinds: Mapping[type, Kind] = KINDS) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.left_out: list[str] = []
        self.kinds = kinds

    def value(self, value: Any) -> Any:
        """Return a value as JSON can hold it.

        Raises
        ------
        Unstorable
            Where it, or something in it, is of a kind that files cannot store.
        """
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, bytes):
            return {"$": "bytes", "text": value.decode("latin-1")}
        if type(value) is list:
            return [self.value(item) for item in value]
        if isinstance(value, Structure):
            return self._structure(value)
        if type(value) in self.kinds:
            return self._object(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.generic) and value.dtype.kind in "fiub" and value.itemsize <= 8:
            return {"$": "number", "type": value.dtype.name, "value": value.item()}
        return self._collection(value)

    @contextmanager
    def or_left_out(self, what: str) -> Iterator[None]:
        """Note what turns out not to be storable, and forget its arrays."""
        try:
            with self._whole_or_nothing():
                yield
        except Unstorable as error:
            self.left_out.append(f"{what} ({error})")

    @contextmanager
    def _whole_or_nothing(self) -> Iterator[None]:
        before = len(self.tensors)
        try:
            yield
        except Unstorable:
            for name in list(self.tensors)[before:]:
                del self.tensors[name]
            raise

    def _object(self, value: Any) -> dict[str, Any]:
        arguments = self.kinds[type(value)].arguments(value)
        named = {name: self.value(argument) for name, argument in arguments.items()}
        return {"$": type(value).__name__, **named}

    def _structure(self, structure: Structure) -> dict[str, Any]:
        if type(structure) in self.kinds:
            with suppress(Unstorable), self._whole_or_nothing():
                return self._object(structure)
        # Its author's, or with something of its author's in it.
        return {"$": "own structure", "class": type(structure).__name__}

    def _array(self, array: npt.NDArray[Any]) -> Any:
        if array.dtype.kind in "fiub":
            name = f"array{len(self.tensors)}"
            try:
                self.tensors[name] = tensor_of(array)
            except TypeError:
                raise Unstorable(f"an array of {array.dtype}") from None
            return {"$": "array", "name": name}
        if array.dtype.kind not in "USO":
            raise Unstorable(f"an array of {array.dtype}")
        items = [self.value(item) for item in array.ravel().tolist()]
        return {"$": "items", "type": array.dtype.str, "shape": list(array.shape), "items": items}

    def _collection(self, value: Any) -> Any:
        if type(value) is dict:
            return self._dictionary(value)
        if type(value) is tuple:
            return {"$": "tuple", "items": [self.value(item) for item in value]}
        if type(value) in (set, frozenset):
            items = sorted((self.value(item) for item in value), key=_text)
            return {"$": type(value).__name__, "items": items}
        if isinstance(value, os.PathLike) and isinstance(os.fspath(value), str):
            return {"$": "path", "path": os.fspath(value)}
        if isinstance(value, str):  # of a class of its own: NumPy's, or an enumeration
            return str.__str__(value)
        if isinstance(value, (int, float)):
            return int(value) if isinstance(value, int) else float(value)
        raise Unstorable(f"a {type(value).__name__}")

    def _dictionary(self, value: dict[Any, Any]) -> dict[str, Any]:
        # Equal dictionaries are equal files: sorted before their arrays get numbers.
        if "$" not in value and all(type(key) is str for key in value):
            return {key: self.value(value[key]) for key in sorted(value)}
        keys = sorted(((self.value(key), key) for key in value), key=lambda one: _text(one[0]))
        return {"$": "dict", "items": [[name, self.value(value[key])] for name, key in keys]}


def _text(stored: Any) -> str:
    return json.dumps(stored, sort_keys=True)


class Reader:
    """Gives back what a :class:`Writer` has collected; whatever does not fit raises.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    tensors : dict of str to Tensor
        Its arrays; each is taken away when it is read.
    structure : Structure, optional
        Stands for the structure of the user's own, which is not stored.
    kinds : dict of class to Kind
        Objects that can be stored.
    """

    def __init__(
        self,
        name: str,
        tensors: dict[str, Tensor],
        structure: Structure | None = None,
        kinds: Mapping[type, Kind] = KINDS,
    ) -> None:
        self.name = name
        self.tensors = tensors
        self._structure = structure
        self._asked = False
        self._makers = {kind.__name__: stored.make for kind, stored in kinds.items()}

    def value(self, stored: Any) -> Any:
        """Return the value that :meth:`Writer.value` was given; each array once, as a copy."""
        if isinstance(stored, list):
            return [self.value(item) for item in stored]
        if not isinstance(stored, dict):
            return stored
        if "$" not in stored:
            return {key: self.value(item) for key, item in stored.items()}
        entries = dict(stored)
        kind = entries.pop("$")
        if kind in self._makers:
            named = {name: self.value(argument) for name, argument in entries.items()}
            return self._makers[kind](**named)
        if kind == "own structure":
            return self._own(str(entries["class"]))
        if kind == "array":
            return array_of(self.tensors.pop(entries["name"]))
        if kind == "number":
            dtype = np.dtype(str(entries["type"]))
            if dtype.kind not in "fiub" or not isinstance(entries["value"], (bool, int, float)):
                raise ValueError(f"{entries['value']!r} is not a number")
            return dtype.type(entries["value"])
        if kind == "path":
            return Path(entries["path"])
        if kind == "bytes":
            return bytes(entries["text"], "latin-1")
        return self._collection(kind, entries)

    def _collection(self, kind: Any, entries: dict[str, Any]) -> Any:
        items = entries["items"]
        if not isinstance(items, list):
            raise ValueError("items that are not a list")
        if kind == "dict":
            return {self.value(key): self.value(item) for key, item in items}
        if kind == "items":
            return self._items(str(entries["type"]), entries["shape"], items)
        return _COLLECTIONS[kind](self.value(item) for item in items)

    def _items(self, dtype: str, shape: Any, items: list[Any]) -> npt.NDArray[Any]:
        """Return an array of strings, of bytes, or of objects."""
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            array[i] = self.value(item)
        item, size = {"U": (str, 4), "S": (bytes, 1)}.get(np.dtype(dtype).kind, (None, 1))
        if item is not None:
            if not all(isinstance(one, item) for one in array):
                raise ValueError("an array of strings has something else in it")
            longest, width = max(map(len, array), default=0), np.dtype(dtype).itemsize // size
            if not longest <= width <= max(longest, _MOST_WIDTH):
                raise ValueError(
                    f"an array for strings of {width} characters, with one of {longest}"
                )
            array = array.astype(dtype)
        elif dtype != "|O":
            raise ValueError(f"an array of {dtype}")
        return array.reshape([int(n) for n in shape])

    def _own(self, kind: str) -> Structure:
        self._asked = True
        if self._structure is None:
            raise FileError(
                self.name,
                f"it was fitted with a structure of your own, {kind}, which files cannot store: "
                f"pass it, load(path, structure={kind}(...))",
            )
        given = type(self._structure).__name__
        if given != kind:
            raise FileError(self.name, f"its structure is {kind}; structure is {given}")
        return self._structure

    def finish(self) -> None:
        """Refuse what is left over: arrays that nothing reads, a structure that has no place."""
        if self.tensors:
            raise ValueError(f"arrays that nothing reads: {', '.join(sorted(self.tensors))}")
        if self._structure is not None and not self._asked:
            raise FileError(
                self.name,
                "the file contains its structure; structure= is for structures of your own only",
            )
