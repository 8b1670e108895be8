"""Models in files, of this library and of others.

Names are imported when first used.
"""

from __future__ import annotations

from ..lazy import lazy_names

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from .crfsuite import read_crfsuite
    from .crfsuite_writer import write_crfsuite

_HOMES = {"read_crfsuite": "crfsuite", "write_crfsuite": "crfsuite_writer"}

__all__ = ["read_crfsuite", "write_crfsuite"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
