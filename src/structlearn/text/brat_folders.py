"""Folders of brat as one text, and back: a line of JSON for each document."""

from __future__ import annotations

import os
from io import BytesIO

from ..exceptions import FileError

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any


def is_brat(path: str) -> bool:
    """Tell whether a path names documents of brat: a folder with files, or one of annotations."""
    if os.path.isdir(path):
        return any(
            name.endswith((".ann", ".txt")) for _, _, names in os.walk(path) for name in names
        )
    return path.endswith(".ann") and os.path.isfile(path)


def packed(path: str) -> bytes:
    """Return the documents of a folder, or the one of a file of annotations."""
    out = BytesIO()
    import json

    for stem, name in _documents(path):
        ann = f"{stem}.ann"
        item = {"brat": name, "text": _text(f"{stem}.txt")}
        item["ann"] = _text(ann) if os.path.exists(ann) else None  # type: ignore[assignment]
        out.write(json.dumps(item, ensure_ascii=False).encode() + b"\n")
    return out.getvalue()


def _documents(path: str) -> list[tuple[str, str]]:
    """Return the paths of documents without their endings, and their names."""
    if not os.path.isdir(path):
        stem = path.removesuffix(".ann")
        return [(stem, os.path.basename(stem))]
    stems = set()
    for folder, _, names in os.walk(path):
        for name in names:
            if name.endswith((".ann", ".txt")) and not name.startswith("."):
                stems.add(os.path.join(folder, name[:-4]))
    return [(stem, os.path.relpath(stem, path).replace(os.sep, "/")) for stem in sorted(stems)]


def _text(path: str) -> str:
    """Return a file's text with its line ends as they are: offsets count them."""
    try:
        with open(path, "rb") as file:
            return file.read().decode()
    except UnicodeDecodeError:
        raise FileError(path, "not valid UTF-8: convert the file to UTF-8 first") from None
    except OSError as error:
        raise FileError(path, error.strerror or str(error)) from error


def unpack(text: bytes, folder: str) -> None:
    """Write documents to a folder: a text and its annotations for each."""
    from .files import parsed_json, replaced

    items: list[Any] = [parsed_json(row) for row in text.decode().split("\n") if row]
    taken: set[str] = set()
    for item in items:
        name = os.path.join(*_safe(item["brat"]))
        # Documents of one name, also where upper and lower case are one, get a number each.
        names = (name, *(f"{name}-{n}" for n in range(2, len(items) + 2)))
        name = next(one for one in names if one.lower() not in taken)
        taken.add(name.lower())
        stem = os.path.join(folder, name)
        os.makedirs(os.path.dirname(stem), exist_ok=True)
        for ending in ("txt", "ann"):
            content = item["text" if ending == "txt" else "ann"]
            if content is not None:
                with replaced(f"{stem}.{ending}") as file:
                    file.write(content.encode())


def _safe(name: str) -> list[str]:
    """Return the parts of a document's name, none of which leads out of its folder."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    safe = ["".join("_" if c in '<>:"|?*\0' or c < " " else c for c in part) for part in parts]
    return safe or ["document"]
