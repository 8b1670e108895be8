"""Templates of CRF++: ``U05:%x[-1,0]/%x[0,0]``, ``B``."""

from __future__ import annotations

import re
from collections import Counter

from ..exceptions import FileError
from .templates import MOST_OFFSET, Attribute, Template

_LINE = re.compile(r"^[UB][^\s]*")
_MACRO = re.compile(r"%x\[(-?\d+),(\d+)\]")


def _lines(text: str) -> list[tuple[int, str]]:
    stripped = [(n, line.strip()) for n, line in enumerate(text.splitlines(), 1)]
    return [(n, line) for n, line in stripped if line and not line.startswith("#")]


def is_crfpp(text: str) -> bool:
    """Whether the templates are CRF++'s: their macros are nothing of ours."""
    return any("%x[" in line for _, line in _lines(text))


def spelled_template(line: str) -> Template:
    """Return a template whose features are CRF++'s strings."""
    if not _LINE.match(line):
        raise ValueError(f"a CRF++ template begins with U or B, not {line[:20]!r}")
    atoms, pieces, end = [], [], 0
    for macro in _MACRO.finditer(line):
        row, column = int(macro[1]), int(macro[2])
        if abs(row) > MOST_OFFSET:
            raise ValueError(f"an offset beyond {MOST_OFFSET}: {line!r}")
        pieces.append(line[end : macro.start()])
        atoms.append((Attribute("string", f"c{column + 1}"), row))
        end = macro.end()
    pieces.append(line[end:])
    if any("%" in piece for piece in pieces):
        raise ValueError(f"cannot read the macro in {line!r}: only %x[row,column]")
    return Template(
        tuple(atoms),
        transition=line[0] == "B",
        marked=True,
        name=line,
        spelling="crf++",
        pieces=tuple(pieces),
    )


def parse_crfpp(text: str, name: str) -> list[Template]:
    """Read CRF++ templates.

    A bare ``B`` asks for weights of label pairs, which are always there; ``B`` with macros makes
    features of label pairs. Templates that begin alike, ``U:%x[-1,0]`` and ``U:%x[1,0]``, share
    their features. Beyond the ends of a sentence ``%x`` has the values ``_B-1``, ``_B+1``,
    … as in CRF++.
    """
    templates = []
    beginnings = Counter(line.partition("%")[0] for _, line in _lines(text))
    for number, line in _lines(text):
        if not _LINE.match(line):
            raise FileError(name, f"a CRF++ template begins with U or B, not {line[:20]!r}", number)
        macros = _MACRO.findall(line)
        if "%" in _MACRO.sub("", line):
            raise FileError(name, f"cannot read the macro in {line!r}: only %x[row,column]", number)
        transition = line[0] == "B"
        if not macros:
            if not transition:
                templates.append(Template(((Attribute("constant"), 0),), marked=True, name=line))
            continue
        if beginnings[line.partition("%")[0]] > 1:
            # Without a name of its own its features may be those of another one: bags of words.
            templates.append(spelled_template(line))
            continue
        if any(abs(int(row)) > MOST_OFFSET for row, _ in macros):
            raise FileError(name, f"an offset beyond {MOST_OFFSET}", number)
        atoms = tuple((Attribute("string", f"c{int(c) + 1}"), int(row)) for row, c in macros)
        templates.append(Template(atoms, transition=transition, marked=True, name=line))
    return templates
