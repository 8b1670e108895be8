"""A scanner whose errors point at a column."""

from __future__ import annotations

import re
from typing import NoReturn

_SPACE = re.compile(r"\s*")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_HEX = "[0-9a-fA-F]"
_ESCAPE = re.compile(
    rf"\\(?:x({_HEX}{{2}})|u({_HEX}{{4}})|U(00(?:0{_HEX}|10){_HEX}{{4}})|([\s\S]))"
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
#: The number of characters that an error shows on each side of its place.
_AROUND = 60


class ConstraintSyntaxError(ValueError):
    """A constraint or a pattern cannot be read; the message points at the place.

    Attributes
    ----------
    reason : str
        The mistake.
    text : str
        The whole text.
    column : int
        The place of the mistake in the whole text, counted from 1.
    """

    def __init__(self, reason: str, text: str, column: int) -> None:
        begin = text.rfind("\n", 0, column - 1) + 1
        end = text.find("\n", begin)
        line = text[begin : len(text) if end < 0 else end].expandtabs(1)
        at = column - 1 - begin
        cut = max(0, at - _AROUND)
        excerpt = ("…" if cut else "") + line[cut : at + _AROUND]
        indent = at - cut + (1 if cut else 0)
        super().__init__(f"column {column}: {reason}\n  {excerpt}\n  {' ' * indent}^")
        self.reason, self.text, self.column = reason, text, column

    def __reduce__(self) -> tuple[type, tuple[str, str, int]]:
        return type(self), (self.reason, self.text, self.column)


class Scanner:
    """A place in a text, and the token there.

    Parameters
    ----------
    text : str
    signs : str
        Special characters, which names may contain in quotes only.

    Attributes
    ----------
    at : int
        The current place, from 0; never at a blank.
    """

    def __init__(self, text: str, signs: str) -> None:
        self.text = text
        self.at = 0
        self._name = re.compile(rf"[^\s\"'\\{re.escape(signs)}]+")
        self._skip()

    def _skip(self) -> None:
        blanks = _SPACE.match(self.text, self.at)
        assert blanks
        self.at = blanks.end()

    @property
    def done(self) -> bool:
        """Whether all is read."""
        return self.at >= len(self.text)

    @property
    def sign(self) -> str:
        """The character at this place; "" at the end."""
        return self.text[self.at : self.at + 1]

    def take(self, sign: str) -> bool:
        """Read a sign if it is next."""
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        self._skip()
        return True

    def expect(self, sign: str, after: str) -> None:
        """Read a sign that must be next."""
        if not self.take(sign):
            self.fail(f"{sign!r} is missing {after}{self._instead()}")

    def name(self) -> str | None:
        """Read a name without quotes; None if there is none here."""
        return self._match(self._name)

    def string(self) -> str | None:
        """Read a quoted text; None if there is none here."""
        quoted = self._match(_STRING)
        if quoted is None and self.sign in ("'", '"'):
            self.fail(f"this quote is not closed: {self.sign} is missing")
        return None if quoted is None else _ESCAPE.sub(_unescaped, quoted[1:-1])

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        self._skip()
        return match[0]

    def fail(self, reason: str, at: int | None = None) -> NoReturn:
        """Raise the error that points at ``at``, or at this place."""
        place = self.at if at is None else at
        raise ConstraintSyntaxError(reason, self.text, place + 1)

    def _instead(self) -> str:
        return ", where the text ends" if self.done else f", where {self.sign!r} stands"


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code else _ESCAPED.get(found[4], found[4])
