"""Batches: queries are written for one example and extended here to lists of examples."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ..exceptions import CapabilityError
from ..threads import n_threads, warn_of_one_thread
from .checks import check_count, check_temperature, check_width, seed_of

if TYPE_CHECKING:
    from .base import Structure

#: The queries that take batches. Queries about an output also take a list of outputs.
_QUERIES = (
    "argmax",
    "beam",
    "count",
    "entropy",
    "infer",
    "kbest",
    "log_partition",
    "marginals",
    "sample",
    "solve",
)
_OF_OUTPUTS = ("encode", "score")
#: The check of a query's first argument, also for an empty batch.
_CHECKS: dict[str, Callable[[Any], None]] = {
    "beam": check_width,
    "kbest": check_count,
    "sample": check_count,
}

Query = TypeVar("Query", bound=Callable[..., Any])


def takes_batches(query: Query) -> Query:
    """Mark a query that handles batches itself, in the core."""
    query.takes_batches = True  # type: ignore[attr-defined]
    return query


def holds_interpreter(query: Query) -> Query:
    """Mark a query that threads cannot speed up, since it is written in Python."""
    query.holds_interpreter = True  # type: ignore[attr-defined]
    return query


def widen_queries(cls: type[Structure]) -> None:
    """Extend the queries of a class to batches."""
    for name, query in list(vars(cls).items()):
        if not inspect.isfunction(query) or hasattr(query, "takes_batches"):
            continue
        if name in _QUERIES:
            setattr(cls, name, _widened(query))
        elif name in _OF_OUTPUTS:
            setattr(cls, name, _widened_of_outputs(query))
        elif name == "decode":
            setattr(cls, name, _widened_decode(query))


def _widened(query: Callable[..., Any]) -> Callable[..., Any]:
    check = _CHECKS.get(query.__name__)
    signature = inspect.signature(query)
    first = list(signature.parameters)[min(1, len(signature.parameters) - 1)]
    takes_jobs = "n_jobs" in signature.parameters
    on_threads = not hasattr(query, "holds_interpreter")

    @takes_batches
    @functools.wraps(query)
    def either(self: Structure, *args: Any, **scores: Any) -> Any:
        if check is not None and (args or first in scores):
            check(args[0] if args else scores[first])
        if "temperature" in scores:
            check_temperature(scores["temperature"])
        n_jobs = scores.pop("n_jobs", None)
        batch = read_batch(self, scores)
        if batch is None:
            if takes_jobs:
                scores["n_jobs"] = n_jobs
            return query(self, *args, **scores)
        examples = batch.examples()
        if query.__name__ == "sample":
            examples = seeded(examples, scores.get("random_state"))
        ask = functools.partial(query, self, *args)
        return _ask_on_threads(self, ask, examples, n_jobs, on_threads=on_threads)

    if not takes_jobs:
        parameters = list(signature.parameters.values())
        jobs = inspect.Parameter(
            "n_jobs", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="int | None"
        )
        last = len(parameters) - (parameters[-1].kind is inspect.Parameter.VAR_KEYWORD)
        either.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*parameters[:last], jobs, *parameters[last:]]
        )
    return either


def _widened_of_outputs(query: Callable[..., Any]) -> Callable[..., Any]:
    @takes_batches
    @functools.wraps(query)
    def either(self: Structure, y: Any, **scores: Any) -> Any:
        batch = read_batch(self, scores)
        if batch is None:
            return query(self, y, **scores)
        return ask_each(functools.partial(query, self), batch.examples(), y)

    return either


def _widened_decode(query: Callable[..., Any]) -> Callable[..., Any]:
    @takes_batches
    @functools.wraps(query)
    def either(self: Structure, parts: Any) -> Any:
        if isinstance(parts, (list, tuple)):
            return [query(self, item) for item in parts]
        return query(self, parts)

    return either


def seeded(examples: list[dict[str, Any]], random_state: Any) -> list[dict[str, Any]]:
    """Return the examples of a batch, each with its own seed."""
    seeds = np.random.SeedSequence(seed_of(random_state)).generate_state(len(examples), np.uint64)
    return [
        {**example, "random_state": int(seed >> np.uint64(1))}
        for seed, example in zip(seeds, examples, strict=True)
    ]


class Batch(NamedTuple):
    """The arguments of a query for several examples.

    Attributes
    ----------
    size : int
        The number of examples.
    arguments : dict
        By name, in the order of the call.
    listed : set of str
        The names of arguments that are lists with one entry per example. The others are shared.
    """

    size: int
    arguments: Mapping[str, Any]
    listed: set[str]

    def examples(self) -> list[dict[str, Any]]:
        """Return the arguments of each example."""
        return [
            {
                name: _entry(value[i]) if name in self.listed else value
                for name, value in self.arguments.items()
            }
            for i in range(self.size)
        ]


def read_batch(structure: Structure, arguments: Mapping[str, Any]) -> Batch | None:
    """Return the arguments of a query as a batch, or None if they are those of one example."""
    if not structure._is_batch(arguments):
        return None
    listed = {name for name, value in arguments.items() if structure._is_listed(name, value)}
    sizes = {name: len(arguments[name]) for name in arguments if name in listed}
    if len(set(sizes.values())) > 1:
        counts = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise ValueError(f"the lists of a batch need one entry per example, but {counts}")
    return Batch(next(iter(sizes.values())), arguments, listed)


def is_batch(scores: Mapping[str, Any]) -> bool:
    """Tell whether some of the scores are lists of arrays, one per example."""
    return any(
        isinstance(v, (list, tuple)) and (len(v) == 0 or isinstance(v[0], np.ndarray))
        for v in scores.values()
    )


def _entry(value: Any) -> Any:
    """Return one example's block as an array; a list of arrays would be a batch again."""
    if not isinstance(value, (list, tuple)):
        return value
    try:
        return np.asarray(value)
    except ValueError:  # of different lengths, as groups of nodes are
        return value


