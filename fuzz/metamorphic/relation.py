"""Relations, their registry, and the campaign that draws instances of them."""

from __future__ import annotations

import os
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import Different

Rng = np.random.Generator
#: The claim that answers have the same bits.
BITS = "bit for bit"
#: A campaign ends after this many different findings.
MOST_FINDINGS = 20
#: Subjects solved by branch and bound. Each draw takes as long as tens of others, so nine draws in
#: ten go to other subjects.
SLOW = frozenset({
    "programs", "constraints", "estimator, program", "estimator, constraints",
    "estimator, weighted bytes",
})  # fmt: skip
#: Findings of a subject that share this many leading characters are alike, and reported once.
ALIKE = 30


@dataclass(frozen=True)
class Relation:
    """A relation: two ways to ask the same question.

    Attributes
    ----------
    claim : str
        The agreement of the answers: `BITS`, or the tolerance in words.
    cost : str
        The cost of a draw: "query", "fit" or "pipeline".
    check : callable
        (subject, generator) -> None; raises `Different`.
    subjects : mapping
        Name -> the subject: a model, estimator, structure or layer.
    not_claimed : mapping
        Name of a subject, or of a class of them, -> the reason why the relation does not hold.
    """

    name: str
    claim: str
    cost: str
    check: Callable[[Any, Rng], None]
    subjects: Mapping[str, Any]
    not_claimed: Mapping[str, str] = field(default_factory=dict)


#: All relations by name.
RELATIONS: dict[str, Relation] = {}


def relation(
    name: str,
    subjects: Mapping[str, Any],
    *,
    claim: str = BITS,
    cost: str = "query",
    not_claimed: Mapping[str, str] | None = None,
) -> Callable[[Callable[[Any, Rng], None]], Callable[[Any, Rng], None]]:
    """Register a function as a relation over subjects."""

    def register(check: Callable[[Any, Rng], None]) -> Callable[[Any, Rng], None]:
        RELATIONS[name] = Relation(name, claim, cost, check, subjects, dict(not_claimed or {}))
        return check

    return register


@dataclass
class Campaign:
    """The draws of one relation.

    Attributes
    ----------
    draws : Counter
        Subject -> its number of drawn instances.
    wrong : Counter
        Subject and beginning of the message -> the number of such draws.
    findings : list of str
        The first of each kind: number of the draw, subject, difference or error.
    """

    relation: Relation
    draws: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    wrong: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def add(self, number: int, subject: str, message: str) -> None:
        """Note a draw that does not hold."""
        kind = subject, message[:ALIKE]
        self.wrong[kind] += 1
        if self.wrong[kind] == 1:
            self.findings.append(f"draw {number}, {subject}: {message}")

    def __str__(self) -> str:
        return (
            f"{self.relation.name:<34} {self.relation.claim:<16} {self.draws.total():>8,} draws "
            f"of {len(self.draws):>3} subjects, {self.seconds:>6,.0f} s, "
            f"{self.wrong.total()} wrong, {len(self.findings)} findings"
        )


def _generator(relation: Relation, seed: int, number: int) -> Rng:
    """Return the generator of draw ``number``, which depends only on it and the seed."""
    return np.random.default_rng([seed, zlib.crc32(relation.name.encode()), number])


def run(
    relation: Relation,
    draws: int,
    *,
    seed: int = 0,
    first: int = 0,
    seconds: float = float("inf"),
    only: Sequence[str] = (),
) -> Campaign:
    """Draw instances of a relation and report those that do not hold.

    Parameters
    ----------
    first : int
        Number of the first draw; draw ``number`` depends only on the seed and its number.
    only : sequence of str
        Names of subjects; empty means all.
    """
    begin, campaign = time.monotonic(), Campaign(relation)
    names = [name for name in relation.subjects if not only or name in only]
    if not names:
        return campaign
    for number in range(first, first + draws):
        if time.monotonic() - begin > seconds or len(campaign.findings) >= MOST_FINDINGS:
            break
        rng = _generator(relation, seed, number)
        name = names[int(rng.integers(len(names)))]
        if name in SLOW and not only and rng.random() < 0.9:
            name = names[int(rng.integers(len(names)))]
        campaign.draws[name] += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                relation.check(relation.subjects[name], rng)
        except Different as finding:
            campaign.add(number, name, str(finding))
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{os.path.basename(place.filename)}:{place.lineno}"
            campaign.add(number, name, f"{type(error).__name__} at {where}: {str(error)[:300]}")
    campaign.seconds = time.monotonic() - begin
    return campaign
