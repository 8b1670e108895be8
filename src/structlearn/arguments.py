"""The arguments of the command line, by argparse."""

from __future__ import annotations

import argparse
import os

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Commands = Mapping[str, Callable[[Any], int]]

__all__ = ["make_parser"]

_LEARNERS = ("perceptron", "svm", "crf", "passive-aggressive", "arow", "adagrad")


class _Version(argparse.Action):
    """Looks the version up only when asked: finding it takes longer than labelling a sentence."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from . import __version__

        print(__version__)
        parser.exit()


_MOST = 2**31 - 1


def _count(least: int) -> Callable[[str], int]:
    def whole_number(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if number < least:
            raise argparse.ArgumentTypeError(f"{number} is below {least}")
        if number > _MOST:
            raise argparse.ArgumentTypeError(f"{text!r} is above {_MOST}")
        return number

    return whole_number


def _amount(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number of at least 0")
    return number


class _Formatter(argparse.HelpFormatter):
    """Knows the width without asking shutil, whose import is a tenth of a prediction's time."""

    def __init__(self, prog: str) -> None:
        try:
            columns = int(os.environ.get("COLUMNS") or os.get_terminal_size(1).columns)
        except (OSError, ValueError):
            columns = 100
        super().__init__(prog, max_help_position=28, width=max(60, min(columns, 120)) - 2)


