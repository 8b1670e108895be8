"""A second process, with another hash seed and other threads, that fits and queries models."""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import IO, Any

#: The environment of the other process.
_SEED = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"  # different from this process's
_ENVIRONMENT = {"PYTHONHASHSEED": _SEED, "OMP_NUM_THREADS": "3", "TZ": "Asia/Tokyo"}


class OtherProcess:
    """Answers questions by pickles through pipes."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.metamorphic.other_process"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **_ENVIRONMENT},
            cwd=Path(__file__).parents[2],
        )  # fmt: skip
        atexit.register(self.end)

    def fit(self, drawn: Any, n_jobs: int | None) -> bytes:
        """Return the file of a model fitted there."""
        return self._ask("fit", drawn, n_jobs)

    def answers(self, content: bytes, names: list[str], X: Any, n_jobs: int | None) -> Any:
        """Return the answers, by query, of a model loaded there."""
        return self._ask("answers", content, names, X, n_jobs)

    def end(self) -> None:
        """End the process and close its pipes."""
        self._process.communicate()

    def _ask(self, *question: Any) -> Any:
        try:
            pickle.dump(question, self._process.stdin)
            self._process.stdin.flush()
            answer = pickle.load(self._process.stdout)
        except (OSError, EOFError):
            other_process.cache_clear()
            raise RuntimeError(f"the other process ended by {self._process.wait()}") from None
        if isinstance(answer, Exception):
            raise answer
        return answer


@cache
def other_process() -> OtherProcess:
    """Return the process for all draws."""
    return OtherProcess()


def _threaded(model: Any, n_jobs: int | None) -> Any:
    return model.set_params(n_jobs=n_jobs) if "n_jobs" in model.get_params() else model


def _answer(kind: str, *given: Any) -> Any:
    from fuzz.metamorphic.answers import ask
    from fuzz.metamorphic.model_files import loaded, stored
    from fuzz.metamorphic.queries import QUERIES

    if kind == "fit":
        drawn, n_jobs = given
        _threaded(drawn.estimator, n_jobs)
        return stored(drawn.fit())
    content, names, X, n_jobs = given
    model = _threaded(loaded(content), n_jobs)
    return {name: ask(lambda name=name: QUERIES[name](model, X)) for name in names}


def _serve(questions: IO[bytes], answers: IO[bytes]) -> None:
    warnings.simplefilter("ignore")
    while True:
        try:
            question = pickle.load(questions)
        except EOFError:
            return
        try:
            answer = _answer(*question)
        except Exception as error:
            answer = RuntimeError(f"{type(error).__name__}: {error}")
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # printed output must not mix with the answers
    _serve(sys.stdin.buffer, pipe)
