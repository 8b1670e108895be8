"""The Constraints lab: answers of a chain under constraints, and the cost of the search."""

from __future__ import annotations

import re
from typing import Any

from ... import traces
from ...constraints import (
    ConstraintSyntaxError,
    Label,
    Part,
    at_least,
    at_most,
    exactly,
    forbid,
    if_then,
    parse,
    require,
    with_constraints,
)
from ...constraints.construction import TooManyStates, explore
from ...drawing.automata import draw_automata
from ...exceptions import CapabilityError, InfeasibleError
from ...structures import Chain
from ..enumeration import Enumeration
from ..formulas import number, plural
from ..requests import Refused, Request
from .sequence import Sequence, literal

MOST_CONSTRAINTS = 8
#: The most sequences that are enumerated to list those that satisfy the constraints.
MOST_SUMMED = 512
#: The most states of an automaton that is drawn beside the trellis.
MOST_DRAWN = 24

HELP = (
    "forbid noun · forbid verb at 1 · forbid noun then verb · require adj at 3 · at most 1 noun · "
    "at least 1 verb · exactly 2 noun · if noun at 1 then verb at 2 · contiguous() · "
    'precedes(noun, verb) · matches("noun+ verb?")'
)


class Read:
    """The constraints of a line: the objects, and the Python that makes them."""

    def __init__(self, made: Any, python: str) -> None:
        self.made, self.python = made, python

    @property
    def constraints(self) -> list[Any]:
        """The constraint objects, usually one."""
        return self.made if isinstance(self.made, list) else [self.made]


def read_constraint(text: str, labels: list[str], length: int) -> Read:
    """Return the constraint on a line; positions are numbered from 1."""
    line = " ".join(text.split())
    label = "(" + "|".join(sorted(map(re.escape, labels), key=len, reverse=True)) + ")"

    def place(number_: str) -> int:
        t = int(number_)
        if not 1 <= t <= length:
            raise Refused(
                f"there is no position {t} in {line!r}: there are {plural(length, 'word')}"
            )
        return t - 1

    def one(name: str, position: str | None) -> tuple[Any, str]:
        if position is None:
            return Label(name), f"Label({name!r})"
        return Label(name, at=place(position)), f"Label({name!r}, at={place(position)})"

    match = re.fullmatch(rf"(forbid|require) {label}(?: at (\d{{1,3}}))?", line)
    if match:
        made, python = one(match[2], match[3])
        function = {"forbid": forbid, "require": require}[match[1]]
        return Read(function(made), f"{match[1]}({python})")
    match = re.fullmatch(rf"forbid {label} then {label}", line)
    if match:
        a, b = match[1], match[2]
        return Read(forbid(Part("transition", a, b)), f'forbid(Part("transition", {a!r}, {b!r}))')
    match = re.fullmatch(rf"(at most|at least|exactly) (\d{{1,3}}) {label}", line)
    if match:
        made, python = one(match[3], None)
        count = int(match[2])
        bounds = {"at most": at_most, "at least": at_least, "exactly": exactly}
        return Read(
            bounds[match[1]](count, made), f"{bounds[match[1]].__name__}({count}, {python})"
        )
    match = re.fullmatch(rf"if {label} at (\d{{1,3}}) then {label} at (\d{{1,3}})", line)
    if match:
        first, second = one(match[1], match[2]), one(match[3], match[4])
        return Read(if_then(first[0], second[0]), f"if_then({first[1]}, {second[1]})")
    if re.match(r"[a-z_]+\(", line):
        try:
            made = parse(line)
            with_constraints(Chain(), made, classes=labels).report(label=[[0.0] * len(labels)])
            return Read(made, ", ".join(map(repr, made)))
        except ConstraintSyntaxError as error:
            raise Refused(f"column {error.column} of {line!r}: {error.reason}") from None
        except (ValueError, CapabilityError) as error:
            raise Refused(str(error)) from None
    raise Refused(f"{line!r} is not understood; labels are {', '.join(labels)}. What works: {HELP}")


