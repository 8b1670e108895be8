"""A listening socket of several processes, each of which takes one connection at a time."""

from __future__ import annotations

import signal
import socket
from multiprocessing import reduction
from types import FrameType
from typing import Any


class SharedSocket(socket.socket):
    """A listening socket that shares its connections among the processes that have it.

    If one process took all that wait, as asyncio does, it could have every client of a server, and
    the others none. A process that is told to stop takes what waits: nobody else will.
    """

    stopping = False
    _took = False

    def accept(self) -> tuple[socket.socket, Any]:
        """Take a connection; after each the next call says that none waits, as far as it knows."""
        if self._took and not SharedSocket.stopping:
            self._took = False
            raise BlockingIOError
        connection = super().accept()
        self._took = True
        return connection

    def __reduce__(self) -> Any:
        return _received, (reduction.DupFd(self.fileno()),)


def take_all_when_stopped() -> None:
    """Have this process take all connections that wait once a signal tells it to stop."""
    for number in (signal.SIGTERM, signal.SIGINT):
        _take_all_at(number)


def _take_all_at(number: signal.Signals) -> None:
    before = signal.getsignal(number)

    def handle(caught: int, frame: FrameType | None) -> None:
        SharedSocket.stopping = True
        if callable(before):
            before(caught, frame)

    signal.signal(number, handle)


def _received(descriptor: Any) -> SharedSocket:
    """Return the socket that another process has sent."""
    return SharedSocket(fileno=descriptor.detach())
