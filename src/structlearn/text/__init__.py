"""Corpora and feature templates: from text files to what taggers look at."""

from __future__ import annotations

from .corpus import Corpus, Sentence, read_corpus
from .presets import load_templates
from .templates import FeatureTemplates

__all__ = ["Corpus", "FeatureTemplates", "Sentence", "load_templates", "read_corpus"]
