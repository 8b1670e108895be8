"""Load for a server: ``python -m benchmarks.http_load PORT PATH SECONDS RATE [CONNECTIONS]``.

Sends the request that standard input has again and again, over connections that stay open (64 if
not said), and prints JSON: requests that were answered, errors, percentiles of the time to an
answer, and the share of a core that this program took. RATE 0 sends each request as soon as the one
before is answered (a closed loop); otherwise so many each second, whatever the answers take (an
open loop), and times run from the moment at which a request should have been sent.
"""

from __future__ import annotations

import json
import random
import select
import socket
import sys
import time
from collections import deque
from typing import Any

CONNECTIONS = 64
_SHARES = {"median": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
_HEAD_END, _LENGTH = b"\r\n\r\n", b"content-length: "


class _Connection:
    """A connection that stays open, and the request on its way."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.open()

    def open(self) -> None:
        """Connect, again after a failure."""
        self.socket = socket.create_connection(("127.0.0.1", self.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.due, self.answer, self.length = 0.0, b"", 0

    def send(self, request: bytes, due: float) -> None:
        """Send a request that should have been sent at some moment."""
        self.due, self.answer, self.length = due, b"", 0
        self.socket.sendall(request)

    def has_answer(self) -> bool:
        """Read what has come; whether it is all."""
        piece = self.socket.recv(1 << 18)
        if not piece:
            raise ConnectionError
        self.answer += piece
        if not self.length and (end := self.answer.find(_HEAD_END)) >= 0:
            told = self.answer[:end].lower().partition(_LENGTH)[2]
            self.length = end + len(_HEAD_END) + int(told.split(None, 1)[0])
        return 0 < self.length <= len(self.answer)


def load(
    port: int, path: str, body: bytes, seconds: float, rate: float, connections: int = CONNECTIONS
) -> dict[str, Any]:
    """Send requests; return what became of them."""
    request = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body
    times, errors, draw = [], 0, random.Random(0)
    watch = select.epoll()
    by_number: dict[int, _Connection] = {}

    def register(one: _Connection) -> None:
        by_number[one.socket.fileno()] = one
        watch.register(one.socket, select.EPOLLIN)

    idle = deque(_Connection(port) for _ in range(connections))
    for one in idle:
        register(one)
    due: deque[float] = deque()
    begin = now = time.perf_counter()
    used, until = time.process_time(), begin + seconds
    at = begin
    while now < until or len(idle) < connections:
        if rate:
            while at <= now and at < until:
                due.append(at)
                at += draw.expovariate(rate)
        elif now < until:
            due.extend([now] * len(idle))
        while due and idle:
            idle.popleft().send(request, due.popleft())
        wait = max(0.0, at - time.perf_counter()) if rate and at < until else 1.0
        select.select([watch], [], [], wait)  # its own timeouts are whole milliseconds
        for number, _ in watch.poll(0):
            one = by_number[number]
            try:
                if not one.has_answer():
                    continue
                good = one.answer.startswith(b"HTTP/1.1 200")
            except OSError:
                good = False
                watch.unregister(one.socket)
                del by_number[number]
                one.socket.close()
                asked = one.due
                one.open()
                one.due = asked
                register(one)
            errors += not good
            times.append(time.perf_counter() - one.due)
            idle.append(one)
        now = time.perf_counter()
        if now >= until:
            due.clear()
    took = time.perf_counter() - begin
    times.sort()
    shares = {name: times[min(len(times) - 1, int(len(times) * p))] for name, p in _SHARES.items()}
    core = (time.process_time() - used) / took
    rates = {"rate": len(times) / seconds, "share of a core": core}
    return {"requests": len(times), "errors": errors, **rates, **shares}


if __name__ == "__main__":
    port, path, seconds, rate, *connections = sys.argv[1:]
    found = load(
        int(port),
        path,
        sys.stdin.buffer.read(),
        float(seconds),
        float(rate),
        *map(int, connections),
    )
    print(json.dumps(found))
