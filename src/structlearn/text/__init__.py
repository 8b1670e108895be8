"""Corpora and feature templates: from text files to what taggers look at.

Names are imported when first used.
"""

from __future__ import annotations

from ..lazy import lazy_names

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from .annotations import read_annotations
    from .conversion import convert_file
    from .corpus import Corpus, Sentence, read_corpus
    from .dependency_tree import DependencyTree
    from .formats import Format, register
    from .frames import read_frame
    from .presets import load_templates
    from .spans import Document, Span
    from .templates import FeatureTemplates
    from .tokenisers import tokeniser
    from .trees import Tree

_HOMES = {
    "Document": "spans",
    "Span": "spans",
    "convert_file": "conversion",
    "tokeniser": "tokenisers",
    "Corpus": "corpus",
    "Sentence": "corpus",
    "read_corpus": "corpus",
    "read_annotations": "annotations",
    "read_frame": "frames",
    "Format": "formats",
    "register": "formats",
    "load_templates": "presets",
    "FeatureTemplates": "templates",
    "DependencyTree": "dependency_tree",
    "Tree": "trees",
}

__all__ = [
    "Corpus",
    "DependencyTree",
    "Document",
    "FeatureTemplates",
    "Format",
    "Sentence",
    "Span",
    "Tree",
    "convert_file",
    "load_templates",
    "read_annotations",
    "read_corpus",
    "read_frame",
    "register",
    "tokeniser",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
