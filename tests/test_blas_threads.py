"""`one_blas_thread` limits every BLAS library, including those imported later."""

import sys
import types

import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from structlearn import threads


def widths():
    """Return the numbers of threads of the BLAS libraries."""
    found = ThreadpoolController().select(user_api="blas").info()
    return {one["num_threads"] for one in found}


@pytest.mark.skipif(not widths(), reason="there is no BLAS whose threads can be counted")
def test_one_thread_inside_and_as_many_as_before_outside():
    with threadpool_limits(limits=3, user_api="blas"):
        before = widths()
        for _ in range(2):
            with threads.one_blas_thread():
                assert widths() == {1}
            assert widths() == before


def test_libraries_are_looked_for_again_after_an_import(monkeypatch):
    first = threads._libraries(len(sys.modules))
    assert threads._libraries(len(sys.modules)) is first
    monkeypatch.setitem(sys.modules, "of_no_use_at_all", types.ModuleType("of_no_use_at_all"))
    assert threads._libraries(len(sys.modules)) is not first
