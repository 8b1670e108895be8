"""Arguments of ``structlearn train`` for parsers of dependencies and constituents."""

from __future__ import annotations

from .options import add_files, add_folds, add_learner, add_precision, add_training
from .values import count

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from argparse import ArgumentParser

__all__ = ["add_constituency", "add_parser"]


def add_parser(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn train parser``."""
    add_files(p, "treebank in CoNLL-U; - for standard input")
    p.add_argument(
        "--order",
        type=int,
        choices=(1, 2),
        help="1: score single arcs, 2: siblings and grandparents too (default: 2; crf: 1)",
    )
    p.add_argument(
        "--projective", action="store_true", help="predict trees without crossing arcs only"
    )
    add_learner(p, "parser", "passive-aggressive")
    p.add_argument(
        "--gold-tags",
        action="store_true",
        help="train on the tags of the file, without training taggers",
    )
    add_folds(p)
    p.add_argument("--lemmas", action="store_true", help="use lemmas as features")
    p.add_argument(
        "--hash-bits",
        metavar="B",
        type=count(10),
        help="hash features to 2^B weights (default: 24; svm, crf: 20)",
    )
    p.add_argument(
        "--prune",
        action="store_true",
        help="drop weights below the mean, for a smaller file",
    )
    add_precision(p, "float16")
    add_training(p)


def add_constituency(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn train constituency``."""
    add_files(p, "bracketed trees; - for standard input")
    add_learner(
        p,
        "constituency",
        "adagrad",
        "svm and crf are convex and slow on large treebanks, pcfg counts rules",
        extra=("pcfg",),
    )
    p.add_argument(
        "--gold-tags",
        action="store_true",
        help="train on the tags of the trees instead of predicted ones",
    )
    add_folds(p)
    p.add_argument(
        "--min-count",
        metavar="N",
        type=count(1),
        default=2,
        help="drop features seen fewer times in gold trees (default: 2)",
    )
    p.add_argument(
        "--max-length",
        metavar="N",
        type=count(1),
        default=100,
        help="skip longer training sentences (default: 100 words)",
    )
    p.add_argument("--functions", action="store_true", help="keep function tags, as in NP-SBJ")
    p.add_argument("--traces", action="store_true", help="keep empty elements")
    p.add_argument(
        "--vertical",
        metavar="V",
        type=count(1),
        default=2,
        help="pcfg: order of vertical Markovisation (default: 2)",
    )
    p.add_argument(
        "--horizontal",
        metavar="H",
        type=count(0),
        default=2,
        help="pcfg: order of horizontal Markovisation (default: 2)",
    )
    add_training(p)
