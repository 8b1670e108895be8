"""Patterns of Wapiti: ``u:wrd-1=%x[-1,0]``, ``b``, ``*:suf=%m[0,0,".?.?$"]``.

A line beginning with ``u`` makes features of labels, with ``b`` features of label pairs, with ``*``
both. ``%x[offset,column]`` is the cell itself, ``%t[offset,column,"regex"]`` whether an expression
matches it, ``%m[...]`` what it matches; in upper case the result is put in lower case. ``@`` before
the offset counts from the first token (1), or from the last one (-1).

References
----------
T. Lavergne, O. Cappé & F. Yvon (2010), Practical very large scale CRFs.
"""

from __future__ import annotations

import re

from ..exceptions import FileError
from .templates import MOST_OFFSET, Attribute, Template

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Iterator

_COMMAND = re.compile(
    r"""%(?P<kind>[xtmXTM])\[(?P<absolute>@?)\s*(?P<offset>[+-]?\d+)\s*,\s*\+?(?P<column>\d+)"""
    r"""(?:,"(?P<expression>(?:\\.|[^"\\])*)")?\]""",
    re.DOTALL,
)
_FUNCTIONS = {"t": "tested", "m": "matched"}


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        pattern = line.split("#")[0].rstrip()
        if pattern:
            yield number, pattern


def is_wapiti(text: str) -> bool:
    """Whether templates are Wapiti's and not CRF++'s: some pattern is like none of CRF++'s."""
    commands = False
    other = False
    for _, line in _lines(text):
        found = list(_COMMAND.finditer(line))
        commands = commands or (bool(found) and line[0] in "uUbB*")
        other = other or line[0] in "ub*" or any(map(_is_new, found))
    return commands and other


def _is_new(command: re.Match[str]) -> bool:
    """Whether CRF++ has no such command."""
    return command["kind"] == "X" or bool(command["absolute"]) or command["expression"] is not None


def parse_wapiti(text: str, name: str) -> list[Template]:
    """Read patterns.

    A bare ``b`` or ``*`` asks for weights of label pairs, which are always there; ``*`` and ``u``
    for a feature that every token has.
    """
    templates: list[Template] = []
    for number, line in _lines(text):
        try:
            templates += parse_pattern(line)
        except ValueError as error:
            raise FileError(name, str(error), number) from None
    return templates


def parse_pattern(line: str) -> list[Template]:
    """Return the templates of a pattern: of labels, of label pairs, or of both."""
    kind, source = line[0].lower(), line[0].lower() + line[1:]
    if kind not in "ub*":
        raise ValueError(f"a pattern of Wapiti begins with u, b or *, not {line[:20]!r}")
    atoms, places, pieces, end = [], [], [], 0
    for found in _COMMAND.finditer(source):
        pieces.append(source[end : found.start()])
        attribute, offset, place = _atom(found)
        atoms.append((attribute, offset))
        places.append(place)
        end = found.end()
    pieces.append(source[end:])
    if any("%" in piece for piece in pieces):
        raise ValueError(
            f"cannot read {line!r}: a command is %x[offset,column], or %t or %m with an expression "
            'besides, %m[0,0,"..$"]'
        )
    made = Template(
        tuple(atoms),
        marked=True,
        name=source,
        places=tuple(places) if any(places) else (),
        spelling="wapiti",
        pieces=tuple(pieces),
    )
    templates = [made] if kind in "u*" else []
    if kind in "b*" and atoms:
        templates.append(made._replace(transition=True))
    return templates


def _atom(found: re.Match[str]) -> tuple[Attribute, int, str]:
    kind, offset = found["kind"].lower(), int(found["offset"])
    expression = found["expression"]
    if (kind == "x") != (expression is None):
        need = "no expression" if kind == "x" else 'an expression, %m[0,0,"..$"]'
        raise ValueError(f"%{found['kind']} takes {need}: {found[0]}")
    if abs(offset) > MOST_OFFSET:
        raise ValueError(f"an offset beyond {MOST_OFFSET}: {found[0]}")
    functions: list[tuple[str, str | None]] = []
    if kind != "x":
        functions.append((_FUNCTIONS[kind], expression))
    if found["kind"] != kind:
        functions.append(("uncapped", None))
    place = ""
    if found["absolute"]:
        place = "stop" if offset < 0 else "start"
        offset -= place == "start"
    column = f"c{int(found['column']) + 1}"
    return Attribute("string", column, tuple(functions)), offset, place
