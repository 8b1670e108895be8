"""Functions that the commands of several tasks share."""

from __future__ import annotations

import os

from ...printing import Results, escape, note, put, put_json

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "check_output",
    "fit_task",
    "make_task",
    "output_of",
    "refuse",
    "say_written",
    "show_inside",
    "show_scores",
    "source_of",
    "write_page",
]


def make_task(kind: Any, o: Any, **more: Any) -> Any:
    """Return a task with the options of the command line that are parameters of it.

    Parameters
    ----------
    kind : class
    o : argparse.Namespace
    **more
        Parameters that are not options of the same name.
    """
    options = {name: getattr(o, name) for name in kind._declared if hasattr(o, name)}
    return kind(**{**options, "n_jobs": o.threads, "verbose": 0 if o.quiet else 1, **more})


def fit_task(task: Any, o: Any, **more: Any) -> None:
    """Fit a task to the training file, on a cluster if one was named.

    Parameters
    ----------
    task : object
    o : argparse.Namespace
    **more
        Options of ``fit`` that were given.
    """
    more = {name: value for name, value in more.items() if value is not None}
    if o.cluster is None:
        if o.workers is not None or o.shard_size is not None:
            raise ValueError("--workers and --shard-size go with --cluster")
        task.fit(source_of(o, o.train), dev=source_of(o, o.dev), **more)
        return
    from ...distributed import fit

    wrong = set(more) - {"format", "start"} or (
        {"header"} if getattr(o, "header", False) else set()
    )
    if wrong:
        raise ValueError(f"--{wrong.pop()} cannot be combined with --cluster")
    task.n_jobs = 1
    size = None if o.shard_size is None else int(o.shard_size * 2**20)
    options = {"workers": o.workers, "threads": o.threads, "shard_size": size}
    fit(task, o.train, dev=o.dev, cluster=o.cluster, **options, **more)


def output_of(o: Any) -> Any:
    """Return the destination of the result: a file name, or standard output."""
    return Results() if o.output in (None, "-") else o.output


def source_of(o: Any, path: str | None) -> Any:
    """Return a file of labelled sentences, read already if its first line is to be skipped."""
    if path is None or not getattr(o, "header", False):
        return path
    from ...text.sources import read_labelled

    return read_labelled(path, o.format, header=True)


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


def show_scores(model: Any, o: Any, more: dict[str, Any], only_text: dict[str, Any]) -> int:
    """Print the scores of a model on gold data, or write a page with them.

    Parameters
    ----------
    more : dict
        Options of ``evaluate`` and ``report``.
    only_text : dict
        Those of ``report`` alone.
    """
    from ...meter import Meter

    with Meter(f"evaluating on {o.gold}"):
        gold = source_of(o, o.gold)
        given = (gold, o.format) if o.format else (gold,)
        if gold == "-":  # it can be read only once
            given = (model._gold_source(*given),)
        if o.json or o.html is not None:
            tags = {"gold_tags": more["gold_tags"]} if "gold_tags" in more else {}
            certainty = model.calibration(given[0], format=o.format, **tags)
        if o.json:
            found = model.evaluate(*given, **more)
        if not o.json or o.html is not None:
            text = model.report(*given, **more, **only_text)
    if o.html is not None:  # first: nobody may be there to read the rest
        write_page(o.html, _scores_page(model, o, text, certainty))
    if not o.json:
        put(text)
        return 0
    if certainty is not None:
        told = certainty.as_dict()
        found["expected_calibration_error"] = told["expected_calibration_error"]
        found["calibration"] = {"calibrated": model.calibrated_, **told}
    put_json(found)
    return 0


def _scores_page(model: Any, o: Any, text: str, certainty: Any) -> str:
    from ...drawing.page import Page, facts_list

    facts = [("model", o.model), ("data", o.gold)]
    page = Page(f"{model._title}: evaluation", "structlearn evaluate", facts)
    page.section("Scores", f"<pre>{escape(text)}</pre>")
    if certainty is None:
        page.section("Certainty", note="This model gives no probabilities.")
        return page.html()
    from ...drawing.reliability import draw_reliability

    page.section(
        "Certainty",
        facts_list(
            [
                ("expected calibration error", f"{certainty.error:.4f}"),
                ("predictions", f"{certainty.n:,}"),
            ]
        ),
        page.picture(draw_reliability(certainty)),
        note=escape(certainty_note(model))
        + " On the dashed line probabilities are as often right as they say; below it they are "
        "too high.",
    )
    return page.html()


def certainty_note(model: Any) -> str:
    """Say whether the probabilities of a model can be trusted."""
    from ...models.temperature import certainty_fact

    return f"Probabilities: {certainty_fact(model._loss_temperature, model.calibration_)}."


def show_inside(inspect: Any, model: Any, o: Any, split: Any = None) -> int:
    """Print what a model has learned and what decided its predictions, or write a page.

    Parameters
    ----------
    inspect : callable
        Of the model's task.
    split : callable, optional
        From the words of ``--sentence`` to a sentence.
    """
    from ...meter import Meter

    given = o.input
    if o.sentence is not None:
        words = o.sentence.split()
        given = [words if split is None else split(words)]
    page = o.html is not None
    with Meter("looking inside"):
        shown = inspect(model, o.top, given, o.label, o.most, page)
    if page:
        write_page(o.html, shown)
    else:
        put(shown)
    return 0


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