class _Parser(argparse.ArgumentParser):
    """An argument parser with that formatter; those of the commands are of the same kind."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Formatter, allow_abbrev=False, **options)


def make_parser(commands: Commands) -> argparse.ArgumentParser:
    """Return the parser of all commands; each hands its arguments to the function given."""
    parser = _Parser(
        prog="structlearn",
        description="Structured prediction: tags, chunks and entities of sentences, their trees "
        "(dependencies and constituents), and the segments of images.",
    )
    parser.add_argument("--version", action=_Version, dest="version")
    # Without prog, argparse works it out by formatting a help text first.
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True, prog="structlearn")

    train = subparsers.add_parser("train", help="learn a model from a labelled file or a treebank")
    tasks = train.add_subparsers(metavar="TASK", required=True, prog="structlearn train")
    _add_train_tagger(
        tasks.add_parser(
            "tagger",
            help="a tagger, chunker or entity recogniser",
            description="Learn to label tokens from a column file or a CoNLL-U file.",
        ),
        commands,
    )
    _add_train_segments(
        tasks.add_parser(
            "segments",
            help="an entity recogniser that scores whole segments",
            description="Learn to find chunks from a column file or a CoNLL-U file with labels O, "
            "B-PER, I-PER, ...",
        ),
        commands,
    )
    _add_train_parser(
        tasks.add_parser(
            "parser",
            help="a dependency parser",
            description="Learn to find heads and relations from a treebank in CoNLL-U.",
        ),
        commands,
    )

    _add_train_constituency(
        tasks.add_parser(
            "constituency",
            help="a parser of constituents",
            description="Learn to parse from bracketed trees (the Penn format).",
        ),
        commands,
    )

    _add_train_segmenter(
        tasks.add_parser(
            "segmenter",
            help="a segmenter of images: a class for every pixel",
            description="Learn from a folder with images/ and masks/ (PNG, JPEG; masks as PNG), or "
            "with dog.jpg beside dog_mask.png.",
        ),
        commands,
    )

    predict = subparsers.add_parser(
        "predict",
        help="label or parse a file",
        description="Write the input with the predicted column filled, or appended where it is "
        "missing; parsers write their trees: CoNLL-U, or brackets.",
    )
    predict.add_argument("model", metavar="MODEL", help="a model file")
    predict.add_argument("input", metavar="INPUT", help="a file to label; - is standard input")
    predict.add_argument("--output", metavar="FILE", help="by default standard output")
    predict.add_argument(
        "--nbest", metavar="N", type=_count(1), default=1, help="columns of the N best labellings"
    )
    predict.add_argument(
        "--confidence", action="store_true", help="a column with the probability of each label"
    )
    predict.add_argument(
        "--marginals", action="store_true", help="a column with the probabilities of all labels"
    )
    predict.add_argument(
        "--known",
        action="store_true",
        help="keep labels that stand in the column already, other than _",
    )
    predict.add_argument(
        "--gold-tags",
        action="store_true",
        help="parsers read the tags of the input (a tagger reads the columns as they are)",
    )
    predict.add_argument(
        "--overlay", metavar="DIR", help="segmenters: pictures of the classes over the images"
    )
    predict.add_argument(
        "--format",
        choices=("columns", "conllu", "text", "brackets"),
        help="by default by the file's name, else its content; parsers read text, a sentence a "
        "line, too, those of constituents brackets",
    )
    _add_threads(predict)
    predict.set_defaults(command=commands["predict"])

    evaluate = subparsers.add_parser(
        "evaluate", help="compare a model's labels or trees with gold ones"
    )
    evaluate.add_argument("model", metavar="MODEL", help="a model file")
    evaluate.add_argument("gold", metavar="GOLD", help="a labelled file; - is standard input")
    evaluate.add_argument("--json", action="store_true", help="one JSON object, nothing else")
    evaluate.add_argument(
        "--confidence", action="store_true", help="95 %% confidence intervals by the bootstrap"
    )
    evaluate.add_argument(
        "--confusions",
        metavar="N",
        type=_count(0),
        default=0,
        help="the N commonest confusions",
    )
    evaluate.add_argument(
        "--against", metavar="MODEL", help="another model: is the difference significant?"
    )
    evaluate.add_argument(
        "--gold-tags", action="store_true", help="parsers read the tags of the file"
    )
    evaluate.add_argument(
        "--format",
        choices=("columns", "conllu", "brackets"),
        help="by default by the file's name, else its content",
    )
    _add_threads(evaluate)
    evaluate.set_defaults(command=commands["evaluate"])

    inspect = subparsers.add_parser("inspect", help="look at what a model has learned")
    inspect.add_argument("model", metavar="MODEL", help="a model file")
    inspect.add_argument(
        "--top", metavar="N", type=_count(1), default=10, help="features a label (10)"
    )
    inspect.add_argument("--label", metavar="LABEL", action="append", help="only this label")
    inspect.add_argument(
        "--sentence",
        metavar="TEXT",
        help="explain the labels of a sentence: words separated by spaces, columns of a word by |",
    )
    inspect.add_argument("--input", metavar="FILE", help="explain the sentences of a file")
    inspect.add_argument("--html", metavar="FILE", help="write a page instead")
    inspect.add_argument(
        "--most",
        metavar="N",
        type=_count(1),
        default=20,
        help="parsers show so many sentences of the file (20)",
    )
    inspect.set_defaults(command=commands["inspect"])

    demo = subparsers.add_parser("demo", help="the tour on built-in data: tags, digits, trees")
    demo.add_argument(
        "--sentences",
        type=_count(50),
        default=1500,
        help="size of the made treebank; a fifth of it is for testing",
    )
    demo.add_argument(
        "--random-state", type=_count(0), default=0, help="seed of the data and the learners"
    )
    demo.set_defaults(command=commands["demo"])
    return parser


def _add_train_tagger(p: argparse.ArgumentParser, commands: Commands) -> None:
    _add_training(p)
    p.add_argument(
        "--target",
        metavar="COLUMN",
        help="number from 1, or name, of the column of labels (the last; upos)",
    )
    p.add_argument(
        "--features",
        metavar="PRESET|FILE",
        default="auto",
        help="pos, chunk, ner, none, or a file of templates (by the labels)",
    )
    p.add_argument("--learner", choices=(*_LEARNERS, "hmm"), default="perceptron")
    p.add_argument("--order", metavar="N", type=_count(1), help="of the chain (1; ner 2)")
    p.add_argument(
        "--scheme",
        choices=("none", "bio", "iobes"),
        help="only legal chunk labels; iobes: learn S- and E- labels too",
    )
    p.add_argument(
        "--hash-bits", metavar="B", type=_count(0), default=0, help="fold features to 2^B"
    )
    p.add_argument(
        "--precision",
        choices=("float32", "float16", "int8"),
        default="float32",
        help="of the weights in the file",
    )
    p.add_argument("--no-names", action="store_true", help="a smaller model, not to be inspected")
    p.add_argument(
        "--unknown", metavar="LABEL", default="_", help="a label that stands for an unknown one (_)"
    )
    p.add_argument("--start", metavar="MODEL", help="go on from this model")
    p.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="written while training; where it exists, training goes on from there",
    )
    p.add_argument(
        "--stream",
        action="store_true",
        help="read the file anew each pass: for files larger than memory (perceptron)",
    )
    p.set_defaults(command=commands["train"], task="tagger")


def _add_train_segments(p: argparse.ArgumentParser, commands: Commands) -> None:
    _add_training(p)
    p.add_argument(
        "--target", metavar="COLUMN", help="number from 1, or name, of the column of labels (last)"
    )
    p.add_argument(
        "--features",
        metavar="FILE",
        default="segments",
        help="a file of templates of segments (the preset segments)",
    )
    p.add_argument("--learner", choices=_LEARNERS, default="perceptron")
    p.add_argument(
        "--max-length",
        metavar="N",
        type=_count(1),
        help="tokens of the longest segment (the longest in training, at most 8)",
    )
    p.set_defaults(command=commands["train"], task="segments")


def _add_train_constituency(p: argparse.ArgumentParser, commands: Commands) -> None:
    p.add_argument("train", metavar="TRAIN", help="bracketed trees; - is standard input")
    p.add_argument("--model", metavar="FILE", required=True, help="where the model goes")
    p.add_argument("--dev", metavar="FILE", help="scored after each pass; the best pass is kept")
    p.add_argument(
        "--learner",
        choices=(*_LEARNERS, "pcfg"),
        default="adagrad",
        help="adagrad; svm, crf: convex, for small treebanks; pcfg: a counted grammar",
    )
    p.add_argument(
        "--C", metavar="X", type=_amount, help="weight of the losses (svm, crf 1), longest step"
    )
    p.add_argument("--eta0", metavar="X", type=_amount, help="size of adagrad's steps (0.1)")
    p.add_argument(
        "--temperature",
        metavar="X",
        type=_amount,
        help="1: the log loss, with --cost 0 for probabilities (0; crf 1)",
    )
    p.add_argument("--tol", metavar="X", type=_amount, help="gap of svm (0.01) and crf (0.001)")
    p.add_argument("--gold-tags", action="store_true", help="learn with the tags of the trees")
    p.add_argument(
        "--folds", metavar="N", type=_count(2), default=5, help="parts for tags to learn from (5)"
    )
    p.add_argument("--max-iter", metavar="N", type=_count(1), help="passes (adagrad 4)")
    p.add_argument(
        "--patience",
        metavar="N",
        type=_count(0),
        default=5,
        help="with --dev: stop after N passes without a better score (5)",
    )
    p.add_argument(
        "--cost",
        "--margin",
        metavar="X",
        type=_amount,
        help="of a wrong span in training (adagrad 1; crf 0)",
    )
    p.add_argument(
        "--min-count", metavar="N", type=_count(1), default=2, help="of a feature in gold trees (2)"
    )
    p.add_argument(
        "--max-length", metavar="N", type=_count(1), default=100, help="words to learn from (100)"
    )
    p.add_argument("--functions", action="store_true", help="keep functional tags: NP-SBJ")
    p.add_argument("--traces", action="store_true", help="keep empty elements")
    p.add_argument(
        "--vertical", metavar="V", type=_count(1), default=2, help="Markovisation of a pcfg (2)"
    )
    p.add_argument(
        "--horizontal", metavar="H", type=_count(0), default=2, help="Markovisation of a pcfg (2)"
    )
    p.add_argument(
        "--n-models", metavar="N", type=_count(1), default=1, help="average the weights of N seeds"
    )
    p.add_argument("--random-state", metavar="S", type=_count(0), default=0, help="seed (0)")
    p.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="written while training; where it exists, training goes on from there",
    )
    p.add_argument("--quiet", action="store_true", help="no progress")
    _add_threads(p)
    p.set_defaults(command=commands["train"], task="constituency")


def _scales(text: str) -> tuple[float, ...]:
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(0 < s <= 64 for s in found):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of pixels up to 64: 1,2,4,8")
    return found


def _add_train_segmenter(p: argparse.ArgumentParser, commands: Commands) -> None:
    p.add_argument("train", metavar="FOLDER", help="images with masks")
    p.add_argument("--model", metavar="FILE", required=True, help="where the model goes")
    p.add_argument("--dev", metavar="FOLDER", help="scored after each pass; the best pass is kept")
    p.add_argument(
        "--learner",
        choices=("adagrad", "svm", "crf", "perceptron", "passive-aggressive", "arow"),
        default="adagrad",
        help="crf: by pseudo-likelihood (adagrad)",
    )
    p.add_argument(
        "--superpixels",
        metavar="N",
        type=_count(0),
        default=0,
        help="label about N regions an image, not pixels (0; needs scikit-image)",
    )
    p.add_argument(
        "--scales",
        metavar="LIST",
        type=_scales,
        default=(1.0, 2.0, 4.0, 8.0),
        help="of blurs, in pixels (1,2,4,8)",
    )
    p.add_argument("--no-place", action="store_true", help="the place in the image is no feature")
    p.add_argument(
        "--classes", metavar="FILE", help="names: a line a value, or JSON (a list, or by value)"
    )
    p.add_argument(
        "--void",
        metavar="VALUE",
        default="auto",
        help="of unknown mask pixels: 0 to 255, #rrggbb, none (255 unless there are two values)",
    )
    p.add_argument("--max-iter", metavar="N", type=_count(1), help="passes (by the learner)")
    p.add_argument(
        "--patience",
        metavar="N",
        type=_count(0),
        default=5,
        help="with --dev: stop after N passes without a better score (5)",
    )
    p.add_argument("--margin", metavar="X", type=_amount, help="adagrad: cost of a wrong pixel (1)")
    p.add_argument("--C", metavar="X", type=_amount, help="weight of the data (by the learner)")
    p.add_argument("--random-state", metavar="S", type=_count(0), default=0, help="seed (0)")
    p.add_argument("--quiet", action="store_true", help="no progress")
    _add_threads(p)
    p.set_defaults(command=commands["train"], task="segmenter")


def _add_train_parser(p: argparse.ArgumentParser, commands: Commands) -> None:
    p.add_argument("train", metavar="TRAIN", help="a treebank in CoNLL-U; - is standard input")
    p.add_argument("--model", metavar="FILE", required=True, help="where the model goes")
    p.add_argument("--dev", metavar="FILE", help="scored after each pass; the best pass is kept")
    p.add_argument(
        "--order",
        type=int,
        choices=(1, 2),
        help="2: siblings and grandparents too (2; with --learner crf 1)",
    )
    p.add_argument("--projective", action="store_true", help="only trees without crossing arcs")
    p.add_argument("--learner", choices=_LEARNERS, default="passive-aggressive")
    p.add_argument(
        "--gold-tags", action="store_true", help="learn on the tags of the file, without taggers"
    )
    p.add_argument(
        "--folds",
        metavar="N",
        type=_count(2),
        default=5,
        help="for predicting tags to learn on (5)",
    )
    p.add_argument("--lemmas", action="store_true", help="read lemmas too")
    p.add_argument("--max-iter", metavar="N", type=_count(1), help="passes (10; svm, crf 100)")
    p.add_argument(
        "--patience",
        metavar="N",
        type=_count(0),
        default=5,
        help="with --dev: stop after N passes without a better score (5)",
    )
    p.add_argument(
        "--C",
        metavar="X",
        type=_amount,
        help="passive-aggressive: the longest step (0.002); svm, crf: weight of the losses (0.1)",
    )
    p.add_argument(
        "--eta0", metavar="X", type=_amount, help="adagrad: the first step of a weight (0.02)"
    )
    p.add_argument("--delta", metavar="X", type=_amount, help="adagrad: shortens first steps (0)")
    p.add_argument("--r", metavar="X", type=_amount, help="arow: its regulariser (10)")
    p.add_argument("--margin", metavar="X", type=_amount, help="crf, adagrad: of the loss")
    p.add_argument(
        "--temperature", metavar="X", type=_amount, help="crf, adagrad: of the loss (order 1)"
    )
    p.add_argument(
        "--tol", metavar="X", type=_amount, help="svm, crf, adagrad: end at this relative gap"
    )
    p.add_argument(
        "--n-models", metavar="N", type=_count(1), default=1, help="average the weights of N seeds"
    )
    p.add_argument(
        "--hash-bits", metavar="B", type=_count(10), help="2^B weights (24; svm, crf 20)"
    )
    p.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="written while training; where it exists, training goes on from there",
    )
    p.add_argument("--random-state", metavar="S", type=_count(0), default=0, help="seed (0)")
    p.add_argument("--quiet", action="store_true", help="no progress")
    _add_threads(p)
    p.set_defaults(command=commands["train"], task="parser")


def _add_training(p: argparse.ArgumentParser) -> None:
    """Add what every training takes."""
    p.add_argument("train", metavar="TRAIN", help="a labelled file; - is standard input")
    p.add_argument("--model", metavar="FILE", required=True, help="where the model goes")
    p.add_argument("--dev", metavar="FILE", help="scored after each pass; the best pass is kept")
    _add_format(p)
    p.add_argument("--max-iter", metavar="N", type=_count(1), help="passes (10; crf 100, svm 30)")
    p.add_argument(
        "--patience",
        metavar="N",
        type=_count(0),
        default=5,
        help="with --dev: stop after N passes without a better score (5)",
    )
    p.add_argument(
        "--C",
        metavar="X",
        type=_amount,
        default=1.0,
        help="weight of the losses against the regulariser (1)",
    )
    p.add_argument("--l1", metavar="X", type=_amount, default=0.0, help="L1 regulariser (crf)")
    p.add_argument(
        "--all-states",
        metavar="N",
        type=_count(0),
        help="weights for every label where a feature was seen with N of them; 1: all, 0: never",
    )
    p.add_argument(
        "--min-count",
        metavar="N",
        type=_count(0),
        default=0,
        help="leave out features seen fewer times",
    )
    p.add_argument(
        "--prune", metavar="X", type=_amount, default=0.0, help="leave out weights up to this size"
    )
    p.add_argument(
        "--n-models",
        metavar="N",
        type=_count(1),
        help="average the weights of N seeds (perceptron)",
    )
    p.add_argument("--random-state", metavar="S", type=_count(0), default=0, help="seed (0)")
    p.add_argument("--quiet", action="store_true", help="no progress")
    _add_threads(p)


def _add_format(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--format",
        choices=("columns", "conllu"),
        help="by default by the file's name, else its content",
    )


def _add_threads(p: argparse.ArgumentParser) -> None:
    p.add_argument("--threads", metavar="N", type=_count(1), default=1, help="threads (1)")
