"""Answers to queries, as JSON."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..tasks.pipeline.files import written_doc
from ..text.answers import as_json
from ..text.dependency_tree import DependencyTree
from ..text.trees import Tree
from .queries import Query
from .refusals import Refused

_log = logging.getLogger("structlearn.serve")


def answer(queries: Sequence[Query]) -> list[bytes | Refused]:
    """Answer queries with one question together; an input that is wrong fails its query alone."""
    inputs = [given for query in queries for given in query.inputs]
    try:
        rows = iter(_HOW[queries[0].kind](queries[0], inputs))
        return [_body(query, [next(rows) for _ in query.inputs]) for query in queries]
    except Exception as error:
        if len(queries) > 1:
            return [one for query in queries for one in answer([query])]
        return [_refusal(error)]


def _refusal(error: Exception) -> Refused:
    """Return the answer to a query that cannot be answered."""
    if isinstance(error, (ValueError, TypeError)):  # of the library: what was wrong with the input
        return Refused(422, str(error))
    if isinstance(error, MemoryError):
        return Refused(413, "the answer is too large for the memory of this server: ask for less")
    _log.error("a query failed", exc_info=error)
    return Refused(500, "this should not happen: the log of the server has the reason")


def _body(query: Query, rows: list[dict[str, Any]]) -> bytes:
    """Return the answer to a query, given those to its inputs: lists of what each of them has."""
    predicts = query.kind == "predict"
    names = ["outputs" if predicts else "docs"]
    names += ["confidence"] * (predicts and query.confidence) + ["kbest"] * bool(query.kbest)
    found = {name: [row[name] for row in rows] for name in names}
    held = query.held
    value: dict[str, Any] = {"model": held.name, "version": held.version, **found}
    if query.confidence:
        value["calibrated"] = bool(getattr(held.model, "calibrated_", False))
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def _predicted(query: Query, X: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield what is predicted for each input."""
    model = query.held.model
    if X and type(X[0]) is str:
        rows = model.predict_spans(X, confidence=query.confidence)
        for row in rows:
            yield {"outputs": list(map(_span, row)), "confidence": [_sure(span) for span in row]}
        return
    columns: dict[str, Any] = {"outputs": [plain(y) for y in model.predict(X)]} if X else {}
    if query.confidence:
        columns["confidence"] = [as_json_list(row) for row in model.confidence(X)]
    if query.kbest:
        columns["kbest"] = [_ranked(row) for row in model.predict_kbest(X, query.kbest)]
    for i in range(len(X)):
        yield {name: column[i] for name, column in columns.items()}


def _annotated(query: Query, texts: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the annotation of each text."""
    model = query.held.model
    for doc in model.pipe(texts, 1, confidence=query.confidence):
        if query.format == "json":
            row = {"docs": doc.to_dict()}
            if query.kbest:
                row["kbest"] = [_ranked(trees) for trees in model.rank_trees(doc, query.kbest)]
            yield row
        else:
            yield {"docs": written_doc(doc, query.format, query.confidence)}


_HOW: dict[str, Callable[[Query, list[Any]], Iterator[dict[str, Any]]]] = {
    "predict": _predicted,
    "annotate": _annotated,
}


def _span(span: Any) -> dict[str, Any]:
    """Return a span of a text as JSON has it."""
    return {"start": span.start, "end": span.end, "label": span.label}


def _sure(span: Any) -> Any:
    return as_json(span.confidence)


def _ranked(ranked: Sequence[tuple[float, Any]]) -> list[dict[str, Any]]:
    """Return ranked outputs; a guess, such as a tree that no rule made, has no score."""
    return [
        {"score": float(score) if math.isfinite(score) else None, "output": plain(y)}
        for score, y in ranked
    ]


def as_json_list(row: Any) -> list[float]:
    """Return probabilities as files have them."""
    return [as_json(float(p)) for p in row]


def plain(output: Any) -> Any:
    """Return an output as JSON can hold it.

    Labels are a list; a dependency tree is its heads and relations; a tree of constituents is
    written in brackets.
    """
    if isinstance(output, DependencyTree):
        return {"heads": output.heads, "relations": output.relations}
    if isinstance(output, Tree):
        return str(output)
    if hasattr(output, "tolist"):
        return output.tolist()
    if isinstance(output, (list, tuple)):
        return [plain(one) for one in output]
    return output
