"""Binary inputs: pictures, other tools' models, containers; changes keep sizes and checksums."""

from __future__ import annotations

import contextlib
import io
import random
import struct
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from fuzz.memory_file import memory_file
from fuzz.mutation import mutated
from structlearn import _core
from structlearn.crfsuite import Tagger
from structlearn.crfsuite.model_dump import dumped
from structlearn.exceptions import CapabilityError, FileError
from structlearn.io import read_crfsuite
from structlearn.io.container import Tensor, container_pieces, parse_container
from structlearn.io.images import png_bytes, read_image
from structlearn.io.masks import MaskCoding, read_mask

Maker = Callable[[random.Random], bytes]


# -- containers ------------------------------------------------------------------------------------


def read_container(data: bytes) -> None:
    """Read the container of models and checkpoints."""
    parse_container("input", memoryview(data))


def small_containers() -> list[bytes]:
    """Return a container without arrays, and one with two."""
    tensors = {"a": Tensor("F64", np.arange(3.0).tobytes()), "b": Tensor("U8", b"xy", (2, 1))}
    contents = [({"task": "x"}, {}), ({"task": "tagger", "n": 1}, tensors)]
    return [b"".join(bytes(p) for p in container_pieces(*content)) for content in contents]


def with_checksum(seeds: list[bytes]) -> Maker:
    """Make containers with a changed header, half of them with a correct checksum."""

    def make(rng: random.Random) -> bytes:
        data = mutated(rng, seeds)
        if rng.random() < 0.5 or len(data) < 8:
            return data
        at = data.find(b'"checksum":"')
        length = int.from_bytes(data[:8], "little")
        if at < 0 or at + 28 > 8 + length or length > len(data) - 8:
            length = rng.randrange(len(data))
            data = length.to_bytes(8, "little") + data[8:]
            at = data.find(b'"checksum":"')
        if at < 0 or at + 28 > len(data):
            return data
        blank = data[: at + 12] + b"0" * 16 + data[at + 28 :]
        pieces = [blank[:8], blank[8 : 8 + length], blank[8 + length :]]
        return data[: at + 12] + f"{_core.checksum(pieces):016x}".encode() + data[at + 28 :]

    return make


# -- pictures --------------------------------------------------------------------------------------


def pictures() -> list[bytes]:
    """Return small pictures of every supported mode and format."""
    from PIL import Image

    values = np.arange(48, dtype=np.uint8).reshape(6, 8) % 3
    grey, colours = Image.fromarray(values * 80), np.stack([values * 80] * 3, axis=-1)
    palette = Image.fromarray(values)
    palette.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0])
    modes = [
        Image.fromarray(values),
        Image.fromarray(colours),
        palette,
        Image.fromarray(values * 85).convert("1"),
        Image.fromarray(values).convert("LA"),
        Image.fromarray(colours).convert("RGBA"),
        Image.fromarray(values.astype(np.uint16) * 9000),
    ]
    images = [png_bytes(mode) for mode in modes]
    turned = Image.Exif()
    turned[0x0112] = 6
    others = [
        ("BMP", grey, {}),
        ("GIF", grey, {}),
        ("TIFF", grey, {}),
        ("TIFF", Image.fromarray(values.astype(np.float32) / 3), {}),
        ("TIFF", Image.fromarray(values.astype(np.int32)), {}),
        ("JPEG", grey, {"exif": turned}),
        ("JPEG", Image.fromarray(colours).convert("CMYK"), {}),
        ("WEBP", Image.fromarray(colours), {"lossless": True}),
        ("WEBP", Image.fromarray(colours), {}),
    ]
    for format, picture, options in others:
        buffer = io.BytesIO()
        picture.save(buffer, format=format, **options)
        images.append(buffer.getvalue())
    return images


def with_crc(seeds: list[bytes]) -> Maker:
    """Make changed pictures; half of the PNG files have correct checksums."""

    def make(rng: random.Random) -> bytes:
        data = mutated(rng, seeds)
        if rng.random() < 0.5 or data[:4] != b"\x89PNG":
            return data
        whole, at = bytearray(data), 8
        while at + 12 <= len(whole):
            end = at + 8 + int.from_bytes(whole[at : at + 4], "big")
            if end + 4 > len(whole):
                break
            whole[end : end + 4] = zlib.crc32(whole[at + 4 : end]).to_bytes(4, "big")
            at = end + 4
        return bytes(whole)

    return make


