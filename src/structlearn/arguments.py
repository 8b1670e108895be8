"""The arguments of the command line, by argparse."""

from __future__ import annotations

import argparse
import os
from functools import partial

from .estimators.learner_names import LEARNERS
from .tasks.presets import default_of

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn

    Commands = Mapping[str, Callable[[Any], int]]

__all__ = ["make_parser"]

#: What parameters of learners mean.
_LEARNER_OPTIONS = {
    "C": "weight of the losses; passive-aggressive: longest step",
    "l1": "crf: weight of the L1 norm",
    "margin": "crf, adagrad: margin of the loss",
    "temperature": "crf, adagrad: temperature of the loss",
    "tol": "svm, crf, adagrad: relative gap to stop at",
    "eta0": "adagrad: first step of a weight",
    "delta": "adagrad: shortens the first steps",
    "r": "arow: regularisation",
}

#: Names of taggers in ``structlearn train`` -> the default of --features, and what they are.
_TAGGERS = {
    "tagger": ("auto", "a tagger of any labels"),
    "pos": ("pos", "a part-of-speech tagger"),
    "chunks": ("chunk", "a chunker, which finds noun phrases and the like"),
    "ner": ("ner", "a recogniser of named entities, such as people and places"),
}


class _Version(argparse.Action):
    """Looks up the version only on demand, because that takes longer than labelling a sentence."""

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
            raise argparse.ArgumentTypeError(f"{number} is less than {least}")
        if number > _MOST:
            raise argparse.ArgumentTypeError(f"{text} is greater than {_MOST}")
        return number

    return whole_number


