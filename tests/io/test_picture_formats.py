"""Picture files as cameras, painters and annotators write them: read right, or refused by name."""

import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from structlearn.exceptions import FileError
from structlearn.io.image_folders import read_examples
from structlearn.io.images import read_image
from structlearn.io.masks import MaskCoding, read_mask
from structlearn.tasks import ImageSegmenter
from tests.io.image_folders import save, shapes

RNG = np.random.default_rng(0)
COLOUR = RNG.integers(0, 256, (6, 9, 3), dtype=np.uint8)
GREY = COLOUR[..., 0]
LABELS = RNG.integers(0, 3, (6, 9)).astype(np.uint8)
ORIENTATION = 0x0112


def write_png(path, width, height, depth, kind, rows):
    """A PNG file by hand, whose header may say anything."""

    def chunk(name, content):
        check = struct.pack(">I", zlib.crc32(name + content))
        return struct.pack(">I", len(content)) + name + content + check

    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def attempt(path):
    """Return the picture of a file, or the error that names it."""
    try:
        return read_image(path), None
    except FileError as error:
        return None, error


# -- images ---------------------------------------------------------------------------------------


def test_palettes(tmp_path):
    path = tmp_path / "x.png"
    picture = Image.fromarray(COLOUR).quantize(16)
    table = np.array(picture.getpalette()).reshape(-1, 3)
    expected = table[np.asarray(picture)] / np.float32(255)
    picture.save(path)
    np.testing.assert_allclose(read_image(path), expected, atol=1e-7)
    picture.save(path, transparency=bytes([255] * 16))  # opaque all the same
    np.testing.assert_allclose(read_image(path), expected, atol=1e-7)
    picture.save(path, transparency=int(np.asarray(picture)[2, 3]))
    with pytest.raises(FileError, match=r"x\.png: it has transparent pixels"):
        read_image(path)


def test_sixteen_bits(tmp_path):
    path = tmp_path / "x.png"
    dark = RNG.integers(0, 200, (6, 9)).astype(np.uint16)
    for grey in (RNG.integers(0, 65536, (6, 9)).astype(np.uint16), dark):
        save(path, grey)
        np.testing.assert_allclose(read_image(path)[..., 1], grey / 65535, atol=1e-7)
    colour = RNG.integers(0, 65536, (6, 9, 3)).astype(">u2")
    write_png(path, 9, 6, 16, 2, b"".join(b"\0" + row.tobytes() for row in colour))
    np.testing.assert_allclose(read_image(path), colour / 65535, atol=1 / 255)


@pytest.mark.parametrize("kind", ["jpg", "png", "tif"])
def test_cameras_that_were_turned(kind, tmp_path):
    """The eight ways of EXIF, as its standard words them."""
    flat = np.repeat(np.repeat(COLOUR, 16, axis=0), 16, axis=1)  # blocks that survive JPEG
    right = {
        1: flat,
        2: flat[:, ::-1],
        3: flat[::-1, ::-1],
        4: flat[::-1],
        5: flat.transpose(1, 0, 2),
        6: np.rot90(flat, -1),
        7: flat[::-1, ::-1].transpose(1, 0, 2),
        8: np.rot90(flat),
    }
    path = tmp_path / f"x.{kind}"
    for way, expected in right.items():
        exif = Image.Exif()
        exif[ORIENTATION] = way
        options = {"quality": 100, "subsampling": 0} if kind == "jpg" else {}
        Image.fromarray(flat).save(path, exif=exif, **options)
        found = read_image(path)
        assert found.shape == expected.shape, way
        assert np.abs(found - expected / 255).max() < 0.05, way


@pytest.mark.parametrize("place", range(6, 40))
def test_spoiled_notes_of_a_camera(place, tmp_path):
    """A byte of the EXIF note is wrong: the picture is there, or the file is named."""
    path = tmp_path / "x.jpg"
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    Image.fromarray(COLOUR).save(path, exif=exif)
    content = bytearray(path.read_bytes())
    content[content.index(b"Exif") + place] ^= 0xFF
    path.write_bytes(content)
    found, error = attempt(path)
    assert "x.jpg: " in str(error) if error else found.shape in ((6, 9, 3), (9, 6, 3))


