"""A callback that looks at every pass of a learner: dev score, patience, lines of progress."""

from __future__ import annotations

import time

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy.typing as npt

    Vector = npt.NDArray[Any]
    Score = Callable[[Vector], float]

#: What a line of progress tells of a pass.
_SHOWN = ("loss", "objective", "gap", "bound", "updates", "inexact")
_IN_WORDS = {"inexact": "outputs not proven best", "bound": "sums proven up to"}


class Watch:
    """Looks at every pass: dev score, patience, lines of progress. Part of checkpoints.

    Parameters
    ----------
    score : callable or None
        Gives the dev score of weights.
    measure : str
        What the score is called; records have it as dev_...
    patience : int
        Stop after this many passes without a better dev score; 0: never.
    tell : callable or None
        Takes the number of each pass and a line on it.
    run, n_runs : int
        Which run this is, from 1, of how many.
    n_passes : int or None
        The most passes of a run.
    """

    def __init__(
        self,
        score: Score | None = None,
        measure: str = "score",
        patience: int = 0,
        tell: Callable[[int, str], None] | None = None,
        run: int = 1,
        n_runs: int = 1,
        n_passes: int | None = None,
    ) -> None:
        self.score, self.measure, self.patience, self.tell = score, measure, patience, tell
        self.run, self.n_runs, self.n_passes = run, n_runs, n_passes
        self.history: list[dict[str, Any]] = []
        self.best: Vector | None = None
        self.best_score = float("-inf")
        self.best_pass = 0
        #: The sum of the weights of earlier runs, and their history.
        self.total: Vector | None = None
        self.earlier: list[dict[str, Any]] = []
        #: Set from another thread: the pass under way is the last.
        self.stopped = False
        self._told = ""
        self._begin = time.perf_counter()

    def start(self, weights: Vector) -> None:
        """Take note of where learning begins: pass 0, which a dev set may find the best."""
        if self.score is not None:
            self.best, self.best_score = weights, self.score(weights)
            self._note({"run": self.run, "pass": 0, f"dev_{self.measure}": self.best_score})

    def __call__(self, record: dict[str, Any]) -> bool:
        """Take note of a pass; return True where it should be the last."""
        noted: dict[str, Any] = {"run": self.run, "pass": record["iteration"]}
        noted.update((k, record[k]) for k in _SHOWN if k in record)
        self._told = record.get("workers", "")
        stop = self.stopped
        if self.score is not None:
            reached = record["weights"]()
            noted[f"dev_{self.measure}"] = score = self.score(reached)
            if score > self.best_score:
                self.best, self.best_score = reached, score
                self.best_pass = noted["pass"]
            waited = noted["pass"] - self.best_pass
            stop = stop or (bool(self.patience) and waited >= self.patience)
        self._note(noted)
        return stop

    def _note(self, noted: dict[str, Any]) -> None:
        noted["seconds"] = round(time.perf_counter() - self._begin, 3)
        self.history.append(noted)
        if self.tell is not None:
            self.tell(noted["pass"], self._line(noted))

    def _line(self, noted: dict[str, Any]) -> str:
        run = f"run {self.run}/{self.n_runs}  " if self.n_runs > 1 else ""
        of = f"/{self.n_passes}" if self.n_passes else ""
        words = [f"{run}pass {noted['pass']:>3}{of}"]
        for key in _SHOWN:
            if noted.get(key) is not None:
                words.append(f"{_IN_WORDS.get(key, key)} {noted[key]:.6g}")
        if self.score is not None:
            words.append(f"dev {self.measure} {noted[f'dev_{self.measure}']:.4f}")
        return "  ".join([*words, *filter(None, [self._told]), f"{noted['seconds']:.2f} s"])

    def dump(self) -> dict[str, Any]:
        """Return what was seen so far."""
        import numpy as np

        names = ("best_score", "best_pass", "earlier")
        best = None if self.best is None else np.asarray(self.best)
        total = None if self.total is None else np.asarray(self.total)
        # The history goes on while this waits to be written.
        seen = {"history": list(self.history), "best": best, "total": total}
        return {**seen, **{name: getattr(self, name) for name in names}}

    def load(self, state: dict[str, Any]) -> None:
        """Go on with what another one had seen."""
        for name, value in state.items():
            setattr(self, name, value)
