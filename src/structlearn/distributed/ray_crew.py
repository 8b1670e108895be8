"""Workers on Ray: who has which shards, and what happens when one dies, is slow or fails.

A worker is an actor. It holds what was made of its shards and is asked for one node of the tree
over them at a time. Nothing it holds is needed to go on: whoever takes over a shard makes it again
from the file, and finds the same.

Large arguments and large sums do not all pass through the machine of the driver. Arguments go out
in rounds, in each of which the machines that have them send them to as many others. Sums stay in
the object store where they were computed, and workers add them up, pair by pair, as the tree over
the shards says: one sum comes back, with the bits that the driver would have found.
"""

from __future__ import annotations

import os
import pickle
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import ray

from ..exceptions import FileError
from ..fitting.tree_sums import Node, add, cover, halves, n_bytes
from ..meter import say
from .crew import Crew, Failure, Holder, Job
from .shards import ListShard

#: A job is given to a second worker where it takes this many times the median, and these seconds.
SLOW, SLOW_SECONDS = 3.0, 10.0
#: Seconds to wait for a worker where none is left.
PATIENCE = 300.0
#: Seconds in which all workers may come before the first of them begin.
_FIRST_WAIT = 30.0
#: Seconds between two looks at slow jobs.
_LOOK = 0.5
#: The most workers that one node of the tree may take with it, and errors that a shard may have.
_MOST_DEATHS, _MOST_ERRORS = 3, 4
#: Workers that may be started for each that was asked for.
_MOST_STARTS = 10
#: Bytes from which on arguments go out in rounds and sums stay with the workers.
LARGE = 1 << 20
#: Machines besides the driver's from which on rounds are fewer than messages one by one.
_MANY_MACHINES = 3


class ShardError(RuntimeError):
    """A shard failed twice in the same way; the message names it."""


class WorkersLostError(RuntimeError):
    """No worker is left, and none came back in time."""


@ray.remote(max_restarts=0, max_task_retries=0)
class _Worker:
    def __init__(self, large: int) -> None:
        self._holder = Holder(ray.get)
        self._large = large

    def ready(self) -> tuple[int, str]:
        return os.getpid(), ray.get_runtime_context().get_node_id()

    def compute(
        self, shards: Sequence[Any], first: int, job: Job, args: tuple[Any, ...]
    ) -> tuple[Any, Any]:
        """Return what was found and None, or a sign of it and a large sum, which stays here."""
        found = self._holder.compute(shards, first, job, args)
        if isinstance(found, Failure):
            try:  # not every error can be sent
                pickle.loads(pickle.dumps(found.error))
            except Exception:
                found.error = RuntimeError(f"{type(found.error).__name__}: {found.error}")
        elif job.summed and _is_large(found, self._large):
            return _KEPT, found
        return found, None

    def add(self, first: Any, second: Any) -> Any:
        return add(first, second)

    def fetch(self, stored: list[Any]) -> None:
        """Bring what is stored to this machine."""
        ray.get(stored)

    def keep(self, numbers: Sequence[int]) -> None:
        self._holder.keep(numbers)


#: The sign of a sum that stays where it was computed.
_KEPT = "kept"


def _is_large(found: Any, large: int) -> bool:
    """Tell whether a sum has so many bytes, as counts of a vocabulary may have too."""
    if isinstance(found, dict):
        found = tuple(found.values())
    parts = found if isinstance(found, tuple) else (found,)
    known = (int, float, str, dict, tuple, np.ndarray, np.generic, type(None))
    return n_bytes(found) >= large or not all(isinstance(part, known) for part in parts)


@dataclass(frozen=True)
class _StoredShard(ListShard):
    """Examples that lie in the object store: jobs, which name their shards, do not carry them."""

    def examples(self) -> Any:
        """Return the examples."""
        return ray.get(self.content)


def _stored(shard: Any) -> Any:
    if isinstance(shard, ListShard):
        return _StoredShard(shard.name, ray.put(shard.content), shard.size)
    return shard


@dataclass
class _Asked:
    """A node that a worker was asked for."""

    node: Node
    worker: int
    since: float
    kept: Any


@dataclass(frozen=True)
class _Kept:
    """A sum in the object store, and the worker that can get at it at once."""

    ref: Any
    worker: int


