"""``{lab} name``: a lab of the workbench in a page, with recorded steps and without a server."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from docutils import nodes
from recording import bundle, embedded
from sphinx.util.docutils import SphinxDirective


class Lab(SphinxDirective):
    """``{lab} name``: a lab of :data:`RECORDED`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", embedded(self.arguments[0]), format="html")]


def write_files(app: Any) -> None:
    """Add the script and the style sheet to the site's files."""
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "labs.js").write_text(bundle(), encoding="utf-8")
    style = files("structlearn.workbench").joinpath("page").joinpath("workbench.css")
    (folder / "workbench.css").write_text(style.read_text(encoding="utf-8"), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("lab", Lab)
    app.connect("builder-inited", write_files)
    app.add_css_file("workbench.css")
    app.add_js_file("labs.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
