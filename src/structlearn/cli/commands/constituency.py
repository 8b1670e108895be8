"""Commands of constituency parsers: bracketed trees."""

from __future__ import annotations

from .shared import fit_task, make_task, output_of, refuse, show_inside, show_scores

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["evaluate", "inspect", "label_options", "predict", "train"]


def train(o: Any) -> Callable[[], None]:
    """Learn a parser; return what saves it."""
    from ...tasks.constituents.parser import ConstituencyParser

    parser = make_task(ConstituencyParser, o)
    fit_task(parser, o)
    return lambda: parser.save(o.model)


def predict(parser: Any, o: Any, progress: Any) -> int:
    """Write the trees of a file, each on a line."""
    parser.label_file(o.input, output_of(o), **label_options(o), progress=progress)
    return 0


def label_options(o: Any) -> dict[str, Any]:
    """Return the options of ``label_file`` that the command line has."""
    refuse("a constituency parser", o, "nbest", "confidence", "marginals", "known", "header")
    return {"format": o.format, "gold_tags": o.gold_tags or None}


def evaluate(parser: Any, o: Any) -> int:
    """Print the scores of the file's trees."""
    refuse("a constituency parser", o, "confidence", "confusions", "against", "header")
    return show_scores(parser, o, {"gold_tags": o.gold_tags or None}, {})


def inspect(parser: Any, o: Any) -> int:
    """Show what the parser has learned, and its trees."""
    from ...tasks.constituents.inspection import inspect_parser

    return show_inside(inspect_parser, parser, o)
