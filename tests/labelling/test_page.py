"""The page of labels in a real browser, by keyboard alone: ``make test-browser`` runs this."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.workbench.chromium import BROWSER, Chromium

from .addresses import LABELS, make_addresses
from .keyboard import go, press

pytestmark = [
    pytest.mark.skipif(not BROWSER, reason="no Chromium"),
    pytest.mark.skipif(
        not os.environ.get("STRUCTLEARN_BROWSER_TESTS"), reason="make test-browser runs this"
    ),
]

#: Pictures of the page go here, to be looked at.
PICTURES = os.environ.get("STRUCTLEARN_SCREENSHOTS", "")


class Command:
    """``structlearn label`` in a process of its own."""

    def __init__(self, folder, texts, *more):
        self.data = folder / "labels.jsonl"
        (folder / "texts.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts))
        self.arguments = [
            sys.executable, "-m", "structlearn", "label", "texts.jsonl", "--model", "m.model",
            "--no-browser", *more,
        ]  # fmt: skip
        self.folder = folder
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.arguments, cwd=self.folder, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        self.link = self.process.stdout.readline().strip()
        assert self.link, self.process.stderr.read()

    def end(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        said = self.process.communicate(timeout=120)
        return self.process.returncode, *said

    def items(self):
        return [json.loads(row) for row in self.data.read_text().splitlines()]


@pytest.fixture
def command(tmp_path):
    made = []

    def make(texts, *more):
        made.append(Command(tmp_path, texts, *more))
        return made[-1]

    yield make
    for one in made:
        if one.process.poll() is None:
            one.end()


@pytest.fixture(scope="module")
def browser():
    chromium = Chromium()
    yield chromium
    chromium.close()


def ready(page, before=0):
    page.wait(f"Number(document.body.dataset.answered) > {before}", 30)


def done(page):
    return page.run("Number(document.body.dataset.answered)")


def opened(browser, link, **look):
    page = browser.page(link, **look)
    ready(page)
    return page


def words(page):
    return page.run("[...document.querySelectorAll('#text .token')].map((t) => t.textContent)")


def shown_text(page):
    """Return the text without the names of its spans."""
    return page.run(
        "[...document.querySelectorAll('#text .gap, #text .token')].map((t) => t.textContent)"
        ".join('')"
    )


def spans(page):
    return page.run(
        "[...document.querySelectorAll('#text mark')].map((m) => [Number(m.querySelector('.token')"
        ".dataset.n), m.querySelectorAll('.token').length, m.querySelector('.name')"
        ".firstChild.textContent])"
    )


def tokens_of(text, span):
    from structlearn.text.tokenisers import tokeniser

    places = tokeniser("words")(text)
    inside = [t for t, (a, b) in enumerate(places) if span["start"] <= a and b <= span["end"]]
    return [inside[0], len(inside), span["label"]]


def correct(page, gold):
    """Make the spans of the page the gold ones, with keys alone."""
    wanted = [tokens_of(shown_text(page), span) for span in gold]
    for begin, _, name in spans(page):  # wrong ones go
        if [begin, _, name] not in wanted:
            go(page, begin)
            press(page, "0")
    for begin, length, name in wanted:
        if [begin, length, name] not in spans(page):
            go(page, begin)
            for _ in range(length - 1):
                press(page, "ArrowRight", shift=True)
            press(page, str(LABELS.index(name) + 1))
    assert sorted(spans(page)) == sorted(wanted)


def test_thirty_sentences_by_keyboard_alone_a_reload_and_a_kill(browser, command):
    gold = dict(make_addresses(300))
    run = command(list(gold), "--labels", ",".join(LABELS))
    page = opened(browser, run.link)
    answers = {}

    def work(n):
        for _ in range(n):
            text = shown_text(page)
            assert text not in answers
            correct(page, gold[text])
            before = done(page)
            press(page, "Enter")
            ready(page, before)
            answers[text] = gold[text]
            assert page.run("document.querySelector('#wrong').hidden")

    work(12)
    page.go(run.link)
    page.wait("document.querySelector('#counts').textContent.startsWith('12 of 300')", 30)
    work(8)
    assert page.faults() == []
    code, *_ = run.end()
    assert code == -9
    assert {item["text"]: item["spans"] for item in run.items()} == answers
    press(page, "Enter")  # nobody is there: the page says so, and that nothing is saved
    page.wait("!document.querySelector('#wrong').hidden", 30)
    assert "not saved" in page.run("document.querySelector('#wrong').textContent")
    page.close()
    run.start()
    page = opened(browser, run.link)
    page.wait("document.querySelector('#counts').textContent.startsWith('20 of 300')", 30)
    work(10)
    assert {item["text"]: item["spans"] for item in run.items()} == answers
    page.wait("document.querySelector('#progress .curve')", 60)
    assert "right in" in page.run("document.querySelector('#progress').textContent")
    if PICTURES:
        page.picture(f"{PICTURES}/label_light.png")
    assert page.faults() == []
    page.close()
    code, _, said = run.end(signal.SIGINT)
    assert code == 0, said
    assert "saved m.model" in said
    assert (run.folder / "m.model").exists()


def test_skip_reject_undo_part_and_a_new_label_by_keyboard(browser, command):
    gold = dict(make_addresses(40))
    run = command(list(gold), "--labels", ",".join(LABELS), "--order", "plain")
    page = opened(browser, run.link)

    def answered(key):
        before = done(page)
        press(page, key)
        ready(page, before)
        return run.items()

    assert answered("s")[-1]["answer"] == "ignore"
    assert answered("r")[-1]["answer"] == "reject"
    second = list(gold)[1]
    assert len(answered("u")) == 1
    assert shown_text(page) == second
    press(page, "n")
    page.wait("document.activeElement.getAttribute('aria-label') === 'Name of the new label'")
    page.do("Input.insertText", text="COUNTRY")
    before = done(page)
    press(page, "Enter")
    ready(page, before)
    page.wait("document.querySelector('#names').textContent.includes('COUNTRY')")
    page.wait("document.activeElement.id === 'text'")
    press(page, "Home")
    press(page, "5")
    found = answered("p")[-1]
    first = words_of(second)[0]
    assert found["spans"] == [{"start": 0, "end": len(first), "label": "COUNTRY"}]
    assert found["looked"] == [[0, len(first)]]
    assert page.faults() == []
    page.close()


def looked(page):
    return page.run(
        "[...document.querySelectorAll('#text .token.looked')].map((t) => Number(t.dataset.n))"
    )


def test_marks_come_back_with_undo_and_with_an_earlier_part(browser, command):
    first = "Ann Lang, 12 Mill Street, York"
    run = command([first, "nothing here"], "--labels", "NAME,CITY", "--order", "plain")
    page = opened(browser, run.link)

    def answered(key):
        before = done(page)
        press(page, key)
        ready(page, before)

    press(page, "Home")
    press(page, "ArrowRight", shift=True)
    press(page, "1")
    go(page, 7)
    press(page, "2")
    assert looked(page) == [0, 1, 7]
    answered("p")
    assert shown_text(page) == "nothing here"
    answered("u")  # labels and marks are what they were, though no answer holds them now
    assert shown_text(page) == first
    assert spans(page) == [[0, 2, "NAME"], [7, 1, "CITY"]]
    assert looked(page) == [0, 1, 7]
    go(page, 7)
    press(page, "0")
    answered("p")
    begin = first.index("York")
    assert run.items()[-1]["spans"] == [{"start": 0, "end": 8, "label": "NAME"}]
    assert run.items()[-1]["looked"] == [[0, 8], [begin, begin + 4]]
    # What was looked at earlier counts when one comes back for another part.
    before = done(page)
    page.wait("document.querySelector('.rows button')")
    page.run("document.querySelectorAll('.rows button')[0].click()")
    ready(page, before)
    assert looked(page) == [0, 1, 7]
    go(page, 3)
    press(page, "0")
    go(page, 4)  # whatever is proposed there, with all of its span
    press(page, "o")
    marked = looked(page)
    answered("p")
    twelve = first.index("12")
    item = run.items()[-1]
    assert item["spans"][0] == {"start": 0, "end": 8, "label": "NAME"}
    assert item["looked"][0] == [0, 8]
    assert any(a <= twelve < b for a, b in item["looked"][1:])
    assert {0, 1, 3, 4, 7} <= set(marked)
    kept = [t for t, (a, b) in enumerate(places_of(first))
            if any(x <= a and b <= y for x, y in item["looked"])]  # fmt: skip
    assert kept == marked
    assert page.faults() == []
    page.close()


def test_labels_without_a_digit_are_given_by_name(browser, command):
    names = [f"L{n}" for n in range(1, 10)] + ["Country", "County", "Planet"]
    run = command(["Mars is red", "so"], "--labels", ",".join(names), "--order", "plain")
    page = opened(browser, run.link)

    def named(typed):
        press(page, "l")
        page.wait("document.activeElement.getAttribute('aria-label').startsWith('Beginning')")
        page.do("Input.insertText", text=typed)
        hint = page.run("document.querySelector('.newlabel [role=status]').textContent")
        press(page, "Enter")
        return hint

    press(page, "Home")
    assert named("count") == "Country"
    assert spans(page) == [[0, 1, "Country"]]
    page.wait("document.activeElement.id === 'text'")
    assert named("nty") == "County"  # where none begins with it, one that has it
    assert spans(page) == [[0, 1, "County"]]
    page.wait("document.activeElement.id === 'text'")
    assert named("xyz") == ""
    assert "No label has" in page.run("document.querySelector('#wrong').textContent")
    page.wait("!document.querySelector('#names').textContent.includes('undefined')")
    assert spans(page) == [[0, 1, "County"]]
    assert page.faults() == []
    page.close()


def places_of(text):
    from structlearn.text.tokenisers import tokeniser

    return tokeniser("words")(text)


def words_of(text):
    from structlearn.text.tokenisers import words_of as cut

    return cut(text, "words")


def test_spans_by_mouse(browser, command):
    text = "Ann Lang, 12 Mill Street, York"
    run = command([text, "nothing here"], "--labels", "NAME,CITY", "--order", "plain")
    page = opened(browser, run.link)

    def middle(t):
        found = page.run(
            f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])"
            f"(document.querySelector('[data-n=\"{t}\"]').getBoundingClientRect())"
        )
        return {"x": found[0], "y": found[1]}

    mouse = {"button": "left", "buttons": 1, "clickCount": 1}
    page.do("Input.dispatchMouseEvent", type="mousePressed", **middle(0), **mouse)
    page.do("Input.dispatchMouseEvent", type="mouseMoved", **middle(1), **mouse)
    page.do("Input.dispatchMouseEvent", type="mouseReleased", **middle(1), **mouse)
    page.run("document.querySelector('#names button').click()")
    assert spans(page) == [[0, 2, "NAME"]]
    before = done(page)
    page.run("document.querySelector('#verdicts button').click()")
    ready(page, before)
    assert run.items()[0]["spans"] == [{"start": 0, "end": 8, "label": "NAME"}]
    page.close()


@pytest.mark.parametrize("kind", ["tags", "classes"])
def test_words_and_whole_texts(browser, command, kind):
    run = command(["Ann sleeps .", "Bob reads ."], "--kind", kind, "--labels", "A,B", "--order",
                  "plain")  # fmt: skip
    page = opened(browser, run.link)
    press(page, "Home")
    for key in "212" if kind == "tags" else "2":
        press(page, key)
    before = done(page)
    press(page, "Enter")
    ready(page, before)
    assert run.items()[0]["tags"] == (["B", "A", "B"] if kind == "tags" else ["B"] * 3)
    assert page.faults() == []
    page.close()


def test_two_tabs(browser, command):
    gold = dict(make_addresses(30))
    run = command(list(gold), "--labels", ",".join(LABELS), "--order", "plain")
    one, two = opened(browser, run.link), opened(browser, run.link)
    assert shown_text(one) != shown_text(two)
    # Both open the same text from the list.
    for page in (one, two):
        before = done(page)
        page.wait("document.querySelector('.rows button')")
        page.run("document.querySelectorAll('.rows button')[9].click()")
        ready(page, before)
    before = done(one)
    press(one, "Enter")
    ready(one, before)
    before = done(two)
    press(two, "Home")
    press(two, "1")
    press(two, "Enter")
    ready(two, before)
    assert "another tab" in two.run("document.querySelector('#wrong').textContent")
    assert [item["spans"] for item in run.items()] == [[]]
    one.close()
    two.close()


@pytest.mark.parametrize(
    ("width", "dark"), [(1200, False), (1200, True), (400, False), (400, True)]
)
def test_looks_and_names(browser, command, width, dark):
    gold = dict(make_addresses(60))
    run = command(list(gold), "--labels", ",".join(LABELS))
    run.end()
    rows = [{"text": t, "spans": s, "answer": "accept"} for t, s in list(gold.items())[:25]]
    run.data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run.start()
    page = opened(browser, run.link, width=width, dark=dark)
    page.wait("document.querySelector('#progress .curve')", 90)
    page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert page.unnamed() == []
    assert page.size()["width"] <= width
    colours = page.run(
        "['color', 'backgroundColor'].map((k) => getComputedStyle(document.body)[k])"
    )
    light = [sum(map(int, one[4:-1].split(","))) > 380 for one in colours]
    assert light == ([True, False] if dark else [False, True])
    if PICTURES:
        page.picture(f"{PICTURES}/label_{width}_{'dark' if dark else 'light'}.png")
    # The keyboard gets everywhere, without a trap.
    page.run("document.querySelector('.skip').focus()")
    stops = []
    for _ in range(60):
        press(page, "Tab")
        stops.append(page.run("document.activeElement.id || document.activeElement.tagName"))
    assert {"search", "text", "BUTTON", "SELECT", "SUMMARY"} <= set(stops)
    assert page.faults() == []
    page.close()


def test_ten_thousand_texts_scroll(browser, command):
    texts = [f"Text {n} of {10_000}" for n in range(10_000)]
    run = command(texts, "--labels", "A,B")
    page = opened(browser, run.link)
    page.wait("document.querySelector('#list').textContent.includes('10,000 texts')")
    for at in (1000, 5000, 9999):
        page.run(f"document.querySelector('.window').scrollTop = {34 * at}")
        page.wait(
            "[...document.querySelectorAll('.rows button')].some((b) => b.textContent.includes("
            f"'Text {at} of') && b.getBoundingClientRect().bottom <= document.querySelector("
            "'.window').getBoundingClientRect().bottom + 40)", 20
        )  # fmt: skip
        assert page.run("document.querySelectorAll('.rows li').length") <= 200
    page.run(
        "(() => { const s = document.querySelector('#search'); s.value = 'TEXT 7777'; "
        "s.dispatchEvent(new Event('input')); })()"
    )
    page.wait("document.querySelector('#list .hint').textContent === '1 texts'", 20)
    page.run("document.querySelector('.rows button').click()")
    page.wait("document.querySelector('#text').textContent.startsWith('Text 7777')", 20)
    time.sleep(0.1)
    assert page.faults() == []
    page.close()
