"""One probability of a part, wherever it is shown: files, explanations, pages, documents."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import Different, demand_same
from fuzz.metamorphic.distributions import POOL, at_temperature, outside_segments
from fuzz.metamorphic.few_labels import FEW_LABELS
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import PIPELINES, TEXT_TASKS, Subject
from structlearn.tasks import DependencyParser, SegmentTagger, Tagger
from structlearn.tasks.tagging.inspection import inspect_tagger
from structlearn.text.corpus import corpus_of
from structlearn.workbench.labs.text import answer
from structlearn.workbench.requests import Request

__all__: list[str] = []

Rng = np.random.Generator

#: Set this where models that were not calibrated have one temperature on every surface, too: the
#: relations then ask them everywhere, and claim nothing less.
ONE_TEMPERATURE = False
_NOT_YET = "uncalibrated models have one temperature per surface until models share one"
ROUNDING = 1e-9


@dataclass(frozen=True)
class Variant:
    """A subject whose models are calibrated, or are as they were fitted."""

    subject: Subject
    calibrated: bool

    def model(self, rng: Rng) -> Any:
        """Return a model of the pool."""
        if self.calibrated:
            return at_temperature(self.subject, rng, calibrated=True)
        return self.subject.fitted(rng, POOL)


def _variants(subjects: Iterable[Subject], calibrated: bool) -> dict[str, Variant]:
    kind = "calibrated" if calibrated else "as fitted"
    return {f"{s.name}, {kind}": Variant(s, calibrated) for s in subjects}


def _both(subjects: Iterable[Subject]) -> dict[str, Variant]:
    subjects = list(subjects)
    return {**_variants(subjects, True), **_variants(subjects, False)}


def _calibrated(subjects: Iterable[Subject]) -> tuple[dict[str, Variant], dict[str, str]]:
    """Return the variants that share a temperature today, and why the others are left out."""
    subjects = list(subjects)
    if ONE_TEMPERATURE:
        return _both(subjects), {}
    return _variants(subjects, True), dict.fromkeys(_variants(subjects, False), _NOT_YET)


def _named(*beginnings: str) -> list[Subject]:
    everything = {**TEXT_TASKS, **FEW_LABELS}
    return [s for name, s in everything.items() if name.startswith(beginnings)]


LABELLERS = _named("tagger", "segments")


def _confidences(model: Any, X: Any) -> list[list[tuple[str, float]]]:
    """Return the label of each token, and the probability of it or of the segment it is in."""
    rows = model.predict(X)
    if isinstance(model, Tagger):
        found = model.predict_marginals(X)
        return [
            [(y, p[y]) for y, p in zip(*row, strict=True)] for row in zip(rows, found, strict=True)
        ]
    found = model.predict_marginals(X, least=0.0)
    return [
        [(labels[t], p[segment]) for segment in outside_segments(labels)
         for t in range(*segment[:2])]
        for labels, p in zip(rows, found, strict=True)
    ]  # fmt: skip


# -- files --------------------------------------------------------------------------------------


@contextlib.contextmanager
def _file(text: str) -> Iterator[Path]:
    with tempfile.NamedTemporaryFile("w", suffix=".input", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        yield Path(file.name)


def _cells(token: Any) -> tuple[str, ...]:
    return (token,) if isinstance(token, str) else tuple(token)


def _columns_text(X: Any) -> str:
    return "".join("".join("\t".join(_cells(t)) + "\n" for t in x) + "\n" for x in X)


def _read_columns(text: str, n_given: int) -> list[list[list[str]]]:
    blocks = text.removesuffix("\n\n").split("\n\n")
    rows = [[re.split("[\t ]", line) for line in block.split("\n")] for block in blocks]
    return [[cells[n_given:] for cells in block] for block in rows]


def _csv_text(X: Any) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["sentence", "word"])
    for number, x in enumerate(X):
        writer.writerows([str(number), token] for token in x)
    return out.getvalue()


def _read_csv(text: str, n_given: int) -> list[list[list[str]]]:
    sentences: dict[str, list[list[str]]] = {}
    for row in list(csv.reader(io.StringIO(text)))[1:]:
        sentences.setdefault(row[0], []).append(row[2:])
    return list(sentences.values())


def _read_json(text: str, n_given: int) -> list[list[list[str]]]:
    objects = [json.loads(line) for line in text.splitlines()]
    lists = [[values for name, values in one.items() if name != "tokens"] for one in objects]
    return [[[*map(_as_cell, cells)] for cells in zip(*one, strict=True)] for one in lists]


def _as_cell(value: Any) -> str:
    """Return a value of a JSON file as other formats write it."""
    if isinstance(value, dict):
        return ",".join(f"{name}:{p:.4f}" for name, p in value.items())
    if isinstance(value, float):
        return f"{value:.4f}"
    return "-" if value is None else value


#: Format -> (sentences -> text, text and number of given columns -> what was added to each token).
FORMATS: dict[str, tuple[Callable[[Any], str], Callable[[str, int], Any]]] = {
    "columns": (_columns_text, _read_columns),
    "csv": (_csv_text, _read_csv),
    "jsonl": (lambda X: "".join(json.dumps({"tokens": x}) + "\n" for x in X), _read_json),
}


@relation("confidence in files", _both(LABELLERS), claim="as printed")
def confidence_in_files(variant: Variant, rng: Rng) -> None:
    """Columns of labels, confidences and marginals are `predict`, k-best and marginals."""
    model, X = variant.model(rng), variant.subject.inputs(rng, int(rng.integers(1, 4)))
    options: dict[str, Any] = {"confidence": True}
    if isinstance(model, Tagger):
        options |= {"nbest": int(rng.integers(1, 4)), "marginals": bool(rng.integers(2))}
    chosen = str(rng.choice(list(FORMATS))) if isinstance(X[0][0], str) else "columns"
    write, read = FORMATS[chosen]
    output = io.BytesIO()
    with _file(write(X)) as path:
        model.label_file(path, output, format=chosen, **options)
    found = read(output.getvalue().decode(), len(_cells(X[0][0])))
    nbest = options.get("nbest", 1)
    ranked = [model.predict_kbest([x], n=nbest)[0] if nbest > 1 else [] for x in X]
    marginals = model.predict_marginals(X) if options.get("marginals") else None
    expected = []
    for s, row in enumerate(_confidences(model, X)):
        for t, (label, p) in enumerate(row):
            cells = [ranked[s][0][1][t] if nbest > 1 else label]
            cells += [ranked[s][k][1][t] if k < len(ranked[s]) else "-" for k in range(1, nbest)]
            if nbest > 1:
                p = model.predict_marginals([X[s]])[0][t][cells[0]]
            cells.append(f"{p:.4f}")
            if marginals is not None:
                shown = sorted(marginals[s][t].items(), key=lambda one: -one[1])
                cells.append(",".join(f"{k}:{q:.4f}" for k, q in shown if q >= 0.0005))
            expected.append(cells)
    demand_same(chosen, expected, [cells for row in found for cells in row])


# -- explanations and pages ---------------------------------------------------------------------


@relation("confidence in explanations", _both(LABELLERS), claim="to 1e-9")
def confidence_in_explanations(variant: Variant, rng: Rng) -> None:
    """The probabilities of `explain`, of the report as text and of the page are the marginals."""
    model, X = variant.model(rng), variant.subject.inputs(rng, 1)
    (row,) = _confidences(model, X)
    (decisions,) = model.explain(X)
    if isinstance(model, SegmentTagger):
        starts = [begin for begin, _, _ in outside_segments(model.predict(X)[0])]
    else:
        starts = list(range(len(row)))
    told = {d["position"]: d["probability"] for d in decisions}
    for t in starts:
        if t in told:
            demand_same(f"explain at {t}", min(1.0, row[t][1]), told[t], ROUNDING)
    p = [told[t] for t in starts if t in told]
    if rng.random() < 0.2:
        page = inspect_tagger(model, sentences=X, page=True)
        demand_same("page", [f"{x:.2f}" for x in p], re.findall(r"<i>([01]\.\d\d)</i>", page))
        text = inspect_tagger(model, sentences=X)
        demand_same("report", [f"{x:.3f}" for x in p], re.findall(r" \(p = ([01]\.\d{3})", text))


@relation("confidence of trees", _both(_named("parser")), claim="to 1e-9")
def confidence_of_trees(variant: Variant, rng: Rng) -> None:
    """Probabilities that trees carry are the marginals and `predict_proba`."""
    model, X = variant.model(rng), variant.subject.inputs(rng, 1)
    if not model.model_.has_temperature:
        return
    (words,) = model.predict_marginals(X, least=0.0)
    tree = model.predict(X, probabilities=True)[0]
    if rng.random() < 0.5:
        tree = model.predict_kbest(X, n=3, probabilities=True)[0][-1][1]
    arcs = [p.get(arc, 0.0) for p, arc in zip(words, tree, strict=True)]
    demand_same("probabilities of arcs", arcs, list(tree.probabilities), ROUNDING)
    (p,) = model.predict_proba(X, [list(tree)])
    demand_same("probability", p, tree.probability, ROUNDING)


# -- documents ----------------------------------------------------------------------------------


@relation(
    "confidence in documents",
    _both(PIPELINES.values()),
    claim="to 1e-9",
    cost="fit",
    not_claimed={} if ONE_TEMPERATURE else {"pipeline, as fitted, tags": _NOT_YET},
)
def confidence_in_documents(variant: Variant, rng: Rng) -> None:
    """Words of a document have the marginals of the pipeline's own taggers and parser."""
    model, X = variant.model(rng), variant.subject.inputs(rng, int(rng.integers(1, 3)))
    X = [[word for word in x if not word.startswith("\u200b")] or ["a"] for x in X]
    doc = model.annotate(X, confidence=True)
    corpus = corpus_of("doc.conllu", doc.to_conllu().encode(), "conllu")
    models = model.model_.parts
    if variant.calibrated or ONE_TEMPERATURE:
        for name in ("upos", "xpos", "feats"):
            rows = Tagger.from_model(models[name]).predict_marginals(corpus)
            for word, p in zip(doc.words, (p for row in rows for p in row), strict=True):
                demand_same(name, p[getattr(word, name)], word.confidence[name], ROUNDING)
    if models["parser"].has_temperature:
        parser = DependencyParser.from_model(models["parser"])
        trees = parser.predict_marginals(corpus, gold_tags=True, least=0.0)
        for word, p in zip(doc.words, (p for row in trees for p in row), strict=True):
            share = p.get((word.head, word.relation), 0.0)
            demand_same("head", share, word.confidence["head"], ROUNDING)
    _demand_written(doc, [word.confidence for word in doc.words])


