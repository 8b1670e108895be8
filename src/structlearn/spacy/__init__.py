"""spaCy pipeline components that run our models: ``nlp.add_pipe("structlearn")``. Needs spaCy."""

from __future__ import annotations

try:
    import spacy  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "this needs spaCy: pip install 'structlearn[spacy]'",
        name="spacy",
    ) from None

from .component import Component, make_component

__all__ = ["Component", "make_component"]
