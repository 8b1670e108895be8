"""Training on a cluster of three nodes: the same bits as in one process, whatever dies.

Run by ``make test-ray``.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import structlearn
from structlearn import CRF, HMM, MultiLabelClassifier, StructuredPerceptron, StructuredSVM
from structlearn.distributed import fit, training
from structlearn.estimators import AROW, AdaGrad, PassiveAggressive
from structlearn.exceptions import FileError
from structlearn.tasks import Tagger

from .models import MORE, REQUIRED, RUNS, SENTENCES, stored, write_columns

pytestmark = pytest.mark.filterwarnings("default")


def trained(name: str, folder: Path, **more: Any) -> bytes:
    make, write, size = {**RUNS, **MORE}[name]
    path = write(str(folder / f"{name}.train"))
    model = make()
    if "callbacks" in more:
        model.set_params(callbacks=more.pop("callbacks"))
    return stored(fit(model, path, shard_size=size, **more), str(folder))


class Expected(dict[str, bytes]):
    """What one process learns, worked out when it is asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, name: str) -> bytes:
        self[name] = trained(name, self.folder, cluster=None)
        return self[name]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: Any) -> Expected:
    """What one process learns."""
    return Expected(tmp_path_factory.mktemp("expected"))


@pytest.fixture
def crews(monkeypatch: Any) -> list[Any]:
    """The crews that are made while a test runs."""
    made: list[Any] = []
    make = training.make_crew

    def watched(*given: Any, **named: Any) -> Any:
        made.append(make(*given, **named))
        return made[-1]

    monkeypatch.setattr(training, "make_crew", watched)
    return made


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("name", [*RUNS, *MORE])
def test_the_number_of_workers_changes_no_bit(
    name: str, workers: int, cluster: Any, expected: Any, tmp_path: Path
) -> None:
    assert trained(name, tmp_path, cluster="auto", workers=workers) == expected[name]


