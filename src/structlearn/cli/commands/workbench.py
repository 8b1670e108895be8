"""``structlearn workbench``: serve the page until Ctrl-C; pages of other commands, too."""

from __future__ import annotations

from ...printing import Results, note, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def serve(o: Any) -> int:
    """Serve the workbench."""
    from ...workbench.server import make_server

    return serve_page(o, lambda: make_server(o.port, o.models))


def serve_page(o: Any, make: Callable[[], Any], end: Callable[[], None] | None = None) -> int:
    """Serve until Ctrl-C, then end; the link goes to standard output."""
    from ...exceptions import FileError

    if o.port > 65535:
        raise ValueError(f"--port must be at most 65535, got {o.port}")
    try:
        server = make()
    except FileError:
        raise
    except OSError as error:
        raise ValueError(f"port {o.port} cannot be used: {error.strerror or error}") from None
    put(server.link)
    Results().flush()
    note(f"{server.command}: Ctrl-C ends it")
    if not o.no_browser:
        import webbrowser

        webbrowser.open(server.link)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        note("")
        if end is not None:
            end()
    finally:
        server.server_close()
    return 0
