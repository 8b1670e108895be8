"""Relations on resumed work: other processes, interrupted trainings, continued learning."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from fuzz.memory_file import memory_folder
from fuzz.metamorphic.answers import ask, demand_same
from fuzz.metamorphic.model_files import demand_same_file, loaded, precisions, stored
from fuzz.metamorphic.other_process import other_process
from fuzz.metamorphic.queries import QUERIES
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.storage import fit_relation
from fuzz.metamorphic.subjects import ESTIMATORS, PIPELINES, TASKS, TEXT_TASKS, Drawn, Subject
from structlearn.fitting import checkpoint as checkpoints
from structlearn.fitting.dev_monitor import Watch
from structlearn.text import Corpus

__all__: list[str] = []

Rng = np.random.Generator


def _in_file(drawn: Drawn) -> Drawn:
    """Return the same with corpora in files: corpora are not sent to other processes."""
    if not isinstance(drawn.X, Corpus):
        return drawn
    path = memory_folder() / "treebank.conllu"
    drawn.X.write(path)
    return Drawn(drawn.estimator, os.fspath(path))


@fit_relation("another process")
def elsewhere(subject: Subject, rng: Rng) -> None:
    """Another process, with another hash seed and other threads, fits and answers the same."""
    drawn = _in_file(subject.draw(rng))
    X = subject.inputs(rng, int(rng.integers(1, 4)))
    model, n_jobs, there = drawn.fit(), int(rng.integers(1, 5)), other_process()
    demand_same_file("fitted there", stored(model), there.fit(drawn, n_jobs))
    names = list(subject.queries)
    expected = {name: ask(lambda name=name: QUERIES[name](model, X)) for name in names}
    content = stored(model, precisions(model)[0])
    demand_same("loaded there", expected, there.answers(content, names, X, n_jobs))


class _Killed(Exception):
    """Raised to end a training that will be resumed."""


class _KillAfter:
    """A callback that ends the training at its n-th call."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self, record: dict[str, Any]) -> None:
        self.left -= 1
        if self.left < 0:
            raise _Killed


@contextmanager
def _checkpoints_at_every_pass() -> Iterator[str]:
    """Write checkpoints after each pass; yield the name of one."""
    before = checkpoints.EVERY, checkpoints.SHARE
    checkpoints.EVERY, checkpoints.SHARE = 0.0, 1e9
    path = memory_folder() / "checkpoint"
    try:
        yield os.fspath(path)
    finally:
        checkpoints.EVERY, checkpoints.SHARE = before
        for left in memory_folder().glob("checkpoint*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()


def _interrupted(drawn: Drawn, after: int, fit: dict[str, Any]) -> None:
    drawn.estimator.set_params(callbacks=_KillAfter(after))
    with suppress(_Killed):
        drawn.fit(**fit)


COUNTED = {
    "tagger, hmm": "a model that is counted has no passes",
    "constituency, pcfg": "a model that is counted has no passes",
    "hmm, multi-label": "no checkpoints of their own",
}
RESUMED = {
    **{name: s for name, s in TASKS.items() if name not in COUNTED},
    **{
        name: s
        for name, s in ESTIMATORS.items()
        if {"checkpoint", "callbacks"} <= s.drawn(0).estimator.get_params().keys()
    },
}


@fit_relation("resumed = uninterrupted", RESUMED, None, not_claimed=COUNTED)
def resumed(subject: Subject, rng: Rng) -> None:
    """A training killed once or twice, and resumed with other threads, has the same result."""
    drawn = subject.draw(rng)
    fit: dict[str, Any] = {}
    if subject.name in TEXT_TASKS and rng.random() < 0.5:
        fit["dev"] = subject.draw(rng).X[:5]
    straight = drawn.fit(**fit)
    n_passes = max(1, len(straight.history_))
    kills = sorted(int(k) for k in rng.integers(n_passes + 1, size=int(rng.integers(1, 3))))
    with _checkpoints_at_every_pass() as path:
        drawn.estimator.set_params(checkpoint=path)
        for after in kills:
            drawn.estimator.set_params(n_jobs=int(rng.integers(1, 5)))
            _interrupted(drawn, after, fit)
        drawn.estimator.set_params(callbacks=None, n_jobs=int(rng.integers(1, 5)))
        again = drawn.fit(**fit)
    title = f"{'with dev, ' if fit else ''}killed after {kills} of {n_passes} passes"
    demand_same_file(title, stored(straight), stored(again))


@contextmanager
def _watched(limit: float) -> Iterator[list[int]]:
    """Count the passes of all tasks, and end the training after more than ``limit``."""
    count, look = [0], Watch.__call__

    def counted(self: Watch, record: dict[str, Any]) -> Any:
        count[0] += 1
        if count[0] > limit:
            raise _Killed
        return look(self, record)

    Watch.__call__ = counted
    try:
        yield count
    finally:
        Watch.__call__ = look


@relation("pipeline: resumed = uninterrupted", PIPELINES, cost="pipeline")
def pipeline_resumed(subject: Subject, rng: Rng) -> None:
    """A pipeline killed while training any stage resumes after the finished stages."""
    drawn = subject.draw(rng)
    # The parser has its own checkpoint, and several passes to be killed between.
    drawn.estimator.set_params(parser={**drawn.estimator.parser, "max_iter": 3})
    with _watched(math.inf) as count:
        straight = drawn.fit()
    kills = sorted(int(k) for k in rng.integers(count[0], size=int(rng.integers(1, 3))))
    with _checkpoints_at_every_pass() as path:
        drawn.estimator.set_params(checkpoint=path)
        for after in kills:
            drawn.estimator.set_params(n_jobs=int(rng.integers(1, 5)))
            with suppress(_Killed), _watched(after):
                drawn.fit()
        drawn.estimator.set_params(n_jobs=int(rng.integers(1, 5)))
        again = drawn.fit()
    title = f"killed after {kills} of {count[0]} passes"
    demand_same_file(title, stored(straight, "float32"), stored(again, "float32"))


ONLINE = {name: s for name, s in ESTIMATORS.items() if hasattr(s.drawn(0).estimator, "partial_fit")}


@fit_relation("loaded goes on", ONLINE, None)
def goes_on(subject: Subject, rng: Rng) -> None:
    """``partial_fit`` after loading is ``partial_fit`` without files."""
    from sklearn.base import clone

    drawn = subject.draw(rng)
    model = clone(drawn.estimator)
    X, y = drawn.X, drawn.y
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    cuts = sorted(int(c) for c in rng.integers(1, n, size=2))
    options = {"classes": drawn.fit().classes_}
    try:
        model.partial_fit(X[: cuts[0]], y[: cuts[0]], **options)
    except ValueError as error:
        if "partial_fit" in str(error):
            return
        raise
    again = loaded(stored(model))
    for begin, end in ((cuts[0], cuts[1]), (cuts[1], n)):
        if end > begin:
            for copy in (model, again):
                copy.partial_fit(X[begin:end], y[begin:end])
            again = loaded(stored(again))
    demand_same_file("after partial_fit", stored(model), stored(again))