#: Mask codes of models trained on other masks.
_CODINGS = (
    MaskCoding("grey", [0, 1, 2], ["a", "b", "c"], 255, []),
    MaskCoding("colour", [0, 0x505050, 0xFF0000], ["a", "b", "c"], 0xE0E0C0, []),
)


def read_mask_file(data: bytes) -> None:
    """Read a mask, code it for models of other masks and for its own, and write it."""
    mask = read_mask(memory_file(data, ".png"))
    for coding in _CODINGS:
        with contextlib.suppress(FileError):
            coding.encode(mask)
        if (mask.kind == "colour") == (coding.kind == "colour"):
            assert coding.encode(mask, unseen=True).max() <= len(coding.values)
    coding = MaskCoding.fit([mask], None, "auto")
    labels = coding.encode(mask)
    assert labels.shape == mask.values.shape
    coding.png(np.maximum(labels, 0))


def read_picture(data: bytes) -> None:
    """Read a picture; its colours must be from 0 to 1."""
    image = read_image(memory_file(data, ".png"))
    assert image.ndim == 3
    assert 0.0 <= image.min() <= image.max() <= 1.0


# -- CRFsuite's models -----------------------------------------------------------------------------


def read_crfsuite_model(data: bytes) -> None:
    """Read a model and label with it."""
    model = read_crfsuite(memory_file(data))
    x = [["x", "y"], ["z"]]
    labels = model.predict([x])[0]
    tagger = Tagger()
    tagger.open_inmemory(data)
    assert tagger.tag(x) == labels
    assert 0 <= tagger.marginal(labels[0], 0) <= 1 + 1e-9
    info = tagger.info()
    assert len(list(dumped(info))) > 10


def crfsuite_seeds() -> list[bytes]:
    """Return two small models."""
    from tests.io.crfsuite_files import model_bytes, small_model

    return [small_model(), model_bytes(["A"], ["x"], [(0, 0, 1.0)])]


# -- models of Wapiti and CRF++ --------------------------------------------------------------------

_WEIGHTS = {"a": [1.0, -0.5, 0.0], "b": [0.25, 0.0, 3.0]}
_TOKENS = [("a", "x"), ("b", "y"), ("?", "x")]


def wapiti_seeds() -> list[bytes]:
    """Return two small Wapiti models."""
    from tests.io.foreign_files import wapiti_model

    labels = ["N", "V", "D"]
    patterns = ["*", "u:%X[0,0]", 'b:%m[-1,1,"x?"]', "u:%x[@-1,0]"]
    weights = {
        "*": [0.5] * 12,
        **{f"u:{w}": row for w, row in _WEIGHTS.items()},
        "b:x": [0.125] * 9,
    }
    small = wapiti_model(["u:%x[0,0]"], ["A"], {"u:a": [1.5]})
    return [wapiti_model(patterns, labels, weights), small]


def crfpp_seeds(kind: str) -> list[bytes]:
    """Return two small CRF++ models, "text" or "binary"."""
    from tests.io import foreign_files

    write = getattr(foreign_files, f"crfpp_{kind}")
    weights = {
        **{f"U00:{w}": row for w, row in _WEIGHTS.items()},
        **{f"U01:{w}/x": row for w, row in _WEIGHTS.items()},
        "B": [0.25] * 9,
        "B1:y": [0.5] * 9,
    }
    templates = ["U00:%x[0,0]", "U01:%x[0,0]/%x[0,1]", "B", "B1:%x[0,1]"]
    small = write(["U:%x[0,0]"], ["A"], {"U:a": [1.5]}, xsize=1)
    return [write(templates, ["N", "V", "D"], weights), small]


def wapiti_models(seeds: list[bytes]) -> Maker:
    """Make Wapiti models; one in ten is a valid file with changed patterns."""
    from tests.io.foreign_files import wapiti_model

    def make(rng: random.Random) -> bytes:
        if rng.random() < 0.9:
            return mutated(rng, seeds)
        patterns, labels, weights = _changed(rng, _WAPITI_LINES, (b"u", b"b", b"*"))
        return wapiti_model(patterns, labels, weights, kind=rng.choice((0, 2, 2)))

    return make


