"""A report of what finds trees: what it has learned, and its trees, as text and as a page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from .page import bars, facts_list, html_page

__all__ = ["TreeReport", "check_labels"]


@dataclass
class TreeReport:
    """What is shown of a parser.

    Attributes
    ----------
    title : str
        Of the page.
    legend : str
        What the colours of trees that are drawn with gold ones mean.
    facts : list of (name, value)
        What the parser is and how it was trained.
    heading : str
        What the features are.
    features : dict of str to list of (name, weight)
        By label.
    trees : list of (tree, gold tree or None)
        Of the sentences that are shown.
    reasons : list of list of str
        Of each of these sentences, what decided; empty: text shows the trees instead.
    n_sentences : int
        The number of all sentences.
    """

    title: str
    legend: str
    facts: list[tuple[str, str]] = field(default_factory=list)
    heading: str = ""
    features: dict[str, Sequence[tuple[str, float]]] = field(default_factory=dict)
    trees: list[tuple[Any, Any]] = field(default_factory=list)
    reasons: list[list[str]] = field(default_factory=list)
    n_sentences: int = 0

    @property
    def _cut(self) -> list[str]:
        shown = len(self.trees)
        if shown == self.n_sentences:
            return []
        return [f"{shown} of {self.n_sentences} sentences are shown; --most N shows more."]

    def text(self) -> str:
        """Return the report as text: facts, features, sentences."""
        blocks = [
            [
                line
                for name, value in self.facts
                for line in textwrap.wrap(f"{name}: {value}", 98, subsequent_indent="    ")
            ]
        ]
        if self.features and not self.facts:
            blocks.append([self.heading])
        for label, rows in self.features.items():
            blocks.append([label, *(f"  {weight:+9.4f}  {name}" for name, weight in rows)])
        blocks += self.reasons or [
            [str(tree), *([f"gold: {gold}"] if gold is not None and gold != tree else [])]
            for tree, gold in self.trees
        ]
        return "\n\n".join("\n".join(block) for block in [*blocks, self._cut] if block)

    def html(self) -> str:
        """Return the report as a page, with drawings of the trees."""
        parts = [f"<h1>{self.title}</h1>", facts_list(self.facts)]
        if any(gold is not None for _, gold in self.trees):
            parts.append(f'<p class="note">{self.legend}</p>')
        parts += [f'<div class="wide">{tree.draw(gold).svg}</div>' for tree, gold in self.trees]
        parts += [f'<p class="note">{escape(line)}</p>' for line in self._cut]
        if self.reasons:
            text = "\n\n".join("\n".join(lines) for lines in self.reasons)
            parts.append(f"<h2>What decided</h2><pre>{escape(text)}</pre>")
        if self.features:
            parts.append(f"<h2>{self.heading}</h2>")
        for label, rows in self.features.items():
            parts.append(f"<details><summary>{escape(label)}</summary>{bars(rows)}</details>")
        return html_page(self.title, parts)


def check_labels(what: str, labels: Iterable[str] | None, known: Sequence[str]) -> None:
    """Refuse labels that the model does not have; ``what`` they are is for the message."""
    for label in labels or ():
        if label not in known:
            raise ValueError(f"the model has no {what} {label!r}; it has {' '.join(known)}")
