"""Servers to ask: in a thread of this process, or as ``structlearn serve``."""

import contextlib
import http.client
import json
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

__all__ = [
    "Answer", "Client", "free_port", "in_processes", "in_thread", "memory", "wait_for", "workers",
]  # fmt: skip


class Answer:
    """What a server has answered."""

    def __init__(self, response):
        self.status, self.headers = response.status, response.headers
        self.content = response.read()

    @property
    def json(self):
        return json.loads(self.content)

    @property
    def error(self):
        return self.json["error"]


class Client:
    """Asks a server, each time by a connection of its own, unless ``kept``."""

    def __init__(self, port, timeout=60, kept=False):
        self.port, self.timeout, self.kept = port, timeout, kept
        self._connection = None

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)

    def ask(self, path, body=None, method=None, host=None, raw=None, **headers):
        """Return the answer; ``body`` is sent as JSON, ``raw`` as it is."""
        content = json.dumps(body).encode() if raw is None and body is not None else raw
        connection = self._connection or self.connect()
        self._connection = connection if self.kept else None
        method = method or ("GET" if content is None else "POST")
        told = {name.replace("_", "-").lower(): value for name, value in headers.items()}
        if content is not None:
            told.setdefault("content-type", "application/json")
            told.setdefault("content-length", str(len(content)))
        try:
            connection.putrequest(method, path, skip_host=host is not None)
            if host:
                connection.putheader("Host", host)
            for name, value in told.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(content)
            return Answer(connection.getresponse())
        except BaseException:
            self._connection = None
            connection.close()
            raise
        finally:
            if not self.kept:
                connection.close()

    def predict(self, **body):
        return self.ask("/v1/predict", body)

    def annotate(self, **body):
        return self.ask("/v1/annotate", body)

    def close(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def raw(self):
        """Return an open socket."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=self.timeout)


def free_port():
    """Return a port that nobody uses now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def in_thread(settings):
    """Serve in a thread, and yield a client."""
    import uvicorn

    from structlearn.serve import connections, make_app, run

    settings.to_environment()
    connections._limits.cache_clear()
    port = free_port()
    app = make_app(settings)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_config=None, **run.options()))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(lambda: server.started or not thread.is_alive())
    client = Client(port)
    client.app = app
    try:
        yield client
    finally:
        server.should_exit = True
        thread.join(20)
        connections._limits.cache_clear()


@contextlib.contextmanager
def in_processes(*models, log=None, **options):
    """Run ``structlearn serve`` until all workers answer; yield it, a client as its attribute."""
    port = free_port()
    n_workers = options.get("workers", 1)
    command = [sys.executable, "-m", "structlearn", "serve", *models, "--port", str(port)]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    with contextlib.ExitStack() as stack:
        log = Path(log or Path(stack.enter_context(tempfile.TemporaryDirectory()), "log"))
        lines = stack.enter_context(log.open("w"))
        process = subprocess.Popen(command, stderr=lines, stdout=lines)
        process.client = Client(port)

        def is_ready():
            n_started = log.read_text().count("Application startup complete")
            return n_started >= n_workers and is_up(process.client)

        try:
            wait_for(lambda: process.poll() is not None or is_ready(), 60)
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def is_up(client):
    try:
        return client.ask("/healthz").status == 200
    except OSError:
        return False


def wait_for(done, seconds=20):
    """Wait until something is the case."""
    until = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


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