@pytest.mark.parametrize("kind", ["gif", "png", "tif", "webp"])
def test_frames(kind, tmp_path):
    path = tmp_path / f"x.{kind}"
    first, second = Image.fromarray(COLOUR), Image.fromarray(255 - COLOUR)
    first.save(path, save_all=True, append_images=[second])
    for read in (read_image, read_mask):
        with pytest.raises(FileError, match="it has 2 frames: save the one that is meant"):
            read(path)
    first.save(path)
    assert read_image(path).shape == (6, 9, 3)


def test_previews_beside_a_photograph(tmp_path):
    """Phones write JPEG with further pictures in it; the first is the photograph."""
    path = tmp_path / "x.jpg"
    Image.fromarray(COLOUR).save(
        path, format="MPO", save_all=True, append_images=[Image.fromarray(255 - COLOUR)]
    )
    plain = tmp_path / "y.jpg"
    Image.fromarray(COLOUR).save(plain)
    np.testing.assert_array_equal(read_image(path), read_image(plain))
    with pytest.raises(FileError, match="JPEG has lost"):
        read_mask(path)


@pytest.mark.parametrize(
    "size", [(30_000, 30_000), (2**31 - 1, 1), (1, 2**31 - 1), (100_000, 1_001), (15_000, 9_000)]
)
def test_bombs(size, tmp_path):
    """A few bytes that claim more pixels than memory holds are not unpacked."""
    path = tmp_path / "x.png"
    write_png(path, *size, 8, 0, b"\0" * 100)
    for read in (read_image, read_mask):
        with pytest.raises(FileError, match=r"pixels.*make it smaller, or cut it up") as caught:
            read(path)
        assert "damaged" not in str(caught.value)


def test_bombs_below_the_limit(tmp_path):
    """A canvas of 23 million pixels in a file of 123 bytes; one that its bytes can hold is read."""
    path = tmp_path / "x.gif"
    Image.fromarray(np.eye(8, dtype=np.uint8)).save(path)
    content = bytearray(path.read_bytes())
    content[6:10] = (15112).to_bytes(2, "little") + (1536).to_bytes(2, "little")
    path.write_bytes(content)
    for read in (read_image, read_mask):
        with pytest.raises(FileError, match=r"x\.gif: 15112 x 1536 pixels in .* damaged"):
            read(path)
    blank = tmp_path / "blank.png"
    Image.new("1", (2100, 2100), 1).save(blank)
    assert read_mask(blank).values.shape == (2100, 2100)


