"""Random labels and chunks."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

REPEATABLE = settings(derandomize=True, deadline=None, database=None)

TYPES = ["", "NP", "VP", "a-b", "-"]


def labels(tags, types=TYPES):
    outside = [t for t in tags if t in "O."]
    typed = [f"{t}-{k}" if k else t for t in tags if t not in "O." for k in types]
    return st.sampled_from([*outside, *typed])


@st.composite
def segmentations(draw, types=TYPES):
    """Chunks without overlap as (start, end, type), and the sentence's length."""
    spans, at = [], 0
    for _ in range(draw(st.integers(0, 5))):
        start = at + draw(st.integers(0, 1))  # mostly neighbours: there the schemes differ
        at = start + draw(st.integers(1, 3))
        spans.append((start, at, draw(st.sampled_from(types))))
    return spans, at + draw(st.integers(0, 2))


@st.composite
def paired(draw, label, longest=8):
    """The gold and predicted labels of a few sentences; most predictions are right."""
    gold = draw(st.lists(st.lists(label, max_size=longest), max_size=4))
    predicted = [
        [draw(st.one_of(st.just(k), st.just(k), label)) for k in sentence] for sentence in gold
    ]
    return gold, predicted
