"""``python -m tests.fuzz.structures``: every structure against enumeration.

The outputs of a shape are enumerated once, as rows of part counts; values, sums, gradients, k-best
lists and counts of a whole batch of scores are then products of matrices, and what the structure
answers to the batch is compared with them. Some examples of each batch are solved as integer
programs, and by hyperedges where the structure has them. Scores are plain, tied, tiny, huge or of
mixed sizes, and some parts are forbidden.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.exceptions import CapabilityError, InfeasibleError
from structlearn.structures.canonical import canonical
from tests.fuzz.cases import CASES, Case

__all__ = ["Campaign", "fuzz"]

Array = npt.NDArray[np.float64]

TEMPERATURES = (0.3, 1.0, 5.0)
SIZES = (1e-300, 1e-9, 1.0, 1.0, 1.0, 30.0, 1e3, 1e6, 1e12)
SHARES = (0.0, 0.0, 0.0, 0.1, 0.3, 0.6)
#: Of a batch, one example in so many is given to the integer program, and to the hyperedges.
PROGRAMS, EDGES = 100, 5


@dataclass
class Campaign:
    """What was compared how often, and what differed."""

    name: str
    instances: int = 0
    compared: Counter[str] = field(default_factory=Counter)
    missing: dict[str, str] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        programs, edges = self.compared["program"], self.compared["hyperedges"]
        return (
            f"{self.name:<18} {self.instances:>8,} instances, {sum(self.compared.values()):>9,} "
            f"answers compared ({programs:,} of programs, {edges:,} of hyperedges), "
            f"{self.seconds:.0f} s, {len(self.findings)} findings"
        )


class Batch:
    """Scores of many examples of one shape, and every query answered by enumeration."""

    def __init__(self, case: Case, rng: np.random.Generator, size: int) -> None:
        self.case = case
        zeros = {name: np.zeros(shape) for name, shape in case.shapes.items()}
        given = {**zeros, **case.topology}
        outputs = case.outputs or list(case.structure.outputs(**given))
        # Rows may be equal: trees of a grammar without spans can have the same rules.
        counts = [case.structure.encode(y, **given) for y in outputs]
        self.parts = np.array([self.gradient(count) for count in counts])
        self.rows = {canonical(y): i for i, y in enumerate(outputs)}
        self.theta = _draw(case, rng, size)
        self.forbidden = np.isneginf(self.theta)
        plain = np.where(self.forbidden, 0.0, self.theta)
        self.values = plain @ self.parts.T
        self.values[(self.forbidden @ (self.parts.T > 0)) > 0] = -np.inf
        self.best = self.values.max(axis=1)
        # The sizes that rounding goes by: of one output's parts, added up.
        self.sizes = (np.abs(plain) @ self.parts.T).max(axis=1)

    def scores(self, i: int) -> dict[str, Any]:
        """Return the scores of one example."""
        found, at = {}, 0
        for name, shape in self.case.shapes.items():
            n = int(np.prod(shape))
            found[name] = self.theta[i, at : at + n].reshape(shape)
            at += n
        return {**found, **self.case.topology}

    def listed(self, chosen: npt.NDArray[np.int64]) -> dict[str, Any]:
        """Return the scores of some examples, a list for each block."""
        each = [self.scores(int(i)) for i in chosen]
        return {name: [one[name] for one in each] for name in each[0]}

    def gradient(self, p: dict[str, Any]) -> Array:
        """Return expected counts of one example as one row."""
        return np.concatenate([np.ravel(p[name]) for name in self.case.shapes])


def _draw(case: Case, rng: np.random.Generator, size: int) -> Array:
    """Draw scores: plain, tied or of mixed sizes, each example at a scale of its own."""
    blocks = []
    scale = rng.choice(SIZES, size=size)
    tied, mixed = rng.random(size) < 0.3, rng.random(size) < 0.15
    scale[mixed] = 1.0
    share = rng.choice(SHARES, size=size)
    for name, shape in case.shapes.items():
        n = int(np.prod(shape))
        x = rng.normal(size=(size, n))
        x[tied] = np.round(x[tied])
        x[mixed] *= 10.0 ** rng.integers(-8, 9, size=(int(mixed.sum()), n))
        x *= scale[:, np.newaxis]
        if case.symmetric:
            square = x.reshape(size, *shape)
            x = np.where(np.tril(np.ones(shape)) > 0, square, square.swapaxes(1, 2)).reshape(
                size, n
            )
        if name.startswith("potts"):
            blocks.append(np.abs(x))
            continue
        hidden = rng.random((size, n)) < share[:, np.newaxis]
        if case.symmetric:
            square = hidden.reshape(size, *shape)
            hidden = (square | square.swapaxes(1, 2)).reshape(size, n)
        blocks.append(np.where(hidden, -np.inf, x))
    return np.concatenate(blocks, axis=1)


def _value_slack(batch: Batch) -> Array:
    return 1e-300 + 1e-12 * batch.sizes


class _Comparison:
    """One structure's answers on one batch."""

    def __init__(self, campaign: Campaign, batch: Batch, structure: Any, label: str = "") -> None:
        self.campaign, self.batch, self.structure, self.label = campaign, batch, structure, label

    def ask(self, query: str, chosen: Any, *args: Any, **options: Any) -> list[Any] | None:
        """Return the answers on some examples; None where the structure has none to give."""
        if f"{self.label}{query}" in self.campaign.missing:
            return None
        method = getattr(self.structure, query)
        try:
            found: list[Any] = method(*args, **options, **self.batch.listed(chosen))
        except CapabilityError as error:
            self.campaign.missing[f"{self.label}{query}"] = str(error)
            return None
        except Exception as error:
            # One by one, so that the example is known.
            for i in chosen:
                try:
                    method(*args, **options, **self.batch.scores(int(i)))
                except Exception as alone:
                    self.wrong(query, int(i), "an answer", f"{type(alone).__name__}: {alone}")
                    return None
            self.wrong(query, int(chosen[0]), "answers", f"{error!r}, as a batch only")
            return None
        self.campaign.compared[self.label or query] += len(found)
        return found

    def wrong(self, query: str, i: int, expected: Any, got: Any) -> None:
        """Note a difference, with what repeats it."""
        if len(self.campaign.findings) > 50:
            return
        scores = {name: np.asarray(a).tolist() for name, a in self.batch.scores(i).items()}
        self.campaign.findings.append(
            f"{self.structure!r}.{query}: expected {expected}, got {got}\n    scores {scores}"
        )

    def outputs(self, query: str, chosen: Any, found: list[Any], slack: Array) -> None:
        """Compare best outputs with the best value."""
        for i, y in zip(chosen.tolist(), found, strict=True):
            row = self.batch.rows.get(canonical(y))
            if row is None:
                self.wrong(query, i, "an output", y)
            elif not self.batch.values[i, row] >= self.batch.best[i] - slack[i]:
                got = f"{y!r} of {self.batch.values[i, row]!r}"
                self.wrong(query, i, f"an output of {self.batch.best[i]!r}", got)

    def solved(self, chosen: Any) -> None:
        """Compare outputs, values, bounds and claims."""
        slack = _value_slack(self.batch)
        found = self.ask("solve", chosen)
        exact = []
        for i, s in zip(chosen.tolist(), found or (), strict=False):
            row = self.batch.rows.get(canonical(s.output))
            if row is None:
                self.wrong("solve", i, "an output", s.output)
                continue
            value = self.batch.values[i, row]
            if not abs(s.value - value) <= slack[i]:
                self.wrong("solve", i, f"the value {value!r} of {s.output!r}", s.value)
            if s.bound is not None and not s.bound >= self.batch.best[i] - slack[i]:
                self.wrong("solve", i, f"a bound of {self.batch.best[i]!r}", s.bound)
            if s.exact:
                exact.append((i, s.output))
        if exact:
            rows = np.array([i for i, _ in exact])
            self.outputs("solve", rows, [y for _, y in exact], slack)
        if found is not None and len(exact) == len(found):
            best = self.ask("argmax", chosen)
            if best is not None:
                self.outputs("argmax", chosen, best, slack)

    def ranked(self, chosen: Any, n: int) -> None:
        """Compare k-best lists: the best values in order, outputs without repeats."""
        slack = _value_slack(self.batch)
        found = self.ask("kbest", chosen, n)
        if found is None:
            return
        order = -np.sort(-self.batch.values[chosen], axis=1)[:, :n]
        for i, ranked, right in zip(chosen.tolist(), found, order, strict=True):
            right = right[np.isfinite(right)]
            rows = [self.batch.rows.get(canonical(y)) for _, y in ranked]
            values = np.array([value for value, _ in ranked])
            if None in rows or len(set(rows)) != len(rows) or len(rows) != len(right):
                self.wrong(f"kbest({n})", i, f"{len(right)} outputs of {right}", ranked)
            elif (np.abs(values - right) > slack[i]).any() or (
                np.abs(self.batch.values[i, rows] - right) > slack[i]
            ).any():
                self.wrong(f"kbest({n})", i, right, ranked)

    def summed(self, chosen: Any, temperature: float) -> None:
        """Compare sums, gradients, marginals and entropies."""
        batch = self.batch
        scaled = (batch.values[chosen] - batch.best[chosen, np.newaxis]) / temperature
        weights = np.exp(scaled)
        totals = weights.sum(axis=1)
        values = batch.best[chosen] + temperature * np.log(totals)
        p = weights / totals[:, np.newaxis]
        means = p @ batch.parts
        slack = 1e-11 * temperature + 1e-12 * batch.sizes[chosen] + 1e-300
        blur = 1e-9 + 1e-13 * batch.sizes[chosen] / temperature
        found = self.ask("infer", chosen, temperature=temperature)
        for k, answer in enumerate(found or ()):
            value, gradient = answer
            i, got = int(chosen[k]), batch.gradient(gradient)
            if not abs(value - values[k]) <= slack[k]:
                self.wrong(f"infer({temperature})", i, values[k], value)
            elif not np.isfinite(got).all() or (got[batch.forbidden[i]] != 0).any():
                self.wrong(f"infer({temperature})", i, "0 for forbidden parts", got)
            elif blur[k] < 0.01 and not np.allclose(got, means[k], rtol=0, atol=blur[k]):
                self.wrong(f"infer({temperature})", i, means[k].tolist(), got.tolist())
        sums = self.ask("log_partition", chosen, temperature=temperature)
        for k, got in enumerate(sums or ()):
            if not abs(got - values[k]) <= slack[k]:
                self.wrong(f"log_partition({temperature})", int(chosen[k]), values[k], got)
        with np.errstate(divide="ignore", invalid="ignore"):
            entropies = -np.where(p > 0, p * np.log(p), 0.0).sum(axis=1)
        found = self.ask("entropy", chosen, temperature=temperature)
        for k, got in enumerate(found or ()):
            if blur[k] < 0.01 and not abs(got - entropies[k]) <= 100 * blur[k]:
                self.wrong(f"entropy({temperature})", int(chosen[k]), entropies[k], got)
        found = self.ask("sample", chosen, 1, temperature=temperature, random_state=0)
        for k, drawn in enumerate(found or ()):
            row = batch.rows.get(canonical(drawn[0]))
            if row is None or batch.values[chosen[k], row] == -np.inf:
                self.wrong(f"sample({temperature})", int(chosen[k]), "a legal output", drawn)

    def counted(self, chosen: Any) -> None:
        """Compare the numbers of legal outputs."""
        legal = np.isfinite(self.batch.values[chosen]).sum(axis=1)
        for k, got in enumerate(self.ask("count", chosen) or ()):
            if got != legal[k]:
                self.wrong("count", int(chosen[k]), int(legal[k]), got)

    def programmed(self, chosen: Any) -> None:
        """Compare with the integer program."""
        slack = 1e-6 * (1.0 + self.batch.sizes)
        for i in chosen.tolist():
            if not 1e-3 < self.batch.sizes[i] < 1e5:
                continue  # solvers of programs have absolute tolerances
            try:
                found = self.structure.as_program(**self.batch.scores(i)).solve()
            except CapabilityError as error:
                self.campaign.missing["as_program"] = str(error)
                return
            except Exception as error:
                self.wrong("as_program", i, "an answer", repr(error))
                continue
            self.campaign.compared["program"] += 1
            if not abs(found.value - self.batch.best[i]) <= slack[i]:
                self.wrong("as_program", i, self.batch.best[i], found.value)

    def refused(self, chosen: Any) -> None:
        """Where nothing is legal every query says so."""
        for i in chosen.tolist():
            for query in ("argmax", "log_partition"):
                try:
                    got = getattr(self.structure, query)(**self.batch.scores(i))
                except CapabilityError:
                    continue
                except InfeasibleError:
                    self.campaign.compared["nothing legal"] += 1
                except Exception as error:
                    self.wrong(query, i, "InfeasibleError", repr(error))
                else:
                    self.wrong(query, i, "InfeasibleError", got)


