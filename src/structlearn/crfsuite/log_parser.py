"""A parser of training logs, line by line while they are written."""

from __future__ import annotations

import re
from collections import namedtuple
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

#: Counts and scores of one label in the held-out sequences; scores are None if it is absent.
LabelScore = namedtuple("LabelScore", "match model ref precision recall f1")

_HEAD = re.compile(r"\*{5} (?:Iteration|Epoch) #(\d+) \*{5}\n")
_SECONDS = re.compile(r"Seconds required: (\d+\.\d+)")
_FEATURES = re.compile(r"Number of features: (\d+)")
_TOTAL = re.compile(r"Total seconds required for training: (\d+\.\d+)")
#: A fact of an iteration: its name, its title in the log, the pattern of its value, and its type.
_FACTS: list[tuple[str, re.Pattern[str], Callable[[str], Any]]] = [
    (name, re.compile(rf"{words}: ({number})"), kind)
    for name, words, number, kind in (
        ("loss", "Loss", r"\d+\.\d+", float),
        ("feature_norm", "Feature norm", r"\d+\.\d+", float),
        ("error_norm", "Error norm", r"\d+\.\d+", float),
        ("active_features", "Active features", r"\d+", int),
        ("linesearch_trials", "Line search trials", r"\d+", int),
        ("linesearch_step", "Line search step", r"\d+\.\d+", float),
        ("time", "Seconds required for this iteration", r"\d+\.\d+", float),
    )
]
_AVERAGES = re.compile(r"Macro-average precision, recall, F1: \((\d\.\d+), (\d\.\d+), (\d\.\d+)\)")
_ACCURACY = re.compile(r"(Item|Instance) accuracy: (\d+) / (\d+)")
_LABEL = re.compile(r"\s{4}(.+): \((\d+), (\d+), (\d+)\) \((\S+), (\S+), (\S+)\)")


class TrainLogParser:
    """The content of a training log so far.

    Attributes
    ----------
    featgen_percent, featgen_num_features : int
        The progress of feature generation, and the final number of features.
    featgen_seconds, training_seconds, storing_seconds : float
        The times of these stages of training.
    iterations : list of dict
        One dictionary per iteration: ``num``, ``loss``, ``time``, other facts that the algorithm
        logs, and ``scores``, a :class:`LabelScore` by label, with averages and accuracies if
        sequences are held out.
    last_iteration : dict
        The last one.
    log : list of str
        All lines.
    events : list of (str, int, int)
        The events, each with the range of its lines.
    """

    def __init__(self) -> None:
        self.state: str | None = None
        self.featgen_percent = -2
        self.featgen_num_features: int | None = None
        self.featgen_seconds: float | None = None
        self.training_seconds: float | None = None
        self.storing_seconds: float | None = None
        self.iterations: list[dict[str, Any]] = []
        self.last_iteration: dict[str, Any] | None = None
        self.log: list[str] = []
        self.events: list[tuple[str, int, int]] = []

    @property
    def last_log(self) -> str:
        """The lines of the last event."""
        _, begin, end = self.events[-1]
        return "".join(self.log[begin:end])

    def feed(self, line: str) -> str | None:
        """Parse a line; return the event that it completes, if any.

        Events are start, featgen_progress, featgen_end, prepared, prepare_error, iteration,
        optimization_end and end.
        """
        self.log.append(line)
        begin, end = self.events[-1][2] if self.events else 0, len(self.log)
        event = self._take(line)
        if event is not None:
            # The line that begins the next part belongs to it.
            end -= event in ("prepared", "optimization_end")
            self.events.append((event, begin, end))
        return event

    def _take(self, line: str) -> str | None:
        if self.state in (None, "STARTING"):
            first = self.state is None
            self.state = "FEATGEN" if line.startswith("Feature generation") else "STARTING"
            return "start" if first else None
        if self.state == "FEATGEN":
            return self._features(line)
        if self.state == "ITERATION":
            return self._iteration(line)
        if self.state == "STORING":
            seconds = _SECONDS.match(line)
            if seconds:
                self.storing_seconds = float(seconds[1])
            return "end" if line == "\n" else None
        return self._between(line)

    def _features(self, line: str) -> str | None:
        if line.strip("\n") in (".", *map(str, range(11))):
            self.featgen_percent += 2
            return "featgen_progress"
        if features := _FEATURES.match(line):
            self.featgen_num_features = int(features[1])
        if seconds := _SECONDS.match(line):
            self.featgen_seconds = float(seconds[1])
            self.state = "AFTER_FEATGEN"
            return "featgen_end"
        return None

    def _between(self, line: str) -> str | None:
        """Parse a line before, between or after the iterations."""
        prepared = self.state == "AFTER_ITERATION"
        if head := _HEAD.match(line):
            self.state = "ITERATION"
            self.last_iteration = {"num": int(head[1]), "scores": {}}
            self.iterations.append(self.last_iteration)
            return None if prepared else "prepared"
        if not prepared:
            if "terminated with error" not in line:
                return None
            self.state = "AFTER_ITERATION"
            return "prepare_error"
        if total := _TOTAL.match(line):
            self.training_seconds = float(total[1])
        if line.startswith("Storing the model"):
            self.state = "STORING"
            return "optimization_end"
        return None

    def _iteration(self, line: str) -> str | None:
        if line == "\n":
            self.state = "AFTER_ITERATION"
            return "iteration"
        assert self.last_iteration is not None
        facts = self.last_iteration
        for name, pattern, kind in _FACTS:
            if match := pattern.match(line):
                facts[name] = kind(match[1])
        if match := _AVERAGES.match(line):
            for name, value in zip(("precision", "recall", "f1"), match.groups(), strict=True):
                facts[f"avg_{name}"] = float(value)
        if match := _ACCURACY.match(line):
            name = f"{match[1].lower()}_accuracy"
            facts[name] = Fraction(int(match[2]), int(match[3]))
            facts[f"{name}_float"] = float(facts[name])
        if match := _LABEL.match(line):
            label, *numbers = match.groups()
            scores = [None if x.startswith("*") else float(x) for x in numbers[3:]]
            facts["scores"][label] = LabelScore(*map(int, numbers[:3]), *scores)
        return None
