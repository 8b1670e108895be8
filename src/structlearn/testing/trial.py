"""One input of a check: queries, comparisons, and error messages."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ..array_types import Array
from ..exceptions import CapabilityError, InfeasibleError
from ..structures import Structure
from .enumeration import Enumeration
from .report import Report, describe

#: Marks a query that the structure does not answer.
MISSING = object()


@dataclass
class Trial:
    """A structure, one input, its enumeration, and the tolerance of answers."""

    structure: Structure
    name: str
    truth: Enumeration
    report: Report
    tolerance: float

    @property
    def scores(self) -> dict[str, Array]:
        """The score blocks of this input."""
        return self.truth.scores

    @property
    def arguments(self) -> dict[str, Any]:
        """The score blocks, and the topology if it is part of the input."""
        return {**self.truth.scores, **self.truth.topology}

    def ask(self, query: str, *args: Any, capability: str | None = None, **options: Any) -> Any:
        """Return the structure's answer on this input, or ``MISSING``.

        Temperature and other options are passed with the scores. Any exception other than
        ``CapabilityError`` is a failure.
        """
        scores = {name: a.copy() for name, a in self.scores.items()}
        method: Callable[..., Any] = getattr(self.structure, query)
        try:
            answer = method(*args, **options, **scores, **self.truth.topology)
        except CapabilityError as error:
            self.report.missing.setdefault(capability or query, str(error))
            return MISSING
        except Exception as error:
            raise AssertionError(
                self._message(query, options, "an answer", f"{type(error).__name__}: {error}")
            ) from error
        for name, a in self.scores.items():
            if not np.array_equal(a, scores[name]):
                self.fail(query, "scores left as they were", f"another {name}", **options)
        self.report.count(capability or query)
        return answer

    def refuses(self, query: str, *args: Any, **options: Any) -> None:
        """Check that a query raises ``InfeasibleError``, since no output is legal."""
        try:
            answer = getattr(self.structure, query)(*args, **options, **self.arguments)
        except CapabilityError:
            return
        except InfeasibleError:
            self.report.count("nothing legal")
            return
        except Exception as error:
            raise AssertionError(
                self._message(query, options, "InfeasibleError", f"{type(error).__name__}: {error}")
            ) from error
        self.fail(query, "InfeasibleError, as nothing is legal", answer, **options)

    def fail(self, query: str, expected: Any, got: Any, **options: Any) -> NoReturn:
        """Raise the ``AssertionError`` that says which query failed, where and how."""
        raise AssertionError(self._message(query, options, expected, got))

    def number(self, query: str, expected: float, got: Any, slack: float, **options: Any) -> None:
        """Compare one number."""
        try:
            value = float(got)
        except (TypeError, ValueError):
            self.fail(query, expected, got, **options)
        if value == expected:
            return
        if not (math.isfinite(value) and abs(value - expected) <= slack):
            self.fail(query, expected, got, **options)

    def blocks(
        self, query: str, expected: Mapping[str, Array], got: Any, slack: float, **options: Any
    ) -> None:
        """Compare one array per block; forbidden parts must be exactly 0."""
        if not isinstance(got, Mapping) or set(got) != set(expected):
            self.fail(query, expected, got, **options)
        for name, right in expected.items():
            array = np.asarray(got[name])
            if array.shape != right.shape or not np.allclose(array, right, rtol=0, atol=slack):
                self.fail(f"{query} ({name})", right, array, **options)
            score = self.scores[name]
            forbidden = np.isneginf(np.broadcast_to(score, right.shape))
            if (array[forbidden] != 0).any():
                self.fail(f"{query} ({name})", "0 where the score is -inf", array, **options)

    def value_slack(self) -> float:
        """The allowed error of a value, which grows with the size of the scores."""
        return self.tolerance + 1e-13 * self.truth.size

    def mean_slack(self, temperature: float) -> float:
        """The allowed error of an expected count."""
        return self.tolerance + 1e-13 * self.truth.size / temperature

    def row(self, query: str, y: Any, **options: Any) -> int:
        """Return the number of an output in the enumeration; fail if it is not legal."""
        try:
            counts = self.structure.encode(y, **self.arguments)
            row = self.truth.find(counts)
        except Exception as error:
            raise AssertionError(
                self._message(query, options, "an output", f"{y!r}; encode raises {error!r}")
            ) from error
        if row is None:
            self.fail(query, "one of the enumerated outputs", y, **options)
        if self.truth.values[row] == -np.inf:
            self.fail(query, "an output without forbidden parts", y, **options)
        return row

    def _message(self, query: str, options: Mapping[str, Any], expected: Any, got: Any) -> str:
        arguments = "".join(f", {key} {value!r}" for key, value in options.items())
        return (
            f"{self.structure!r}.{query}{arguments}, on input {self.name!r}:\n"
            f"  expected {_text(expected)}\n"
            f"  got      {_text(got)}\n"
            f"  scores   {describe(self.arguments)}"
        )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else describe(value)
