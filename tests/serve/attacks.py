"""What a server must refuse, and what it must not lose: for its tests and its benchmark."""

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

from tests.serve.running import Client, memory, wait_for, workers

__all__ = ["REFUSALS", "TOKEN", "attack", "kill_and_replace", "served_by"]

TOKEN = "a-token-of-some-length"


def _refused(client, request, statuses):
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
    return _refused(client, [f"{HEAD}{length}\r\n\r\n".encode(), *pieces], (413, 503))


def slow(client):
    def pieces():
        yield f"{HEAD}Content-Length: 1000\r\n\r\n".encode()
        for _ in range(30):
            time.sleep(0.2)
            yield b" "

    return _refused(client, pieces(), (408, 503))


def bad(client):
    body = random.choice([b"{", b"[" * 5000, b"\xff", b"null", b'{"model": 1}', b"9" * 10_000])
    request = f"{HEAD}Content-Length: {len(body)}\r\n\r\n".encode() + body
    return _refused(client, [request], (400, 422, 503))


def without_token(client):
    head = HEAD.replace(TOKEN, TOKEN[:-1] + random.choice("xyz"))
    return _refused(client, [f"{head}Content-Length: 2\r\n\r\n{{}}".encode()], (401, 503))


def foreign(client):
    head = HEAD.replace("localhost", "evil.example")
    return _refused(client, [f"{head}Content-Length: 2\r\n\r\n{{}}".encode()], (421, 503))


#: Attacks by name: how often each is made, and the status of its answer; None: one of several.
REFUSALS = {
    "body of 100 MB": (lambda client: large(client, True), 12, 413),
    "body of 100 MB, in pieces": (lambda client: large(client, False), 6, 413),
    "slow body": (slow, 60, 408),
    "bad JSON": (bad, 200, None),
    "wrong token": (without_token, 100, 401),
    "foreign Host": (foreign, 100, 421),
}


def attack(process, body, n_idle=1000):
    """Attack a server whose ``--timeout`` is 3 s; return the statuses by attack, and megabytes.

    The megabytes are what the server's processes took at most, beyond what they took before.
    ``body`` is a request that must be answered before and afterwards.
    """
    client = Client(process.client.port, timeout=60)

    def is_well():
        answer = client.ask("/v1/predict", body, authorization=f"Bearer {TOKEN}")
        return answer.status == 200

    assert is_well()
    before = memory(process)
    jobs = [name for name, (_, n, _) in REFUSALS.items() for _ in range(n)]
    random.Random(0).shuffle(jobs)
    statuses = defaultdict(Counter)
    with ThreadPoolExecutor(48) as pool:
        answers = pool.map(lambda name: REFUSALS[name][0](client), jobs)
        for name, status in zip(jobs, answers, strict=True):
            statuses[name][status] += 1
    assert is_well()
    # Connections that say nothing, and some that say half of a head.
    idle = []
    for i in range(n_idle):
        one = socket.create_connection(("127.0.0.1", client.port), timeout=20)
        if i % 3 == 0:
            one.sendall(b"POST /v1/predict HTTP/1.1\r\nX: ")
        idle.append(one)
    peak = memory(process, "VmHWM")
    for one in idle:
        one.close()
    wait_for(lambda: _quietly(is_well))
    assert len(workers(process)) == 2
    return statuses, peak - before


def _quietly(ask):
    try:
        return ask()
    except OSError:
        return False


def kill_and_replace(process, path, log, files, inputs, expected, n_clients=24):
    """Kill the busier worker under load, replace the model's file; return what was seen.

    ``files`` are models by name, of which ``path`` has the first; ``expected`` what each answers.
    Returned are the number of answers, those of no file or of one that its version is not, and
    the requests that were lost in the killed worker's connections and elsewhere.
    """
    versions = defaultdict(set)
    stop = threading.Event()

    def asks(seed):
        draw, lost, n_answers, n_wrong = random.Random(seed), [], 0, 0
        client = Client(process.client.port, kept=True)
        while not stop.is_set():
            i = draw.randrange(len(inputs))
            port = None
            try:
                if client._connection is None:
                    client._connection = client.connect()
                    client._connection.connect()
                port = client._connection.sock.getsockname()[1]
                answer = client.predict(input=inputs[i])
            except (OSError, HTTPException):
                lost.append((port, time.monotonic()))
                client.close()
                continue
            n_answers += 1
            names = []
            if answer.status == 200:
                (output,) = answer.json["outputs"]
                names = [name for name, outputs in expected.items() if outputs[i] == output]
            n_wrong += len(names) != 1
            if names:
                versions[answer.json["version"]].update(names)
        client.close()
        return lost, n_answers, n_wrong

    with ThreadPoolExecutor(n_clients) as pool:
        jobs = [pool.submit(asks, seed) for seed in range(n_clients)]
        time.sleep(2)
        served = Counter(served_by(log).values())
        victim = max(workers(process), key=lambda one: served[one])
        os.kill(victim, signal.SIGKILL)
        killed = time.monotonic()
        time.sleep(3)
        first, second = files
        for name in (second, first, second):
            shutil.copy(files[name], path.with_name("new"))
            os.replace(path.with_name("new"), path)
            time.sleep(2.5)
        shutil.copy(files[first], path)  # in place: half of it is there for a moment
        time.sleep(2.5)
        alive = len(workers(process))
        stop.set()
        results = [job.result() for job in jobs]
    answered_by = served_by(log)
    lost = [one for rows, _, _ in results for one in rows]
    elsewhere = [
        one
        for one in lost
        if answered_by.get(one[0], victim) != victim or not 0 <= one[1] - killed < 2
    ]
    mixed = sum(len(names) > 1 for names in versions.values())
    return {
        "answers": sum(n for _, n, _ in results),
        "wrong": sum(n for _, _, n in results) + mixed,
        "lost": len(lost),
        "lost elsewhere": len(elsewhere),
        "most lost by a client": max(len(rows) for rows, _, _ in results),
        "files seen": len(set().union(*versions.values())),
        "workers": alive,
    }


def served_by(log):
    """Return the worker that has answered each port of a client, as the access log says."""
    found = {}
    for line in log.read_text().splitlines():
        words = line.split()
        if len(words) > 4 and words[4].startswith("127.0.0.1:"):
            found[int(words[4].partition(":")[2])] = int(words[2].strip("[]"))
    return found
