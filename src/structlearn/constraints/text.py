"""Constraints as text: Python calls, in which names need no quotes.

::

    contiguous()
    at_most(1, Chunk(PER))             # one person a sentence
    if_then([A, B], Label(C, at=-1))
    matches("Number Street+ City?")

``repr`` of a constraint is such a text: parsing it gives the same constraint.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from . import language
from .accepted import Accepted
from .automaton import Automaton
from .counting import Constraint
from .scanner import ConstraintSyntaxError, Scanner
from .selections import Chunk, Label, Part

_VERBS: dict[str, Callable[..., Constraint]] = {
    name: getattr(language, name) for name in language.__all__
}
_PARTS: dict[str, Callable[..., Any]] = {"Label": Label, "Chunk": Chunk, "Part": Part}
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def parse(text: str) -> list[Constraint]:
    """Read constraints, one or several.

    Parameters
    ----------
    text : str
        Python calls, one on each line or separated by semicolons. Labels need no quotes unless they
        are whole numbers or contain blanks, quotes or one of ``()[],=;#``. ``#`` begins a comment.

    Raises
    ------
    ConstraintSyntaxError
        The text cannot be parsed; the error points at the place.

    Examples
    --------
    >>> parse("contiguous(Street, City); at_most(1, Chunk(PER))")
    [contiguous('Street', 'City'), at_most(1, Chunk('PER'))]
    """
    scanner = Scanner(_without_comments(text), signs="()[],=;")
    constraints = []
    while not scanner.done:
        constraints.append(_constraint(scanner))
        while scanner.take(";"):
            pass
    if not constraints:
        scanner.fail(f"there is no constraint here; constraints are {_listed_verbs()}")
    return constraints


def read_constraints(given: Any) -> list[Constraint]:
    """Return constraints from objects, text, or a list of both; None: no constraints."""
    if given is None:
        return []
    if isinstance(given, (str, Constraint, Automaton)) or not isinstance(given, Iterable):
        given = [given]
    constraints: list[Constraint] = []
    for item in given:
        if isinstance(item, str):
            constraints += parse(item)
        elif isinstance(item, (Constraint, Automaton)):
            constraints.append(Accepted(item) if isinstance(item, Automaton) else item)
        else:
            raise ValueError(
                f"constraints contains {item!r}, which is not a constraint; see "
                "structlearn.constraints"
            )
    return constraints


def stored(constraints: Any) -> list[str]:
    """Return constraints in any form as text, from which :func:`parse` reads the same."""
    parsed = read_constraints(constraints)
    for constraint in parsed:
        if isinstance(constraint, Accepted):
            raise ValueError(f"{constraint.by!r} cannot be stored: files hold constraints as text")
    return list(map(repr, parsed))


def _without_comments(text: str) -> str:
    """Return the text with blanks in place of comments, so that columns stay the same."""
    marks = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|(#[^\n]*)")
    return marks.sub(lambda found: " " * len(found[0]) if found[1] else found[0], text)


def _listed_verbs() -> str:
    return ", ".join(sorted(_VERBS))


def _constraint(scanner: Scanner) -> Constraint:
    begin = scanner.at
    name = scanner.name()
    if name not in _VERBS or scanner.sign != "(":
        scanner.fail(
            f"{name or scanner.sign!r} is not a constraint; constraints are {_listed_verbs()}",
            begin,
        )
    made: Constraint = _call(scanner, name, _VERBS[name], begin)
    return made


def _call(scanner: Scanner, name: str, function: Callable[..., Any], begin: int) -> Any:
    """Parse the arguments of a function, and call it."""
    scanner.expect("(", f"after {name}")
    arguments: list[Any] = []
    named: dict[str, Any] = {}
    first = scanner.at
    while not scanner.take(")"):
        if arguments or named:
            quoted = "a pattern" if name == "matches" else "a label with blanks"
            scanner.expect(",", f"between the arguments ({quoted} stands in quotes)")
        at = scanner.at
        value = _value(scanner, places=False)
        if scanner.take("="):
            if value != "at" or function not in (Label, Part) or named:
                scanner.fail(f"{name} has no argument {value!r}", at)
            named["at"] = _value(scanner, places=True)
        elif named:
            scanner.fail("the place comes last", at)
        else:
            arguments.append(value)
    if name in _VERBS and name.startswith(("at_", "exactly")):
        _check_number(scanner, name, arguments, begin)
    try:
        return function(*arguments, **named)
    except ConstraintSyntaxError as error:  # from a pattern, which begins after its quote
        escaped = not scanner.text.startswith(error.text, first + 1)
        scanner.fail(error.reason, first + (0 if escaped else error.column))
    except (TypeError, ValueError) as error:
        reason = re.sub(r"^\w+\(\) |^_*\w+\.__init__\(\) ", f"{name} ", str(error))
        scanner.fail(reason, begin)


def _check_number(scanner: Scanner, name: str, arguments: list[Any], begin: int) -> None:
    if not arguments or not isinstance(arguments[0], int):
        scanner.fail(f"{name} begins with a number: {name}(1, ...)", begin)


def _value(scanner: Scanner, *, places: bool) -> Any:
    """Parse an argument: a name, a string, a whole number, a list, a pair, a selection."""
    for opening, closing, kind in (("[", "]", list), ("(", ")", tuple)):
        if scanner.take(opening):
            items: list[Any] = []
            while not scanner.take(closing):
                if items:
                    scanner.expect(",", "between the items")
                    if scanner.take(closing):
                        break
                items.append(_value(scanner, places=places))
            return kind(items)
    begin = scanner.at
    text = scanner.string()
    if text is not None:
        return text
    name = scanner.name()
    if name is None:
        what = "where the text ends" if scanner.done else f"where {scanner.sign!r} stands"
        scanner.fail(f"a label is missing, {what}; labels with signs need quotes")
    if _WHOLE.fullmatch(name):
        return int(name)
    if name in _PARTS and scanner.sign == "(":
        return _call(scanner, name, _PARTS[name], begin)
    if places:
        scanner.fail(f"{name!r} is not a place; at=0 is the first one, at=-1 the last", begin)
    return name
