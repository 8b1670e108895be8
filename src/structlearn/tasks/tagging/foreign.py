"""Models of Wapiti and CRF++ as taggers."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable

from ... import _core
from ...io.crfpp import parse_crfpp_model
from ...io.foreign import FeatureWeights, ForeignTagger
from ...io.wapiti import parse_wapiti_model
from ...io.weight_tables import packed_table
from ...text.files import read_bytes
from ...text.templates import FeatureTemplates
from .model import TaggerModel, joined_names
from .tagger import Tagger

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any


def read_wapiti(path: str | os.PathLike[str], *, columns: int | None = None) -> Tagger:
    """Return the model in a file of Wapiti's as a fitted :class:`~structlearn.tasks.Tagger`.

    It labels as Wapiti does. Its templates are Wapiti's patterns.

    Parameters
    ----------
    path : path
        A model of type crf or maxent that was trained with patterns; it may be compressed.
    columns : int, optional
        Columns of the training file with that of the labels, the last one. By default the labels
        are in the column after the last one that a pattern looks at.

    Raises
    ------
    ValueError
        The file is no such model, or damaged; the message says where.
    """
    return _read(path, parse_wapiti_model, columns)


def read_crfpp(path: str | os.PathLike[str], *, columns: int | None = None) -> Tagger:
    """Return the model in a file of CRF++'s as a fitted :class:`~structlearn.tasks.Tagger`.

    It labels as CRF++ does. Its templates are CRF++'s.

    Parameters
    ----------
    path : path
        A binary model, or a text model of ``crf_learn -t``; it may be compressed.
    columns : int, optional
        Columns of the training file with that of the labels, the last one. By default the labels
        are in the column after the last one that a template looks at.

    Raises
    ------
    ValueError
        The file is no such model, or damaged; the message says where.
    """
    return _read(path, parse_crfpp_model, columns)


def is_wapiti_model(head: bytes) -> bool:
    """Whether a file begins like a model of Wapiti's."""
    return head.startswith(b"#mdl#")


def is_crfpp_model(head: bytes) -> bool:
    """Whether a file begins like a model of CRF++'s."""
    return head.startswith((b"version:", b"\x64\0\0\0\0\0\0\0"))


def _read(
    path: str | os.PathLike[str], parse: Callable[[bytes, str], ForeignTagger], columns: int | None
) -> Tagger:
    name = os.fspath(path)
    content = parse(read_bytes(name), name)
    try:
        return _as_tagger(content, columns)
    except ValueError as error:
        raise ValueError(f"{name} cannot be read as a tagger: {error}") from None


def _as_tagger(content: ForeignTagger, columns: int | None) -> Tagger:
    n, least = len(content.labels), content.n_columns + 1
    if columns is not None and columns < least:
        raise ValueError(f"columns={columns}: with the labels there are at least {least}")
    n_columns = columns or least
    arrays: dict[str, Any] = {name: array("d", bytes(8 * n)) for name in ("start", "end")}
    arrays["transition1"] = content.transition
    names = {}
    for table, weights, outcomes in (("state", content.state, n), ("pair", content.pair, n * n)):
        if table == "pair" and not weights.features:
            continue
        packed, names[table] = _packed(table, weights, outcomes)
        arrays.update(packed)
    templates = FeatureTemplates(content.templates)
    if "pair" not in names:  # those without a weight say nothing
        templates.templates = [t for t in templates.templates if not t.transition]
    model = TaggerModel(
        templates=templates,
        format="columns",
        n_columns=n_columns,
        target=n_columns - 1,
        labels=content.labels,
        arrays=arrays,
        training={
            "learner": "crf",
            "unknown": "",
            "scheme": "none",
            "separator": "\t",
            "parameters": {},
            "source": content.tool,
            "features": len(content.state.features),
        },
        shown=content.labels,
        order=1,
        names=names,
    )
    return Tagger.from_model(model)


def _packed(table: str, weights: FeatureWeights, outcomes: int) -> tuple[dict[str, Any], Any]:
    """Return the arrays of a table, and the names of its features."""
    keys = memoryview(_core.spelled_keys(weights.features)).cast("Q")
    if len(set(keys)) < len(keys):
        raise ValueError("a feature is there twice")
    names = []
    sorted_keys, row_ptr = array("Q"), array("I", [0])
    column, values = array("I"), array("d")
    for key, (name, places) in zip(sorted(keys), weights.sorted_by(keys), strict=True):
        names.append(name)
        sorted_keys.append(key)
        column.extend(weights.outcome[places.start : places.stop])
        values.extend(weights.weight[places.start : places.stop])
        row_ptr.append(len(column))
    arrays, _ = packed_table(table, sorted_keys, row_ptr, column, values, outcomes, 0.0)
    return arrays, joined_names(names)
