"""Model files of this library and of others.

Names are imported when first used.
"""

from __future__ import annotations

from ..lazy import lazy_names

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from ..tasks.tagging.foreign import read_crfpp, read_wapiti
    from .crfsuite import read_crfsuite
    from .crfsuite_writer import write_crfsuite

_HOMES = {
    "read_crfpp": ".tasks.tagging.foreign",
    "read_crfsuite": "crfsuite",
    "read_wapiti": ".tasks.tagging.foreign",
    "write_crfsuite": "crfsuite_writer",
}

__all__ = ["read_crfpp", "read_crfsuite", "read_wapiti", "write_crfsuite"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
