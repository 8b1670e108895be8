"""The command line: train, predict, evaluate, inspect, demo.

Only the result goes to standard output; progress and errors go to standard error. An error of the
user's or of a file's is a line or two and exit code 1. Parsed by argparse, and everything else is
imported where it is used, because ``structlearn predict`` on one sentence takes less time than
importing most libraries: its plain form does not even wait for argparse.
"""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; ends the process."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    options = _plain_prediction(arguments)
    if options is None:
        from .arguments import make_parser

        options = make_parser(COMMANDS).parse_args(arguments)
    command: Callable[[Any], int] = options.command
    if not (sys.stdout.encoding or "utf-8").lower().startswith("utf"):
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
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


def _plain_prediction(arguments: Sequence[str]) -> Any:
    """Read ``predict MODEL INPUT [--output FILE] [--threads N]``; None for anything else."""
    if len(arguments) < 3 or arguments[0] != "predict":
        return None
    given = {"--output": "-", "--threads": "1"}
    names, rest = arguments[1:3], list(arguments[3:])
    while len(rest) >= 2 and rest[0] in given and not rest[1].startswith("-"):
        given[rest[0]] = rest[1]
        del rest[:2]
    threads = given["--threads"]
    if rest or any(name.startswith("-") and name != "-" for name in names):
        return None
    if not threads.isdecimal() or len(threads) > 9 or int(threads) < 1:
        return None
    return SimpleNamespace(
        command=_predict,
        model=names[0],
        input=names[1],
        output=given["--output"],
        threads=int(threads),
        format=None,
        nbest=1,
        confidence=False,
        marginals=False,
        known=False,
        gold_tags=False,
    )


def _fail(message: str, code: int) -> int:
    print(f"structlearn: {message}", file=sys.stderr)
    return code


def _plain_warnings() -> None:
    """Let warnings read as errors do, without a line of source."""
    import warnings

    def show(message: Warning | str, *rest: Any, **named: Any) -> None:
        print(f"structlearn: warning: {message}", file=sys.stderr)

    warnings.showwarning = show


# -- commands -------------------------------------------------------------------------------------


def _train_tagger(o: Any) -> int:
    from .tasks.tagger import Tagger

    _plain_warnings()
    _check_writable(o.model, o.train, o.dev or "")
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
        unknown=o.unknown,
        names=not o.no_names,
        checkpoint=o.checkpoint,
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


def _train_segments(o: Any) -> int:
    from .tasks.segment_tagger import SegmentTagger

    _plain_warnings()
    _check_writable(o.model, o.train, o.dev or "")
    tagger = SegmentTagger(
        o.features,
        o.learner,
        target=o.target,
        max_length=o.max_length,
        max_iter=o.max_iter,
        patience=o.patience,
        C=o.C,
        l1=o.l1,
        all_states=o.all_states,
        min_count=o.min_count,
        prune=o.prune,
        n_models=o.n_models,
        n_jobs=o.threads,
        random_state=o.random_state,
        verbose=0 if o.quiet else 1,
    )
    tagger.fit(o.train, o.dev, format=o.format).save(o.model)
    return 0


def _train_parser(o: Any) -> int:
    from .tasks.parser import DependencyParser

    _check_writable(o.model, o.train, o.dev or "")
    parser = DependencyParser(
        o.order,
        o.learner,
        projective=o.projective,
        max_iter=o.max_iter,
        patience=o.patience,
        C=o.C,
        gold_tags=o.gold_tags,
        folds=o.folds,
        lemmas=o.lemmas,
        n_models=o.n_models,
        hash_bits=o.hash_bits,
        n_jobs=o.threads,
        random_state=o.random_state,
        verbose=0 if o.quiet else 1,
    )
    try:
        parser.fit(o.train, o.dev)
    except KeyboardInterrupt:
        if not hasattr(parser, "model_"):
            raise
        parser.save(o.model)
        return _fail("interrupted; the model holds the weights reached so far", 130)
    parser.save(o.model)
    return 0


def _predict(o: Any) -> int:
    tagger = _load(o)
    if hasattr(tagger.model_, "taggers"):
        return _predict_trees(tagger, o)
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


