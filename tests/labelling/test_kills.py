"""Pages that are killed: nothing is lost, and a page that would lose something is found out."""

import os

from fuzz.label_kills import kill_pages

from structlearn.labelling.journal import Journal


def test_nothing_is_lost():
    found = kill_pages(8, seed=3)
    assert found.findings == []
    assert found.kills == 8
    assert found.saved > 8


def test_answers_that_are_told_before_they_are_written_are_found(monkeypatch):
    """Planted: every third answer waits for the next one."""
    put, held = Journal.put, []

    def lazy(self, item):
        held.append(item)
        if len(held) == 3:
            while held:
                put(self, held.pop(0))

    monkeypatch.setattr(Journal, "put", lazy)
    assert kill_pages(40, seed=3).findings


def test_an_answer_in_two_writes_is_found_half_done(monkeypatch):
    """Planted: half a line is told to be an answer."""
    write = os.write

    def half(file, data):
        if data.startswith(b'{"text"'):
            write(file, data[: len(data) // 2])
            return len(data)
        return write(file, data)

    monkeypatch.setattr("structlearn.labelling.journal.os.write", half)
    assert kill_pages(40, seed=3).findings  # an answer that is changed mends the file
