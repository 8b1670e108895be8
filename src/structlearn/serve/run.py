"""The processes of ``structlearn serve``."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from .registry import Registry
from .settings import Settings, check_packages, read_tokens, with_folder
from .shared_socket import SharedSocket

#: Bytes of the head of a request.
_HEAD = 16 * 1024
#: Seconds for requests that are being answered when the server is stopped.
_GRACE = 30


def serve(settings: Settings) -> None:
    """Serve until a signal says to stop; what is wrong with models or tokens is raised first."""
    check_packages()
    from uvicorn import Config, Server
    from uvicorn.supervisors import Multiprocess

    class Workers(Multiprocess):
        """Processes of which none is asked any more when they are told to stop."""

        def terminate_all(self) -> None:
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
            Server(config).run()
        elif os.name == "nt":
            Workers(config, [config.bind_socket()]).run()
        else:
            Workers(config, [SharedSocket(fileno=config.bind_socket().detach())]).run()


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
