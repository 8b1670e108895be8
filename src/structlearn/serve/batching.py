"""Queries that wait for a thread, answered together where they ask the same.

Nothing waits for company: a query goes to a thread as soon as one is free. Under load several are
waiting by then, and those with one question go together, which costs less than one after another.
What takes no longer than the way to a thread and back is answered in the event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from .queries import Query
from .refusals import Refused

#: Queries that are answered together, and their tokens or characters.
_TOGETHER, _SIZE = 64, 20_000
#: Seconds that the event loop computes itself, at most; how much a batch tells of those to come; of
#: how many questions it is known.
_BRIEF, _TELLS, _KNOWN = 0.002, 0.125, 256
_Waiting = tuple[Query, "asyncio.Future[bytes]"]


class Batcher:
    """Answers queries on threads, and brief ones in the event loop, where all else happens.

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
        # Of a question, by its hash, the seconds that a token or character of a query takes.
        self._pace: dict[int, float] = {}

    @property
    def waiting(self) -> int:
        """Queries that wait for a thread."""
        return len(self._waiting)

    async def run(self, query: Query) -> bytes:
        """Return the answer to a query; raise Refused if there is none, or too many wait."""
        if len(self._waiting) >= self._most:
            raise Refused(429, "too many requests are waiting: try again", {"Retry-After": "1"})
        loop = asyncio.get_running_loop()
        future: asyncio.Future[bytes] = loop.create_future()
        self._waiting.append((query, future))
        if self._is_brief([query]):
            loop.call_soon(self._start)  # with those that have arrived at the same time
        else:
            self._start()
        return await future

    def _start(self) -> None:
        """Give the free threads something to do; answer one brief batch."""
        while self._waiting and (self._free or self._is_brief([self._waiting[0][0]])):
            batch = self._next()
            if not batch:
                return
            queries = [query for query, _ in batch]
            if not self._is_brief(queries) and not self._free:
                self._waiting.extendleft(reversed(batch))
                return
            self._watch(len(batch))
            loop = asyncio.get_running_loop()
            if self._is_brief(queries):
                self._answer_here(batch, queries)
                if self._waiting:
                    loop.call_soon(self._start)
                return
            self._free -= 1
            job = loop.run_in_executor(self._pool, self._timed, queries)
            job.add_done_callback(partial(self._finish, batch))

    def _is_brief(self, queries: Sequence[Query]) -> bool:
        """Whether queries with one question are answered sooner than a thread would begin."""
        pace = self._pace.get(hash(queries[0].question))
        return pace is not None and pace * sum(query.size for query in queries) <= _BRIEF

    def _timed(self, queries: Sequence[Query]) -> Sequence[bytes | Refused]:
        """Answer, and remember what it took of the processor."""
        begin = time.thread_time()
        answers = self._answer(queries)
        pace = (time.thread_time() - begin) / max(1, sum(query.size for query in queries))
        key = hash(queries[0].question)
        if len(self._pace) >= _KNOWN:
            self._pace.clear()
        before = self._pace.get(key, pace)
        self._pace[key] = before + _TELLS * (pace - before)
        return answers

    def _answer_here(self, batch: list[_Waiting], queries: list[Query]) -> None:
        try:
            answers: Sequence[bytes | Refused | BaseException] = self._timed(queries)
        except Exception as error:
            answers = [error] * len(batch)
        _settle(batch, answers)

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
        _settle(batch, answers)
        self._start()

    def close(self) -> None:
        """End the threads; queries that are being answered come to an end."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _settle(batch: list[_Waiting], answers: Sequence[bytes | Refused | BaseException]) -> None:
    """Give each of a batch its answer; some may have gone."""
    for (_, future), found in zip(batch, answers, strict=True):
        if future.done():
            continue
        if isinstance(found, bytes):
            future.set_result(found)
        elif isinstance(found, asyncio.CancelledError):
            future.cancel()
        else:
            future.set_exception(found)
