"""The distribution of a model over the outputs of one input, by enumeration.

An output has *parts*: labels at positions, segments, arcs, spans. Marginals are probabilities of
parts, by a key for each. Nothing here calls a sum of the library: k-best lists of tiny inputs
contain all outputs, and sums are taken over them.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.metamorphic.subjects import Subject
from structlearn.models.calibration import Calibration
from structlearn.models.temperature import temperature_of
from structlearn.structures import (
    Arborescence,
    Constituency,
    Exhaustive,
    Lattice,
    SemiMarkov,
    SpanningTree,
)
from structlearn.tasks import ConstituencyParser, DependencyParser, Pipeline, SegmentTagger, Tagger

Rng = np.random.Generator
#: Temperatures of queries; None: as fitted.
TEMPERATURES = (None, 0.4, 1.0, 3.0)
#: Models of each subject.
POOL = 20
#: The most outputs of a tiny input.
MOST_OUTPUTS = 500


# -- temperature --------------------------------------------------------------------------------


def at_temperature(subject: Subject, rng: Rng, calibrated: bool = False) -> Any:
    """Return a model of the pool, as fitted or with another temperature.

    Parameters
    ----------
    calibrated : bool
        Always with a temperature, as if chosen on a dev set.
    """
    model = subject.fitted(rng, POOL)
    choices = TEMPERATURES[1:] if calibrated else TEMPERATURES
    return _tempered(model, choices[int(rng.integers(len(choices)))])


@functools.lru_cache(maxsize=4096)
def _tempered(model: Any, value: float | None) -> Any:
    task = hasattr(model, "model_")
    if value is None:
        return model
    other = copy.copy(model)
    if not task:
        other.calibration_ = _calibration(value)
        return other
    other.model_ = copy.copy(model.model_)
    if isinstance(model, Pipeline):
        other.model_.parts = {k: _with_temperature(v, value) for k, v in model.model_.parts.items()}
        other._prepare()
        return other
    other.model_ = _with_temperature(model.model_, value)
    return other


def _with_temperature(model: Any, value: float) -> Any:
    """Return a copy of a task's model with a temperature in its training record."""
    other = copy.copy(model)
    other.training = dict(model.training)
    other.calibration = _calibration(value)
    return other


def _calibration(temperature: float) -> Calibration:
    """Return a calibration record in which no probability is too high."""
    return Calibration(temperature, 10**15, 0.0)


def temperature(model: Any) -> float:
    """Return the temperature of a model's probabilities; for a pipeline, that of its trees."""
    if isinstance(model, Pipeline):
        return float(model.model_.parts["parser"].temperature or 1.0)
    if hasattr(model, "model_"):
        return float(model.model_.temperature or 1.0)
    return temperature_of(model.temperature_)


# -- parts --------------------------------------------------------------------------------------


def marginals(model: Any, X: Any) -> dict[Any, float]:
    """Return the marginals of the one input of X, by part."""
    if isinstance(model, Tagger):
        rows = model.predict_marginals(X)[0]
        return {(t, label): p for t, row in enumerate(rows) for label, p in row.items()}
    if isinstance(model, DependencyParser):
        rows = model.predict_marginals(X, least=0.0)[0]
        return {(m, *arc): p for m, row in enumerate(rows) for arc, p in row.items()}
    if isinstance(model, (SegmentTagger, ConstituencyParser)):
        return dict(model.predict_marginals(X, least=1e-300)[0])
    p = np.asarray(model.predict_marginals(X)[0])
    if isinstance(model.structure_, Constituency):
        p[..., 0] = 0.0  # spans without a label are not in outputs
    return dict(np.ndenumerate(p))


def parts(model: Any, output: Any) -> Iterable[Any]:
    """Return the parts of an output, each once."""
    if isinstance(model, Tagger):
        return list(enumerate(output))
    if isinstance(model, SegmentTagger):
        return outside_segments(output)
    if isinstance(model, (DependencyParser, Pipeline)):
        return [(m, head, relation) for m, (head, relation) in enumerate(output)]
    if isinstance(model, ConstituencyParser):
        return {span for span in node_spans(output)[0] if span[2]}
    structure, names = model.structure_, model.classes_.tolist()
    if isinstance(structure, SemiMarkov):
        return [(a, b - a - 1, names.index(k)) for a, b, k in output]
    if isinstance(structure, Constituency):
        return [(a, b, names.index(k)) for a, b, k in output]
    if isinstance(structure, Arborescence):
        if isinstance(output, tuple):
            arcs = zip(output[0].tolist(), output[1].tolist(), strict=True)
            return [(h, m, names.index(k)) for m, (h, k) in enumerate(arcs, 1)]
        return [(h, m) for m, h in enumerate(output.tolist(), 1)]
    if isinstance(structure, Lattice):
        return [(e,) for e in output.tolist()]
    if isinstance(structure, SpanningTree):
        return [(a, b) for a, b in output.tolist()]
    labels = np.asarray(output)
    return [(*place, names.index(label)) for place, label in zip(
        np.ndindex(labels.shape), labels.ravel().tolist(), strict=True)]  # fmt: skip


