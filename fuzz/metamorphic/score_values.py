"""Relations between values, gradients, probabilities and programs of an instance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import Different, Refusal, demand_same, plain
from fuzz.metamorphic.instances import STRUCTURES, Instance, attempt
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.twins import TEMPERATURES, demand_close

__all__: list[str] = []

Rng = np.random.Generator
Subject = Callable[[Rng], Instance]
Parts = dict[str, Any]

#: The most outputs in a list of all outputs.
MOST = 400

NO_SUMS = ("matchings", "programs", "constraints")
WITH_SUMS = {name: draw for name, draw in STRUCTURES.items() if name not in NO_SUMS}
SMALL_STEP = 1e-4


def _score(it: Instance, y: Any) -> float:
    return float(it.structure.score(y, **it.scores))


def _by_parts(it: Instance, y: Any) -> float:
    """Return the score of an output as the sum of its parts' scores, by definition."""
    total = 0.0
    for name, counts in it.structure.encode(y, **it.scores).items():
        used = np.asarray(counts) != 0
        total += float((np.asarray(it.scores[name])[used] * counts[used]).sum())
    return total


@relation("value = score of the output", STRUCTURES, claim="to rounding")
def solved(subject: Subject, rng: Rng) -> None:
    """Values of solve, of infer at 0, of k-best lists: scores of their outputs, in order."""
    it = subject(rng)
    solution = attempt(lambda: it.structure.solve(**it.scores))
    if isinstance(solution, Refusal):
        demand_same("argmax", str(solution), str(it.best))
        return
    slack = it.slack
    for question, y in (("solve", solution.output), ("argmax", it.best)):
        demand_close(f"value of {question}", solution.value, _score(it, y), slack)
        demand_close(f"parts of {question}", solution.value, _by_parts(it, y), slack)
    if solution.bound is not None and solution.bound < solution.value - slack:
        raise Different(f"solve: bound {solution.bound!r} of value {solution.value!r}")
    parts = it.structure.encode(solution.output, **it.scores)
    if "binary" not in parts or "span" in parts:  # rules alone do not determine the tree
        demand_same("decode(encode(y))", plain(it.structure.decode(parts)), plain(solution.output))
    cold = attempt(lambda: it.structure.infer(temperature=0.0, **it.scores))
    if not isinstance(cold, Refusal):
        demand_close("infer at temperature 0", solution.value, cold[0], slack)
    ranked = it.structure.kbest(int(rng.integers(1, 5)), **it.scores)
    if solution.exact:
        demand_close("first of kbest", solution.value, ranked[0][0], slack)
    before = math.inf
    for value, y in ranked:
        demand_close("value of kbest", value, _score(it, y), slack)
        if value > before + slack:
            raise Different(f"kbest: {value!r} after {before!r}")
        before = value


def _value(it: Instance, temperature: float, scores: Parts | None = None) -> Any:
    blocks = it.scores if scores is None else scores
    return attempt(lambda: it.structure.log_partition(temperature=temperature, **blocks))


def _is_exact(it: Instance) -> bool:
    """Return whether sums are exact: those of a large graph may be loopy."""
    exact = getattr(it.structure, "sums_are_exact", None)
    return exact is None or bool(exact(**it.scores))


@relation(
    "sums between the maximum and ε log N",
    WITH_SUMS,
    claim="an inequality, to rounding",
    not_claimed=dict.fromkeys(NO_SUMS, "it has no sums"),
)
def bounded(subject: Subject, rng: Rng) -> None:
    """max ≤ F(ε) ≤ max + ε log N, and F grows with ε."""
    it = subject(rng)
    if isinstance(it.best, Refusal) or not _is_exact(it):
        return
    best, n = _score(it, it.best), it.structure.count(**it.scores)
    low, high = sorted(rng.choice((0.01, *TEMPERATURES, 100.0), size=2, replace=False).tolist())
    cold, hot = _value(it, low), _value(it, high)
    slack = it.slack + 1e-11 * high
    if not best - slack <= cold <= hot + slack:
        raise Different(f"max {best!r}, F({low}) {cold!r}, F({high}) {hot!r}")
    for temperature, value in ((low, cold), (high, hot)):
        if not value <= best + temperature * math.log(n) + slack:
            raise Different(f"F({temperature}) {value!r} of {n} outputs, max {best!r}")


