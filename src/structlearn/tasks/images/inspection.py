"""What a segmenter has learned, and its segmentations beside gold ones: text, and a page."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from ...drawing.overlay import overlay
from ...drawing.page import facts_list, html_page
from ...estimators.named import learner_facts
from ...features.pixel_pairs import PAIR_NAMES
from ...io.image_folders import find_images, find_pairs, read_examples
from ...io.images import png_bytes, read_image
from ...metrics.overlap import compare
from .model import SegmenterModel

__all__ = [
    "class_weights",
    "inspect_segmenter_html",
    "inspect_segmenter_text",
    "pair_weights",
]

#: Images of a folder that a page shows.
_MOST_SHOWN = 24

_STYLE = """
.row { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: .8rem;
  background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem;
  margin: 0 0 1rem; }
figure { margin: 0; } figcaption { color: var(--soft); font-size: .9rem; }
img { width: 100%; height: auto; image-rendering: pixelated; border-radius: .25rem; }
.name { grid-column: 1 / -1; overflow-wrap: anywhere; }
.key { display: inline-flex; align-items: center; gap: .4rem; margin-right: 1rem; }
.key i { width: 1rem; height: 1rem; border-radius: .2rem; border: 1px solid var(--line); }
.cards { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fill, minmax(18rem, 1fr)); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .6rem .8rem; } .card h3 { margin: 0 0 .4rem; font-size: 1rem; }
td { padding: .1rem .6rem .1rem 0; font-size: .85rem; vertical-align: top; }
td:first-child { text-align: right; font-variant-numeric: tabular-nums; }
.for { color: var(--for); } .against { color: var(--against); }
"""


def _facts(model: SegmenterModel) -> list[tuple[str, str]]:
    training = model.training
    known = [n for n in ("learner", "images", "pixels", "passes", "n_models") if n in training]
    facts = [(name.replace("_", " "), str(training[name])) for name in known]
    facts += learner_facts(training)
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


def _weights(
    model: SegmenterModel, top: int, only: Sequence[str] | None
) -> dict[str, list[tuple[float, str]]]:
    """Return, by class, the features with the largest weights, against the mean of the classes."""
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
            found[name] = [(float(centred[i, k]), names[i]) for i in order]
    return found


def class_weights(
    model: SegmenterModel, top: int, only: Sequence[str] | None
) -> dict[str, list[tuple[str, float]]]:
    """Return (name, weight) of the heaviest features by class."""
    return {k: [(name, w) for w, name in rows] for k, rows in _weights(model, top, only).items()}


def pair_weights(model: SegmenterModel) -> list[tuple[float, str]]:
    return [(float(w), name) for w, name in zip(model.pair, PAIR_NAMES, strict=True)]


def inspect_segmenter_text(
    segmenter: Any, *, top: int, labels: Sequence[str] | None, source: Any
) -> str:
    """Return facts, weights, and shares of the classes in images, as text."""
    model: SegmenterModel = segmenter._fitted()
    lines = [f"{name}: {value}" for name, value in _facts(model)]
    lines += ["", "what unequal neighbours lose"]
    lines += [f"  {weight:9.3f}  {name}" for weight, name in pair_weights(model)]
    for name, rows in _weights(model, top, labels).items():
        lines += ["", name, *(f"  {weight:+9.3f}  {what}" for weight, what in rows)]
    for name, _, found, gold in _segmented(segmenter, source):
        shares = np.bincount(found.ravel(), minlength=len(model.coding.names)) / found.size
        parts = zip(model.coding.names, shares, strict=True)
        line = ", ".join(f"{kind} {100 * share:.1f} %" for kind, share in parts)
        if gold is not None:
            line += f"; IoU {100 * compare([gold], [found], len(shares)).mean_iou:.2f}"
        lines += ["", f"{name}: {line}"]
    return "\n".join(lines)


def inspect_segmenter_html(
    segmenter: Any, *, top: int, labels: Sequence[str] | None, source: Any
) -> str:
    """Return the same as a page without anything from outside, with the images beside it."""
    model: SegmenterModel = segmenter._fitted()
    colours = model.coding.colours()
    parts = ["<h1>What the segmenter has learned</h1>", facts_list(_facts(model)), "<p>"]
    for name, colour in zip(model.coding.names, colours.tolist(), strict=True):
        shade = "#{:02x}{:02x}{:02x}".format(*colour)
        parts.append(f'<span class="key"><i style="background: {shade}"></i>{escape(name)}</span>')
    parts.append("</p>")
    for name, image, found, gold in _segmented(segmenter, source):
        blank = np.full(found.shape, -1)
        shown = [("image", blank), ("predicted", found)]
        if gold is not None:
            iou = compare([gold], [found], len(colours)).mean_iou
            shown = [
                ("image", blank),
                ("gold", gold),
                (f"predicted, IoU {100 * iou:.1f}", found),
            ]
        figures = "".join(
            f'<figure><img alt="{escape(caption)}" src="{_inline(overlay(image, one, colours))}">'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
            for caption, one in shown
        )
        parts.append(f'<div class="row"><div class="name">{escape(name)}</div>{figures}</div>')
    parts.append("<h2>What unequal neighbours lose</h2>")
    parts.append(_table(pair_weights(model)))
    parts.append('<h2>Strongest features, class by class</h2><div class="cards">')
    for name, rows in _weights(model, top, labels).items():
        parts.append(f'<section class="card"><h3>{escape(name)}</h3>{_table(rows)}</section>')
    parts.append("</div>")
    return html_page("Segmenter", parts, _STYLE)


def _table(rows: list[tuple[float, str]]) -> str:
    cells = "".join(
        f'<tr><td class="{"for" if w >= 0 else "against"}">{w:+.3f}</td><td>{escape(t)}</td></tr>'
        for w, t in rows
    )
    return f"<table>{cells}</table>"


def _inline(picture: Any) -> str:
    return "data:image/png;base64," + base64.b64encode(png_bytes(picture)).decode("ascii")


def _segmented(segmenter: Any, source: Any) -> list[tuple[str, Any, Any, Any]]:
    """Return name, image, predicted and (where there are masks) gold classes of images."""
    if source is None:
        return []
    model: SegmenterModel = segmenter._fitted()
    path = os.fspath(source)
    has_masks = os.path.isdir(path) and (
        os.path.isdir(os.path.join(path, "masks"))
        or any(os.path.splitext(f)[0].endswith("_mask") for f in os.listdir(path))
    )
    if has_masks:
        examples = read_examples(find_pairs(path)[:_MOST_SHOWN])
        named: list[tuple[str, Any, Any]] = [
            (e.name, e.image, model.coding.encode(e.mask)) for e in examples
        ]
    else:
        named = [(name, read_image(name), None) for name in find_images(path)[:_MOST_SHOWN]]
    found = model.segment_all([image for _, image, _ in named], threads=segmenter.n_threads)
    return [(*one[:2], labels, one[2]) for one, labels in zip(named, found, strict=True)]