@pytest.mark.parametrize("name", RUNS)
def test_shards_of_weight_zero(name: str, cluster: Any, tmp_path: Path) -> None:
    """Shards without weight leave the cluster, before or after workers have read them."""
    n = 10 if name == "segmenter" else len(SENTENCES)
    weight = np.random.default_rng(0).integers(1, 3, size=n).astype(float)
    weight[: n // 2] = 0.0
    (tmp_path / "one").mkdir()
    one = trained(name, tmp_path / "one", sample_weight=weight, cluster=None)
    assert trained(name, tmp_path, sample_weight=weight, cluster="auto", workers=4) == one


@pytest.mark.parametrize("name", RUNS)
def test_a_worker_is_killed(
    name: str, cluster: Any, expected: Any, crews: list[Any], tmp_path: Path
) -> None:
    def kill(record: dict[str, Any]) -> None:
        if record["iteration"] == 1:
            crew = crews[0]
            victim = crew.pids[sorted(crew._actors)[0]]
            # It stands still, so that it dies in the middle of the next iteration.
            os.kill(victim, signal.SIGSTOP)
            threading.Timer(0.2, os.kill, (victim, signal.SIGKILL)).start()

    found = trained(name, tmp_path, cluster="auto", workers=2, callbacks=[kill])
    assert found == expected[name]
    assert crews[0].lost >= 1


@pytest.mark.parametrize("name", MORE)
def test_a_worker_is_killed_while_it_counts(
    name: str, cluster: Any, expected: Any, crews: list[Any], tmp_path: Path, monkeypatch: Any
) -> None:
    """All sums stay with the workers, large or not."""
    from structlearn.distributed import ray_crew

    run, jobs = ray_crew.RayCrew.run, itertools.count()

    def killing(crew: Any, *given: Any) -> Any:
        if next(jobs) == 1:
            victim = crew.pids[min(crew._actors)]
            os.kill(victim, signal.SIGSTOP)
            threading.Timer(0.2, os.kill, (victim, signal.SIGKILL)).start()
        return run(crew, *given)

    monkeypatch.setattr(ray_crew.RayCrew, "run", killing)
    monkeypatch.setattr(ray_crew, "LARGE", 0)
    assert trained(name, tmp_path, cluster="auto", workers=2) == expected[name]
    assert crews[0].lost >= 1


ESTIMATORS = {
    "crf": lambda: CRF(max_iter=5, tol=1e-9),
    "crf l1": lambda: CRF(max_iter=5, tol=1e-9, l1=0.1),
    "svm": lambda: StructuredSVM(max_iter=5, tol=1e-9),
    "perceptron": lambda: StructuredPerceptron(max_iter=3, random_state=0),
    "passive-aggressive": lambda: PassiveAggressive(max_iter=3, random_state=0),
    "arow": lambda: AROW(max_iter=3, random_state=0),
    "adagrad": lambda: AdaGrad(max_iter=3, random_state=0),
}


@pytest.mark.filterwarnings("ignore:.*max_iter")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators(name: str, cluster: Any, crews: list[Any]) -> None:
    """The same bits for 1, 2 and 4 workers, and after one was killed."""
    X = [[[f"word={w}", f"end={w[-2:]}"] for w in s.words] for s in SENTENCES]
    y = [s.tags for s in SENTENCES]

    def kill(record: dict[str, Any]) -> None:
        if record["iteration"] == 1:
            os.kill(crews[-1].pids[min(crews[-1]._actors)], signal.SIGKILL)

    def weights(**more: Any) -> dict[str, bytes]:
        model = ESTIMATORS[name]().set_params(callbacks=more.pop("callbacks", None))
        fit(model, X, y, n_shards=7, **more)
        return {block: w.tobytes() for block, w in model.coef_.items()}

    expected = weights(cluster=None)
    for workers in (1, 2, 4):
        assert weights(cluster="auto", workers=workers) == expected
    assert weights(cluster="auto", workers=2, callbacks=[kill]) == expected
    assert crews[-1].lost == 1


@pytest.mark.parametrize("model", [HMM, MultiLabelClassifier])
def test_other_estimators(model: Any, cluster: Any, tmp_path: Path) -> None:
    """The same bits for 1, 2 and 4 workers."""
    X: Any = [s.words for s in SENTENCES]
    y: Any = [s.tags for s in SENTENCES]
    if model is MultiLabelClassifier:
        X = np.random.default_rng(0).normal(size=(40, 4))
        y = (X[:, :3] > 0.5 * X[:, 1:]).astype(int)

    def learned(**on: Any) -> bytes:
        return stored(fit(model(), X, y, n_shards=5, **on), str(tmp_path))

    expected = learned(cluster=None)
    assert all(learned(cluster="auto", workers=n) == expected for n in (1, 2, 4))


@pytest.mark.parametrize("name", REQUIRED)
def test_a_node_is_removed(
    name: str, cluster: Any, expected: Any, crews: list[Any], tmp_path: Path
) -> None:
    def remove(record: dict[str, Any]) -> None:
        if record["iteration"] == 1:
            cluster.remove_node(cluster.extra.pop(), allow_graceful=False)

    found = trained(name, tmp_path, cluster="auto", workers=4, callbacks=[remove])
    cluster.extra.append(cluster.add_node(**cluster.more))
    assert found == expected[name]
    assert crews[0].lost >= 1


DRIVER = """
import os, signal, sys
import structlearn.fitting.checkpoint as checkpoint
checkpoint.EVERY = 0.0
from structlearn.distributed import fit
from tests.distributed.models import REQUIRED, RUNS
address, folder = sys.argv[1:]
for name in REQUIRED:
    make, write, size = RUNS[name]
    at = os.path.join(folder, name)
    if os.path.exists(at + ".model"):
        continue
    resumed = os.path.exists(at + ".checkpoint")
    def kill(record):
        if record["iteration"] == 2 and not resumed:
            os.kill(os.getpid(), signal.SIGKILL)
        assert record["iteration"] > 1 or not resumed
    model = make().set_params(checkpoint=at + ".checkpoint", callbacks=[kill])
    path = os.path.join(folder, "train")
    fit(model, write(path), cluster=address, workers=2, shard_size=size).save(at + ".model")
"""


def test_the_driver_is_killed(cluster: Any, expected: Any, tmp_path: Path) -> None:
    """Each process goes on where the one before died, and dies in the next training run."""
    command = [sys.executable, "-c", DRIVER, cluster.address, str(tmp_path)]
    for k in range(len(REQUIRED) + 1):
        run = subprocess.run(command, capture_output=True, timeout=200)
        wanted = -signal.SIGKILL if k < len(REQUIRED) else 0
        assert run.returncode == wanted, run.stderr.decode()
    for name in REQUIRED:
        whole, resumed = tmp_path / "whole.model", tmp_path / f"{name}.model"
        whole.write_bytes(expected[name])
        models = [structlearn.load(str(path)).model_ for path in (whole, resumed)]
        assert models[0].training["passes"] == models[1].training["passes"]
        arrays = [{n: bytes(a) for n, a in one.arrays.items()} for one in models]
        assert arrays[0] == arrays[1]


def test_a_bad_line_stops_the_run(cluster: Any, tmp_path: Path) -> None:
    path = Path(write_columns(str(tmp_path / "train.txt")))
    lines = path.read_text().splitlines()
    at = next(i for i in range(400, len(lines)) if lines[i])
    lines[at] = "alone"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(FileError) as raised:
        fit(Tagger("pos"), path, cluster="auto", workers=2, shard_size=700)
    assert (raised.value.path, raised.value.line) == (str(path), at + 1)


def fails(shard: Any, number: int, folder: str) -> int:
    """Fail at the third shard, each time in the same way, and note that."""
    if number == 2:
        with open(os.path.join(folder, "asked"), "a") as file:
            file.write("x")
        raise KeyError("a gap")
    return number


def test_a_shard_that_fails_twice_stops_the_run(cluster: Any, tmp_path: Path) -> None:
    from structlearn.distributed import ray_crew
    from structlearn.distributed.shards import list_shards

    with ray_crew.RayCrew(list_shards(list(range(8)), 4), 2, verbose=False) as crew:
        with pytest.raises(ray_crew.ShardError, match=r"examples 4 to 5: KeyError: 'a gap'"):
            crew.files().each(fails, str(tmp_path))
        assert (tmp_path / "asked").read_text() == "xx"
        assert crew.files().each(len_of) == [2, 2, 2, 2]


def slow_once(shard: Any, number: int, folder: str) -> int:
    """Sleep at the first shard when it is asked for the first time."""
    import time

    marker = os.path.join(folder, "asked")
    if number == 0 and not os.path.exists(marker):
        with open(marker, "w"):
            pass
        time.sleep(60)
    return number


def test_a_slow_worker_gets_help(cluster: Any, tmp_path: Path, monkeypatch: Any) -> None:
    from structlearn.distributed import ray_crew
    from structlearn.distributed.shards import list_shards

    monkeypatch.setattr(ray_crew, "SLOW_SECONDS", 2.0)
    shards = list_shards(list(range(8)), 4)
    with ray_crew.RayCrew(shards, 2, verbose=False) as crew:
        crew.files().each(len_of)  # workers are there
        assert crew.files().each(slow_once, str(tmp_path)) == [0, 1, 2, 3]
        assert crew.copies >= 1


def len_of(shard: Any, number: int) -> int:
    """Return the number of examples."""
    return len(shard.examples())


def test_weights_go_out_once_and_sums_come_back(cluster: Any) -> None:
    from structlearn.distributed.ray_crew import RayCrew
    from structlearn.distributed.shards import list_shards

    w = np.ones(1000)
    with RayCrew(list_shards(list(range(16)), 16), 2, verbose=False) as crew:
        found = crew.files().sum(weighted, w)
        assert np.array_equal(found, 16 * w)
        assert crew.bytes_out == w.nbytes
        assert crew.bytes_back == 2 * w.nbytes  # a sum from each worker


def test_large_sums_are_added_up_by_workers(cluster: Any, monkeypatch: Any) -> None:
    """One sum comes back, with the bits of one process, and after sums were lost too."""
    from structlearn.distributed import ray_crew
    from structlearn.distributed.crew import Crew
    from structlearn.distributed.shards import list_shards

    monkeypatch.setattr(ray_crew, "_MANY_MACHINES", 1)  # weights go out in rounds
    w = np.random.default_rng(0).normal(size=1 << 18)
    expected = Crew(list_shards(list(range(11)), 11)).files().sum(scaled, w)
    added_up = ray_crew._Call._added_up
    lost: list[int] = []

    def lose(call: Any) -> Any:
        if call.crew.lost == 0:
            lost.append(min(call.crew._actors))
            ray_crew.ray.kill(call.crew._actors[lost[0]])
        return added_up(call)

    with ray_crew.RayCrew(list_shards(list(range(11)), 11), 4, verbose=False) as crew:
        assert np.array_equal(crew.files().sum(scaled, w), expected)
        assert len({*crew.owner.values()}) == 4
        assert crew.bytes_back == w.nbytes
        monkeypatch.setattr(ray_crew._Call, "_added_up", lose)
        assert np.array_equal(crew.files().sum(scaled, w), expected)
        assert lost
        assert crew.lost == 1
        assert crew.files().sum(named, w) == [str(k) for k in range(11)]


class Loaded:
    """Leaves a mark where it is unpickled."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        with open(os.path.join(self.folder, "loaded"), "a") as file:
            file.write("x")


def test_examples_are_not_sent_with_every_job(cluster: Any, tmp_path: Path) -> None:
    from structlearn.distributed.ray_crew import RayCrew
    from structlearn.distributed.shards import list_shards

    with RayCrew(list_shards([Loaded(str(tmp_path))] * 4, 4), 2, verbose=False) as crew:
        for _ in range(3):
            assert crew.files().each(number_of) == [0, 1, 2, 3]
        assert not (tmp_path / "loaded").exists()
        held = crew.files().then(examples_of)
        for _ in range(3):
            assert held.each(number_of) == [0, 1, 2, 3]
        assert (tmp_path / "loaded").read_text() == "xxxx"


def number_of(shard: Any, number: int) -> int:
    """Return the number of the shard."""
    return number


def examples_of(shard: Any, number: int) -> Any:
    """Return the examples."""
    return shard.examples()


def weighted(shard: Any, number: int, w: Any) -> Any:
    """Return the weights times the number of examples."""
    return len(shard.examples()) * w


def scaled(shard: Any, number: int, w: Any) -> Any:
    """Return numbers whose sums have to be rounded."""
    return (number + 1) / 3.0 * w


def named(shard: Any, number: int, w: Any) -> list[str]:
    """Return a list, which sums join."""
    return [str(number)]
