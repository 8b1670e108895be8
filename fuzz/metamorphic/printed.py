"""Relations on probabilities of parts in files, explanations, reports, pages and trees."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import demand_same
from fuzz.metamorphic.distributions import outside_segments
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.variants import Variant, both, named
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.tasks.inspection import inspect_task

__all__: list[str] = []

Rng = np.random.Generator
ROUNDING = 1e-9

LABELLERS = named("tagger", "segments")


def _confidences(model: Any, X: Any) -> list[list[tuple[str, float]]]:
    """Return the label of each token, with its probability or its segment's."""
    rows = model.predict(X)
    if isinstance(model, Tagger):
        marginals = model.predict_marginals(X)
        return [
            [(y, p[y]) for y, p in zip(*row, strict=True)]
            for row in zip(rows, marginals, strict=True)
        ]
    marginals = model.predict_marginals(X, least=0.0)
    return [
        [(labels[t], p[segment]) for segment in outside_segments(labels)
         for t in range(*segment[:2])]
        for labels, p in zip(rows, marginals, strict=True)
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
    lists = [[values for name, values in record.items() if name != "tokens"] for record in objects]
    return [[[*map(_as_cell, cells)] for cells in zip(*columns, strict=True)] for columns in lists]


def _as_cell(value: Any) -> str:
    """Return a value of a JSON file in the notation of other formats."""
    if isinstance(value, dict):
        return ",".join(f"{name}:{p:.4f}" for name, p in value.items())
    if isinstance(value, float):
        return f"{value:.4f}"
    return "-" if value is None else value


#: Format -> (sentences -> text, text and number of input columns -> cells added to each token).
FORMATS: dict[str, tuple[Callable[[Any], str], Callable[[str, int], Any]]] = {
    "columns": (_columns_text, _read_columns),
    "csv": (_csv_text, _read_csv),
    "jsonl": (lambda X: "".join(json.dumps({"tokens": x}) + "\n" for x in X), _read_json),
}


@relation("confidence in files", both(LABELLERS), claim="as printed")
def confidence_in_files(variant: Variant, rng: Rng) -> None:
    """Columns of labels, confidences and marginals are `predict`, k-best and marginals."""
    model, X = variant.model(rng), variant.subject.inputs(rng, int(rng.integers(1, 4)))
    options: dict[str, Any] = {"confidence": True}
    if isinstance(model, Tagger):
        options |= {"nbest": int(rng.integers(1, 4)), "marginals": bool(rng.integers(2))}
    file_format = str(rng.choice(list(FORMATS))) if isinstance(X[0][0], str) else "columns"
    write, read = FORMATS[file_format]
    output = io.BytesIO()
    with _file(write(X)) as path:
        model.label_file(path, output, format=file_format, **options)
    parsed = read(output.getvalue().decode(), len(_cells(X[0][0])))
    nbest = options.get("nbest", 1)
    ranked = [model.predict_kbest([x], n=nbest)[0] if nbest > 1 else [] for x in X]
    marginals = model.predict_marginals(X) if options.get("marginals") else None
    expected = []
    for s, row in enumerate(_confidences(model, X)):
        alone = model.predict_marginals([X[s]])[0] if nbest > 1 else []
        for t, (label, p) in enumerate(row):
            cells = [ranked[s][0][1][t] if nbest > 1 else label]
            cells += [ranked[s][k][1][t] if k < len(ranked[s]) else "-" for k in range(1, nbest)]
            if nbest > 1:
                p = alone[t][cells[0]]
            calibration = model.calibration_
            cells.append(f"{p if calibration is None else calibration.confidence(p):.4f}")
            if marginals is not None:
                by_probability = sorted(marginals[s][t].items(), key=lambda pair: -pair[1])
                cells.append(",".join(f"{k}:{q:.4f}" for k, q in by_probability if q >= 0.0005))
            expected.append(cells)
    demand_same(file_format, expected, [cells for row in parsed for cells in row])


# -- explanations and pages ---------------------------------------------------------------------


@relation("confidence in explanations", both(LABELLERS), claim="to 1e-9")
def confidence_in_explanations(variant: Variant, rng: Rng) -> None:
    """The probabilities of `explain`, of the report as text and of the page are the marginals."""
    model, X = variant.model(rng), variant.subject.inputs(rng, 1)
    (row,) = _confidences(model, X)
    (decisions,) = model.explain(X)
    if isinstance(model, SegmentTagger):
        starts = [begin for begin, _, _ in outside_segments(model.predict(X)[0])]
    else:
        starts = list(range(len(row)))
    explained = {d["position"]: d["probability"] for d in decisions}
    for t in starts:
        if t in explained:
            demand_same(f"explain at {t}", min(1.0, row[t][1]), explained[t], ROUNDING)
    p = [explained[t] for t in starts if t in explained]
    if rng.random() < 0.2:
        page = inspect_task(model, X=X, page=True)
        demand_same("page", [f"{x:.2f}" for x in p], re.findall(r"<i>([01]\.\d\d)</i>", page))
        text = inspect_task(model, X=X)
        demand_same("report", [f"{x:.3f}" for x in p], re.findall(r" \(p = ([01]\.\d{3})", text))


@relation("confidence of trees", both(named("parser")), claim="to 1e-9")
def confidence_of_trees(variant: Variant, rng: Rng) -> None:
    """Probabilities that trees carry are those of the marginals and `predict_proba`."""
    model, X = variant.model(rng), variant.subject.inputs(rng, 1)
    (words,) = model.predict_marginals(X, least=0.0)
    tree = model.predict(X, confidence=True)[0]
    arcs = [p.get(arc, 0.0) for p, arc in zip(words, tree, strict=True)]
    if model.calibration_ is not None:
        arcs = list(map(model.calibration_.confidence, arcs))
    demand_same("probabilities of arcs", arcs, list(tree.confidence), ROUNDING)
    (p,) = model.predict_proba(X, [list(tree)])
    demand_same("probability", p, tree.probability, ROUNDING)
