"""A session of labelling: what the page asks for, and what it is told.

Everything that changes answers goes through one lock and the journal: what a page is told to be
saved is on disk.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any

from ..exceptions import FileError
from .journal import Journal
from .kinds import Example, Kind, Text
from .learning import LiveTagger, check_names, lawful
from .order import DOUBTS, ORDERS
from .pool import Pool
from .progress import Progress
from .proposals import proposal
from .settings import Settings

#: Seconds for which a text that a tab shows is not given to another one.
_HELD = 600.0
#: Seconds that a page waits for its last answer to be learned.
_PATIENCE = 2.0
VERDICTS = {"accept": "accept", "reject": "reject", "skip": "ignore"}


class Conflict(ValueError):
    """A text was answered in another tab meanwhile."""


class Session:
    """Texts, their answers, and a tagger that learns from them.

    Parameters
    ----------
    texts : sequence of str, or of Text
    kind : Kind
    settings : Settings
        Labels and constraints; kept beside the answers.
    journal : Journal
    model : str
        The file that the tagger is written to at the end.
    parameters : dict
        Of the tagger.
    order : str
    tagger : Tagger, optional
        One to review labels with: it proposes, and does not learn.
    """

    def __init__(
        self, texts: Sequence[Any], kind: Kind, settings: Settings, journal: Journal, model: str,
        parameters: dict[str, Any], order: str = "tokens", tagger: Any = None,
    ) -> None:  # fmt: skip
        self.kind, self.settings, self.journal, self.model = kind, settings, journal, model
        self._given = dict(parameters)
        self.order, self.reviewer = order, tagger
        self.pool = texts if isinstance(texts, Pool) else Pool(texts, kind)
        self._lock = threading.RLock()
        self._revision = dict.fromkeys(journal.items, 1)
        self._held: dict[int, tuple[str, float]] = {}
        self._history: list[tuple[str, dict[str, Any] | None]] = [
            (text, None) for text in journal.items
        ]
        for text, item in journal.items.items():
            self.pool.answered(text)
            self._take_names(item)
        labels = {label for t in self.pool.texts for _, row in t.versions for label in row}
        for version in sorted(filter(None, labels)):
            settings.take(filter(None, [kind.name_of(version)]))
        if settings.labels:  # else any label may come yet
            check_names(settings.constraints.strip(), kind.written(settings.labels))
        self.live = LiveTagger(self._parameters(), self._examples, self._learned)
        self.progress = Progress(self)

    def start(self) -> None:
        """Begin to learn."""
        if self.reviewer is None:
            self.live.start()
            self.progress.start()

    def close(self) -> None:
        """End what runs in the background, and let others write the file."""
        self.progress.stop()
        self.live.stop()
        self.journal.close()

    # -- what is learned ------------------------------------------------------------------------

    def _parameters(self) -> dict[str, Any]:
        self._used = {label for one in self.answers() for label in _labels_of(one)}
        names = {self.kind.name_of(label) for label in self._used}
        own = self.kind.constraint([name for name in self.settings.labels if name in names])
        constraints = "\n".join(filter(None, [own, self.settings.constraints]))
        return {**self._given, **self.kind.parameters, **lawful(constraints, self._used)}

    def _examples(self) -> list[Any]:
        return [sentence for one in self.answers() for sentence in one]

    def answers(self) -> list[list[Any]]:
        """Return what is learned from each answer."""
        with self._lock:
            items = list(self.journal.items.values())
        return [self.kind.examples(i) for i in items if i.get("answer", "accept") == "accept"]

    def _learned(self, tagger: Any) -> None:
        if self.order in DOUBTS:
            self.pool.learned(tagger, self.order)

    @property
    def tagger(self) -> Any:
        """What proposes; None where nothing was learned yet."""
        return self.live.tagger if self.reviewer is None else self.reviewer

    # -- questions ------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what the page shows beside the text."""
        with self._lock:
            counts = self._counts()
        return {
            "kind": self.kind.name,
            "labels": self.settings.labels,
            "constraints": self.settings.constraints,
            "orders": {name: DOUBTS.get(name, "") for name in ORDERS},
            "order": self.order,
            "review": self.reviewer is not None or any(t.versions for t in self.pool.texts),
            "data": self.journal.path,
            "model": self.model,
            "learning": {"told": self.live.told, "known": self.live.known,
                         "error": self.live.error, "learned": self.tagger is not None},
            **counts,
            **self.progress.as_dict(),
        }  # fmt: skip

    def _counts(self) -> dict[str, Any]:
        items = self.journal.items
        verdicts = [item.get("answer", "accept") for item in items.values()]
        here = sum(text in self.pool.number for text in items)
        return {
            "texts": len(self.pool.texts),
            "left": len(self.pool.texts) - here,
            "answered": verdicts.count("accept"),
            "rejected": verdicts.count("reject"),
            "skipped": verdicts.count("ignore"),
            "elsewhere": len(items) - here,
        }

    def next(self, tab: str, order: str, wait: int = 0, query: str = "") -> dict[str, Any]:
        """Return the text to ask for next, or none where all are answered."""
        if wait and self.reviewer is None:
            self.live.wait(wait, _PATIENCE)
        with self._lock:
            if order != self.order and order in ORDERS:
                self.order = order
            now = time.monotonic()
            held = {n for n, (who, since) in self._held.items()
                    if who != tab and now - since < _HELD}  # fmt: skip
            matching = self._matching(query)
            left = [n for n in matching if self.pool.texts[n].text not in self.journal.items]
            free = [n for n in left if n not in held] or left
            chosen = self.pool.next(order, set(free), self.tagger)
            if not chosen:
                return {"done": True}
            self._held[chosen[0]] = tab, now
            return self.text(chosen[0])

    def _matching(self, query: str) -> Sequence[int]:
        texts, wanted = self.pool.texts, query.casefold().strip()
        if not wanted:
            return range(len(texts))
        return [text.number for text in texts if wanted in text.text.casefold()]

    def text(self, number: int) -> dict[str, Any]:
        """Return a text with its answer, what the tagger proposes, and what others say."""
        if not 0 <= number < len(self.pool.texts):
            raise ValueError(f"no text has the number {number}")
        text = self.pool.texts[number]
        with self._lock:
            item = self.journal.items.get(text.text)
            revision = self._revision.get(text.text, 0)
        proposed = proposal(self.tagger, text, self.kind)
        labels = proposed.labels
        if item is not None and item.get("answer", "accept") == "accept":
            labels = self.kind.labels(text, item)
        elif item is None and text.versions:
            labels = text.versions[0][1]
        return {
            "number": number,
            "revision": revision,
            "verdict": None if item is None else str(item.get("answer", "accept")),
            "pieces": _pieces(text),
            "sentences": [[s.start, s.stop] for s in text.sentences],
            "labels": labels,
            "proposal": proposed.as_dict(),
            "versions": [{"who": who, "labels": one} for who, one in text.versions],
        }

    def find(self, query: str, which: str, offset: int, count: int) -> dict[str, Any]:
        """Return a stretch of the list of texts, each as one line."""
        with self._lock:
            items = self.journal.items
            numbers = self._matching(query)
            if which == "left":
                numbers = [n for n in numbers if self.pool.texts[n].text not in items]
            elif which != "all":
                texts = self.pool.texts
                numbers = [n for n in numbers if _verdict(items, texts[n].text) == which]
            rows = []
            for n in numbers[offset : offset + count]:
                text = self.pool.texts[n].text
                line = " ".join(text[:300].split())
                rows.append({"number": n, "text": line, "verdict": _verdict(items, text)})
        return {"total": len(numbers), "offset": offset, "rows": rows}

    # -- answers --------------------------------------------------------------------------------

    def answer(
        self, tab: str, number: int, revision: int, verdict: str, labels: Sequence[str | None],
        proposed: Sequence[str | None] | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Save an answer; what this returns is on disk."""
        if not 0 <= number < len(self.pool.texts) or verdict not in VERDICTS:
            raise ValueError("there is no such text, or no such answer")
        text = self.pool.texts[number]
        if verdict == "accept":
            self.kind.check(text, labels)
            if all(label is None for label in labels):
                raise ValueError("nothing was looked at: mark a token first, or accept the whole")
            item = self.kind.item(text, labels)
        else:
            item = self.kind.unlabelled(text)
        item["answer"] = VERDICTS[verdict]
        if verdict == "accept" and proposed is not None and None not in labels:
            item["proposal"] = "right" if list(proposed) == list(labels) else "changed"
        with self._lock:
            now = self._revision.get(text.text, 0)
            if revision != now:
                raise Conflict("this text was answered in another tab meanwhile: look again")
            before = self.journal.items.get(text.text)
            self._take_names(item)
            self.journal.put(item)
            self._revision[text.text] = now + 1
            self._history.append((text.text, before))
            self._held.pop(number, None)
        self.pool.answered(text.text)
        examples = self.kind.examples(item)
        new = before is None and verdict == "accept"
        if before is not None or (new and not _labels_of(examples) <= self._used):
            self.live.forget(self._parameters())  # constraints may speak of labels that are new
        elif new:
            self.live.tell(examples)
        return {"saved": True, "revision": now + 1, "wait": self.live.told}

    def _take_names(self, item: dict[str, Any]) -> None:
        labels = _labels_of(self.kind.examples(item))
        self.settings.take(filter(None, map(self.kind.name_of, sorted(labels))))

    def undo(self) -> dict[str, Any]:
        """Take the last answer back; return its text."""
        with self._lock:
            while self._history:
                text, before = self._history.pop()
                if text not in self.pool.number:
                    continue
                if before is None:
                    self.journal.remove(text)
                else:
                    self.journal.put(before)
                self._revision[text] = self._revision.get(text, 0) + 1
                self.live.forget(self._parameters())
                return self.text(self.pool.number[text])
        raise ValueError("no answer is left to take back")

    def change(self, labels: Sequence[str], constraints: str) -> dict[str, Any]:
        """Change the set of labels, and what outputs have to keep to."""
        with self._lock:
            items = self.journal.items.values()
            used = {k for item in items for k in _labels_of(self.kind.examples(item))}
            gone = sorted({*map(self.kind.name_of, used)} - {""} - set(labels))
            if gone:
                raise ValueError(
                    f"{', '.join(gone)}: answers have this label, so it cannot go; search for them "
                    "and change them first"
                )
            check_names(constraints.strip(), self.kind.written(labels))
            self.settings.change(labels, constraints)
            self.live.forget(self._parameters())
        return self.state()

    # -- the end --------------------------------------------------------------------------------

    @property
    def command(self) -> str:
        """The command line that learns the same model from the file."""
        from shlex import quote

        parts = ["structlearn train tagger", quote(self.journal.path), "--model", quote(self.model)]
        for name, value in self._parameters().items():
            if name == "constraints":
                lines = str(value).split("\n")
                parts += [f"--constraint {quote(line)}" for line in lines if line.strip()]
            elif name not in ("n_jobs", "verbose"):
                parts.append(f"--{name.replace('_', '-')} {quote(str(value))}")
        return " ".join(parts)

    def finish(self) -> dict[str, Any]:
        """Learn from the file alone, as ``structlearn train`` does, and write the model."""
        from ..tasks import Tagger

        if self.reviewer is not None:
            raise ValueError(
                f"a review writes no model: {self.journal.path} has the texts that were looked at"
            )
        self.live.paused = True
        try:
            if not any(self.answers()):
                raise ValueError("there are no answers to learn from")
            begin = time.perf_counter()
            tagger = Tagger(**self._parameters()).fit(self.journal.path)
            seconds = time.perf_counter() - begin
            tagger.save(self.model, "float32")
        except FileError as error:
            raise ValueError(str(error)) from None
        finally:
            self.live.paused = False
        return {"model": self.model, "seconds": round(seconds, 2), "command": self.command}


def _verdict(items: dict[str, dict[str, Any]], text: str) -> str | None:
    """Return what was answered to a text; None: nothing."""
    return str(items[text].get("answer", "accept")) if text in items else None


def _labels_of(examples: Iterable[Example]) -> set[str]:
    """Return the labels that examples have."""
    return {label for sentence in examples for _, label in sentence} - {"_"}


def _pieces(text: Text) -> list[list[str]]:
    """Return what stands before each token, and the token; a page never counts characters."""
    found, at = [], 0
    for begin, end in text.places:
        found.append([text.text[at:begin], text.text[begin:end]])
        at = end
    return found
