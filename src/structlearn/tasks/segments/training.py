"""Learning segments by an estimator: from feature rows and gold segments to weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...estimators.learning import learn
from ...estimators.preparation import prepare
from ...features.rows import Examples, FeatureRows
from ...structures.chains.semimarkov import SemiMarkov
from ..tagging.estimation import block_rows, make_parameters
from ..tagging.learned import LearnedWeights
from ..tagging.training import Monitor

__all__ = ["train_segments"]


def train_segments(
    options: Any,
    passes: int,
    rows: dict[str, Any],
    n_features: int,
    outputs: list[Any],
    n_labels: int,
    max_length: int,
    monitor: Monitor,
) -> tuple[LearnedWeights, bool]:
    """Fit an estimator to the segments of a corpus, with as many seeds as the options ask for.

    Parameters
    ----------
    options : SegmentTagger
        Read only: its parameters.
    rows : dict of arrays
        The features of all segments, ``max_length`` rows a token: site, begin, feature.
    outputs : list of lists of (start, end, label)
        Label 0 is the outside: it never has more than one token.

    Returns
    -------
    weights, interrupted
        The mean of the runs' weights after the last pass, or after the best one by the dev score;
        and whether Ctrl-C ended it early.
    """
    site = rows["site"]
    block = FeatureRows(site, n_features, None, rows["begin"], rows["feature"], inner=(max_length,))
    parameters = make_parameters(options, passes, options.random_state, SemiMarkov(max_length))
    parameters.forbid = {"segment": [(d, 0) for d in range(2, max_length + 1)]}
    examples = Examples(len(site) - 1, {"segment": block})
    prepared = prepare(parameters, examples, outputs, classes=np.arange(n_labels))

    def learned(w: Any) -> LearnedWeights:
        return _weights(prepared.layout, w)

    def callback(record: dict[str, Any]) -> bool:
        shown = {k: record[k] for k in ("loss", "objective", "gap", "updates") if k in record}
        return monitor.look(record["iteration"], lambda: learned(record["weights"]()), **shown)

    parameters.callbacks = callback
    total: LearnedWeights | None = None
    for seed in _seeds(options):
        if total is not None:
            monitor.restart()
        parameters.random_state = seed
        training = learn(parameters, prepared.problem)
        found = monitor.best or learned(training.weights)
        if training.interrupted:
            return found, True
        total = found if total is None else total.plus(found)
    assert total is not None
    return total.divided(len(list(_seeds(options)))), False


def _seeds(options: Any) -> Iterator[int]:
    count = options.n_models if options.learner == "perceptron" else 1
    yield from range(options.random_state, options.random_state + count)


def _weights(layout: Any, w: Any) -> LearnedWeights:
    def table(name: str) -> Any:
        block = layout.blocks[name]
        return block.to_dense(w[block.offset : block.offset + block.size]).ravel()

    row_ptr, column, state = block_rows(layout.blocks["segment"], w)
    return LearnedWeights(
        row_ptr,
        column,
        np.ascontiguousarray(state),
        table("start"),
        table("end"),
        [table("transition")],
    )
