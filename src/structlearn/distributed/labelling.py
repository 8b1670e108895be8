"""Labelling on a cluster: a file out for a file in, or a column more of a Ray Dataset."""

from __future__ import annotations

import glob
import os
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ..checks import check_whole
from ..exceptions import FileError
from ..io.container import parse_container
from ..io.images import SUFFIXES
from ..meter import Meter, say
from .cluster import connected, import_ray
from .shards import find_files

#: Workers that one file may take with it.
_MOST_DEATHS = 3
#: Workers that may be started for each that was asked for.
_MOST_STARTS = 10


@dataclass
class Labelled:
    """What became of the files.

    Attributes
    ----------
    done : list of str
        Files that were labelled, in order of their names.
    skipped : list of str
        Files that were labelled before.
    bad : dict of str to str
        Files that could not be, with the reason.
    tokens : int
        That were labelled.
    """

    done: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    bad: dict[str, str] = field(default_factory=dict)
    tokens: int = 0


def predict(
    model: Any,
    X: Any,
    output: str | os.PathLike[str] | None = None,
    *,
    cluster: str | None = "local",
    workers: int | None = None,
    threads: int = 1,
    verbose: bool = False,
    **options: Any,
) -> Any:
    """Label files, or the rows of a Ray Dataset, on the workers of a cluster.

    Each worker reads the model once. An output file has its name only when it is whole: what a run
    that was killed has finished is not done again by the next one, and files that are bad do not
    keep others from being labelled.

    Parameters
    ----------
    model : path, or a fitted task or estimator
    X : path, pattern, list of them, or Ray Dataset
        A dataset has a column ``tokens``; for estimators ``X``.
    output : path
        The folder of the labelled files, which is made if it is missing; files keep their names.
        Of a dataset: None.
    cluster, workers, threads
        As in :func:`~structlearn.distributed.fit`.
    verbose : bool
        Show the progress on standard error.
    **options
        Of the model's ``label_file``: format, confidence, gold_tags, ...

    Returns
    -------
    Labelled, or Ray Dataset
        What became of the files; or the dataset with one more column, ``labels``.
    """
    threads = check_whole("threads", threads, 1)
    if workers is not None:
        check_whole("workers", workers, 1)
    if hasattr(X, "map_batches"):
        from .datasets import label_dataset

        return label_dataset(_stored(model), X, workers, threads)
    if output is None:
        raise ValueError("output is needed: the folder of the labelled files")
    files = find_files(X)
    folder = os.fspath(output)
    targets = _targets(files, folder)
    os.makedirs(folder, exist_ok=True)
    found = Labelled()
    for source, target in targets.items():
        if os.path.exists(target):
            found.skipped.append(source)
    left = [source for source in files if not os.path.exists(targets[source])]
    content = _stored(model)
    meter = Meter("labelling", len(left), shown=verbose)
    with connected(cluster, workers, threads) as n, meter:
        if cluster is None:
            _Labeller(content, threads).each(left, targets, options, found, meter)
        elif left:
            pool = _Pool(content, min(n, len(left)), threads)
            pool.run(left, targets, options, found, meter)
    found.done.sort()
    for target in targets.values():  # halves of workers that were killed
        for half in glob.glob(glob.escape(os.path.realpath(target)) + ".[0-9]*.part"):
            with suppress(OSError):
                os.unlink(half)
    return found


def _targets(files: Sequence[str], folder: str) -> dict[str, str]:
    """Return the output file of each file."""
    targets = {source: os.path.join(folder, _output_name(source)) for source in files}
    by_name = Counter(targets.values())
    twice = [source for source, target in targets.items() if by_name[target] > 1]
    if twice:
        raise FileError(
            twice[0], f"{len(twice)} files have the same name in other folders: label them apart"
        )
    for source, target in targets.items():
        if os.path.exists(target) and os.path.samefile(source, target):
            raise FileError(source, "the output would replace it: choose another folder")
    return targets


def _output_name(source: str) -> str:
    """Return the name of an output file: that of the input; masks of images are PNG files."""
    stem, ending = os.path.splitext(os.path.basename(source))
    return stem + (".png" if ending.lower() in SUFFIXES else ending)


def _stored(model: Any) -> bytes:
    """Return the content of a model file; of a model all digits of its weights."""
    if isinstance(model, (str, os.PathLike)):
        with open(model, "rb") as file:
            return file.read()
    content: bytes = model.to_bytes()
    return content


