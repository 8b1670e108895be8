"""Formulas as MathML, which browsers display without scripts and without a network.

docutils translates LaTeX; LaTeX it cannot read is a warning, and warnings fail the build.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

#: Brackets that must grow with their content only after \\left and \\right.
_BRACKETS = re.compile(r"<mo( [^>]*)?>([⟨⟩‖])</mo>")


def translate(node: Any, *, as_block: bool) -> str:
    """Return the MathML of a formula."""
    try:
        markup = str(latex2mathml.tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        logger.warning("%s in the formula %r", error, node.astext(), location=node)
        return f"<code>{node.astext()}</code>"
    return _BRACKETS.sub(r'<mo\1 stretchy="false" lspace="0" rspace="0">\2</mo>', markup)


def visit_inline(self: Any, node: Any) -> None:
    formula = translate(node, as_block=False)
    self.body.append(f'<span class="math">{formula}{node.get("following", "")}</span>')
    raise nodes.SkipNode


def visit_block(self: Any, node: Any) -> None:
    self.body.append(f'<div class="math-block">{translate(node, as_block=True)}</div>')
    raise nodes.SkipNode


def join_punctuation(app: Any, doctree: Any, docname: str) -> None:
    """Move the comma after a formula into the formula, so that no line begins with it."""
    for node in list(doctree.findall(nodes.math)):
        at = node.parent.index(node) + 1
        after = node.parent[at] if at < len(node.parent) else None
        if isinstance(after, nodes.Text) and after[:1] in {".", ",", ";", ":", ")", "?"}:
            node["following"] = after[0]
            node.parent.replace(after, nodes.Text(after[1:]))


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("doctree-resolved", join_punctuation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
