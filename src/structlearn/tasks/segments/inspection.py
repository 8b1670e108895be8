"""What a tagger of segments has learned: as text, and as a page."""

from __future__ import annotations

from typing import Any

from ..tagging.inspection import Summary, model_facts, summary_text, with_tables

__all__ = ["inspect_html", "inspect_text"]


def _summary(tagger: Any) -> Summary:
    model = tagger._fitted()
    # Names of features are not kept: there are those of all segments.
    n_weights = len(memoryview(model.arrays["segment.weight"]).cast("B")) // 4
    kind = f"segments of up to {model.max_length} tokens"
    facts = model_facts(model, kind, n_weights)
    return with_tables(model, "transition", {}, [*facts, ("chunks cut", str(tagger.n_cut_))])


def inspect_text(tagger: Any) -> str:
    """Return the summary of a tagger as text."""
    return summary_text(_summary(tagger))


def inspect_html(tagger: Any) -> str:
    """Return it as a self-contained page."""
    from ..tagging.page import inspection_page

    return inspection_page(_summary(tagger), [], 0)
