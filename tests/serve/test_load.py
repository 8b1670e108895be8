"""A server under load and under attack: ``make test-serve``.

Bounded in count and time, over 127.0.0.1. Nothing is asserted of speed.
"""

import json
import os
import random
import shutil
import signal
import socket
import threading
import time
from collections import Counter, defaultdict
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
from tests.serve.running import Client, in_processes, wait_for
from tests.tasks.trainings import TRAININGS

TOKEN = "a-token-of-some-length"
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


def workers(process):
    """Return the ids of the processes that answer."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            line = (status.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == process.pid and b"spawn_main" in line:
            found.append(int(status.parent.name))
    return found


def memory(process, what="VmRSS"):
    """Return the megabytes of all processes of a server together."""
    total = 0
    for one in (process.pid, *workers(process)):
        for line in Path(f"/proc/{one}/status").read_text().splitlines():
            if line.startswith(what):
                total += int(line.split()[1]) / 1024
    return total


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")


def test_64_connections_on_two_workers(folder):
    """No error, and every answer is the library's."""
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
        in_processes(*models, workers=2, queue=1000, no_access_log=True) as process,
        ThreadPoolExecutor(64) as pool,
    ):
        found = [one for wrong in pool.map(asks, range(64)) for one in wrong]
        assert not found
        text = process.client.ask("/metrics").content.decode()
        assert "structlearn_workers 2" in text


def refused(client, request, statuses):
    """Send bytes, or as many of them as the server takes; return the status of the answer."""
    with client.raw() as one:
        try:
            for piece in request:
                one.sendall(piece)
        except OSError:
            pass
        try:
            head = one.recv(64)
        except OSError:
            return None
        status = int(head.split()[1]) if head else None
        assert status in (None, *statuses), head
        return status


HEAD = (
    f"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    "Content-Type: application/json\r\n"
)


