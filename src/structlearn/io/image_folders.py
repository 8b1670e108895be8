"""Pairs of image and mask: from folders, lists of pairs, and built-in data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..array_types import Floats
from ..exceptions import FileError
from .images import SUFFIXES, as_image, read_image
from .masks import RawMask, mask_of_array, read_mask

_MARK = "_mask"


class Example:
    """An image with its mask, both read and of the same size."""

    def __init__(self, name: str, image: Any, mask: RawMask) -> None:
        self.name, self.image, self.mask = name, image, mask


def read_examples(source: Any, masks: Any = None) -> list[Example]:
    """Read images with their masks; the parameters are those of :func:`example_pairs`."""
    pairs = example_pairs(source, masks)
    return [_read_pair(number, *pair) for number, pair in enumerate(pairs)]


def example_pairs(source: Any, masks: Any = None) -> list[tuple[Any, Any]]:
    """Return images with their masks, as given.

    Parameters
    ----------
    source : path, list of (image, mask), or an object with ``images`` and ``masks``
        A folder as for :func:`find_pairs`; images and masks are paths or arrays.
    masks : list of masks, optional
        If ``source`` is a list of images.
    """
    pairs: list[tuple[Any, Any]]
    if masks is not None:
        pairs = _paired(source, masks)
    elif isinstance(source, (str, os.PathLike)):
        pairs = list(find_pairs(source))
    elif hasattr(source, "images") and hasattr(source, "masks"):
        pairs = list(zip(source.images, source.masks, strict=True))
    else:
        pairs = []
        for number, pair in enumerate(check_images(source)):
            if not isinstance(pair, (tuple, list, np.ndarray)) or len(pair) != 2:
                raise ValueError(f"images come in pairs (image, mask); item {number} is not")
            pairs.append((pair[0], pair[1]))
    if not pairs:
        raise ValueError("there are no images")
    return pairs


def _paired(images: Any, masks: Any) -> list[tuple[Any, Any]]:
    """Return images with masks given separately, as in scikit-learn; refuse a dev set."""
    if isinstance(images, (str, os.PathLike)):
        raise ValueError("y goes with a list of images; a folder has its masks in it")
    if isinstance(masks, (str, os.PathLike)) or hasattr(masks, "masks"):
        raise ValueError("y is a list of masks, one for each image; a dev set is given as dev=")
    first, second = list(check_images(images)), list(check_images(masks))
    if len(first) != len(second):
        raise ValueError(
            f"there are {len(first)} images and {len(second)} masks in y (a dev set is given as "
            "dev=)"
        )
    return list(zip(first, second, strict=True))


def check_images(source: Any) -> Any:
    """Refuse anything but a path or a list of images, such as None."""
    if isinstance(source, (bytes, Mapping)) or not hasattr(source, "__iter__"):
        kind = "None" if source is None else f"{type(source).__name__} {source!r:.40}"
        raise ValueError(f"images are a file's or a folder's name, or a list of images, got {kind}")
    return source


def _read_pair(number: int, image: Any, mask: Any) -> Example:
    name = os.fspath(image) if isinstance(image, (str, os.PathLike)) else f"image {number}"
    colours = as_image(image, name)
    if isinstance(mask, (str, os.PathLike)):
        raw = read_mask(mask)
    else:
        raw = mask_of_array(mask, f"mask {number}")
    height, width = colours.shape[:2]
    if raw.values.shape != (height, width):
        rows, columns = raw.values.shape
        advice = "they must have one size (resize a mask without blending: nearest neighbour)"
        if (columns, rows) == (height, width):
            advice = "one of them lies on its side; images are turned as their EXIF note says"
        raise FileError(
            raw.name,
            f"the mask is {columns} x {rows} pixels, and its image {name} is {width} x {height}; "
            f"{advice}",
        )
    return Example(name, colours, raw)


def find_pairs(folder: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Return the images of a folder with their masks, sorted by name.

    The folder has ``images/`` and ``masks/``, with files of the same name up to the suffix (a mask
    may also end in ``_mask``); or masks beside images, ``dog.jpg`` and ``dog_mask.png``.
    """
    name = os.fspath(folder)
    _check_folder(name)
    inside = [os.path.join(name, part) for part in ("images", "masks")]
    if all(os.path.isdir(part) for part in inside):
        images, masks = _by_stem(inside[0], _pictures(inside[0])), {}
        for stem, path in _by_stem(inside[1], _pictures(inside[1])).items():
            masks[stem if stem in images else stem.removesuffix(_MARK)] = path
    else:
        for part, other in (inside, inside[::-1]):
            if os.path.isdir(part) and not os.path.isdir(other):
                raise FileError(name, f"there is {part!r}, but no folder {other!r} beside it")
        files = _pictures(name)
        marked = [f for f in files if _stem(f).endswith(_MARK)]
        images = _by_stem(name, [f for f in files if f not in marked])
        masks = {s.removesuffix(_MARK): p for s, p in _by_stem(name, marked).items()}
    if not images:
        raise FileError(
            name,
            "there are no pictures in it: it should have images/ and masks/, or dog.jpg beside "
            "dog_mask.png",
        )
    _complain("without a mask", [p for s, p in images.items() if s not in masks])
    _complain("without an image", [p for s, p in masks.items() if s not in images])
    return [(images[stem], masks[stem]) for stem in sorted(images)]


