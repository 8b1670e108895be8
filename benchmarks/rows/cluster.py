"""Workers of a Ray cluster on this machine: the cost of shards, and the models learned."""

from __future__ import annotations

import gzip
import itertools
import os
import shutil
import signal
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from structlearn.tasks import Tagger

from .. import environment, memory
from ..data import data_folder
from ..registry import Context, Result, Row, benchmark
from ..timing import Timing

__all__ = ["cluster_iteration", "cluster_labelling", "cluster_learning"]

WORKERS = 2
_MB = 1e6


@contextmanager
def _ready(context: Context, result: Result) -> Iterator[Path | None]:
    """Return CoNLL-2000's folder, and use all cores; None if something is missing."""
    folder = data_folder()
    if folder is None or not (folder / "conll2000").exists():
        result.skipped.append("CoNLL-2000 (set STRUCTLEARN_DATA)")
    elif len(context.cores) < WORKERS:
        result.skipped.append("two workers (the machine has one core)")
    elif find_spec("ray") is None:
        result.skipped.append("Ray (pip install structlearn[ray])")
    else:
        environment.pin(list(context.cores))
        try:
            yield folder / "conll2000"
        finally:
            environment.pin(list(context.cores[-1:]))
        return
    yield None


def _text(folder: Path, name: str) -> str:
    with gzip.open(folder / f"{name}.txt.gz", "rt", encoding="utf-8") as file:
        return file.read().rstrip("\n") + "\n\n"


def private_memory(shard: Any, number: int) -> tuple[int, float]:
    """Return the process, and the memory in MB that it shares with no other process."""
    memory.tidy()
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    own = sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
    return os.getpid(), own * 1024 / _MB


def nothing(shard: Any, number: int) -> float:
    """Return a number, to measure the cost of a call."""
    return 0.0


# -- an iteration ---------------------------------------------------------------------------------


def _measure(path: str, cluster: str | None, repeats: int) -> dict[str, Any]:
    """Return seconds of evaluations of loss and gradient, and the amounts they transfer."""

    from structlearn.distributed.cluster import connected, make_crew
    from structlearn.distributed.crew import CrewParts
    from structlearn.distributed.shards import file_shards
    from structlearn.fitting.split_corpus import SplitCorpus
    from structlearn.tasks.tagging.token_fitting import TokenFitting
    from structlearn.text.sources import read_source

    with connected(cluster, WORKERS) as n:
        shards = file_shards([path], "columns")
        with make_crew(shards, cluster, n) as crew:
            before = dict(crew.files().each(private_memory))
            corpus = SplitCorpus(CrewParts(crew.files()).then(read_source))
            tagger = Tagger("chunk", learner="crf")
            problem: Any = TokenFitting(tagger._plain(), corpus).problem()
            w, out = np.zeros(problem.n_weights), np.empty(problem.n_weights)
            times = []
            for _ in range(repeats):
                begin = time.perf_counter()
                problem.total_cost(w, 0.0, 1.0, out=out)
                times.append(time.perf_counter() - begin)
            sent = {"bytes out": getattr(crew, "bytes_out", 0)}
            sent["bytes back"] = getattr(crew, "bytes_back", 0)
            after = dict(problem.parts.held.each(private_memory))
            calls = []
            for _ in range(10 * repeats):
                begin = time.perf_counter()
                problem.parts.held.sum(nothing)
                calls.append(time.perf_counter() - begin)
            return {
                "seconds": times,
                "call": statistics.median(calls),
                "MB": max(after[pid] - before[pid] for pid in after),
                "tokens": corpus.n_tokens,
                "weights": problem.n_weights,
                "shards": len(shards),
                "gradient": out.tobytes(),
                **sent,
            }


@benchmark
def cluster_iteration(context: Context) -> Result:
    """An iteration of a CRF over shards, CoNLL-2000 x 8: two workers, and the work alone."""
    result = Result()
    with _ready(context, result) as data, tempfile.TemporaryDirectory() as folder:
        if data is None:
            return result
        path = os.path.join(folder, "train.txt")
        Path(path).write_text(_text(data, "train") * (1 if context.quick else 8), encoding="utf-8")
        repeats = context.times(6, 2)
        alone = _measure(path, None, repeats)
        spread = _measure(path, "local", repeats)
    same = alone.pop("gradient") == spread.pop("gradient")
    work, taken = min(alone["seconds"]) / WORKERS, min(spread["seconds"])
    over = 100 * (taken / work - 1)
    result.rows = [
        Row.amounts("an iteration on 2 workers", "half of one process's", taken, work, unit="s"),
        Row.amounts("what the cluster adds", "", over, None, unit="%", below=15),
        Row.amounts("memory of a worker, increase", "half of one process's", spread["MB"],
                    alone["MB"] / WORKERS, unit="MB"),
    ]  # fmt: skip
    result.details = {"one process": alone, "cluster": spread, "same bits": same}
    result.details["microseconds a token"] = 1e6 * min(alone["seconds"]) / alone["tokens"]
    result.notes = [
        f"gradient with the same bits: {same}; weights {spread['weights']:,}, 8 bytes each; "
        f"{spread['bytes out'] / _MB:.1f} MB out, once for each machine, "
        f"{spread['bytes back'] / _MB:.1f} MB back; an empty call {1e3 * spread['call']:.1f} ms"
    ]
    return result


# -- labelling ------------------------------------------------------------------------------------


