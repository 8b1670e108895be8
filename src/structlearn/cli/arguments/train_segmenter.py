"""Arguments of ``structlearn train segmenter``."""

from __future__ import annotations

import argparse

from .options import add_files, add_learner, add_training
from .values import count

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from argparse import ArgumentParser

__all__ = ["add_segmenter"]


def _scales(text: str) -> tuple[float, ...]:
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(0 < s <= 64 for s in found):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of scales in pixels, each at most 64, such as 1,2,4,8"
        )
    return found


def add_segmenter(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn train segmenter``."""
    add_files(p, "folder with images and masks", "FOLDER")
    add_learner(
        p,
        "segmenter",
        "adagrad",
        "crf learns by pseudo-likelihood, with C 10,000 divided by the number of images",
    )
    p.add_argument(
        "--superpixels",
        metavar="N",
        type=count(0),
        default=0,
        help="label about N regions per image instead of pixels; needs scikit-image "
        "(default: 0, pixels)",
    )
    p.add_argument(
        "--scales",
        metavar="LIST",
        type=_scales,
        default=(1.0, 2.0, 4.0, 8.0),
        help="radii of the blurred features in pixels (default: 1,2,4,8)",
    )
    p.add_argument(
        "--no-place", action="store_true", help="do not use the position in the image as a feature"
    )
    p.add_argument(
        "--classes",
        metavar="FILE",
        help="class names: one line per mask value, or JSON (a list, or an object by value)",
    )
    p.add_argument(
        "--void",
        metavar="VALUE",
        default="auto",
        help="mask value that means unknown: 0 to 255, #rrggbb, or none (default: 255, unless "
        "masks have it and one other value only)",
    )
    add_training(p)
