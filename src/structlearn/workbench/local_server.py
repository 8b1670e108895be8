"""The server of a page: this machine only, with a token, and every request bounded.

* It listens on 127.0.0.1. Requests whose Host is another name are refused, so that a foreign page
  that makes its own name point here (DNS rebinding) gets nothing; so are requests from another
  Origin.
* What computes asks for the token of the link that the command prints, in a header that other pages
  cannot send. The page's own files hold nothing and need none.
* A request has at most 256 kB (a subclass may take more), 20 seconds to arrive, and a place among
  32 that are answered at a time. What is computed is bounded by the sizes that a page may send.
"""

from __future__ import annotations

import html
import io
import json
import re
import secrets
import socket
import threading
import time
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from ..exceptions import InfeasibleError
from .requests import Refused

#: The header that holds the token.
HEADER = "X-Structlearn-Token"
MOST_REQUEST_BYTES = 256 * 1024
#: Seconds for a whole request to arrive, or for a kept connection to say something.
PATIENCE = 20.0
#: Connections at a time, and requests that are computed at a time.
MOST_CONNECTIONS, MOST_AT_A_TIME = 256, 32
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

#: What a browser's window shows of an error.
_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{command}</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="workbench.css"></head>
<body><header><h1>{command}</h1></header>
<main class="workbench"><p class="wrong" role="alert">{error}.</p></main></body>
</html>
"""


class Stop(Exception):
    """An answer that is an error."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class LocalServer(ThreadingHTTPServer):
    """A server with its token. A subclass says what the page is, and answers what it asks."""

    daemon_threads = True
    request_queue_size = 128
    #: The command that prints the link.
    command: str
    #: Packages whose folder ``page`` has the page's files; the first one that has a file counts.
    homes: Sequence[str]
    #: Of a request.
    most_bytes = MOST_REQUEST_BYTES

    def __init__(self, port: int, handler: type[LocalHandler] | None = None) -> None:
        super().__init__(("127.0.0.1", port), handler or LocalHandler)
        self.token = secrets.token_urlsafe(24)
        self.connections = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self.places = threading.BoundedSemaphore(MOST_AT_A_TIME)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.server_address[1])

    @property
    def link(self) -> str:
        """The address of the page, with the token."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def answer(self, name: str, values: Any) -> Any:
        """Return what the page gets for ``/api/name``; LookupError where there is no such thing."""
        raise NotImplementedError

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer on a thread of its own, or hang up where too many are connected."""
        if not self.connections.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and give the place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a page that goes away in the middle of an answer is no error."""


class LocalHandler(BaseHTTPRequestHandler):
    """Answers one connection."""

    server: LocalServer
    protocol_version = "HTTP/1.1"
    server_version = "structlearn"
    sys_version = ""
    timeout = PATIENCE

    def setup(self) -> None:
        super().setup()
        self.arrival = _Arrival(self.connection)
        self.rfile = io.BufferedReader(self.arrival)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def handle_one_request(self) -> None:
        """Answer one request; all of it has to arrive in time."""
        self.arrival.deadline = time.monotonic() + PATIENCE
        super().handle_one_request()

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""

    # -- what is asked for ----------------------------------------------------------------------

    def do_GET(self) -> None:
        """Give a file of the page."""
        self._answer(self._file)

    def do_HEAD(self) -> None:
        """Give its headers."""
        self._answer(self._file)

    def do_POST(self) -> None:
        """Compute."""
        self._answer(self._compute)

    def _answer(self, make: Any) -> None:
        try:
            self._check_source()
            make()
        except Stop as stop:
            if self.command == "GET" and "text/html" in self.headers.get("Accept", ""):
                self._send_page(str(stop), stop.status)
            else:
                self._send_json({"error": str(stop)}, stop.status)
        except (Refused, InfeasibleError) as error:
            self._send_json({"error": str(error)}, HTTPStatus.UNPROCESSABLE_ENTITY)
        except (TimeoutError, ConnectionError):
            self.close_connection = True
        except (ValueError, MemoryError) as error:  # of the library: what was wrong with the input
            self._send_json({"error": str(error)}, HTTPStatus.UNPROCESSABLE_ENTITY)
        except Exception as error:  # a fault of ours; the page says so, and the server goes on
            message = f"this should not happen: {type(error).__name__}: {error}"
            self._send_json({"error": message}, HTTPStatus.INTERNAL_SERVER_ERROR)

    def _check_source(self) -> None:
        """Refuse other names for this machine, and other pages."""
        hosts = self.headers.get_all("Host") or []
        known = {f"127.0.0.1:{self.server.port}", f"localhost:{self.server.port}"}
        if len(hosts) != 1 or hosts[0] not in known:
            self.close_connection = True
            raise Stop(HTTPStatus.MISDIRECTED_REQUEST, "this server answers to 127.0.0.1 only")
        origin = self.headers.get("Origin")
        site = self.headers.get("Sec-Fetch-Site")
        foreign = origin is not None and origin not in {f"http://{host}" for host in known}
        if foreign or site in ("cross-site", "same-site"):
            # A link to the page may be followed from anywhere.
            followed = self.command == "GET" and self.headers.get("Sec-Fetch-Mode") == "navigate"
            if foreign or not followed:
                self.close_connection = True
                raise Stop(HTTPStatus.FORBIDDEN, "requests from other pages are not answered")

    def _file(self) -> None:
        parts = urlsplit(self.path)
        name = unquote(parts.path).lstrip("/") or "index.html"
        found = re.fullmatch(r"[a-z_]+\.(html|css|js|svg)", name)
        pages = [files(home).joinpath("page").joinpath(name) for home in self.server.homes]
        page = next((one for one in pages if found and one.is_file()), None)
        if not found or page is None:
            raise Stop(HTTPStatus.NOT_FOUND, "there is no such page")
        if name == "index.html":
            given = parse_qs(parts.query).get("token", [""])[0]
            if not secrets.compare_digest(given.encode(), self.server.token.encode()):
                raise Stop(
                    HTTPStatus.FORBIDDEN,
                    f"the link lacks its token: open the one that {self.server.command} printed",
                )
        self._send(page.read_bytes(), _TYPES[found[1]] + "; charset=utf-8", HTTPStatus.OK)

    def _compute(self) -> None:
        parts = urlsplit(self.path)
        given = self.headers.get(HEADER, "")
        if not secrets.compare_digest(given.encode("utf-8", "replace"), self.server.token.encode()):
            self.close_connection = True
            raise Stop(HTTPStatus.FORBIDDEN, "the token is missing or wrong")
        if self._special(parts.path, parts.query):
            return
        found = re.fullmatch(r"/api/([a-z]+)", parts.path)
        if not found:
            raise Stop(HTTPStatus.NOT_FOUND, "there is no such lab")
        body = self._body(self.server.most_bytes)
        try:
            values = json.loads(body, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            raise Stop(HTTPStatus.BAD_REQUEST, "the request is no JSON") from None
        with self._place():
            answer = self.server.answer(found[1], values)
        self._send_json(answer)

    def _special(self, path: str, query: str) -> bool:
        """Answer what is not JSON; tell whether it was."""
        return False

    def _place(self) -> _Place:
        return _Place(self.server.places)

    def _body(self, most: int) -> bytes:
        """Return what was sent; refuse it unread where it is too long, or does not say how long."""
        given = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not re.fullmatch(r"\d{1,12}", given):
            self.close_connection = True
            raise Stop(HTTPStatus.LENGTH_REQUIRED, "a request says how long it is")
        if int(given) > most:
            self.close_connection = True
            raise Stop(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the request has {int(given):,} bytes; the limit is {most:,}",
            )
        body = self.rfile.read(int(given))
        if len(body) < int(given):
            raise ConnectionError("the request ended early")
        return body

    # -- answers --------------------------------------------------------------------------------

    def _send_page(self, error: str, status: HTTPStatus) -> None:
        """Say in a browser's window what was wrong."""
        said = html.escape(error[0].upper() + error[1:])
        text = _PAGE.format(command=self.server.command, error=said)
        self._send(text.encode(), _TYPES["html"] + "; charset=utf-8", status)

    def _send_json(self, value: Any, status: HTTPStatus = HTTPStatus.OK) -> None:
        if status is not HTTPStatus.OK and self.command == "POST" and not self.close_connection:
            # What was not read of a request would be taken for the next one.
            self.close_connection = status is not HTTPStatus.UNPROCESSABLE_ENTITY
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        self._send(text.encode("utf-8", "replace"), "application/json; charset=utf-8", status)

    def _send(self, content: bytes, kind: str, status: HTTPStatus) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cache-Control", "no-store")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


class _Arrival(io.RawIOBase):
    """What comes in, until a deadline: bytes that drip in one by one do not move it."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.deadline = 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request takes too long to arrive")
        self.connection.settimeout(left)
        try:
            return self.connection.recv_into(buffer)
        finally:
            self.connection.settimeout(PATIENCE)


class _Place:
    """A place among those that compute; waits for one, but not for ever."""

    def __init__(self, places: threading.BoundedSemaphore) -> None:
        self.places = places

    def __enter__(self) -> None:
        if not self.places.acquire(timeout=PATIENCE):
            raise Stop(HTTPStatus.SERVICE_UNAVAILABLE, "too many requests at a time: try again")

    def __exit__(self, *_: Any) -> None:
        self.places.release()


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")