def crfpp_models(kind: str, seeds: list[bytes]) -> Maker:
    """Make CRF++ models; one in ten is a valid file with changed templates."""
    from tests.io import foreign_files

    write = getattr(foreign_files, f"crfpp_{kind}")

    def make(rng: random.Random) -> bytes:
        if rng.random() < 0.9:
            return mutated(rng, seeds)
        templates, labels, weights = _changed(rng, _CRFPP_LINES, (b"U", b"B"))
        data: bytes = write(templates, labels, weights, xsize=rng.choice((0, 1, 2, 3, 40)))
        return data

    return make


_WAPITI_LINES = [
    b"*", b"b", b"u", b"u:%X[0,0]", b'b:%m[-1,1,"x?"]', b"u:%x[@-1,0]", b"u:%x[0,0]",
    b'*:%t[@1,2,"^\\u.*$"]', b'u:a%M[ +3,0,"a?.\\P"]%x[-9,1]',
]  # fmt: skip
_CRFPP_LINES = [b"B", b"U", b"U00:%x[0,0]", b"U01:%x[0,0]/%x[0,1]", b"B1:%x[0,1]", b"U:%x[-4,2]"]


def _changed(
    rng: random.Random, lines: list[bytes], kinds: tuple[bytes, ...]
) -> tuple[list[str], list[str], dict[str, list[float]]]:
    """Return patterns, labels, and weights of features that the patterns may generate."""

    def text(line: bytes) -> str:
        return line.decode(errors="ignore").replace("\0", "").replace("\n", " ")

    patterns = [
        text(mutated(rng, lines, 60) if rng.random() < 0.2 else rng.choice(lines))
        for _ in range(rng.randrange(1, 5))
    ]
    labels = rng.sample(["N", "V", "D", "ß", "a b", "_"], rng.randrange(1, 4))
    ends = ["", ":a", "00:a", "01:a/x", "1:y", ":false", ":_x-1", ":z_B-4"]
    weights = {}
    for _ in range(rng.randrange(6)):
        kind = rng.choice(kinds).decode()
        n = {"u": 0, "U": 0, "b": 1, "B": 1, "*": 2}[kind]
        size = (len(labels), len(labels) ** 2, len(labels) * (len(labels) + 1))[n]
        row = [rng.choice((0.0, 1.5, -2.0, 1e-30, 1e30)) for _ in range(size)]
        weights[kind + rng.choice(ends)] = row
    return patterns, labels, weights


def read_foreign(read: Callable[..., Any]) -> Callable[[bytes], None]:
    """Return a function that reads a model and labels with it."""

    def label(data: bytes) -> None:
        tagger = read(memory_file(data))
        n_columns = tagger.model_.n_columns - 1
        tokens = [(*token, *["z"] * n_columns)[:n_columns] for token in _TOKENS]
        labels = tagger.predict([tokens])[0]
        assert set(labels) <= set(tagger.classes_)
        tagger.top_features()
        tagger.transitions()
        with suppress(CapabilityError):
            assert tagger.to_chain().predict(tagger.attributes([tokens]))[0] == labels

    return label


def changed_words(seeds: list[bytes]) -> Maker:
    """Make files of 32-bit words, half of them by changing words, so that the size stays right."""
    # Most of a file is a table of hashes; nonzero words are more interesting.
    filled = [[at for at in range(0, len(s) - 3, 4) if any(s[at : at + 4])] for s in seeds]

    def make(rng: random.Random) -> bytes:
        if rng.random() < 0.5:
            return mutated(rng, seeds)
        seed = rng.randrange(len(seeds))
        data, places = bytearray(seeds[seed]), filled[seed]
        for _ in range(rng.choice((1, 1, 2, 3, 6))):
            at = min(rng.choice(places) + rng.choice((0, 0, 0, 1, 2, 3)), len(data) - 4)
            (word,) = struct.unpack_from("<I", data, at)
            (other,) = struct.unpack_from("<I", data, rng.choice(places))
            numbers = (other, word + 1, word - 1, word + 4, word - 4, word + 12, 2 * word, 0, 1)
            new = rng.choice((*numbers, 2**31, 2**32 - 1, rng.getrandbits(32)))
            struct.pack_into("<I", data, at, new % 2**32)
        if rng.random() < 0.9:
            struct.pack_into("<I", data, 4, len(data))
        return bytes(data)

    return make
