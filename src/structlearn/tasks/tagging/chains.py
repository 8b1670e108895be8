"""Taggers as chains over strings: their features become attributes of tokens, by name."""

from __future__ import annotations

from ... import _core
from ...exceptions import CapabilityError
from ...models.string_chain import StringChain

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ...text.corpus import Corpus


def as_chain(model: Any) -> StringChain:
    """Return the model of a tagger as a chain whose tokens are :func:`attributes_of` sentences."""
    problem = ""
    if model.order > 1 or model.candidates:
        problem = f"it is of order {model.order}" if model.order > 1 else "it has candidates"
    elif model.hashed or "state" not in model.names:
        problem = "its features have no names: train it without hash_bits and with names=True"
    elif model.arrays.get("pair.slots"):
        problem = "its label pairs have features"
    elif model.emissions is not None or _features(model).has_values:
        problem = "it has features that are numbers"
    elif model.constraints:
        problem = "it is under constraints"
    elif model.shown != model.labels or model.further:
        problem = "its labels are written in another way than they are learned"
    if problem:
        raise CapabilityError(f"this Tagger is no chain over strings: {problem}")
    _, row_ptr, column, weight = model.core.unpack("state")
    names = model.feature_names()
    if len(set(names)) < len(names):
        raise CapabilityError("two features of this Tagger have the same name")
    table = _core.NameTable()
    table.add(names)
    arrays = {"row_ptr": row_ptr, "column": column, "weight": weight}
    for name in ("start", "end", "transition1"):
        if name in model.arrays:
            arrays[name] = bytes(model.arrays[name])
    return StringChain(
        model.labels,
        table,
        arrays,
        order=model.order,
        loss_temperature=model.loss_temperature,
        calibration=model.calibration,
    )


def attributes_of(model: Any, corpus: Corpus) -> list[list[list[str]]]:
    """Return the names of the features of each token, sentence by sentence."""
    extractor = _core.Extractor(_features(model), corpus.core)
    return [extractor.names(corpus.core, s) for s in range(len(corpus))]


def _features(model: Any) -> _core.FeatureSet:
    features: _core.FeatureSet = model.templates.compile(model.format, model.n_columns)
    return features
