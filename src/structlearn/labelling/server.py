"""The server of the page of labels: what it asks for, every value checked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..workbench.local_server import LocalServer
from ..workbench.requests import Refused, Request
from .order import ORDERS
from .pool import MOST_TOKENS
from .session import VERDICTS, Conflict, Session

#: Rows of the list that are given at a time, characters of a search.
MOST_ROWS, MOST_QUERY = 200, 200
_MOST = 2**31
#: Seconds after which a thread lets others have Python's lock: an answer wants it dozens of times
#: while all is learned in the background.
_TURN = 0.0005


class LabelServer(LocalServer):
    """A server of one session.

    Parameters
    ----------
    port : int
        0 takes a free one.
    session : Session
    """

    command = "structlearn label"
    homes = ("structlearn.labelling", "structlearn.workbench")
    most_bytes = 4 * 2**20  # the labels of the longest text, and those that were proposed

    def __init__(self, port: int, session: Session) -> None:
        super().__init__(port)
        self.session = session
        sys.setswitchinterval(_TURN)

    def answer(self, name: str, values: Any) -> Any:
        """Return what the page asks for."""
        if name not in _QUESTIONS:
            raise Refused("there is no such question")
        try:
            return _QUESTIONS[name](self.session, Request(values))
        except Conflict as error:
            return {"conflict": str(error)}


def _next(session: Session, r: Request) -> Any:
    order = r.choice("order", [session.order, *ORDERS])
    wait = r.whole("wait", 0, 0, _MOST)
    return session.next(r.text("tab", 60), order, wait, r.text("query", MOST_QUERY))


def _text(session: Session, r: Request) -> Any:
    return session.text(r.whole("number", -1, 0, _MOST))


def _find(session: Session, r: Request) -> Any:
    which = r.choice("which", ["all", "left", *VERDICTS.values()])
    offset, count = r.whole("offset", 0, 0, _MOST), r.whole("count", 50, 1, MOST_ROWS)
    return session.find(r.text("query", MOST_QUERY), which, offset, count)


def _answer(session: Session, r: Request) -> Any:
    return session.answer(
        r.text("tab", 60),
        r.whole("number", -1, 0, _MOST),
        r.whole("revision", 0, 0, _MOST),
        r.choice("verdict", list(VERDICTS)),
        _labels(session, r, "labels"),
        _labels(session, r, "proposed") if r.has("proposed") else None,
    )


def _labels(session: Session, r: Request, name: str) -> list[str | None]:
    """Return a label for each token; those that are new have to be labels."""
    from .settings import checked_label

    labels = r.values.get(name)
    if not isinstance(labels, list) or len(labels) > MOST_TOKENS:
        raise Refused(f"{name} are a list of at most {MOST_TOKENS:,} labels")
    for label in {one if isinstance(one, str) else None for one in labels}:
        if label is not None and label != "O":
            name_of = session.kind.name_of(label)
            if name_of not in session.settings.labels:
                checked_label(name_of)
    if not all(one is None or isinstance(one, str) for one in labels):
        raise Refused(f"{name} are texts, or null where nobody has looked")
    return labels


def _change(session: Session, r: Request) -> Any:
    return session.change(r.words("labels", 200, 0), r.text("constraints", 20_000))


_QUESTIONS: dict[str, Callable[[Session, Request], Any]] = {
    "state": lambda session, r: session.state(),
    "next": _next,
    "text": _text,
    "find": _find,
    "answer": _answer,
    "undo": lambda session, r: session.undo(),
    "change": _change,
    "finish": lambda session, r: session.finish(),
}
