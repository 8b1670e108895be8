"""Confidence in what a pipeline found, at every level: each stage is asked what its model knows."""

from __future__ import annotations

from collections.abc import Sequence

from ... import _core
from ...models.calibration import Calibration, calibrated_on
from ...models.inputs import NativeInputs
from ...models.model import level_of_user
from ...models.temperature import temperature_of
from .corpora import tagged_corpus
from .doc import Doc
from .entities import forms_corpus
from .tags import TAG_COLUMNS
from .tokeniser import paragraphs

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "add_confidence",
    "calibrate_heads",
    "calibrate_lemmas",
    "calibrate_tags",
    "head_calibration",
    "stage_calibrations",
    "warn_if_uncalibrated",
]

#: Probabilities that add nothing to a sum.
_LEAST = 1e-6
#: The record of a parser that has the calibration of heads without their relations.
HEADS = "calibration_of_heads"


def add_confidence(pipeline: Any, docs: list[Doc], threads: int) -> None:
    """Set the confidence of the tokens and words of documents."""
    parts, stages = pipeline.model_.parts, pipeline.stages
    if "tokeniser" in stages and pipeline._own_tokeniser is None:
        for doc in docs:
            _add_tokens(parts["tokeniser"], doc, threads)
    sentences = [sentence.words for doc in docs for sentence in doc if sentence.words]
    if not sentences:
        return
    corpus = tagged_corpus(sentences)
    if "tags" in stages:
        for name in TAG_COLUMNS:
            given = [[getattr(word, name) for word in words] for words in sentences]
            _set(sentences, name, _label_confidences(parts[name], corpus, given, threads))
    if "lemmas" in stages:
        rows = _lemma_certainties(pipeline._lemmatiser, corpus, sentences, threads)
        at = temperature_of(parts["lemmas"].temperature)
        _set(sentences, "lemma", _mapped(parts["lemmas"].calibration, rows(at)))
    if "entities" in stages:
        given = [[word.entity for word in words] for words in sentences]
        words = forms_corpus(sentences)
        _set(sentences, "entity", _label_confidences(parts["entities"], words, given, threads))
    if "parser" in stages:
        parser = parts["parser"]
        inputs = parser.inputs(corpus, [None] * 3)
        heads: list[list[Any]] = [[word.head for word in words] for words in sentences]
        at = temperature_of(parser.temperature)
        calibration = head_calibration(parser)
        _set(sentences, "head", _mapped(calibration, _head_certainties(inputs, heads, at, threads)))


def stage_calibrations(pipeline: Any) -> dict[str, tuple[float | None, Calibration | None]]:
    """Return the ε of the loss and the calibration of each model that gives confidences."""
    asked = {*pipeline.stages} - {"splitter"}
    if pipeline._own_tokeniser is not None:
        asked.discard("tokeniser")
    return {
        name: (
            model.loss_temperature,
            head_calibration(model) if name == "parser" else model.calibration,
        )
        for name, model in pipeline.model_.parts.items()
        if ("tags" if name in TAG_COLUMNS else name) in asked
    }


def warn_if_uncalibrated(pipeline: Any) -> None:
    """Warn if the confidence of some stages cannot be trusted."""
    reasons = []
    for name, (temperature, calibration) in stage_calibrations(pipeline).items():
        if calibration is None:
            if temperature is None:
                reasons.append(f"{name}: no dev set has tried them")
        elif not calibration.honest:
            reasons.append(
                f"{name}: their reliability error was {calibration.error:.3f} on "
                f"{calibration.n_parts:,} parts of the dev set"
            )
    if reasons:
        import warnings

        warnings.warn(
            f"the probabilities of this Pipeline are not calibrated ({'; '.join(reasons)})",
            UserWarning,
            stacklevel=level_of_user(),
        )


def _set(sentences: list[Any], name: str, rows: list[list[float]]) -> None:
    for words, row in zip(sentences, rows, strict=True):
        for word, p in zip(words, row, strict=True):
            word.confidence[name] = p


def _mapped(calibration: Calibration | None, rows: list[list[float]]) -> list[list[float]]:
    if calibration is None:
        return rows
    return [list(map(calibration.confidence, row)) for row in rows]


def _label_confidences(
    model: Any, corpus: Any, given: list[list[str]], threads: int
) -> list[list[float]]:
    """Return the confidence of a tagger in given labels."""
    rows = _label_certainties(model, model.inputs(corpus), given, threads)
    return _mapped(model.calibration, rows(temperature_of(model.temperature)))


def _label_certainties(
    model: Any, inputs: NativeInputs, given: list[list[str]], threads: int
) -> Any:
    """Return what gives the probabilities of given labels at a temperature."""
    index = {label: k for k, label in enumerate(model.shown)}
    numbers = [[index[label] for label in row] for row in given]
    return lambda at: inputs.certainties(numbers, at, threads)


