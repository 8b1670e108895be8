"""A solution with its certificate, for notebooks."""

from __future__ import annotations

from typing import Any

from ..printing import escape
from .grids import draw_grid

__all__ = ["solution_html"]

_STYLE = (
    ".sl-solution{font:13px/1.45 system-ui,sans-serif}"
    ".sl-solution th{text-align:left;padding-right:1em;opacity:.7;font-weight:600}"
    ".sl-solution pre{margin:0;white-space:pre-wrap}"
)


def solution_html(solution: Any) -> str:
    """Return value, certificate and output as HTML; labels of a grid are drawn."""
    output = solution.output
    grid = getattr(output, "ndim", 0) == 2 and output.dtype.kind == "i" and min(output.shape) > 1
    # Two columns are a list of edges, not a picture.
    if grid and output.shape[1] > 2:
        picture = draw_grid(output).svg
    else:
        picture = f"<pre>{escape(_short(repr(output)))}</pre>"
    if solution.exact:
        proof = "the best there is"
    else:
        proof = f"not proven the best; none is above {solution.bound:.6g}"
    rows = (
        ("value", f"{solution.value:.6g}"),
        ("proof", proof),
        ("method", str(solution.method)),
    )
    body = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in rows)
    return (
        f'<div class="sl-solution"><style>{_STYLE}</style><table>{body}'
        f"<tr><th>output</th><td>{picture}</td></tr></table></div>"
    )


def _short(text: str) -> str:
    return text if len(text) <= 2000 else f"{text[:2000]} …"
