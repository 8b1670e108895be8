"""``structlearn workbench``: serve the page until Ctrl-C."""

from __future__ import annotations

from ...printing import note, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["serve"]


def serve(o: Any) -> int:
    """Serve; the link goes to standard output."""
    from ...exceptions import FileError
    from ...workbench.server import make_server

    if o.port > 65535:
        raise ValueError(f"--port must be at most 65535, got {o.port}")
    try:
        server = make_server(o.port, o.models)
    except FileError:
        raise
    except OSError as error:
        raise ValueError(f"port {o.port} cannot be used: {error.strerror or error}") from None
    put(server.link)
    note("structlearn workbench: Ctrl-C ends it")
    if not o.no_browser:
        import webbrowser

        webbrowser.open(server.link)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        note("")
    finally:
        server.server_close()
    return 0
