"""Labels and constraints of a session, kept in a small file beside the answers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..constraints.text import stored
from ..exceptions import FileError, LineError
from ..text.files import parsed_json, read_bytes, replaced

#: What cannot be in a label: it would mean something else in a constraint or in a file.
_BAD = re.compile(r"""[\s'"|,\x00-\x1f\x7f]""")
MOST_LABELS, LONGEST = 200, 60


class Settings:
    """Labels, in the order of their keys, and constraints.

    Parameters
    ----------
    path : str
        The file; it is written when something changes.
    labels : sequence of str
        Those of the command line.
    constraints : str, optional
        Those of the command line.

    The file is what the page was last told. Of the command line only what is new since then counts:
    a label that was taken out on the page does not come back with the same command.
    """

    def __init__(self, path: str, labels: Sequence[str], constraints: str | None = None) -> None:
        self.path = path
        named = [checked_label(one) for one in labels]
        self._given = {"labels": named, "constraints": constraints}
        before = self._read()
        given_before = before.get("given", {})
        new = [one for one in named if one not in given_before.get("labels", [])]
        self.labels = [*dict.fromkeys([*before.get("labels", []), *new])]
        if constraints is None or constraints == given_before.get("constraints"):
            constraints = before.get("constraints", "")
        check_constraints(constraints)
        self.constraints = constraints

    def _read(self) -> dict[str, Any]:
        """Return what the file holds; FileError where the page cannot have written it."""
        if not os.path.exists(self.path):
            return {}
        try:
            values = parsed_json(read_bytes(self.path).decode(errors="replace"))
            listed, given = values.get("labels"), values.get("given", {})
            if not all(type(one) is str for one in [*listed, *given.get("labels", [])]):
                raise ValueError("labels are texts")
            check_constraints(values.get("constraints"))
        except (LineError, ValueError, TypeError, AttributeError):
            raise FileError(
                self.path,
                "not the settings of a page, or damaged: without this file the labels and "
                "constraints of the command line and of the answers count",
            ) from None
        return dict(values)

    def change(self, labels: Sequence[str], constraints: str) -> None:
        """Set both, and write the file."""
        wanted = [
            *dict.fromkeys(one if one in self.labels else checked_label(one) for one in labels)
        ]
        if len(wanted) > MOST_LABELS:
            raise ValueError(f"{len(wanted)} labels; the limit is {MOST_LABELS}")
        check_constraints(constraints)
        held = {"labels": wanted, "constraints": constraints, "given": self._given}
        with replaced(self.path) as file:
            file.write((json.dumps(held, ensure_ascii=False, indent=1) + "\n").encode())
        self.labels, self.constraints = wanted, constraints

    def take(self, names: Iterable[str]) -> None:
        """Add labels that answers have."""
        new = [name for name in dict.fromkeys(names) if name not in self.labels]
        if new:
            self.labels = [*self.labels, *new]


def checked_label(name: str) -> str:
    """Return a label without blanks at its ends; raise ValueError if it cannot be one."""
    name = name.strip()
    if not name or len(name) > LONGEST or _BAD.search(name) or name in ("O", "_", "?"):
        raise ValueError(
            f"{name!r:.80} cannot be a label: labels have 1 to {LONGEST} characters without "
            "blanks, commas, quotes or |, and O, _ and ? have a meaning of their own"
        )
    return name


def check_constraints(text: str) -> None:
    """Raise ValueError if these are no constraints."""
    if text.strip():
        stored(text)
