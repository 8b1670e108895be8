"""Queries that wait: in their order, together where they ask the same, and never too many."""

import asyncio
import threading
from dataclasses import dataclass

import pytest

from structlearn.serve import batching
from structlearn.serve.batching import Batcher
from structlearn.serve.refusals import Refused


@pytest.fixture(autouse=True)
def _on_threads(monkeypatch):
    """Nothing is brief, unless a test says otherwise."""
    monkeypatch.setattr(batching, "_BRIEF", -1.0)


@dataclass(frozen=True)
class Asked:
    question: str
    name: int
    size: int = 1


class Bench:
    """Answers queries by their names when it is let go; remembers what was asked together."""

    def __init__(self):
        self.go, self.batches = threading.Event(), []

    def answer(self, queries):
        self.batches.append([query.name for query in queries])
        assert self.go.wait(20)
        return [
            Refused(422, "no") if query.name < 0 else str(query.name).encode() for query in queries
        ]


def run(asked, threads=1, most=100, fail=None):
    """Ask everything at once; return the answers and what was asked together."""
    bench = Bench()

    async def main():
        sizes = []
        batcher = Batcher(fail or bench.answer, threads, most, sizes.append)
        tasks = [asyncio.create_task(batcher.run(one)) for one in asked]
        await asyncio.sleep(0)
        assert batcher.waiting <= most
        bench.go.set()
        found = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 20)
        assert sizes == [len(batch) for batch in bench.batches] or threads > 1 or fail
        batcher.close()
        return found

    return asyncio.run(main()), bench.batches


def test_the_first_waits_for_nobody_and_the_others_go_together():
    found, batches = run([Asked("a", n) for n in range(5)])
    assert found == [b"0", b"1", b"2", b"3", b"4"]
    assert batches == [[0], [1, 2, 3, 4]]


def test_only_one_question_at_a_time():
    found, batches = run([Asked("ab"[n % 2], n) for n in range(6)])
    assert found == [b"%d" % n for n in range(6)]
    assert batches == [[0], [1, 3, 5], [2, 4]]


def test_batches_are_bounded():
    _, batches = run([Asked("a", n) for n in range(100)])
    assert list(map(len, batches)) == [1, 64, 35]
    _, batches = run([Asked("a", n, 9_000) for n in range(6)])
    assert batches == [[0], [1, 2], [3, 4], [5]]
    _, batches = run([Asked("a", n, 10**6) for n in range(3)])
    assert batches == [[0], [1], [2]]


def test_too_many_are_refused():
    found, _ = run([Asked("a", n) for n in range(9)], most=5)
    assert found[:6] == [b"%d" % n for n in range(6)]  # one is answered, five wait
    assert [error.status for error in found[6:]] == [429] * 3


def test_one_that_fails_fails_alone():
    found, _ = run([Asked("a", n) for n in (1, 2, -1, 3)])
    assert found[:2] + found[3:] == [b"1", b"2", b"3"]
    assert found[2].status == 422


def test_an_error_of_all_reaches_all_and_the_thread_goes_on():
    calls = []

    def fail(queries):
        calls.append(len(queries))
        if len(calls) < 3:
            raise KeyError("x")
        return [b"fine"] * len(queries)

    found, _ = run([Asked("ab"[n > 3], n) for n in range(6)], fail=fail)
    assert [type(error) for error in found[:4]] == [KeyError] * 4
    assert found[4:] == [b"fine"] * 2


def test_several_threads():
    found, batches = run([Asked("a", n) for n in range(10)], threads=3)
    assert found == [b"%d" % n for n in range(10)]
    assert sorted(map(len, batches)) == [1, 1, 1, 7]


def test_nobody_waits_for_those_that_have_gone():
    bench = Bench()

    async def main():
        batcher = Batcher(bench.answer, 1, 2, lambda n: None)
        first = asyncio.create_task(batcher.run(Asked("a", 0)))
        gone = [asyncio.create_task(batcher.run(Asked("a", n))) for n in (1, 2)]
        await asyncio.sleep(0)
        for task in gone:
            task.cancel()
        await asyncio.gather(*gone, return_exceptions=True)
        bench.go.set()
        assert await asyncio.wait_for(first, 20) == b"0"
        assert await asyncio.wait_for(batcher.run(Asked("a", 3)), 20) == b"3"
        batcher.close()

    asyncio.run(main())
    assert bench.batches == [[0], [3]]


@pytest.mark.parametrize("size", [1, 3])
def test_answers_belong_to_their_queries_under_load(size):
    """Many at once, some of which go away."""

    async def main():
        batcher = Batcher(lambda qs: [b"%d" % q.name for q in qs], 2, 10**6, lambda n: None)
        tasks = [asyncio.create_task(batcher.run(Asked(str(n % size), n))) for n in range(500)]
        for n in range(0, 500, 7):
            tasks[n].cancel()
        found = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 30)
        batcher.close()
        return found

    for n, one in enumerate(asyncio.run(main())):
        assert isinstance(one, asyncio.CancelledError) if n % 7 == 0 else one == b"%d" % n


def test_brief_queries_are_answered_in_the_event_loop_once_they_are_known_to_be(monkeypatch):
    """Those that arrive together go together; long ones of the same question go to a thread."""
    monkeypatch.setattr(batching, "_BRIEF", 0.5)
    batches = []

    def answer(queries):
        here = threading.current_thread() is threading.main_thread()
        batches.append((here, [query.name for query in queries]))
        if queries[0].name < 0:
            raise KeyError("x")
        return [b"%d" % query.name for query in queries]

    async def main():
        batcher = Batcher(answer, 1, 100, lambda n: None)
        ask = [Asked("a", 0)], [Asked("a", n) for n in (1, 2, 3)], [Asked("b", 4)]
        for some in (*ask, [Asked("a", 5, 10**12)], [Asked("a", -1)], [Asked("a", 6)]):
            tasks = [asyncio.create_task(batcher.run(one)) for one in some]
            found = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 20)
            expected = [b"%d" % one.name for one in some]
            assert found == expected or (some[0].name < 0 and type(found[0]) is KeyError)
        batcher.close()

    asyncio.run(main())
    assert batches == [
        (False, [0]), (True, [1, 2, 3]), (False, [4]), (False, [5]), (True, [-1]), (True, [6]),
    ]  # fmt: skip
