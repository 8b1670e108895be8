"""Labelling and searching on a cluster of three nodes. Run by ``make test-ray``."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from structlearn import CRF
from structlearn.distributed import fit, labelling, predict
from structlearn.tasks import Tagger

from .models import SENTENCES, stored, write_columns

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: Any) -> Tagger:
    """A tagger."""
    path = write_columns(str(tmp_path_factory.mktemp("train") / "train.txt"))
    return Tagger("pos", n_models=1, max_iter=2).fit(path)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Files to be labelled."""
    (tmp_path / "in").mkdir()
    return [write_columns(str(tmp_path / "in" / f"{k:02}.txt"), k, k + 40) for k in range(12)]


def check(tagger: Tagger, files: list[str], out: Path) -> None:
    assert sorted(os.listdir(out)) == [os.path.basename(path) for path in files]
    for path in files:
        alone = str(out) + ".alone"
        tagger.label_file(path, alone)
        assert (out / os.path.basename(path)).read_bytes() == Path(alone).read_bytes()


def test_a_worker_is_killed_half_way(
    cluster: Any, tagger: Tagger, files: list[str], tmp_path: Path, monkeypatch: Any
) -> None:
    killed: list[int] = []
    note = labelling._note

    def kill(found: Any, *rest: Any) -> None:
        note(found, *rest)
        if len(found.done) == 4 and not killed:
            for pid in pids(tmp_path):
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)
                break

    monkeypatch.setattr(labelling, "_note", kill)
    monkeypatch.setattr(labelling, "_Labeller", Slow)
    found = predict(
        tagger, str(tmp_path / "in" / "*.txt"), tmp_path / "out", cluster="auto", workers=2
    )
    assert killed
    assert found.done == files
    assert not found.bad
    check(tagger, files, tmp_path / "out")


class Slow(labelling._Labeller):
    """Leaves a file with its process beside the input, and takes its time."""

    def label(self, source: str, target: str, options: dict[str, Any]) -> tuple[int, str]:
        """Label a file."""
        marker = Path(source).parent.parent / f"pid.{os.getpid()}"
        marker.touch()
        time.sleep(0.2)
        return super().label(source, target, options)


def pids(folder: Path) -> list[int]:
    """Return the processes that have labelled something."""
    return sorted(int(path.suffix[1:]) for path in folder.glob("pid.*"))


def test_finished_files_are_skipped_and_bad_ones_listed(
    cluster: Any, tagger: Tagger, files: list[str], tmp_path: Path
) -> None:
    bad = tmp_path / "in" / "05.txt"
    good = bad.read_bytes()
    bad.write_bytes(b"\xff\xfe\n")
    options: dict[str, Any] = {"cluster": "auto", "workers": 2}
    out = tmp_path / "out"
    first = predict(tagger, files, out, **options)
    assert list(first.bad) == [str(bad)]
    assert len(first.done) == 11
    bad.write_bytes(good)
    second = predict(tagger, files, out, **options)
    assert second.done == [str(bad)]
    assert len(second.skipped) == 11
    check(tagger, files, out)


def test_datasets(cluster: Any, tagger: Tagger) -> None:
    ray = pytest.importorskip("ray.data")
    rows = [
        {"url": f"http://{k}", "tokens": list(s.words), "tags": list(s.tags)}
        for k, s in enumerate(SENTENCES[:30])
    ]
    dataset = ray.from_items(rows, override_num_blocks=3)
    labelled = predict(tagger, dataset, workers=1).take_all()
    found = {row["url"]: list(row["labels"]) for row in labelled}
    expected = tagger.predict([list(s.words) for s in SENTENCES[:30]])
    assert found == {f"http://{k}": labels for k, labels in enumerate(expected)}


