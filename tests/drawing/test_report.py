"""What is shown of a model: which choices have their reasons, and how far ahead they are."""

import math
import re

import pytest

from structlearn.drawing import report as module
from structlearn.drawing.report import Choice, Report, Shown

N_SENTENCES, N_WORDS = 20, 6


def choice(label, gold, margin=1.0, runner_up="B"):
    return Choice("word", label, gold, None, runner_up, margin, [("a feature", 0.5)])


def report_of(gold):
    """Return a report in which every third choice is wrong, the last sentences by least margin."""
    sentences = [
        Shown([choice("A", gold(i), margin=1.0 / (s + 1)) for i in range(N_WORDS)])
        for s in range(N_SENTENCES)
    ]
    return Report("Tagger", sentences=sentences, n_sentences=N_SENTENCES, has_gold=True)


def with_reasons(page):
    """Return, for each sentence, how many wrong and right choices can be opened, and cannot."""
    blocks = page.split('<p class="note count">')[1:]
    kinds = ('<details class="t x">', '<details class="t">', '<span class="t x">')
    return [tuple(block.count(kind) for kind in kinds) for block in blocks]


def told(page):
    return re.search(r"choices have their reasons: (.*?)\.", page)[1]


@pytest.fixture
def room(monkeypatch):
    def give(n_bytes):
        monkeypatch.setattr(module, "_ROOM", n_bytes)
        monkeypatch.setattr(module, "_LEAST", 0)

    return give


@pytest.mark.parametrize("gold", [lambda i: "A" if i % 3 else "C", lambda i: None])
def test_reasons_come_sentence_by_sentence_and_the_page_says_which(room, gold):
    """For every amount of room: wrong choices first, each kind for a run of first sentences."""
    report = report_of(gold)
    n_wrong = sum(c.wrong for c in report.sentences[0].choices)
    said = set()
    for n_bytes in range(0, 60_000, 500):
        room(n_bytes)
        page = report.html(10)
        rows = with_reasons(page)
        wrong = [row[0] == n_wrong and n_wrong > 0 for row in rows]
        right = [row[1] == N_WORDS - n_wrong for row in rows]
        assert all(row[0] in (0, n_wrong) and row[1] in (0, N_WORDS - n_wrong) for row in rows)
        assert wrong == sorted(wrong, reverse=True)
        assert right == sorted(right, reverse=True)
        if any(right):
            assert all(wrong) or not n_wrong
        if all(right):
            assert "So that the page stays small" not in page
            break
        expected = "there is no room for any"
        if any(wrong) and not all(wrong):
            expected = f"the wrong ones of {range_of(sum(wrong))}"
        elif any(wrong) or any(right):
            first = ["all wrong ones"] if n_wrong else []
            rest = [f"all of {range_of(sum(right))}"] if any(right) else []
            expected = " and ".join(first + rest)
        assert told(page) == expected
        said.add(expected)
    assert len(said) > 5
    assert all(right)


def range_of(n):
    return "sentence 1" if n == 1 else f"sentences 1 to {n}"


def test_no_runner_up_is_no_other_choice():
    shown = [Shown([choice("root", "root", math.inf, "")])]
    report = Report("Parser", sentences=shown, n_sentences=1)
    for text in (report.text(3), report.html(3)):
        assert "no other choice" in text
        assert "inf" not in text.split("</style>")[-1]


def test_counts_say_of_what():
    shown = [Shown([], counts=(2, 43)), Shown([choice("A", "C"), choice("A", "A")])]
    report = Report("Parser", sentences=shown, n_sentences=2, parts="brackets and tags")
    page = report.html(3)
    assert "2 of 43 brackets and tags wrong" in page
    assert "1 of 2 brackets and tags wrong" in page