def find_images(path: str | os.PathLike[str]) -> list[str]:
    """Return the images of a folder (or of its ``images/``) without masks; or the file itself."""
    name = os.fspath(path)
    if not os.path.isdir(name):
        return [name]
    if os.path.isdir(os.path.join(name, "images")):
        name = os.path.join(name, "images")
    files = [f for f in _pictures(name) if not _stem(f).endswith(_MARK)]
    if not files:
        raise FileError(name, f"there are no pictures in it ({', '.join(SUFFIXES)})")
    return list(dict(sorted(_by_stem(name, files).items())).values())


def _check_folder(name: str) -> None:
    if not os.path.exists(name):
        raise FileError(name, "there is no such folder")
    if not os.path.isdir(name):
        raise FileError(name, "not a folder: training takes a folder of images with their masks")


def _stem(file: str) -> str:
    return os.path.splitext(file)[0]


def _pictures(folder: str) -> list[str]:
    """Return the names of the picture files in a folder."""
    try:
        files = sorted(os.listdir(folder))
    except OSError as error:
        raise FileError(folder, f"cannot be read: {error.strerror}") from None
    return [f for f in files if f.lower().endswith(SUFFIXES) and not f.startswith(".")]


def _by_stem(folder: str, files: Iterable[str]) -> dict[str, str]:
    paths: dict[str, str] = {}
    for file in files:
        stem = _stem(file)
        path = os.path.join(folder, file)
        if stem in paths:
            raise FileError(path, f"{os.path.basename(paths[stem])} has the same name beside it")
        paths[stem] = path
    return paths


def _complain(what: str, paths: list[str]) -> None:
    if paths:
        listed = ", ".join(os.path.basename(p) for p in paths[:3])
        suffix = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        raise FileError(
            paths[0], f"{what} ({listed}{suffix}); image and mask have one name up to the ending"
        )


def read_images(source: Any) -> list[Floats]:
    """Return the images of a file, of a folder, or of a list of paths and arrays."""
    if isinstance(source, (str, os.PathLike)):
        return [read_image(path) for path in find_images(source)]
    if isinstance(source, np.ndarray) and (
        source.ndim == 2 or (source.ndim == 3 and source.shape[2] in (3, 4))
    ):
        source = [source]
    return [as_image(image, f"image {number}") for number, image in enumerate(check_images(source))]


def output_files(
    source: str, images: list[str], output: Any, overlays: Any
) -> tuple[list[str] | None, list[str] | None]:
    """Return the paths for masks and overlays, checked before any work is done."""
    stems = [os.path.splitext(os.path.basename(path))[0] for path in images]
    drawn = None
    if overlays is not None:
        drawn = [os.path.join(_folder(overlays), f"{stem}.png") for stem in stems]
    masks: list[str] | None = None
    if isinstance(output, (str, os.PathLike)):
        name = os.fspath(output)
        if os.path.isdir(source) or os.path.isdir(name):
            masks = [os.path.join(_folder(name), f"{stem}.png") for stem in stems]
        else:
            masks = [name]
    elif os.path.isdir(source):
        raise FileError(source, "a folder of images needs a folder for their masks: --output DIR")
    sources = set(map(os.path.realpath, images))
    for target in (*(masks or ()), *(drawn or ())):
        if os.path.realpath(target) in sources:
            raise FileError(target, "the result would replace an image; choose another folder")
    if masks and drawn and {os.path.realpath(m) for m in masks} & set(map(os.path.realpath, drawn)):
        raise FileError(drawn[0], "masks and overlays have the same names; choose another folder")
    return masks, drawn


def _folder(path: Any) -> str:
    name: str = os.fspath(path)
    try:
        os.makedirs(name, exist_ok=True)
    except OSError as error:
        raise FileError(name, f"cannot be made a folder: {error.strerror}") from None
    return name
