"""The Constraints lab: write one, see the answer change, and what that costs."""

from __future__ import annotations

import contextlib
import re
from typing import Any

from ...constraints import (
    Label,
    Part,
    at_least,
    at_most,
    exactly,
    forbid,
    if_then,
    require,
    with_constraints,
)
from ...exceptions import CapabilityError, InfeasibleError
from ...structures import Chain
from ..enumeration import Enumeration
from ..formulas import number, plural
from ..requests import Refused, Request
from .sequence import Sequence, literal

__all__ = ["answer", "read_constraint"]

MOST_CONSTRAINTS, MOST_RANKS = 8, 60
#: Sequences that are listed where they keep to the constraints.
MOST_SUMMED = 512
#: Seconds that the integer program may take.
TIME_LIMIT = 2.0

HELP = (
    "forbid noun · forbid verb at 1 · forbid noun then verb · require adj at 3 · at most 1 noun · "
    "at least 1 verb · exactly 2 noun · if noun at 1 then verb at 2"
)


class Read:
    """One constraint: the object, and the Python that makes it."""

    def __init__(self, made: Any, python: str) -> None:
        self.made, self.python = made, python


def read_constraint(text: str, labels: list[str], length: int) -> Read:
    """Return the constraint that a line stands for; positions count from 1."""
    line = " ".join(text.split())
    label = "(" + "|".join(sorted(map(re.escape, labels), key=len, reverse=True)) + ")"
    at = {name: k for k, name in enumerate(labels)}

    def place(number_: str) -> int:
        t = int(number_)
        if not 1 <= t <= length:
            raise Refused(
                f"there is no position {t} in {line!r}: there are {plural(length, 'word')}"
            )
        return t - 1

    def one(name: str, position: str | None) -> tuple[Any, str]:
        k = at[name]
        if position is None:
            return Label(k), f"Label({k})"
        return Label(k, at=place(position)), f"Label({k}, at={place(position)})"

    found = re.fullmatch(rf"(forbid|require) {label}(?: at (\d{{1,3}}))?", line)
    if found:
        made, python = one(found[2], found[3])
        function = {"forbid": forbid, "require": require}[found[1]]
        return Read(function(made), f"{found[1]}({python})")
    found = re.fullmatch(rf"forbid {label} then {label}", line)
    if found:
        a, b = at[found[1]], at[found[2]]
        return Read(forbid(Part("transition", a, b)), f'forbid(Part("transition", {a}, {b}))')
    found = re.fullmatch(rf"(at most|at least|exactly) (\d{{1,3}}) {label}", line)
    if found:
        made, python = one(found[3], None)
        count = int(found[2])
        bounds = {"at most": at_most, "at least": at_least, "exactly": exactly}
        return Read(
            bounds[found[1]](count, made), f"{bounds[found[1]].__name__}({count}, {python})"
        )
    found = re.fullmatch(rf"if {label} at (\d{{1,3}}) then {label} at (\d{{1,3}})", line)
    if found:
        first, second = one(found[1], found[2]), one(found[3], found[4])
        return Read(if_then(first[0], second[0]), f"if_then({first[1]}, {second[1]})")
    raise Refused(f"{line!r} is not understood; labels are {', '.join(labels)}. What works: {HELP}")