def _lemma_certainties(lemmatiser: Any, corpus: Any, sentences: list[Any], threads: int) -> Any:
    """Return what gives the probabilities of the lemmas of words at a temperature.

    Several scripts may give one lemma (*time* is *time* both kept and in lower case): what counts
    is the sum of their probabilities.
    """
    shown, lemma_of = lemmatiser.model.shown, lemmatiser.lemma
    inputs = lemmatiser.model.inputs(corpus)

    def certainties(at: float) -> list[list[float]]:
        rows = []
        for words, likely in zip(sentences, inputs.marginals(at, _LEAST, threads), strict=True):
            row = [0.0] * len(words)
            for t, _, k, p in likely:
                word = words[t]
                if lemma_of(shown[k], word.form, word.xpos) == word.lemma:
                    row[t] += p
            rows.append([min(1.0, p) for p in row])
        return rows

    return certainties


def head_calibration(parser: Any) -> Calibration | None:
    """Return the calibration of heads without their relations; of whole arcs if there is none."""
    stored = parser.training.get(HEADS)
    return parser.calibration if stored is None else Calibration.from_dict(stored)


def _head_certainties(
    inputs: NativeInputs, heads: Sequence[Sequence[int | None]], at: float, threads: int
) -> list[list[float]]:
    """Return the probabilities of the heads of words, with any relation."""
    rows = []
    for given, likely in zip(heads, inputs.marginals(at, _LEAST, threads), strict=True):
        row = [0.0] * len(given)
        for word, head, _, p in likely:
            if given[word - 1] == head:
                row[word - 1] += p
        rows.append([min(1.0, p) for p in row])
    return rows


def _add_tokens(model: Any, doc: Doc, threads: int) -> None:
    """Set the probabilities that tokens begin where they do."""
    core = _core.Corpus("columns")
    read = list(paragraphs(doc.text))
    if not read:
        return
    for characters, _ in read:
        core.add_characters(characters.encode())
    begins = {k for k, label in enumerate(model.labels) if label.startswith("B-")}
    inputs = NativeInputs(model.core.inputs(core), core)
    tokens = {token.begin: token for token in doc.tokens}
    likely = inputs.marginals(temperature_of(model.temperature), _LEAST, threads)
    for (_, places), row in zip(read, likely, strict=True):
        sums: dict[int, float] = {}
        for number, _, k, p in row:
            if k in begins:
                sums[number] = sums.get(number, 0.0) + p
        for number, at in enumerate(places):
            if at in tokens:
                tokens[at].confidence = min(1.0, sums.get(number, 0.0))


# -- what a dev set says of each stage ------------------------------------------------------------


def calibrate_tags(model: Any, dev: Any, column: str, threads: int, chosen: Any = None) -> None:
    """Calibrate a tagger on the words of a dev set.

    Parameters
    ----------
    chosen : Corpus, optional
        The dev set with the tags that are chosen for its words: the temperature stays, confidence
        is that of these tags. By default the tagger's own, which give the temperature.
    """
    inputs = model.inputs(dev)
    given = model.label_corpus(dev, threads) if chosen is None else chosen.column(column)
    right = [
        [tag == gold for tag, gold in zip(*rows, strict=True)]
        for rows in zip(given, dev.column(column), strict=True)
    ]
    certainties = _label_certainties(model, inputs, given, threads)
    at = model.loss_temperature if chosen is None else model.temperature
    model.calibration = calibrated_on(certainties, right, at)


def calibrate_lemmas(lemmatiser: Any, dev: Any, threads: int) -> None:
    """Calibrate a lemmatiser on the words of a dev set that have a lemma."""
    from ...metrics.alignment import has_lemma

    words, right = [], []
    for s, lemmas in enumerate(lemmatiser(dev, threads)):
        columns = [dev.cells(s, name) for name in ("form", "lemma", "xpos")]
        words.append([_Lemma(*row) for row in zip(columns[0], lemmas, columns[2], strict=True)])
        right.append([
            lemma == gold if has_lemma(form, gold) else None
            for form, gold, lemma in zip(*columns[:2], lemmas, strict=True)
        ])  # fmt: skip
    rows = _lemma_certainties(lemmatiser, dev, words, threads)
    model = lemmatiser.model
    model.calibration = calibrated_on(rows, right, model.loss_temperature)


class _Lemma:
    """A word as its lemma is looked up."""

    def __init__(self, form: str, lemma: str, xpos: str) -> None:
        self.form, self.lemma, self.xpos = form, lemma, xpos


def calibrate_heads(parser: Any, dev: Any, threads: int) -> None:
    """Calibrate the heads that a parser finds in a dev set, whatever their relations."""
    from ...text.dependency_treebank import gold_trees

    inputs = parser.inputs(dev, [None] * 3)
    lengths = map(dev.core.length, range(len(dev)))
    outputs = inputs.solve(threads).outputs
    heads = [list(y[:n]) for y, n in zip(outputs, lengths, strict=True)]
    right = [
        [h == gold for h, (gold, _) in zip(row, tree, strict=True)]
        for row, tree in zip(heads, gold_trees(dev), strict=True)
    ]
    found = calibrated_on(
        lambda at: _head_certainties(inputs, heads, at, threads), right, parser.temperature
    )
    if found is not None:
        parser.training[HEADS] = found.as_dict()
