"""Model files for relations: their bytes, descriptions and weights."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np

import structlearn
from fuzz.memory_file import memory_folder
from fuzz.metamorphic.answers import Different

PRECISIONS = ("float32", "float16", "int8")
_numbers = itertools.count()


def precisions(model: Any) -> tuple[str | None, ...]:
    """Return the precisions in which a model can be saved; (None,) if there is no choice."""
    inner = getattr(model, "model_", None)
    return (None,) if getattr(inner, "precision", None) is None else PRECISIONS


def stored(model: Any, precision: str | None = None) -> bytes:
    """Return the content of the model's file."""
    path = memory_folder() / "saved.model"
    model.save(path, **({} if precision is None else {"precision": precision}))
    return path.read_bytes()


def loaded(content: bytes) -> Any:
    """Return the model of a file's content."""
    # Models map their files, so files must not be overwritten; the name is not needed.
    path = memory_folder() / f"loaded{next(_numbers)}.model"
    path.write_bytes(content)
    try:
        return structlearn.load(path)
    finally:
        path.unlink()


def _parts(content: bytes) -> dict[str, Any]:
    """Return the entries of a safetensors file, and its description."""
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    described = json.loads(header.pop("__metadata__")["model"])
    parts: dict[str, Any] = {f"description[{key!r}]": value for key, value in described.items()}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        parts[name] = (entry["dtype"], entry["shape"], content[8 + size + begin : 8 + size + end])
    return parts


def demand_same_file(question: str, one: bytes, other: bytes) -> None:
    """Raise `Different`, with the parts that differ, unless two model files have the same bytes."""
    if one == other:
        return
    ours, theirs = _parts(one), _parts(other)
    wrong = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    first = f"{str(ours.get(wrong[0]))[:120]}, and {str(theirs.get(wrong[0]))[:120]}"
    raise Different(f"{question}: {', '.join(wrong[:6])} ({first})")


def tables(model: Any) -> dict[str, dict[Any, float]]:
    """Return the weights of a tagger's, parser's or pipeline's tables by place."""
    return dict(_tables(model.model_, ""))


def _tables(model: Any, prefix: str) -> Any:
    for name, part in getattr(model, "parts", {}).items():
        yield from _tables(part, f"{name}.")
    for number, part in enumerate(getattr(model, "taggers", ())):
        yield from _tables(part, f"{prefix}tagger{number}.")
    if hasattr(model, "unpacked"):  # a tagger
        for name in model._tables():
            keys, row_ptr, column, weights = map(np.asarray, model.unpacked(name))
            # Hashed features have no keys: their rows are their places.
            rows = np.where(keys == 0, np.arange(len(keys), dtype=keys.dtype), keys)
            rows = np.repeat(rows, np.diff(row_ptr))
            places = zip(rows.tolist(), column.tolist(), strict=True)
            yield f"{prefix}{name}", dict(zip(places, weights.tolist(), strict=True))
    if hasattr(model, "most"):  # a parser
        for name in ("weights", "pruner"):
            values = np.frombuffer(getattr(model.core, name)(), dtype="<f4")
            yield f"{prefix}{name}", dict(enumerate(values.tolist()))
