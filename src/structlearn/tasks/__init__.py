"""Whole jobs on files: read, learn, label, evaluate.

Names are imported when first used.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from .constituents.parser import ConstituencyParser
    from .dependencies.parser import DependencyParser
    from .images.segmenter import ImageSegmenter
    from .images.segmenter import Segmenter as Segmenter
    from .pipeline.pipeline import Pipeline
    from .segments.tagger import SegmentTagger
    from .tagging.tagger import Tagger

_HOMES = {
    "ConstituencyParser": "constituents.parser",
    "DependencyParser": "dependencies.parser",
    "ImageSegmenter": "images.segmenter",
    "Pipeline": "pipeline.pipeline",
    "SegmentTagger": "segments.tagger",
    "Segmenter": "images.segmenter",  # the former name of ImageSegmenter
    "Tagger": "tagging.tagger",
}

__all__ = [
    "ConstituencyParser",
    "DependencyParser",
    "ImageSegmenter",
    "Pipeline",
    "SegmentTagger",
    "Tagger",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
