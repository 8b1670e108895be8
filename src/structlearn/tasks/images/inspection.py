"""What a segmenter has learned, and its segmentations beside gold ones: text, and a page."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...drawing.overlay import mark_errors, overlay
from ...drawing.report import Choice, Report, Shown
from ...features.pixel_pairs import PAIR_NAMES
from ...fitting.learner_registry import learner_facts
from ...io.image_folders import find_images, find_pairs, read_examples
from ...io.images import png_bytes, read_image
from ...metrics.overlap import compare
from ...printing import escape
from .decisions import explain
from .model import SegmenterModel

__all__ = ["class_weights", "inspect_segmenter", "model_facts", "pair_weights"]

#: Pixels along a side of an image in a page.
_SIDE = 480

_STYLE = """
.row{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(12rem,100%),1fr));gap:.8rem}
figure{margin:0} figcaption{color:var(--soft);font-size:.9rem}
img{width:100%;height:auto;image-rendering:pixelated;border-radius:.25rem}
.key{display:inline-flex;align-items:center;gap:.4rem;margin-right:1rem}
.key i{width:1rem;height:1rem;border-radius:.2rem;border:1px solid var(--line)}
"""


def model_facts(model: SegmenterModel) -> list[tuple[str, str]]:
    """Return what a model is and how it was trained."""
    training = model.training
    passes = training.get("passes")
    how = "" if passes is None else f", {passes} {'pass' if passes == 1 else 'passes'}"
    facts = [
        ("learner", str(training.get("learner"))),
        *learner_facts(training),
        (
            "trained on",
            f"{training.get('images', 0):,} images, {training.get('pixels', 0):,} pixels{how}",
        ),
    ]
    if training.get("n_models", 1) > 1:
        facts.append(("models", f"the mean of {training['n_models']}, with different seeds"))
    coding = model.coding
    labelled = f"{model.n_superpixels} superpixels" if model.n_superpixels else "every pixel"
    facts += [
        ("classes", ", ".join(coding.names)),
        ("masks", coding.kind),
        ("labelled", labelled),
        ("scales", ", ".join(f"{s:g}" for s in model.features.scales)),
        ("features", f"{len(model.basis)} per pixel, made from {len(model.features)} measurements"),
    ]
    return facts


def class_weights(
    model: SegmenterModel, top: int, only: Sequence[str] | None
) -> dict[str, list[tuple[str, float]]]:
    """Return (name, weight) of the heaviest features by class, against the mean of the classes."""
    names = model.basis.names(model.features.names)
    centred = model.label - model.label.mean(axis=1, keepdims=True)
    if only is not None:
        unknown = [name for name in only if name not in model.coding.names]
        if unknown:
            known = ", ".join(model.coding.names)
            raise ValueError(f"unknown class {unknown[0]!r}; the model has {known}")
    found = {}
    for k, name in enumerate(model.coding.names):
        if only is None or name in only:
            order = np.argsort(-np.abs(centred[:, k]), kind="stable")[:top]
            found[name] = [(names[i], float(centred[i, k])) for i in order]
    return found


def pair_weights(model: SegmenterModel) -> list[tuple[str, float]]:
    """Return (name, weight) of the features of neighbours with unequal classes, at most 0."""
    return [(name, -float(w)) for name, w in zip(PAIR_NAMES, model.pair, strict=True)]


def inspect_segmenter(
    segmenter: Any,
    top: int = 10,
    source: Any = None,
    labels: Sequence[str] | None = None,
    most: int = 20,
    page: bool = False,
) -> str:
    """Return what a segmenter has learned, and the classes of images, as text or as a page.

    Parameters
    ----------
    top : int
        Features of each class.
    source : path, optional
        An image or a folder of them, with or without masks.
    labels : list of str, optional
        Only these classes.
    most : int
        The most images that are shown.
    page : bool
        As HTML, with the images, instead of text.
    """
    model: SegmenterModel = segmenter._fitted()
    report = Report(segmenter._title, model_facts(model), "Strongest features, class by class")
    report.what, report.parts, report.whole = "images", "pixels", "image"
    report.style = _STYLE
    report.features = {
        "neighbours of unequal class": pair_weights(model),
        **class_weights(model, top, labels),
    }
    colours = model.coding.colours()
    report.key = "".join(
        f'<span class="key"><i style="background:#{r:02x}{g:02x}{b:02x}"></i>{escape(name)}</span>'
        for name, (r, g, b) in zip(model.coding.names, colours.tolist(), strict=True)
    )
    report.legend = 'Pixels that are wrong are <span class="red">red</span> in the last picture.'
    shown, report.n_sentences = _segmented(segmenter, source, most)
    for name, image, found, gold in shown:
        report.has_gold = report.has_gold or gold is not None
        report.sentences.append(
            Shown(
                [_choice(d, found.size) for d in explain(model, image, found)] if page else [],
                _figures(image, found, gold, colours) if page else None,
                [_line(model, name, found, gold)],
                None if gold is None else _wrong(found, gold),
                os.path.basename(name),
            )
        )
    return report.html(top) if page else report.text(top)


def _choice(decision: dict[str, Any], n_pixels: int) -> Choice:
    share = f"{100 * decision['pixels'] / n_pixels:.1f} % of the image"
    rest = (decision["runner_up"], decision["margin"], decision["contributions"])
    return Choice(decision["label"], share, None, None, *rest)


def _wrong(found: Any, gold: Any) -> tuple[int, int]:
    known = gold >= 0
    return int((found != gold)[known].sum()), int(known.sum())


def _line(model: SegmenterModel, name: str, found: Any, gold: Any) -> str:
    """Return the shares of the classes in an image, and how good they are."""
    shares = np.bincount(found.ravel(), minlength=len(model.coding.names)) / found.size
    parts = zip(model.coding.names, shares, strict=True)
    line = ", ".join(f"{kind} {100 * share:.1f} %" for kind, share in parts)
    if gold is not None:
        line += f"; IoU {100 * compare([gold], [found], len(shares)).mean_iou:.2f}"
    return f"{name}: {line}"


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


def _segmented(
    segmenter: Any, source: Any, most: int
) -> tuple[list[tuple[str, Any, Any, Any]], int]:
    """Return name, image, predicted and gold classes (None without masks); how many there are."""
    if source is None:
        return [], 0
    model: SegmenterModel = segmenter._fitted()
    path = os.fspath(source)
    has_masks = os.path.isdir(path) and (
        os.path.isdir(os.path.join(path, "masks"))
        or any(os.path.splitext(f)[0].endswith("_mask") for f in os.listdir(path))
    )
    named: list[tuple[str, Any, Any]]
    if has_masks:
        pairs = find_pairs(path)
        total = len(pairs)
        examples = read_examples(pairs[:most])
        named = [(e.name, e.image, model.coding.encode(e.mask)) for e in examples]
    else:
        files = find_images(path)
        total = len(files)
        named = [(name, read_image(name), None) for name in files[:most]]
    found = model.segment_all([image for _, image, _ in named], threads=segmenter.n_threads)
    return [(*one[:2], labels, one[2]) for one, labels in zip(named, found, strict=True)], total
