"""Templates of CRF++: ``U05:%x[-1,0]/%x[0,0]``, ``B``."""

from __future__ import annotations

import re

from ..exceptions import FileError
from .templates import MOST_OFFSET, Attribute, Template

__all__ = ["is_crfpp", "parse_crfpp"]

_LINE = re.compile(r"^[UB][^\s]*")
_MACRO = re.compile(r"%x\[(-?\d+),(\d+)\]")


def _lines(text: str) -> list[tuple[int, str]]:
    stripped = [(n, line.strip()) for n, line in enumerate(text.splitlines(), 1)]
    return [(n, line) for n, line in stripped if line and not line.startswith("#")]


def is_crfpp(text: str) -> bool:
    """Whether every line is one of CRF++'s: U or B, and a macro somewhere."""
    lines = _lines(text)
    return (
        bool(lines)
        and any("%x[" in line for _, line in lines)
        and all(_LINE.match(line) for _, line in lines)
    )


def parse_crfpp(text: str, name: str) -> list[Template]:
    """Read CRF++ templates.

    A bare ``B`` asks for weights of label pairs, which are always there; ``B`` with macros makes
    features of label pairs. Beyond the ends of a sentence ``%x`` has the values ``_B-1``, ``_B+1``,
    … as in CRF++.
    """
    templates = []
    for number, line in _lines(text):
        macros = _MACRO.findall(line)
        if "%" in _MACRO.sub("", line):
            raise FileError(name, f"cannot read the macro in {line!r}: only %x[row,column]", number)
        transition = line[0] == "B"
        if not macros:
            if not transition:
                templates.append(Template(((Attribute("constant"), 0),), marked=True, name=line))
            continue
        if any(abs(int(row)) > MOST_OFFSET for row, _ in macros):
            raise FileError(name, f"an offset beyond {MOST_OFFSET}", number)
        atoms = tuple((Attribute("string", f"c{int(c) + 1}"), int(row)) for row, c in macros)
        templates.append(Template(atoms, transition=transition, marked=True, name=line))
    return templates
