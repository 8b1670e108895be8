"""The colours of all pages and pictures, light and dark."""

from __future__ import annotations

_LIGHT = (
    "--ink:#1c2330;--soft:#5c6675;--paper:#ffffff;--line:#d9dee6;--card:#f6f8fa;--edge:#8a95a5;"
    "--gold:#1f7a4d;--wrong:#b3372f;--best:#1f5fbf;--gold-rgb:31,122,77;--wrong-rgb:179,55,47;"
    "--best-rgb:31,95,191"
)
_DARK = (
    "--ink:#e6e9ef;--soft:#9aa4b2;--paper:#14171c;--line:#2c333d;--card:#1b2027;--edge:#76818f;"
    "--gold:#5fcf97;--wrong:#f08a80;--best:#7db1ff;--gold-rgb:95,207,151;--wrong-rgb:240,138,128;"
    "--best-rgb:125,177,255"
)


def themed(selector: str, style: str = "") -> str:
    """Return a style sheet that defines the colours as variables of an element.

    Parameters
    ----------
    selector : str
        Selects the element.
    style : str
        The rules that use the variables; line breaks are removed.
    """
    rules = "".join(style.split("\n"))
    return (
        f"{selector}{{{_LIGHT}}}@media (prefers-color-scheme: dark){{{selector}{{{_DARK}}}}}{rules}"
    )