def large(client, announced):
    size = 100 << 20
    length = f"Content-Length: {size}" if announced else "Transfer-Encoding: chunked"
    block = b" " * 65536
    pieces = (
        [block] * (size // len(block)) if announced else [b"10000\r\n" + block + b"\r\n"] * 1600
    )
    return refused(client, [f"{HEAD}{length}\r\n\r\n".encode(), *pieces], (413, 503))


def slow(client):
    def pieces():
        yield f"{HEAD}Content-Length: 1000\r\n\r\n".encode()
        for _ in range(30):
            time.sleep(0.2)
            yield b" "

    return refused(client, pieces(), (408, 503))


def bad(client):
    body = random.choice([b"{", b"[" * 5000, b"\xff", b"null", b'{"model": 1}', b"9" * 10_000])
    request = f"{HEAD}Content-Length: {len(body)}\r\n\r\n".encode() + body
    return refused(client, [request], (400, 422, 503))


def without_token(client):
    head = HEAD.replace(TOKEN, TOKEN[:-1] + random.choice("xyz"))
    return refused(client, [f"{head}Content-Length: 2\r\n\r\n{{}}".encode()], (401, 503))


def foreign(client):
    head = HEAD.replace("localhost", "evil.example")
    return refused(client, [f"{head}Content-Length: 2\r\n\r\n{{}}".encode()], (421, 503))


@needs_proc
def test_attacks_are_refused_in_bounded_memory(folder, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(TOKEN + "\n")
    options = {"workers": 2, "token_file": tokens, "timeout": 3, "no_access_log": True}
    with in_processes(f"tags={folder / 'one.model'}", **options) as process:
        client = Client(process.client.port, timeout=60)
        given = f"Bearer {TOKEN}"

        def is_well():
            body = {"inputs": SENTENCES[:2]}
            return client.ask("/v1/predict", body, authorization=given).status == 200

        assert is_well()
        before = memory(process)
        rounds = {
            "large": (lambda: large(client, True), 12),
            "large, in pieces": (lambda: large(client, False), 6),
            "slow": (lambda: slow(client), 60),
            "bad": (lambda: bad(client), 200),
            "token": (lambda: without_token(client), 100),
            "foreign": (lambda: foreign(client), 100),
        }
        jobs = [name for name, (_, n) in rounds.items() for _ in range(n)]
        random.Random(0).shuffle(jobs)
        found = defaultdict(Counter)
        with ThreadPoolExecutor(48) as pool:
            for name, status in zip(jobs, pool.map(lambda j: rounds[j][0](), jobs), strict=True):
                found[name][status] += 1
        assert is_well()
        for name, status in {
            "large": 413, "large, in pieces": 413, "slow": 408, "token": 401, "foreign": 421,
        }.items():  # fmt: skip
            assert found[name][status] > 0.8 * rounds[name][1], found
        # A thousand connections that say nothing, and some that say half of a head.
        idle = []
        for i in range(1000):
            one = socket.create_connection(("127.0.0.1", client.port), timeout=20)
            if i % 3 == 0:
                one.sendall(b"POST /v1/predict HTTP/1.1\r\nX: ")
            idle.append(one)
        peak = memory(process, "VmHWM")
        for one in idle:
            one.close()
        wait_for(lambda: _quietly(is_well))
        assert len(workers(process)) == 2
        assert peak - before < 120, (before, peak, memory(process))


def _quietly(ask):
    try:
        return ask()
    except OSError:
        return False


@needs_proc
def test_a_killed_worker_and_a_replaced_model(folder, tmp_path):
    """No answer is wrong, and none is lost but those of the connections of the killed worker."""
    path, log = tmp_path / "tags.model", tmp_path / "log"
    shutil.copy(folder / "one.model", path)
    expected = {
        name: structlearn.load(str(folder / f"{name}.model")).predict(SENTENCES)
        for name in ("one", "two")
    }
    versions: dict[str, set] = defaultdict(set)
    stop = threading.Event()

    def asks(seed):
        """Ask until told to stop; return (port, time) of each answer that was lost."""
        draw, lost, n_answers = random.Random(seed), [], 0
        client = Client(process.client.port, kept=True)
        while not stop.is_set():
            i = draw.randrange(len(SENTENCES))
            port = None
            try:
                if client._connection is None:
                    client._connection = client.connect()
                    client._connection.connect()
                port = client._connection.sock.getsockname()[1]
                answer = client.predict(input=SENTENCES[i])
            except (OSError, HTTPException) as error:
                lost.append((port, time.monotonic(), repr(error)))
                client.close()
                continue
            assert answer.status == 200, answer.content
            (output,) = answer.json["outputs"]
            (name,) = [n for n, found in expected.items() if found[i] == output]
            versions[answer.json["version"]].add(name)
            n_answers += 1
        client.close()
        return lost, n_answers

    with (
        in_processes(f"tags={path}", workers=2, log=log) as process,
        ThreadPoolExecutor(24) as pool,
    ):
        jobs = [pool.submit(asks, seed) for seed in range(24)]
        time.sleep(2)
        victim = workers(process)[0]
        os.kill(victim, signal.SIGKILL)
        killed = time.monotonic()
        time.sleep(3)
        for name in ("two", "one", "two"):
            shutil.copy(folder / f"{name}.model", tmp_path / "new")
            os.replace(tmp_path / "new", path)
            time.sleep(2.5)
        shutil.copy(folder / "one.model", path)  # in place: half of it is there for a moment
        time.sleep(2.5)
        assert len(workers(process)) == 2
        stop.set()
        results = [job.result() for job in jobs]
    assert sum(n for _, n in results) > 100
    # Each version gave the answers of one file, and both were seen.
    assert sorted(map(sorted, versions.values())) == [["one"], ["two"]]
    served_by = {}
    for line in log.read_text().splitlines():
        words = line.split()
        if len(words) > 4 and words[4].startswith("127.0.0.1:"):
            served_by[int(words[4].partition(":")[2])] = int(words[2].strip("[]"))
    lost = [one for rows, _ in results for one in rows]
    for port, moment, error in lost:
        assert served_by.get(port, victim) == victim, error
        assert 0 <= moment - killed < 2, error
    assert all(len(rows) <= 1 for rows, _ in results)


def test_stopping_under_load_loses_nothing(folder):
    """What was sent before the server stopped to listen is answered; then nobody is there."""
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
    assert len(lost) <= 2, lost  # accepted by the system, not yet by the server
