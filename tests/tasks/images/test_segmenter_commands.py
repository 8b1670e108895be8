"""The command line of segmenters: from folders to a model to masks, and what goes wrong."""

import json

import numpy as np
import pytest
from PIL import Image

from structlearn.cli import run
from tests.io.image_folders import folder, save, shapes

PALETTE = [0, 0, 0, 200, 0, 0, 0, 0, 200]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    root = tmp_path_factory.mktemp("segmenter")
    pairs = shapes(6)
    folder(root / "train", pairs[:4], PALETTE)
    folder(root / "test", pairs[4:], PALETTE)
    assert run(["train", "segmenter", str(root / "train"), "--model", str(root / "m"),
                "--dev", str(root / "test"), "--max-iter", "2", "--quiet"]) == 0  # fmt: skip
    return root


def test_round_trip(place, tmp_path, capfd):
    assert run(["evaluate", str(place / "m"), str(place / "test"), "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert set(found["iou_by_class"]) == {"0", "1", "2"}
    assert {"accuracy", "iou", "pixels_per_second", "alone"} <= set(found)
    assert 0.5 < found["iou"] <= 1.0
    out, over = tmp_path / "out", tmp_path / "over"
    assert run(["predict", str(place / "m"), str(place / "test"), "--output", str(out),
                "--overlay", str(over)]) == 0  # fmt: skip
    right = total = 0
    for name in ("00.png", "01.png"):
        mask, gold = Image.open(out / name), Image.open(place / "test" / "masks" / name)
        assert mask.mode == "P"
        assert mask.getpalette()[:9] == PALETTE
        right += (np.asarray(mask) == np.asarray(gold)).sum()
        total += np.asarray(gold).size
        with Image.open(over / name) as shown:
            assert shown.size == gold.size
    assert right / total == pytest.approx(found["accuracy"])
    assert run(["evaluate", str(place / "m"), str(place / "test"), "--confusions", "2"]) == 0
    assert "taken for" in capfd.readouterr().out


def test_one_image_to_standard_output(place, tmp_path, capfdbinary):
    image = str(place / "test" / "images" / "00.png")
    assert run(["predict", str(place / "m"), image]) == 0
    written = capfdbinary.readouterr().out
    one = tmp_path / "one.png"
    assert run(["predict", str(place / "m"), image, "--output", str(one)]) == 0
    assert one.read_bytes() == written


def test_inspection(place, tmp_path, capfd):
    assert run(["inspect", str(place / "m"), "--top", "3", "--label", "1"]) == 0
    text = capfd.readouterr().out
    assert "border in one colour" in text
    assert text.count("\n1\n") == 1
    page = tmp_path / "page.html"
    assert run(["inspect", str(place / "m"), "--input", str(place / "test"),
                "--html", str(page)]) == 0  # fmt: skip
    html = page.read_text()
    assert html.count("data:image/png;base64,") == 8  # image, gold, predicted, errors
    assert "prefers-color-scheme: dark" in html
    assert "http" not in html
    assert run(["inspect", str(place / "m"), "--label", "9"]) == 1
    assert "no label '9'" in capfd.readouterr().err


def test_no_good_file_is_lost(place, tmp_path, capfd):
    model = (place / "m").read_bytes()
    save(place / "test" / "broken.png", np.zeros((2, 2), np.uint8))
    bad = tmp_path / "bad"
    folder(bad, [(np.zeros((5, 5, 3), np.uint8), np.zeros((4, 5), np.uint8))])
    assert run(["train", "segmenter", str(bad), "--model", str(place / "m"), "--quiet"]) == 1
    assert "they must have one size" in capfd.readouterr().err
    assert (place / "m").read_bytes() == model
    images = place / "test" / "images"
    before = (images / "00.png").read_bytes()
    assert run(["predict", str(place / "m"), str(images), "--output", str(images)]) == 1
    assert "would replace an image" in capfd.readouterr().err
    assert (images / "00.png").read_bytes() == before
    assert run(["predict", str(place / "m"), str(images)]) == 1
    assert "--output DIR" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "{m}", "{root}/test/images/00.png", "--nbest", "2"], "--nbest"),
        (["evaluate", "{m}", "{root}/test", "--gold-tags"], "--gold-tags does not work with an"),
        (["evaluate", "{m}", "{root}/test/images/00.png"], "not a folder"),
        (["evaluate", "{m}", "{root}/none"], "no such folder"),
        (["predict", "{m}", "{root}/m", "--output", "{root}/x.png"], "not a readable image"),
        (["train", "segmenter", "{root}/train", "--model", "{root}/x", "--void", "red"], "void"),
    ],
)
def test_errors_are_a_line(place, arguments, message, capfd):
    filled = [a.format(m=place / "m", root=place) for a in arguments]
    assert run(filled) == 1
    told = capfd.readouterr().err
    assert message in told
    assert told.startswith("structlearn: ")
    assert "Traceback" not in told
