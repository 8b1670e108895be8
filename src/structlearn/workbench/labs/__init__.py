"""The labs: functions from a request to the content of a page; sizes are checked first."""

from __future__ import annotations

from typing import Any

from ..models import Models
from ..requests import Refused, Request

__all__ = ["LABS", "ask"]

LABS = ("sequence", "parse", "messages", "image", "learning", "constraints", "text")


def ask(lab: str, values: Any, models: Models) -> dict[str, Any]:
    """Return the answer of a lab; :class:`Refused` if the request is invalid."""
    request = Request(values)
    if lab == "text":
        from .text import answer as answer_text

        return answer_text(request, models)
    if lab == "parse":
        lab = request.choice("kind", ("dependencies", "constituents"))
    elif lab not in LABS:
        raise Refused(f"there is no lab {lab!r}")
    from importlib import import_module

    response: dict[str, Any] = import_module(f".{lab}", __name__).answer(request)
    return response
