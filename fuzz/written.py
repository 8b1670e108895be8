"""Random constraints in users' notation, each with an independent test of whether it holds.

Whether a constraint holds is decided from an output's labels by Python's regular expressions and by
loops over positions; nothing here uses automata, masks or rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

#: Names of labels by their number: plain ones, chunk labels, some with signs, one duplicated.
_NAMES = {
    1: [["A"], ["O"]],
    2: [["O", "A"], ["A", "B"], ["B-X", "I-X"], ["New Street", "a|b"], ["A", "A"]],
    3: [
        ["O", "A", "B"],
        ["O", "B-X", "I-X"],
        ["B-X", "I-X", "B-Y"],
        ["O", "S-X", "E-X"],
        ["O", "A", "A"],
        ["#1", "it's", "A"],
    ],
}

Uses = Callable[[Sequence[str]], set[Any]]


class Written(NamedTuple):
    """A constraint.

    Attributes
    ----------
    text : str
        The input of :func:`structlearn.constraints.parse`.
    holds : callable
        Takes an output's labels and returns whether the constraint holds.
    """

    text: str
    holds: Callable[[Sequence[str]], bool]


class _Selection(NamedTuple):
    """Labels, chunks or pairs as text, and the places where they are used.

    A place is a pair: the kind of part, and its number.
    """

    text: str
    uses: Uses


def draw_names(rng: np.random.Generator, n_labels: int) -> list[str]:
    """Draw names of labels."""
    return list(_pick(rng, _NAMES[n_labels]))


def draw_written(
    rng: np.random.Generator,
    names: Sequence[str],
    length: int,
    blocks: Sequence[str],
    segments: bool = False,
) -> list[Written]:
    """Draw one to three constraints.

    Parameters
    ----------
    blocks : sequence of str
        The blocks among ``start``, ``end`` and ``transition`` whose parts may be named.
    segments : bool
        Whether each label is that of a segment, so that places and ends are unknown.
    """
    writer = _Writer(rng, list(names), length, blocks, segments)
    return [writer.constraint() for _ in range(int(rng.integers(1, 4)))]


def _pick(rng: np.random.Generator, items: Sequence[Any]) -> Any:
    return items[int(rng.integers(len(items)))]


class _Writer:
    """Writes constraints on the labels of one shape."""

    def __init__(
        self,
        rng: np.random.Generator,
        names: list[str],
        length: int,
        blocks: Sequence[str],
        segments: bool,
    ) -> None:
        self.rng, self.names, self.length, self.segments = rng, names, length, segments
        self.blocks = [name for name in blocks if not segments or name != "end"]
        tags = [name for name in names if name != "O"]
        self.tagged = not segments and bool(tags) and all(k[1:2] == "-" for k in tags)
        self.types = list(dict.fromkeys(k[2:] if self.tagged else k for k in tags))

    def constraint(self) -> Written:
        kinds = (self._count, self._count, self._if_then, self._contiguous, self._precedes,
                 self._not_adjacent, self._matches, self._each)  # fmt: skip
        made: Written = _pick(self.rng, kinds)()
        return made

    # -- chunks ---------------------------------------------------------------------------------

    def _type(self, label: str) -> str | None:
        if label == "O":
            return None
        return label[2:] if self.tagged else label

    def _begins(self, y: Sequence[str], t: int) -> bool:
        """Return whether a chunk begins at a position."""
        if y[t] == "O":
            return False
        if self.segments or t == 0 or self._type(y[t - 1]) != self._type(y[t]):
            return True
        return self.tagged and (y[t][0] in "BS" or y[t - 1][0] in "ES")

    def _chunks(self, y: Sequence[str], kind: str) -> list[int]:
        """Return the positions where chunks of a type begin."""
        return [t for t in range(len(y)) if self._type(y[t]) == kind and self._begins(y, t)]

    # -- selections -----------------------------------------------------------------------------

    def _name(self, name: str) -> str:
        """Return a name as an argument: quoted if necessary, and sometimes otherwise."""
        bare = re.fullmatch(r"[A-Za-z][A-Za-z-]*", name) and self.rng.random() < 0.5
        return name if bare else repr(name)

    def _label(self) -> _Selection:
        name = str(_pick(self.rng, self.names))
        return _Selection(
            self._name(name), lambda y: {("label", t) for t, k in enumerate(y) if k == name}
        )

    def _placed(self) -> _Selection:
        name, n = str(_pick(self.rng, self.names)), self.length
        places = self.rng.integers(-n, n, size=int(self.rng.integers(1, 4))).tolist()
        at = str(places[0]) if len(places) == 1 else str(places)
        return _Selection(
            f"Label({self._name(name)}, at={at})",
            lambda y: {("label", t % n) for t in places if y[t] == name},
        )

    def _chunk(self) -> _Selection:
        kind = str(_pick(self.rng, self.types))
        return _Selection(
            f"Chunk({self._name(kind)})", lambda y: {("chunk", t) for t in self._chunks(y, kind)}
        )

    def _part(self) -> _Selection:
        block = str(_pick(self.rng, self.blocks))
        a, b = (str(_pick(self.rng, self.names)) for _ in range(2))
        if block != "transition":
            at = 0 if block == "start" else -1
            return _Selection(
                f"Part({block}, {self._name(a)})", lambda y: {(block, 0)} if y[at] == a else set()
            )
        return _Selection(
            f"Part(transition, {self._name(a)}, {self._name(b)})",
            lambda y: {(block, t) for t in range(1, len(y)) if (y[t - 1], y[t]) == (a, b)},
        )

    def _selection(self, *, parts: bool = False, places: bool = True) -> _Selection:
        makers = [self._label, self._label]
        if self.types:
            makers.append(self._chunk)
        if places and not self.segments:
            makers.append(self._placed)
        if parts and self.blocks:
            makers.append(self._part)
        made: _Selection = _pick(self.rng, makers)()
        return made

    def _side(self, **options: bool) -> _Selection:
        """Draw one selection, or a list of two alternatives."""
        first = self._selection(**options)
        if self.rng.random() < 0.7:
            return first
        other = self._selection(**options)
        return _Selection(f"[{first.text}, {other.text}]", lambda y: first.uses(y) | other.uses(y))

    # -- constraints ----------------------------------------------------------------------------

    def _count(self) -> Written:
        selections = [
            self._selection(parts=True) for _ in range(1 if self.rng.random() < 0.7 else 2)
        ]
        named = ", ".join(selection.text for selection in selections)
        n = int(self.rng.integers(0, 4))

        def count(y: Sequence[str]) -> int:
            return len(set[Any]().union(*(selection.uses(y) for selection in selections)))

        return _pick(
            self.rng,
            [
                Written(f"at_most({n}, {named})", lambda y: count(y) <= n),
                Written(f"at_least({n}, {named})", lambda y: count(y) >= n),
                Written(f"exactly({n}, {named})", lambda y: count(y) == n),
                Written(f"forbid({named})", lambda y: count(y) == 0),
                Written(f"require({named})", lambda y: count(y) >= 1),
            ],
        )

    def _each(self) -> Written:
        if self.rng.random() < 0.5:
            selection = self._chunk() if self.types and self.rng.random() < 0.5 else self._label()
            return Written(
                f"each_at_most_once({selection.text})", lambda y: len(selection.uses(y)) <= 1
            )
        names = set(self.names)
        return Written(
            "each_at_most_once()", lambda y: all(list(y).count(name) <= 1 for name in names)
        )

    def _if_then(self) -> Written:
        first, second = self._side(parts=True), self._side(parts=True)
        return Written(
            f"if_then({first.text}, {second.text})",
            lambda y: not first.uses(y) or bool(second.uses(y)),
        )

    def _contiguous(self) -> Written:
        kind = self.rng.random()
        types = self.types
        if kind < 0.4 or not types:
            return Written(
                "contiguous()", lambda y: all(len(self._chunks(y, k)) <= 1 for k in types)
            )
        if kind < 0.7:
            chosen_type = str(_pick(self.rng, types))
            text = (
                self._name(chosen_type)
                if self.tagged or kind < 0.5
                else f"Chunk({self._name(chosen_type)})"
            )
            return Written(f"contiguous({text})", lambda y: len(self._chunks(y, chosen_type)) <= 1)
        name = str(_pick(self.rng, self.names))

        def runs(y: Sequence[str]) -> int:
            begin = [t for t, k in enumerate(y) if k == name]
            return sum(self.segments or t == 0 or y[t - 1] != name for t in begin)

        return Written(f"contiguous({self._name(name)})", lambda y: runs(y) <= 1)

    def _precedes(self) -> Written:
        first, second = self._side(), self._side()

        def holds(y: Sequence[str]) -> bool:
            before, after = ([t for _, t in side.uses(y)] for side in (first, second))
            return not before or not after or max(before) <= min(after)

        return Written(f"precedes({first.text}, {second.text})", holds)

    def _not_adjacent(self) -> Written:
        member = self._member()
        other = self._member() if self.rng.random() < 0.7 else member
        text = member[0] if other is member else f"{member[0]}, {other[0]}"
        apart = member[2] or other[2]  # a chunk is not its own neighbour

        def meet(y: Sequence[str], t: int) -> bool:
            a, b = y[t - 1], y[t]
            if apart and self._type(a) == self._type(b) and not self._begins(y, t):
                return False
            return (member[1](a) and other[1](b)) or (other[1](a) and member[1](b))

        return Written(
            f"not_adjacent({text})", lambda y: not any(meet(y, t) for t in range(1, len(y)))
        )

    def _member(self) -> tuple[str, Callable[[str], bool], bool]:
        """Draw a label or a chunk: its text, a test for labels, and whether it is a chunk."""
        if self.types and self.rng.random() < 0.4:
            kind = str(_pick(self.rng, self.types))
            return f"Chunk({self._name(kind)})", lambda k: self._type(k) == kind, True
        name = str(_pick(self.rng, self.names))
        return self._name(name), lambda k: k == name, False

    # -- regular expressions --------------------------------------------------------------------

    def _matches(self) -> Written:
        ours, pythons = self._expression(3)
        if self.rng.random() < 0.3:
            ours, pythons = f".* ({ours}) .*", f".*(?:{pythons}).*"
        compiled = re.compile(pythons)
        letters = {name: chr(ord("a") + i) for i, name in enumerate(dict.fromkeys(self.names))}
        return Written(
            f"matches({ours!r})",
            lambda y: compiled.fullmatch("".join(letters[k] for k in y)) is not None,
        )

    def _expression(self, depth: int) -> tuple[str, str]:
        """Draw an expression over labels, and Python's over the letters a, b, c in their place."""
        kind = self.rng.random()
        if depth == 0 or kind < 0.2:
            return self._letters()
        if kind < 0.5:
            rows = [self._expression(depth - 1) for _ in range(int(self.rng.integers(1, 4)))]
            return " ".join(a for a, _ in rows), "".join(b for _, b in rows)
        if kind < 0.7:
            rows = [self._expression(depth - 1) for _ in range(int(self.rng.integers(1, 4)))]
            ours, pythons = ("|".join(row[i] for row in rows) for i in (0, 1))
            return f"({ours})", f"(?:{pythons})"
        ours, pythons = self._expression(depth - 1)
        low, extra = (int(n) for n in self.rng.integers(0, 3, size=2))
        signs = ["*", "*", "+", "?", f"{{{low}}}", f"{{{low},}}", f"{{{low},{low + extra}}}"]
        sign = str(_pick(self.rng, signs))
        return f"({ours}){sign}", f"(?:{pythons}){sign}"

    def _letters(self) -> tuple[str, str]:
        every = list(dict.fromkeys(self.names))
        kind = self.rng.random()
        if kind < 0.2:
            return ".", "."
        if kind < 0.3 and self.tagged:
            tag = str(_pick(self.rng, [name for name in every if name != "O"]))[:2]
            letters = "".join(chr(ord("a") + i) for i, k in enumerate(every) if k.startswith(tag))
            return f"{tag}*", f"[{letters}]"
        numbers = [i for i in range(len(every)) if self.rng.random() < 0.5] or [0]
        ours = " ".join(self._quoted(every[i]) for i in numbers)
        pythons = "".join(chr(ord("a") + i) for i in numbers)
        if kind < 0.45:
            return f"[{ours}]", f"[{pythons}]"
        if kind < 0.6:
            return f"[^{ours}]", f"[^{pythons}]"
        return self._quoted(every[numbers[0]]), pythons[0]

    def _quoted(self, name: str) -> str:
        """Return a name in the notation of patterns."""
        bare = re.fullmatch(r"[A-Za-z][A-Za-z-]*", name) and self.rng.random() < 0.7
        return name if bare else repr(name)
