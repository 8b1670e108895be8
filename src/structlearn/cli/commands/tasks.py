"""Commands of the tasks over files: taggers, parsers, segmenters."""

from __future__ import annotations

from ...loading import class_of
from ...printing import note, on_terminal, put, put_json
from .shared import constraints_of, output_of, refuse, source_of, write_page

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# -- training -------------------------------------------------------------------------------------


def train(o: Any) -> Callable[[], None]:
    """Learn a model; return what saves it."""
    kind = class_of("word lattice" if getattr(o, "lattice", False) else o.task)
    options = {name: getattr(o, name) for name in kind._declared if hasattr(o, name)}
    options |= {"n_jobs": o.threads, "verbose": 0 if o.quiet else 1}
    if "constraints" in options:
        options["constraints"] = constraints_of(o)
    if o.task == "tagger":
        # A hidden Markov model has no features: the preset of the command is not for it.
        options["features"] = o.features or ("auto" if o.learner == "hmm" else o.preset)
    elif o.task == "parser":
        options["order"] = o.order or (1 if o.learner == "crf" or o.temperature else 2)
    elif o.task == "segmenter" and o.void == "none":
        options["void"] = None
    if getattr(o, "tune", None):
        options |= _tuned(o, kind, options)
    task = kind(**options)
    start = kind.load(o.start) if getattr(o, "start", None) else None
    if getattr(o, "stream", False):
        if o.cluster:
            raise ValueError("--stream reads one file on one machine: without --cluster")
        if o.sentence or o.word or o.text:
            raise ValueError("--stream reads column files and CoNLL-U, not tables")
        task.fit_stream(o.train, dev=o.dev, start=start, format=o.format)
    else:
        _fit(task, o, start=start, format=getattr(o, "format", None))
    return lambda: task.save(o.model, getattr(o, "precision", None))


