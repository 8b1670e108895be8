"""Queries that wait for a thread, answered together where they ask the same.

Nothing waits for company: a query goes to a thread as soon as one is free. Under load several are
waiting by then, and those with one question go together, which costs less than one after another.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from .queries import Query
from .refusals import Refused

#: Queries that are answered together, and their tokens or characters.
_TOGETHER, _SIZE = 64, 20_000
_Waiting = tuple[Query, "asyncio.Future[bytes]"]


class Batcher:
    """Answers queries on threads; everything but the answering happens in the event loop.

    Parameters
    ----------
    answer : callable
        From queries with one question to their answers.
    threads : int
    most : int
        Queries that wait; more are refused.
    watch : callable
        Called with the number of queries that were answered together.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Query]], Sequence[bytes | Refused]],
        threads: int,
        most: int,
        watch: Callable[[int], None],
    ) -> None:
        self._answer, self._most, self._watch = answer, most, watch
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="structlearn")
        self._free = threads
        self._waiting: deque[_Waiting] = deque()

    @property
    def waiting(self) -> int:
        """Queries that wait for a thread."""
        return len(self._waiting)

    async def run(self, query: Query) -> bytes:
        """Return the answer to a query; raise Refused if there is none, or too many wait."""
        if len(self._waiting) >= self._most:
            raise Refused(429, "too many requests are waiting: try again", {"Retry-After": "1"})
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.append((query, future))
        self._start()
        return await future

    def _start(self) -> None:
        """Give the free threads something to do."""
        while self._free and (batch := self._next()):
            self._free -= 1
            self._watch(len(batch))
            queries = [query for query, _ in batch]
            job = asyncio.get_running_loop().run_in_executor(self._pool, self._answer, queries)
            job.add_done_callback(partial(self._finish, batch))

    def _next(self) -> list[_Waiting]:
        """Take the first query, and those with the same question among the others."""
        batch: list[_Waiting] = []
        kept: deque[_Waiting] = deque()
        size = 0
        while self._waiting:
            query, future = self._waiting.popleft()
            if future.done():  # nobody waits for it any more
                continue
            same = not batch or query.question == batch[0][0].question
            if batch and not (same and len(batch) < _TOGETHER and size + query.size <= _SIZE):
                kept.append((query, future))
                continue
            batch.append((query, future))
            size += query.size
        self._waiting = kept
        return batch

    def _finish(
        self, batch: list[_Waiting], job: asyncio.Future[Sequence[bytes | Refused]]
    ) -> None:
        self._free += 1
        error = None if job.cancelled() else job.exception()
        answers: Sequence[bytes | Refused | BaseException] = (
            [error or asyncio.CancelledError()] * len(batch)
            if job.cancelled() or error
            else job.result()
        )
        for (_, future), found in zip(batch, answers, strict=True):
            if future.done():
                continue
            if isinstance(found, bytes):
                future.set_result(found)
            elif isinstance(found, asyncio.CancelledError):
                future.cancel()
            else:
                future.set_exception(found)
        self._start()

    def close(self) -> None:
        """End the threads; queries that are being answered come to an end."""
        self._pool.shutdown(wait=True, cancel_futures=True)
