"""The workbench's server: labs, and models to try on text."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import parse_qs

from ..traces.trace import plain
from .labs import ask
from .local_server import HEADER, LocalHandler, LocalServer
from .models import MOST_BYTES, Models

__all__ = ["HEADER", "WorkbenchServer", "make_server"]

#: Seconds for an upload to arrive.
UPLOAD_PATIENCE = 120.0


class WorkbenchServer(LocalServer):
    """A server with its models. What a lab computes is bounded by the sizes that it takes."""

    command = "structlearn workbench"
    homes = ("structlearn.workbench",)

    def __init__(self, port: int, models: Models) -> None:
        super().__init__(port, _Handler)
        self.models = models

    def answer(self, name: str, values: Any) -> Any:
        """Return the answer of a lab, or the names of the models."""
        if name == "models":
            return {"models": self.models.names()}
        return plain(ask(name, values, self.models))


class _Handler(LocalHandler):
    server: WorkbenchServer

    def _special(self, path: str, query: str) -> bool:
        """Take a model that is uploaded."""
        if path != "/api/upload":
            return False
        name = parse_qs(query).get("name", ["model"])[0]
        self.arrival.deadline = time.monotonic() + UPLOAD_PATIENCE
        content = self._body(MOST_BYTES)
        with self._place():
            held = self.server.models.upload(name, content)
        self._send_json({"name": held, "models": self.server.models.names()})
        return True


def make_server(port: int = 0, paths: list[str] | None = None) -> WorkbenchServer:
    """Return a server that has begun to listen; ``serve_forever`` answers.

    Parameters
    ----------
    port : int, default=0
        0 takes a free one.
    paths : list of str, optional
        Model files.
    """
    return WorkbenchServer(port, Models(paths))
