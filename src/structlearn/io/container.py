"""Model files: one file of named arrays, in the safetensors format, with a checksum.

Eight bytes with the header's length, the header as JSON, the arrays one after another. The header's
``__metadata__`` has the model's description and a checksum of everything else in the file, so that
a flipped bit anywhere is detected. Files are written under another name and renamed when complete,
and read by memory mapping. The safetensors library reads these files too; this module does not need
it, starts faster and checks more.
"""

from __future__ import annotations

import json
import mmap
import os
from collections import namedtuple
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from .. import _core
from ..exceptions import FileError, MissingFunctionError
from ..text.files import replaced

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

FORMAT = "structlearn"
VERSION = 2
_SIZES = {"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4}
_SIZES.update({"F16": 2, "I16": 2, "U16": 2, "I8": 1, "U8": 1, "BOOL": 1})
_NO_CHECKSUM = "0" * 16


class Tensor(namedtuple("Tensor", "dtype data shape", defaults=(None,))):
    """An array as stored in a file.

    Attributes
    ----------
    dtype : str
        The type's name in safetensors: F32, U64, ...
    data : buffer
        The bytes, in C order, little-endian.
    shape : tuple of int or None
        None: one dimension.
    """

    __slots__ = ()
    dtype: str
    data: Any
    shape: tuple[int, ...] | None


def write_container(
    path: str | os.PathLike[str], description: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> None:
    """Write a model file; if anything fails, an existing file is unchanged."""
    pieces = container_pieces(description, tensors)
    with replaced(path) as file:
        for piece in pieces:
            file.write(piece)


def container_pieces(description: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> list[Any]:
    """Return the content of a model file in pieces.

    Parameters
    ----------
    description : dict
        Anything that JSON can hold.
    tensors : dict of str to Tensor
    """
    # Wide items first, so that all are aligned to their size without gaps.
    order = sorted(tensors, key=lambda name: (-_SIZES[tensors[name].dtype], name))
    entries: dict[str, Any] = {}
    views, at = [], 0
    for name in order:
        tensor = tensors[name]
        view = memoryview(tensor.data).cast("B")
        shape = tensor.shape
        if shape is None:
            shape = (len(view) // _SIZES[tensor.dtype],)
        entries[name] = {
            "dtype": tensor.dtype,
            "shape": list(shape),
            "data_offsets": [at, at + len(view)],
        }
        views.append(view)
        at += len(view)
    model = json.dumps(description, ensure_ascii=False, separators=(",", ":"), sort_keys=True)

    def header(checksum: str) -> bytes:
        metadata = {
            "checksum": checksum,
            "format": FORMAT,
            "model": model,
            "version": str(VERSION),
        }
        text = json.dumps({"__metadata__": metadata, **entries}, separators=(",", ":")).encode()
        return text + b" " * (-len(text) % 64)  # the arrays begin on a cache line

    blank = header(_NO_CHECKSUM)
    checksum = _core.checksum([len(blank).to_bytes(8, "little"), blank, *views])
    return [len(blank).to_bytes(8, "little"), header(f"{checksum:016x}"), *views]


def read_container(
    path: str | os.PathLike[str], what: str = "model"
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Map a model file into memory and check it completely.

    Parameters
    ----------
    what : str
        The expected kind of file, for messages.

    Returns
    -------
    description : dict
    tensors : dict of str to Tensor
        Views of the mapped file.

    Raises
    ------
    FileError
        The file is missing, foreign, truncated, damaged or of another version.
    """
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:  # which cannot be mapped
                return parse_container(name, memoryview(b""), what)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(name, reason[0].lower() + reason[1:]) from None
    return parse_container(name, memoryview(mapped), what)


def parse_container(
    name: str, whole: memoryview, what: str = "model"
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Check the content of a model file; ``name`` and ``what`` are for messages."""
    try:
        model, entries = _core.parse_container(whole, what)
    except ValueError as error:
        raise FileError(name, str(error)) from None
    tensors = {
        key: Tensor(dtype, whole[begin:end], shape) for key, dtype, begin, end, shape in entries
    }
    try:
        description = json.loads(model)
    except (ValueError, TypeError, RecursionError):
        raise FileError(name, _foreign("its description cannot be read", what)) from None
    if not isinstance(description, dict):
        raise FileError(name, _foreign("its description is not a dictionary", what))
    return description, tensors


def kind_of_file(description: Mapping[str, Any]) -> str:
    """Describe a file, for a message that it is not of the expected kind."""
    if description.get("kind") == "checkpoint":
        return "the checkpoint of a training that has not ended, not a model"
    if description.get("task") == "estimator":
        return f"the model of {description.get('class')!r}"
    return f"a model for the task {description.get('task')!r}"


@contextmanager
def refused_as_file(name: str) -> Iterator[None]:
    """Turn any error caused by the content of a model file into one that names the file."""
    try:
        yield
    except MissingFunctionError:
        raise  # the user's mistake, not the file's
    except ValueError as error:
        if isinstance(error, FileError) and error.path == name:
            raise
        raise FileError(name, f"the model cannot be used: {error}") from None
    except (LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise FileError(name, f"the model cannot be used: {reason}") from None


def check_dtype(name: str, tensor: Tensor, expected: str) -> None:
    """Refuse an array of a type other than the core expects."""
    if tensor.dtype != expected:
        raise ValueError(f"the array {name!r} is {tensor.dtype}, not {expected}")


def checked_arrays(tensors: Mapping[str, Tensor], dtypes: Mapping[str, str]) -> dict[str, Any]:
    """Return the arrays with these names, after checking their types."""
    for name, dtype in dtypes.items():
        check_dtype(name, tensors[name], dtype)
    return {name: tensors[name].data for name in dtypes}


def _foreign(reason: str, what: str) -> str:
    return f"not a structlearn {what}, or damaged: {reason}"
