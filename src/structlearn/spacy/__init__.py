"""Our models as components of spaCy's pipelines: ``nlp.add_pipe("structlearn")``. Needs spaCy."""

from __future__ import annotations

from .component import Component, make_component

__all__ = ["Component", "make_component"]
