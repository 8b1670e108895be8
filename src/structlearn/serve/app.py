"""The application: what each path answers, and what goes on beside the requests."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from ..exceptions import FileError
from .answers import answer
from .batching import Batcher
from .guard import Deadline, Guard, json_answer, read_body
from .metrics import Metrics
from .queries import read_query
from .refusals import Refused
from .registry import Registry
from .settings import Settings, check_packages

#: Seconds that a thread that computes keeps Python's lock while connections wait for it. Python's
#: own 5 ms pass at each turn: many requests had to wait for tens of them.
_TURN = 0.0005
_log = logging.getLogger("structlearn.serve")


def application() -> Any:
    """Return the application of a process of ``structlearn serve``."""
    # Answers say whether their probabilities are calibrated.
    warnings.filterwarnings("ignore", "the probabilities of this")
    sys.setswitchinterval(_TURN)
    return make_app(Settings.from_environment())


def make_app(settings: Settings) -> Any:
    """Return an ASGI application that serves models, for a server of your own.

    ``structlearn serve`` runs it with uvicorn, and bounds connections too. Its lifespan loads the
    models, and reads them again when their files change.

    Parameters
    ----------
    settings : Settings
        Address, workers and connections are the server's business.
    """
    check_packages()
    from starlette.routing import Route, Router

    service = _Service(settings)
    paths = {
        "/healthz": _Endpoint("GET", service.health),
        "/metrics": _Endpoint("GET", service.counts),
        "/v1/models": _Endpoint("GET", service.models),
        "/v1/predict": _Endpoint("POST", service.predict),
        "/v1/annotate": _Endpoint("POST", service.annotate),
    }

    async def nothing(scope: Any, receive: Any, send: Any) -> None:
        raise Refused(404, f"there is no such path; there are {', '.join(paths)}")

    # No more than a router: errors are answered by the guard, which knows what was sent already.
    routes = [Route(path, endpoint) for path, endpoint in paths.items()]
    app = Router(routes, redirect_slashes=False, default=nothing, lifespan=service.lifespan)
    return Guard(app, settings, service.metrics, set(paths))


class _Endpoint:
    """What answers the requests of one path, of one method."""

    def __init__(self, method: str, ask: Callable[..., Any]) -> None:
        self._methods = (method, "HEAD") if method == "GET" else (method,)
        self._ask = ask

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] not in self._methods:
            allowed = ", ".join(self._methods)
            raise Refused(405, f"this path answers {allowed} alone", {"Allow": allowed})
        await self._ask(scope, receive, send)


class _Service:
    """The models, the threads and the counts behind the paths."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics(settings.folder)
        self.registry = Registry(settings.models)

    @asynccontextmanager
    async def lifespan(self, app: Any) -> AsyncIterator[None]:
        """Load the models; look after them while the application runs."""
        self.batcher = Batcher(
            answer,
            self.settings.threads,
            self.settings.queue,
            lambda n: self.metrics.observe("batch_queries", n),
        )
        await asyncio.get_running_loop().run_in_executor(None, self.registry.load)
        for held in self.registry.all():
            self.metrics.count("model_loads_total", model=held.name, result="ok")
            _log.info("%s: %s, version %s", held.name, type(held.model).__name__, held.version)
        self.metrics.gauge("workers", 1)
        self.metrics.write()
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
            self.metrics.write()
            self.batcher.close()

    async def _watch(self) -> None:
        """Read models again when their files change, and write the counts."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self.settings.check_every)
            try:
                self.metrics.gauge("queue_queries", self.batcher.waiting)
                self.metrics.write()
                for name in self.registry.changed():
                    await loop.run_in_executor(None, self._reload, name)
            except Exception as error:
                _log.error("looking after the models failed", exc_info=error)

    def _reload(self, name: str) -> None:
        try:
            held = self.registry.reload(name)
        except FileError as error:
            self.metrics.count("model_loads_total", model=name, result="error")
            _log.error("%s: the file has changed, but cannot be used: %s", name, error)
        else:
            self.metrics.count("model_loads_total", model=name, result="ok")
            _log.info("%s: read again, version %s", name, held.version)

    # -- paths ----------------------------------------------------------------------------------

    async def health(self, scope: Any, receive: Any, send: Any) -> None:
        """Say that requests are answered."""
        await json_answer(send, 200, b'{"status": "ok"}', [])

    async def models(self, scope: Any, receive: Any, send: Any) -> None:
        """List the models."""
        found = [held.describe() for held in self.registry.all()]
        await json_answer(send, 200, json.dumps({"models": found}).encode(), [])

    async def counts(self, scope: Any, receive: Any, send: Any) -> None:
        """Show the counts of all processes."""
        from starlette.responses import Response

        self.metrics.gauge("queue_queries", self.batcher.waiting)
        kind = "text/plain; version=0.0.4; charset=utf-8"
        await Response(self.metrics.text(), media_type=kind)(scope, receive, send)

    async def predict(self, scope: Any, receive: Any, send: Any) -> None:
        """Predict the outputs of sentences of tokens."""
        await self._answer("predict", scope, receive, send)

    async def annotate(self, scope: Any, receive: Any, send: Any) -> None:
        """Annotate texts."""
        await self._answer("annotate", scope, receive, send)

    async def _answer(self, kind: str, scope: Any, receive: Any, send: Any) -> None:
        limits = self.settings
        body = await read_body(scope, receive, limits.max_body, limits.timeout)
        query = read_query(kind, body, self.registry)
        try:
            with Deadline(limits.timeout):
                found = await self.batcher.run(query)
        except asyncio.TimeoutError:
            raise Refused(
                503, f"no answer within {limits.timeout:g} seconds: send less, or try again"
            ) from None
        self.metrics.count("inputs_total", len(query.inputs), model=query.held.name)
        await json_answer(send, 200, found, [])
