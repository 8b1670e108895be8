"""Short questions keep Python's lock: to get it back from a busy thread takes milliseconds."""

import sys
import threading
import time

import pytest

from structlearn.datasets import make_treebank
from structlearn.tasks import DependencyParser, Tagger

BANK = make_treebank(60, random_state=0)
ROWS = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]


@pytest.fixture
def turns():
    """A function that counts the turns another thread gets while something is called."""
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # the lock changes hands only where it is given up
    other = threading.Thread(target=count, daemon=True)
    other.start()

    def during(call, *inputs):
        call(*inputs)
        before = counted[0]
        for _ in range(20):
            call(*inputs)
        return counted[0] - before

    yield during
    stop.set()
    other.join()
    sys.setswitchinterval(interval)


def test_a_tagger(turns):
    tagger = Tagger("pos", max_iter=1).fit([[row[:2] for row in rows] for rows in ROWS])
    assert turns(tagger.predict_single, list(BANK[0].words)) == 0


@pytest.mark.parametrize("order", [1, 2])
def test_a_parser(turns, order):
    """Of a short sentence; a long one gives the lock up."""
    parser = DependencyParser(order, gold_tags=True, max_iter=1, hash_bits=12).fit(ROWS)
    words = [row[:2] for row in ROWS[0]][:6]
    assert turns(parser.predict, [words]) == 0
    assert turns(parser.predict, [words * 10]) > 0
