"""What is shown of a model, whatever its task: as text, and as a page."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..printing import escape, joined_lines
from .page import Page, bars, cards, heat_table
from .picture import Picture

#: Bytes of a page. Beyond them reasons are left out: first those of choices that are not wrong,
#: then those of the last sentences.
_ROOM = 950_000
#: At least this is for reasons, however much else there is.
_LEAST = 100_000

_STYLE = """
.sentence{display:flex;flex-wrap:wrap;gap:.35rem;margin:.3rem 0 1rem}
.t{border:1px solid var(--line);border-radius:.4rem;padding:.1rem .5rem;text-align:center;
max-width:100%;overflow-wrap:anywhere}
.t b{display:block;font-size:.78rem;font-weight:500;color:var(--soft)}
.t i{font-style:normal;opacity:.75;margin-left:.3rem}
.t u{text-decoration:none;color:var(--gold);font-weight:600;margin-left:.3rem}
.t.x{border-color:var(--wrong)} .t.x b{color:var(--wrong)}
details.t{background:var(--card);padding:0} details.t>summary{padding:.1rem .5rem;cursor:pointer;
list-style:none} summary::-webkit-details-marker{display:none}
details.t>summary:hover{text-decoration:underline}
details.t[open]{flex-basis:100%;text-align:left} details.t>:not(summary){margin:.2rem .5rem .4rem}
details.t>.bars{width:calc(100% - 1rem)}
.fold{margin:.2rem 0 1rem}.fold>summary{cursor:pointer;color:var(--soft);font-size:.9rem}
.count{margin:1.2rem 0 .2rem}
"""
_CHOSEN = (
    "Open a box to see what put a label before the runner-up: what each feature adds to the "
    "difference of their scores."
)
_MARKED = (
    'What is wrong is <span class="red">red</span>, with the gold label in '
    '<span class="green">green</span>.'
)


class Choice(NamedTuple):
    """One decision: the label of a token or segment, the arc of a word.

    Attributes
    ----------
    text : str
        What was labelled.
    label : str
    gold : str or None
        What the label should be; None: not known.
    probability : float or None
        Of the label.
    runner_up : str
        Empty where there is none.
    margin : float
        How far the runner-up is behind.
    reasons : list of (name, value)
        What adds to the margin, the largest (by its absolute value) first.
    """

    text: str
    label: str
    gold: str | None
    probability: float | None
    runner_up: str
    margin: float
    reasons: list[tuple[str, float]]

    @property
    def wrong(self) -> bool:
        """Whether it is not the gold label."""
        return self.gold is not None and self.gold != self.label


class Shown(NamedTuple):
    """A sentence or an image that is shown.

    Attributes
    ----------
    choices : list of Choice
    picture : Picture, str or None
        A drawing, with the gold tree where it is known; or figures, as HTML.
    lines : list of str
        What a terminal shows before the choices.
    counts : (int, int) or None
        How many parts are wrong, and of how many; by default of the choices.
    name : str
        Shown beside its number.
    """

    choices: list[Choice]
    picture: Any = None
    lines: Sequence[str] = ()
    counts: tuple[int, int] | None = None
    name: str = ""


class Weights(NamedTuple):
    """A table of weights, and how to read it."""

    heading: str
    note: str
    columns: list[str]
    rows: list[tuple[str, list[float]]]


@dataclass
class Report:
    """What is shown of a model.

    Attributes
    ----------
    title : str
        What kind of model it is.
    facts : list of (name, value)
        What the model is and how it was trained.
    heading : str
        What the features are.
    features : dict of str to list of (name, weight)
        By label.
    in_words : callable
        From the name of a feature to a phrase.
    weights : Weights, optional
    sentences : list of Shown
    n_sentences : int
        The number of all sentences.
    note : str
        Whether probabilities can be trusted.
    legend : str
        What the colours of drawings with gold trees mean, as HTML.
    has_gold : bool
        Gold labels are known.
    what : str
        What is shown: "sentences", "images".
    parts : str
        What choices are about: "arcs".
    key : str
        What colours mean, as HTML.
    style : str
        Rules of the page beside the usual ones.
    """

    title: str
    facts: list[tuple[str, str]] = field(default_factory=list)
    heading: str = "Strongest features, label by label"
    features: dict[str, Sequence[tuple[str, float]]] = field(default_factory=dict)
    in_words: Callable[[str], str] = str
    weights: Weights | None = None
    sentences: list[Shown] = field(default_factory=list)
    n_sentences: int = 0
    note: str = ""
    legend: str = ""
    has_gold: bool = False
    what: str = "sentences"
    parts: str = "labels"
    key: str = ""
    style: str = ""

    @property
    def _cut(self) -> str:
        shown = len(self.sentences)
        if shown == self.n_sentences:
            return ""
        return f"{shown} of {self.n_sentences} {self.what} are shown; --most N shows more."

    # -- text -----------------------------------------------------------------------------------

    def text(self, top: int) -> str:
        """Return the report as text: facts, features and weights, or else the sentences."""
        blocks = [
            [
                line
                for name, value in self.facts
                for line in textwrap.wrap(f"{name:<12} {value}", 98, subsequent_indent=" " * 13)
            ]
        ]
        if self.features and not self.facts:
            blocks.append([self.heading])
        for label, rows in self.features.items():
            rows = self._in_words(rows)
            blocks.append([label, *(f"  {weight:>+10.3f}  {name}" for name, weight in rows)])
        if self.weights is not None and not self.sentences:
            blocks.append(self._table(self.weights))
        for shown in self.sentences:
            blocks.append([*shown.lines, *self._lines(shown.choices, top)])
        blocks.append([self._cut] if self._cut else [])
        return "\n\n".join(joined_lines(block) for block in blocks if block)

    def _lines(self, choices: list[Choice], top: int) -> list[str]:
        lines = []
        for c in choices:
            line = f"{c.text:<24} {c.label}".rstrip()
            if c.probability is not None:
                line += f" (p = {c.probability:.3f}{self.note})"
            if c.runner_up or c.reasons:
                line += f", {self._compared(c)}"
            lines.append(line + (f"; WRONG, gold {c.gold}" if c.wrong else ""))
            rows = self._in_words(c.reasons)[:top]
            lines += [f"  {value:>+10.3f}  {name}" for name, value in rows]
        return lines

    def _in_words(self, named: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
        """Return names in words, the weightiest first; those of the same words are one."""
        sums: dict[str, float] = {}
        for name, value in named:
            words = self.in_words(name)
            sums[words] = sums.get(words, 0.0) + value
        if len(sums) == len(named):
            return list(sums.items())
        return sorted(sums.items(), key=lambda reason: -abs(reason[1]))

    def _compared(self, choice: Choice) -> str:
        """Say how far a choice is ahead of its runner-up."""
        if not choice.runner_up:
            return "no other choice"
        return f"not {choice.runner_up}: ahead by {choice.margin:.3f}"

    @staticmethod
    def _table(weights: Weights) -> list[str]:
        width = max(8, *(len(name) + 1 for name in [*weights.columns, *dict(weights.rows)]))
        lines = [f"{weights.heading.lower()}: {weights.note}"]
        lines.append(" " * width + "".join(f"{name:>{width}}" for name in weights.columns))
        for name, row in weights.rows:
            lines.append(f"{name:<{width}}" + "".join(f"{w:>{width}.2f}" for w in row))
        return lines

    # -- page -----------------------------------------------------------------------------------

    def html(self, top: int) -> str:
        """Return the report as a page."""
        page = Page(self.title, "structlearn inspect", self.facts, _STYLE + self.style)
        shown = {}
        for label, rows in self.features.items():
            plain: dict[str, str] = {}
            for name, _ in rows:
                words = self.in_words(name)
                plain[words] = f"{plain[words]} + {name}" if words in plain else name
            named = bars(self._in_words(rows), plain)
            shown[label] = named if rows else '<p class="note">no features</p>'
        features = cards(shown)
        if self.sentences:
            parts, note = self._sentences(page, len(features), top)
            page.section(self.what.capitalize(), self.key, *parts, note=note)
        if self.features:
            page.section(self.heading, features)
        if self.weights is not None:
            heading, note, columns, table = self.weights
            note = f"{escape(note[:1].upper() + note[1:])}; ✕ is forbidden."
            page.section(heading, heat_table(columns, table), note=note)
        return page.html()

    def _sentences(self, page: Page, used: int, top: int) -> tuple[list[str], str]:
        """Return the sentences, and a note on them."""
        plain: list[list[str]] = []
        heads = []
        for number, shown in enumerate(self.sentences, 1):
            picture = shown.picture or ""
            picture = page.picture(picture) if isinstance(picture, Picture) else picture
            # Of words that are drawn only those are listed that have reasons.
            plain.append([] if picture else [_token(c, "") for c in shown.choices])
            heads.append(f'<p class="note count">{self._count(number, shown)}</p>{picture}')
        used += sum(len(h.encode()) for h in heads) + sum(len(t.encode()) for p in plain for t in p)
        folded, n_choices, which = self._folded(max(_LEAST, _ROOM - used), top)
        parts = []
        for s, shown in enumerate(self.sentences):
            inner = "".join(
                folded.get((s, i), plain[s][i] if plain[s] else "")
                for i in range(len(shown.choices))
            )
            tokens = f'<div class="sentence">{inner}</div>' if inner else ""
            if tokens and shown.picture is not None:
                tokens = f'<details class="fold"><summary>What decided</summary>{tokens}</details>'
            parts.append(heads[s] + tokens)
        note = [_CHOSEN] if n_choices else []
        note += [_MARKED if not self.legend else self.legend] if self.has_gold else []
        if len(folded) < n_choices:
            note.append(
                f"So that the page stays small, {len(folded):,} of {n_choices:,} choices have "
                f"their reasons: {which}."
            )
        note += [f"Probabilities: {escape(self.note.strip(', '))}."] if self.note else []
        return parts, " ".join([*note, escape(self._cut)])

    def _count(self, number: int, shown: Shown) -> str:
        name = f"{number} {escape(shown.name)}".rstrip()
        if shown.counts is None and all(c.gold is None for c in shown.choices):
            return name
        wrong, parts = shown.counts or (sum(c.wrong for c in shown.choices), len(shown.choices))
        if not wrong:
            return f'{name}: <span class="green">all right</span>'
        return f'{name}: <span class="red">{wrong:,} of {parts:,} {self.parts} wrong</span>'

    def _folded(self, room: int, top: int) -> tuple[dict[tuple[int, int], str], int, str]:
        """Return choices with their reasons, how many could have some, and which ones have.

        Wrong choices come first, then the others; of each, sentence by sentence, as long as there
        is room for all those of a sentence.
        """
        groups: dict[tuple[bool, int], list[tuple[int, Choice]]] = {}
        for s, shown in enumerate(self.sentences):
            for i, c in enumerate(shown.choices):
                if c.reasons or c.runner_up:
                    groups.setdefault((not c.wrong, s), []).append((i, c))
        found: dict[tuple[int, int], str] = {}
        complete: dict[bool, int] = {}  # the sentences before this one have all theirs
        for (right, s), choices in sorted(groups.items(), key=lambda group: group[0]):
            texts = {(s, i): self._opened(c, top) for i, c in choices}
            room -= sum(len(text.encode()) for text in texts.values())
            if room < 0:
                complete[right] = s
                break
            found.update(texts)
            complete[right] = len(self.sentences)
        n_choices = sum(map(len, groups.values()))
        return found, n_choices, self._which(complete)

    def _opened(self, choice: Choice, top: int) -> str:
        """Return a choice with its reasons."""
        rows = self._in_words(choice.reasons)[:top]
        return _token(choice, f'<p class="note">{escape(self._compared(choice))}</p>{bars(rows)}')

    def _which(self, complete: dict[bool, int]) -> str:
        """Say which choices have their reasons."""

        def those(n: int) -> str:
            one = self.what.removesuffix("s")
            return f"of {one} 1" if n == 1 else f"of {self.what} 1 to {n}"

        wrong, right = complete.get(False), complete.get(True, 0)
        if wrong is not None and wrong < len(self.sentences):
            return f"the wrong ones {those(wrong)}" if wrong else "there is no room for any"
        told = ["all wrong ones"] if wrong is not None else []
        told += [f"all {those(right)}"] if right else []
        return " and ".join(told) or "there is no room for any"


def _token(choice: Choice, reasons: str) -> str:
    """Return a token over its label, to be opened where it has reasons."""
    kind = "t x" if choice.wrong else "t"
    told = escape(choice.label)
    if choice.probability is not None:
        told += f"<i>{choice.probability:.2f}</i>"
    if choice.wrong:
        told += f"<u>{escape(choice.gold or '')}</u>"
    shown = f"{escape(choice.text)}<b>{told}</b>"
    if not reasons:
        return f'<span class="{kind}">{shown}</span>'
    return f'<details class="{kind}"><summary>{shown}</summary>{reasons}</details>'


def check_labels(what: str, labels: Iterable[str] | None, known: Sequence[str]) -> None:
    """Refuse labels that the model does not have; ``what`` they are is for the message."""
    for label in labels or ():
        if label not in known:
            raise ValueError(f"the model has no {what} {label!r}; it has {' '.join(known)}")
