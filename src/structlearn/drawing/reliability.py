"""A reliability curve: the share of correct predictions against their probability."""

from __future__ import annotations

from typing import Any

from ..printing import escape
from .mistakes import MISTAKES_STYLE, draw_mistakes
from .page import Page, facts_list
from .picture import Picture

_SIDE, _MARGIN = 260, 44
_BLUE = "#3b7dd8"


def draw_reliability(found: Any) -> Picture:
    """Draw a :class:`~structlearn.metrics.calibration.Reliability`.

    A point for each bin, larger for more predictions. Probabilities are calibrated on the
    diagonal, and too high below it.
    """

    def x(p: float) -> float:
        return _MARGIN + _SIDE * p

    def y(share: float) -> float:
        return 10 + _SIDE * (1 - share)

    grid = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        grid.append(
            f'<path d="M{x(tick):.1f} {y(0):.1f}V{y(1):.1f}M{x(0):.1f} {y(tick):.1f}H{x(1):.1f}" '
            'stroke="currentColor" stroke-opacity=".15"/>'
            f'<text x="{x(tick):.1f}" y="{y(0) + 15:.1f}" text-anchor="middle">{tick:g}</text>'
            f'<text x="{x(0) - 6:.1f}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        )
    bins = [b for b in found.bins if b.n]
    line = " ".join(f"{x(b.probability):.1f},{y(b.accuracy):.1f}" for b in bins)
    points = "".join(
        f'<circle cx="{x(b.probability):.1f}" cy="{y(b.accuracy):.1f}" '
        f'r="{3 + 7 * (b.n / found.n) ** 0.5:.1f}" fill="{_BLUE}" fill-opacity=".7">'
        f"<title>{b.low:g} to {b.high:g}: {b.n} predictions, mean probability "
        f"{b.probability:.3f}, right {b.accuracy:.3f}</title></circle>"
        for b in bins
    )
    width, height = _SIDE + _MARGIN + 16, _SIDE + 50
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="reliability curve" '
        'font-family="system-ui, sans-serif" font-size="11" fill="currentColor">'
        f"{''.join(grid)}"
        f'<path d="M{x(0):.1f} {y(0):.1f}L{x(1):.1f} {y(1):.1f}" stroke="currentColor" '
        'stroke-dasharray="4 4" fill="none"/>'
        f'<polyline points="{line}" fill="none" stroke="{_BLUE}" stroke-width="2"/>{points}'
        f'<text x="{x(0.5):.1f}" y="{height - 6}" text-anchor="middle">probability</text>'
        f'<text transform="translate(12 {y(0.5):.1f}) rotate(-90)" text-anchor="middle">'
        "share that is right</text></svg>"
    )


def scores_page(
    title: str,
    facts: list[tuple[str, str]],
    scores: str,
    found: Any,
    certainty: str,
    wrong: Any = None,
) -> str:
    """Return a page with the scores of a model, what it got wrong, and how far to trust it.

    Parameters
    ----------
    scores : str
        The report.
    found : Reliability or None
        None: the model gives no probabilities.
    certainty : str
        What is known of them from training.
    wrong : list of Looked, optional
        Sentences with wrong labels.
    """
    page = Page(title, "structlearn evaluate", facts, MISTAKES_STYLE if wrong else "")
    page.section("Scores", f"<pre>{escape(scores)}</pre>")
    _add_certainty(page, found, certainty)
    if wrong:
        page.section(
            "Mistakes",
            draw_mistakes(wrong),
            note=f"{len(wrong):,} sentences have wrong labels. A wrong label is "
            '<span class="red">red</span>, with its probability; the label of the file is '
            '<span class="green">green</span>. Of a label that the model is sure of and the file '
            "denies, the file may be wrong.",
        )
    return page.html()


def _add_certainty(page: Page, found: Any, certainty: str) -> None:
    """Add how far probabilities can be trusted."""
    if found is None:
        page.section("Certainty", note="This model gives no probabilities.")
        return
    counts = ("expected calibration error", f"{found.error:.4f}"), ("predictions", f"{found.n:,}")
    page.section(
        "Certainty",
        facts_list(list(counts)),
        page.picture(draw_reliability(found)),
        note=escape(f"Probabilities: {certainty}.")
        + " On the dashed line, of the predictions with 80 % probability 80 % are right; below it "
        "fewer are right than the probability says.",
    )
