"""Load for a server: ``python -m benchmarks.http_load PORT PATH SECONDS RATE [CONNECTIONS]``.

Sends the request that standard input has again and again, over connections that stay open (64 if
not said), and prints JSON: requests that were answered, errors, and percentiles of the time to an
answer. RATE 0 sends each request as soon as the one before is answered (a closed loop); otherwise
so many each second, whatever the answers take (an open loop), and times run from the moment at
which a request should have been sent.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from typing import Any

CONNECTIONS = 64


async def load(
    port: int, path: str, body: bytes, seconds: float, rate: float, connections: int = CONNECTIONS
) -> dict[str, Any]:
    """Send requests; return what became of them."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    request, times, errors = head + body, [], 0
    due: asyncio.Queue[float] = asyncio.Queue()

    async def answer(reader: asyncio.StreamReader) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split()[0])
        await reader.readexactly(length)
        return head.startswith(b"HTTP/1.1 200")

    async def connection() -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while True:
            begin = await due.get() if rate else time.perf_counter()
            if begin > until:
                break
            try:
                writer.write(request)
                good = await answer(reader)
            except (OSError, asyncio.IncompleteReadError):
                good = False
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            errors += not good
            times.append(time.perf_counter() - begin)
        writer.close()

    begin = time.perf_counter()
    until = begin + seconds
    tasks = [asyncio.create_task(connection()) for _ in range(connections)]
    if rate:
        at, draw = begin, random.Random(0)
        while at < until:
            await asyncio.sleep(max(0.0, at - time.perf_counter()))
            due.put_nowait(at)
            at += draw.expovariate(rate)
        for _ in tasks:
            due.put_nowait(float("inf"))
    await asyncio.gather(*tasks)
    times.sort()
    shares = {name: times[min(len(times) - 1, int(len(times) * p))] for name, p in _SHARES.items()}
    return {"requests": len(times), "errors": errors, "rate": len(times) / seconds, **shares}


_SHARES = {"median": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}

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
    print(json.dumps(asyncio.run(found)))
