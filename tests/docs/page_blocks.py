"""Code blocks of Markdown pages: how they are found, and how they are run.

A page is a story: its ``python`` blocks share one namespace, from top to bottom. A ``text`` block
right after one is what it prints. ``sh`` blocks are commands, run in a folder that the pages' names
of files exist in.
"""

import contextlib
import io
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One block: its language, its content, the line it begins at, and what follows it at once."""

    language: str
    content: str
    line: int
    output: str | None


def blocks_of(path):
    """Return the blocks of a page in order; a block that shows output belongs to the one before."""
    text = path.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    blocks = []
    for i, match in enumerate(found):
        following = found[i + 1] if i + 1 < len(found) else None
        output = None
        if following is not None and following[1] == "text":
            between = text[match.end() : following.start()]
            output = following[2] if not between.strip() else None
        line = text.count("\n", 0, match.start()) + 1
        blocks.append(Block(match[1], match[2], line, output))
    return blocks


def tidy(text):
    """Return lines without blanks at their ends."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def run_python(path, blocks=None):
    """Run the Python blocks of a page; yield each with what it printed."""
    namespace = {"__name__": path.stem}
    for block in blocks_of(path) if blocks is None else blocks:
        if block.language != "python":
            continue
        printed = io.StringIO()
        code = "\n" * block.line + block.content  # so that errors name the page's lines
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(path), "exec"), namespace)
        yield block, printed.getvalue()
