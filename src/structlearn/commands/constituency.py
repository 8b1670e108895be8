"""Commands of constituency parsers: bracketed trees."""

from __future__ import annotations

from .shared import make_task, output_of, refuse, show_inside, show_scores

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["evaluate", "inspect", "predict", "train"]


def train(o: Any) -> Callable[[], None]:
    """Learn a parser; return what saves it."""
    from ..tasks.constituents.parser import ConstituencyParser

    parser = make_task(ConstituencyParser, o)
    parser.fit(o.train, dev=o.dev)
    return lambda: parser.save(o.model)


def predict(parser: Any, o: Any, progress: Any) -> int:
    """Write the trees of a file, each on a line."""
    refuse("a constituency parser", o, "nbest", "confidence", "marginals", "known", "header")
    gold_tags = o.gold_tags or None
    parser.label_file(
        o.input, output_of(o), format=o.format, gold_tags=gold_tags, progress=progress
    )
    return 0


def evaluate(parser: Any, o: Any) -> int:
    """Print the scores of the file's trees."""
    refuse("a constituency parser", o, "confidence", "confusions", "against", "header")
    return show_scores(parser, o, {"gold_tags": o.gold_tags or None}, {})


def inspect(parser: Any, o: Any) -> int:
    """Show what the parser has learned, and its trees."""
    from ..tasks.constituents.inspection import inspect_parser

    return show_inside(inspect_parser, parser, o)
