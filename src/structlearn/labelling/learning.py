"""Learning in the background: a step for every answer, and the whole again when there is time.

Two threads. One makes passive-aggressive steps on the last answers, from the weights that there
are: this takes a tenth of a second, whatever was learned before. The other learns all answers from
scratch, with the learner of ``structlearn train``, and takes over with steps on what came since.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..constraints.automata import automata_of
from ..constraints.text import read_constraints
from ..models.label_constraints import token_sequences
from ..tasks import Tagger
from .kinds import Example

#: With fewer sentences all is learned from scratch at once.
FEW = 25
#: Steps are small: one answer must not outweigh all others.
STEPS, AGGRESSIVENESS = 3, 0.5
#: Share of new answers after which all is learned again while answers keep coming, and the seconds
#: without an answer after which it is anyway.
SHARE, IDLE = 0.1, 1.5
#: A tagger of all takes over when it knows every answer: so often it is tried, should answers keep
#: coming faster than its steps. The last time those that are missing are waiting for steps then.
TRIES = 5


class LiveTagger:
    """A tagger that is learned while answers come in.

    Parameters
    ----------
    parameters : dict
        Of the tagger that ``structlearn train`` would learn.
    examples : callable
        Returns all answers, as sentences of words and labels.
    learned : callable
        Called with a tagger whenever all was learned from scratch, on the thread that did.
    """

    def __init__(
        self,
        parameters: dict[str, Any],
        examples: Callable[[], list[Example]],
        learned: Callable[[Tagger], None] = lambda _: None,
    ) -> None:
        self.parameters, self._examples, self._learned = parameters, examples, learned
        self.tagger: Tagger | None = None
        #: Answers told, and those that the tagger knows.
        self.told = self.known = 0
        self.error = ""
        self._changed = threading.Condition()
        self._stepping = threading.Lock()  # held from reading the tagger to replacing it
        self._since: list[tuple[int, list[Example]]] = []  # answers after the last whole learning
        self._waiting: list[list[Example]] = []
        self._whole_due, self._last = False, 0.0
        self._ended, self.paused = False, False
        self._threads = [
            threading.Thread(target=self._run, args=(work,), daemon=True)
            for work in (self._steps, self._whole)
        ]

    def start(self) -> None:
        """Begin; answers of earlier sessions are learned first."""
        self._whole_due = bool(self._examples())
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End both threads; what they are doing is finished first."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(60)

    def tell(self, examples: list[Example]) -> None:
        """Learn one more answer."""
        with self._changed:
            self.told += 1
            self._last = time.monotonic()
            self._waiting.append(examples)
            self._since.append((self.told, examples))
            self._changed.notify_all()

    def forget(self, parameters: dict[str, Any] | None = None) -> None:
        """Learn all again: an answer was taken back or changed, or the parameters are others."""
        with self._changed:
            if parameters is not None:
                self.parameters = parameters
            self.told += 1
            self._whole_due = True
            self._changed.notify_all()

    def wait(self, number: int, seconds: float) -> bool:
        """Wait until so many answers are known, but not for ever; return whether they are."""
        with self._changed:
            return self._changed.wait_for(lambda: self.known >= number, seconds)

    def _run(self, work: Callable[[], None]) -> None:
        """Work until the end; what goes wrong is said on the page, and the next answer tried."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            while not self._ended:
                try:
                    work()
                except Exception as error:
                    with self._changed:
                        self.error = str(error)
                        self.known = self.told
                        self._whole_due, self._since = False, []
                        self._changed.notify_all()

    # -- steps ----------------------------------------------------------------------------------

    def _steps(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._ended or (self._waiting and not self.paused))
            if self._ended:
                return
        with self._stepping:
            with self._changed:
                given, self._waiting = self._waiting, []
                number, tagger = self.told, self.tagger
            sentences = [sentence for one in given for sentence in one]
            if self.told <= FEW or tagger is None:
                everything = self._examples()
                if len(everything) <= FEW:
                    tagger = learned(self.parameters, everything)
            elif sentences:
                tagger = stepped(tagger, self.parameters, sentences)
            with self._changed:
                self.tagger, self.known, self.error = tagger, max(self.known, number), ""
                self._changed.notify_all()

    # -- the whole ------------------------------------------------------------------------------

    def _is_due(self) -> bool:
        if self.paused:
            return False
        if self._whole_due:
            return True
        idle = time.monotonic() - self._last > IDLE
        return bool(self._since) and (idle or len(self._since) > SHARE * max(FEW, self.known))

    def _whole(self) -> None:
        give_way()
        with self._changed:
            while not (self._ended or self._is_due()):
                self._changed.wait(0.25 if self._since else None)
            if self._ended:
                return
            self._whole_due, begin = False, self.told
        everything = self._examples()
        tagger = learned(self.parameters, everything)
        if tagger is not None:
            self._learned(tagger)
        number = begin
        for tries in range(TRIES):  # an answer does not wait for these steps, only for the swap
            tagger, number = self._caught_up(tagger, number)
            with self._stepping, self._changed:
                if tries + 1 < TRIES and any(n > number for n, _ in self._since):
                    continue
                self._since = [(n, one) for n, one in self._since if n > begin]
                self._waiting = [one for n, one in self._since if n > number]
                self.tagger, self.known, self.error = tagger, max(self.known, number), ""
                self._changed.notify_all()
                return

    def _caught_up(self, tagger: Tagger | None, number: int) -> tuple[Tagger | None, int]:
        """Return a tagger after steps on the answers after a number, and the last one's number."""
        with self._changed:
            later = [(n, one) for n, one in self._since if n > number]
        sentences = [sentence for _, one in later for sentence in one]
        if tagger is not None and sentences:
            tagger = stepped(tagger, self.parameters, sentences)
        return tagger, max([number, *(n for n, _ in later)])


def give_way() -> None:
    """Let other threads go first, where the system can."""
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)


def check_names(constraints: Any, labels: Iterable[str]) -> None:
    """Raise ValueError where constraints name a label that is not among those of tokens."""
    if constraints:
        automata_of(read_constraints(constraints), token_sequences(sorted(labels)))


def lawful(constraints: str, labels: Iterable[str]) -> dict[str, Any]:
    """Return parameters for constraints, without those that name a label which is not there yet."""
    possible = []
    for one in read_constraints(constraints) if constraints.strip() else ():
        with contextlib.suppress(ValueError):
            check_names([one], labels)
            possible.append(repr(one))
    return {"constraints": "\n".join(possible), "illegal": "drop"} if possible else {}


def learned(parameters: dict[str, Any], sentences: Sequence[Example]) -> Tagger | None:
    """Return a tagger of these sentences; None where there is nothing to tell apart yet."""
    labels = {label for sentence in sentences for _, label in sentence} - {"_"}
    if len(labels) < 2:
        return None
    given = {k: v for k, v in parameters.items() if k not in ("constraints", "illegal")}
    given |= lawful(parameters.get("constraints", ""), labels)
    return Tagger(**given).fit(list(sentences))


def stepped(tagger: Tagger, parameters: dict[str, Any], sentences: Sequence[Example]) -> Tagger:
    """Return a tagger after steps on these sentences."""
    same = {name: parameters[name] for name in ("features", "scheme") if name in parameters}
    steps = Tagger(
        learner="passive-aggressive", C=AGGRESSIVENESS, max_iter=STEPS, names=False,
        illegal="drop", **same,
    )  # fmt: skip
    return steps.fit(list(sentences), start=tagger)
