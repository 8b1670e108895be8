"""The file of answers: whole at every moment, one writer, and nothing told that is not there."""

import json
import os
import resource
import subprocess
import sys

import pytest

from structlearn.exceptions import FileError
from structlearn.labelling.journal import Journal
from structlearn.labelling.kinds import Spans, Tags

KIND = Spans()


def item(text, *spans, **more):
    found = [{"start": a, "end": b, "label": k} for a, b, k in spans]
    return {"text": text, "spans": found, **more}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "labels.jsonl"


@pytest.fixture
def opened(path):
    made = []

    def make(check=KIND.check_item):
        made.append(Journal(str(path), check))
        return made[-1]

    yield make
    for one in made:
        one.close()


def rows(path):
    return [json.loads(row) for row in path.read_text(encoding="utf-8").split("\n")[:-1]]


def test_answers_are_lines_and_come_back(opened, path):
    journal = opened()
    given = [item("Ann ß 😀", (0, 3, "PER")), item("Bob\nis", (0, 3, "PER")), item("\u2028")]
    for one in given:
        journal.put(one)
        assert rows(path)[-1] == one
    journal.close()
    assert list(opened().items.values()) == given


def test_a_changed_answer_takes_the_place_of_the_old_one(opened, path):
    journal = opened()
    journal.put(item("Ann", (0, 3, "PER")))
    journal.put(item("Bob"))
    journal.put(item("Ann", (0, 3, "LOC")))
    assert rows(path) == [item("Ann", (0, 3, "LOC")), item("Bob")]
    journal.remove("Ann")
    journal.put(item("Eve"))
    assert rows(path) == [item("Bob"), item("Eve")]
    assert [p.name for p in path.parent.iterdir() if ".part" in p.name] == []


def test_every_beginning_of_the_last_line_is_read(opened, path):
    """A process that was killed while it wrote leaves a part of a line, of any length."""
    first = (json.dumps(item("Ann", (0, 3, "PER"))) + "\n").encode()
    last = json.dumps(item("Bob", (0, 3, "PER"), note="ß😀"), ensure_ascii=False).encode()
    for cut in range(len(last) + 1):
        path.write_bytes(first + last[:cut])
        journal = opened()
        assert list(journal.items) == ["Ann", *(["Bob"] if cut == len(last) else [])]
        assert bool(journal.remark) == (0 < cut < len(last))
        journal.put(item("Eve"))
        journal.close()
        assert [one["text"] for one in rows(path)] == [*journal.items]


def test_a_file_that_is_something_else_is_left_alone(opened, path):
    for content, said in (
        (b"Ann PER\nBob PER\n", "line 1"),
        (b'{"text": "a", "spans": []}\n{"tokens": ["b"]}\n', "line 2.*with a text"),
        (b'[{"text": "a", "spans": []}]\n', "line 1.*with a text"),
        (b'{"text": "a", "spans": [[0, 9, "X"]]}\n', "line 1.*no span from 0 to 9"),
        (b'{"text": "\xff"}\n{"text": "b"}\n', "line 1.*UTF-8"),
    ):
        path.write_bytes(content)
        with pytest.raises(FileError, match=said):
            opened()
        assert path.read_bytes() == content
    path.write_bytes(b'{"text": "a", "spans": []}\n')
    with pytest.raises(FileError, match='"tokens" and "tags"'):
        opened(Tags().check_item)


def test_a_second_process_is_refused(opened, path):
    opened().put(item("Ann"))
    program = (
        "import sys\nfrom structlearn.labelling.journal import Journal\n"
        "try: Journal(sys.argv[1], print)\nexcept ValueError as error: print(error)\n"
        "else: print('opened')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert "another page writes this file" in done.stdout
    assert str(os.getpid()) in done.stdout
    assert rows(path) == [item("Ann")]


def test_the_lock_ends_with_its_process(opened, path):
    program = (
        "import os, sys\nfrom structlearn.labelling.journal import Journal\n"
        "Journal(sys.argv[1], lambda *_: None).put({'text': 'Ann', 'spans': []})\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert done.returncode == -9
    assert list(opened().items) == ["Ann"]


def test_what_another_program_has_written_stays(opened, path):
    journal = opened()
    journal.put(item("Ann"))
    with open(path, "a") as file:
        file.write(json.dumps(item("Bob", (0, 3, "PER"))) + "\n")
    journal.put(item("Eve"))
    assert rows(path) == [item("Ann"), item("Bob", (0, 3, "PER")), item("Eve")]
    other = path.with_name("other")
    other.write_text(json.dumps(item("Zoe")) + "\n")
    os.replace(other, path)  # an editor saves so
    journal.put(item("Pia"))
    assert [one["text"] for one in rows(path)] == ["Zoe", "Pia"]
    path.unlink()
    journal.put(item("Kim"))
    assert [one["text"] for one in rows(path)] == ["Zoe", "Pia", "Kim"]
    path.write_text("nonsense\n")
    with pytest.raises(FileError, match="line 1"):
        journal.put(item("Lea"))
    assert path.read_text() == "nonsense\n"


@pytest.fixture
def full():
    """Let files have so many bytes, and no more."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def make(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))

    yield make
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [0, 1, 10])
def test_a_full_disk_refuses_an_answer_and_keeps_the_others(opened, path, full, room):
    journal = opened()
    journal.put(item("Ann"))
    before = path.read_bytes()
    full(len(before) + room)
    for _ in range(2):
        with pytest.raises(FileError, match=r"not saved|cannot be written"):
            journal.put(item("Bob", (0, 3, "PER")))
        assert path.read_bytes() == before
        assert list(journal.items) == ["Ann"]
    with pytest.raises(FileError, match=r"not saved|cannot be written"):
        journal.put(item("Ann", (0, 3, "PER"), note="longer than it was"))
    assert path.read_bytes() == before
    full(1 << 20)
    journal.put(item("Bob"))
    assert rows(path) == [item("Ann"), item("Bob")]


def test_a_folder_that_is_missing_is_said(tmp_path):
    with pytest.raises(FileError, match="No such file"):
        Journal(str(tmp_path / "no" / "labels.jsonl"), KIND.check_item)
