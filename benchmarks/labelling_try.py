"""``python -m benchmarks.labelling_try``: from unlabelled addresses to a tagger, in a browser.

``structlearn label`` is started on 3,000 synthetic addresses without labels. A script plays the
person: it knows the right spans, and only presses keys in a real browser. The log is written as
JSON to ``benchmarks/results``: the time a person would need, at fixed seconds for a text and a
key, and the F1 of the model that ``structlearn train`` then learns, on 1,000 other addresses. With
``--pictures FOLDER`` it also draws the pictures of the how-to page.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.labelling.keyboard import go, press
from tests.workbench.chromium import Chromium

from structlearn.tasks import Tagger
from structlearn.text.tokenisers import tokeniser

from .labelling_addresses import LABELS, addresses

RESULT = Path(__file__).parent / "results" / "labelling_try.json"
#: Seconds to read a text, and to press a key.
READ, KEY = 4.0, 0.8
_SPANS = (
    "[...document.querySelectorAll('#text mark')].map((m) => [Number(m.querySelector('.token')"
    ".dataset.n), m.querySelectorAll('.token').length, m.querySelector('.name')"
    ".firstChild.textContent])"
)
_TEXT = (
    "[...document.querySelectorAll('#text .gap, #text .token')].map((t) => t.textContent).join('')"
)


def _tokens(text: str, spans: Any) -> list[list[Any]]:
    """Return spans of characters as spans of tokens: first, number, label."""
    places, rows = tokeniser("words")(text), []
    for span in spans:
        inside = [t for t, (a, b) in enumerate(places) if span["start"] <= a and b <= span["end"]]
        rows.append([inside[0], len(inside), span["label"]])
    return rows


def _correct(page: Any, wanted: list[list[Any]]) -> int:
    """Correct the spans on the page; return the number of keys pressed."""
    keys = 0
    for begin, length, name in page.run(_SPANS):
        if [begin, length, name] not in wanted:
            keys += go(page, begin) + 1
            press(page, "0")
    for begin, length, name in wanted:
        if [begin, length, name] not in page.run(_SPANS):
            keys += go(page, begin) + length
            for _ in range(length - 1):
                press(page, "ArrowRight", shift=True)
            press(page, str(LABELS.index(name) + 1))
    assert sorted(page.run(_SPANS)) == sorted(wanted)
    return keys


def _f1(data: Path, held: list[Any]) -> float:
    """Return the F1 of the model that ``structlearn train`` learns from the file now."""
    tagger = Tagger("auto", learner="crf", scheme="bio", tokens="words").fit(data)
    return float(tagger.evaluate([{"text": t, "spans": s} for t, s in held])["f1"])


def work(page: Any, gold: dict[str, Any], data: Path, answers: int, each: int) -> list[Any]:
    """Answer by keys; return the log, with a row after every ``each`` answers."""
    held, rows, keys, right = addresses(1000, seed=9), [], 0, 0
    held = [span for span in held if span[0] not in gold]
    waited: list[float] = []
    for n in range(1, answers + 1):
        text = page.run(_TEXT)
        pressed = _correct(page, _tokens(text, gold[text])) + 1
        right += pressed == 1
        keys += pressed
        before = page.run("Number(document.body.dataset.answered)")
        begin = time.perf_counter()
        press(page, "Enter")
        page.wait(f"Number(document.body.dataset.answered) > {before}", 30)
        waited.append(time.perf_counter() - begin)
        if n % each == 0 or n == 10:
            minutes = (READ * n + KEY * keys + sum(waited)) / 60
            row = {"minutes": round(minutes, 1), "answers": n, "keys": keys}
            row |= {"right": right, "f1": round(_f1(data, held), 4)}
            rows.append(row)
            print(row, flush=True)
            right = 0
    return rows


def main() -> None:
    """Run the trial, and write the log."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labelling_try")
    parser.add_argument("--texts", type=int, default=3000)
    parser.add_argument("--answers", type=int, default=150)
    parser.add_argument("--pictures", type=Path)
    o = parser.parse_args()
    gold = dict(addresses(o.texts))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "addresses.txt").write_text("".join(f"{text}\n" for text in gold))
        command = [sys.executable, "-m", "structlearn", "label", "addresses.txt", "--no-browser"]
        command += ["--labels", ",".join(LABELS), "--model", "addresses.model"]
        run = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert run.stdout is not None
        browser = Chromium()
        try:
            page = browser.page(run.stdout.readline().strip(), height=760)
            page.wait("document.body.dataset.answered", 60)
            if o.pictures:
                page.picture(o.pictures / "label_first.png")
            rows = work(page, gold, folder / "labels.jsonl", o.answers, 25)
            if o.pictures:
                page.wait("document.querySelector('#progress .curve')", 60)
                page.picture(o.pictures / "label_later.png")
            assert page.faults() == []
        finally:
            browser.close()
            run.terminate()
    record = {"texts": o.texts, "seconds a text": READ, "seconds a key": KEY, "log": rows}
    RESULT.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
