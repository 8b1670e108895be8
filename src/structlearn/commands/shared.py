"""Pieces that the commands of several tasks have in common."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["output_of", "print_json", "refuse", "write_page"]


def output_of(o: Any) -> Any:
    """Return where the result goes: a name, or standard output."""
    return sys.stdout.buffer if o.output in (None, "-") else o.output


def refuse(o: Any, *options: str) -> None:
    """Complain of options that only taggers have."""
    given = [name for name in options if getattr(o, name) not in (None, False, 1)]
    if given:
        raise ValueError(f"--{given[0]} is for taggers; {o.model} is none")


def print_json(found: Any) -> None:
    """Print one JSON object on a line."""
    import json

    print(json.dumps(found))


def write_page(path: str, page: str) -> None:
    """Write a page; an old file stays until the new one is whole."""
    from ..text.files import replaced

    with replaced(path) as file:
        file.write(page.encode())
