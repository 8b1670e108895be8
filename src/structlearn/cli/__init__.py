"""The command line: train, annotate, predict, evaluate, rank, label, inspect, serve, ...

Only the result goes to standard output; progress and errors go to standard error. A mistake in the
arguments or in a file gives a short message and exit code 1. Modules are imported where they are
used, because labelling a sentence takes less time than importing most libraries.
"""

from __future__ import annotations

import gc
import os
import sys

from ..missing import BROUGHT
from ..printing import (
    Results,
    UnreadError,
    drop_unwritten,
    note,
    on_terminal,
    prepare_streams,
    put,
    visible,
)

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; ends the process."""
    sys.excepthook = _show_crash
    code = run(sys.argv[1:] if arguments is None else arguments)
    gc.freeze()  # the process ends: nobody has to look for garbage once more
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    from .arguments import make_parser

    # Threads are the core's; those of NumPy's BLAS would only take time to start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A command makes little garbage in circles; looking for it is a tenth of the start.
    gc.set_threshold(50_000, 20, 20)
    prepare_streams()
    _plain_warnings()
    try:
        options = make_parser(COMMANDS).parse_args(arguments)
        command: Callable[[Any], int] = options.command
        code = command(options)
        Results().flush()
        return code
    except (UnreadError, BrokenPipeError):  # argparse writes help by itself
        return 0
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except MemoryError as error:
        return _fail(f"out of memory: {error}" if str(error) else "out of memory", 1)
    except ValueError as error:
        return _fail(str(error), 1)
    except ImportError as error:  # of a package that is not installed
        home, _, name = (error.name or "").partition(".")
        if home == "structlearn" and name not in BROUGHT:
            raise
        return _fail(str(error), 1)
    except OSError as error:  # readers and writers of files raise FileError, a ValueError
        return _fail(f"{error.filename or 'standard output'}: {error.strerror or error}", 1)
    finally:
        drop_unwritten()


def _fail(message: str, code: int) -> int:
    note(f"structlearn: {message}")
    return code


def _show_crash(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """Print a traceback: its messages may quote what comes from outside."""
    import traceback

    for part in traceback.format_exception(kind, error, trace):
        for line in part.splitlines():
            note(line)


def _plain_warnings() -> None:
    """Print warnings in the style of errors, without a line of source."""
    import warnings

    def show(message: Warning | str, *rest: Any, **named: Any) -> None:
        note(f"structlearn: warning: {message}")

    warnings.showwarning = show


# -- commands -------------------------------------------------------------------------------------


def _train(o: Any) -> int:
    from .commands import commands_of

    _check_writable(o.model, o.train, o.dev or "")
    try:
        save = commands_of(o.task).train(o)
        save()
        if not o.quiet:
            _announce(o.model, "annotate" if o.task == "pipeline" else "predict")
    except KeyboardInterrupt:  # an older file of that name is unchanged
        return _fail("interrupted: no model was written", 130)
    return 0


def _announce(path: str, use: str) -> None:
    """Say what was saved, and what can be done with it."""
    from shlex import quote

    size = os.path.getsize(path)
    amount = f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"
    note(
        f"saved {path}, {amount}; next: structlearn evaluate {quote(path)} GOLD, or "
        f"structlearn {use} {quote(path)} INPUT"
    )


def _predict(o: Any) -> int:
    from .commands.shared import check_output, say_written

    check_output(o.output, [o.input, o.model])
    model, commands = _load(o)
    if o.cluster is not None:
        return _predict_files(model, o, commands)
    if o.workers is not None:
        raise ValueError("--workers goes with --cluster")
    if not on_terminal("stderr"):
        code = int(commands.predict(model, o, None))
    else:
        from ..meter import Meter

        with Meter("labelling", unit=model._unit) as meter:
            code = int(commands.predict(model, o, meter))
    say_written(o.output)
    return code


def _annotate(o: Any) -> int:
    model, commands = _load(o)
    if not hasattr(commands, "annotate"):
        raise ValueError(
            f"{o.model} is {getattr(getattr(model, 'model_', model), 'called', 'another model')}, "
            "not a pipeline; use 'structlearn predict', which takes one sentence on each line"
        )
    if not on_terminal("stderr"):
        return int(commands.annotate(model, o, None))
    from ..meter import Meter

    with Meter("annotating", unit="words") as meter:
        return int(commands.annotate(model, o, meter))


def _predict_files(model: Any, o: Any, commands: Any) -> int:
    """Label files on a cluster; list those that are bad at the end."""
    from ..distributed import predict

    if not hasattr(commands, "label_options"):
        raise ValueError("--cluster labels with taggers, parsers and segmenters, one at a time")
    if o.output in (None, "-"):
        raise ValueError("--cluster needs --output, the folder of the labelled files")
    options = {"workers": o.workers, "threads": o.threads, "verbose": True}
    found = predict(
        o.model, o.input, o.output, cluster=o.cluster, **options, **commands.label_options(model, o)
    )
    done = f"{len(found.done)} files labelled, {found.tokens:,} {model._unit}"
    if found.skipped:
        done += f"; {len(found.skipped)} were labelled before"
    note(f"structlearn: {done}")
    for name, reason in sorted(found.bad.items()):
        # Most reasons name the file themselves.
        told = reason if reason.startswith(name) else f"{name}: {reason}"
        note(f"structlearn: {told}")
    return 1 if found.bad else 0


def _evaluate(o: Any) -> int:
    from .commands.shared import check_output

    check_output(o.html, [o.gold, o.model, o.against], page=True)
    model, commands = _load(o)
    return int(commands.evaluate(model, o))


def _rank(o: Any) -> int:
    from .commands.shared import check_output

    check_output(o.output, [o.input, o.model])
    model, commands = _load(o)
    if not hasattr(commands, "rank"):
        raise ValueError(
            f"rank is for one model, and {o.model} is a pipeline. In Python each of its stages "
            'ranks sentences: pipeline.stage("parser").least_sure(sentences)'
        )
    return int(commands.rank(model, o))


def _agree(o: Any) -> int:
    from .commands.annotators import agree
    from .commands.shared import check_output

    check_output(o.output, [o.input])
    return agree(o)


def _inspect(o: Any) -> int:
    from .commands.shared import check_output

    o.threads = 1
    if o.file is not None and o.input is not None:
        raise ValueError("name the input once: INPUT and --input mean the same")
    o.input = o.input or o.file
    check_output(o.html, [o.input, o.model], page=True)
    model, commands = _load(o)
    return int(commands.inspect(model, o))


def _demo(o: Any) -> int:
    if o.files is not None:
        from ..datasets import write_treebank

        names = write_treebank(o.files, o.sentences, random_state=o.random_state)
        put(f"wrote {', '.join(names)} to {visible(o.files)}")
        return 0
    from ..demo import run as tour

    tour(sentences=o.sentences, random_state=o.random_state, text=o.text)
    return 0


def _workbench(o: Any) -> int:
    from .commands.workbench import serve

    return serve(o)


def _label(o: Any) -> int:
    from .commands.label import label

    return label(o)


def _serve(o: Any) -> int:
    from .commands.serve import serve

    return serve(o)


def _load(o: Any) -> tuple[Any, Any]:
    """Return the model that the arguments name, and the commands of its task."""
    from ..exceptions import FileError
    from .commands import read_model

    try:
        model, commands = read_model(o.model)
    except FileError as error:
        other = getattr(o, "input", None) or getattr(o, "gold", None)
        if other and _is_model(other):
            raise FileError(
                o.model, f"it is not a model, but {other} is one: the model comes first", None
            ) from error
        raise
    model.n_jobs = o.threads
    return model, commands


def _is_model(path: str) -> bool:
    """Tell whether a file is a model."""
    from ..exceptions import FileError
    from ..io.container import read_container

    try:
        read_container(path)
    except FileError:
        return False
    return True


def _check_writable(path: str, *sources: str) -> None:
    """Raise before training if the model cannot be written, or would replace a training file."""
    from ..exceptions import FileError

    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        raise FileError(path, "is a folder; --model must name a file")
    if not os.path.isdir(folder):
        raise FileError(path, f"the folder {folder!r} does not exist")
    if not os.access(folder, os.W_OK):
        raise FileError(path, f"the folder {folder!r} is not writable")
    for name in filter(os.path.exists, sources):
        if os.path.exists(path) and os.path.samefile(path, name):
            raise FileError(
                path, "the model would overwrite the training data: write to another name"
            )


#: The function that runs each command.
def _convert(o: Any) -> int:
    from .commands.conversion import convert
    from .commands.shared import check_output

    check_output(o.output, [o.model])
    remark = convert(o.model, o.output, columns=o.columns, boundaries=o.boundaries)
    note(f"wrote {o.output}")
    if remark:
        note(remark)
    return 0


def _convert_texts(o: Any) -> int:
    from ..text.conversion import convert_file
    from ..text.tokenisers import TokeniserName
    from .commands.shared import check_output

    check_output(o.output, [o.input])
    if o.tokens is not None:
        TokeniserName()("tokens", o.tokens)
    names = ("format", "to", "target", "tokens", "offsets")
    options = {name: getattr(o, name) for name in names}
    n_texts, n_spans = convert_file(o.input, o.output, **options)
    texts, spans = "text" if n_texts == 1 else "texts", "span" if n_spans == 1 else "spans"
    note(f"wrote {o.output}: {n_texts:,} {texts}, {n_spans:,} {spans}")
    return 0


COMMANDS: dict[str, Callable[[Any], int]] = {
    "train": _train,
    "annotate": _annotate,
    "predict": _predict,
    "evaluate": _evaluate,
    "rank": _rank,
    "agree": _agree,
    "label": _label,
    "inspect": _inspect,
    "convert": _convert_texts,
    "convert-model": _convert,
    "serve": _serve,
    "demo": _demo,
    "workbench": _workbench,
}