def answer(request: Request) -> dict[str, Any]:
    """Return what the lab shows."""
    sequence = Sequence(request)
    lines = [line for line in request.text("constraints", 1000).splitlines() if line.strip()]
    if len(lines) > MOST_CONSTRAINTS:
        raise Refused(f"there are {len(lines)} constraints; the limit is {MOST_CONSTRAINTS}")
    read = [read_constraint(line, sequence.labels, len(sequence.words)) for line in lines]
    chain, scores = Chain(), sequence.scores
    free = chain.argmax(**scores)
    found: dict[str, Any] = {
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
    constrained: Any = Chain()
    if read:
        constrained = with_constraints(Chain(), [r.made for r in read], time_limit=TIME_LIMIT)
    try:
        solution = constrained.solve(**scores)
    except InfeasibleError as error:
        lines_ = ["no sequence keeps to all of these", str(error)]
        steps = [{"kind": "none", "path": None, "formula": lines_, "say": "No sequence is left."}]
        return {
            **found,
            "steps": steps,
            "best": None,
            "price": None,
            "runner_up": None,
            "how": "",
            "marginals": None,
        }
    best = solution.output.tolist()
    top, value = chain.score(free, **scores), chain.score(solution.output, **scores)
    steps, second = _steps(sequence, lines, read, best, value)
    if second is None:
        ranked = constrained.kbest(2, **scores)
        second = ranked[1][1].tolist() if len(ranked) > 1 else None
    found |= _sums(sequence, constrained, read, request.choice("mode", ("max", "sum")))
    return {
        **found,
        "steps": steps,
        "best": sequence.described(best),
        "runner_up": None if second is None else sequence.described(second),
        "price": top - value,
        "how": str(constrained.report(**scores)) if read else "",
        "exact": bool(solution.exact),
    }


def _sums(sequence: Sequence, constrained: Any, read: list[Read], mode: str) -> dict[str, Any]:
    """Return the sequences that keep to everything, and the probabilities given that they do."""
    found: dict[str, Any] = {"outputs": None, "enumerated": None, "marginals": None}
    scores = sequence.scores
    L, K = len(sequence.words), len(sequence.labels)
    if mode == "max":
        return found
    if K**L <= MOST_SUMMED:
        keep = None
        if read:
            keep = lambda y: constrained.broken(y, **scores) is None  # noqa: E731
        every = Enumeration(*sequence.factors(), keep=keep)
        found |= {"outputs": every.rows(sequence.described), "enumerated": every.marginals}
        found["count"] = len(every.every)
    with contextlib.suppress(CapabilityError):  # counts of labels have no dynamic program
        found["marginals"] = constrained.marginals(**scores)["label"]
    return found


def _steps(
    sequence: Sequence, lines: list[str], read: list[Read], best: list[int], value: float
) -> tuple[list[dict[str, Any]], list[int] | None]:
    """Return the sequences in the order of their scores, up to the first that keeps to all.

    And the second that does, where it is found on the way.
    """
    steps: list[dict[str, Any]] = []
    done = False
    each = [
        (line, with_constraints(Chain(), [r.made])) for line, r in zip(lines, read, strict=True)
    ]
    for rank, (score, y) in enumerate(Chain().kbest(MOST_RANKS, **sequence.scores), 1):
        broken = [line for line, one in each if one.broken(y, **sequence.scores) is not None]
        if done:
            if not broken:
                return steps, y.tolist()
            continue
        named = " ".join(sequence.named(y))
        text = [f"{rank}. {named}: {number(score)}"]
        if broken:
            text.append("breaks: " + "; ".join(broken))
        else:
            text.append("keeps to everything: the answer")
        say = (
            f"Number {rank}, {named}: {'breaks ' + '; '.join(broken) if broken else 'the answer'}."
        )
        steps.append(
            {"kind": "rank", "path": y.tolist(), "ok": not broken, "formula": text, "say": say}
        )
        done = not broken
    if done:
        return steps, None
    named = " ".join(sequence.named(best))
    text = [f"none of the {MOST_RANKS} best keeps to everything; the program finds it at once:"]
    text.append(f"{named}: {number(value)}")
    say = f"The answer is {named}."
    last = {"kind": "rank", "path": best, "ok": True, "formula": text, "say": say}
    return [*steps, last], None


def _python(sequence: Sequence, read: list[Read]) -> str:
    lines = [
        "import numpy as np",
        "from structlearn.constraints import (",
        "    Label, Part, at_least, at_most, exactly, forbid, if_then, require, with_constraints,",
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
    return ["chain = with_constraints(Chain(), [", *[f"    {r.python}," for r in read], "])"]
