"""Progress of the work: proposals that were right, and quality, estimated again and again."""

from __future__ import annotations

import contextlib
import threading
import warnings
from typing import Any

from .learning import give_way
from .quality import FEWEST, Quality, cross_validated

#: The last proposals that are counted; growth of the answers after which all is estimated again.
RECENT, GROWTH = 50, 1.2


class Progress:
    """What the page says of the work so far; estimates are made on a thread of their own.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self.quality: Quality | None = None
        self._history: list[dict[str, Any]] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to estimate."""
        self._thread.start()

    def stop(self) -> None:
        """End it; a training that is under way is finished first."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(60)

    def _run(self) -> None:
        give_way()  # answers go first
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            while not self._ended.wait(1.0):
                before = 0 if self.quality is None else self.quality.answers
                due = max(FEWEST, GROWTH * before)
                if len(self._session.journal.items) < due or self._session.live.paused:
                    continue
                answers = self._session.answers()
                if sum(map(bool, answers)) < due:
                    continue
                with contextlib.suppress(Exception):  # such as constraints that nothing keeps
                    self.estimate(answers)

    def estimate(self, answers: list[Any]) -> None:
        """Estimate the quality now."""
        session = self._session
        quality = cross_validated(
            session.live.parameters, answers, self._ended.is_set, whole=session.kind.whole
        )
        if quality is not None:
            self.quality = quality
            last = quality.points[-1]
            self._history.append({"answers": quality.answers, **last})

    def as_dict(self) -> dict[str, Any]:
        """Return everything, for the page."""
        items = list(self._session.journal.items.values())
        verdicts = [item["proposal"] for item in items if item.get("proposal")][-RECENT:]
        return {
            "recent": {"n": len(verdicts), "right": verdicts.count("right")},
            "quality": None if self.quality is None else self.quality.as_dict(),
            "history": self._history[-50:],
        }
