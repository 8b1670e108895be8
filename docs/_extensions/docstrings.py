"""Sphinx hooks for docstrings: references by short names, and attributes in one sentence."""

from __future__ import annotations

import re
from typing import Any

#: First lines of attributes that are sentences, not types, as "Whether it is exact: proven".
_SENTENCES = ("attribute", "data", "property")


def keep(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Remember the text of an attribute, before napoleon takes the part before ":" for a type."""
    if what in _SENTENCES:
        app.structlearn_kept = list(lines)


def restore(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Put the text back."""
    if what in _SENTENCES:
        lines[:] = app.structlearn_kept


def resolve(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Resolve a short name in a docstring; None if there is no target, which is a warning.

    ``Chain`` is the only public object of that name; a module inside a public one leads to the page
    of the public one; names of other packages are plain text.
    """
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"].lstrip("~.")
    if target.split(".")[0] in ("sklearn", "numpy", "scipy", "matplotlib"):
        return content
    domain = env.get_domain("py")
    tail = "." + target.removeprefix("structlearn.")
    targets = sorted((n, o) for n, o in domain.objects.items() if f".{n}".endswith(tail))
    if "." not in target:
        targets = [
            (n, o) for n, o in targets if n.count(".") == 2
        ] or targets  # classes before methods
    page = None
    if targets and len({o.docname for _, o in targets}) == 1:
        page, anchor = targets[0][1].docname, targets[0][1].node_id
    elif node["reftype"] == "mod" or target.startswith("structlearn."):
        home = next((part for part in target.split(".") if part != "structlearn"), "")
        if f"reference/{home}" in env.found_docs:
            page, anchor = f"reference/{home}", ""
    if page is None:
        return None
    from sphinx.util.nodes import make_refnode

    return make_refnode(app.builder, node["refdoc"], page, anchor, content)


#: Methods that scikit-learn adds to every estimator for its own use.
_ROUTING = re.compile(r"set_\w+_request|get_metadata_routing")


def skip(app: Any, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out inherited members from outside the library, such as those of tuples and lists."""
    builtin = getattr(obj, "__objclass__", None) in (tuple, list, dict)
    builtin = builtin or getattr(obj, "__module__", None) in ("_collections_abc", "collections.abc")
    return True if builtin or _ROUTING.fullmatch(name) else None


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", keep, priority=400)
    app.connect("autodoc-process-docstring", restore, priority=600)
    app.connect("autodoc-skip-member", skip)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