def fuzz(
    name: str, instances: int, *, seed: int = 0, size: int = 250, seconds: float = float("inf")
) -> Campaign:
    """Compare a structure's answers on so many instances."""
    begin = time.monotonic()
    campaign = Campaign(name)
    rng = np.random.default_rng([seed, list(CASES).index(name)])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        while campaign.instances < instances and time.monotonic() - begin < seconds:
            case = CASES[name](rng)
            batch = Batch(case, rng, min(size, instances - campaign.instances))
            campaign.instances += len(batch.theta)
            legal = np.flatnonzero(np.isfinite(batch.best))
            own = _Comparison(campaign, batch, case.structure)
            own.refused(np.flatnonzero(~np.isfinite(batch.best))[:2])
            if not len(legal):
                continue
            temperature = float(rng.choice(TEMPERATURES))
            own.solved(legal)
            own.ranked(legal, int(rng.integers(1, 7)))
            own.summed(legal, temperature)
            own.counted(legal)
            if case.programs:
                own.programmed(legal[::PROGRAMS])
            if case.mirror is not None:
                other = _Comparison(campaign, batch, case.mirror, "hyperedges")
                other.solved(legal[::EDGES])
                other.ranked(legal[::EDGES], 3)
                other.summed(legal[::EDGES], temperature)
    campaign.seconds = time.monotonic() - begin
    return campaign


def main() -> int:
    """Fuzz the structures one after another; return 1 where an answer was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.structures", description=__doc__)
    parser.add_argument("structures", nargs="*", help=f"some of {', '.join(CASES)}; default: all")
    parser.add_argument("--instances", type=int, default=100_000, help="of each structure")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for all together")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    chosen = arguments.structures or list(CASES)
    found = 0
    for name in chosen:
        share = arguments.seconds / len(chosen)
        campaign = fuzz(name, arguments.instances, seed=arguments.seed, seconds=share)
        print(campaign, flush=True)
        for query, reason in campaign.missing.items():
            print(f"  no {query}: {reason[:150]}")
        for line in campaign.findings[:5]:
            print(f"  {line}")
        found += len(campaign.findings)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
