"""A server under load and under attack: ``make test-serve``.

Bounded in count and time, over 127.0.0.1. Nothing is asserted of speed.
"""

import json
import os
import random
import shutil
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path

import pytest

if not os.environ.get("STRUCTLEARN_TEST_SERVE"):
    pytest.skip("load tests are run by make test-serve", allow_module_level=True)
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

import structlearn
from structlearn.datasets import make_treebank
from structlearn.serve.answers import plain
from structlearn.tasks import Tagger
from tests.serve.attacks import REFUSALS, TOKEN, attack, kill_and_replace, served_by
from tests.serve.running import Client, in_processes
from tests.tasks.trainings import TRAININGS

BANK = make_treebank(120, random_state=0)
SENTENCES = [list(s.words) for s in BANK]
TEXTS = [" ".join(words) + "\n" for words in SENTENCES]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two versions of a tagger, and a pipeline."""
    folder = tmp_path_factory.mktemp("models")
    for name, change in (("one", str), ("two", str.lower)):
        rows = [[(w, change(t)) for w, t in zip(s.words, s.tags, strict=True)] for s in BANK]
        Tagger("pos", max_iter=2).fit(rows).save(folder / f"{name}.model")
    TRAININGS["pipeline"].fit("perceptron").save(folder / "nlp.model")
    return folder


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")


def test_64_connections_on_two_workers(folder, tmp_path):
    """No error, every answer is the library's, and both workers have their share of connections."""
    tagger = structlearn.load(str(folder / "one.model"))
    nlp = structlearn.load(str(folder / "nlp.model"))
    expected = {
        "tags": tagger.predict(SENTENCES),
        "docs": [nlp(text).to_dict() for text in TEXTS],
        "trees": [plain(tree) for tree in nlp.predict(SENTENCES)],
    }
    expected = json.loads(json.dumps(expected))
    models = (f"tags={folder / 'one.model'}", f"nlp={folder / 'nlp.model'}")

    def asks(seed):
        draw = random.Random(seed)
        client = Client(process.client.port, kept=True)
        wrong = []
        for _ in range(60):
            what, i = draw.choice(list(expected)), draw.randrange(len(SENTENCES) - 3)
            some = slice(i, i + draw.randrange(1, 4))
            if what == "docs":
                answer = client.annotate(model="nlp", texts=TEXTS[some])
            else:
                model = "nlp" if what == "trees" else "tags"
                answer = client.predict(model=model, inputs=SENTENCES[some])
            key = "docs" if what == "docs" else "outputs"
            if answer.status != 200 or answer.json[key] != expected[what][some]:
                wrong.append((answer.status, answer.content))
        client.close()
        return wrong

    with (
        in_processes(*models, workers=2, queue=1000, log=tmp_path / "log") as process,
        ThreadPoolExecutor(64) as pool,
    ):
        found = [one for wrong in pool.map(asks, range(64)) for one in wrong]
        assert not found
        text = process.client.ask("/metrics").content.decode()
        assert "structlearn_workers 2" in text
    connections = Counter(served_by(tmp_path / "log").values())
    assert len(connections) == 2, connections
    assert min(connections.values()) >= 8, connections


@needs_proc
def test_attacks_are_refused_in_bounded_memory(folder, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(TOKEN + "\n")
    options = {"workers": 2, "token_file": tokens, "timeout": 3, "no_access_log": True}
    with in_processes(f"tags={folder / 'one.model'}", **options) as process:
        statuses, grown = attack(process, {"inputs": SENTENCES[:2]})
    for name, (_, n, status) in REFUSALS.items():
        assert status is None or statuses[name][status] > 0.8 * n, statuses
    assert grown < 120


@needs_proc
def test_a_killed_worker_and_a_replaced_model(folder, tmp_path):
    """No answer is wrong, and none is lost but those of the connections of the killed worker."""
    path, log = tmp_path / "tags.model", tmp_path / "log"
    files = {name: folder / f"{name}.model" for name in ("one", "two")}
    shutil.copy(files["one"], path)
    expected = {n: structlearn.load(str(file)).predict(SENTENCES) for n, file in files.items()}
    with in_processes(f"tags={path}", workers=2, log=log) as process:
        seen = kill_and_replace(process, path, log, files, SENTENCES, expected)
    assert seen["answers"] > 100
    # Each version gave the answers of one file, and both were seen.
    assert (seen["wrong"], seen["files seen"], seen["workers"]) == (0, 2, 2), seen
    assert seen["lost elsewhere"] == 0, seen
    assert seen["most lost by a client"] <= 1, seen


def test_stopping_under_load_answers_what_was_taken(folder):
    """Each of 16 clients has a request on its way, or begins a connection: none is cut off.

    Clients that come later are refused.
    """
    lost = []

    def asks(seed):
        client = Client(process.client.port, kept=seed % 2 == 0)
        while True:
            try:
                answer = client.predict(inputs=SENTENCES[:3])
            except ConnectionRefusedError:
                return
            except (OSError, HTTPException) as error:
                lost.append((seed % 2, repr(error)))
                return
            assert answer.status == 200

    with (
        in_processes(f"tags={folder / 'one.model'}", workers=2, no_access_log=True) as process,
        ThreadPoolExecutor(16) as pool,
    ):
        jobs = [pool.submit(asks, seed) for seed in range(16)]
        time.sleep(1.5)
        process.send_signal(signal.SIGTERM)
        for job in jobs:
            job.result(60)
        process.wait(40)
    assert not lost
