"""Progress reporting: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time

from .printing import Notes, note, visible

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, ClassVar, TypeVar

    Result = TypeVar("Result")


def say(line: str) -> None:
    """Write a line to standard error, above the bar if there is one."""
    meter = Meter.current
    if meter is not None and meter.bar is not None:
        meter.bar.console.print(visible(line), markup=False, highlight=False, soft_wrap=True)
    else:
        note(line)


def portions(n: int, size: int, unit: str) -> Iterator[range]:
    """Yield the numbers up to n in ranges, and show progress on a meter without a total.

    Parameters
    ----------
    n : int
    size : int
        Size of a range; without such a meter there is a single range.
    unit : str
        The name of the counted things.
    """
    meter = Meter.current
    if meter is None or meter.total is not None:
        yield range(n)
        return
    meter.total = n
    for begin in range(0, n, size):
        yield range(begin, min(begin + size, n))
        done = min(begin + size, n)
        meter.show(done, f"{done:,} of {n:,} {unit}")
    meter.total = None  # the work after the loop may take time too


class Meter:
    """A context manager that reports the progress of work on standard error.

    On a terminal a bar appears after two seconds, with the work done, the total and the time left,
    and disappears at the end. Elsewhere there is no bar, and :meth:`note` writes plain lines. A
    meter inside another one shows nothing: the outer one does.

    Parameters
    ----------
    what : str
        The name of the work.
    total : float, optional
        The amount of work; without it the bar shows no time left.
    unit : str
        The unit of the counts that the meter is called with.
    shown : bool
        False shows nothing at all.
    """

    #: The meter on display.
    current: ClassVar[Meter | None] = None
    #: Seconds before the bar appears.
    delay: ClassVar[float] = 2.0

    def __init__(
        self, what: str, total: float | None = None, unit: str = "", shown: bool = True
    ) -> None:
        self.what, self.total, self.unit = visible(what), total, unit
        self.shown, self.on_terminal = shown, shown and Notes().isatty()
        self.text = ""
        self.bar: Any = None
        self._timer: Any = None
        self._done = 0.0
        self._begin = self._last = time.monotonic()

    # -- reports --------------------------------------------------------------------------------

    def show(self, done: float, text: str = "") -> None:
        """Show the amount done, and a few words about it."""
        self._done, self.text, self._last = done, visible(text), time.monotonic()
        if self.total is not None and done > self.total:
            self.total = None  # the total was only an estimate
        self._update()

    def note(self, done: float, line: str) -> None:
        """Show the amount done: as a bar on a terminal, as this line elsewhere."""
        self.show(done, line)
        if self.shown and not self.on_terminal:
            say(line)

    def share(self, done: float) -> None:
        """Show the share done, from 0 to 1."""
        if self.total is None and self._done == 0:
            self.total = 1.0
        self.show(done, self.text)

    def counting(self, function: Callable[..., Result], text: str) -> Callable[..., Result]:
        """Return a function that does the same and counts its calls."""

        def counted(*args: Any, **kwargs: Any) -> Result:
            self.show(self._done, text)
            result = function(*args, **kwargs)
            self.show(self._done + 1, text)
            return result

        return counted

    def __call__(self, count: int) -> None:
        """Show a count: of tokens, words or pixels."""
        self.text = f"{count:,} {self.unit}"
        self._update()

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self._begin

    @property
    def seconds_left(self) -> float | None:
        """Estimated time left, by the mean speed so far; None if unknown."""
        if self.total is None or self._done <= 0:
            return None
        speed = self._done / max(self._last - self._begin, 1e-9)
        left = (self.total - self._done) / speed - (time.monotonic() - self._last)
        return max(0.0, left)

    # -- drawing --------------------------------------------------------------------------------

    def __enter__(self) -> Meter:
        if Meter.current is None and self.on_terminal:
            import threading

            Meter.current = self
            self._lock = threading.Lock()
            # Not at the first call of ``show``: that may come after minutes.
            self._timer = threading.Timer(self.delay, self._open)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is None:
            return
        self._timer.cancel()
        with self._lock:
            self._timer, Meter.current = None, None
            if self.bar is not None:
                self.bar.stop()
                self.bar = None

    def _open(self) -> None:
        try:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn
        except ImportError:  # labelling continues without a bar
            return
        notes: Any = Notes()
        with self._lock:
            if self._timer is None:  # the meter has ended in the meantime
                return
            self.bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=20),
                TextColumn("{task.fields[meter].text}", markup=False),
                TextColumn("{task.fields[meter].times}", markup=False),
                console=Console(file=notes, force_terminal=True),
                transient=True,
                # Standard output may go to a file.
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self.bar.add_task(self.what, total=self.total, completed=self._done, meter=self)
            self.bar.start()

    def _update(self) -> None:
        bar = self.bar
        if bar is not None:
            bar.update(0, total=self.total, completed=self._done)

    @property
    def times(self) -> str:
        """The time passed, and the time left if known."""
        left = self.seconds_left
        passed = _clock(self.seconds)
        return passed if left is None else f"{passed}, {_clock(left)} left"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
