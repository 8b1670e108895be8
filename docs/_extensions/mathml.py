"""Formulas as MathML: browsers show it as it stands, without scripts and without a network.

docutils translates LaTeX; what it cannot read is a warning, and warnings end the build.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def translate(node: Any, *, as_block: bool) -> str:
    """Return the MathML of a formula."""
    try:
        return str(latex2mathml.tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        logger.warning("%s in the formula %r", error, node.astext(), location=node)
        return f"<code>{node.astext()}</code>"


def visit_inline(self: Any, node: Any) -> None:
    following = node.next_node(descend=False, siblings=True)
    # A word joiner, so that no line begins with the comma after a formula.
    joined = "&#8288;" if following is not None and following.astext()[:1] in set(".,;:)!?") else ""
    self.body.append(f'<span class="math">{translate(node, as_block=False)}</span>{joined}')
    raise nodes.SkipNode


def visit_block(self: Any, node: Any) -> None:
    self.body.append(f'<div class="math-block">{translate(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
