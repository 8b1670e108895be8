"""How docstrings are read: their references by short names, and attributes in one sentence."""

from __future__ import annotations

import re
from typing import Any

#: What a docstring is not a list of types for: "Whether it is exact: proven" is a sentence.
_SENTENCES = ("attribute", "data", "property")


def keep(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Remember the text of an attribute before napoleon takes what stands before ":" for a type."""
    if what in _SENTENCES:
        app.structlearn_kept = list(lines)


def restore(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Put it back."""
    if what in _SENTENCES:
        lines[:] = app.structlearn_kept


def resolve(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Find what a docstring names in short, or return None: then it is a warning.

    ``Chain`` is the one public object of that name, wherever it is named; a module inside a public
    one is the page of the latter; names of other packages are plain text.
    """
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"].lstrip("~.")
    if target.split(".")[0] in ("sklearn", "numpy", "scipy", "matplotlib"):
        return content
    domain = env.get_domain("py")
    tail = "." + target.removeprefix("structlearn.")
    found = sorted((n, o) for n, o in domain.objects.items() if f".{n}".endswith(tail))
    if "." not in target:
        found = [(n, o) for n, o in found if n.count(".") == 2] or found  # classes before methods
    page = None
    if found and len({o.docname for _, o in found}) == 1:
        page, anchor = found[0][1].docname, found[0][1].node_id
    elif node["reftype"] == "mod" or target.startswith("structlearn."):
        home = next((part for part in target.split(".") if part != "structlearn"), "")
        if f"reference/{home}" in env.found_docs:
            page, anchor = f"reference/{home}", ""
    if page is None:
        return None
    from sphinx.util.nodes import make_refnode

    return make_refnode(app.builder, node["refdoc"], page, anchor, content)


#: What scikit-learn adds to every estimator for its own use.
_ROUTING = re.compile(r"set_\w+_request|get_metadata_routing")


def skip(app: Any, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out members that are not the library's own, or no news: those of tuples and lists."""
    builtin = getattr(obj, "__objclass__", None) in (tuple, list, dict)
    builtin = builtin or getattr(obj, "__module__", None) in ("_collections_abc", "collections.abc")
    return True if builtin or _ROUTING.fullmatch(name) else None


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", keep, priority=400)
    app.connect("autodoc-process-docstring", restore, priority=600)
    app.connect("autodoc-skip-member", skip)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
