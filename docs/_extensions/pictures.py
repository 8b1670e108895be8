"""Two directives with content generated from the library while the site is built.

``picture`` puts an SVG of ``drawn`` into the page itself, so that it uses the page's colours,
light or dark. ``command-help`` prints the help of the command line.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import Any

import drawn
from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class Picture(SphinxDirective):
    """``{picture} name``: the SVG that ``drawn.name()`` returns, with the content as a caption."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        svg = drawn.PICTURES[self.arguments[0]]()
        figure = nodes.figure("", nodes.raw("", f'<div class="drawn">{svg}</div>', format="html"))
        if self.content:
            caption = nodes.caption("", "")
            text, messages = self.state.inline_text(" ".join(self.content), self.lineno)
            caption += [*text, *messages]
            figure += caption
        return [figure]


class CommandHelp(SphinxDirective):
    """``{command-help}``: one section for each command, with its help text."""

    def run(self) -> list[nodes.Node]:
        os.environ["COLUMNS"] = "86"
        from structlearn.cli import COMMANDS
        from structlearn.cli.arguments import make_parser

        return [self.section(parser) for parser in leaves(make_parser(COMMANDS))]

    def section(self, parser: argparse.ArgumentParser) -> nodes.section:
        title = parser.prog
        section = nodes.section(ids=[title.replace(" ", "-")], names=[title])
        section += nodes.title("", title)
        text = parser.format_help()
        section += nodes.literal_block(text, text, language="none")
        return section


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of the commands without subcommands."""
    parser.format_help()  # arguments are added on demand
    below = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not below:
        yield parser
    for action in below:
        for child in action.choices.values():
            yield from leaves(child)


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("picture", Picture)
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
