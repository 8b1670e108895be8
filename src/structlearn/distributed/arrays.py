"""Estimators over shards: names of features and classes first, then the weights that exist."""

from __future__ import annotations

import copy
from functools import partial, reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from ..estimators.columns import read_tables
from ..estimators.hmm import HMM
from ..estimators.outputs import (
    as_outputs,
    class_weight_table,
    find_classes,
    sort_classes,
    whole_copies,
    with_present,
)
from ..estimators.preparation import Frame, Prepared, make_encoder, make_structure
from ..estimators.preparation import prepare as prepare_examples
from ..exceptions import CapabilityError
from ..features.encoder import ExampleEncoder, len_or_rows
from ..features.tokens import TokenEncoder
from ..features.vocabulary import Vocabulary
from ..fitting.example_weights import check_sample_weight, refuse_no_weight
from ..fitting.learning import learn
from ..fitting.split_problem import SplitProblem
from ..scoring.layout import SeenOutcomes, WeightLayout
from ..structures.chains.chain import Chain
from .crew import Crew, CrewParts
from .shards import ListShard, list_ends, pickled_size, some_of


def example_shards(X: Any, y: Any, sample_weight: Any, n: int | None) -> list[ListShard]:
    """Return shards of examples with their outputs and weights."""
    total = len_or_rows(X)
    if total == 0:
        raise ValueError("X is empty: at least one example is needed")
    if y is None or len_or_rows(y) != total:
        raise ValueError("y is needed: one output for each example of X")
    weight = check_sample_weight(sample_weight, total)
    shards = []
    for begin, end in pairwise(list_ends(total, 0 if n else pickled_size(X, total), n)):
        which = slice(begin, end)
        content = some_of(X, which), some_of(y, which), None if weight is None else weight[which]
        shards.append(ListShard(f"examples {begin} to {end - 1}", content, end - begin))
    return shards


def fit_estimator(estimator: Any, crew: Crew) -> None:
    """Fit an estimator to shards of examples."""
    estimator._check_parameters()
    if estimator.warm_start:
        raise CapabilityError("warm_start is for one machine: over shards training begins anew")
    if any(hasattr(callback, "step") for callback in estimator.callbacks or ()):
        raise CapabilityError("a callback with a method step is told of examples on one machine")
    options = copy.copy(estimator)
    # What was learned before is not needed there, and callbacks stay here.
    vars(options).clear()
    vars(options).update({**estimator.get_params(deep=False), "callbacks": None})
    held = crew.files().then(_examples)
    present = held.each(_has_weight)
    refuse_no_weight(sum(present))
    crew.keep([k for k, some in enumerate(present) if some])
    names: _Names = held.sum(_read_names, options)
    frame = names.frame(estimator)
    layouts = held.each(_read_layout, options, frame)
    counts = np.sum([totals for _, totals in layouts], axis=0)
    frame.layout = _joined_layout([layout for layout, _ in layouts])
    if isinstance(estimator.class_weight, str):
        table = class_weight_table(estimator.class_weight, frame.classes, counts)
        assert table is not None
        options.class_weight = dict(zip(frame.classes.tolist(), table.tolist(), strict=True))
    problem = SplitProblem(CrewParts(held.then(_make_problem, options, frame)))
    held.release()
    training = learn(estimator, problem)
    prepared = Prepared(
        frame.encoder,
        frame.structure,
        frame.classes,
        frame.layout,
        problem,  # type: ignore[arg-type]
        counts,
        columns=frame.columns,
    )
    estimator._accept(prepared, training)


def fit_counted(estimator: HMM, crew: Crew) -> None:
    """Fit a hidden Markov model to shards of examples: counts are added up."""
    estimator._check_parameters()
    held = crew.files().then(_examples)
    present = held.each(_has_weight)
    refuse_no_weight(sum(present))
    crew.keep([k for k, some in enumerate(present) if some])
    found = held.each(_read_sequences, estimator)
    reader, _, columns = found[0]
    classes = sort_classes({k for _, some, _ in found for k in some.tolist()})
    counts: _Counts = held.sum(_counted, estimator, reader, columns, classes)
    estimator._accept(reader, classes, counts.labels, counts.emitted, columns)


class _Counts:
    """What a hidden Markov model counts in a shard."""

    def __init__(self, labels: Any, emitted: Any) -> None:
        self.labels, self.emitted = labels, emitted

    def __add__(self, other: _Counts) -> _Counts:
        return _Counts(self.labels + other.labels, self.emitted + other.emitted)


