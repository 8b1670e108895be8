"""Arguments of ``structlearn train``, by task; parameters come from their declarations."""

from __future__ import annotations

import argparse

from ...text.formats import FormatNames, token_formats
from .options import (
    add_constraints,
    add_files,
    add_parameters,
    add_precision,
    add_running,
    add_table,
    add_training,
)
from .values import CUT_FORMATS, amount, count

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_tagger(p: ArgumentParser, features: str) -> None:
    """Add the arguments of ``structlearn train tagger``."""
    _add_labelled(p)
    p.add_argument(
        "--features",
        metavar="PRESET|FILE",
        help="pos, chunk, ner, none, or a template file (default: "
        f"{'chosen by the labels' if features == 'auto' else features})",
    )
    p.set_defaults(preset=features)
    add_parameters(p, "tagger")
    add_precision(p, "float32")
    p.add_argument(
        "--stream",
        action="store_true",
        help="read the file again in each pass, for files larger than memory",
    )
    add_training(p)


def add_segments(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn train segments``."""
    _add_labelled(p)
    add_parameters(p, "segments")
    add_training(p)


def add_words(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn train words``."""
    add_files(p, "cut text")
    p.add_argument(
        "--format",
        choices=CUT_FORMATS,
        help="file format (default: from the file name, else from the content)",
    )
    p.add_argument(
        "--dictionary",
        metavar="FILE",
        help="words to look for, besides those of the training text, one on each line; of a "
        "lattice with a tag after a tab, or a dictionary of MeCab",
    )
    p.add_argument(
        "--lattice",
        action="store_true",
        help="learn a lattice: words of the dictionary and unknown ones, with their tags, and "
        "pairs of words",
    )
    add_parameters(p, "words")
    add_running(p)


def _add_labelled(p: ArgumentParser) -> None:
    """Add the files of both kinds of taggers."""
    add_files(p, "labelled file; - for standard input")
    p.add_argument(
        "--format",
        choices=FormatNames(lambda: token_formats(labelled=True)),
        help="file format (default: from the file name, else from the content)",
    )
    add_table(p)
    add_constraints(p)
    p.add_argument("--start", metavar="MODEL", help="continue training from this model")
    p.add_argument(
        "--tune",
        metavar="NAMES",
        help="choose parameters on the dev set, or in three folds without one: C,order or "
        "C=0.1/1/10,learner; prints a table of the scores",
    )


def add_parser(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn train parser``."""
    add_files(p, "treebank in CoNLL-U; - for standard input")
    add_parameters(p, "parser")
    p.set_defaults(order=None)  # as the learner can
    add_precision(p, "float16")
    add_training(p)


def add_constituency(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn train constituency``."""
    add_files(p, "bracketed trees; - for standard input")
    add_parameters(p, "constituency")
    add_training(p)


def add_segmenter(p: ArgumentParser) -> None:
    """Add the arguments of ``structlearn train segmenter``."""
    add_files(p, "folder with images and masks", "FOLDER")
    add_parameters(p, "segmenter")
    p.add_argument(
        "--scales",
        metavar="LIST",
        type=_scales,
        default=(1, 2, 4, 8),
        help="radii of the blurred features in pixels (default: 1,2,4,8)",
    )
    add_training(p)


def _scales(text: str) -> tuple[float, ...]:
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(0 < s <= 64 for s in found):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of scales in pixels, each at most 64, such as 1,2,4,8"
        )
    return found


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
    add_parameters(p, "parser", "order", "hash_bits")
    p.set_defaults(order=None)
    add_parameters(p, "pipeline")
    p.add_argument(
        "--n-models",
        metavar="N",
        type=count(1),
        help="tokeniser, taggers: average the weights of N runs with different seeds (default: "
        "tokeniser 1, taggers 5)",
    )
    p.add_argument(
        "--prune",
        metavar="W",
        type=amount,
        default=0.0,
        help="drop small weights, for a smaller file: taggers' up to this absolute value, the "
        "parser's below their mean (default: 0, none)",
    )
    add_precision(p, "float16")
    add_running(p)
