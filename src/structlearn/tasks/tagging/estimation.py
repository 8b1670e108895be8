"""Learning a tagger by an estimator: whatever the native perceptron does not do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...estimators.learning import Parameters, learn, warn_unless_converged
from ...estimators.preparation import Before, make_encoder, prepare
from ...features.rows import Examples, FeatureRows
from ...scoring.layout import WeightBlock, WeightLayout
from ...structures.chains.chain import Chain
from .learned import LearnedWeights, Masks
from .model import TaggerModel
from .training import Monitor, TrainingSet

__all__ = ["block_rows", "earlier_weights", "make_parameters", "train_estimator"]


#: Learner of a tagger -> the parameters that make an estimator of it.
_LEARNERS: dict[str, dict[str, Any]] = {
    "perceptron": {"solver": "perceptron", "margin": 0.0, "temperature": 0.0, "cost": None},
    # Steps and their average: it may begin at weights, and with labels unknown.
    "svm": {"solver": "sgd", "margin": 1.0, "temperature": 0.0, "tol": 1e-2},
    "crf": {"solver": "auto", "margin": 0.0, "temperature": 1.0},
    "passive-aggressive": {"solver": "passive-aggressive", "tol": 0.0},
    "adagrad": {"solver": "adagrad", "tol": 1e-2},
    "arow": {"solver": "arow", "tol": 0.0, "_rate": 10.0},
}


def make_parameters(tagger: Any, passes: int, seed: int, structure: Any = None) -> Parameters:
    """Return the estimator's parameters that a tagger's ask for; by default of a chain."""
    parameters = Parameters(
        structure=structure or Chain(order=tagger.order),
        max_iter=passes,
        random_state=seed,
        n_jobs=tagger.n_jobs,
        all_possible_states=int(tagger.all_states) == 1,
        checkpoint=getattr(tagger, "checkpoint", None),
        **_LEARNERS[tagger.learner],
    )
    if tagger.learner in ("perceptron", "passive-aggressive", "adagrad", "arow"):
        parameters.average, parameters.shuffle = tagger.average, tagger.shuffle
    if tagger.learner not in ("perceptron", "arow"):
        parameters.C, parameters.l1 = tagger.C, tagger.l1
    return parameters


class Watch:
    """Tells a monitor of every iteration; what it has seen is part of checkpoints.

    Parameters
    ----------
    learned : callable
        From a learner's weights to those of a tagger.
    """

    def __init__(self, monitor: Monitor, learned: Callable[[Any], LearnedWeights]) -> None:
        self.monitor = monitor
        self.learned = learned
        self._best: Any = None

    def __call__(self, record: dict[str, Any]) -> bool:
        """Take note of an iteration; return True where it should be the last."""
        shown = {k: record[k] for k in ("loss", "objective", "gap", "updates") if k in record}
        number, monitor = record["iteration"], self.monitor
        stop = monitor.look(number, lambda: self.learned(record["weights"]()), **shown)
        if monitor.best is not None and monitor.best_pass == number:
            self._best = record["weights"]().copy()
        return stop

    def dump(self) -> dict[str, Any]:
        """Return what was seen so far."""
        m = self.monitor
        seen = {"pass": m.best_pass, "score": m.best_score, "history": list(m.history)}
        return {"best": self._best, **seen}

    def load(self, state: dict[str, Any]) -> None:
        """Go on with what another one had seen."""
        m = self.monitor
        m.best_pass, m.best_score = state["pass"], state["score"]
        m.history[:] = state["history"]
        self._best = state["best"]
        m.best = None if self._best is None else self.learned(self._best)


def train_estimator(
    data: TrainingSet, parameters: Parameters, monitor: Monitor, start: LearnedWeights | None = None
) -> tuple[LearnedWeights, bool]:
    """Learn from the features of a corpus.

    Parameters
    ----------
    parameters : Parameters
        The structure is a chain; constraints and callbacks are put in.
    start : LearnedWeights, optional
        Where to begin; in the numbers of this vocabulary.
    """
    arrays = data.rows.arrays()
    sentence = arrays["sentence"]
    values = arrays["value"] if len(arrays["value"]) else None
    blocks = {
        "label": FeatureRows(
            sentence, data.vocabulary.size, values, arrays["begin"], arrays["feature"]
        )
    }
    if data.vocabulary.pair_size:
        # The table of transitions itself is one more feature, which every pair has.
        constant = data.vocabulary.pair_size
        begin = arrays["pair_begin"]
        feature = np.insert(arrays["pair_feature"], begin[1:], constant).astype(np.int32)
        blocks["transition"] = FeatureRows(
            arrays["pair_sentence"],
            constant + 1,
            None,
            begin + np.arange(len(begin)),
            feature,
        )
    examples = Examples(len(sentence) - 1, blocks)
    known = arrays["label"]
    y: list[Any] = np.split(known, sentence[1:-1])
    if (known < 0).any():
        y = [[None if k < 0 else k for k in labels.tolist()] for labels in y]
    parameters.forbid = _forbidden(data.masks, len(data.labels), parameters.structure.order)
    layouts: list[Any] = []

    def learned(weights: Any) -> LearnedWeights:
        return _from_layout(layouts[0], weights, data)

    parameters.callbacks = Watch(monitor, learned)
    classes = np.arange(len(data.labels))
    before = None if start is None else _earlier_layout(parameters, start, classes)
    prepared = prepare(parameters, examples, y, classes=classes, before=before)
    layouts.append(prepared.layout)
    weights = None if start is None else _to_layout(prepared.layout, start, data)
    training = learn(parameters, prepared.problem, weights=weights)
    warn_unless_converged("the learner", training, parameters.tol)
    return monitor.best or learned(training.weights), training.interrupted


def _forbidden(masks: Masks, n: int, order: int) -> dict[str, Any] | None:
    if not masks.transition:
        return None
    return {
        "start": [k for k in range(n) if masks.start[k]],
        "end": [k for k in range(n) if masks.end[k]],
        # Pairs of labels are the second block from the top in a chain of order 2, and so on.
        "transition" if order == 1 else "transition1": [
            (i // n, i % n) for i in range(n * n) if masks.transition[i]
        ],
    }


def block_rows(block: Any, w: Any) -> tuple[Any, Any, Any]:
    """Return row pointers, columns and weights of a block, without what only fills rows up."""
    values = w[block.offset : block.offset + block.size]
    if block.column is None:  # every feature with every outcome
        row_ptr = np.arange(block.n_features + 1, dtype=np.uint32) * block.n_columns
        column = np.tile(np.arange(block.n_columns, dtype=np.uint32), block.n_features)
        return row_ptr.astype(np.uint32), column, values
    if block.real is None:
        return block.row_ptr, block.column, values
    real = block.real.astype(bool)
    ends = np.concatenate(([0], np.cumsum(block.real)))[block.row_ptr]
    return ends.astype(np.uint32), block.column[real], values[real]


def _from_layout(layout: Any, w: Any, data: TrainingSet) -> LearnedWeights:
    """Return an estimator's weights without the entries that only fill rows up."""

    def rows(name: str) -> tuple[Any, Any, Any]:
        return block_rows(layout.blocks[name], w)

    def table(name: str) -> Any:
        block = layout.blocks.get(name)
        if block is None:
            return np.empty(0)
        return block.to_dense(w[block.offset : block.offset + block.size]).ravel()

    row_ptr, column, state = rows("label")
    learned = LearnedWeights(
        row_ptr, column, np.ascontiguousarray(state), table("start"), table("end"), []
    )
    if data.vocabulary.pair_size:
        pair_ptr, pair_column, pair = rows("transition")
        # The last feature is the table of transitions.
        last = int(pair_ptr[-2])
        n = len(data.labels)
        shared = np.zeros(n * n)
        shared[pair_column[last:]] = pair[last:]
        learned.transitions = [shared]
        learned.pair_row_ptr = np.ascontiguousarray(pair_ptr[:-1])
        learned.pair_column = np.ascontiguousarray(pair_column[:last])
        learned.pair = np.ascontiguousarray(pair[:last])
    else:
        names = [n for n in layout.blocks if n.startswith("transition")]
        order = {"transition": len(names)}
        names.sort(key=lambda n: order.get(n) or int(n.removeprefix("transition")))
        learned.transitions = [table(n) for n in names]
    return learned


