"""Confidence in what a pipeline found, at every level: each stage is asked what its model knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ... import _core
from ...models.calibration import Calibration, calibrated_on
from ...models.inputs import NativeInputs
from ...models.temperature import confidences, temperature_of
from .corpora import tagged_corpus
from .doc import Doc
from .entities import labeller_corpus
from .tags import TAG_COLUMNS
from .tokeniser import paragraphs

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    #: From a temperature to the probability of each part of each sentence.
    Certainties = Callable[[float], list[list[float]]]

#: Probabilities that add nothing to a sum.
_LEAST = 1e-6
#: The record of a parser that has the calibration of heads without their relations.
HEADS = "calibration_of_heads"


def add_confidence(pipeline: Any, docs: list[Doc], threads: int) -> None:
    """Set the confidence of the surfaces and tokens of documents."""
    parts, stages = pipeline.model_.parts, pipeline.stages
    calibrations = stage_calibrations(pipeline)

    def asked(name: str, certainties: Certainties) -> list[list[float]]:
        rows = certainties(temperature_of(parts[name].temperature))
        return confidences(calibrations[name][1], rows)

    if "words" in calibrations:
        words = pipeline.stage("words")
        for sentence in (sentence for doc in docs for sentence in doc.sentences):
            surfaces = sentence.surfaces
            first = surfaces[0].begin
            text = sentence.doc.text[first : surfaces[-1].end]
            places = [surface.begin - first for surface in surfaces]
            rows = asked("words", _word_certainties(words, text, places))
            for surface, p in zip(surfaces, rows[0], strict=True):
                surface.confidence = p
    elif "tokeniser" in calibrations:
        for doc in docs:
            begins = [[surface.begin for surface in doc.surfaces]]
            rows = asked(
                "tokeniser", _token_certainties(parts["tokeniser"], [doc.text], begins, threads)
            )
            for surface, p in zip(doc.surfaces, rows[0], strict=True):
                surface.confidence = p
    sentences = [s.tokens for doc in docs for s in doc.sentences if s.tokens]
    if not sentences:
        return

    def put(name: str, stage: str, certainties: Certainties) -> None:
        for tokens, row in zip(sentences, asked(stage, certainties), strict=True):
            for token, p in zip(tokens, row, strict=True):
                token.confidence[name] = p

    def column(name: str) -> list[list[Any]]:
        return [[getattr(token, name) for token in tokens] for tokens in sentences]

    corpus = tagged_corpus(sentences)
    if "tags" in stages:
        for name in TAG_COLUMNS:
            put(name, name, _label_certainties(parts[name], corpus, column(name), threads))
    if "lemmas" in stages:
        lemmas = _lemma_certainties(pipeline._lemmatiser, corpus, sentences, threads)
        put("lemma", "lemmas", lemmas)
    for name in pipeline.model_.labellers:
        if name in stages:
            inputs = parts[name].inputs(labeller_corpus(parts[name], sentences))
            shown = "entity" if name == "entities" else name
            put(shown, name, _labeller_certainties(inputs, threads))
    if "parser" in stages:
        inputs = parts["parser"].inputs(corpus, [None] * 3)
        put("head", "parser", _head_certainties(inputs, column("head_id"), threads))


def stage_calibrations(pipeline: Any) -> dict[str, tuple[float | None, Calibration | None]]:
    """Return the ε of the loss and the calibration of each model that gives confidences."""
    asked = {*pipeline.stages} - {"splitter"}
    if pipeline._own_tokeniser is not None:
        asked -= {"tokeniser", "words"}
    return {
        name: (
            model.loss_temperature,
            head_calibration(model) if name == "parser" else model.calibration,
        )
        for name, model in pipeline.model_.parts.items()
        if ("tags" if name in TAG_COLUMNS else name) in asked
    }


# -- probabilities of what was found --------------------------------------------------------------


def _label_certainties(
    model: Any, corpus: Any, given: list[list[str]], threads: int
) -> Certainties:
    """Return what gives the probabilities of given labels at a temperature."""
    inputs: NativeInputs = model.inputs(corpus)
    index = {label: k for k, label in enumerate(model.shown)}
    numbers = [[index[label] for label in row] for row in given]
    return lambda at: inputs.certainties(numbers, at, threads)


def _labeller_certainties(inputs: NativeInputs, threads: int) -> Certainties:
    """Return what gives the probabilities of a labeller's own labels at a temperature.

    Tokens of a segment have that of the segment.
    """
    outputs = inputs.solve(threads).outputs

    def certainties(at: float) -> list[list[float]]:
        return [
            row if len(row) == len(output) else _spread(row, output)
            for row, output in zip(inputs.certainties(outputs, at, threads), outputs, strict=True)
        ]

    return certainties


def _spread(row: list[float], output: Sequence[int]) -> list[float]:
    segments = iter(row)
    found: list[float] = []
    for number in output:
        found.append(next(segments) if number >= 0 else found[-1])
    return found


def _lemma_certainties(
    lemmatiser: Any, corpus: Any, sentences: list[Any], threads: int
) -> Certainties:
    """Return what gives the probabilities of the lemmas of words at a temperature.

    Several scripts may give one lemma (*time* is *time* both kept and in lower case): what counts
    is the sum of their probabilities.
    """
    shown, lemma_of = lemmatiser.model.shown, lemmatiser.lemma
    inputs = lemmatiser.model.inputs(corpus)

    def counts(s: int, t: int, k: int) -> bool:
        token = sentences[s][t]
        return bool(lemma_of(shown[k], token.text, token.xpos) == token.lemma)

    lengths = list(map(len, sentences))
    return lambda at: _sums(
        inputs, at, threads, lengths, lambda s, t, _, k: t if counts(s, t, k) else None
    )


def _head_certainties(
    inputs: NativeInputs, heads: Sequence[Sequence[int | None]], threads: int
) -> Certainties:
    """Return what gives the probabilities of heads, with any relation, at a temperature."""

    def place(s: int, word: int, head: int, _: int) -> int | None:
        return word - 1 if heads[s][word - 1] == head else None

    return lambda at: _sums(inputs, at, threads, list(map(len, heads)), place)


def _word_certainties(words: Any, text: str, begins: list[int]) -> Certainties:
    """Return what gives the probabilities that words begin where they do, at a temperature."""

    def certainties(at: float) -> list[list[float]]:
        found = words.boundaries([text], temperature=at)[0]
        return [[found[begin] for begin in begins]]

    return certainties


def _token_certainties(
    model: Any, texts: Sequence[str], begins: list[list[int]], threads: int
) -> Certainties:
    """Return what gives the probabilities that tokens begin where they do, at a temperature."""
    core = _core.Corpus("columns")
    read: list[tuple[int, Sequence[int]]] = []  # of each paragraph: its text, places of characters
    for number, text in enumerate(texts):
        for characters, places in paragraphs(text):
            core.add_characters(characters.encode())
            read.append((number, places))
    starts = {k for k, label in enumerate(model.labels) if label.startswith("B-")}
    index = [{begin: k for k, begin in enumerate(row)} for row in begins]

    def certainties(at: float) -> list[list[float]]:
        rows = [[0.0] * len(row) for row in begins]
        inputs = NativeInputs(model.core.inputs(core), core)
        likely = inputs.marginals(at, _LEAST, threads) if read else []
        for (number, places), parts in zip(read, likely, strict=True):
            for character, _, k, p in parts:
                token = index[number].get(places[character]) if k in starts else None
                if token is not None:
                    rows[number][token] += p
        return [[min(1.0, p) for p in row] for row in rows]

    return certainties


def _sums(
    inputs: NativeInputs,
    at: float,
    threads: int,
    lengths: list[int],
    place: Callable[[int, int, int, int], int | None],
) -> list[list[float]]:
    """Return the sums of the probabilities of parts by what they stand for in each sentence.

    ``place`` gives the number of that in the sentence, from the sentence and the part; None: it
    stands for nothing.
    """
    rows = [[0.0] * n for n in lengths]
    for s, likely in enumerate(inputs.marginals(at, _LEAST, threads)):
        for begin, end, k, p in likely:
            number = place(s, begin, end, k)
            if number is not None:
                rows[s][number] += p
    return [[min(1.0, p) for p in row] for row in rows]


# -- what held-out sentences say of each stage ----------------------------------------------------


def calibrate_tokens(tokeniser: Any, texts: Sequence[tuple[str, Any]], threads: int) -> None:
    """Calibrate a tokeniser on the text of a dev set.

    Parameters
    ----------
    texts : list of (str, sentences)
        Texts, and the places of the tokens of their sentences.
    """
    read = [text for text, _ in texts]
    begins = [
        [begin for sentence in sentences for begin, _ in sentence]
        for sentences in tokeniser(read, threads)
    ]
    gold = [{begin for spans in sentences for begin, _ in spans} for _, sentences in texts]
    right = [[begin in true for begin in row] for row, true in zip(begins, gold, strict=True)]
    model = tokeniser.model
    certainties = _token_certainties(model, read, begins, threads)
    model.calibration = calibrated_on(certainties, right, model.loss_temperature)


def calibrate_tags(model: Any, dev: Any, column: str, threads: int, chosen: Any = None) -> None:
    """Calibrate a tagger on the words of a dev set.

    Parameters
    ----------
    chosen : Corpus, optional
        The dev set with the tags that are chosen for its words: the temperature stays, confidence
        is that of these tags. By default the tagger's own, which give the temperature.
    """
    given = model.label_corpus(dev, threads) if chosen is None else chosen.column(column)
    right = [
        [tag == gold for tag, gold in zip(*rows, strict=True)]
        for rows in zip(given, dev.column(column), strict=True)
    ]
    certainties = _label_certainties(model, dev, given, threads)
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
    """A token as its lemma is looked up."""

    def __init__(self, text: str, lemma: str, xpos: str) -> None:
        self.text, self.lemma, self.xpos = text, lemma, xpos


def calibrate_heads(parser: Any, dev: Any, threads: int) -> None:
    """Calibrate the heads that a parser finds in a dev set, whatever their relations."""
    from ...text.dependency_treebank import gold_trees

    inputs = parser.inputs(dev, [None] * 3)
    outputs = inputs.solve(threads).outputs
    heads = [list(y[:n]) for y, n in zip(outputs, dev.core.lengths(), strict=True)]
    right = [
        [h == gold for h, (gold, _) in zip(row, tree, strict=True)]
        for row, tree in zip(heads, gold_trees(dev), strict=True)
    ]
    certainties = _head_certainties(inputs, heads, threads)
    found = calibrated_on(certainties, right, parser.temperature)
    if found is not None:
        parser.training[HEADS] = found.as_dict()


def head_calibration(parser: Any) -> Calibration | None:
    """Return the calibration of heads without their relations; of whole arcs if there is none."""
    stored = parser.training.get(HEADS)
    return parser.calibration if stored is None else Calibration.from_dict(stored)
