"""The parser of arguments: commands filled on demand, help that ends with examples."""

from __future__ import annotations

import argparse
import os

from ...printing import put, visible

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn


class Version(argparse.Action):
    """Prints the version and what was built, looked up only when asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(
            option_strings, dest, nargs=0, help="show the version and how it was built, and exit"
        )

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from ..build_facts import build_facts

        put("\n".join(build_facts()))
        parser.exit()


class _Formatter(argparse.HelpFormatter):
    """Finds the width without shutil, whose import takes a tenth of the time of a prediction."""

    def __init__(self, prog: str) -> None:
        try:
            columns = int(os.environ.get("COLUMNS") or os.get_terminal_size(1).columns)
        except (OSError, ValueError):
            columns = 100
        super().__init__(prog, max_help_position=28, width=max(60, min(columns, 120)) - 2)


def _suggestion(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, known, 1)
    return f"; did you mean {close[0]}?" if close else ""


class Parser(argparse.ArgumentParser):
    """An argument parser with that formatter, also for the commands."""

    #: Adds the arguments, once they are needed: one command of many is called.
    fill: Callable[[Parser], None] | None = None

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Formatter, allow_abbrev=False, **options)

    def _complete(self) -> None:
        if self.fill is not None:
            fill, self.fill = self.fill, None
            fill(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, with all arguments there."""
        self._complete()
        self._refuse_unknown([] if args is None else args)
        return super().parse_known_args(args, namespace)

    def _refuse_unknown(self, args: Sequence[str]) -> None:
        """Name an option that does not exist, before others are missed."""
        for text in args:
            if text == "--" or (self._subparsers is not None and not text.startswith("-")):
                return  # what follows is not this parser's
            name = text.split("=", 1)[0]
            if name.startswith("--") and name not in self._option_string_actions:
                options = [o for o in self._option_string_actions if o.startswith("--")]
                self.error(f"there is no option {name}{_suggestion(name, options)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is none of the choices."""
        if action.choices is not None and value not in action.choices:
            choices = [str(choice) for choice in action.choices]
            hint = _suggestion(str(value), choices) or f"; choose from {', '.join(choices)}"
            raise argparse.ArgumentError(action, f"there is no {value!r}{hint}")

    def error(self, message: str) -> NoReturn:
        """End the process with one line, which says where help is."""
        self.exit(2, f"{self.prog}: {visible(message)} ({self.prog} --help shows examples)\n")

    def format_help(self) -> str:
        """Return the help text, which ends with examples."""
        from ..commands.examples import EXAMPLES

        self._complete()
        text = super().format_help()
        if self.prog in EXAMPLES:
            text += "\nexamples:\n"
        for line, what in EXAMPLES.get(self.prog, ()):
            text += f"  {line}\n      {what}\n"
        return text
