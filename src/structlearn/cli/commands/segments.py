"""Commands of semi-Markov taggers: whole segments with a label."""

from __future__ import annotations

from .shared import fit_task, make_task, show_inside
from .tagger import _tokens, evaluate, label_options, predict

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["evaluate", "inspect", "label_options", "predict", "train"]


def train(o: Any) -> Callable[[], None]:
    """Learn a tagger of segments; return what saves it."""
    from ...tasks.segments.tagger import SegmentTagger

    tagger = make_task(SegmentTagger, o)
    fit_task(tagger, o, format=o.format)
    return lambda: tagger.save(o.model)


def inspect(tagger: Any, o: Any) -> int:
    """Show what the tagger has learned, and what decided its segments."""
    from ...tasks.tagging.inspection import inspect_tagger

    return show_inside(inspect_tagger, tagger, o, _tokens)
