"""Regular expressions over labels: their syntax, their tree, and their automata.

====================  ==============================================================
``Street City``       one label after the other; blanks only separate
``A | B``             either
``A* A+ A?``          any number, at least one, at most one
``A{2} A{2,} A{2,4}`` a given number of times
``.``                 any label
``[A B] [^A B]``      any of these, any but these
``B-*``               any label that begins with ``B-`` (a name that ends in a hyphen)
``"NN|SYM"``          a name with special signs, in quotes
``( )``               a group
====================  ==============================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .alphabet import Alphabet
from .automaton import Automaton
from .construction import TooManyStates, explore
from .scanner import ConstraintSyntaxError, Scanner

_MOST_DEPTH = 100
#: The most states of a pattern's machine, with repetitions written out.
_MOST_PLACES = 20_000
_ENDS = ("", "|", ")")


class Name(NamedTuple):
    """A label, or all labels with a prefix; and its place in the text."""

    text: str
    at: int
    is_prefix: bool = False


class Labels(NamedTuple):
    """Any of these labels; negated, any but these; ``.`` has no names and is negated."""

    names: tuple[Name, ...]
    negated: bool = False


class Row(NamedTuple):
    """One item after another."""

    items: tuple[Labels | Row | Choice | Repeat, ...]


class Choice(NamedTuple):
    """Any of the items."""

    items: tuple[Row, ...]


class Repeat(NamedTuple):
    """An item from ``least`` to ``most`` times; None: no upper bound."""

    item: Labels | Choice | Repeat
    least: int
    most: int | None


class Pattern:
    """A regular expression over labels.

    Parameters
    ----------
    text : str
        Parsed at once; :class:`ConstraintSyntaxError` points at a mistake.
    """

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise ValueError(f"a pattern is a string, got {text!r}")
        self.text = text
        self._tree = _Reader(text).whole()

    def check(self, alphabet: Alphabet) -> None:
        """Refuse unknown labels."""
        machine = _Machine(alphabet, self.text)
        waiting: list[Labels | Row | Choice | Repeat] = [self._tree]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Labels):
                machine.symbols(node)
            else:
                waiting += [node.item] if isinstance(node, Repeat) else node.items

    def automaton(self, alphabet: Alphabet) -> Automaton:
        """Return the minimal automaton of the label sequences that match, from end to end."""
        machine = _Machine(alphabet, self.text)
        begin = machine.place()
        end = machine.add(self._tree, begin)

        def step(places: frozenset[int], symbol: int) -> frozenset[int] | None:
            return machine.after(places, symbol) or None

        try:
            return explore(
                machine.reached([begin]),
                step,
                lambda places: end in places,
                len(alphabet),
                lambda symbol: tuple(symbol in labels for labels in machine.distinct),
            )
        except TooManyStates as error:
            raise TooManyStates(f"the pattern {self.text!r}") from error


class _Reader:
    """A recursive-descent parser of patterns."""

    def __init__(self, text: str) -> None:
        self.scanner = Scanner(text, signs="()[]{}|*+?.^,=")
        self.depth = 0
        self.repeats = 0  # the depth of nested repetitions

    def whole(self) -> Choice:
        scanner = self.scanner
        if scanner.done:
            scanner.fail("the pattern is empty; () matches no labels at all")
        tree = self.choice()
        if not scanner.done:
            scanner.fail(f"this {scanner.sign!r} has no beginning")
        return tree

    def choice(self) -> Choice:
        rows = [self.row()]
        while self.scanner.take("|"):
            rows.append(self.row())
        return Choice(tuple(rows))

    def row(self) -> Row:
        items: list[Labels | Row | Choice | Repeat] = []
        while self.scanner.sign not in _ENDS:
            items.append(self.repeated())
        return Row(tuple(items))

    def repeated(self) -> Labels | Choice | Repeat:
        item: Labels | Choice | Repeat = self.item()
        begin = self.scanner.at
        while (bounds := self.bounds()) is not None:
            self.repeats += isinstance(item, Repeat)
            if self.repeats > _MOST_DEPTH:
                self.scanner.fail(f"more than {_MOST_DEPTH} nested repetitions", begin)
            item, begin = Repeat(item, *bounds), self.scanner.at
        return item

    def bounds(self) -> tuple[int, int | None] | None:
        scanner = self.scanner
        for sign, least, most in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if scanner.take(sign):
                return least, most
        begin = scanner.at
        if not scanner.take("{"):
            return None
        low = self.number()
        high = low
        if scanner.take(","):
            high = self.number()
            if low is None and high is None:
                scanner.fail("a number is missing: {2}, {2,}, {,4} or {2,4}", begin)
        elif low is None:
            scanner.fail("a number is missing: {2}, {2,}, {,4} or {2,4}")
        scanner.expect("}", "after the numbers of a repetition")
        if high is not None and (low or 0) > high:
            scanner.fail(f"at least {low} times and at most {high}", begin)
        return low or 0, high

    def number(self) -> int | None:
        scanner, begin = self.scanner, self.scanner.at
        text = scanner.name()
        if text is None:
            return None
        if not (text.isascii() and text.isdigit()):
            scanner.fail(f"{text!r} is not a number", begin)
        if len(text) > len(str(_MOST_PLACES)) or int(text) > _MOST_PLACES:
            scanner.fail(f"a repetition is at most {_MOST_PLACES}", begin)
        return int(text)

    def item(self) -> Labels | Choice:
        scanner, begin = self.scanner, self.scanner.at
        if scanner.take("("):
            self.depth += 1
            if self.depth > _MOST_DEPTH:
                scanner.fail(f"more than {_MOST_DEPTH} nested groups", begin)
            inner = self.choice()
            if not scanner.take(")"):
                scanner.fail("this group is not closed: ')' is missing", begin)
            self.depth -= 1
            return inner
        if scanner.take("["):
            negated = scanner.take("^")
            names = list(self.names())
            if not scanner.take("]"):
                if scanner.done:
                    scanner.fail("this set is not closed: ']' is missing", begin)
                scanner.fail(f"{scanner.sign!r} means nothing in a set; names with it need quotes")
            if not names:
                scanner.fail("this set is empty", begin)
            return Labels(tuple(names), negated)
        if scanner.take("."):
            return Labels((), negated=True)
        name = self.name()
        if name is None:
            if scanner.sign in "*+?{":
                scanner.fail(f"{scanner.sign!r} repeats nothing")
            scanner.fail(f"{scanner.sign!r} means nothing here; names with it need quotes")
        return Labels((name,))

    def names(self) -> Iterator[Name]:
        while (name := self.name()) is not None:
            yield name
            self.scanner.take(",")

    def name(self) -> Name | None:
        scanner, at = self.scanner, self.scanner.at
        text = scanner.string()
        if text is not None:
            return Name(text, at)
        text = scanner.name()
        if text is None:
            return None
        joined = scanner.at == at + len(text)  # no blank between
        return Name(text, at, is_prefix=text.endswith("-") and joined and scanner.take("*"))


class _Machine:
    """A nondeterministic machine (Thompson's construction, 1968)."""

    def __init__(self, alphabet: Alphabet, text: str) -> None:
        self.alphabet, self.text = alphabet, text
        #: By place: the free transitions; and the labelled one, its labels and its target.
        self.free: list[list[int]] = []
        self.reading: list[tuple[frozenset[int], int] | None] = []
        self.distinct: list[frozenset[int]] = []
        self._sets: dict[Labels, frozenset[int]] = {}

    def place(self) -> int:
        if len(self.free) >= _MOST_PLACES:
            raise TooManyStates(f"the pattern {self.text!r}")
        self.free.append([])
        self.reading.append(None)
        return len(self.free) - 1

    def add(self, node: Labels | Row | Choice | Repeat, begin: int) -> int:
        """Add a part of the pattern from a place on; return where it ends."""
        if isinstance(node, Labels):
            end = self.place()
            # A place has at most one labelled transition: no part that ends here adds one.
            self.reading[begin] = (self.symbols(node), end)
            return self._next(end)
        if isinstance(node, Row):
            for item in node.items:
                begin = self.add(item, begin)
            return begin
        if isinstance(node, Choice):
            ends = [self.add(row, self._next(begin)) for row in node.items]
            end = self.place()
            for place in ends:
                self.free[place].append(end)
            return end
        return self._repeat(node, begin)

    def _repeat(self, node: Repeat, begin: int) -> int:
        for _ in range(node.least):
            begin = self.add(node.item, begin)
        end = self.place()
        if node.most is None:
            self.free[begin].append(end)
            self.free[self.add(node.item, self._next(end))].append(end)
            return self._next(end)
        for _ in range(node.most - node.least):
            self.free[begin].append(end)
            begin = self.add(node.item, self._next(begin))
        self.free[begin].append(end)
        return end

    def _next(self, place: int) -> int:
        """Return a new place with a free transition to it."""
        new = self.place()
        self.free[place].append(new)
        return new

    def symbols(self, labels: Labels) -> frozenset[int]:
        """Return the symbols that a part reads."""
        if labels not in self._sets:
            named = frozenset[int]().union(*map(self._named, labels.names))
            every = frozenset(range(len(self.alphabet)))
            self._sets[labels] = every - named if labels.negated else named
            if self._sets[labels] not in self.distinct:
                self.distinct.append(self._sets[labels])
        return self._sets[labels]

    def _named(self, name: Name) -> frozenset[int]:
        if name.is_prefix:
            symbols = self.alphabet.starting_with(name.text)
            reason = f"no label begins with {name.text!r}"
        else:
            symbols = self.alphabet.find_text(name.text) or frozenset()
            reason = self.alphabet.fault(name.text)
        if not symbols:
            raise ConstraintSyntaxError(reason, self.text, name.at + 1)
        return symbols

    # -- reading --------------------------------------------------------------------------------

    def reached(self, places: list[int]) -> frozenset[int]:
        """Return the places that free transitions reach, these included."""
        reached = set(places)
        waiting = list(reached)
        while waiting:
            for place in self.free[waiting.pop()]:
                if place not in reached:
                    reached.add(place)
                    waiting.append(place)
        return frozenset(reached)

    def after(self, places: frozenset[int], symbol: int) -> frozenset[int]:
        """Return the places that a symbol leads to."""
        ways = map(self.reading.__getitem__, places)
        return self.reached([way[1] for way in ways if way is not None and symbol in way[0]])