def answer(request: Request) -> dict[str, Any]:
    """Return the content of the lab."""
    sequence = Sequence(request)
    lines = [line for line in request.text("constraints", 1000).splitlines() if line.strip()]
    if len(lines) > MOST_CONSTRAINTS:
        raise Refused(f"there are {len(lines)} constraints; the limit is {MOST_CONSTRAINTS}")
    read = [read_constraint(line, sequence.labels, len(sequence.words)) for line in lines]
    chain, scores = Chain(), sequence.scores
    free = chain.argmax(**scores)
    response: dict[str, Any] = {
        "algorithm": "constrained search",
        "free": sequence.described(free.tolist()),
        "shown": scores["label"],
        "cost": sequence.cost if sequence.augmented else None,
        "gold": None if sequence.gold is None else sequence.described(sequence.gold),
        "python": _python(sequence, read),
        "help": HELP,
        "count": None,
        "outputs": None,
    }
    made = [constraint for r in read for constraint in r.constraints]
    constrained = with_constraints(chain, made, classes=sequence.labels)
    try:
        trace = traces.constrained_search(constrained, **scores)
    except InfeasibleError as error:
        lines_ = ["no sequence keeps to all of these", str(error)]
        steps = [{"kind": "none", "path": None, "formula": lines_, "say": "No sequence is left."}]
        return {
            **response,
            "steps": steps,
            "best": None,
            "price": None,
            "runner_up": None,
            "how": "",
            "marginals": None,
        }
    best, value = trace.answer, trace.value
    top = chain.score(free, **scores)
    steps = [_search(sequence, constrained, trace, step) for step in trace.steps]
    ranked = constrained.kbest(2, **scores)
    second = ranked[1][1].tolist() if len(ranked) > 1 else None
    response |= _sums(sequence, constrained, read, request.choice("mode", ("max", "sum")))
    return {
        **response,
        "steps": steps,
        "best": sequence.described(best),
        "runner_up": None if second is None else sequence.described(second),
        "price": top - value,
        "how": str(constrained.report(**scores)) if read else "",
        "exact": True,
    }


def _sums(sequence: Sequence, constrained: Any, read: list[Read], mode: str) -> dict[str, Any]:
    """Return the sequences that satisfy all constraints, and probabilities given them."""
    response: dict[str, Any] = {"outputs": None, "enumerated": None, "marginals": None}
    scores = sequence.scores
    L, K = len(sequence.words), len(sequence.labels)
    if mode == "max":
        return response
    if K**L <= MOST_SUMMED:
        keep = None
        if read:
            keep = lambda y: constrained.broken(y, **scores) is None  # noqa: E731
        every = Enumeration(*sequence.factors(), keep=keep)
        response |= {"outputs": every.rows(sequence.described), "enumerated": every.marginals}
        response["count"] = len(every.every)
    response["marginals"] = constrained.marginals(**scores)["label"]
    return response


def _search(sequence: Sequence, constrained: Any, trace: Any, step: Any) -> dict[str, Any]:
    """Return one search as a step: its automata, its answer, the violated constraints."""
    compiled = constrained._compiled(sequence.scores)[2]
    rules = [str(rule) for rule, _ in compiled.every_automaton]
    named, path = " ".join(sequence.named(step["output"])), step["output"]
    joined, broken = step["automata"], [rules[c] for c in step["rejecting"]]
    states = plural(step["states"], "state")
    place = f"in the product with {plural(len(joined), 'automaton', 'automata')}, {states}"
    where = place if joined else "without automata"
    text = [f"the best {where}: {named}: {number(step['value'])}"]
    text.append("rejected by: " + "; ".join(broken) if broken else "accepted by all: the answer")
    drawn = _drawn([compiled.automata[c] for c in joined], sequence.labels)
    say = (
        f"Best {where}: {named}, {'rejected by ' + '; '.join(broken) if broken else 'the answer'}."
    )
    return {
        "kind": "search", "path": path, "ok": not broken, "formula": text, "say": say,
        "states": step["states"], "drawn": drawn,
    }  # fmt: skip


def _drawn(automata: list[Any], labels: list[str]) -> str:
    """Return the minimal product automaton as SVG; the single automata if it is too large."""
    if not automata:
        return ""
    try:
        product = explore(
            tuple(automaton.start for automaton in automata),
            lambda state, k: _step(automata, state, k),
            lambda state: all(
                automaton.accepting[s] for automaton, s in zip(automata, state, strict=True)
            ),
            len(labels),
            lambda k: k,
        )
    except TooManyStates:
        product = None
    small = product is not None and product.n_states <= MOST_DRAWN
    return draw_automata([product] if small else automata, labels).svg


def _step(automata: list[Any], state: Any, label: int) -> Any:
    after = tuple(
        int(automaton.next[s, label]) for automaton, s in zip(automata, state, strict=True)
    )
    return None if min(after) < 0 else after


def _python(sequence: Sequence, read: list[Read]) -> str:
    lines = [
        "import numpy as np",
        "from structlearn.constraints import (",
        "    Chunk, Label, Part, at_least, at_most, contiguous, each_at_most_once, exactly,",
        "    forbid, if_then, matches, not_adjacent, precedes, require, with_constraints,",
        ")",
        "from structlearn.structures import Chain",
        "",
        f"labels = {sequence.labels!r}",
        "scores = dict(",
        *[f"    {name}={literal(a)}," for name, a in sequence.scores.items()],
        ")",
        *_constrained(read),
        "y = chain.argmax(**scores)",
        "print([labels[k] for k in y], Chain().score(y, **scores))",
    ]
    return "\n".join(lines) + "\n"


def _constrained(read: list[Read]) -> list[str]:
    if not read:
        return ["chain = Chain()"]
    return [
        "chain = with_constraints(Chain(), [",
        *[f"    {r.python}," for r in read],
        "], classes=labels)",
    ]
