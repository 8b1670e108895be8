"""Images from files and arrays, as colours in [0, 1]."""

from __future__ import annotations

import io
import os
import warnings
from typing import Any

import numpy as np

from ..array_types import Floats
from ..exceptions import CapabilityError, FileError
from ..text.files import read_bytes

#: The suffixes of picture files.
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
_MOST_PIXELS = 100_000_000
#: The most pixels that one byte of a file can encode, if the format has a bound. PNG compresses at
#: most 1,032 bytes into one, of eight pixels each; a code of GIF has at least three bits and stands
#: for at most 4,096 pixels. Checked for pictures of more than _LARGE pixels.
_LARGE, _PIXELS_OF_A_BYTE = 1 << 22, {"PNG": 8 * 1032, "GIF": 4096 * 8 // 3}


def pillow() -> Any:
    """Return Pillow's module of images."""
    try:
        from PIL import Image
    except ImportError:
        raise CapabilityError(
            "picture files need Pillow: pip install 'structlearn[images]'"
        ) from None
    return Image


def open_picture(path: str | os.PathLike[str]) -> Any:
    """Return a file's picture as a Pillow image, fully decoded; ``-`` is standard input.

    It is rotated by its EXIF orientation. ``info["lossy"]`` tells whether the compression changes
    pixels.
    """
    name = os.fspath(path)
    Image = pillow()
    from PIL import ImageOps

    content = read_bytes(name)
    if not content:
        raise FileError(name, "the file is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            picture = Image.open(io.BytesIO(content))
            pixels = picture.width * picture.height
            if pixels > _MOST_PIXELS:
                raise FileError(
                    name,
                    f"{picture.width} x {picture.height} pixels; at most {_MOST_PIXELS:,} are "
                    "taken: make it smaller, or cut it up",
                )
            densest = _PIXELS_OF_A_BYTE.get(picture.format or "", _MOST_PIXELS)
            if picture.info.get("compression") == "raw":  # TIFF
                densest = 8
            if pixels > max(_LARGE, densest * len(content)):
                raise FileError(
                    name,
                    f"{picture.width} x {picture.height} pixels in {len(content)} bytes: the "
                    "picture is damaged, or made to fill the memory",
                )
            frames = getattr(picture, "n_frames", 1)
            if frames > 1 and picture.format != "MPO":  # a JPEG with previews of itself
                raise FileError(
                    name, f"it has {frames} frames: save the one that is meant as a picture"
                )
            picture.load()
            lossy = picture.format in ("JPEG", "MPO") or _is_lossy_webp(content)
            picture = ImageOps.exif_transpose(picture)
            picture.info["lossy"] = lossy
    except FileError:
        raise
    except Image.DecompressionBombError:
        raise FileError(
            name, f"more than {_MOST_PIXELS:,} pixels: make it smaller, or cut it up"
        ) from None
    except Image.UnidentifiedImageError:
        raise FileError(name, "not a readable image: PNG and JPEG files are supported") from None
    except Exception as error:  # a damaged file makes decoders raise almost anything
        reason = str(error) or type(error).__name__
        raise FileError(name, f"the picture is damaged: {reason}") from None
    return picture


def _is_lossy_webp(content: bytes) -> bool:
    """Tell whether a WebP file is lossy: it has a chunk named ``VP8`` and a blank."""
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP":
        return False
    at = 12
    while at + 8 <= len(content):
        if content[at : at + 4] == b"VP8 ":
            return True
        size = int.from_bytes(content[at + 4 : at + 8], "little")
        at += 8 + size + size % 2
    return False


def converted(picture: Any, mode: str, name: str) -> Any:
    """Return a picture in another Pillow mode."""
    try:
        return picture.convert(mode)
    except ValueError as error:
        raise FileError(
            name, f"its colours cannot be read ({error}): save it as RGB or grey"
        ) from None


def read_image(path: str | os.PathLike[str]) -> Floats:
    """Return the (H, W, 3) colours of a file, from 0 to 1.

    Grey pictures get three equal colours and keep their 16 bits within single precision; of 16 bits
    per colour Pillow reads the higher 8. The EXIF orientation is applied. Transparent pixels have
    no colour and are refused.
    """
    name = os.fspath(path)
    picture = open_picture(name)
    mode = picture.mode
    if mode == "F" or mode.startswith("I"):
        values = np.asarray(picture, dtype=np.float64)
        if not np.isfinite(values).all():
            raise FileError(name, "it has pixels that are not finite numbers (NaN or infinite)")
        least, most = float(values.min()), float(values.max())
        if mode == "F":
            top = 1.0 if most <= 1.0 else 255.0
        else:
            top = 65535.0 if most > 255 or mode.startswith("I;16") else 255.0
        if least < 0 or most > top:
            raise FileError(name, f"its pixels are from {least:g} to {most:g}; save it with 8 bits")
        grey = (values / top).astype(np.float32)
        stacked: Floats = np.repeat(grey[..., np.newaxis], 3, axis=2)
        return stacked
    if mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in picture.info:
        picture = converted(picture, "RGBA", name)
        if np.asarray(picture)[..., 3].min() < 255:
            raise FileError(
                name, "it has transparent pixels: lay it on a background and save it without alpha"
            )
    colours = np.asarray(converted(picture, "RGB", name))
    scaled: Floats = colours.astype(np.float32) / np.float32(255)
    return scaled


def as_image(value: Any, name: str) -> Floats:
    """Return the colours of a path or an array.

    Parameters
    ----------
    value : path, (H, W, 3) or (H, W) array
        Arrays of whole numbers are from 0 to 255 (uint16: to 65535), others from 0 to 1.
    name : str
        For messages.
    """
    if isinstance(value, (str, os.PathLike)):
        return read_image(value)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} is neither an array nor the name of a picture: {error}") from None
    if array.ndim == 2:
        array = np.repeat(array[..., np.newaxis], 3, axis=2)
    if array.ndim != 3 or array.shape[2] != 3 or not array.size:
        raise ValueError(f"{name} must have shape (H, W, 3) or (H, W), got {np.shape(value)}")
    if array.dtype.kind not in "buif":
        raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}")
    whole = array.dtype.kind in "bui"
    top = 1.0 if not whole or array.dtype.kind == "b" else 255.0
    if array.dtype == np.uint16:
        top = 65535.0
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has pixels that are not finite numbers (NaN or infinite)")
    if array.min() < 0 or array.max() > top:
        raise ValueError(
            f"{name} has colours from {array.min():g} to {array.max():g}; {array.dtype} must "
            f"be from 0 to {top:g}"
        )
    return (array / top).astype(np.float32)


def png_bytes(picture: Any) -> bytes:
    """Return a picture, of Pillow or an (H, W, 3) array of uint8, as the content of a PNG file."""
    if isinstance(picture, np.ndarray):
        picture = pillow().fromarray(picture)
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG")
    return buffer.getvalue()
