"""From what users have — arrays, sparse matrices, strings, dictionaries — to feature rows."""

from .encoder import ExampleEncoder
from .hierarchy import ClassHierarchy
from .rows import Examples, FeatureRows

__all__ = ["ClassHierarchy", "ExampleEncoder", "Examples", "FeatureRows"]