class _Names:
    """Classes, and the names of features with how often each is there, in order of occurrence."""

    def __init__(self, encoder: ExampleEncoder, classes: Any, columns: Any) -> None:
        self.encoder, self.columns = encoder, columns
        self.classes: list[Any] | None = None if classes is None else classes.tolist()
        self.counts: dict[str, dict[str, int]] = {}

    def __add__(self, other: _Names) -> _Names:
        ours, theirs = self.encoder, other.encoder
        if repr(ours.structure) != repr(theirs.structure):
            raise ValueError(
                f"shards have different structures, {ours.structure!r} and {theirs.structure!r}: "
                "give the structure as an object"
            )
        if set(ours.encoders) != set(theirs.encoders):
            raise ValueError("all examples must have features for the same blocks")
        for name, encoder in ours.encoders.items():
            same = type(encoder) is type(theirs.encoders[name])
            if not same or (
                not isinstance(encoder, TokenEncoder)
                and encoder.n_features != theirs.encoders[name].n_features
            ):
                raise ValueError(f"{name}: all examples must have features of the same kind")
        if self.classes is not None:
            self.classes += [k for k in other.classes or [] if k not in set(self.classes)]
        for name, counts in self.counts.items():
            for feature, times in other.counts[name].items():
                counts[feature] = counts.get(feature, 0) + times
        return self

    def frame(self, estimator: Any) -> Frame:
        """Return what all shards have in common; the layout is still missing."""
        from ..estimators.constraints import constrain

        encoder, least = self.encoder, int(estimator.min_count)
        encoder.min_count = least
        for name, counts in self.counts.items():
            kept = [feature for feature, times in counts.items() if times >= least]
            reader = encoder.encoders[name]
            assert isinstance(reader, TokenEncoder)
            reader.min_count, reader.vocabulary = least, Vocabulary(kept)
        classes = np.empty(0, dtype=np.int64)
        if self.classes is not None:
            classes = sort_classes(self.classes)
        structure = constrain(encoder.structure, estimator, classes)
        return Frame(encoder, structure, classes, None, columns=self.columns)  # type: ignore[arg-type]


# -- what is computed where the shards are --------------------------------------------------------


def _examples(shard: ListShard, number: int) -> tuple[Any, Any, Any]:
    X, y, weight = shard.examples()
    return X, y, check_sample_weight(weight, len_or_rows(X))


def _has_weight(shard: tuple[Any, Any, Any], number: int) -> bool:
    return shard[2] is None or bool(shard[2].any())


def _read_sequences(shard: tuple[Any, Any, Any], number: int, hmm: HMM) -> tuple[Any, Any, Any]:
    """Return how the examples are read, the classes, and the names of columns."""

    def read(X: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
        X, columns = read_tables(hmm, X, None)
        return hmm._new_reader(X), find_classes(Chain(), as_outputs(y)), columns

    return with_present(read, *shard)


def _counted(
    shard: tuple[Any, Any, Any], number: int, hmm: HMM, reader: Any, columns: Any, classes: Any
) -> _Counts:
    def count(X: Any, y: Any, weights: Any) -> _Counts:
        observed, ptr = reader.read(read_tables(hmm, X, columns)[0])
        outputs = as_outputs(y, len(ptr) - 1)
        return _Counts(*hmm._count(observed, ptr, outputs, classes, weights))

    return with_present(count, *shard)


def _read(options: Any, X: Any, y: Any) -> tuple[Any, Any, Any]:
    """Return X without data frames, the names of its columns, and y."""
    from ..estimators.columns import read_labels
    from ..estimators.preparation import kind_of_structure

    X, columns = options._read_columns(X, kind_of_structure(options.structure), None)
    return X, columns, read_labels(options, y) if options._is_multiclass else as_outputs(y)


def _read_names(shard: tuple[Any, Any, Any], number: int, options: Any) -> _Names:
    return with_present(partial(_names_of, options), *shard)


def _names_of(options: Any, X: Any, y: Any, weights: Any) -> _Names:
    X, columns, y = _read(options, X, y)
    structure = make_structure(options.structure, X, y)
    encoder = make_encoder(options, structure)
    encoder.min_count = 0  # rare in all shards are those that all have seen too few times
    examples = encoder.fit_transform(X)
    found = _Names(encoder, find_classes(structure, y) if structure.has_labels else None, columns)
    for name, reader in encoder.encoders.items():
        if isinstance(reader, TokenEncoder):
            rows: Any = examples.blocks[name]
            each = None
            if weights is not None:
                sites = np.repeat(whole_copies(weights), np.diff(rows.site_ptr))
                each = np.repeat(sites, np.diff(rows.indptr))
            times = np.bincount(rows.indices, each, minlength=reader.n_features).tolist()
            found.counts[name] = dict(zip(reader.vocabulary.names(), times, strict=True))
    return found


def _prepare(options: Any, shard: tuple[Any, Any, Any], frame: Frame) -> Prepared:
    def prepare(X: Any, y: Any, weights: Any) -> Prepared:
        X, _, y = _read(options, X, y)
        return prepare_examples(options, X, y, weights, known=frame)

    return with_present(prepare, *shard)


def _read_layout(
    shard: tuple[Any, Any, Any], number: int, options: Any, frame: Frame
) -> tuple[WeightLayout, Any]:
    plain = copy.copy(options)
    plain.class_weight = None
    prepared = _prepare(plain, shard, frame)
    return prepared.layout, prepared.class_count


def _make_problem(shard: tuple[Any, Any, Any], number: int, options: Any, frame: Frame) -> Any:
    return _prepare(options, shard, frame).problem


def _joined_layout(layouts: list[WeightLayout]) -> WeightLayout:
    """Return a layout with the weights of all."""
    blocks = layouts[0].blocks
    for name, block in blocks.items():
        if block is None or block.column is None:
            continue
        same = [layout.blocks[name] for layout in layouts]
        parts = [(b.row_ptr, b.column, b.real) for b in same if b is not None]
        if block.shared:
            column = np.unique(np.concatenate([part[1] for part in parts])).astype(np.uint32)
            block.row_ptr, block.column = np.array([0, len(column)], dtype=np.uint32), column
        else:
            seen: Any = reduce(
                add,
                (SeenOutcomes(p, c, block.n_columns, r) for p, c, r in parts),  # type: ignore[arg-type]
            )
            block.row_ptr, block.column, block.real = seen.filled()
    return WeightLayout(blocks)