def outside_segments(labels: list[str]) -> list[tuple[int, int, str]]:
    """Return the segments of IOB2 labels as (begin, end, type), with "O" for tokens outside."""
    segments: list[tuple[int, int, str]] = []
    for t, label in enumerate(labels):
        if label.startswith("I-"):
            begin, _, kind = segments.pop()
            segments.append((begin, t + 1, kind))
        else:
            segments.append((t, t + 1, label.removeprefix("B-")))
    return segments


def node_spans(tree: Any, begin: int = 0) -> tuple[list[tuple[int, int, str]], int]:
    """Return (begin, end, label) of the nodes above tags, and the end of the tree."""
    if tree.word is not None:
        return [], begin + 1
    inner: list[tuple[int, int, str]] = []
    end = begin
    for child in tree.children:
        spans, end = node_spans(child, end)
        inner += spans
    return [(begin, end, tree.label), *inner], end


def sites(model: Any, X: Any, keys: Iterable[Any]) -> list[tuple[Any, list[Any], int]]:
    """Return (name, parts, number): every output has exactly this number of these parts."""
    structure = getattr(model, "structure_", None)
    if isinstance(model, ConstituencyParser) or isinstance(structure, (Constituency, Lattice)):
        return []
    groups: dict[Any, list[Any]] = {}
    for key in keys:
        if isinstance(model, SegmentTagger) or isinstance(structure, SemiMarkov):
            end = key[1] if structure is None else key[0] + key[1] + 1
            for t in range(key[0], end):
                groups.setdefault(t, []).append(key)
        elif isinstance(structure, Arborescence):
            groups.setdefault(key[1], []).append(key)
        elif isinstance(structure, SpanningTree):
            groups.setdefault((), []).append(key)
        else:
            groups.setdefault(key[0] if structure is None else key[:-1], []).append(key)
    if isinstance(structure, Arborescence):
        groups.pop(0)  # not a word: its column is never read
    if isinstance(structure, SpanningTree):
        nodes = math.isqrt(len(groups[()]))
        return [((), groups[()], nodes - 1)]
    if isinstance(structure, SemiMarkov):  # segments beyond the last position
        length = 1 + max(key[0] for group in groups.values() for key in group)
        groups = {t: group for t, group in groups.items() if t < length}
    return [(name, group, 1) for name, group in groups.items()]


# -- all outputs --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Listing:
    """All outputs of an input, best first, with their scores and probabilities."""

    outputs: list[Any]
    scores: list[float]
    p: np.ndarray
    log_partition: float

    def part_sums(self, model: Any) -> dict[Any, float]:
        """Return the probability of each part that an output has."""
        sums: dict[Any, float] = {}
        for output, p in zip(self.outputs, self.p.tolist(), strict=True):
            for key in parts(model, output):
                sums[key] = sums.get(key, 0.0) + p
        return {key: min(1.0, p) for key, p in sums.items()}

    @property
    def entropy(self) -> float:
        """−Σ p log p."""
        p = self.p[self.p > 0]
        return float(-(p * np.log(p)).sum())


def listing(model: Any, X: Any) -> Listing | None:
    """Return all outputs of the one input of X; None if there are too many."""
    ranked = model.predict_kbest(X, n=MOST_OUTPUTS + 1)[0]
    if len(ranked) > MOST_OUTPUTS or ranked[0][0] == -math.inf:
        return None
    scores = [float(score) for score, _ in ranked]
    scaled = np.array(scores) / temperature(model)
    top = scaled.max()
    total = float(top + np.log(np.exp(scaled - top).sum()))
    p = np.exp(scaled - total)
    return Listing([y for _, y in ranked], scores, p, total * temperature(model))


def tiny(model: Any, X: Any, rng: Rng) -> Any:
    """Return an input cut to at most four positions if possible."""
    if not isinstance(X, list):
        return X[:1]
    x, most = X[0], int(rng.integers(1, 5))
    if isinstance(x, dict):
        if set(x) == {"span"}:
            return [{"span": x["span"][:most, : most + 1]}]
        return [x]
    structure = getattr(model, "structure_", None)
    if isinstance(model, Tagger):
        width = model.candidates or len(model.model_.labels)
        while most > 1 and width**most > MOST_OUTPUTS:
            most -= 1
    elif isinstance(structure, Exhaustive):
        most = 2  # which outputs are given may have
    return [x[:most]]