def _write_files(data: Path, folder: Path, n: int) -> list[str]:
    """Write files of about 259,000 tokens, each with the sentences in another order."""
    folder.mkdir()
    sentences = (_text(data, "train") + _text(data, "test")).rstrip("\n").split("\n\n")
    files = []
    for k in range(n):
        at = k * len(sentences) // n
        files.append(str(folder / f"{k:02}.txt"))
        text = "\n\n".join(sentences[at:] + sentences[:at]) + "\n\n"
        Path(files[-1]).write_text(text, encoding="utf-8")
    return files


def _same_files(first: Path, second: Path) -> bool:
    names = sorted(os.listdir(first))
    return names == sorted(os.listdir(second)) and all(
        (first / name).read_bytes() == (second / name).read_bytes() for name in names
    )


@contextmanager
def _killing(half: int) -> Iterator[list[int]]:
    """Kill a worker once a number of files are done."""
    from structlearn.distributed import labelling

    killed: list[int] = []
    pools: list[Any] = []
    note, pool = labelling._note, labelling._Pool

    class Watched(pool):  # type: ignore[valid-type, misc]
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            pools.append(self)

    def kill(found: Any, *rest: Any) -> None:
        note(found, *rest)
        if len(found.done) == half and not killed:
            killed.append(pools[-1].pids[0])
            os.kill(killed[0], signal.SIGKILL)

    labelling._Pool, labelling._note = Watched, kill  # type: ignore[misc]
    try:
        yield killed
    finally:
        labelling._Pool, labelling._note = pool, note  # type: ignore[misc]


@benchmark
def cluster_labelling(context: Context) -> Result:
    """Tag 10 million tokens in 40 files: two workers, one killed half-way, against one."""
    result = Result()
    # In memory if possible: the question is about the workers, not the disk.
    where = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with _ready(context, result) as data, tempfile.TemporaryDirectory(dir=where) as name:
        if data is None:
            return result
        import ray

        from structlearn.distributed import predict

        folder, n = Path(name), 4 if context.quick else 40
        files = _write_files(data, folder / "in", n)
        (folder / "train.txt").write_text(_text(data, "train"), encoding="utf-8")
        tagger = Tagger("pos", target=2, n_models=1, max_iter=5).fit(folder / "train.txt")
        (folder / "alone").mkdir()
        tokens = sum(tagger.label_file(p, folder / "alone" / os.path.basename(p)) for p in files)
        cases = {"one": (1, n + 1), "two": (2, n + 1), "two, one killed half-way": (2, n // 2)}
        timings = {case: Timing() for case in cases}
        ray.init(address="local", num_cpus=WORKERS, include_dashboard=False, log_to_driver=False,
                 logging_level="ERROR")  # fmt: skip
        same = True
        try:
            for k, case in itertools.product(range(context.times(3, 1)), cases):
                workers, half = cases[case]
                out = folder / f"{case} {k}"
                begin = time.perf_counter()
                with _killing(half):
                    done = predict(tagger, files, out, cluster="local", workers=workers)
                timings[case].wall.append(time.perf_counter() - begin)
                same = same and done.done == files and not done.bad
                same = same and _same_files(out, folder / "alone")
                shutil.rmtree(out)
        finally:
            ray.shutdown()
    for case in list(cases)[1:]:
        about = f"{tokens / 1e6:.1f} million tokens, {n} files: {case}"
        result.rows.append(
            Row.times(about, "one worker", timings[case], timings["one"], unit="s", at_least=1.7)
        )
    result.details = {case: timing.summary() for case, timing in timings.items()}
    result.details.update(tokens=tokens, files=n, same=same)
    result.notes.append(f"every file once, whole, equal to one process's: {same}")
    return result


# -- learning -------------------------------------------------------------------------------------


@benchmark
def cluster_learning(context: Context) -> Result:
    """CoNLL-2000 over 8 shards against one machine: a CRF's objective, a perceptron's F1."""
    result = Result()
    with _ready(context, result) as data, tempfile.TemporaryDirectory() as name:
        if data is None:
            return result
        from structlearn.distributed import fit

        # In one process: any number of workers gives the same bits.
        folder = Path(name)
        for part in ("train", "test"):
            (folder / part).write_text(_text(data, part), encoding="utf-8")
        train, test = folder / "train", str(folder / "test")
        passes = 2 if context.quick else 10
        alone = Tagger("chunk", n_models=1, max_iter=passes).fit(train)
        mixed = fit(Tagger("chunk", n_models=1, max_iter=passes * 3 // 2), train, cluster=None)
        f1 = [100 * t.evaluate(test)["f1"] for t in (alone, mixed)]
        # Until the gap is proven to be 0.1 % of the objective.
        options = {"learner": "crf", "C": 0.1, "max_iter": 5 if context.quick else 1000}
        crf = Tagger("chunk", **options).fit(train)
        shards = fit(Tagger("chunk", **options), train, cluster=None)
        proven = [t.model_.training for t in (crf, shards)]
        crf_f1 = [100 * t.evaluate(test)["f1"] for t in (crf, shards)]
    apart = abs(proven[0]["objective"] - proven[1]["objective"])
    result.rows = [
        Row.amounts(f"perceptron: F1 lost by mixing, {passes * 3 // 2} passes for {passes}", "",
                    f1[0] - f1[1], None, unit="F1", below=0.2),
        Row.amounts("CRF: objectives apart", "both proven gaps", apart,
                    proven[0]["gap"] + proven[1]["gap"], unit="nats", at_least=1),
    ]  # fmt: skip
    result.details = {"perceptron F1": f1, "CRF F1": crf_f1, "CRF": proven}
    result.notes.append(
        f"F1 one machine / shards: perceptron {f1[0]:.2f} / {f1[1]:.2f}, CRF {crf_f1[0]:.2f} / "
        f"{crf_f1[1]:.2f}"
    )
    return result
