"""The labs: from a request to what the page shows. No lab computes before its sizes are checked."""

from __future__ import annotations

from typing import Any

from ..models import Models
from ..requests import Refused, Request

__all__ = ["LABS", "ask"]

LABS = ("sequence", "parse", "messages", "image", "learning", "constraints", "text")


def ask(lab: str, values: Any, models: Models) -> dict[str, Any]:
    """Return the answer of a lab, raising :class:`Refused` where the request is not answered."""
    request = Request(values)
    if lab == "text":
        from .text import answer as answer_text

        return answer_text(request, models)
    if lab == "parse":
        lab = request.choice("kind", ("dependencies", "constituents"))
    elif lab not in LABS:
        raise Refused(f"there is no lab {lab!r}")
    from importlib import import_module

    found: dict[str, Any] = import_module(f".{lab}", __name__).answer(request)
    return found
