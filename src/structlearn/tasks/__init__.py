"""Whole jobs on files: read, learn, label, evaluate.

Names are imported when first used.
"""

from __future__ import annotations

from ..lazy import lazy_names

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from .constituents.parser import ConstituencyParser
    from .dependencies.parser import DependencyParser
    from .images.segmenter import ImageSegmenter
    from .pipeline.pipeline import Pipeline
    from .segments.tagger import SegmentTagger
    from .tagging.tagger import Tagger
    from .words.lattice import LatticeSegmenter
    from .words.segmenter import WordSegmenter

_HOMES = {
    "ConstituencyParser": "constituents.parser",
    "DependencyParser": "dependencies.parser",
    "ImageSegmenter": "images.segmenter",
    "LatticeSegmenter": "words.lattice",
    "Pipeline": "pipeline.pipeline",
    "SegmentTagger": "segments.tagger",
    "Tagger": "tagging.tagger",
    "WordSegmenter": "words.segmenter",
}

__all__ = [
    "ConstituencyParser",
    "DependencyParser",
    "ImageSegmenter",
    "LatticeSegmenter",
    "Pipeline",
    "SegmentTagger",
    "Tagger",
    "WordSegmenter",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