def loaded(content: bytes, threads: int) -> Any:
    """Return the model of a file's content."""
    from ..loading import from_container

    name = "the model"
    model = from_container(name, *parse_container(name, memoryview(content)))
    model.n_jobs = threads
    return model


class _Labeller:
    """Has a model, and labels files with it."""

    def __init__(self, content: bytes, threads: int) -> None:
        self._model = loaded(content, threads)

    def ready(self) -> int:
        return os.getpid()

    def label(self, source: str, target: str, options: dict[str, Any]) -> tuple[int, str]:
        """Return the number of tokens, or what is wrong with the file."""
        try:
            return int(self._model.label_file(source, target, **options)), ""
        except (ValueError, OSError) as error:
            return 0, str(error)

    def each(
        self,
        files: list[str],
        targets: dict[str, str],
        options: dict[str, Any],
        found: Labelled,
        meter: Meter,
    ) -> None:
        """Label files one after another."""
        for source in files:
            tokens, wrong = self.label(source, targets[source], options)
            _note(found, source, tokens, wrong, meter)


def _note(found: Labelled, source: str, tokens: int, wrong: str, meter: Meter) -> None:
    if wrong:
        found.bad[source] = wrong
    else:
        found.done.append(source)
        found.tokens += tokens
    n = len(found.done) + len(found.bad)
    speed = found.tokens / max(1e-9, meter.seconds)
    meter.note(n, f"{n} files, {found.tokens:,} tokens, {speed:,.0f} tokens/s")


class _Pool:
    """Workers that take the next file when they are done with one."""

    def __init__(self, content: bytes, n: int, threads: int) -> None:
        self._ray = import_ray()
        self._content, self._n, self._threads = self._ray.put(content), n, threads
        self._kind = self._ray.remote(max_restarts=0)(_Labeller)
        self._starts = 0
        #: The processes of the workers that have begun.
        self.pids: list[int] = []

    def run(
        self,
        files: list[str],
        targets: dict[str, str],
        options: dict[str, Any],
        found: Labelled,
        meter: Meter,
    ) -> None:
        from .ray_crew import PATIENCE

        ray = self._ray
        waiting, deaths = deque(files), Counter[str]()
        reason: Exception | None = None
        #: Workers with the file that each is at; None: it is still starting.
        busy: dict[Any, tuple[Any, str | None]] = {}

        def start() -> None:
            if self._starts < _MOST_STARTS * self._n:
                self._starts += 1
                actor = self._kind.options(
                    num_cpus=self._threads, scheduling_strategy="SPREAD"
                ).remote(self._content, self._threads)
                busy[actor.ready.remote()] = (actor, None)

        def give(actor: Any) -> None:
            if waiting:
                source = waiting.popleft()
                busy[actor.label.remote(source, targets[source], options)] = (actor, source)
            else:
                ray.kill(actor)

        for _ in range(self._n):
            start()
        while busy:
            at_work = any(source is not None for _, source in busy.values())
            come, _ = ray.wait(list(busy), num_returns=1, timeout=None if at_work else PATIENCE)
            if not come:
                raise RuntimeError(
                    f"no worker came within {PATIENCE:.0f} s: does a machine of the cluster have "
                    f"{self._threads} free cores (ray status)?"
                )
            for ref in come:
                actor, source = busy.pop(ref)
                try:
                    told = ray.get(ref)
                except ray.exceptions.RayTaskError as error:
                    told = (0, str(error).strip().splitlines()[-1])
                except ray.exceptions.RayError as error:
                    reason = error
                    self._lost(source, deaths, waiting, found, meter)
                    start()
                    continue
                if source is None:
                    self.pids.append(told)
                else:
                    tokens, wrong = told
                    _note(found, source, tokens, wrong, meter)
                give(actor)
            if not busy and waiting:
                start()
        if waiting:
            raise RuntimeError(
                f"no worker is left: {len(waiting)} files are still to be labelled. Start again, "
                "and those that are done are not done again"
            ) from reason

    @staticmethod
    def _lost(
        source: str | None,
        deaths: Counter[str],
        waiting: deque[str],
        found: Labelled,
        meter: Meter,
    ) -> None:
        if source is None:
            return
        say(f"a worker was lost at {source}: another one begins with it again")
        deaths[source] += 1
        if deaths[source] < _MOST_DEATHS:
            waiting.append(source)
        else:
            _note(found, source, 0, f"{_MOST_DEATHS} workers died at it", meter)
