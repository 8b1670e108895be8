"""Commands of dependency parsers: CoNLL-U to CoNLL-U."""

from __future__ import annotations

from .shared import fit_task, make_task, output_of, refuse, show_inside, show_scores

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["evaluate", "inspect", "label_options", "predict", "train"]


def train(o: Any) -> Callable[[], None]:
    """Learn a parser; return what saves it."""
    from ...tasks.dependencies.parser import DependencyParser

    order = o.order or (1 if o.learner == "crf" or o.temperature else 2)
    parser = make_task(DependencyParser, o, order=order)
    fit_task(parser, o)
    return lambda: parser.save(o.model, o.precision)


def predict(parser: Any, o: Any, progress: Any) -> int:
    """Write the file with its heads and relations."""
    parser.label_file(o.input, output_of(o), **label_options(o), progress=progress)
    return 0


def label_options(o: Any) -> dict[str, Any]:
    """Return the options of ``label_file`` that the command line has."""
    refuse("a dependency parser", o, "nbest", "confidence", "marginals", "known", "header")
    return {"format": o.format, "gold_tags": o.gold_tags or None}


def evaluate(parser: Any, o: Any) -> int:
    """Print the scores of the file's trees."""
    from . import read_rival

    other = read_rival(o.against, evaluate)
    options = {"confidence": o.confidence, "against": other, "gold_tags": o.gold_tags or None}
    return show_scores(parser, o, options, {"confusions": o.confusions})


def inspect(parser: Any, o: Any) -> int:
    """Show what the parser has learned, and what decided its arcs."""
    from ...tasks.dependencies.inspection import inspect_parser

    return show_inside(inspect_parser, parser, o, _tokens)


def _tokens(words: list[str]) -> Any:
    """Return words with the tags that stand behind them: The|DET|DT|Definite=Def."""
    return [_cells(i, token) for i, token in enumerate(words, 1)]


def _cells(i: int, token: str) -> Any:
    """Return a word, or the cells of a line with the tags that stand behind it."""
    word, *tags = token.split("|", 3)
    if not tags or not word:
        return token
    if len(tags) == 1:
        return (word, tags[0])
    upos, xpos, feats = (*tags, "_")[:3]
    return (str(i), word, "_", upos, xpos, feats, "_", "_", "_", "_")
