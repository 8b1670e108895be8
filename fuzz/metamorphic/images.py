"""Relations on images: order, batches, files, masks, class names, void pixels, superpixels."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.memory_file import memory_folder
from fuzz.metamorphic.answers import Different, demand_same, plain
from fuzz.metamorphic.oracles.overlap_scores import overlap_scores
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import TASKS, Subject
from structlearn.cli import run
from structlearn.features import pixels
from structlearn.features.pixel_pairs import superpixels
from structlearn.io.images import as_image
from structlearn.tasks import ImageSegmenter

__all__: list[str] = []

Rng = np.random.Generator
IMAGES = {"images": TASKS["images"]}
ROUNDING = 1e-9
#: Models of the pool.
POOL = 10
_GEOMETRY = {
    "flips, turns and scalings": "the place in the image is a feature, blurs end at its borders, "
    "and α-expansion takes classes and pixels in their order"
}


def _bytes(image: Any) -> np.ndarray:
    """Return an image as whole numbers from 0 to 255."""
    return np.round(as_image(image, "image") * 255).astype(np.uint8)


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=memory_folder()) as name:
        yield Path(name)


def _save(array: np.ndarray, path: Path, mode: str | None = None) -> str:
    from PIL import Image

    picture = Image.fromarray(array)
    (picture if mode is None else picture.convert(mode)).save(path)
    return str(path)


@relation("images: order", IMAGES, not_claimed=_GEOMETRY)
def order(subject: Subject, rng: Rng) -> None:
    """Images in another order, each alone, and as whole numbers or fractions: the same masks."""
    model, X = subject.fitted(rng, POOL), subject.inputs(rng, int(rng.integers(1, 4)))
    X = [_bytes(image) for image in X]
    masks = plain(model.predict(X))
    match change := str(rng.choice(("another order", "one by one", "fractions", "16 bits"))):
        case "another order":
            moved = rng.permutation(len(X)).tolist()
            masks, answers = [masks[i] for i in moved], model.predict([X[i] for i in moved])
        case "one by one":
            answers = [model.predict([image])[0] for image in X]
        case "fractions":
            answers = model.predict([image / 255 for image in X])
        case _:
            answers = model.predict([image.astype(np.uint16) * 257 for image in X])
    demand_same(change, masks, plain(answers))


@relation("images: files", IMAGES)
def files(subject: Subject, rng: Rng) -> None:
    """Files, folders and written masks equal arrays; grey is three equal colours."""
    from PIL import Image

    model, X = subject.fitted(rng, POOL), [_bytes(image) for image in subject.inputs(rng, 2)]
    grey = bool(rng.integers(2))
    if grey:
        X = [image.mean(axis=2).astype(np.uint8) for image in X]
    masks = plain(model.predict(X))
    route = str(rng.choice(("files", "folder", "written masks", "grey and colours")[: 3 + grey]))
    if route == "grey and colours":
        colours = [np.repeat(x[..., np.newaxis], 3, axis=2) for x in X]
        demand_same(route, masks, plain(model.predict(colours)))
        return
    with _folder() as folder:
        (folder / "images").mkdir()
        mode = (None, "RGB" if grey else "RGBA")[int(rng.integers(2))]
        names = [_save(x, folder / "images" / f"{i}.png", mode) for i, x in enumerate(X)]
        if route == "written masks":
            model.label_file(folder, folder / "masks")
            answers = [np.asarray(Image.open(folder / "masks" / f"{i}.png")) for i in range(len(X))]
        else:
            answers = model.predict(names if route == "files" else folder)
    demand_same(route, masks, plain(answers))


def _scores(found: dict[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in ("accuracy", "iou", "iou_by_class")}


@relation("images: scores", IMAGES, claim="to 1e-9")
def scores(subject: Subject, rng: Rng) -> None:
    """Scores are those of plain loops; void pixels do not count, whatever is predicted there."""
    model = subject.fitted(rng, POOL)
    examples = subject.draw(rng).X[: int(rng.integers(1, 4))]
    images, masks = [x for x, _ in examples], [np.array(m, dtype=np.int64) for _, m in examples]
    hidden = [np.where(rng.random(m.shape) < 0.2, -1, m) for m in masks]
    names = model.classes_
    figures = model.evaluate(images, hidden)
    match int(rng.integers(4)):
        case 0:
            demand_same("score", figures["iou"], model.score(images, hidden))
        case 1:
            grey = [np.where(m < 0, 255, m).astype(np.uint8) for m in hidden]
            demand_same(
                "void by its value", _scores(figures), _scores(model.evaluate(images, grey))
            )
        case alone:
            neighbours = alone == 2
            predicted = [m.astype(np.int64) for m in model.predict(images, neighbours=neighbours)]
            expected = overlap_scores(hidden, predicted, None)
            by_class = {name: expected["iou_by_class"].get(int(name)) for name in names}
            demand_same(f"neighbours {neighbours}", {**expected, "iou_by_class": by_class},
                        _scores(figures if neighbours else figures["alone"]), ROUNDING)  # fmt: skip


@relation("images: command line", IMAGES, cost="fit")
def command_line(subject: Subject, rng: Rng) -> None:
    """`structlearn evaluate --json` of a folder prints what `evaluate` gives for arrays."""
    model = subject.fitted(rng, POOL)
    examples = [(_bytes(x), np.asarray(m, np.uint8)) for x, m in subject.draw(rng).X[:2]]
    with _folder() as folder:
        for name, k in (("images", 0), ("masks", 1)):
            (folder / name).mkdir()
            for i, pair in enumerate(examples):
                _save(pair[k], folder / name / f"{i}.png")
        model.save(folder / "own.model")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = run(["evaluate", str(folder / "own.model"), str(folder), "--json"])
        if code:
            raise Different(f"exit code {code}")
        printed = json.loads(out.getvalue())
    figures = model.evaluate([x for x, _ in examples], [m for _, m in examples])
    demand_same("evaluate --json", _scores(figures), _scores(printed))


@relation(
    "images: superpixels",
    IMAGES,
    not_claimed={"their number": "SLIC makes about as many regions as were asked for"},
)
def regions(subject: Subject, rng: Rng) -> None:
    """A superpixel has one class."""
    model, image = subject.fitted(rng, POOL), subject.inputs(rng, 1)[0]
    if not model.superpixels:
        return
    numbers = superpixels(as_image(image, "image"), model.superpixels)
    mask = model.predict([image])[0]
    for region in np.unique(numbers):
        if len(np.unique(mask[numbers == region])) > 1:
            raise Different(f"region {region} has several classes")


@contextlib.contextmanager
def _low_strips() -> Iterator[None]:
    """Process images sixteen rows at a time, as is usual only for wide ones."""
    before, pixels._STRIP = pixels._STRIP, 0
    try:
        yield
    finally:
        pixels._STRIP = before


@relation("images: strips", IMAGES)
def strips(subject: Subject, rng: Rng) -> None:
    """A tall image strip by strip, on any number of threads, and in one piece."""
    model = subject.fitted(rng, POOL)
    image = np.concatenate(subject.inputs(rng, int(rng.integers(2, 4))))
    features = model.model_.features
    whole = features.compute(as_image(image, "image")), model.predict([image])[0]
    threaded = copy.copy(model).set_params(n_jobs=int(rng.integers(1, 4)))
    with _low_strips():
        parts = features.compute(as_image(image, "image")), threaded.predict([image])[0]
    for name, array, other in zip(("features", "masks"), whole, parts, strict=True):
        if array.tobytes() != other.tobytes():
            demand_same(name, plain(array), plain(other))


# -- masks in other formats ---------------------------------------------------------------------

#: Colours in the order of their numbers, which is that of the classes.
COLOURS = ((0, 0, 9), (0, 200, 30), (90, 0, 0), (250, 250, 250))


def _grey_values(mask: Any, folder: Path, i: int) -> Any:
    return (np.asarray(mask) * 40 + 3).astype(np.uint8)


def _colours(mask: Any, folder: Path, i: int) -> Any:
    return np.array(COLOURS, dtype=np.uint8)[np.asarray(mask)]


def _grey_file(mask: Any, folder: Path, i: int) -> Any:
    return _save(np.asarray(mask, dtype=np.uint8), folder / f"{i}.png")


def _palette_file(mask: Any, folder: Path, i: int) -> Any:
    from PIL import Image

    picture = Image.fromarray(np.asarray(mask, dtype=np.uint8))
    picture.putpalette([channel for colour in COLOURS for channel in colour])
    picture.save(folder / f"{i}.png")
    return str(folder / f"{i}.png")


#: Name -> (mask, folder, number) -> the mask in another format, or its file.
MASKS: dict[str, Callable[[Any, Path, int], Any]] = {
    "other values": _grey_values,
    "colours": _colours,
    "file of grey values": _grey_file,
    "file with a palette": _palette_file,
    "names": lambda mask, folder, i: mask,
}


@relation(
    "images: masks",
    MASKS,
    cost="fit",
    not_claimed={"values in another order": "α-expansion takes classes in their order"},
)
def masks_in_other_formats(write: Callable[[Any, Path, int], Any], rng: Rng) -> None:
    """Masks in other formats and classes by other names give the same model and written masks."""
    drawn = IMAGES["images"].draw(rng)
    model = drawn.fit()
    with _folder() as folder:
        X = [(x, write(np.asarray(m), folder, i)) for i, (x, m) in enumerate(drawn.X)]
        other = ImageSegmenter(**drawn.estimator.get_params())
        if write is MASKS["names"]:
            other.set_params(classes=[f"class {k}" for k in range(4)])
        other.fit(X)
    images = IMAGES["images"].inputs(rng, 2)
    # Of files the values are those of the masks.
    expected = [m if write not in (_grey_values, _colours) else write(m, folder, 0)
                for m in model.predict(images)]  # fmt: skip
    demand_same("masks", plain(expected), plain(other.predict(images)))
    demand_same("weights", plain(model.model_.label), plain(other.model_.label))
