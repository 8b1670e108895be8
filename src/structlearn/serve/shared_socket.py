"""A listening socket of several processes: shared fairly, and closed without losing anyone.

A connection that the system has accepted and no process yet is cut off when the socket is closed,
although its client may have sent a request. A server that stops therefore refuses new connections
first, then takes those that wait, and closes the socket when none is left.
"""

from __future__ import annotations

import ctypes
import socket
import sys
from collections.abc import Iterable
from multiprocessing import reduction
from typing import Any

#: Linux's number of SO_ATTACH_FILTER, and where TCP_INFO has the connections that wait.
_ATTACH_FILTER, _WAITING = 26, slice(24, 28)
#: Drops packets that ask for a connection: those whose byte of flags has SYN. Each instruction is
#: its code, the jumps if true and if false, a number (linux/filter.h).
_NO_NEW = ((0x30, 0, 0, 13), (0x45, 0, 1, 0x02), (0x06, 0, 0, 0), (0x06, 0, 0, 0xFFFFFFFF))


class SharedSocket(socket.socket):
    """A listening socket that shares its connections among the processes that have it.

    If one process took all that wait, as asyncio does, it could have every client of a server, and
    the others none.
    """

    _took = False

    def accept(self) -> tuple[socket.socket, Any]:
        """Take a connection; after each the next call says that none waits, as far as it knows."""
        if self._took:
            self._took = False
            raise BlockingIOError
        connection = super().accept()
        self._took = True
        return connection

    def __reduce__(self) -> Any:
        return _received, (reduction.DupFd(self.fileno()),)


def _received(descriptor: Any) -> SharedSocket:
    """Return the socket that another process has sent."""
    return SharedSocket(fileno=descriptor.detach())


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("true", ctypes.c_uint8),
        ("false", ctypes.c_uint8),
        ("number", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("first", ctypes.POINTER(_Instruction)))


def refuse_new(sockets: Iterable[Any]) -> None:
    """Have the system leave new connections unanswered, for all processes; those begun go on.

    A client asks again after a second, and is refused when the socket is closed by then. Other
    systems than Linux have no such filter, and nothing is done.
    """
    if sys.platform != "linux":
        return
    code = (_Instruction * len(_NO_NEW))(*(_Instruction(*row) for row in _NO_NEW))
    for one in sockets:
        one.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, bytes(_Program(len(code), code)))


def n_waiting(sockets: Iterable[Any]) -> int:
    """Return how many connections wait to be taken by a process; 0 if the system does not tell."""
    if sys.platform != "linux":
        return 0
    said = [one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _WAITING.stop) for one in sockets]
    return sum(int.from_bytes(info[_WAITING], sys.byteorder) for info in said)
