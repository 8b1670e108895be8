"""A corpus in parts, and what is made of each: one interface for a machine, a stream, a cluster.

Fitting is a list of stages, and every stage goes by parts: something is counted in each part, the
counts are added up and frozen into an inventory, and each part makes its problem with that. One
machine is one part; a stream is parts one after the other, read again whenever they are asked for;
on a cluster workers have the parts (:mod:`structlearn.distributed`).

Functions take what there is of a part, what belongs to the part alone (``own``), and the arguments
that all parts share. They change none of them, and what they return depends on nothing else: so it
has the same bits wherever it is computed, and can be computed again after a worker has died.
"""

from __future__ import annotations

from functools import reduce

from ..exceptions import FileError
from .tree_sums import add, tree_sum

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from ..problem import Problem

#: As ``own``: the number of each part.
NUMBERS = range(2**31)


class Parts:
    """What there is of each part, and whatever later stages make of it.

    A stage that makes None of a part has emptied it: nobody asks it any more.
    """

    #: Threads for the work of a part; None: as many as whoever asks has.
    threads: int | None = None
    #: Whether there is one part, in this process, that any learner can look at.
    whole = False
    #: Whether online learners pass over the parts one after the other, not over all at a time.
    in_turn = False

    def each(self, function: Callable[..., Any], *args: Any, own: Any = None) -> list[Any]:
        """Call a function for each part; return the results in the order of the parts.

        Parameters
        ----------
        function : callable
            For workers on other machines: one that can be pickled.
        own : sequence, optional
            An argument for each part alone, the first after the part.
        """
        raise NotImplementedError

    def sum(self, function: Callable[..., Any], *args: Any, own: Any = None) -> Any:
        """Return the sum of what a function gives for each part; see :meth:`each`.

        The bits of the sum depend on the parts alone.
        """
        raise NotImplementedError

    def then(self, make: Callable[..., Any], *args: Any, own: Any = None) -> Parts:
        """Return what a function makes of each part, which is kept as long as it is in use."""
        raise NotImplementedError

    def workers(self) -> str:
        """Return how many workers there are, for people to read."""
        return "1"

    def problem(
        self, make: Callable[..., Problem], *args: Any, own: Any = None, n_tokens: int | None = None
    ) -> Problem:
        """Return the problem that the problems of all parts make up.

        Parameters
        ----------
        n_tokens : int, optional
            Of all parts, for the speed; otherwise examples are counted.
        """
        from .split_problem import SplitProblem

        return SplitProblem(self.then(make, *args, own=own), n_tokens)


class LocalParts(Parts):
    """Parts in this process.

    Parameters
    ----------
    items : iterable
        What there is of each part; None where it is empty.
    kept : bool
        What is made of the parts is kept. Otherwise it is made again for each question, so that
        there is one part at a time in memory, and online learners pass over the parts in turn.
    whole : bool
        It is one part, and all of the corpus.
    sources : sequence, optional
        Where the parts come from: their ``in_file`` tells where in a file an error is.
    """

    def __init__(
        self,
        items: Iterable[Any],
        *,
        kept: bool = True,
        in_turn: bool = False,
        whole: bool = False,
        sources: Sequence[Any] | None = None,
        threads: int | None = None,
    ) -> None:
        self._items, self._kept = items, kept
        self.whole, self.in_turn, self._sources = whole, in_turn, sources
        self.threads = threads

    def _results(
        self, function: Callable[..., Any], args: tuple[Any, ...], own: Any
    ) -> Iterator[Any]:
        for k, item in enumerate(self._items):
            try:
                first = () if own is None else (own[k],)
                yield None if item is None else function(item, *first, *args)
            except FileError as error:
                if self._sources is None:
                    raise
                raise self._sources[k].in_file(error) from None

    def each(self, function: Callable[..., Any], *args: Any, own: Any = None) -> list[Any]:
        return list(self._results(function, args, own))

    def sum(self, function: Callable[..., Any], *args: Any, own: Any = None) -> Any:
        results = self._results(function, args, own)
        if self._sources is None:
            return reduce(add, results, None)
        whole = 0, len(self._sources)
        return tree_sum(whole, lambda node: next(results) if node[1] - node[0] == 1 else None)

    def then(self, make: Callable[..., Any], *args: Any, own: Any = None) -> LocalParts:
        made: Iterable[Any]
        if self._kept:
            made = self.each(make, *args, own=own)
        else:
            made = _Again(self, make, args, own)
        return LocalParts(
            made,
            kept=self._kept,
            in_turn=self.in_turn,
            whole=self.whole,
            sources=self._sources,
            threads=self.threads,
        )

    def problem(
        self, make: Callable[..., Problem], *args: Any, own: Any = None, n_tokens: int | None = None
    ) -> Problem:
        if self.whole:
            problem: Problem = self.each(make, *args, own=own)[0]
            return problem
        return super().problem(make, *args, own=own, n_tokens=n_tokens)


class _Again:
    """What is made of each part, made again each time."""

    def __init__(self, parts: LocalParts, make: Callable[..., Any], args: Any, own: Any) -> None:
        self._parts, self._make, self._args, self._own = parts, make, args, own

    def __iter__(self) -> Iterator[Any]:
        return self._parts._results(self._make, self._args, self._own)


def alone(item: Any) -> LocalParts:
    """Return a corpus that is one part, on one machine."""
    return LocalParts([item], whole=True)
