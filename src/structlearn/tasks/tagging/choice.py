"""The learner of a tagger whose user leaves it open."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from .candidate_counts import MANY_LABELS

if TYPE_CHECKING:
    from typing import Any

    from ...fitting.split_corpus import SplitCorpus

#: With fewer tokens than this, and no dev set to choose the best pass by, a CRF labels better than
#: a perceptron, and its training still takes seconds (``howto/tagger.md`` has figures).
FEW_TOKENS = 50_000
#: Its C is this many by tokens, within bounds: the fewer examples, the more an error counts. 0.5 is
#: the regulariser of other CRF tools, c2 = 1.
_C_BY_TOKENS, _LEAST_C, _MOST_C = 20_000, 0.5, 10.0
#: What belongs to passes, so that whoever sets it means the perceptron.
_OF_PASSES = {"max_iter": None, "n_models": None, "average": True, "shuffle": True}


def with_learner(
    tagger: Any, corpus: SplitCorpus, n_labels: int, *, dev: bool, start: bool
) -> tuple[Any, str]:
    """Return the parameters with the learner that "auto" stands for, and why.

    Parameters
    ----------
    tagger : Tagger
        Read only: its parameters.
    corpus : SplitCorpus
        What is learned from.
    n_labels : int
        How many labels the target columns have at most.
    dev, start : bool
        Whether there is a dev set, or a model to start from.
    """
    if tagger.learner != "auto":
        return tagger, ""
    settled = copy.copy(tagger)
    of_passes = [name for name, usual in _OF_PASSES.items() if getattr(tagger, name) != usual]
    if dev:
        reason = "the dev set chooses the best pass"
    elif start:
        reason = "it continues from a model"
    elif of_passes:
        reason = f"{of_passes[0]} goes with passes"
    elif corpus.n_tokens >= FEW_TOKENS:
        reason = f"{corpus.n_tokens:,} tokens are many"
    elif n_labels > MANY_LABELS:
        reason = f"{n_labels} labels are many"
    else:
        settled.learner = "crf"
        settled.C = min(_MOST_C, max(_LEAST_C, _C_BY_TOKENS / max(1, corpus.n_tokens)))
        few = f"without a dev set, {corpus.n_tokens:,} tokens are few"
        return settled, f"{few} (C = {settled.C:.3g})"
    settled.learner = "perceptron"
    return settled, reason
