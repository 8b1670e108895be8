"""The command line's part for parsers of constituents."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["evaluate", "inspect", "predict", "train"]


def train(o: Any) -> Any:
    """Learn a parser and return it; interrupted, it holds what was reached."""
    from .tasks.constituency_parser import ConstituencyParser

    parser = ConstituencyParser(
        o.learner,
        max_iter=o.max_iter,
        patience=o.patience,
        cost=o.cost,
        min_count=o.min_count,
        gold_tags=o.gold_tags,
        folds=o.folds,
        max_length=o.max_length,
        functions=o.functions,
        traces=o.traces,
        vertical=o.vertical,
        horizontal=o.horizontal,
        n_models=o.n_models,
        n_jobs=o.threads,
        random_state=o.random_state,
        verbose=0 if o.quiet else 1,
    )
    return parser.fit(o.train, o.dev)


def predict(parser: Any, o: Any, progress: Any) -> int:
    """Write the trees of a file, one a line."""
    if o.nbest > 1 or o.confidence or o.marginals or o.known:
        raise ValueError("--nbest, --confidence, --marginals and --known are for taggers")
    output = sys.stdout.buffer if o.output in (None, "-") else o.output
    parser.label_file(o.input, output, gold_tags=o.gold_tags or None, progress=progress)
    return 0


def evaluate(parser: Any, o: Any) -> int:
    """Print the scores of the file's trees."""
    if o.confidence or o.confusions or o.against:
        raise ValueError("--confidence, --confusions and --against are for taggers")
    if o.json:
        import json

        print(json.dumps(parser.evaluate(o.gold, gold_tags=o.gold_tags or None)))
    else:
        print(parser.report(o.gold, gold_tags=o.gold_tags or None))
    return 0


def inspect(parser: Any, o: Any) -> int:
    """Show what the parser has learned, and its trees."""
    from .tasks.constituency_inspection import inspect_parser_html, inspect_parser_text

    source: Any = o.input
    if o.sentence is not None:
        source = [o.sentence.split()]
    if o.html is None:
        print(inspect_parser_text(parser, top=o.top, labels=o.label, source=source))
        return 0
    from .text.files import replaced

    page = inspect_parser_html(parser, top=o.top, labels=o.label, source=source)
    with replaced(o.html) as file:
        file.write(page.encode())
    return 0
