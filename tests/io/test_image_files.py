"""Images and masks in files: what is read, and what is refused, by name."""

import json
import zlib

import numpy as np
import pytest
from PIL import Image

from structlearn.exceptions import FileError
from structlearn.io.image_folders import find_images, find_pairs, read_examples
from structlearn.io.images import as_image, read_image
from structlearn.io.masks import MaskCoding, read_mask, read_names
from structlearn.tasks import ImageSegmenter
from tests.io.image_folders import folder, save, shapes


def test_images_of_every_kind(tmp_path):
    grey = np.arange(256, dtype=np.uint8).reshape(16, 16)
    colour = np.stack((grey, grey[::-1], grey.T), axis=-1)
    path = tmp_path / "x.png"
    expected = colour / np.float32(255)
    for array in (colour, np.dstack((colour, np.full_like(grey, 255)))):
        save(path, array)
        np.testing.assert_array_equal(read_image(path), expected)
    save(path, grey)
    np.testing.assert_array_equal(read_image(path)[..., 1], grey / np.float32(255))
    save(path, grey.astype(np.uint16) * 257)
    np.testing.assert_allclose(read_image(path)[..., 2], grey / 255, rtol=1e-6)
    Image.fromarray(grey > 100).save(path)
    np.testing.assert_array_equal(read_image(path)[..., 0], grey > 100)
    floats = tmp_path / "x.tif"
    save(floats, (grey / 255).astype(np.float32))
    np.testing.assert_allclose(read_image(floats)[..., 0], grey / 255, rtol=1e-6)
    save(tmp_path / "x.jpg", colour)
    assert np.abs(read_image(tmp_path / "x.jpg") - expected).mean() < 0.2


def test_large_pictures_of_one_colour(tmp_path):
    # Group 4 and WebP make pictures of a few bytes, which PNG's bound must not refuse.
    black = Image.new("1", (2600, 2600))
    black.save(tmp_path / "x.tif", compression="group4")
    Image.new("RGB", (2200, 2200)).save(tmp_path / "x.webp", lossless=True)
    black.save(tmp_path / "x.png")
    for name in ("x.tif", "x.webp", "x.png"):
        assert read_image(tmp_path / name).max() == 0
    black.save(tmp_path / "y.tif")
    assert read_image(tmp_path / "y.tif").max() == 0
    whole = (tmp_path / "y.tif").read_bytes()
    (tmp_path / "y.tif").write_bytes(
        whole.replace((2600).to_bytes(2, "little"), (9000).to_bytes(2, "little"))
    )
    with pytest.raises(FileError, match="made to fill the memory"):
        read_image(tmp_path / "y.tif")
    whole = (tmp_path / "x.png").read_bytes()
    header = whole[12:16] + (9000).to_bytes(4, "big") * 2 + whole[24:29]
    forged = whole[:12] + header + zlib.crc32(header).to_bytes(4, "big") + whole[33:]
    (tmp_path / "x.png").write_bytes(forged)
    with pytest.raises(FileError, match="damaged"):
        read_image(tmp_path / "x.png")


