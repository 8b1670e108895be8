"""Checks of calling conventions: batches, and blocks in another order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..exceptions import CapabilityError
from ..structures import Structure
from ..structures.canonical import canonical
from .report import Report, describe
from .trial import MISSING, Trial

_QUERIES: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = (
    ("argmax", (), {}),
    ("solve", (), {}),
    ("infer", (), {"temperature": 0.0}),
    ("infer", (), {"temperature": 1.0}),
    ("log_partition", (), {"temperature": 0.3}),
    ("marginals", (), {"temperature": 1.0}),
    ("entropy", (), {"temperature": 1.0}),
    ("kbest", (3,), {}),
    ("count", (), {}),
)


def check_batches(
    structure: Structure, examples: list[dict[str, Any]], report: Report, seed: int
) -> None:
    """Check that a batch, a list of arrays per block, has the answers of its examples."""
    batch = {name: [example[name] for example in examples] for name in examples[0]}

    def ask(query: str, args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        try:
            answer = getattr(structure, query)(*args, **options, **batch)
        except CapabilityError:
            return MISSING
        except Exception as error:
            outcome = f"{type(error).__name__}: {error}"
        else:
            if isinstance(answer, list) and len(answer) == len(examples):
                report.count("batches")
                return answer
            outcome = describe(answer)
        if not getattr(type(structure), query).__module__.startswith("structlearn."):
            # An author's own method may take one example at a time.
            report.missing[f"{query} of a batch"] = outcome
            return MISSING
        raise AssertionError(
            f"{structure!r}.{query}, {options}: expected a list of {len(examples)} answers for a "
            f"batch, got {outcome}; scores {describe(batch)}"
        )

    for query, args, options in _QUERIES:
        answers = ask(query, args, options)
        if answers is MISSING:
            continue
        for i, (example, got) in enumerate(zip(examples, answers, strict=True)):
            right = getattr(structure, query)(*args, **options, **example)
            if canonical(got) != canonical(right):
                raise AssertionError(
                    f"{structure!r}.{query}, {options}: example {i} of a batch differs from the "
                    f"same example alone:\n  expected {describe(right)}\n  got      {describe(got)}"
                    f"\n  scores   {describe(example)}"
                )
    draws = [ask("sample", (4,), {"random_state": seed}) for _ in range(2)]
    if MISSING not in draws and canonical(draws[0]) != canonical(draws[1]):
        raise AssertionError(f"{structure!r}.sample: a batch drawn twice with one seed differs")


def check_keyword_order(trial: Trial) -> None:
    """Check that the order in which blocks are passed changes nothing."""
    if len(trial.scores) < 2:
        return
    scores: dict[str, Any] = trial.arguments
    turned: dict[str, Any] = dict(reversed(list(scores.items())))
    for temperature in (0.0, 1.0):
        try:
            value, p = trial.structure.infer(temperature=temperature, **scores)
            got, q = trial.structure.infer(temperature=temperature, **turned)
        except CapabilityError:
            continue
        slack = trial.value_slack()
        query = f"infer with the blocks in the order {list(turned)}"
        trial.number(query, float(value), got, slack, temperature=temperature)
        for name in p if temperature > 0 else ():
            if not np.allclose(p[name], q[name], rtol=0, atol=trial.mean_slack(temperature)):
                trial.fail(f"{query} ({name})", p[name], q[name], temperature=temperature)
    trial.report.count("order of blocks")
