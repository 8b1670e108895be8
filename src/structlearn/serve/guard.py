"""The door of a server: who may ask, how much and how long; every request is logged and counted."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from ..printing import visible
from .metrics import Metrics
from .refusals import Refused
from .settings import Settings, read_tokens

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_access = logging.getLogger("structlearn.access")
_log = logging.getLogger("structlearn.serve")
#: Answers for probes of an orchestra, which know neither names nor tokens; it tells nothing.
_OPEN = "/healthz"
#: Seconds and bytes for which the rest of a refused body is read, so that the refusal is seen.
_LINGER, _LINGER_BYTES = 2.0, 1 << 27


class Guard:
    """Checks requests before an application sees them, and turns refusals into answers.

    Parameters
    ----------
    app : ASGI application
    settings : Settings
    metrics : Metrics
    paths : set of str
        Those that are counted by name.
    """

    def __init__(self, app: App, settings: Settings, metrics: Metrics, paths: set[str]) -> None:
        self._app, self._metrics, self._paths = app, metrics, paths
        self._hosts = settings.known_hosts
        self._tokens = read_tokens(settings.token_file)
        self._logged = settings.access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, status, n_bytes, whole = time.perf_counter(), 0, 0, False

        async def counted(message: Message) -> None:
            nonlocal status, n_bytes
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                n_bytes += len(message.get("body", b""))
            await send(message)

        async def watched() -> Message:
            nonlocal whole
            message = await receive()
            whole = whole or not message.get("more_body", False)
            return message

        try:
            try:
                self._check(scope)
                await self._app(scope, watched, counted)
            except Refused as refused:
                error = refused
            except Exception as fault:
                if status:
                    raise  # half of an answer is sent
                _log.error("a request failed", exc_info=fault)
                error = Refused(500, "this should not happen: the log of the server has the reason")
            else:
                return
            if not status:
                await _refuse(error, watched, counted, has_body=_has_body(scope) and not whole)
        finally:
            self._tell(scope, status, n_bytes, time.perf_counter() - begin)

    def _check(self, scope: Scope) -> None:
        """Refuse other names for this machine, and those without a token."""
        if scope["path"] == _OPEN:
            return
        hosts = _headers(scope, b"host")
        if len(hosts) != 1 or not self._is_known(hosts[0]):
            raise Refused(
                421, "this server does not answer to that name: --allow-host NAME adds one"
            )
        if not self._tokens:
            return
        given = _headers(scope, b"authorization")
        kind, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        if kind.lower() != b"bearer" or not any(
            secrets.compare_digest(token.strip(), known) for known in self._tokens
        ):
            raise Refused(
                401,
                "the token is missing or wrong: send Authorization: Bearer TOKEN",
                {"WWW-Authenticate": "Bearer"},
            )

    def _is_known(self, host: bytes) -> bool:
        name = host.decode("latin-1").strip().lower()
        if not name.endswith("]"):
            before, mark, port = name.rpartition(":")
            name = before if mark and port.isdigit() else name
        return "*" in self._hosts or name.strip("[]") in self._hosts

    def _tell(self, scope: Scope, status: int, n_bytes: int, seconds: float) -> None:
        path = scope["path"] if scope["path"] in self._paths else "other"
        self._metrics.count("requests_total", path=path, status=str(status))
        self._metrics.observe("request_seconds", seconds, path=path)
        if self._logged:
            client = ":".join(map(str, scope.get("client") or "-"))
            shown = visible(scope["path"])[:200]
            _access.info(
                "%s %s %s %s %s B %.1f ms",
                client, scope["method"], shown, status, n_bytes, seconds * 1e3,
            )  # fmt: skip


class Deadline:
    """Ends what is awaited within it after some seconds, by asyncio.TimeoutError.

    As asyncio.wait_for does, which starts a task of its own for each; Python 3.10 has no timeout.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds, self._late = seconds, False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._end)

    def _end(self) -> None:
        self._late = True
        self._task.cancel()

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        self._timer.cancel()
        if self._late and kind is asyncio.CancelledError:
            if hasattr(self._task, "uncancel"):
                self._task.uncancel()
            raise asyncio.TimeoutError from None


def _headers(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key == name]


def _has_body(scope: Scope) -> bool:
    lengths = _headers(scope, b"content-length")
    return bool(_headers(scope, b"transfer-encoding")) or (bool(lengths) and lengths != [b"0"])


async def json_answer(
    send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]], *, more: bool = False
) -> None:
    """Send an answer in JSON; ``more``: it is ended later."""
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"cache-control", b"no-store"),
                (b"x-content-type-options", b"nosniff"),
                *headers,
            ],
        }
    )
    await send({"type": "http.response.body", "body": body, "more_body": more})


async def _refuse(error: Refused, receive: Receive, send: Send, *, has_body: bool) -> None:
    """Send a refusal; what was not read of the request is read for a while, and dropped.

    To close a connection while the other side is sending would take the refusal away from it.
    """
    headers = [(name.lower().encode(), value.encode()) for name, value in error.headers.items()]
    body = json.dumps({"error": str(error)}).encode()
    if not has_body:
        await json_answer(send, error.status, body, headers)
        return
    await json_answer(send, error.status, body, [*headers, (b"connection", b"close")], more=True)

    async def drop() -> None:
        n_dropped = 0
        while n_dropped < _LINGER_BYTES:
            message = await receive()
            n_dropped += len(message.get("body", b""))
            if not message.get("more_body", False):
                return

    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(drop(), _LINGER)
    await send({"type": "http.response.body", "body": b""})


async def read_body(scope: Scope, receive: Receive, most: int, seconds: float) -> bytes:
    """Return the body of a request; refuse what is too long, too slow, or not JSON."""
    kinds = _headers(scope, b"content-type")
    kind = kinds[0].partition(b";")[0].strip().lower() if len(kinds) == 1 else b""
    if kind != b"application/json":
        raise Refused(415, "the body must be JSON: send Content-Type: application/json")
    if _headers(scope, b"content-encoding"):
        raise Refused(415, "the body must not be compressed")
    too_long = Refused(413, f"the body is too long; the limit is {most:,} bytes")
    lengths = _headers(scope, b"content-length")
    if lengths and (len(lengths) > 1 or not lengths[0].isdigit() or int(lengths[0]) > most):
        raise too_long

    pieces, size, more = [], 0, True
    try:
        with Deadline(seconds):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refused(499, "the client has gone")
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if size > most:
                    raise too_long
                more = message.get("more_body", False)
        return b"".join(pieces)
    except asyncio.TimeoutError:
        raise Refused(408, f"the body did not arrive within {seconds:g} seconds") from None
