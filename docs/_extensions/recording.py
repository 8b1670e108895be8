"""Labs of the workbench with recorded answers, as HTML and one script; needs no Sphinx.

The page's modules become one script, because pages opened as files cannot load modules. Answers are
computed by the labs themselves while the site is built.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files

from recorded_states import RECORDED

from structlearn.traces.trace import plain
from structlearn.workbench.labs import ask
from structlearn.workbench.models import Models

__all__ = ["RECORDED", "bundle", "embedded"]

_IMPORT = re.compile(r'^import \{ ([^}]*) \} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:function|const) (\w+)", re.MULTILINE)


def bundle(entry: str = "embed") -> str:
    """Return a module and all its imports as one script, each in its own scope."""
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
