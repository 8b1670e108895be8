"""Corpora and feature templates: from text files to what taggers look at.

Names are imported when first used.
"""

from __future__ import annotations

from ..lazy import lazy_names

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from .corpus import Corpus, Sentence, read_corpus
    from .dependency_tree import DependencyTree
    from .formats import Format, register
    from .frames import read_frame
    from .presets import load_templates
    from .templates import FeatureTemplates
    from .trees import Tree

_HOMES = {
    "Corpus": "corpus",
    "Sentence": "corpus",
    "read_corpus": "corpus",
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
    "FeatureTemplates",
    "Format",
    "Sentence",
    "Tree",
    "load_templates",
    "read_corpus",
    "read_frame",
    "register",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
