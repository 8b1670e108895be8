"""Arguments of ``structlearn train pipeline``."""

from __future__ import annotations

from .options import add_files, add_folds, add_precision, add_running
from .values import amount, count

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from argparse import ArgumentParser

__all__ = ["add_pipeline"]


def add_pipeline(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn train pipeline``."""
    add_files(p, "treebank in CoNLL-U with comments '# text = ...'")
    p.add_argument(
        "--no-tokeniser",
        action="store_true",
        help="train without a tokeniser, on treebanks without '# text'",
    )
    p.add_argument(
        "--entities",
        metavar="FILE",
        help="learn entities too, from a column file: a word and its label (B-PER, I-PER, O) on "
        "each line",
    )
    p.add_argument(
        "--order",
        type=int,
        choices=(1, 2),
        help="parser: 1 scores single arcs, 2 siblings and grandparents too (default: 2)",
    )
    add_folds(p)
    p.add_argument(
        "--hash-bits",
        metavar="B",
        type=count(10),
        help="parser: hash features to 2^B weights (default: 24)",
    )
    p.add_argument(
        "--n-models",
        metavar="N",
        type=count(1),
        help="taggers: average the weights of N runs with different seeds (default: 5)",
    )
    p.add_argument(
        "--prune",
        metavar="W",
        type=amount,
        default=0.0,
        help="drop small weights, for a smaller file: taggers' up to this absolute value, the "
        "parser's below their mean (default: 0, none)",
    )
    p.add_argument(
        "--checkpoint",
        metavar="DIR",
        help="keep finished stages in this folder, and go on from there after an interruption",
    )
    add_precision(p, "float16")
    add_running(p)
