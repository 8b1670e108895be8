"""Work on shards, and what is made of them on the way: the same for one process and for a cluster.

What is made of a shard comes in stages, each made from the one before: a shard of files, the corpus
that is in it, its learning problem. A stage is a function with its arguments, so that whoever takes
over a shard can make everything again.
"""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..exceptions import FileError
from ..fitting.parts import Parts
from ..fitting.tree_sums import Node, tree_sum


@dataclass(frozen=True)
class Stage:
    """How something is made of each shard.

    Attributes
    ----------
    number : int
        No other stage of a crew has it.
    before : Stage or None
        What it is made from; None: from the shard itself.
    make : callable
        Takes what it is made from, the number of the shard, and the arguments.
    args : object
        The arguments, as the crew has stored them.
    """

    number: int
    before: Stage | None
    make: Callable[..., Any]
    args: Any


@dataclass(frozen=True)
class Job:
    """A function to be called with what a stage has of each of some shards.

    Attributes
    ----------
    stage : Stage or None
        None: the shards themselves.
    function : callable
        Takes that, the number of the shard, and the arguments.
    summed : bool
        The results are to be added up.
    dropped : tuple of int
        Numbers of stages that are not needed any more.
    """

    stage: Stage | None
    function: Callable[..., Any]
    summed: bool
    dropped: tuple[int, ...] = ()


@dataclass
class Failure:
    """An error that a function raised.

    Attributes
    ----------
    shard : int
        Its number.
    error : Exception
    trace : str
        Where it was raised.
    """

    shard: int
    error: Exception
    trace: str


class Holder:
    """Makes what is asked for of shards, and keeps it.

    Parameters
    ----------
    fetch : callable
        Gives arguments that a crew has stored.
    """

    def __init__(self, fetch: Callable[[Any], Any]) -> None:
        self._fetch = fetch
        self._made: dict[tuple[int, int], Any] = {}
        self._args: dict[int, Any] = {}

    def compute(self, shards: Sequence[Any], first: int, job: Job, args: tuple[Any, ...]) -> Any:
        """Return what a job gives for shards that follow each other, or a :class:`Failure`.

        A list with a result for each shard, or their sum.
        """
        for key in [key for key in self._made if key[0] in job.dropped]:
            del self._made[key]
        for stage in [stage for stage in self._args if stage in job.dropped]:
            del self._args[stage]
        at = first

        def result(number: int) -> Any:
            nonlocal at
            at = number
            return job.function(self._get(job.stage, shards, first, number), number, *args)

        node = (first, first + len(shards))
        try:
            if job.summed:
                return tree_sum(node, lambda n: result(n[0]) if n[1] - n[0] == 1 else None)
            return [result(number) for number in range(*node)]
        except Exception as error:
            if isinstance(error, FileError):
                error = shards[at - first].in_file(error)
            return Failure(at, error, traceback.format_exc())

    def keep(self, numbers: Iterable[int]) -> None:
        """Forget what was made of other shards."""
        kept = set(numbers)
        for key in [key for key in self._made if key[1] not in kept]:
            del self._made[key]

    def _get(self, stage: Stage | None, shards: Sequence[Any], first: int, number: int) -> Any:
        if stage is None:
            return shards[number - first]
        key = (stage.number, number)
        if key not in self._made:
            before = self._get(stage.before, shards, first, number)
            if stage.number not in self._args:
                self._args[stage.number] = self._fetch(stage.args)
            self._made[key] = stage.make(before, number, *self._args[stage.number])
        return self._made[key]


class Held:
    """What a crew has made, or will make, of each shard."""

    def __init__(self, crew: Crew, stage: Stage | None) -> None:
        self.crew, self.stage = crew, stage

    def each(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Call a function for each shard; return the results in the order of the shards.

        Parameters
        ----------
        function : callable
            At the top level of a module. It takes what there is of the shard, its number, and the
            arguments, and changes none of them.
        """
        parts = self.crew.run(Job(self.stage, function, False, self.crew.dropped), args)
        found: list[Any] = tree_sum((0, len(self.crew.shards)), parts.get)
        return found

    def sum(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the sum of what a function gives for each shard; see :meth:`each`.

        The results are numbers, arrays, or tuples or dictionaries of them. The bits of the sum do
        not depend on how the shards are shared out.
        """
        parts = self.crew.run(Job(self.stage, function, True, self.crew.dropped), args)
        return tree_sum((0, len(self.crew.shards)), parts.get)

    def then(self, make: Callable[..., Any], *args: Any) -> Held:
        """Return the next stage; it is made when it is first asked for."""
        return self.crew.stage(self.stage, make, args)

    def release(self, *, before: bool = True) -> None:
        """Say that it is not needed any more, unless something has to be made again.

        Parameters
        ----------
        before : bool
            What it was made from is not needed either.
        """
        stage = self.stage
        while stage is not None:
            self.crew.dropped = (*self.crew.dropped, stage.number)
            stage = stage.before if before else None


class CrewParts(Parts):
    """Parts that workers of a crew have."""

    def __init__(self, held: Held) -> None:
        self.held = held
        self.threads = held.crew.threads

    def each(self, function: Callable[..., Any], *args: Any, own: Any = None) -> list[Any]:
        return self.held.each(_asked, function, own, *args)

    def sum(self, function: Callable[..., Any], *args: Any, own: Any = None) -> Any:
        return self.held.sum(_asked, function, own, *args)

    def then(self, make: Callable[..., Any], *args: Any, own: Any = None) -> Parts:
        return CrewParts(self.held.then(_asked, make, own, *args))

    def workers(self) -> str:
        return self.held.crew.workers


def _asked(item: Any, number: int, function: Callable[..., Any], own: Any, *args: Any) -> Any:
    if item is None:
        return None
    return function(item, *(() if own is None else (own[number],)), *args)


@dataclass
class Crew:
    """One process that does all the work itself.

    Parameters
    ----------
    shards : sequence of Shard
    threads : int
        Threads for each shard's work.
    """

    shards: Sequence[Any]
    threads: int = 1
    dropped: tuple[int, ...] = ()
    _numbers: Any = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self._holder = Holder(lambda args: args)

    @property
    def workers(self) -> str:
        """How many workers there are, for people to read."""
        return "1"

    def files(self) -> Held:
        """Return the shards themselves, to begin with."""
        return Held(self, None)

    def stage(self, before: Stage | None, make: Callable[..., Any], args: tuple[Any, ...]) -> Held:
        """Return a new stage."""
        return Held(self, Stage(next(self._numbers), before, make, self.store(args)))

    def keep(self, numbers: Sequence[int]) -> None:
        """Leave out all other shards; those that stay get new numbers, and are read again."""
        if len(numbers) < len(self.shards):
            self.shards = [self.shards[k] for k in numbers]
            self._forget()

    def _forget(self) -> None:
        self._holder.keep(())

    def store(self, args: tuple[Any, ...]) -> Any:
        """Put arguments where every worker can get them."""
        return args

    def run(self, job: Job, args: tuple[Any, ...]) -> dict[Node, Any]:
        """Return the results of a job, by nodes of the tree over the shards."""
        node = (0, len(self.shards))
        found = self._holder.compute(self.shards, 0, job, args)
        if isinstance(found, Failure):
            raise found.error
        return {node: found}

    def close(self) -> None:
        """Let the workers go."""

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
