"""Models over HTTP: ``structlearn serve``, and the same as an ASGI application.

Needs Starlette and uvicorn: ``pip install structlearn-core[serve]``. Nothing else of the library
imports them. Names are imported when first used.
"""

from __future__ import annotations

from ..lazy import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .app import make_app
    from .settings import Settings

__all__ = ["Settings", "make_app"]

__getattr__, __dir__ = lazy_names(__name__, {"Settings": "settings", "make_app": "app"})
