"""Commands of pipelines: running text to trees."""

from __future__ import annotations

import os

from ...printing import joined_lines, note, put, put_json
from .shared import output_of, refuse

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ENDINGS = {"conllu": ".conllu", "json": ".jsonl", "html": ".html", "text": ".txt"}
_OPTIONS = (
    "intervals",
    "confusions",
    "against",
    "header",
    "sentence",
    "word",
    "text",
    "format",
    "html",
)
_NAMES = {
    "tokens": "Tokens", "sentences": "Sentences", "words": "Words", "upos": "UPOS", "xpos": "XPOS",
    "ufeats": "UFeats", "alltags": "AllTags", "lemmas": "Lemmas", "uas": "UAS", "las": "LAS",
}  # fmt: skip


def train(o: Any) -> Callable[[], None]:
    """Learn a pipeline; return what saves it."""
    from ...tasks.pipeline.pipeline import Pipeline

    parser = {"hash_bits": o.hash_bits, "order": o.order, "prune": bool(o.prune) or None}
    several = {"n_models": o.n_models} if o.n_models else {}
    tags = {"prune": o.prune, **several}
    pipeline = Pipeline(
        tokeniser=(several or True) if not o.no_tokeniser else False,
        tags=tags,
        parser={name: value for name, value in parser.items() if value is not None} or True,
        words=o.words,
        variants=o.variants,
        folds=o.folds,
        checkpoint=o.checkpoint,
        n_jobs=o.threads,
        random_state=o.random_state,
        verbose=0 if o.quiet else 1,
    )
    pipeline.fit(o.train, dev=o.dev, entities=o.entities)
    return lambda: pipeline.save(o.model, o.precision)


def predict(pipeline: Any, o: Any, progress: Any) -> int:
    """Say which command annotates text."""
    raise ValueError(
        f"{o.model} is a pipeline, which reads running text: structlearn annotate {o.model} "
        f"{o.input}"
    )


def annotate(pipeline: Any, o: Any, progress: Any) -> int:
    """Write a file of text, or each file of a folder, with what was found in it."""
    if o.without:
        pipeline = pipeline.without(*o.without)
    options = {"format": o.format, "confidence": o.confidence, "progress": progress}
    if not os.path.isdir(o.input):
        pipeline.label_file(o.input, output_of(o), **options)
        return 0
    from ...exceptions import FileError

    if o.output in (None, "-"):
        raise FileError(o.input, "it is a folder: name one for the results with --output")
    bad = 0
    for target, source in _targets(o.input, o.output, _ENDINGS[o.format]).items():
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
        try:
            pipeline.label_file(source, target, **options)
        except FileError as error:  # the other files can still be annotated
            note(f"structlearn: {error}")
            bad += 1
    if bad:
        note(f"structlearn: not annotated: {bad} of the files")
    return 1 if bad else 0


def _targets(folder: str, output: str, ending: str) -> dict[str, str]:
    """Return the files of a folder and its subfolders, by where their results go.

    Hidden files, and results of an earlier run, are left out. No result may overwrite another one,
    or a text.
    """
    from ...exceptions import FileError

    found: dict[str, str] = {}
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            f
            for f in folders
            if not f.startswith(".")
            and os.path.realpath(os.path.join(place, f)) != os.path.realpath(output)
        )
        for name in sorted(name for name in names if not name.startswith(".")):
            bare = os.path.splitext(name.removesuffix(".gz"))[0] + ending
            source = os.path.join(place, name)
            target = os.path.normpath(os.path.join(output, os.path.relpath(place, folder), bare))
            if target in found:
                raise FileError(source, f"its result and that of {found[target]} have one name")
            if os.path.exists(target) and os.path.samefile(source, target):
                raise FileError(source, "its result would overwrite it: name another folder")
            found[target] = source
    if not found:
        raise FileError(folder, "there are no files in it")
    return found


def evaluate(pipeline: Any, o: Any) -> int:
    """Print how well the text of a treebank is annotated."""
    refuse("a pipeline", o, *_OPTIONS)
    found = pipeline.evaluate(o.gold, gold_tokens=o.gold_tokens or None)
    if o.json:
        put_json(found)
        return 0
    put(f"{'':10} {'precision':>9} {'recall':>9} {'F1':>9} {'aligned':>9}")
    for name in filter(found.__contains__, _NAMES):
        row, shown = found[name], _NAMES[name]
        cells = [row["precision"], row["recall"], row["f1"], row.get("aligned_accuracy")]
        text = " ".join(f"{'' if c is None else f'{100 * c:.2f}':>9}" for c in cells)
        put(f"{shown:10} {text}".rstrip())
    put(f"{found['n_words']} words, {found['words_per_second']:.0f} per second")
    return 0


def inspect(pipeline: Any, o: Any) -> int:
    """List the stages."""
    from ...models.temperature import certainty_fact
    from ...tasks.pipeline.confidence import stage_calibrations

    model = pipeline.model_
    calibrations = stage_calibrations(pipeline)
    told = model.training
    lines = [f"a pipeline: {', '.join(pipeline.stages)}"]
    if "sentences" in told:
        lines.append(f"trained on {told['sentences']:,} sentences, {told['words']:,} words")
    for name, part in model.parts.items():
        size = f"{part.n_words:,} words known" if name == "words" else f"{len(part.labels)} labels"
        lines.append(
            f"  {name}: {part.called}, {size}, learner {part.training.get('learner', '?')}"
        )
        if name in calibrations:
            lines.append(f"    probabilities: {certainty_fact(*calibrations[name])}")
    put(joined_lines([*lines, f"{len(model.combinations)} combinations of tags"]))
    return 0
