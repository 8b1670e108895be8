"""Commands of semi-Markov taggers: whole segments with a label."""

from __future__ import annotations

from .tagger import evaluate, predict

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["evaluate", "inspect", "predict", "train"]


def train(o: Any) -> Callable[[], None]:
    """Learn a tagger of segments; return what saves it."""
    from ..tasks.segments.tagger import SegmentTagger

    tagger = SegmentTagger(
        o.features,
        o.learner,
        target=o.target,
        max_length=o.max_length,
        max_iter=o.max_iter,
        patience=o.patience,
        C=o.C,
        l1=o.l1,
        all_states=o.all_states,
        min_count=o.min_count,
        prune=o.prune,
        n_models=o.n_models,
        n_jobs=o.threads,
        random_state=o.random_state,
        verbose=0 if o.quiet else 1,
    )
    tagger.fit(o.train, dev=o.dev, format=o.format)
    return lambda: tagger.save(o.model)


def inspect(tagger: Any, o: Any) -> int:
    """Refuse."""
    raise ValueError(f"{o.model}: models of segments cannot be inspected so far")
