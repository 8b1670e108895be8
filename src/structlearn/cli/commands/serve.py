"""``structlearn serve``: answer requests until a signal says to stop."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def serve(o: Any) -> int:
    """Serve."""
    from ...serve.run import serve as run
    from ...serve.settings import Settings, named_models

    run(
        Settings(
            named_models(o.models),
            host=o.host,
            port=o.port,
            workers=o.workers,
            threads=o.threads,
            token_file=o.token_file,
            hosts=tuple(o.allow_host),
            max_body=o.max_body,
            timeout=o.timeout,
            queue=o.queue,
            connections=o.connections,
            access_log=not o.no_access_log,
        )
    )
    return 0
