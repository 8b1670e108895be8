"""Our models inside pipelines of spaCy, which must be installed: ``nlp.add_pipe("structlearn")``."""

from __future__ import annotations

from .component import Component, make_component

__all__ = ["Component", "make_component"]
