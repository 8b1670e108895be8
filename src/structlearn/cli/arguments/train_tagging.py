"""Arguments of ``structlearn train`` for taggers and segments."""

from __future__ import annotations

from ...text.formats import token_formats
from .options import add_files, add_header, add_learner, add_precision, add_training
from .values import amount, count

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from argparse import ArgumentParser

__all__ = ["add_segments", "add_tagger"]


def add_tagger(p: ArgumentParser, features: str) -> None:
    """Add the arguments of ``structlearn train tagger``."""
    _add_learning(p, ("hmm",))
    p.add_argument(
        "--target",
        metavar="COLUMN",
        help="column of the labels: a number from 1, or a name (default: the last; CoNLL-U: upos); "
        "several, as upos,xpos,feats: learned as one joined label",
    )
    p.add_argument(
        "--features",
        metavar="PRESET|FILE",
        help="pos, chunk, ner, none, or a template file (default: "
        f"{'chosen by the labels' if features == 'auto' else features})",
    )
    p.add_argument(
        "--order",
        metavar="N",
        type=count(0),
        help="order of the chain; 0: each token by itself (default: 1; ner: 2)",
    )
    p.add_argument(
        "--candidates",
        metavar="N",
        type=count(0),
        help="labels considered at each token, chosen by a first pass; 0: all (default: all up to "
        "128 labels, up to 64 from order 2 on, else 12 to 48)",
    )
    p.add_argument(
        "--scheme",
        choices=("none", "bio", "iobes", "beginnings"),
        help="predict legal label sequences only; iobes: use S- and E- labels internally",
    )
    p.add_argument(
        "--hash-bits",
        metavar="B",
        type=count(0),
        default=0,
        help="hash features to 2^B indices (default: 0, no hashing)",
    )
    add_precision(p, "float32")
    p.add_argument(
        "--no-names",
        action="store_true",
        help="leave out feature names: a smaller model that cannot be inspected",
    )
    p.add_argument(
        "--unknown", metavar="LABEL", default="_", help="label that means unknown (default: _)"
    )
    p.add_argument("--start", metavar="MODEL", help="continue training from this model")
    p.add_argument(
        "--stream",
        action="store_true",
        help="read the file again in each pass, for files larger than memory (perceptron)",
    )
    add_training(p, n_models=None)
    p.set_defaults(preset=features)


def add_segments(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn train segments``."""
    _add_learning(p)
    p.add_argument(
        "--target",
        metavar="COLUMN",
        help="column of the labels: a number from 1, or a name (default: the last)",
    )
    p.add_argument(
        "--features",
        metavar="FILE",
        default="segments",
        help="file with segment templates (default: the preset segments)",
    )
    p.add_argument(
        "--max-length",
        metavar="N",
        type=count(1),
        help="maximum length of a segment in tokens (default: as in training, at most 8)",
    )
    add_training(p, n_models=None)


def _add_learning(p: ArgumentParser, extra: tuple[str, ...] = ()) -> None:
    """Add the options of both kinds of taggers."""
    add_files(p, "labelled file; - for standard input")
    p.add_argument(
        "--format",
        choices=token_formats(labelled=True),
        help="file format (default: from the file name, else from the content)",
    )
    add_header(p)
    add_learner(p, "tagger", "perceptron", extra=extra)
    p.add_argument(
        "--all-possible-states",
        metavar="N",
        type=count(0),
        help="give a feature weights for all labels if it was seen with at least N labels; "
        "1: always, 0: never",
    )
    p.add_argument(
        "--min-count",
        metavar="N",
        type=count(0),
        default=0,
        help="drop features seen fewer times (default: 0)",
    )
    p.add_argument(
        "--prune",
        metavar="X",
        type=amount,
        default=0.0,
        help="drop weights of at most this absolute value (default: 0)",
    )