def _ask_on_threads(
    structure: Structure,
    query: Callable[..., Any],
    examples: list[dict[str, Any]],
    n_jobs: int | None,
    *,
    on_threads: bool,
) -> list[Any]:
    """Return the answers for the examples of a batch, computed on threads if that helps."""
    threads = min(n_threads(n_jobs), len(examples))
    if threads > 1 and not (on_threads and structure.runs_on_threads):
        name = type(structure).__name__
        if structure.runs_on_threads:
            name += "." + getattr(query, "func", query).__name__
        warn_of_one_thread(name, n_jobs, structure=not structure.runs_on_threads, stacklevel=3)
        threads = 1
    if threads <= 1:
        return ask_each(query, examples)
    with ThreadPoolExecutor(threads) as pool:
        singly = pool.map(
            lambda i: ask_each(query, examples[i : i + 1], first=i), range(len(examples))
        )
        return [answer for (answer,) in singly]


def ask_each(
    query: Callable[..., Any],
    examples: list[dict[str, Any]],
    outputs: Any = None,
    *,
    first: int = 0,
) -> list[Any]:
    """Return the answers for the examples of a batch; errors name the example.

    Parameters
    ----------
    query : callable
        Takes the scores of one example, after the output if ``outputs`` are given.
    outputs : sequence, optional
        One output per example.
    first : int
        The index of the first example, for messages.
    """
    if outputs is None:
        leading: list[tuple[Any, ...]] = [()] * len(examples)
    elif not hasattr(outputs, "__len__"):
        raise ValueError(f"a batch needs a list of outputs, one per example, got {outputs!r}")
    elif len(outputs) != len(examples):
        raise ValueError(f"the batch has {len(examples)} inputs, but {len(outputs)} outputs")
    else:
        leading = [(y,) for y in outputs]
    answers = []
    for i, (y, example) in enumerate(zip(leading, examples, strict=True), first):
        try:
            answers.append(query(*y, **example))
        except CapabilityError:  # of the structure, not of the example
            raise
        except ValueError as error:
            raise named_example(error, i) from None
    return answers


def named_example(error: ValueError, i: int) -> ValueError:
    """Return the error with the number of the example in front of its message."""
    error.args = (f"example {i}: {error}", *error.args[1:])
    return error
