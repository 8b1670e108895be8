"""Relations on probabilities of parts: in pipelines' documents and in the workbench."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import Different, demand_same
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import PIPELINES
from fuzz.metamorphic.variants import Variant, both, named
from structlearn.tasks import DependencyParser, Tagger
from structlearn.tasks.pipeline.confidence import head_calibration
from structlearn.text.corpus import corpus_of
from structlearn.workbench.labs.text import answer
from structlearn.workbench.requests import Request

__all__: list[str] = []

Rng = np.random.Generator
ROUNDING = 1e-9


@relation(
    "confidence in documents",
    both(PIPELINES.values()),
    claim="to 1e-9",
    cost="fit",
)
def confidence_in_documents(variant: Variant, rng: Rng) -> None:
    """Words of a document have the confidence of the pipeline's own taggers and parser."""
    model, X = variant.model(rng), variant.subject.inputs(rng, int(rng.integers(1, 3)))
    X = [[word for word in x if not word.startswith("\u200b")] or ["a"] for x in X]
    doc = model.annotate(X, confidence=True)
    corpus = corpus_of("doc.conllu", doc.to_conllu().encode(), "conllu")
    models = model.model_.parts
    for name in ("upos", "xpos", "feats"):
        tagger = Tagger.from_model(models[name])
        rows = tagger.predict_marginals(corpus)
        for word, p in zip(doc, (p for row in rows for p in row), strict=True):
            share = min(1.0, p[getattr(word, name)])
            wanted = _confidence(tagger.calibration_, share)
            demand_same(name, wanted, word.confidence[name], ROUNDING)
    parser = DependencyParser.from_model(models["parser"])
    trees = parser.predict_marginals(corpus, gold_tags=True, least=1e-6)
    calibration = head_calibration(parser.model_)
    for word, p in zip(doc, (p for row in trees for p in row), strict=True):
        share = min(1.0, sum((q for (head, _), q in p.items() if head == word.head_id), 0.0))
        wanted = _confidence(calibration, share)
        demand_same("head", wanted, word.confidence["head"], ROUNDING)
    _demand_written(doc, [word.confidence for word in doc])


def _confidence(calibration: Any, p: float) -> float:
    return p if calibration is None else float(calibration.confidence(p))


def _demand_written(doc: Any, confidence: list[dict[str, float]]) -> None:
    """Compare a written document with the probabilities of its words."""
    lines = [line for line in doc.to_conllu(confidence=True).split("\n") if "\t" in line]
    for line, row in zip(lines, confidence, strict=True):
        entries = dict(entry.partition("=")[::2] for entry in line.split("\t")[9].split("|"))
        for name, p in row.items():
            cell = entries.get(f"{name.capitalize()}Confidence")
            demand_same(f"written {name}", f"{p:.4f}", cell)
    tokens = [t for sentence in json.loads(doc.to_json())["sentences"] for t in sentence["tokens"]]
    written = [{k: p for k, p in t["confidence"].items() if k != "token"} for t in tokens]
    printed = [{name: round(p, 4) for name, p in row.items()} for row in confidence]
    demand_same("JSON", printed, written, ROUNDING)


# -- the workbench ------------------------------------------------------------------------------


class _Models:
    """One model, in the interface of the workbench."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def names(self) -> list[str]:
        """Return its name."""
        return ["model"]

    def get(self, name: str) -> Any:
        """Return the model."""
        return self.model

    def python(self, name: str) -> str:
        """Return an empty Python program."""
        return ""


def _likeliest(row: Iterable[tuple[str, float]]) -> list[list[Any]]:
    """Return the five highest visible probabilities."""
    visible = sorted((p, name) for name, p in row if p > 5e-4)
    return [[name, p] for p, name in sorted(visible, key=lambda pair: -pair[0])[:5]]


_TAGGERS = both(s for s in named("tagger") if "chunk" not in s.name)
_TREES = both(named("parser with tagger"))


@relation(
    "confidence in the workbench: pipelines",
    both(PIPELINES.values()),
    claim="to 1e-9",
    cost="pipeline",
)
@relation("confidence in the workbench", {**_TAGGERS, **_TREES}, claim="to 1e-9")
def confidence_in_the_workbench(variant: Variant, rng: Rng) -> None:
    """The tables of the page are the marginals."""
    model, x = variant.model(rng), variant.subject.inputs(rng, 1)[0]
    words = [word if word.isalpha() and word.isascii() else "fish" for word in x]
    page = answer(Request({"text": " ".join(words)}), _Models(model))
    tables = [[name, [[k, p] for k, p in row]] for name, row in page["probabilities"] or ()]
    if isinstance(model, Tagger):
        rows = model.predict_marginals([words])[0]
        _demand_table([(w, r.items()) for w, r in zip(words, rows, strict=True)], tables)
        tags = page["steps"][0]["shown"]
        for t, (tag, p) in enumerate(zip(tags["tags"], tags["tag_probabilities"], strict=True)):
            if p is not None:
                demand_same("drawn tag", rows[t][tag], p, ROUNDING)
        return
    if isinstance(model, DependencyParser):
        rows = model.predict_marginals([words], least=5e-4)[0]
        _demand_table(_arc_rows(words, rows), tables)
        return
    doc = model(" ".join(words), confidence=True)
    corpus = corpus_of("doc.conllu", doc.to_conllu().encode(), "conllu").subset([0])
    sentence = doc.sentences[0]
    tags = Tagger.from_model(model.model_.parts["upos"]).predict_marginals(corpus)[0]
    table = [(word.text, row.items()) for word, row in zip(sentence, tags, strict=True)]
    _demand_table(table, tables[: len(sentence)])
    parser = DependencyParser.from_model(model.model_.parts["parser"])
    rows = parser.predict_marginals(corpus, gold_tags=True, least=5e-4)[0]
    wanted = [row.get((w.head_id, w.relation), 0.0) for row, w in zip(rows, sentence, strict=True)]
    arcs = page["steps"][0]["shown"]["arc_probabilities"]
    demand_same("arcs", wanted, arcs, ROUNDING)


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