def test_images_that_are_refused(tmp_path):
    path = tmp_path / "x.png"
    save(path, np.dstack((np.zeros((4, 4, 3), np.uint8), np.full((4, 4), 9, np.uint8))))
    with pytest.raises(FileError, match=r"x\.png: it has transparent pixels"):
        read_image(path)
    save(path, np.random.default_rng(0).integers(0, 255, (40, 40, 3), dtype=np.uint8))
    whole = path.read_bytes()
    for content, reason in (
        (b"", "empty"),
        (b"hello there", "not a readable image"),
        (whole[: len(whole) // 2], "damaged"),
        (whole[:600] + b"\0" * 60 + whole[660:], "damaged"),
    ):
        path.write_bytes(content)
        with pytest.raises(FileError, match=rf"x\.png: .*{reason}"):
            read_image(path)
    with pytest.raises(FileError, match="no such file"):
        read_image(tmp_path / "none.png")
    spoiled = np.full((3, 3), np.nan, dtype=np.float32)
    save(tmp_path / "n.tif", spoiled)
    with pytest.raises(FileError, match="NaN"):
        read_image(tmp_path / "n.tif")
    for array, reason in (
        (spoiled, "NaN"),
        (np.full((3, 3), 2.0), "from 2 to 2"),
        (np.zeros((3, 3, 4)), "shape"),
        (np.zeros((0, 3)), "shape"),
        (np.array([["a"]]), "numbers"),
    ):
        with pytest.raises(ValueError, match=rf"image 7 .*{reason}"):
            as_image(array, "image 7")


@pytest.mark.parametrize("kind", ["grey", "palette", "bits", "colour"])
def test_masks_come_back_as_they_were(kind, tmp_path):
    labels = np.random.default_rng(0).integers(0, 2 if kind == "bits" else 3, (6, 7))
    path = tmp_path / "m.png"
    palette = [10, 20, 30, 40, 50, 60, 70, 80, 90]
    if kind == "bits":
        Image.fromarray(labels.astype(bool)).save(path)
    elif kind == "colour":
        save(path, np.array([[255, 0, 0], [0, 255, 0], [0, 0, 9]], np.uint8)[labels])
    else:
        save(path, labels.astype(np.uint8), palette if kind == "palette" else None)
    raw = read_mask(path)
    assert raw.kind == kind
    coding = MaskCoding.fit([raw], None, "auto")
    encoded = coding.encode(raw)
    again = tmp_path / "again.png"
    again.write_bytes(coding.png(encoded))
    other = read_mask(again)
    np.testing.assert_array_equal(other.values, raw.values)
    assert other.kind == kind
    assert other.palette[:9] == raw.palette[:9]
    np.testing.assert_array_equal(MaskCoding(**coding.to_json()).encode(other), encoded)


def test_what_is_void():
    def values(void, *seen):
        from structlearn.io.masks import mask_of_array

        raw = mask_of_array(np.array([seen]), "mask 0")
        coding = MaskCoding.fit([raw], None, void)
        return coding.values, coding.encode(raw).tolist()[0]

    assert values("auto", 0, 1, 255) == ([0, 1], [0, 1, -1])
    assert values("auto", 0, 255) == ([0, 255], [0, 1])
    assert values(None, 0, 1, 255) == ([0, 1, 255], [0, 1, 2])
    assert values("7", 0, 7, 9) == ([0, 9], [0, -1, 1])
    assert values("auto", 4, 2, -1) == ([2, 4], [1, 0, -1])
    for void in ("x", 300, 1.5, "-1"):
        with pytest.raises(ValueError, match="void must be"):
            values(void, 0, 1)


def test_names_of_classes(tmp_path):
    pairs = shapes(2)
    path = tmp_path / "names.json"
    path.write_text(json.dumps(["ground", "disc", "box", "unused"]))
    assert ImageSegmenter("crf", classes=path).fit(pairs).classes_ == ["ground", "disc", "box"]
    path.write_text("ground\ndisc\n\nbox\n")
    assert read_names(path) == ["ground", "disc", "box"]
    named = {0: "a", "1": "b", 2: "c"}
    assert ImageSegmenter("crf", classes=named).fit(pairs).classes_ == ["a", "b", "c"]
    with pytest.raises(FileError, match=r"mask 0: it has the value 2, but 2 classes are named"):
        ImageSegmenter("crf", classes=["ground", "disc"]).fit(pairs)
    with pytest.raises(ValueError, match="same name"):
        ImageSegmenter("crf", classes=["a", "a", "b"]).fit(pairs)
    path.write_text("[1")
    with pytest.raises(FileError, match="not JSON"):
        read_names(path)


def test_masks_that_are_refused(tmp_path):
    pairs = shapes(2)
    root = folder(tmp_path / "data", pairs)
    mask = root / "masks" / "01.png"
    good = mask.read_bytes()
    save(mask, pairs[1][1][:-1])
    with pytest.raises(FileError, match=r"01\.png: the mask is 32 x 23 pixels.*32 x 24"):
        read_examples(root)
    save(mask, pairs[1][0])
    with pytest.raises(FileError, match=r"01\.png: colour mask"):
        ImageSegmenter("crf").fit(root)
    mask.unlink()
    save(root / "masks" / "01.jpg", pairs[1][1])
    with pytest.raises(FileError, match="JPEG has lost"):
        ImageSegmenter("crf").fit(root)
    (root / "masks" / "01.jpg").unlink()
    with pytest.raises(FileError, match=r"01\.png: without a mask"):
        find_pairs(root)
    mask.write_bytes(good)
    (root / "images" / "00.png").unlink()
    with pytest.raises(FileError, match=r"00\.png: without an image"):
        find_pairs(root)
    with pytest.raises(FileError, match="at least two classes"):
        ImageSegmenter("crf").fit([(pairs[0][0], np.zeros((24, 32), int))])
    many = np.arange(24 * 32).reshape(24, 32) % 250
    with pytest.raises(FileError, match="too many for a mask"):
        ImageSegmenter("crf").fit([(pairs[0][0], many)])
    trained = ImageSegmenter("crf").fit(pairs)
    strange = pairs[0][1].copy()
    strange[3, 4] = 9
    # A value that training had not is wrong, as an unseen label is.
    known, unseen = (trained.evaluate([(pairs[0][0], mask)]) for mask in (pairs[0][1], strange))
    right = trained.predict([pairs[0][0]])[0][3, 4] == pairs[0][1][3, 4]
    assert unseen["accuracy"] == pytest.approx(known["accuracy"] - right / strange.size)


def test_folders(tmp_path):
    with pytest.raises(FileError, match="no such folder"):
        find_pairs(tmp_path / "none")
    with pytest.raises(FileError, match="no pictures"):
        find_pairs(tmp_path)
    with pytest.raises(FileError, match="no pictures"):
        find_images(tmp_path)
    image, mask = shapes(1)[0]
    save(tmp_path / "dog.jpg", image)
    save(tmp_path / "dog_mask.png", mask)
    (tmp_path / "notes.txt").write_text("x")
    assert find_pairs(tmp_path) == [(str(tmp_path / "dog.jpg"), str(tmp_path / "dog_mask.png"))]
    assert find_images(tmp_path) == [str(tmp_path / "dog.jpg")]
    save(tmp_path / "dog.png", image)
    with pytest.raises(FileError, match="same name"):
        find_pairs(tmp_path)
    (tmp_path / "masks").mkdir()
    with pytest.raises(FileError, match="no folder"):
        find_pairs(tmp_path)
    with pytest.raises(FileError, match="not a folder"):
        find_pairs(tmp_path / "dog.jpg")


def test_without_pillow(monkeypatch, tmp_path):
    import sys

    save(tmp_path / "x.png", np.zeros((2, 2), np.uint8))
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ValueError, match=r"structlearn\[images\]"):
        read_image(tmp_path / "x.png")
