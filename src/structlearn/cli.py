"""The command line: train, predict, evaluate, inspect, demo.

Only the result goes to standard output; progress and errors go to standard error. An error of the
user's or of a file's is a line or two and exit code 1. Parsed by argparse, and everything else is
imported where it is used, because ``structlearn predict`` on one sentence takes less time than
importing most libraries.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; ends the process."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        code = command(options)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:  # whoever was reading has seen enough
        _close_output()
        return 0
    except MemoryError as error:
        return _fail(f"out of memory: {error}" if str(error) else "out of memory", 1)
    except ValueError as error:
        return _fail(str(error), 1)
    except OSError as error:  # those of files are told by their readers and writers
        _close_output()
        return _fail(f"{error.filename or 'standard output'}: {error.strerror or error}", 1)


def _close_output() -> None:
    """Let what is left of the output go nowhere: Python would complain again when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> int:
    print(f"structlearn: {message}", file=sys.stderr)
    return code


# -- commands -------------------------------------------------------------------------------------


def _train_tagger(o: argparse.Namespace) -> int:
    from .tasks.tagger import Tagger

    _check_writable(o.model)
    tagger = Tagger(
        o.features,
        o.learner,
        order=o.order,
        target=o.target,
        scheme=o.scheme,
        max_iter=o.max_iter,
        patience=o.patience,
        C=o.C,
        l1=o.l1,
        all_states=o.all_states,
        min_count=o.min_count,
        hash_bits=o.hash_bits,
        prune=o.prune,
        n_models=o.n_models,
        names=not o.no_names,
        n_jobs=o.threads,
        random_state=o.random_state,
        verbose=0 if o.quiet else 1,
    )
    start = None if o.start is None else Tagger.load(o.start)
    if o.stream:
        if o.dev or start:
            raise ValueError("--stream goes with neither --dev nor --start")
        tagger.fit_stream(o.train, format=o.format)
    else:
        tagger.fit(o.train, o.dev, start=start, format=o.format)
    tagger.save(o.model, o.precision)
    return 0


def _predict(o: argparse.Namespace) -> int:
    tagger = _load(o)
    if (o.confidence or o.marginals) and tagger.model_.temperature is None:
        print(
            "structlearn: the probabilities are not calibrated: train with --dev",
            file=sys.stderr,
        )
    output = sys.stdout.buffer if o.output in (None, "-") else o.output
    tagger.label_file(
        o.input,
        output,
        format=o.format,
        nbest=o.nbest,
        confidence=o.confidence,
        marginals=o.marginals,
        known=o.known,
        progress=_Counter("tokens").show if sys.stderr.isatty() else None,
    )
    return 0


def _evaluate(o: argparse.Namespace) -> int:
    tagger = _load(o)
    if o.json:
        import json

        print(json.dumps(tagger.evaluate(o.gold, format=o.format)))
    else:
        print(tagger.report(o.gold, format=o.format, confidence=o.confidence))
    return 0


def _inspect(o: argparse.Namespace) -> int:
    from .tasks.inspection import inspect_html, inspect_text

    o.threads = 1
    tagger = _load(o)
    sentences: Any = None
    if o.sentence is not None:
        sentences = [[tuple(token.split("|")) for token in o.sentence.split()]]
    elif o.input is not None:
        sentences = o.input
    if o.html is not None:
        from .text.files import replaced

        page = inspect_html(tagger, top=o.top, sentences=sentences)
        with replaced(o.html) as file:
            file.write(page.encode())
    else:
        print(inspect_text(tagger, top=o.top, labels=o.label, sentences=sentences))
    return 0


def _demo(o: argparse.Namespace) -> int:
    from .demo import run as tour

    tour(sentences=o.sentences, random_state=o.random_state)
    return 0


def _load(o: argparse.Namespace) -> Any:
    from .tasks.tagger import Tagger

    tagger = Tagger.load(o.model)
    tagger.n_jobs = o.threads
    return tagger


def _check_writable(path: str) -> None:
    """Find out before the work, not after it, that the model cannot be written."""
    from .exceptions import FileError

    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        raise FileError(path, "is a folder; --model names a file")
    if not os.path.isdir(folder):
        raise FileError(path, f"there is no folder {folder!r}")
    if not os.access(folder, os.W_OK):
        raise FileError(path, f"the folder {folder!r} cannot be written to")


class _Counter:
    """A number that counts up on a terminal, from the second second on."""

    def __init__(self, what: str) -> None:
        import time

        self.what = what
        self.clock = time.monotonic
        self.next = self.clock() + 2.0

    def show(self, number: int) -> None:
        """Show a number, a few times a second."""
        if self.clock() < self.next:
            return
        self.next = self.clock() + 0.2
        print(f"\r{number:,} {self.what}", end="", file=sys.stderr, flush=True)


