"""How many labels a tagger considers at each token."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

#: With more labels than this features have no weights for all of them, and tokens have candidates
#: in chains of order 2 and above.
MANY_LABELS = 64
#: With more labels than this tokens have candidates in chains of order 1, whose steps are cheap:
#: below it the first pass costs more than it saves (``docs/internals/label_sets.md``).
_MANY_IN_PAIRS = 128
#: How many: labels by this number, within bounds. Of more labels more are confused.
_LABELS_FOR_ONE = 24
_FEWEST, _MOST = 12, 48


def n_candidates(run: Any) -> int:
    """Return how many labels a training run considers at each token; 0: all.

    Parameters
    ----------
    run : TokenFitting
        Its features are known.
    """
    tagger, asked = run.tagger, run.tagger.candidates
    usual = min(_MOST, max(_FEWEST, run.n_labels // _LABELS_FOR_ONE))
    width = usual if asked is None else int(asked)
    few = MANY_LABELS if tagger.order > 1 else _MANY_IN_PAIRS
    if width == 0 or width >= run.n_labels or (asked is None and run.n_labels <= few):
        return 0
    if asked is None and tagger.scheme is not None and tagger.order == 1:
        # What continues a chunk is told by the labels before it, which the first pass does not see.
        return 0
    reasons = {
        "order 0": tagger.order == 0,
        "unknown labels": run.has_unknown,
        "start": run.start is not None,
    }
    against = [reason for reason, holds in reasons.items() if holds]
    if against and asked is not None:
        raise ValueError(
            f"candidates={asked} does not go with {against[0]}: use candidates=0, which considers "
            "all labels at each token"
        )
    return 0 if against else width