def _predict_trees(parser: Any, o: Any) -> int:
    if o.nbest > 1 or o.confidence or o.marginals or o.known:
        raise ValueError("--nbest, --confidence, --marginals and --known are for taggers")
    parser.label_file(
        o.input,
        sys.stdout.buffer if o.output in (None, "-") else o.output,
        format=o.format,
        gold_tags=o.gold_tags,
        progress=_Counter("tokens").show if sys.stderr.isatty() else None,
    )
    return 0


def _evaluate(o: Any) -> int:
    tagger = _load(o)
    trees = {"gold_tags": o.gold_tags} if hasattr(tagger.model_, "taggers") else {}
    other = None if o.against is None else _load_model(o.against)
    if o.json:
        import json

        found = tagger.evaluate(o.gold, o.format, confidence=o.confidence, against=other, **trees)
        print(json.dumps(found))
    else:
        print(
            tagger.report(
                o.gold,
                o.format,
                confidence=o.confidence,
                confusions=o.confusions,
                against=other,
                **trees,
            )
        )
    return 0


def _inspect(o: Any) -> int:
    from .tasks.inspection import inspect_html, inspect_text

    o.threads = 1
    tagger = _load(o)
    if hasattr(tagger.model_, "taggers"):
        return _inspect_parser(tagger, o)
    if not hasattr(tagger.model_, "feature_names"):
        raise ValueError(f"{o.model}: only models of taggers can be inspected so far")
    sentences: Any = None
    if o.sentence is not None:
        sentences = [[tuple(token.split("|")) for token in o.sentence.split()]]
    elif o.input is not None:
        sentences = o.input
    if o.html is not None:
        from .text.files import replaced

        page = inspect_html(tagger, top=o.top, labels=o.label, sentences=sentences)
        with replaced(o.html) as file:
            file.write(page.encode())
    else:
        print(inspect_text(tagger, top=o.top, labels=o.label, sentences=sentences))
    return 0


def _inspect_parser(parser: Any, o: Any) -> int:
    from .tasks.parser_inspection import inspect_parser, inspect_parser_html

    sentences: Any = o.input
    if o.sentence is not None:
        sentences = [o.sentence.split()]
    if o.html is not None:
        from .text.files import replaced

        with replaced(o.html) as file:
            file.write(inspect_parser_html(parser, o.top, sentences).encode())
    else:
        print(inspect_parser(parser, o.top, sentences))
    return 0


def _demo(o: Any) -> int:
    from .demo import run as tour

    tour(sentences=o.sentences, random_state=o.random_state)
    return 0


def _load(o: Any) -> Any:
    tagger = _load_model(o.model)
    tagger.n_jobs = o.threads
    return tagger


def _load_model(path: str) -> Any:
    from .io.container import read_container

    description, tensors = read_container(path)
    if description.get("task") == "segments":
        from .tasks.segment_model import SegmentModel
        from .tasks.segment_tagger import SegmentTagger

        return SegmentTagger.from_model(SegmentModel.from_container(path, description, tensors))
    if description.get("task") == "parser":
        from .tasks.parser import DependencyParser
        from .tasks.parser_model import ParserModel

        return DependencyParser.from_model(ParserModel.from_container(path, description, tensors))
    from .tasks.tagger import Tagger
    from .tasks.tagger_model import TaggerModel

    return Tagger.from_model(TaggerModel.from_container(path, description, tensors))


def _check_writable(path: str, *sources: str) -> None:
    """Find out before the work that the model cannot be written, or would replace a source."""
    from .exceptions import FileError

    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        raise FileError(path, "is a folder; --model names a file")
    if not os.path.isdir(folder):
        raise FileError(path, f"there is no folder {folder!r}")
    if not os.access(folder, os.W_OK):
        raise FileError(path, f"the folder {folder!r} cannot be written to")
    for name in filter(os.path.exists, sources):
        if os.path.exists(path) and os.path.samefile(path, name):
            raise FileError(path, "the model would replace the file to learn from")


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


#: What each command does, by its name.
COMMANDS: dict[str, Callable[[Any], int]] = {
    "train tagger": _train_tagger,
    "train segments": _train_segments,
    "train parser": _train_parser,
    "predict": _predict,
    "evaluate": _evaluate,
    "inspect": _inspect,
    "demo": _demo,
}
