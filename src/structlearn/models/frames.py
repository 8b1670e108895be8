"""Records as lists, or as data frames of pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def as_records(
    rows: list[dict[str, Any]], columns: Sequence[str], as_frame: bool, wide: bool = False
) -> Any:
    """Return records as they are, or as a data frame.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    wide : bool
        The first two columns name row and column of a table of the third.
    """
    if not as_frame:
        return rows
    frame = _pandas().DataFrame(rows, columns=list(columns))
    if not wide:
        return frame
    before, after, value = columns
    order = [list(dict.fromkeys(frame[name])) for name in (before, after)]
    return frame.pivot(index=before, columns=after, values=value).reindex(
        index=order[0], columns=order[1]
    )


def contributions_frame(found: list[list[dict[str, Any]]]) -> Any:
    """Return explanations as a data frame: a row for each contribution."""
    rows = []
    for number, decisions in enumerate(found):
        for decision in decisions:
            told = {k: v for k, v in decision.items() if k != "contributions"}
            for name, value in decision["contributions"]:
                rows.append({"example": number, **told, "feature": name, "contribution": value})
    return _pandas().DataFrame(rows)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("as_frame=True needs pandas: pip install pandas") from None
    return pandas