def _earlier_layout(parameters: Parameters, start: LearnedWeights, classes: Any) -> Before:
    """Return the places of earlier weights: they stay, whether the new data has them or not."""
    row_ptr = np.frombuffer(start.row_ptr, dtype=np.uint32)
    column = np.frombuffer(start.column, dtype=np.uint32)
    rows = WeightBlock(
        (len(classes),), len(row_ptr) - 1, shared=False, row_ptr=row_ptr, column=column
    )
    encoder = make_encoder(parameters, parameters.structure)
    return Before(encoder, WeightLayout({"label": rows}), classes)


def _to_layout(layout: Any, start: LearnedWeights, data: TrainingSet) -> Any:
    """Return weights at their places in an estimator's layout, the reverse of the above."""
    w = np.zeros(layout.n_weights)
    n = len(data.labels)
    label = layout.blocks["label"]
    row_ptr = np.frombuffer(start.row_ptr, dtype=np.uint32)
    column = np.frombuffer(start.column, dtype=np.uint32)
    rows = np.repeat(np.arange(len(row_ptr) - 1, dtype=np.int64), np.diff(row_ptr))
    places = rows * label.n_columns + column
    if label.column is None:
        at = places
    else:
        at = np.searchsorted(label._positions(), places)
    w[label.offset + at] = np.frombuffer(start.state, dtype=np.float64)
    tables = {"start": start.start, "end": start.end}
    names = sorted(name for name in layout.blocks if name.startswith("transition"))
    tables.update(zip([*names[1:], names[0]], start.transitions, strict=False))
    for name, values in tables.items():
        block = layout.blocks.get(name)
        numbers = np.frombuffer(memoryview(values).cast("B"), dtype=np.float64)
        if block is None or not len(numbers):
            continue
        finite = np.where(np.isfinite(numbers), numbers, 0.0)
        dense = finite.reshape((n,) * len(block.outcomes))
        w[block.offset : block.offset + block.size] = block.from_dense(dense)
    return w


def earlier_weights(model: TaggerModel, data: TrainingSet) -> LearnedWeights:
    """Return the weights of an earlier model, in the numbers of the new vocabulary."""
    _, row_ptr, column, weights = (np.asarray(x) for x in model.unpacked())
    # Its features were put in first and keep their numbers; the new ones begin at 0.
    grown = np.full(data.vocabulary.size + 1, row_ptr[-1], dtype=np.uint32)
    grown[: len(row_ptr)] = row_ptr
    arrays = model.arrays
    return LearnedWeights(
        grown,
        column,
        weights,
        arrays["start"],
        arrays["end"],
        [arrays[f"transition{m}"] for m in range(1, model.order + 1)],
    )
