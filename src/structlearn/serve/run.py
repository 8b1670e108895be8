"""The processes of ``structlearn serve``."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import tempfile
import time
from collections.abc import Sequence
from types import FrameType
from typing import Any

from .registry import Registry
from .settings import Settings, check_packages, read_tokens, with_folder
from .shared_socket import SharedSocket, n_waiting, refuse_new

#: Bytes of the head of a request.
_HEAD = 16 * 1024
#: Seconds for requests that are being answered when the server is stopped.
_GRACE = 30
#: Seconds for connections that have begun when the server is stopped, at least and at most, and
#: from one look at them to the next.
_BEGUN, _TAKEN, _LOOK = 0.1, 2.0, 0.01


def serve(settings: Settings) -> None:
    """Serve until a signal says to stop; what is wrong with models or tokens is raised first."""
    check_packages()
    from uvicorn import Config, Server
    from uvicorn.supervisors import Multiprocess

    class OneProcess(Server):
        """A process that takes all connections that have begun before it stops."""

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            stopping = _Stopping([one for server in self.servers for one in server.sockets])
            while stopping.has_to_wait():
                await asyncio.sleep(_LOOK)
            await super().shutdown(sockets)

    class Workers(Multiprocess):
        """Processes that take all connections that have begun before they are told to stop."""

        def __init__(self, config: Config, sockets: list[socket.socket]) -> None:
            super().__init__(config, sockets)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, self._stop)

        def _stop(self, number: int, frame: FrameType | None) -> None:
            refuse_new(self.sockets)
            self.signal_queue.append(number)

        def terminate_all(self) -> None:
            stopping = _Stopping(self.sockets)
            while stopping.has_to_wait():
                time.sleep(_LOOK)
            for one in self.sockets:
                one.close()
            super().terminate_all()

    read_tokens(settings.token_file)
    Registry(settings.models).check()
    with tempfile.TemporaryDirectory(prefix="structlearn-") as folder:
        with_folder(settings, folder).to_environment()
        config = Config(
            "structlearn.serve.app:application",
            factory=True,
            host=settings.host,
            port=settings.port,
            workers=settings.workers,
            log_config=_logging(),
            **options(),
        )
        if settings.workers == 1:
            OneProcess(config).run()
        elif os.name == "nt":
            Workers(config, [config.bind_socket()]).run()
        else:
            Workers(config, [SharedSocket(fileno=config.bind_socket().detach())]).run()


class _Stopping:
    """The wait until all connections that have begun are taken; new ones are refused from now."""

    def __init__(self, sockets: Sequence[Any]) -> None:
        refuse_new(sockets)
        self._sockets, self._begin = sockets, time.monotonic()

    def has_to_wait(self) -> bool:
        """Whether connections may be on their way or wait, and there is time left."""
        seconds = time.monotonic() - self._begin
        return seconds < _BEGUN or (seconds < _TAKEN and n_waiting(self._sockets) > 0)


def options() -> dict[str, Any]:
    """Return how uvicorn treats connections."""
    from .connections import Connection

    return {
        "http": Connection,
        "ws": "none",
        "lifespan": "on",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "timeout_graceful_shutdown": _GRACE,
        "h11_max_incomplete_event_size": _HEAD,
    }


def _logging() -> dict[str, Any]:
    """Return where lines go: to standard error, those of requests too."""
    plain = {"handlers": ["stderr"], "level": "INFO", "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {"format": "%(asctime)s [%(process)d] %(levelname)s %(message)s"},
        },
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": "line"},
        },
        "loggers": {
            "uvicorn": plain,
            "structlearn.serve": plain,
            "structlearn.access": plain,
        },
    }
