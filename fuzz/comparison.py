"""Comparison of a structure's answers to a batch with enumeration."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fuzz.enumeration import Array, Batch, Rows
from structlearn.exceptions import CapabilityError, InfeasibleError
from structlearn.losses import StructuredLoss
from structlearn.structures.canonical import canonical

#: The most findings to keep.
MOST_FINDINGS = 50


@dataclass
class Campaign:
    """The numbers of comparisons by query, and the differences found."""

    name: str
    instances: int = 0
    compared: Counter[str] = field(default_factory=Counter)
    refused: dict[str, str] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        shares = [
            f"{self.compared[name]:,} of {name}"
            for name in ("programs", "hyperedges", "tensors", "kernels")
        ]
        return (
            f"{self.name:<18} {self.instances:>8,} instances, {sum(self.compared.values()):>9,} "
            f"answers compared ({', '.join(shares)}), "
            f"{self.seconds:.0f} s, {len(self.findings)} findings"
        )

    @property
    def missing(self) -> dict[str, str]:
        """The queries that were never answered, with the reasons."""
        return {q: reason for q, reason in self.refused.items() if not self.compared[q]}

    def wrong(self, query: str, batch: Batch, i: int, expected: Any, got: Any) -> None:
        """Note a difference, with the data to reproduce it."""
        if len(self.findings) > MOST_FINDINGS:
            return
        scores = {
            name: a if name == "automata" else np.asarray(a).tolist()
            for name, a in batch.scores(i).items()
        }
        self.findings.append(
            f"{batch.case.structure!r}.{query}: expected {expected}, got {got}\n    scores {scores}"
        )


class Comparison:
    """One structure's answers on one batch.

    Parameters
    ----------
    label : str
        The name under which answers are counted, instead of the queries' names.
    """

    def __init__(self, campaign: Campaign, batch: Batch, structure: Any, label: str = "") -> None:
        self.campaign, self.batch, self.structure, self.label = campaign, batch, structure, label

    def ask(self, query: str, chosen: Rows, *args: Any, **options: Any) -> list[Any]:
        """Return the answers on some examples; an empty list if the structure has none."""
        method = getattr(self.structure, query)
        if not len(chosen):
            return []
        try:
            answers: list[Any] = method(*args, **options, **self.batch.listed(chosen))
        except CapabilityError as error:
            self.campaign.refused[query] = str(error)
            if self.batch.case.complete:
                self.wrong(query, int(chosen[0]), "an answer", f"CapabilityError: {error}")
            return []
        except Exception as error:
            # One by one, to find the example.
            for i in chosen:
                try:
                    method(*args, **options, **self.batch.scores(int(i)))
                except Exception as alone:
                    self.wrong(query, int(i), "an answer", f"{type(alone).__name__}: {alone}")
                    return []
            self.wrong(query, int(chosen[0]), "answers", f"{error!r}, as a batch only")
            return []
        self.campaign.compared[self.label or query] += len(answers)
        return answers

    def wrong(self, query: str, i: int, expected: Any, got: Any) -> None:
        """Note a difference."""
        self.campaign.wrong(f"{self.label} {query}".strip(), self.batch, i, expected, got)

    def best(self, query: str, chosen: Any, found: list[Any], slack: Array) -> None:
        """Compare best outputs with the best value."""
        for i, y in zip(chosen, found, strict=True):
            row = self.batch.rows.get(canonical(y))
            if row is None:
                self.wrong(query, i, "an output", y)
            elif not self.batch.values[i, row] >= self.batch.best[i] - slack[i]:
                got = f"{y!r} of {self.batch.values[i, row]!r}"
                self.wrong(query, i, f"an output of {self.batch.best[i]!r}", got)

    def solved(self, chosen: Rows) -> bool:
        """Compare outputs, values, bounds and claims; return whether all claim to be exact."""
        slack = self.batch.slack()
        solutions = self.ask("solve", chosen)
        exact = []
        for i, s in zip(chosen.tolist(), solutions, strict=False):
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
        self.best("solve", [i for i, _ in exact], [y for _, y in exact], slack)
        return len(exact) == len(solutions)

    def decoded(self, chosen: Rows) -> None:
        """Compare best outputs."""
        outputs = self.ask("argmax", chosen)
        if outputs:
            self.best("argmax", chosen.tolist(), outputs, self.batch.slack())

    def ranked(self, chosen: Rows, n: int) -> None:
        """Compare k-best lists: the best values in order, outputs without repeats."""
        slack = self.batch.slack()
        rankings = self.ask("kbest", chosen, n)
        if not rankings:
            return
        order = -np.sort(-self.batch.values[chosen], axis=1)[:, :n]
        for i, ranked, right in zip(chosen.tolist(), rankings, order, strict=True):
            right = right[np.isfinite(right)]
            rows = [self.batch.rows.get(canonical(y)) for _, y in ranked]
            values = np.array([value for value, _ in ranked])
            if None in rows or len(set(rows)) != len(rows) or len(rows) != len(right):
                self.wrong(f"kbest({n})", i, f"{len(right)} outputs of {right}", ranked)
            elif (np.abs(values - right) > slack[i]).any() or (
                np.abs(self.batch.values[i, rows] - right) > slack[i]
            ).any():
                self.wrong(f"kbest({n})", i, right, ranked)

    def summed(self, chosen: Rows, temperature: float) -> None:
        """Compare sums and their gradients."""
        batch = self.batch
        right = batch.sums(chosen, temperature)
        close = 1e-11 * temperature + batch.slack()[chosen]
        for k, (value, gradient) in enumerate(self.ask("infer", chosen, temperature=temperature)):
            i, got = int(chosen[k]), batch.gradient(gradient)
            if not abs(value - right.values[k]) <= close[k]:
                self.wrong(f"infer({temperature})", i, right.values[k], value)
            elif not np.isfinite(got).all() or (got[batch.forbidden[i]] != 0).any():
                self.wrong(f"infer({temperature})", i, "0 for forbidden parts", got)
            elif not ((got >= right.least[k]) & (got <= right.most[k])).all():
                self.wrong(f"infer({temperature})", i, right.means[k].tolist(), got.tolist())

    def spread(self, chosen: Rows, temperature: float) -> None:
        """Compare sums by themselves, entropies and samples."""
        batch = self.batch
        right = batch.sums(chosen, temperature)
        close = 1e-11 * temperature + batch.slack()[chosen]
        blur = batch.blur(chosen, temperature)
        for k, got in enumerate(self.ask("log_partition", chosen, temperature=temperature)):
            if not abs(got - right.values[k]) <= close[k]:
                self.wrong(f"log_partition({temperature})", int(chosen[k]), right.values[k], got)
        for k, got in enumerate(self.ask("entropy", chosen, temperature=temperature)):
            if blur[k] > 0.01 and not 0.0 <= got <= right.openest[k] + 0.1:
                self.wrong(f"entropy({temperature})", int(chosen[k]), right.openest[k], got)
            elif blur[k] < 0.01 and not abs(got - right.entropies[k]) <= 100 * blur[k]:
                self.wrong(f"entropy({temperature})", int(chosen[k]), right.entropies[k], got)
        drawn = self.ask("sample", chosen, 1, temperature=temperature, random_state=0)
        for k, (y,) in enumerate(drawn):
            row = batch.rows.get(canonical(y))
            if row is None or batch.values[chosen[k], row] == -np.inf:
                self.wrong(f"sample({temperature})", int(chosen[k]), "a legal output", y)

    def proven(self, chosen: Rows, temperature: float) -> None:
        """Compare sums with their proven bounds: the share of a sum that may be too much."""
        right = self.batch.sums(chosen, temperature)
        close = 1e-11 * temperature + self.batch.slack()[chosen]
        for k, i in enumerate(chosen.tolist()):
            try:
                certified = self.structure.certified_sum(
                    temperature=temperature, **self.batch.scores(i)
                )
            except CapabilityError:
                self.campaign.compared["sums refused"] += 1
                continue
            except Exception as error:
                self.wrong(f"certified_sum({temperature})", i, right.values[k], repr(error))
                continue
            self.campaign.compared["bounds above 0" if certified.bound > 0 else "bounds of 0"] += 1
            least = certified.value + temperature * np.log1p(-certified.bound)
            if not least - close[k] <= right.values[k] <= certified.value + close[k]:
                self.wrong(f"certified_sum({temperature})", i, right.values[k], certified)

    def lost(self, chosen: Rows, temperature: float, rng: np.random.Generator) -> None:
        """Compare losses for a gold output, and their gradients."""
        for i in chosen[self.batch.sizes[chosen] < 1e6].tolist():
            values = self.batch.values[i]
            gold = int(rng.choice(np.flatnonzero(np.isfinite(values))))
            labels = [self.structure.labels_of(y) for y in self.batch.outputs]
            hamming = np.array([float(np.sum(np.not_equal(k, labels[gold]))) for k in labels])
            other = np.arange(len(values)) != gold
            for cost, costs in (("hamming", hamming), ("zero-one", other.astype(float))):
                margin = float(rng.choice((0.0, 0.7, 2.0)))
                heat = float(rng.choice((0.0, temperature)))
                loss = StructuredLoss(cost, margin=margin, temperature=heat)
                y, scores = self.batch.outputs[gold], self.batch.scores(i)
                try:
                    value, gradient = loss(self.structure, y, **scores)
                except Exception as error:
                    self.wrong(repr(loss), i, "a loss", repr(error))
                    continue
                self.campaign.compared["losses"] += 1
                raised = values + margin * costs
                best = raised.max()
                weights = np.exp((raised - best) / heat) if heat else (raised == best) * 1.0
                right = best - values[gold] + (heat * np.log(weights.sum()) if heat else 0.0)
                slack = 4e-12 * (self.batch.sizes[i] + margin * len(labels[gold]) + heat)
                moved = self.batch.gradient(gradient) + self.batch.parts[gold]
                if not abs(value - right) <= slack:
                    self.wrong(repr(loss), i, right, value)
                elif not heat:
                    near = self.batch.parts[raised >= best - slack]
                    if not (near == moved).all(axis=1).any():
                        self.wrong(f"{loss!r}, gradient", i, near.tolist(), moved.tolist())
                elif (blur := 1e-8 + 1e-12 * self.batch.sizes[i] / heat) < 0.01:
                    p = weights @ self.batch.parts / weights.sum()
                    if not (np.abs(p - moved) <= blur).all():
                        self.wrong(f"{loss!r}, gradient", i, p.tolist(), moved.tolist())

    def counted(self, chosen: Rows) -> None:
        """Compare the numbers of legal outputs."""
        legal = np.isfinite(self.batch.values[chosen]).sum(axis=1)
        for k, got in enumerate(self.ask("count", chosen)):
            if got != legal[k]:
                self.wrong("count", int(chosen[k]), int(legal[k]), got)

    def programmed(self, chosen: Rows) -> None:
        """Compare with the integer program."""
        slack = self.batch.slack()
        for i in chosen.tolist():
            try:
                solution = self.structure.as_program(**self.batch.scores(i)).solve()
            except CapabilityError as error:
                self.campaign.refused["programs"] = str(error)
                return
            except Exception as error:
                self.wrong("as_program", i, "an answer", repr(error))
                continue
            self.campaign.compared["programs"] += 1
            if solution.exact and not abs(solution.value - self.batch.best[i]) <= slack[i]:
                self.wrong("as_program", i, self.batch.best[i], solution.value)
            elif not solution.bound >= self.batch.best[i] - slack[i]:
                self.wrong("as_program", i, f"a bound of {self.batch.best[i]!r}", solution.bound)

    def refused(self, chosen: Rows) -> None:
        """Compare errors on examples without a legal output."""
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