def _amount(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a finite number >= 0")
    return number


class _Formatter(argparse.HelpFormatter):
    """Finds the width without shutil, whose import takes a tenth of the time of a prediction."""

    def __init__(self, prog: str) -> None:
        try:
            columns = int(os.environ.get("COLUMNS") or os.get_terminal_size(1).columns)
        except (OSError, ValueError):
            columns = 100
        super().__init__(prog, max_help_position=28, width=max(60, min(columns, 120)) - 2)


class _Parser(argparse.ArgumentParser):
    """An argument parser with that formatter, also for the commands."""

    #: Adds the arguments, once they are needed: one command of many is called.
    fill: Callable[[_Parser], None] | None = None

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Formatter, allow_abbrev=False, **options)

    def _complete(self) -> None:
        if self.fill is not None:
            fill, self.fill = self.fill, None
            fill(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, with all arguments there."""
        self._complete()
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """End the process with a message that says where help is."""
        super().error(f"{message} ({self.prog} --help shows examples)")

    def format_help(self) -> str:
        """Return the help text, which ends with examples."""
        from .commands.examples import EXAMPLES

        self._complete()
        text = super().format_help()
        if self.prog in EXAMPLES:
            text += "\nexamples:\n"
        for line, what in EXAMPLES.get(self.prog, ()):
            text += f"  {line}\n      {what}\n"
        return text


def make_parser(commands: Commands) -> argparse.ArgumentParser:
    """Return the parser of all commands; ``commands`` has the function that runs each of them."""
    parser = _Parser(
        prog="structlearn",
        description="Structured prediction: tag words, find chunks and entities, parse sentences "
        "(dependencies or constituents), and segment images.",
    )
    parser.add_argument("--version", action=_Version, dest="version")
    # Without prog, argparse would format a help text to find it.
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True, prog="structlearn")

    def add(group: Any, name: str, fill: Callable[[_Parser, Commands], None], **about: Any) -> None:
        group.add_parser(name, **about).fill = lambda p: fill(p, commands)

    def add_train(p: _Parser, _: Commands) -> None:
        tasks = p.add_subparsers(metavar="TASK", required=True, prog="structlearn train")
        for name, (features, what) in _TAGGERS.items():
            about = f"Train {what}, on a file in columns, CoNLL-U, CSV or JSON lines."
            if name != "tagger":
                about += f" The same as structlearn train tagger --features {features}."
            fill = partial(_add_train_tagger, features=features)
            add(tasks, name, fill, help=what, description=about)
        add(
            tasks,
            "segments",
            _add_train_segments,
            help="an entity recogniser that scores whole segments",
            description="Train a semi-Markov model on a column file or a CoNLL-U file with labels "
            "O, B-PER, I-PER, ...",
        )
        add(
            tasks,
            "parser",
            _add_train_parser,
            help="a dependency parser",
            description="Train a dependency parser on a treebank in CoNLL-U.",
        )
        add(
            tasks,
            "constituency",
            _add_train_constituency,
            help="a constituency parser",
            description="Train a constituency parser on bracketed trees (the Penn format).",
        )
        add(
            tasks,
            "segmenter",
            _add_train_segmenter,
            help="an image segmenter, which predicts a class for every pixel",
            description="Train on a folder that contains images/ and masks/ (images as PNG or "
            "JPEG, masks as PNG), or files such as dog.jpg and dog_mask.png.",
        )
        add(
            tasks,
            "pipeline",
            _add_train_pipeline,
            help="all stages from running text to trees",
            description="Train a tokeniser, taggers, a lemmatiser and a dependency parser on a "
            "treebank in CoNLL-U, and store them in one file.",
        )

    add(subparsers, "train", add_train, help="train a model on labelled data")
    add(
        subparsers,
        "annotate",
        _add_annotate,
        help="annotate running text with a pipeline",
        description="Find the sentences, tokens, tags, lemmas and trees of running text. Blank "
        "lines separate paragraphs.",
    )
    add(
        subparsers,
        "predict",
        _add_predict,
        help="label or parse a file",
        description="Write the input with the predicted column filled in, or appended if it is "
        "missing. Parsers write trees, as CoNLL-U or brackets.",
    )
    add(
        subparsers,
        "evaluate",
        _add_evaluate,
        help="compare predicted labels or trees with gold ones",
    )
    add(subparsers, "inspect", _add_inspect, help="show what a model has learned")
    add(subparsers, "demo", _add_demo, help="a tour on built-in data: tags, digits, trees")
    add(
        subparsers,
        "workbench",
        _add_workbench,
        help="a page on this machine: the algorithms step by step, and text through models",
        description="Serve a page on 127.0.0.1 that shows the algorithms step by step, on scores "
        "that can be changed, and text through the models named here. Ends with Ctrl-C.",
    )
    return parser


def _add_annotate(p: _Parser, commands: Commands) -> None:
    p.add_argument("model", metavar="MODEL", help="model file, or the name of a package")
    p.add_argument(
        "input", metavar="INPUT", help="file of text, or a folder of them; - for standard input"
    )
    p.add_argument(
        "--output", metavar="FILE", help="output file, or folder (default: standard output)"
    )
    p.add_argument(
        "--format",
        choices=("conllu", "json", "html", "text"),
        default="conllu",
        help="of the output: conllu; json, an object for each sentence on a line of its own; html, "
        "a page with the trees; text, tokens separated by blanks (default: conllu)",
    )
    p.add_argument(
        "--confidence", action="store_true", help="write probabilities too (conllu, json)"
    )
    p.add_argument(
        "--without",
        metavar="STAGE",
        action="append",
        help="leave a stage out: splitter, tags, lemmas, parser, entities (may be repeated)",
    )
    _add_threads(p)
    p.set_defaults(command=commands["annotate"])


def _add_predict(p: _Parser, commands: Commands) -> None:
    p.add_argument("model", metavar="MODEL", help="model file")
    p.add_argument(
        "input",
        metavar="INPUT",
        help="file to label; - for standard input; with --cluster also a folder or a pattern",
    )
    p.add_argument(
        "--output",
        "-o",
        metavar="FILE",
        help="output file (default: standard output); with --cluster the folder of the output",
    )
    p.add_argument(
        "--nbest",
        metavar="N",
        type=_count(1),
        default=1,
        help="taggers: write the N best label sequences, one column each (default: 1)",
    )
    p.add_argument(
        "--confidence",
        action="store_true",
        help="taggers: add a column with the probability of each predicted label",
    )
    p.add_argument(
        "--marginals",
        action="store_true",
        help="taggers: add a column with the probabilities of all labels",
    )
    p.add_argument(
        "--known",
        action="store_true",
        help="taggers: keep labels that the input already has (other than _)",
    )
    p.add_argument(
        "--gold-tags",
        action="store_true",
        help="parsers: use the tags of the input instead of predicting them",
    )
    p.add_argument(
        "--overlay", metavar="DIR", help="segmenters: write images with the classes drawn over them"
    )
    p.add_argument(
        "--format",
        choices=("columns", "conllu", "csv", "jsonl", "text", "brackets"),
        help="input format (default: from the file name, else from the content); text is one "
        "sentence per line; brackets are for constituency parsers",
    )
    _add_header(p)
    _add_cluster(p)
    _add_threads(p)
    p.set_defaults(command=commands["predict"])


def _add_evaluate(p: _Parser, commands: Commands) -> None:
    p.add_argument("model", metavar="MODEL", help="model file")
    p.add_argument("gold", metavar="GOLD", help="labelled file; - for standard input")
    p.add_argument("--json", action="store_true", help="print one JSON object only")
    p.add_argument("--html", metavar="FILE", help="write an HTML page with a reliability curve too")
    p.add_argument(
        "--confidence", action="store_true", help="add 95 %% confidence intervals (bootstrap)"
    )
    p.add_argument(
        "--confusions",
        metavar="N",
        type=_count(0),
        default=0,
        help="list the N most frequent confusions (default: 0)",
    )
    p.add_argument(
        "--against",
        metavar="MODEL",
        help="test whether the difference to another model is significant",
    )
    p.add_argument(
        "--gold-tags",
        action="store_true",
        help="parsers: use the tags of the file instead of predicting them",
    )
    p.add_argument(
        "--gold-tokens",
        action="store_true",
        help="pipelines: annotate the words of the treebank instead of its text",
    )
    p.add_argument(
        "--format",
        choices=("columns", "conllu", "csv", "jsonl", "brackets"),
        help="file format (default: from the file name, else from the content)",
    )
    _add_header(p)
    _add_threads(p)
    p.set_defaults(command=commands["evaluate"])


def _add_inspect(p: _Parser, commands: Commands) -> None:
    p.add_argument("model", metavar="MODEL", help="model file")
    p.add_argument(
        "--top",
        metavar="N",
        type=_count(1),
        default=10,
        help="number of features per label (default: 10)",
    )
    p.add_argument(
        "--label", metavar="LABEL", action="append", help="show this label only (may be repeated)"
    )
    p.add_argument(
        "--sentence",
        metavar="TEXT",
        help="explain the labels of a sentence; separate words by spaces and columns by |",
    )
    p.add_argument("file", metavar="INPUT", nargs="?", help="explain the sentences of this file")
    p.add_argument("--input", metavar="FILE", help="the same as INPUT")
    p.add_argument("--html", metavar="FILE", help="write an HTML page instead of printing text")
    p.add_argument(
        "--most",
        metavar="N",
        type=_count(1),
        default=20,
        help="maximum number of sentences or images of the file or folder to show (default: 20)",
    )
    p.set_defaults(command=commands["inspect"])


def _add_demo(p: _Parser, commands: Commands) -> None:
    p.add_argument(
        "--sentences",
        type=_count(50),
        default=1500,
        help="size of the generated treebank, a fifth of which is for testing (default: 1500)",
    )
    p.add_argument(
        "--random-state", type=_count(0), default=0, help="seed of data and learners (default: 0)"
    )
    p.add_argument(
        "--files",
        metavar="FOLDER",
        help="instead of the tour, write train.txt, train.conllu, train.mrg, ... there, to try "
        "the other commands on",
    )
    p.add_argument(
        "--text",
        metavar="FILE",
        help="English text to annotate at the end, if the package structlearn-english is installed "
        "(default: a paragraph of ours)",
    )
    p.set_defaults(command=commands["demo"])


def _add_workbench(p: _Parser, commands: Commands) -> None:
    p.add_argument("models", metavar="MODEL", nargs="*", help="model files to try on text")
    p.add_argument(
        "--port", type=_count(0), default=0, help="port to listen on (default: a free one)"
    )
    p.add_argument("--no-browser", action="store_true", help="print the link, and do not open it")
    p.set_defaults(command=commands["workbench"])


def _add_train_tagger(p: argparse.ArgumentParser, commands: Commands, features: str) -> None:
    _add_training(p, ("hmm",))
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
        "--order", metavar="N", type=_count(1), help="order of the chain (default: 1; ner: 2)"
    )
    p.add_argument(
        "--candidates",
        metavar="N",
        type=_count(0),
        help="labels considered at each token, chosen by a first pass; 0: all (default: all up to "
        "64 labels, else 12 to 48)",
    )
    p.add_argument(
        "--scheme",
        choices=("none", "bio", "iobes", "beginnings"),
        help="predict legal label sequences only; iobes: use S- and E- labels internally",
    )
    p.add_argument(
        "--hash-bits",
        metavar="B",
        type=_count(0),
        default=0,
        help="hash features to 2^B indices (default: 0, no hashing)",
    )
    _add_precision(p, "float32")
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
    _add_cluster(p)
    _add_shard_size(p)
    p.set_defaults(command=commands["train"], task="tagger", preset=features)


def _add_train_segments(p: argparse.ArgumentParser, commands: Commands) -> None:
    _add_training(p)
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
        type=_count(1),
        help="maximum length of a segment in tokens (default: as in training, at most 8)",
    )
    _add_cluster(p)
    _add_shard_size(p)
    p.set_defaults(command=commands["train"], task="segments")


def _add_train_constituency(p: argparse.ArgumentParser, commands: Commands) -> None:
    _add_files(p, "bracketed trees; - for standard input")
    _add_learner(
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
    p.add_argument(
        "--folds",
        metavar="N",
        type=_count(2),
        default=5,
        help="number of folds for predicting the tags of the training data (default: 5)",
    )
    p.add_argument(
        "--min-count",
        metavar="N",
        type=_count(1),
        default=2,
        help="drop features seen fewer times in gold trees (default: 2)",
    )
    p.add_argument(
        "--max-length",
        metavar="N",
        type=_count(1),
        default=100,
        help="skip longer training sentences (default: 100 words)",
    )
    p.add_argument("--functions", action="store_true", help="keep function tags, as in NP-SBJ")
    p.add_argument("--traces", action="store_true", help="keep empty elements")
    p.add_argument(
        "--vertical",
        metavar="V",
        type=_count(1),
        default=2,
        help="pcfg: order of vertical Markovisation (default: 2)",
    )
    p.add_argument(
        "--horizontal",
        metavar="H",
        type=_count(0),
        default=2,
        help="pcfg: order of horizontal Markovisation (default: 2)",
    )
    _add_models(p)
    _add_checkpoint(p)
    _add_running(p)
    _add_cluster(p)
    _add_shard_size(p)
    p.set_defaults(command=commands["train"], task="constituency")


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


def _add_train_segmenter(p: argparse.ArgumentParser, commands: Commands) -> None:
    _add_files(p, "folder with images and masks", "FOLDER")
    _add_learner(
        p,
        "segmenter",
        "adagrad",
        "crf learns by pseudo-likelihood, with C 10,000 divided by the number of images",
    )
    p.add_argument(
        "--superpixels",
        metavar="N",
        type=_count(0),
        default=0,
        help="label about N regions per image instead of pixels; needs scikit-image "
        "(default: 0, pixels)",
    )
    p.add_argument(
        "--scales",
        metavar="LIST",
        type=_scales,
        default=(1.0, 2.0, 4.0, 8.0),
        help="radii of the blurred features in pixels (default: 1,2,4,8)",
    )
    p.add_argument(
        "--no-place", action="store_true", help="do not use the position in the image as a feature"
    )
    p.add_argument(
        "--classes",
        metavar="FILE",
        help="class names: one line per mask value, or JSON (a list, or an object by value)",
    )
    p.add_argument(
        "--void",
        metavar="VALUE",
        default="auto",
        help="mask value that means unknown: 0 to 255, #rrggbb, or none (default: 255, unless "
        "there are two values only)",
    )
    _add_models(p)
    _add_checkpoint(p)
    _add_running(p)
    _add_cluster(p)
    _add_shard_size(p)
    p.set_defaults(command=commands["train"], task="segmenter")


def _add_precision(p: argparse.ArgumentParser, default: str) -> None:
    p.add_argument(
        "--precision",
        choices=("float32", "float16", "int8"),
        default=default,
        help=f"precision of the weights in the file (default: {default})",
    )


def _add_train_parser(p: argparse.ArgumentParser, commands: Commands) -> None:
    _add_files(p, "treebank in CoNLL-U; - for standard input")
    p.add_argument(
        "--order",
        type=int,
        choices=(1, 2),
        help="1: score single arcs, 2: siblings and grandparents too (default: 2; crf: 1)",
    )
    p.add_argument(
        "--projective", action="store_true", help="predict trees without crossing arcs only"
    )
    _add_learner(p, "parser", "passive-aggressive")
    p.add_argument(
        "--gold-tags",
        action="store_true",
        help="train on the tags of the file, without training taggers",
    )
    p.add_argument(
        "--folds",
        metavar="N",
        type=_count(2),
        default=5,
        help="number of folds for predicting the tags of the training data (default: 5)",
    )
    p.add_argument("--lemmas", action="store_true", help="use lemmas as features")
    p.add_argument(
        "--hash-bits",
        metavar="B",
        type=_count(10),
        help="hash features to 2^B weights (default: 24; svm, crf: 20)",
    )
    _add_precision(p, "float16")
    _add_models(p)
    _add_checkpoint(p)
    _add_running(p)
    _add_cluster(p)
    _add_shard_size(p)
    p.set_defaults(command=commands["train"], task="parser")


def _add_train_pipeline(p: argparse.ArgumentParser, commands: Commands) -> None:
    _add_files(p, "treebank in CoNLL-U with comments '# text = ...'")
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
    p.add_argument(
        "--folds",
        metavar="N",
        type=_count(2),
        default=5,
        help="number of folds for predicting the tags of the training data (default: 5)",
    )
    p.add_argument(
        "--hash-bits",
        metavar="B",
        type=_count(10),
        help="parser: hash features to 2^B weights (default: 24)",
    )
    p.add_argument(
        "--n-models",
        metavar="N",
        type=_count(1),
        help="taggers: average the weights of N runs with different seeds (default: 5)",
    )
    p.add_argument(
        "--prune",
        metavar="W",
        type=_amount,
        default=0.0,
        help="taggers: drop weights up to this absolute value, for a smaller file (default: 0)",
    )
    p.add_argument(
        "--checkpoint",
        metavar="DIR",
        help="keep finished stages in this folder, and go on from there after an interruption",
    )
    _add_precision(p, "float16")
    _add_running(p)
    p.set_defaults(command=commands["train"], task="pipeline")


def _add_training(p: argparse.ArgumentParser, extra: tuple[str, ...] = ()) -> None:
    """Add the options of both kinds of taggers."""
    _add_files(p, "labelled file; - for standard input")
    p.add_argument(
        "--format",
        choices=("columns", "conllu", "csv", "jsonl"),
        help="file format (default: from the file name, else from the content)",
    )
    _add_header(p)
    _add_learner(p, "tagger", "perceptron", extra=extra)
    p.add_argument(
        "--all-possible-states",
        metavar="N",
        type=_count(0),
        help="give a feature weights for all labels if it was seen with at least N labels; "
        "1: always, 0: never",
    )
    p.add_argument(
        "--min-count",
        metavar="N",
        type=_count(0),
        default=0,
        help="drop features seen fewer times (default: 0)",
    )
    p.add_argument(
        "--prune",
        metavar="X",
        type=_amount,
        default=0.0,
        help="drop weights of at most this absolute value (default: 0)",
    )
    p.add_argument(
        "--n-models",
        metavar="N",
        type=_count(1),
        help="average the weights of N models with different seeds",
    )
    _add_checkpoint(p)
    _add_running(p)


def _add_learner(
    p: argparse.ArgumentParser,
    task: str,
    default: str,
    more: str = "",
    extra: tuple[str, ...] = (),
) -> None:
    """Add the learner and its parameters, which have the names and the meaning of the estimators.

    Parameters
    ----------
    task : str
        Whose defaults to tell.
    more : str
        What else to say about the learners.
    extra : tuple of str
        Learners that this task has and others do not.
    """
    p.add_argument(
        "--learner",
        choices=(*LEARNERS, *extra),
        default=default,
        help=f"learning algorithm (default: {default})" + (f"; {more}" if more else ""),
    )
    for name, text in _LEARNER_OPTIONS.items():
        text = f"{text} (default: {default_of(task, name)})"
        p.add_argument(f"--{name}", metavar="X", type=_amount, help=text)
    p.add_argument(
        "--solver", metavar="NAME", help="svm, crf: solver, as in the estimators (default: auto)"
    )
    p.add_argument(
        "--max-iter",
        metavar="N",
        type=_count(1),
        help=f"maximum number of passes or iterations (default: {default_of(task, 'max_iter')})",
    )
    _add_patience(p)


def _add_files(p: argparse.ArgumentParser, what: str, metavar: str = "TRAIN") -> None:
    p.add_argument("train", metavar=metavar, help=what)
    p.add_argument("--model", "-o", metavar="FILE", required=True, help="model file to write")
    p.add_argument(
        "--dev",
        metavar="FOLDER" if metavar == "FOLDER" else "FILE",
        help="development data, scored after each pass; the best pass is kept",
    )


def _add_patience(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--patience",
        metavar="N",
        type=_count(0),
        default=5,
        help="with --dev: stop after N passes without improvement (default: 5)",
    )


def _add_models(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--n-models",
        metavar="N",
        type=_count(1),
        default=1,
        help="average the weights of N models with different seeds (default: 1)",
    )


def _add_checkpoint(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="save the state of training here; if the file exists, training resumes from it",
    )


def _add_cluster(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--cluster",
        metavar="WHERE",
        help="use Ray: local (this machine), auto (the cluster it is part of) or an address",
    )
    p.add_argument(
        "--workers",
        metavar="N",
        type=_count(1),
        help="with --cluster: number of workers, each with --threads threads (default: all cores)",
    )


def _add_shard_size(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--shard-size",
        metavar="MB",
        type=_amount,
        help="with --cluster: size of the parts of the training data (default: 32, or less)",
    )


def _add_running(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--random-state", metavar="S", type=_count(0), default=0, help="random seed (default: 0)"
    )
    p.add_argument("--quiet", "-q", action="store_true", help="do not show progress")
    _add_threads(p)


def _add_header(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--header",
        action="store_true",
        help="taggers: the first line of the column file names the columns, skip it",
    )


def _add_threads(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--threads", metavar="N", type=_count(1), default=1, help="number of threads (default: 1)"
    )
