"""Masks: pictures of the class of each pixel, and the mapping from their values to classes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..array_types import Integers
from ..exceptions import FileError, LineError
from ..text.files import parsed_json, read_bytes
from .images import converted, open_picture, pillow, png_bytes

#: Masks with more different values than this are refused.
_MOST_CLASSES = 64
#: The default void values: the value 255, and the colour of PASCAL VOC.
_VOID_VALUE = 255
_VOID_COLOUR = 0xE0E0C0
#: Colours that are distinct for colour-blind readers too (Okabe & Ito).
_COLOURS = (
    0xE69F00, 0x56B4E9, 0x009E73, 0xF0E442, 0x0072B2, 0xD55E00, 0xCC79A7, 0x999999,
)  # fmt: skip


class RawMask(NamedTuple):
    """A mask as stored in its file.

    Attributes
    ----------
    name : str
        For messages.
    kind : {"grey", "palette", "bits", "colour"}
    values : (H, W) array of int16 or int32
        Values, or colours as 0xRRGGBB; −1 is always void.
    palette : list of int
        Red, green, blue of each index, if it has a palette.
    """

    name: str
    kind: str
    values: npt.NDArray[np.signedinteger]
    palette: list[int]


def read_mask(path: str | os.PathLike[str]) -> RawMask:
    """Return the mask in a file."""
    name = os.fspath(path)
    picture = open_picture(name)
    if picture.info["lossy"]:
        raise FileError(
            name,
            "a mask in JPEG has lost its exact values (so has one in WebP, unless it is lossless): "
            "save it as PNG, with one value for each class",
        )
    mode = picture.mode
    if mode == "P":
        return RawMask(name, "palette", np.asarray(picture).astype(np.int16), picture.getpalette())
    if mode in ("L", "1") or mode.startswith("I"):
        values = np.asarray(picture)
        least, most = int(values.min()), int(values.max())
        if least < 0 or most > 255:
            wrong = least if least < 0 else most
            raise FileError(
                name, f"a mask with the value {wrong}; classes are values from 0 to 255"
            )
        return RawMask(name, "bits" if mode == "1" else "grey", values.astype(np.int16), [])
    if mode == "F":
        raise FileError(name, "a mask of fractions; classes are whole values: save it as 8-bit PNG")
    if mode in ("LA", "RGBA", "PA"):
        picture = converted(picture, "RGBA", name)
        if picture.getextrema()[3][0] < 255:
            raise FileError(name, "a mask with transparent pixels: save it without alpha")
        if mode == "LA":
            return RawMask(name, "grey", np.asarray(picture)[..., 0].astype(np.int16), [])
    return RawMask(name, "colour", _packed(np.asarray(converted(picture, "RGB", name))), [])


def mask_of_array(value: Any, name: str) -> RawMask:
    """Return an (H, W) array of values, or an (H, W, 3) array of colours, as a mask."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} is neither an array nor the name of a mask: {error}") from None
    if array.dtype == object and array.ndim == 2:  # None is void
        array = np.array([[-1 if v is None else v for v in row] for row in array.tolist()])
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] != 3) or not array.size:
        raise ValueError(f"{name} must have shape (H, W), or (H, W, 3), got {np.shape(value)}")
    if array.dtype.kind not in "bui":
        raise ValueError(f"{name} must hold whole numbers, got dtype {array.dtype}")
    if array.min() < -1 or array.max() > 255:
        raise ValueError(
            f"{name} has values from {array.min()} to {array.max()}; classes are 0 to 255, and "
            "-1 is void"
        )
    if array.ndim == 3:
        return RawMask(name, "colour", _packed(array), [])
    return RawMask(name, "grey", array.astype(np.int16), [])