class RayCrew(Crew):
    """Actors on a cluster of Ray, which must be connected.

    Parameters
    ----------
    shards : sequence of Shard
    workers : int
    threads : int
        Cores that each worker reserves, and threads that it computes with.
    memory : int, optional
        Bytes that each worker reserves.
    verbose : bool
        Say on standard error when workers are lost or slow.
    """

    def __init__(
        self,
        shards: Sequence[Any],
        workers: int,
        threads: int = 1,
        *,
        memory: int | None = None,
        verbose: bool = True,
    ) -> None:
        super().__init__(list(map(_stored, shards)), threads)
        self.wanted = max(1, min(workers, len(shards)))
        self.verbose = verbose
        self._options: dict[str, Any] = {"num_cpus": threads, "scheduling_strategy": "SPREAD"}
        if memory is not None:
            self._options["memory"] = memory
        self._actors: dict[int, Any] = {}
        #: The process of each worker, and the machine that it is on.
        self.pids: dict[int, int] = {}
        self._machines: dict[int, str] = {}
        self._hired: dict[Any, tuple[int, Any]] = {}
        self._started = 0
        self._deaths: Counter[Node] = Counter()
        self._errors: defaultdict[int, list[str]] = defaultdict(list)
        #: Who has which nodes.
        self.owner: dict[Node, int] = {}
        #: Bytes that the last call sent out once and got back, and what happened so far.
        self.bytes_out = self.bytes_back = 0
        self.lost = self.copies = 0
        for _ in range(self.wanted):
            self._hire()

    @property
    def workers(self) -> str:
        """Workers alive, and how many there should be."""
        return f"{len(self._actors)}/{self.wanted}"

    def close(self) -> None:
        """End the workers."""
        for actor in [*self._actors.values(), *(actor for _, actor in self._hired.values())]:
            ray.kill(actor)
        self._actors.clear()
        self._hired.clear()

    def store(self, args: tuple[Any, ...]) -> Any:
        """Put arguments into the object store, once for all workers."""
        return ray.put(args)

    def _forget(self) -> None:
        for actor in self._actors.values():
            actor.keep.remote([])
        self.owner = {}

    # -- workers --------------------------------------------------------------------------------

    def _hire(self) -> None:
        if self._started >= _MOST_STARTS * self.wanted:
            return
        actor = _Worker.options(**self._options).remote(LARGE)  # type: ignore[attr-defined]
        self._hired[actor.ready.remote()] = (self._started, actor)
        self._started += 1

    def _greet(self, timeout: float) -> None:
        """Take in workers that have come."""
        if not self._hired:
            return
        come, _ = ray.wait(list(self._hired), num_returns=len(self._hired), timeout=timeout)
        for ref in come:
            number, actor = self._hired.pop(ref)
            try:
                self.pids[number], self._machines[number] = ray.get(ref)
                self._actors[number] = actor
            except ray.exceptions.RayError:
                self._hire()

    def _wait_for_one(self) -> None:
        end = time.monotonic() + PATIENCE
        while not self._actors and time.monotonic() < end:
            if not self._hired:
                self._hire()
            if not self._hired:
                break
            self._greet(_LOOK)
        if not self._actors:
            raise WorkersLostError(
                f"no worker is left, and none came within {PATIENCE:.0f} s: are there "
                f"{self.threads} free cores in the cluster (ray status)? A training with a "
                "checkpoint can go on when there are"
            )

    def _share_out(self) -> None:
        """Give every worker a run of shards of about the same size, where not all have one."""
        self._greet(0.0 if self.owner else _FIRST_WAIT)
        self._wait_for_one()
        busy = Counter(self.owner.values())
        idle = [number for number in self._actors if not busy[number]]
        dealt = sum(high - low for low, high in self.owner) == len(self.shards)
        gone = any(number not in self._actors for number in busy)
        divisible = any(times > 1 for times in busy.values()) or any(
            high - low > 1 for low, high in self.owner
        )
        if dealt and not gone and not (idle and divisible):
            return
        numbers = sorted(self._actors)
        sizes = [shard.size for shard in self.shards]
        total, passed, begin = float(sum(sizes)) or 1.0, 0.0, 0
        ends: list[int] = []
        for k, size in enumerate(sizes):
            passed += size
            # As many shards as workers that are left at least.
            left = len(numbers) - len(ends) - 1
            reached = passed >= total * (len(ends) + 1) / len(numbers)
            if left and (reached or len(sizes) - k - 1 <= left):
                ends.append(k + 1)
        self.owner = {}
        for number, end in zip(numbers, [*ends, len(sizes)], strict=False):
            self.owner.update((node, number) for node in cover(len(sizes), begin, end))
            kept = range(begin, end)
            self._actors[number].keep.remote(list(kept))
            begin = end

    def _bury(self, number: int) -> None:
        actor = self._actors.pop(number, None)
        if actor is None:
            return
        ray.kill(actor)  # where only its result was lost
        self.lost += 1
        self._hire()
        if self.verbose:
            say(f"a worker was lost ({len(self._actors)}/{self.wanted} left): others do its work")

    # -- jobs -----------------------------------------------------------------------------------

    def run(self, job: Job, args: tuple[Any, ...]) -> dict[Node, Any]:
        """Return the results of a job, by nodes of the tree over the shards."""
        self._share_out()
        self.bytes_out, self.bytes_back = n_bytes(args), 0
        stored = ray.put(args)
        if self.bytes_out >= LARGE:
            self._spread(stored)
        return _Call(self, job, stored).run()

    def _spread(self, stored: Any) -> None:
        """Bring arguments to all machines, in rounds: those that have them send them on."""
        first = {self._machines[number]: actor for number, actor in self._actors.items()}
        first.pop(ray.get_runtime_context().get_node_id(), None)
        actors = list(first.values())
        if len(actors) < _MANY_MACHINES:
            return
        having = 1
        while actors:
            now, actors = actors[:having], actors[having:]
            fetched = [actor.fetch.remote([stored]) for actor in now]
            # Who is busy or dead is not waited for: jobs fetch what is missing.
            ray.wait(fetched, num_returns=len(fetched), timeout=SLOW_SECONDS, fetch_local=False)
            having += len(now)