@pytest.mark.parametrize("kind", ["png", "jpg", "gif", "bmp", "tif", "webp"])
def test_files_that_end_too_soon(kind, tmp_path):
    """Wherever they end: the whole picture, or an error with the file's name."""
    path = tmp_path / f"x.{kind}"
    save(path, RNG.integers(0, 256, (16, 16), dtype=np.uint8))
    whole, right = path.read_bytes(), read_image(path)
    refused = 0
    for length in [0, 1, 4, *range(8, len(whole), max(1, len(whole) // 40))]:
        path.write_bytes(whole[:length])
        found, error = attempt(path)
        assert f"x.{kind}: " in str(error) if error else np.array_equal(found, right)
        refused += error is not None
    assert refused > 10


# -- masks ----------------------------------------------------------------------------------------


def test_masks_are_turned_like_their_images(tmp_path):
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    mask = tmp_path / "m.png"
    Image.fromarray(LABELS).save(mask, exif=exif)
    np.testing.assert_array_equal(read_mask(mask).values, np.rot90(LABELS, -1))
    image = tmp_path / "x.jpg"
    Image.fromarray(COLOUR).save(image, exif=exif)
    (example,) = read_examples([(image, mask)])
    assert example.image.shape[:2] == example.mask.values.shape == (9, 6)
    save(mask, LABELS)
    with pytest.raises(FileError, match=r"m\.png: the mask is 9 x 6.*6 x 9.*EXIF note"):
        read_examples([(image, mask)])


def test_masks_that_lost_their_values(tmp_path):
    path = tmp_path / "m.webp"
    for options in ({}, {"exif": Image.Exif(), "quality": 90}):
        Image.fromarray(COLOUR).save(path, **options)
        with pytest.raises(FileError, match=r"m\.webp: .*has lost its exact values"):
            read_mask(path)
    Image.fromarray(COLOUR).save(path, lossless=True)
    found = read_mask(path).values
    np.testing.assert_array_equal(found >> 16, COLOUR[..., 0])
    np.testing.assert_array_equal(found & 255, COLOUR[..., 2])


def test_masks_of_few_bits(tmp_path):
    path = tmp_path / "m.png"
    picture = Image.fromarray(LABELS)
    picture.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0])
    for bits in (2, 4, 8):
        picture.save(path, bits=bits)
        mask = read_mask(path)
        assert mask.kind == "palette"
        np.testing.assert_array_equal(mask.values, LABELS)
    save(path, LABELS.astype(np.uint16))
    np.testing.assert_array_equal(read_mask(path).values, LABELS)
    save(path, LABELS.astype(np.uint16) * 200)
    with pytest.raises(FileError, match="a mask with the value 400"):
        read_mask(path)
    save(tmp_path / "m.tif", LABELS.astype(np.int32) - 1)
    with pytest.raises(FileError, match="a mask with the value -1"):
        read_mask(tmp_path / "m.tif")


def test_unseen_colours_are_wrong(tmp_path):
    colours = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255]], np.uint8)
    image, _ = shapes(1)[0]
    mask = np.where(np.arange(image.shape[1])[:, None] % 2 == 0, colours[0], colours[1])
    mask = np.broadcast_to(mask, image.shape).astype(np.uint8).copy()
    good, bad = tmp_path / "good.png", tmp_path / "bad.png"
    save(good, mask)
    trained = ImageSegmenter("crf").fit([(image, good)])
    before = mask[3, 4].copy()
    mask[3, 4] = colours[2]
    save(bad, mask)
    found = trained.evaluate([(image, bad)])
    best = trained.evaluate([(image, good)])
    right = int(np.array_equal(trained.predict([image])[0][3, 4], before))
    n = found["pixels"]
    assert found["accuracy"] == pytest.approx(best["accuracy"] - right / n)
    assert found["iou_by_class"]["not in training"] == 0.0
    assert found["iou"] == pytest.approx(np.mean(list(found["iou_by_class"].values())))
    assert "not in training" in trained.report([(image, bad)])
    learned = MaskCoding.fit([read_mask(good)], None, "auto")
    message = (
        r"bad\.png: the value #0000ff at row 3, column 4 \(1 pixels\) is not a class; classes are"
    )
    with pytest.raises(FileError, match=message):
        learned.encode(read_mask(bad))


@pytest.mark.parametrize("mask", [None, [[0], [0, 1]], np.array([None, 1]), 1.5, "x"])
def test_masks_that_are_none(mask):
    with pytest.raises(ValueError, match=r"mask 0|x: no such file"):
        read_examples([(COLOUR, mask)])


@pytest.mark.parametrize("pair", [None, 7, "ab", (COLOUR,), (COLOUR, LABELS, LABELS)])
def test_pairs_that_are_none(pair):
    with pytest.raises(ValueError, match="item 1 is not"):
        read_examples([(COLOUR, LABELS), pair])


@pytest.mark.parametrize("source", [None, 7, b"x", {"a": 1}])
def test_sources_that_are_none(source):
    segmenter = ImageSegmenter("crf").fit(shapes(2))
    for ask in (segmenter.predict, segmenter.evaluate, segmenter.score, segmenter.fit):
        with pytest.raises(ValueError, match="images are a file's or a folder's name, or a list"):
            ask(source)


def test_no_images():
    segmenter = ImageSegmenter("crf").fit(shapes(2))
    assert segmenter.predict([]) == []
    with pytest.raises(ValueError, match="there are no images"):
        segmenter.evaluate([])
    with pytest.raises(ValueError, match=r"image 0 must have shape .*got \(4, 5, 4\)"):
        segmenter.predict(np.zeros((4, 5, 4)))  # with alpha, not four grey pictures


@pytest.mark.parametrize("regions", [1, 2, 50, 10**6])
def test_regions_of_odd_pictures(regions):
    """More regions than pixels, a single row, a single pixel: a class for each of them."""
    pytest.importorskip("skimage")
    pairs = shapes(2)
    segmenter = ImageSegmenter("crf", superpixels=regions).fit(pairs)
    known = set(segmenter.model_.coding.values)
    for size in ((1, 1), (1, 7), (30, 2), (17, 19)):
        (found,) = segmenter.predict([RNG.random((*size, 3))])
        assert found.shape == size
        assert set(np.unique(found)) <= known