# -- arguments ------------------------------------------------------------------------------------


class _Version(argparse.Action):
    """Looks the version up only when asked: finding it takes longer than labelling a sentence."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from . import __version__

        print(__version__)
        parser.exit()


def _count(least: int) -> Callable[[str], int]:
    def whole_number(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if number < least:
            raise argparse.ArgumentTypeError(f"{number} is below {least}")
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


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="structlearn",
        description="Structured prediction: learn and predict tags, chunks, entities.",
    )
    parser.add_argument("--version", action=_Version, dest="version")
    # Without prog, argparse works it out by formatting a help text first.
    commands = parser.add_subparsers(metavar="COMMAND", required=True, prog="structlearn")

    train = commands.add_parser("train", help="learn a model from a labelled file")
    tasks = train.add_subparsers(metavar="TASK", required=True, prog="structlearn train")
    _add_train_tagger(
        tasks.add_parser(
            "tagger",
            help="a tagger, chunker or entity recogniser",
            description="Learn to label tokens from a column file or a CoNLL-U file.",
        )
    )

    predict = commands.add_parser(
        "predict",
        help="label a file",
        description="Write the input with the predicted column filled, or appended where it is "
        "missing.",
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
        help="for parsers; a tagger reads the columns as they are",
    )
    _add_format(predict)
    _add_threads(predict)
    predict.set_defaults(command=_predict)

    evaluate = commands.add_parser("evaluate", help="compare a model's labels with gold labels")
    evaluate.add_argument("model", metavar="MODEL", help="a model file")
    evaluate.add_argument("gold", metavar="GOLD", help="a labelled file; - is standard input")
    evaluate.add_argument("--json", action="store_true", help="one JSON object, nothing else")
    evaluate.add_argument(
        "--confidence", action="store_true", help="95 %% confidence intervals by the bootstrap"
    )
    _add_format(evaluate)
    _add_threads(evaluate)
    evaluate.set_defaults(command=_evaluate)

    inspect = commands.add_parser("inspect", help="look at what a model has learned")
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
    inspect.set_defaults(command=_inspect)

    demo = commands.add_parser("demo", help="the tour on built-in data")
    demo.add_argument(
        "--sentences",
        type=_count(50),
        default=1500,
        help="size of the made treebank; a fifth of it is for testing",
    )
    demo.add_argument(
        "--random-state", type=_count(0), default=0, help="seed of the data and the learners"
    )
    demo.set_defaults(command=_demo)
    return parser


def _add_train_tagger(p: argparse.ArgumentParser) -> None:
    p.add_argument("train", metavar="TRAIN", help="a labelled file; - is standard input")
    p.add_argument("--model", metavar="FILE", required=True, help="where the model goes")
    p.add_argument("--dev", metavar="FILE", help="scored after each pass; the best pass is kept")
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
    _add_format(p)
    p.add_argument("--learner", choices=("perceptron", "svm", "crf", "hmm"), default="perceptron")
    p.add_argument("--order", metavar="N", type=_count(1), default=1, help="of the chain (1)")
    p.add_argument(
        "--scheme",
        choices=("bio", "iobes"),
        help="only legal chunk labels; iobes: learn S- and E- labels too",
    )
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
        "--all-states", action="store_true", help="weights for every feature with every label"
    )
    p.add_argument(
        "--min-count",
        metavar="N",
        type=_count(0),
        default=0,
        help="leave out features seen fewer times",
    )
    p.add_argument(
        "--hash-bits", metavar="B", type=_count(0), default=0, help="fold features to 2^B"
    )
    p.add_argument(
        "--prune", metavar="X", type=_amount, default=0.0, help="leave out weights up to this size"
    )
    p.add_argument(
        "--n-models",
        metavar="N",
        type=_count(1),
        default=1,
        help="average the weights of N seeds (perceptron)",
    )
    p.add_argument(
        "--precision",
        choices=("float32", "float16", "int8"),
        default="float32",
        help="of the weights in the file",
    )
    p.add_argument("--no-names", action="store_true", help="a smaller model, not to be inspected")
    p.add_argument("--start", metavar="MODEL", help="go on from this model")
    p.add_argument(
        "--stream",
        action="store_true",
        help="read the file anew each pass: for files larger than memory (perceptron)",
    )
    p.add_argument("--random-state", metavar="S", type=_count(0), default=0, help="seed (0)")
    p.add_argument("--quiet", action="store_true", help="no progress")
    _add_threads(p)
    p.set_defaults(command=_train_tagger)


def _add_format(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--format",
        choices=("columns", "conllu"),
        help="by default by the file's name, else its content",
    )


def _add_threads(p: argparse.ArgumentParser) -> None:
    p.add_argument("--threads", metavar="N", type=_count(1), default=1, help="threads (1)")
