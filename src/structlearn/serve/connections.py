"""Connections with a deadline, and no more of them than a process can bear."""

from __future__ import annotations

import functools
from asyncio import AbstractEventLoop, TimerHandle, Transport
from socket import IPPROTO_TCP, TCP_NODELAY
from typing import Any

from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol

from .settings import Settings

#: Seconds for the head of a request to arrive, for a connection without one to stay open, and for
#: requests that are on their way when the server stops.
_HEAD, _KEPT, _LAST = 10.0, 15.0, 0.5
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
    b"content-length: 61\r\nretry-after: 1\r\nconnection: close\r\n\r\n"
    b'{"error": "too many connections are open: try again shortly"}'
)


@functools.lru_cache(maxsize=1)
def _limits() -> tuple[int, float]:
    """Return how many connections may be open, and the seconds of a whole request."""
    settings = Settings.from_environment()
    return settings.connections, 2 * settings.timeout + _HEAD


class _Gathering:
    """A transport that sends what is written in one turn of the event loop together.

    The head of an answer and its body are two writes, and each would cost a call of the system, and
    wake the client.
    """

    def __init__(self, transport: Transport, loop: AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._written: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._written:
            self._loop.call_soon(self._send)
        self._written.append(data)

    def close(self) -> None:
        self._send()
        self._transport.close()

    def _send(self) -> None:
        data = b"".join(self._written)
        self._written.clear()
        if data:
            self._transport.write(data)


class Connection(H11Protocol):
    """uvicorn's connection, cut off if a request takes too long, however slowly its bytes drip in.

    A request that is computed is answered in time or refused; what is left are heads and bodies
    that do not arrive, and answers that nobody reads.
    """

    _deadline: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:
        """Begin; hang up if too many connections are open."""
        gathering: Any = _Gathering(transport, self.loop)
        super().connection_made(gathering)
        # Long answers are several writes; asyncio sees to it for sockets it has made itself alone.
        transport.get_extra_info("socket").setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        if len(self.connections) > _limits()[0]:
            gathering.write(_BUSY)
            gathering.close()
        self._within(_HEAD)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._within(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read; a request that has begun gets its own time."""
        if self.transport.is_closing():
            return
        before: Any = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._within(_limits()[1])

    def on_response_complete(self) -> None:
        """Wait for the next request, or go on with one that has arrived already."""
        before: Any = self.cycle
        super().on_response_complete()
        self._within(_KEPT if self.cycle is before else _limits()[1])

    def shutdown(self) -> None:
        """Stop; requests that are on their way are still answered, and told that it is the end."""
        state = self.server_state
        if CLOSE_HEADER not in state.default_headers:
            state.default_headers = [*state.default_headers, CLOSE_HEADER]
        if self.cycle is None or self.cycle.response_complete:
            self._within(_LAST)
            return
        if not self.cycle.response_started:
            self.cycle.default_headers = state.default_headers
        super().shutdown()

    def _within(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._cut)

    def _cut(self) -> None:
        self.transport.abort()