def _packed(colours: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    packed = np.zeros(colours.shape[:2], dtype=np.int32)
    for channel in range(3):
        packed <<= 8
        packed |= colours[..., channel].astype(np.int32)
    return packed


def _text(value: int, colour: bool) -> str:
    return f"#{value:06x}" if colour else str(value)


class MaskCoding:
    """The mapping between mask values and classes.

    Parameters
    ----------
    kind : {"grey", "palette", "bits", "colour"}
        The format of the masks.
    values : list of int
        The value, or colour 0xRRGGBB, of each class.
    names : list of str
    void : int or None
        The value of pixels of unknown class.
    palette : list of int
        Red, green, blue of each index.
    """

    def __init__(
        self, kind: str, values: list[int], names: list[str], void: int | None, palette: list[int]
    ) -> None:
        if kind not in ("grey", "palette", "bits", "colour"):
            raise ValueError(f"masks of the kind {kind!r}")
        top = 0xFFFFFF if kind == "colour" else 255
        used = values if void is None else [*values, void]
        if any(type(v) is not int or not 0 <= v <= top for v in used):
            raise ValueError("values of classes, or of void, are out of bounds")
        if len(values) < 2 or len(set(values)) != len(values) or len(names) != len(values):
            raise ValueError("at least two classes are needed, each with a value and a name")
        if len(set(names)) != len(names):
            raise ValueError(f"two classes have the same name: {names}")
        if any(type(p) is not int or not 0 <= p <= 255 for p in palette) or len(palette) % 3:
            raise ValueError("the palette is not a list of colours")
        self.kind, self.values, self.names = kind, values, names
        self.void, self.palette = void, palette

    @classmethod
    def fit(cls, masks: Sequence[RawMask], names: Any, void: Any) -> MaskCoding:
        """Find the classes of training masks.

        Parameters
        ----------
        names : list, dict or None
            Names by value, as from :func:`read_names`.
        void : "auto", None, int or "#rrggbb"
        """
        colour = masks[0].kind == "colour"
        seen: set[int] = set()
        for mask in masks:
            if (mask.kind == "colour") != colour:
                other = "colours" if colour else "values of grey or of a palette"
                raise FileError(mask.name, f"{mask.kind} mask, but {masks[0].name} has {other}")
            seen |= set(np.unique(mask.values).tolist())
            if len(seen) > _MOST_CLASSES:
                raise FileError(
                    mask.name,
                    f"it has more than {_MOST_CLASSES} different values, too many for a mask; is "
                    "it a photograph, or was it resized or saved with loss?",
                )
        seen -= {-1}
        kind = masks[0].kind
        hidden = _void_value(void, seen, kind)
        values = sorted(seen - {hidden})
        if len(values) < 2:
            named_values = ", ".join(_text(v, colour) for v in values) or "none"
            raise FileError(
                masks[0].name, f"at least two classes are needed, and the masks have {named_values}"
            )
        named = _named(values, colour, names, masks)
        palette = next((list(m.palette) for m in masks if m.palette), [])
        return cls(kind, values, named, hidden, palette)

    def encode(self, mask: RawMask, *, unseen: bool = False) -> Integers:
        """Return the class index of each pixel, −1 if it is void.

        Values that no training mask had are refused, or with ``unseen`` get the index after the
        last class.
        """
        colour = self.kind == "colour"
        if (mask.kind == "colour") != colour:
            wanted = "colours" if colour else "values of grey or of a palette"
            raise FileError(mask.name, f"a {mask.kind} mask; the model's masks have {wanted}")
        labels = self._numbers(mask.values)
        strange = labels == len(self.values)
        if not unseen and strange.any():
            row, column = np.unravel_index(strange.argmax(), strange.shape)
            listed = ", ".join(_text(v, colour) for v in self.values)
            void = "" if self.void is None else f", void is {_text(self.void, colour)}"
            raise FileError(
                mask.name,
                f"the value {_text(int(mask.values[row, column]), colour)} at row {row}, column "
                f"{column} ({strange.sum()} pixels) is not a class; classes are {listed}{void}",
            )
        return labels

    def encode_judges(self, masks: Sequence[RawMask]) -> list[Integers]:
        """Return the classes of gold masks, of which some pixel must not be void."""
        labels = [self.encode(mask, unseen=True) for mask in masks]
        if not any((mask >= 0).any() for mask in labels):
            raise ValueError("nothing to evaluate against: all pixels of the masks are void")
        return labels

    def _numbers(self, values: npt.NDArray[Any]) -> Integers:
        """Return the class index of each value: −1 for void, the last one plus 1 for others."""
        numbers_by_value = {value: number for number, value in enumerate(self.values)}
        numbers_by_value.update({-1: -1} if self.void is None else {-1: -1, self.void: -1})
        if self.kind != "colour":
            table: Integers = np.full(257, len(self.values))
            table[list(numbers_by_value)] = list(numbers_by_value.values())  # -1 is the last place
            numbered: Integers = table[values]
            return numbered
        in_use = sorted(numbers_by_value)
        numbers = np.array([numbers_by_value[value] for value in in_use])
        in_order = np.array(in_use, dtype=values.dtype)
        at = np.searchsorted(in_order, values)
        np.minimum(at, len(in_order) - 1, out=at)
        labels = numbers[at]
        labels[in_order[at] != values] = len(self.values)
        return labels

    def decode(self, labels: Integers) -> npt.NDArray[np.uint8]:
        """Return class indices as mask values, or as (H, W, 3) colours."""
        values = np.asarray(self.values)
        if self.kind == "colour":
            values = np.stack([values >> shift & 255 for shift in (16, 8, 0)], axis=-1)
        return values.astype(np.uint8)[labels]

    def png(self, labels: Integers) -> bytes:
        """Return a PNG file in the format of the training masks: same values, same palette."""
        Image = pillow()
        values = self.decode(labels)
        if self.kind == "bits":
            picture = Image.fromarray(values * np.uint8(255)).convert("1")
        else:
            picture = Image.fromarray(values)
        if self.kind == "palette":
            picture.putpalette(self.palette)  # which makes grey values indices
        return png_bytes(picture)

    def colours(self) -> npt.NDArray[np.uint8]:
        """Return a display colour for each class: its own, or one of a default palette."""
        n = len(self.values)
        own = [_COLOURS[i % len(_COLOURS)] for i in range(n)]
        if self.kind == "colour":
            own = self.values
        elif self.kind == "palette" and 3 * max(self.values) + 2 < len(self.palette):
            p = self.palette
            own = [p[3 * v] << 16 | p[3 * v + 1] << 8 | p[3 * v + 2] for v in self.values]
            if len(set(own)) < n:
                own = [_COLOURS[i % len(_COLOURS)] for i in range(n)]
        return np.array([[c >> 16, c >> 8 & 255, c & 255] for c in own], dtype=np.uint8)

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> MaskCoding:
        """Return the coding stored in a model file."""
        names, palette = list(map(str, said["names"])), list(said["palette"])
        return cls(str(said["kind"]), list(said["values"]), names, said["void"], palette)

    def to_json(self) -> dict[str, Any]:
        """Return the entry for a model file."""
        return {
            "kind": self.kind,
            "values": self.values,
            "names": self.names,
            "void": self.void,
            "palette": self.palette,
        }


def _void_value(void: Any, seen: set[int], kind: str) -> int | None:
    if void is None:
        return None
    if void == "auto":
        if kind == "colour":
            return _VOID_COLOUR
        # Black and white masks of two classes are common; there 255 is the second one.
        two = kind == "grey" and len(seen) == 2 and _VOID_VALUE in seen
        return None if two else _VOID_VALUE
    if isinstance(void, str):
        text = void.removeprefix("#")
        try:
            number = int(text, 16) if kind == "colour" else int(text)
        except ValueError:
            number = -1
    else:
        number = void if type(void) is int else -1
    if not 0 <= number <= (0xFFFFFF if kind == "colour" else 255):
        wanted = "a colour #rrggbb" if kind == "colour" else "a value from 0 to 255"
        raise ValueError(f"void must be {wanted} of the masks, got {void!r}")
    return number


def _named(values: list[int], colour: bool, names: Any, masks: Sequence[RawMask]) -> list[str]:
    """Return the names of the values; refuse values without a name."""
    if names is None:
        return [_text(v, colour) for v in values]
    if isinstance(names, Mapping):
        table = {_key(k, colour): str(name) for k, name in names.items()}
    elif colour or (len(names) == len(values) and max(values) >= len(names)):
        if len(names) != len(values):
            raise ValueError(f"{len(names)} names of classes, but the masks have {len(values)}")
        table = {v: str(name) for v, name in zip(values, names, strict=True)}
    else:
        table = {v: str(name) for v, name in enumerate(names)}
    for mask in masks:
        for v in np.unique(mask.values).tolist():
            if v in values and v not in table:
                raise FileError(
                    mask.name,
                    f"it has the value {_text(v, colour)}, but {len(table)} classes are named: "
                    f"{', '.join(table.values())}",
                )
    return [table[v] for v in values]


def _key(key: Any, colour: bool) -> int:
    try:
        return int(str(key).removeprefix("#"), 16) if colour else int(key)
    except ValueError:
        wanted = "colours #rrggbb" if colour else "values from 0 to 255"
        raise ValueError(f"names of classes are by {wanted}, got {key!r}") from None


def read_names(path: str | os.PathLike[str]) -> Any:
    """Return the class names in a file: JSON (a list, or an object by value), or one per line."""
    name = os.fspath(path)
    try:
        text = read_bytes(name).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(name, "names of classes must be UTF-8 text") from None
    if text.lstrip()[:1] in ("[", "{"):
        try:
            return parsed_json(text)
        except LineError as error:
            raise FileError(name, f"not JSON: {error.reason}", error.line) from None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise FileError(name, "there are no names of classes in it")
    return lines
