"""Arguments of ``structlearn serve``."""

from __future__ import annotations

from .values import count, seconds

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_serve(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn serve``."""
    p.add_argument(
        "models",
        metavar="[NAME=]MODEL",
        nargs="+",
        help="model files, or names of packages; requests call a model NAME, by default as its "
        "file",
    )
    p.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    p.add_argument(
        "--port", type=count(0, 65535), default=8000, help="port to listen on (default: 8000)"
    )
    p.add_argument(
        "--workers", metavar="N", type=count(1, 256), default=1, help="processes (default: 1)"
    )
    p.add_argument(
        "--threads",
        metavar="N",
        type=count(1, 256),
        default=1,
        help="threads that compute in each process (default: 1)",
    )
    p.add_argument(
        "--token-file",
        metavar="FILE",
        help="tokens, one on each line; requests must have one (Authorization: Bearer TOKEN). "
        "Needed for any address but 127.0.0.1",
    )
    p.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="name that requests may call this server by, besides its address; * for any (may be "
        "repeated)",
    )
    p.add_argument(
        "--max-body",
        metavar="BYTES",
        type=count(1),
        default=1 << 20,
        help="size of a request (default: 1048576)",
    )
    p.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        default=30.0,
        help="time for a request to arrive, and for its answer (default: 30)",
    )
    p.add_argument(
        "--queue",
        metavar="N",
        type=count(1),
        default=128,
        help="requests of each process that may wait; more get the status 429 (default: 128)",
    )
    p.add_argument(
        "--connections",
        metavar="N",
        type=count(1),
        default=256,
        help="open connections of each process; more get the status 503 (default: 256)",
    )
    p.add_argument(
        "--no-access-log", action="store_true", help="do not print a line for each request"
    )
