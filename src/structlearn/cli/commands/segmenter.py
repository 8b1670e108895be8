"""Commands of segmenters: folders of images and masks."""

from __future__ import annotations

from ...printing import on_terminal
from .shared import fit_task, make_task, output_of, refuse, show_inside, show_scores

TYPE_CHECKING = False  # importing typing costs time at every start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["UNIT", "evaluate", "inspect", "label_options", "predict", "train"]

#: What progress counts.
UNIT = "pixels"


def train(o: Any) -> Callable[[], None]:
    """Learn a segmenter; return what saves it."""
    from ...tasks.images.segmenter import ImageSegmenter

    void = None if o.void == "none" else o.void
    segmenter = make_task(ImageSegmenter, o, void=void)
    fit_task(segmenter, o)
    return lambda: segmenter.save(o.model)


def predict(segmenter: Any, o: Any, progress: Any) -> int:
    """Write the masks of an image or of a folder of images."""
    options = label_options(o)
    output = output_of(o)
    if o.output in (None, "-") and on_terminal("stdout"):
        raise ValueError("a mask cannot be printed on a terminal: name a file or folder, --output")
    segmenter.label_file(o.input, output, **options, progress=progress)
    return 0


def label_options(o: Any) -> dict[str, Any]:
    """Return the options of ``label_file`` that the command line has."""
    refuse(
        "an image segmenter",
        o,
        "nbest",
        "confidence",
        "marginals",
        "known",
        "gold_tags",
        "format",
        "header",
    )
    return {"overlays": getattr(o, "overlay", None)}


def evaluate(segmenter: Any, o: Any) -> int:
    """Print the scores on images with masks."""
    refuse("an image segmenter", o, "confidence", "against", "gold_tags", "format", "header")
    return show_scores(segmenter, o, {}, {"confusions": o.confusions})


def inspect(segmenter: Any, o: Any) -> int:
    """Show what the segmenter has learned, and its segmentations."""
    from ...tasks.images.inspection import inspect_segmenter

    refuse("an image segmenter", o, "sentence")
    return show_inside(inspect_segmenter, segmenter, o)