class _Call:
    """One job over all shards."""

    def __init__(self, crew: RayCrew, job: Job, args: Any) -> None:
        self.crew, self.job, self.args = crew, job, args
        self.asked: dict[Any, _Asked] = {}
        self.found: dict[Node, Any] = {}
        self.spent: list[float] = []
        self.begin = time.monotonic()

    def run(self) -> dict[Node, Any]:
        for attempt in range(1, _MOST_DEATHS + 1):
            self._find()
            try:
                return self._added_up()
            except ray.exceptions.RayError:  # a machine is gone, with sums that it had
                if attempt == _MOST_DEATHS:
                    raise
                self.found.clear()
                self.crew._share_out()
        raise AssertionError

    def _added_up(self) -> dict[Node, Any]:
        """Return what was found; of sums that workers have kept, the sum of all."""
        if not any(isinstance(found, _Kept) for found in self.found.values()):
            return self.found
        self.crew._wait_for_one()
        whole = (0, len(self.crew.shards))
        found = ray.get(self._sum(whole).ref)
        self.crew.bytes_back += n_bytes(found)
        return {whole: found}

    def _sum(self, node: Node) -> _Kept:
        """Return the sum of a node, which workers add up where its left half is."""
        if node in self.found:
            found = self.found[node]
            return found if isinstance(found, _Kept) else _Kept(found, -1)
        left, right = map(self._sum, halves(node))
        number = left.worker if left.worker in self.crew._actors else self._least_busy()
        ref = self.crew._actors[number].add.remote(left.ref, right.ref)
        return _Kept(ref, number)

    def _find(self) -> None:
        """Ask for all nodes; return when everything is known."""
        for node, number in self.crew.owner.items():
            self._ask(node, number)
        while self.asked:
            waited = [*self.asked, *self.crew._hired]
            done, _ = ray.wait(waited, num_returns=1, timeout=_LOOK, fetch_local=True)
            for ref in done:
                if ref in self.asked:
                    self._take(ref)
            self.crew._greet(0.0)
            self._help_the_slow()

    def _ask(self, node: Node, number: int) -> None:
        shards = self.crew.shards[node[0] : node[1]]
        actor = self.crew._actors[number]
        compute = actor.compute.options(num_returns=2)
        ref, kept = compute.remote(list(shards), node[0], self.job, self.args)
        self.asked[ref] = _Asked(node, number, time.monotonic(), kept)

    def _known(self, node: Node) -> bool:
        """Tell whether a node, or all that it is made of, was found."""
        if node in self.found:
            return True
        return node[1] - node[0] > 1 and all(map(self._known, halves(node)))

    def _take(self, ref: Any) -> None:
        asked = self.asked.pop(ref)
        crew = self.crew
        try:
            found = ray.get(ref)
        except ray.exceptions.RayTaskError as error:  # what it was asked could not be read
            found = Failure(asked.node[0], error, str(error))
        except ray.exceptions.RayError:  # the worker, its machine, or what it had found is gone
            self._lost(asked)
            return
        if self._known(asked.node):
            return  # a copy was faster
        if isinstance(found, Failure):
            self._failed(asked, found)
            return
        if isinstance(found, str) and found == _KEPT:
            found = _Kept(asked.kept, asked.worker)
        self.found[asked.node] = found
        crew.bytes_back += n_bytes(found)
        self.spent.append(time.monotonic() - self.begin)
        crew._deaths.pop(asked.node, None)
        if crew.owner.get(asked.node) != asked.worker and asked.worker in crew._actors:
            crew.owner[asked.node] = asked.worker  # it has the shards now
        # Copies of what is known: whoever computes them need not be waited for.
        for other, same in list(self.asked.items()):
            if same.node == asked.node:
                del self.asked[other]

    def _lost(self, asked: _Asked) -> None:
        crew = self.crew
        first = asked.worker in crew._actors
        crew._bury(asked.worker)
        node = asked.node
        if self._known(node) or any(same.node == node for same in self.asked.values()):
            return
        crew._deaths[node] += first  # the others of that worker were waiting
        if crew._deaths[node] >= _MOST_DEATHS:
            names = ", ".join(crew.shards[k].name for k in range(*node))
            raise ShardError(
                f"{crew._deaths[node]} workers have died at {names}: is there enough memory? "
                "Smaller shards (shard_size) need less"
            )
        crew.owner.pop(node, None)
        crew._wait_for_one()
        for part in self._parts(node):
            number = self._least_busy()
            crew.owner[part] = number
            self._ask(part, number)

    def _parts(self, node: Node) -> list[Node]:
        """Return nodes that make up a node, for as many workers as there are."""
        parts = [node]
        while len(parts) < len(self.crew._actors):
            largest = max(parts, key=lambda part: part[1] - part[0])
            if largest[1] - largest[0] == 1:
                break
            at = parts.index(largest)
            parts[at : at + 1] = halves(largest)
        return parts

    def _least_busy(self, *but: int) -> int:
        asked = Counter(one.worker for one in self.asked.values())
        able = [number for number in self.crew._actors if number not in but]
        return min(able or list(self.crew._actors), key=lambda number: (asked[number], number))

    def _failed(self, asked: _Asked, failure: Failure) -> None:
        crew = self.crew
        told = f"{type(failure.error).__name__}: {failure.error}"
        before = crew._errors[failure.shard]
        again = told in before
        before.append(told)
        if again or len(before) >= _MOST_ERRORS:
            if isinstance(failure.error, FileError):
                raise failure.error  # it names file and line
            raise ShardError(f"{crew.shards[failure.shard].name}: {told}\n{failure.trace}") from (
                failure.error
            )
        number = self._least_busy(asked.worker)
        crew.owner[asked.node] = number
        self._ask(asked.node, number)

    def _help_the_slow(self) -> None:
        """Give a second copy of what takes long to a worker that has nothing to do."""
        crew = self.crew
        busy = Counter(one.worker for one in self.asked.values())
        idle = [number for number in crew._actors if not busy[number]]
        if not idle or not self.spent:
            return
        passed = time.monotonic() - self.begin
        if passed < max(SLOW_SECONDS, SLOW * statistics.median(self.spent)):
            return
        copied = Counter(one.node for one in self.asked.values())
        waiting = [one for one in self.asked.values() if copied[one.node] == 1]
        # The last in line first: the slow worker is at the first.
        for one, number in zip(reversed(waiting), idle, strict=False):
            crew.copies += 1
            if crew.verbose:
                names = crew.shards[one.node[0]].name
                say(f"{names} takes long: a second worker has begun with it")
            self._ask(one.node, number)