def _tuned(o: Any, kind: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the values of the parameters that --tune names."""
    if getattr(o, "stream", False):
        raise ValueError("--tune reads the training file as a whole: without --stream")
    if o.cluster is not None or o.train == "-":
        raise ValueError("--tune needs a training file, on one machine")
    from ...text.sources import read_source
    from .tuning import choose

    corpus = read_source(source_of(o, o.train), o.format)
    dev = None if o.dev is None else read_source(source_of(o, o.dev), o.format)
    return choose(o, kind, options, corpus, dev)


def _fit(task: Any, o: Any, **more: Any) -> None:
    """Fit a task to the training file, on a cluster if one was named."""
    more = {name: value for name, value in more.items() if value is not None}
    if getattr(o, "cluster", None) is None:
        if getattr(o, "workers", None) is not None or getattr(o, "shard_size", None) is not None:
            raise ValueError("--workers and --shard-size go with --cluster")
        task.fit(source_of(o, o.train), dev=source_of(o, o.dev), **more)
        return
    from ...distributed import fit

    headed = {n for n in ("header", "sentence", "word", "text") if getattr(o, n, None)}
    wrong = set(more) - {"format", "start"} or headed
    if wrong:
        raise ValueError(f"--{wrong.pop()} cannot be combined with --cluster")
    task.n_jobs = 1
    size = None if o.shard_size is None else int(o.shard_size * 2**20)
    options = {"workers": o.workers, "threads": o.threads, "shard_size": size}
    fit(task, o.train, dev=o.dev, cluster=o.cluster, **options, **more)


# -- use ------------------------------------------------------------------------------------------


def predict(model: Any, o: Any, progress: Any) -> int:
    """Write the file with what was predicted."""
    options = label_options(model, o)
    if "notice" in _keywords(model.label_file):
        options["notice"] = lambda text: note(f"structlearn: {text}")
    if not model._writes_text and o.output in (None, "-") and on_terminal("stdout"):
        raise ValueError("a mask cannot be printed on a terminal: name a file or folder, --output")
    model.label_file(o.input, output_of(o), **options, progress=progress)
    return 0


def label_options(model: Any, o: Any) -> dict[str, Any]:
    """Return the options of ``label_file`` that the command line has; refuse the others."""
    names = (
        "format", "nbest", "scores", "append", "confidence", "marginals", "known", "gold_tags",
        "header", "sentence", "word", "text", "to", "constraints",
        "dictionary",
    )  # fmt: skip
    options = _options(model, model.label_file, o, *names)
    if "constraints" in options:
        options["constraints"] = constraints_of(o)
    elif o.constraint:
        refuse(_kind(model), o, "constraint")
    if "overlays" in _keywords(model.label_file):
        options["overlays"] = o.overlay
    return options


def _keywords(method: Any) -> Any:
    """Return the keyword arguments of a method."""
    return method.__kwdefaults__ or ()


def _kind(model: Any) -> str:
    """Return what a model is called, with its article."""
    return f"{'an' if model._title[0] in 'AEIOU' else 'a'} {model._title.lower()}"


def _options(model: Any, method: Any, o: Any, *names: str) -> dict[str, Any]:
    """Return the options that a method has; refuse others that were given."""
    known = _keywords(method)
    refuse(_kind(model), o, *(name for name in names if name not in known))
    given = {name: getattr(o, name) for name in names if name in known}
    # Tags are read as the parser was trained, unless the option says otherwise.
    return {k: None if k == "gold_tags" and not v else v for k, v in given.items()}


def evaluate(model: Any, o: Any) -> int:
    """Print the scores of a model on gold data, or write a page with them."""
    from ...meter import Meter
    from . import read_rival

    names = ("intervals", "against", "gold_tags", "format")
    options = _options(model, model.evaluate, o, *names)
    if "against" in options:
        options["against"] = read_rival(o.against, model)
    _options(model, model.label_file, o, "header", "sentence", "word", "text")
    only_text = _options(model, model.report, o, "confusions")
    with Meter(f"evaluating on {o.gold}"):
        gold = source_of(o, o.gold, getattr(model._fitted(), "table_names", None))
        if gold == "-":  # it can be read only once
            gold = model._gold_source(gold, o.format)
        if o.json or o.html is not None:
            reading = {k: options[k] for k in ("format", "gold_tags") if k in options}
            certainty = model.calibration(gold, **reading)
        if o.json:
            found = model.evaluate(gold, **options)
            of_spans = getattr(model, "span_calibration", lambda *_, **__: None)
            spans = of_spans(gold, **reading)
        if not o.json or o.html is not None:
            text = model.report(gold, **options, **only_text)
    if o.html is not None:  # first: nobody may be there to read the rest
        from ...drawing.reliability import scores_page

        kind, facts = f"{model._title}: evaluation", [("model", o.model), ("data", o.gold)]
        wrong = model.mistakes(gold, format=o.format) if hasattr(model, "mistakes") else None
        write_page(o.html, scores_page(kind, facts, text, certainty, model._certainty, wrong))
    if not o.json:
        put(text)
        return 0
    if certainty is not None:
        told = certainty.as_dict()
        found["expected_calibration_error"] = told["expected_calibration_error"]
        found["calibration"] = {"calibrated": model.calibrated_, **told}
    if spans is not None:
        found["span_calibration"] = spans.as_dict()
    put_json(found)
    return 0


def rank(model: Any, o: Any) -> int:
    """Print or write the sentences that are worth a look, with the reason."""
    import json

    from ...meter import Meter
    from .shared import say_written

    columns = getattr(model.model_, "table_names", None)
    if columns is None:
        refuse(_kind(model), o, "header", "sentence", "word", "text")
    with Meter("looking for doubts"):
        source = o.input if columns is None else source_of(o, o.input, columns)
        format = o.format if source == o.input else None
        found = model.least_sure(source, o.least_sure, by=o.by, format=format)
    if o.output is None and not o.json:
        for one in found:
            place = f"line {one.line}" if one.line else f"sentence {one.number}"
            put(f"{one.doubt:8.4f}  {place}: {' '.join(one.words)}\n          {one.reason}")
        return 0
    from ...text.files import written_text

    key = model._parts if columns is None else (columns.get("targets") or ["tags"])[0]
    with written_text(output_of(o)) as file:
        for one in found:
            item = {"tokens": one.words, key: one.labels}
            item[f"{key}_confidence"] = [round(p, 4) for p in one.confidence]
            item |= {"doubt": round(one.doubt, 4), "reason": one.reason}
            item |= {"sentence": one.number, "line": one.line}
            file.write((json.dumps(item, ensure_ascii=False) + "\n").encode())
    say_written(o.output)
    return 0


def inspect(model: Any, o: Any) -> int:
    """Print what a model has learned and what decided its predictions, or write a page."""
    from ...meter import Meter
    from ...tasks.inspection import inspect_task

    given = o.input
    if o.sentence is not None:
        given = [model._typed(o.sentence)]
    page = o.html is not None
    with Meter("looking inside"):
        shown = inspect_task(model, o.top, given, o.label, o.most, page)
    if page:
        write_page(o.html, shown)
    else:
        put(shown)
    return 0