def test_learning_from_a_dataset_is_learning_from_a_list(cluster: Any, tmp_path: Path) -> None:
    data = pytest.importorskip("ray.data")
    rows = [{"tokens": list(s.words), "tags": list(s.tags)} for s in SENTENCES[:30]]
    listed = [list(zip(s.words, s.tags, strict=True)) for s in SENTENCES[:30]]
    make = lambda: Tagger("pos", n_models=1, max_iter=2)  # noqa: E731
    with pytest.raises(ValueError, match="no column 'tokens', only 'words'"):
        fit(make(), data.from_items([{"words": ["a"]}]), cluster="auto")
    with pytest.raises(ValueError, match="in its columns"):
        fit(make(), data.from_items(rows), rows, cluster="auto")
    expected = stored(fit(make(), listed, cluster=None), str(tmp_path))
    for blocks in (1, 3):  # shards do not depend on them
        dataset = data.from_items(rows, override_num_blocks=blocks)
        found = fit(make(), dataset, cluster="auto", workers=2)
        assert stored(found, str(tmp_path)) == expected


def test_a_cluster_without_room(
    cluster: Any, tagger: Tagger, files: list[str], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr("structlearn.distributed.ray_crew.PATIENCE", 1.0)
    with pytest.raises(RuntimeError, match="have 64 free cores"):
        predict(tagger, files, tmp_path / "out", cluster="auto", workers=1, threads=64)


def test_grid_search_on_ray(cluster: Any) -> None:
    import joblib
    from ray.util.joblib import register_ray
    from sklearn.model_selection import GridSearchCV, cross_val_score

    X = [[[f"w={w}"] for w in s.words] for s in SENTENCES[:30]]
    y = [list(s.tags) for s in SENTENCES[:30]]
    search = GridSearchCV(CRF(max_iter=20, tol=0.1), {"C": [0.1, 1.0]}, cv=2, n_jobs=2)
    alone = search.fit(X, y).cv_results_["mean_test_score"]
    scores = cross_val_score(CRF(max_iter=5, tol=0.1), X, y, cv=2)
    register_ray()
    with joblib.parallel_backend("ray"):
        spread = search.fit(X, y).cv_results_["mean_test_score"]
        assert np.array_equal(cross_val_score(CRF(max_iter=5, tol=0.1), X, y, cv=2), scores)
    assert np.array_equal(alone, spread)


def test_the_command_line(cluster: Any, tmp_path: Path) -> None:
    """Clusters of their own, for training from a gzipped pattern and for labelling."""
    for k in range(3):
        path = write_columns(str(tmp_path / f"{k}.txt"), 30 * k, 30 * k + 30)
        (tmp_path / f"{k}.txt.gz").write_bytes(gzip.compress(Path(path).read_bytes()))
    pattern, model, out = str(tmp_path / "*.txt.gz"), tmp_path / "tags.model", tmp_path / "out"
    command = [sys.executable, "-m", "structlearn"]
    where = ["--cluster", "local", "--workers", "2"]
    train = ["train", "pos", pattern, "--learner", "crf", "--shard-size", "0.004", *where]
    run = subprocess.run(
        [*command, *train, "--model", str(model)], capture_output=True, text=True, timeout=200
    )
    assert run.returncode == 0, run.stderr
    assert "workers 2/2" in run.stderr
    assert "tokens/s" in run.stderr
    expected = fit(Tagger("pos", learner="crf"), pattern, cluster=None, shard_size=4194)
    for name, array in expected.model_.arrays.items():
        assert bytes(Tagger.load(model).model_.arrays[name]) == bytes(array)
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\n")
    label = ["predict", str(model), str(tmp_path / "*.txt"), "--output", str(out), *where]
    run = subprocess.run([*command, *label], capture_output=True, text=True, timeout=200)
    assert run.returncode == 1
    assert "3 files labelled" in run.stderr
    assert run.stderr.splitlines()[-1].startswith(f"structlearn: {tmp_path / 'bad.txt'}")
    check(expected, [str(tmp_path / f"{k}.txt") for k in range(3)], out)
