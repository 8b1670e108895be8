"""A Model is to prediction what a Problem is to learning: one hook, and every query once.

Names are imported when first used.
"""

from __future__ import annotations

from ..lazy import lazy_names

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from .string_chain import StringChain

_HOMES = {"StringChain": "string_chain"}

__all__ = ["StringChain"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