@relation(
    "gradient = differences of values",
    WITH_SUMS,
    claim="to rounding and the square of the step",
    not_claimed=dict.fromkeys(NO_SUMS, "it has no sums"),
)
def differences(subject: Subject, rng: Rng) -> None:
    """⟨∇F, d⟩ against (F(θ + hd) − F(θ − hd))/2h, for a random direction d.

    The third derivative of F along d is a third cumulant over ε², at most R³/(9 ε²) if the scores
    of d differ by at most R (a variable of range R has |κ₃| ≤ R³/(6√3) < R³/9).
    """
    it = subject(rng)
    if isinstance(it.best, Refusal) or not _is_exact(it):
        return
    temperature = float(rng.choice(TEMPERATURES))
    line = {k: rng.normal(size=v.shape) / 3 for k, v in it.scores.items()}
    if it.case is not None and it.case.symmetric:
        line = {k: np.triu(v, 1) + np.triu(v, 1).T for k, v in line.items()}
    if any(name.startswith("potts") for name in line):  # strengths stay >= 0
        line = {k: np.zeros_like(v) if k.startswith("potts") else v for k, v in line.items()}
    _, gradient = it.structure.infer(temperature=temperature, **it.scores)
    slope = sum(float((gradient[k] * v).sum()) for k, v in line.items())
    h = SMALL_STEP * max(1.0, temperature)
    ahead, behind = (
        _value(it, temperature, {k: v + sign * h * line[k] for k, v in it.scores.items()})
        for sign in (1.0, -1.0)
    )
    span = 2 * _largest(it, line)
    slack = 2 * (it.slack + 1e-11 * temperature) / h + h**2 * span**3 / (54 * temperature**2)
    slack += it.blur(temperature) * span
    demand_close("slope", slope, (ahead - behind) / (2 * h), slack)


def _largest(it: Instance, line: Parts) -> float:
    """Return a rough upper bound of an output's score along a line, from all of its parts."""
    counts = it.structure.encode(it.best, **it.scores)
    return sum(float(np.abs(counts[k]).sum()) * float(np.abs(v).max(initial=0.0))
               for k, v in line.items())  # fmt: skip


@relation(
    "probabilities of all outputs",
    WITH_SUMS,
    claim="to rounding",
    not_claimed=dict.fromkeys(NO_SUMS, "it has no sums"),
)
def probabilities(subject: Subject, rng: Rng) -> None:
    """All outputs by a k-best list: their probabilities add up to 1, marginals and entropy."""
    it = subject(rng)
    temperature = float(rng.choice(TEMPERATURES))
    n = 0 if it.large or isinstance(it.best, Refusal) else it.structure.count(**it.scores)
    if not 0 < n <= MOST or not _is_exact(it):
        return
    ranked = it.structure.kbest(n + 1, **it.scores)
    demand_same("count", n, len(ranked))
    z, gradient = it.structure.infer(temperature=temperature, **it.scores)
    logs = np.array([(value - z) / temperature for value, _ in ranked])
    p, blur = np.exp(logs), it.blur(temperature)
    if blur > 0.01:
        return
    demand_close("sum of probabilities", 1.0, float(p.sum()), blur)
    entropy = it.structure.entropy(temperature=temperature, **it.scores)
    demand_close("entropy", entropy, -float((p * logs).sum()), 100 * blur)
    counts = [it.structure.encode(y, **it.scores) for _, y in ranked]
    for name, mean in gradient.items():
        expected = sum(q * count[name] for q, count in zip(p, counts, strict=True))
        apart = float(np.abs(mean - expected).max(initial=0.0))
        if not apart <= 10 * blur * max(1.0, float(np.abs(mean).max(initial=0.0))):
            raise Different(f"expected counts of {name}: {apart:.2g} apart, not {10 * blur:.2g}")
    y = ranked[int(rng.integers(len(ranked)))][1]
    others = attempt(lambda: it.structure.infer_others(y, temperature=temperature, **it.scores))
    if not isinstance(others, Refusal):
        both = np.logaddexp(_score(it, y) / temperature, others[0] / temperature)
        demand_close("all but one, and the one", z, temperature * both,
                     it.slack + 1e-11 * temperature)  # fmt: skip
    second = it.structure.runner_up(y, **it.scores)
    rest = [value for value, other in ranked if plain(other) != plain(y)]
    if rest:
        demand_close("runner-up", rest[0], second[0], it.slack)
    else:
        demand_same("runner-up", None, second)


@relation(
    "a structure = its program",
    {k: v for k, v in STRUCTURES.items() if k not in ("programs", "enumeration")},
    claim="to 1e-9 of the scores, the tolerance of the integer programs",
    not_claimed={
        "programs": "it is one",
        "enumeration": "it has no program",
        "grammars": "without spans a tree cannot be told from its rules",
    },
)
def programs(subject: Subject, rng: Rng) -> None:
    """The integer program of a structure has the same best value."""
    it = subject(rng)
    assert it.case is not None
    if it.large or not it.case.programs:
        return
    solution = attempt(lambda: it.structure.solve(**it.scores))
    program = attempt(lambda: it.structure.as_program(**it.scores).solve())
    if isinstance(solution, Refusal) or isinstance(program, Refusal):
        demand_same("solve", str(solution), str(program))
    elif solution.exact and program.exact:
        demand_close("solve", solution.value, program.value, it.slack + 1e-9 * it.size)
