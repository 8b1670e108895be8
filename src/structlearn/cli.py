"""The command line: train, predict, evaluate, inspect, demo.

Only the result goes to standard output; progress and errors go to standard error. An error of the
user's or of a file's is a line or two and exit code 1. Parsed by argparse, and everything else is
imported where it is used, because ``structlearn predict`` on one sentence takes less time than
importing most libraries: its plain form does not even wait for argparse.
"""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; ends the process."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    options = _plain_prediction(arguments)
    if options is None:
        from .arguments import make_parser

        options = make_parser(COMMANDS).parse_args(arguments)
    command: Callable[[Any], int] = options.command
    if not (sys.stdout.encoding or "utf-8").lower().startswith("utf"):
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = command(options)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:  # whoever was reading has seen enough
        _close_output()
        return 0
    except MemoryError as error:
        return _fail(f"out of memory: {error}" if str(error) else "out of memory", 1)
    except ValueError as error:
        return _fail(str(error), 1)
    except OSError as error:  # those of files are told by their readers and writers
        _close_output()
        return _fail(f"{error.filename or 'standard output'}: {error.strerror or error}", 1)


def _close_output() -> None:
    """Let what is left of the output go nowhere: Python would complain again when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _plain_prediction(arguments: Sequence[str]) -> Any:
    """Read ``predict MODEL INPUT [--output FILE] [--threads N]``; None for anything else."""
    if len(arguments) < 3 or arguments[0] != "predict":
        return None
    given = {"--output": "-", "--threads": "1"}
    names, rest = arguments[1:3], list(arguments[3:])
    while len(rest) >= 2 and rest[0] in given and not rest[1].startswith("-"):
        given[rest[0]] = rest[1]
        del rest[:2]
    threads = given["--threads"]
    if rest or any(name.startswith("-") and name != "-" for name in names):
        return None
    if not threads.isdecimal() or len(threads) > 9 or int(threads) < 1:
        return None
    return SimpleNamespace(
        command=_predict,
        model=names[0],
        input=names[1],
        output=given["--output"],
        threads=int(threads),
        format=None,
        nbest=1,
        confidence=False,
        marginals=False,
        known=False,
        gold_tags=False,
    )


def _fail(message: str, code: int) -> int:
    print(f"structlearn: {message}", file=sys.stderr)
    return code


def _plain_warnings() -> None:
    """Let warnings read as errors do, without a line of source."""
    import warnings

    def show(message: Warning | str, *rest: Any, **named: Any) -> None:
        print(f"structlearn: warning: {message}", file=sys.stderr)

    warnings.showwarning = show


# -- commands -------------------------------------------------------------------------------------


def _train(o: Any) -> int:
    from .commands import commands_of

    _plain_warnings()
    _check_writable(o.model, o.train, o.dev or "")
    try:
        save = commands_of(o.task).train(o)
        save()
    except KeyboardInterrupt:  # an older file of that name is as it was
        return _fail("interrupted: no model was written", 130)
    return 0


def _predict(o: Any) -> int:
    model, commands = _load(o)
    counter = _Counter(getattr(commands, "UNIT", "tokens")).show if sys.stderr.isatty() else None
    return int(commands.predict(model, o, counter))


def _evaluate(o: Any) -> int:
    model, commands = _load(o)
    return int(commands.evaluate(model, o))


def _inspect(o: Any) -> int:
    o.threads = 1
    model, commands = _load(o)
    return int(commands.inspect(model, o))


def _demo(o: Any) -> int:
    from .demo import run as tour

    tour(sentences=o.sentences, random_state=o.random_state)
    return 0


def _load(o: Any) -> tuple[Any, Any]:
    """Return the model that the arguments name, and the commands of its task."""
    from .commands import read_model

    model, commands = read_model(o.model)
    model.n_jobs = o.threads
    return model, commands


def _check_writable(path: str, *sources: str) -> None:
    """Find out before the work that the model cannot be written, or would replace a source."""
    from .exceptions import FileError

    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        raise FileError(path, "is a folder; --model names a file")
    if not os.path.isdir(folder):
        raise FileError(path, f"there is no folder {folder!r}")
    if not os.access(folder, os.W_OK):
        raise FileError(path, f"the folder {folder!r} cannot be written to")
    for name in filter(os.path.exists, sources):
        if os.path.exists(path) and os.path.samefile(path, name):
            raise FileError(path, "the model would replace the file to learn from")


class _Counter:
    """A number that counts up on a terminal, from the second second on."""

    def __init__(self, what: str) -> None:
        import time

        self.what = what
        self.clock = time.monotonic
        self.next = self.clock() + 2.0

    def show(self, number: int) -> None:
        """Show a number, a few times a second."""
        if self.clock() < self.next:
            return
        self.next = self.clock() + 0.2
        print(f"\r{number:,} {self.what}", end="", file=sys.stderr, flush=True)


#: What each command does, by its name.
COMMANDS: dict[str, Callable[[Any], int]] = {
    "train": _train,
    "predict": _predict,
    "evaluate": _evaluate,
    "inspect": _inspect,
    "demo": _demo,
}
