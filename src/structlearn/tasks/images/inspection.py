"""What a segmenter has learned, and its segmentations beside gold ones: text, and pictures."""

from __future__ import annotations

import base64
import os
from typing import Any

import numpy as np

from ...drawing.overlay import mark_errors, overlay
from ...drawing.report import Report
from ...features.pixel_pairs import PAIR_NAMES
from ...io.image_folders import find_images, find_pairs, read_examples
from ...io.images import png_bytes, read_image
from ...metrics.overlap import compare
from ...models.ranking import heaviest
from ...printing import escape
from .model import SegmenterModel

#: Pixels along a side of an image in a page.
_SIDE = 480

_STYLE = """
.row{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(12rem,100%),1fr));gap:.8rem}
figure{margin:0} figcaption{color:var(--soft);font-size:.9rem}
img{width:100%;height:auto;image-rendering:pixelated;border-radius:.25rem}
.key{display:inline-flex;align-items:center;gap:.4rem;margin-right:1rem}
.key i{width:1rem;height:1rem;border-radius:.2rem;border:1px solid var(--line)}
"""


def pixel_facts(model: SegmenterModel) -> list[tuple[str, str]]:
    """Return what a model labels, and what it looks at."""
    labelled = f"{model.n_superpixels} superpixels" if model.n_superpixels else "every pixel"
    return [
        ("classes", ", ".join(model.coding.names)),
        ("masks", model.coding.kind),
        ("labelled", labelled),
        ("scales", ", ".join(f"{s:g}" for s in model.features.scales)),
        ("features", f"{len(model.basis)} per pixel, made from {len(model.features)} measurements"),
    ]


def class_weights(model: SegmenterModel, top: int) -> dict[str, list[tuple[str, float]]]:
    """Return (name, weight) of the heaviest features by class, against the mean of the classes."""
    names = model.basis.names(model.features.names)
    centred = model.label - model.label.mean(axis=1, keepdims=True)
    return {
        name: heaviest(zip(names, weights.tolist(), strict=True), top)
        for name, weights in zip(model.coding.names, centred.T, strict=True)
    }


def pair_weights(model: SegmenterModel) -> list[tuple[str, float]]:
    """Return (name, weight) of the features of neighbours with unequal classes, at most 0."""
    return [(name, -float(w)) for name, w in zip(PAIR_NAMES, model.pair, strict=True)]


def fill_report(report: Report, model: SegmenterModel) -> Report:
    """Return a report that says what is shown of a model, with the colours of its classes."""
    report.heading, report.style = "Strongest features, class by class", _STYLE
    report.what, report.parts = "images", "pixels"
    report.key = "".join(
        f'<span class="key"><i style="background:#{r:02x}{g:02x}{b:02x}"></i>{escape(name)}</span>'
        for name, (r, g, b) in zip(model.coding.names, model.coding.colours().tolist(), strict=True)
    )
    report.legend = 'Pixels that are wrong are <span class="red">red</span> in the last picture.'
    return report


def drawn(model: SegmenterModel, image: Any, found: Any, gold: Any, page: bool) -> dict[str, Any]:
    """Return a line on the classes of an image, how many are wrong, and in a page pictures."""
    names = model.coding.names
    shares = np.bincount(found.ravel(), minlength=len(names)) / found.size
    parts = zip(names, shares, strict=True)
    line, counts = ", ".join(f"{kind} {100 * share:.1f} %" for kind, share in parts), None
    if gold is not None:
        line += f"; IoU {100 * compare([gold], [found], len(names)).mean_iou:.2f}"
        known = gold >= 0
        counts = int((found != gold)[known].sum()), int(known.sum())
    figures = _figures(image, found, gold, model.coding.colours()) if page else None
    return {"lines": [line], "counts": counts, "picture": figures}


def _figures(image: Any, found: Any, gold: Any, colours: Any) -> str:
    """Return an image with its classes and errors, beside each other."""
    shown = [("image", overlay(image, np.full(found.shape, -1), colours))]
    if gold is not None:
        iou = compare([gold], [found], len(colours)).mean_iou
        shown.append(("gold", overlay(image, gold, colours)))
        shown.append((f"predicted, IoU {100 * iou:.1f}", overlay(image, found, colours)))
        shown.append(("errors", mark_errors(image, (found != gold) & (gold >= 0))))
    else:
        shown.append(("predicted", overlay(image, found, colours)))
    figures = "".join(
        f'<figure><img alt="{escape(caption)}" src="{_inline(one)}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
        for caption, one in shown
    )
    return f'<div class="row">{figures}</div>'


def _inline(picture: Any) -> str:
    """Return a picture as the text of a link; large ones are thinned out."""
    step = -(-max(picture.shape[:2]) // _SIDE)
    small = np.ascontiguousarray(picture[::step, ::step])
    return "data:image/png;base64," + base64.b64encode(png_bytes(small)).decode("ascii")


def images_to_show(
    model: SegmenterModel, source: Any, most: int
) -> tuple[list[Any], list[Any], list[str], int]:
    """Return images, their gold classes (None without masks) and names, and how many there are."""
    path = os.fspath(source)
    has_masks = os.path.isdir(path) and (
        os.path.isdir(os.path.join(path, "masks"))
        or any(os.path.splitext(f)[0].endswith("_mask") for f in os.listdir(path))
    )
    if has_masks:
        pairs = find_pairs(path)
        examples = read_examples(pairs[:most])
        names = [os.path.basename(e.name) for e in examples]
        gold: list[Any] = [model.coding.encode(e.mask) for e in examples]
        return [e.image for e in examples], gold, names, len(pairs)
    files = find_images(path)
    images = [read_image(name) for name in files[:most]]
    names = [os.path.basename(name) for name in files[:most]]
    return images, [None] * len(images), names, len(files)
