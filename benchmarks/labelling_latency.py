"""``python -m benchmarks.labelling_latency``: the time from an answer to the next proposal.

The page's server runs in this process and starts with answers to a number of sentences. Gold labels
give further answers over HTTP, as the page does: ``answer``, then ``next``, which waits until the
answer is learned. Prints and writes the median and the 99th percentile of the seconds in between.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np

from structlearn.labelling.journal import Journal
from structlearn.labelling.kinds import Spans
from structlearn.labelling.server import LabelServer
from structlearn.labelling.session import Session
from structlearn.labelling.settings import Settings
from structlearn.workbench.local_server import HEADER

from .data import data_folder
from .labelling_corpora import CORPORA, read

RESULTS = Path(__file__).parent / "results"


def measure(sentences: list[Any], before: int, answers: int, folder: Path) -> dict[str, Any]:
    """Return the seconds of each answer, and the number known to the next proposal."""
    kind = Spans("blank")
    gold = {" ".join(word for word, _ in s): [label for _, label in s] for s in sentences}
    journal = Journal(str(folder / "labels.jsonl"), kind.check_item)
    items = {}
    for text in list(gold)[:before]:
        item = kind.item(kind.cut(0, text), gold[text])
        items[text] = {**item, "answer": "accept"}
    journal.rewrite(items)
    session = Session(
        list(gold), kind, Settings(str(folder / "settings"), []), journal, str(folder / "m"),
        {"learner": "crf", "tokens": "blank"},
    )  # fmt: skip
    server = LabelServer(0, session)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    session.start()
    while session.live.tagger is None or session.live._whole_due:
        time.sleep(0.2)

    def ask(name: str, **values: Any) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{server.port}/api/{name}",
            json.dumps({"tab": "one", **values}).encode(),
            {HEADER: server.token, "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    question, seconds, n_known = ask("next", order="tokens"), [], 0
    pauses = random.Random(0)
    for _ in range(answers):
        text = "".join(before + word for before, word in question["pieces"])
        values = {name: question[name] for name in ("number", "revision")}
        begin = time.perf_counter()
        saved = ask("answer", **values, verdict="accept", labels=gold[text])
        question = ask("next", order="tokens", wait=saved["wait"])
        seconds.append(time.perf_counter() - begin)
        n_known += session.live.known >= saved["wait"]
        if len(seconds) % 10 == 0:
            print(len(seconds), [round(second, 3) for second in seconds[-10:]], flush=True)
        time.sleep(pauses.uniform(0.4, 2.4))  # a full refit may be running meanwhile
    server.shutdown()
    session.close()
    return {"before": before, "answers": answers, "knew": n_known, "seconds": seconds}


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labelling_latency")
    parser.add_argument("--corpus", choices=tuple(CORPORA), default="conll2002_es")
    parser.add_argument("--before", type=int, default=2000)
    parser.add_argument("--answers", type=int, default=60)
    o = parser.parse_args()
    data = data_folder()
    if data is None:
        raise SystemExit("set STRUCTLEARN_DATA to the folder of the corpora")
    train, _ = read(data, o.corpus)
    with tempfile.TemporaryDirectory() as folder:
        record = measure(train, o.before, o.answers, Path(folder))
    seconds = np.array(record.pop("seconds"))
    record |= {"corpus": o.corpus, "texts": len(train), "median": float(np.median(seconds))}
    record |= {"p99": float(np.quantile(seconds, 0.99)), "most": float(seconds.max())}
    print(json.dumps(record))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "labelling_latency.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
