"""Functions that several commands share."""

from __future__ import annotations

import os

from ...printing import Results, note

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any


def output_of(o: Any) -> Any:
    """Return the destination of the result: a file name, or standard output."""
    return Results() if o.output in (None, "-") else o.output


def source_of(o: Any, path: str | None, table: Any = None) -> Any:
    """Return a file of labelled sentences, read already where options say how.

    ``table``: the names of the columns that the model was trained on.
    """
    given = {name: getattr(o, name, None) for name in ("sentence", "word", "text", "target")}
    headed = bool(getattr(o, "header", False))
    named = any(given[name] is not None for name in ("sentence", "word", "text"))
    if path is None or not (headed or named or _is_table(o, path, given["target"])):
        return path
    from ...text.sources import read_labelled
    from ...text.tables import Naming

    naming, tokens = Naming(**given, trained=table), getattr(o, "tokens", None)
    return read_labelled(path, o.format, header=headed, naming=naming, tokens=tokens)


def _is_table(o: Any, path: str, target: Any) -> bool:
    """Tell whether a file may have names of its own for its columns, the target among them."""
    if target is None or not hasattr(o, "format") or str(target).removeprefix("-").isdecimal():
        return False
    return path != "-" and o.format in (None, "csv", "jsonl", "parquet")


def constraints_of(o: Any) -> list[Any] | None:
    """Return the constraints of the options and of their file; None without any."""
    if not o.constraint and o.constraints is None:
        return None
    from ...constraints import ConstraintSyntaxError, parse
    from ...exceptions import FileError

    given: list[Any] = []
    for one in o.constraint or ():
        try:
            given += parse(one)
        except ConstraintSyntaxError as error:
            where = f"--constraint {one!r}, column {error.column}"
            raise ValueError(f"{where}: {error.reason}") from None
    if o.constraints is not None:
        from ...text.files import read_bytes

        text = ""
        try:
            text = read_bytes(o.constraints).decode()
            given += parse(text)
        except UnicodeDecodeError:
            raise FileError(o.constraints, "it is not UTF-8") from None
        except ConstraintSyntaxError as error:
            line = text.count("\n", 0, error.column - 1) + 1
            raise FileError(o.constraints, error.reason, line) from None
    return given


def refuse(what: str, o: Any, *options: str) -> None:
    """Raise if an option was given that models of this kind do not have.

    Parameters
    ----------
    what : str
        The kind of the model, with its article.
    o : argparse.Namespace
    *options : str
    """
    for name in options:
        value = getattr(o, name)
        if value not in (None, False, 1 if name == "nbest" else 0, ""):
            option = name.replace("_", "-")
            raise ValueError(f"--{option} does not work with {what}, and {o.model} is one")


def write_page(path: str, page: str) -> None:
    """Write a page and say so; an old file is kept until the new one is complete."""
    from ...text.files import replaced

    with replaced(path) as file:
        file.write(page.encode())
    say_written(path)


def say_written(path: str | None) -> None:
    """Say which file was written, if it is one."""
    if path not in (None, "-"):
        note(f"wrote {path}")


def check_output(path: str | None, sources: list[str | None], *, page: bool = False) -> None:
    """Refuse to write onto a file that is read, or to replace data by a page.

    Parameters
    ----------
    path : str or None
        The file to be written.
    sources : list of str or None
        The files to be read.
    page : bool
        The file to be written is an HTML page.
    """
    if path is None or not os.path.isfile(path):
        return
    from ...exceptions import FileError

    for name in sources:
        if name is not None and os.path.exists(name) and os.path.samefile(path, name):
            raise FileError(path, "it would be overwritten while it is read: write to another name")
    if page:
        with open(path, "rb") as file:
            start = file.read(100).lstrip().lower()
        if start and not start.startswith((b"<!doctype html", b"<html")):
            raise FileError(
                path, "it is not an HTML page, and would be overwritten: write to another name"
            )
