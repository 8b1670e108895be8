"""``{lab} name``: a lab of the workbench in a page, with recorded steps; no server, no network.

The page's modules become one script: pages that are opened as files cannot load modules. Answers
are computed while the site is built, by the labs themselves.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from docutils import nodes
from recorded_states import RECORDED
from sphinx.util.docutils import SphinxDirective

from structlearn.traces.trace import plain
from structlearn.workbench.labs import ask
from structlearn.workbench.models import Models

_IMPORT = re.compile(r'^import \{ ([^}]*) \} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:function|const) (\w+)", re.MULTILINE)


def bundle(entry: str = "embed") -> str:
    """Return a module and all that it imports as one script, each in a scope of its own."""
    folder = files("structlearn.workbench").joinpath("page")
    done: dict[str, str] = {}

    def add(name: str) -> None:
        text = folder.joinpath(f"{name}.js").read_text(encoding="utf-8")
        for _, other in _IMPORT.findall(text):
            if other not in done:
                add(other)
        exported = ", ".join(_EXPORT.findall(text))
        body = _IMPORT.sub(r"const { \1 } = $\2;\n", text)
        body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
        done[name] = f"const ${name} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();\n"

    add(entry)
    return "(() => {\n" + "".join(done.values()) + "})();\n"


def embedded(name: str) -> str:
    """Return the HTML of a recorded lab."""
    lab, states = RECORDED[name]
    models = Models()
    recorded = []
    for title, state in states:
        answer = plain(ask(lab, state, models))
        recorded.append({"title": title, "state": state, "answer": answer})
    text = json.dumps(recorded, ensure_ascii=False, allow_nan=False).replace("</", "<\\/")
    data = f'<script type="application/json">{text}</script>'
    return f'<div class="workbench recorded" data-lab="{lab}">{data}</div>'


class Lab(SphinxDirective):
    """``{lab} name``: a lab of :data:`RECORDED`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", embedded(self.arguments[0]), format="html")]


def write_files(app: Any) -> None:
    """Put the script and the style sheet among the site's files."""
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "labs.js").write_text(bundle(), encoding="utf-8")
    style = files("structlearn.workbench").joinpath("page", "workbench.css")
    (folder / "workbench.css").write_text(style.read_text(encoding="utf-8"), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("lab", Lab)
    app.connect("builder-inited", write_files)
    app.add_css_file("workbench.css")
    app.add_js_file("labs.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