def _demand_written(doc: Any, confidence: list[dict[str, float]]) -> None:
    """Compare what is written of a document with what its words have."""
    lines = [line for line in doc.to_conllu(confidence=True).split("\n") if "\t" in line]
    for line, row in zip(lines, confidence, strict=True):
        entries = dict(entry.partition("=")[::2] for entry in line.split("\t")[9].split("|"))
        for name, p in row.items():
            shown = entries.get(f"{name.capitalize()}Confidence")
            demand_same(f"written {name}", f"{p:.4f}", shown)
    words = [
        word
        for sentence in json.loads(doc.to_json())["sentences"]
        for token in sentence["tokens"]
        for word in token["words"]
    ]
    printed = [{name: round(p, 4) for name, p in row.items()} for row in confidence]
    demand_same("JSON", printed, [word["confidence"] for word in words], ROUNDING)


# -- the workbench ------------------------------------------------------------------------------


class _Models:
    """One model, as the workbench asks for it."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def names(self) -> list[str]:
        """Return its name."""
        return ["model"]

    def get(self, name: str) -> Any:
        """Return the model."""
        return self.model

    def python(self, name: str) -> str:
        """Return no Python."""
        return ""


def _likeliest(row: Iterable[tuple[str, float]]) -> list[list[Any]]:
    """Return the five highest probabilities of those that are shown."""
    shown = sorted((p, name) for name, p in row if p > 5e-4)
    return [[name, p] for p, name in sorted(shown, key=lambda one: -one[0])[:5]]


_TAGGERS = _both(s for s in _named("tagger") if "chunk" not in s.name)
_TREES, _NOT_TREES = _calibrated(_named("parser with tagger"))
_PIPELINES, _NOT_PIPELINES = _calibrated(PIPELINES.values())


@relation(
    "confidence in the workbench: pipelines",
    _PIPELINES,
    claim="to 1e-9",
    cost="pipeline",
    not_claimed=_NOT_PIPELINES,
)
@relation(
    "confidence in the workbench", {**_TAGGERS, **_TREES}, claim="to 1e-9", not_claimed=_NOT_TREES
)
def confidence_in_the_workbench(variant: Variant, rng: Rng) -> None:
    """The tables of the page are the marginals."""
    model, x = variant.model(rng), variant.subject.inputs(rng, 1)[0]
    words = [word if word.isalpha() and word.isascii() else "fish" for word in x]
    page = answer(Request({"text": " ".join(words)}), _Models(model))
    shown = [[name, [[k, p] for k, p in row]] for name, row in page["probabilities"] or ()]
    if isinstance(model, Tagger):
        rows = model.predict_marginals([words])[0]
        _demand_table([(w, r.items()) for w, r in zip(words, rows, strict=True)], shown)
        tags = page["steps"][0]["shown"]
        for t, (tag, p) in enumerate(zip(tags["tags"], tags["tag_probabilities"], strict=True)):
            if p is not None:
                demand_same("drawn tag", rows[t][tag], p, ROUNDING)
        return
    if isinstance(model, DependencyParser):
        if not model.model_.has_temperature:
            return
        rows = model.predict_marginals([words], least=5e-4)[0]
        _demand_table(_arc_rows(words, rows), shown)
        return
    doc = model(" ".join(words), confidence=True)
    corpus = corpus_of("doc.conllu", doc.to_conllu().encode(), "conllu").subset([0])
    found = doc.sentences[0].words
    tags = Tagger.from_model(model.model_.parts["upos"]).predict_marginals(corpus)[0]
    table = [(word.form, row.items()) for word, row in zip(found, tags, strict=True)]
    _demand_table(table, shown[: len(found)])
    sure = [word.confidence["head"] for word in found]
    arcs = page["steps"][0]["shown"]["arc_probabilities"]
    demand_same("arcs", [p if p >= 5e-4 else 0.0 for p in sure], arcs, ROUNDING)


def _arc_rows(words: list[str], rows: list[dict[Any, float]]) -> list[tuple[str, Any]]:
    return [
        (word, [(f"{r} of {words[h - 1]}" if h else r, p) for (h, r), p in row.items()])
        for word, row in zip(words, rows, strict=True)
    ]


def _demand_table(expected: list[tuple[str, Any]], shown: list[Any]) -> None:
    demand_same("rows", [name for name, _ in expected], [name for name, _ in shown])
    for (name, row), (_, cells) in zip(expected, shown, strict=True):
        wanted = _likeliest(row)
        demand_same(f"table of {name}", [p for _, p in wanted], [p for _, p in cells], ROUNDING)
        values = dict(row)
        if any(abs(values[k] - p) > ROUNDING for k, p in cells) and len(values) == len(list(row)):
            raise Different(f"names of {name}: {cells}, and {wanted}")
