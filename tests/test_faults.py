"""What goes wrong around a program: full disks, no memory, others at the same files and models."""

import contextlib
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import traceback
import warnings

import numpy as np
import pytest

import structlearn
from structlearn import CRF
from structlearn.exceptions import FileError
from structlearn.tasks import Tagger
from structlearn.text.files import written_text
from tests.estimators.estimator_data import sequences
from tests.tasks.trainings import TRAININGS, trained

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked"),
]

#: One learner of each.
MODELS = [(name, it.learners[0]) for name, it in TRAININGS.items()]
each = pytest.mark.parametrize(("task", "learner"), MODELS, ids=[name for name, _ in MODELS])
PAGE = resource.getpagesize()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of a megabyte; root alone can make one."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("needs root, to mount a small file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True
    )
    if made.returncode:
        pytest.skip(f"cannot mount: {made.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def leave(folder, n_bytes):
    """Fill a disk until so much is free."""
    filler = folder / "filler"
    filler.unlink(missing_ok=True)
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_bsize
    with contextlib.suppress(OSError):
        filler.write_bytes(b"x" * max(0, free - n_bytes))


def crf(n=8, C=1.0):
    return CRF(C=C).fit(*sequences(n))


def writings(folder):
    """Everything that writes a file of ours, with what it writes."""
    model, name = crf(C=0.5), folder / "model"

    def text():
        with written_text(name) as file:
            for _ in range(50):
                file.write(b"fish N\n" * 100)

    return {
        "a model": lambda: model.save(name),
        "text": text,
        "a tagger": lambda: trained("tagger", "perceptron").save(name),
        "a pipeline": lambda: trained("pipeline", "perceptron").save(name),
    }


@pytest.mark.parametrize("what", ["a model", "text", "a tagger", "a pipeline"])
def test_a_disk_that_is_full_at_any_write(small_disk, what):
    """Page by page: either the new file is whole, or the old one is, and nothing is left over."""
    name = small_disk / "model"
    crf().save(name)
    old, write = name.read_bytes(), writings(small_disk)[what]
    refused = 0
    for pages in range(200):
        leave(small_disk, pages * PAGE)
        try:
            write()
            break
        except FileError as error:
            refused += "no space left" in str(error)
        assert refused == pages + 1
        assert name.read_bytes() == old
        assert sorted(os.listdir(small_disk)) == ["filler", "model"]
    assert 1 <= refused < 199
    assert name.read_bytes() != old


def test_checkpoints_on_a_full_disk(small_disk):
    """Training is worth more than its checkpoint: it ends as without one."""
    from structlearn.fitting import checkpoint

    X, y = sequences(8)
    right = CRF().fit(X, y).coef_
    path = small_disk / "checkpoint"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "EVERY", 0.0)
        patch.setattr(checkpoint, "SHARE", 1e9)
        leave(small_disk, PAGE)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = CRF(checkpoint=path).fit(X, y).coef_
    assert any("no checkpoint after iteration" in str(w.message) for w in said)
    for block, weights in right.items():
        np.testing.assert_array_equal(found[block], weights)


def test_stages_on_a_full_disk(small_disk):
    """As checkpoints: whatever cannot be kept, the pipeline is the same, and nothing is torn."""
    right, it = small_disk.parent / "right", TRAININGS["pipeline"]
    trained("pipeline", "perceptron").save(right)
    folder, warned = small_disk / "stages", 0
    for pages in (3, 10, 30, 60, 250):
        leave(small_disk, pages * PAGE)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            it.fit("perceptron", checkpoint=folder).save(small_disk.parent / "found")
        warned += any("no space left" in str(w.message) for w in said)
        assert (small_disk.parent / "found").read_bytes() == right.read_bytes()
        assert not list(folder.glob("*.part"))
        shutil.rmtree(folder)
    assert warned == 4


def test_a_folder_that_is_read_only(small_disk):
    name = small_disk / "model"
    crf().save(name)
    old = name.read_bytes()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(FileError, match="cannot be written: read-only file system"):
        crf(C=2.0).save(name)
    with pytest.raises(FileError, match="cannot be written"):
        CRF(checkpoint=small_disk / "x").fit(*sequences(4))
    for path in (small_disk, small_disk / "x"):
        with pytest.raises(FileError, match=r"cannot be .*: Read-only file system"):
            TRAININGS["pipeline"].fit("perceptron", checkpoint=path)
    assert name.read_bytes() == old
    assert os.listdir(small_disk) == ["model"]
    assert len(structlearn.load(name).predict(sequences(4)[0])) == 4


def in_a_fork(work):
    """Return the exit code of a process that does some work: 3 for what it may not raise.

    One that hangs is ended by a signal, so its code is negative.
    """
    pid = os.fork()
    if pid == 0:
        signal.alarm(120)
        code = 3
        try:
            work()
            code = 0
        except (MemoryError, FileError):
            code = 2
        except BaseException:
            traceback.print_exc()
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def limit_memory(extra):
    """Let this process have `extra` bytes more than it uses now."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * PAGE
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, used + extra))


@each
def test_no_memory(task, learner, tmp_path):
    """With ever more memory: MemoryError, and the old file stays; then a model. Never a crash."""
    it, path = TRAININGS[task], tmp_path / "model"
    trained(task, learner).save(path)
    old = path.read_bytes()

    def work():
        limit_memory(extra)
        it.fit(learner).save(path)
        it.answers(structlearn.load(path))

    codes = []
    for power in range(10, 31):
        extra = 1 << power
        codes.append(in_a_fork(work))
        assert codes[-1] in (0, 2), f"exit code {codes[-1]} with {extra} bytes"
        assert codes[-1] == 0 or path.read_bytes() == old
        if codes[-1] == 0:
            break
    assert codes[-1] == 0


def test_no_memory_for_threads():
    """Each thread needs megabytes for its stack: those that can be made do the work of all."""
    X, y = sequences(256)  # enough for eight threads
    right = CRF(solver="dual", max_iter=3).fit(X, y).coef_

    def work():
        limit_memory(megabytes << 20)
        found = CRF(solver="dual", max_iter=3, n_jobs=8).fit(X, y).coef_
        for block, weights in right.items():
            np.testing.assert_array_equal(found[block], weights)

    for megabytes in (2, 5, 10, 20, 30, 40, 60, 100):
        code = in_a_fork(work)
        assert code == 0, f"exit code {code} with {megabytes} MB"


def test_no_memory_for_threads_that_label(tmp_path, monkeypatch):
    monkeypatch.setattr("structlearn.text.labelling._LEAST", 1000)
    model, text = trained("tagger", "perceptron"), tmp_path / "text"
    text.write_text("fish\nsleep\n\n" * 4000)
    model.label_file(text, tmp_path / "right")
    right = (tmp_path / "right").read_bytes()

    def work():
        limit_memory(megabytes << 20)
        model.set_params(n_jobs=8).label_file(text, tmp_path / "found")
        assert (tmp_path / "found").read_bytes() == right

    codes = []
    for megabytes in (2, 5, 10, 20, 30, 40, 60, 100):
        codes.append(in_a_fork(work))
        assert codes[-1] == 0 or (codes[-1] == 2 and megabytes <= 5), f"{codes} at {megabytes} MB"


def test_a_pipe_that_is_closed(tmp_path):
    """As ``structlearn predict … | head -1``: it ends without a traceback."""
    model, text = tmp_path / "model", tmp_path / "text"
    trained("tagger", "perceptron").save(model)
    text.write_text("fish\nsleep\n\n" * 200_000)
    child = subprocess.Popen(
        [sys.executable, "-m", "structlearn", "predict", str(model), str(text)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    child.stdout.readline()
    child.stdout.close()
    said = child.stderr.read().decode()
    child.stderr.close()
    assert child.wait() >= 0  # it was not ended by a signal
    assert said == ""


def test_two_processes_save_one_name(tmp_path):
    """Whoever is last wins; at every moment the file is one of the two, whole."""
    path = tmp_path / "model"
    models = [crf(C=0.1), crf(C=10.0)]
    contents = []
    for model in models:
        model.save(path)
        contents.append(path.read_bytes())
    assert contents[0] != contents[1]
    pids = []
    for model in models:
        pid = os.fork()
        if pid == 0:
            for _ in range(100):
                model.save(path)
            os._exit(0)
        pids.append(pid)
    seen = set()
    while pids:
        content = path.read_bytes()
        assert content in contents
        seen.add(content)
        structlearn.load(path)
        pids = [pid for pid in pids if os.waitpid(pid, os.WNOHANG)[0] == 0]
    assert os.listdir(tmp_path) == ["model"]


@each
def test_a_model_that_is_replaced_while_it_is_mapped(task, learner, tmp_path):
    """A model in use goes on as it was when another one is saved under its name."""
    it, path = TRAININGS[task], tmp_path / "model"
    model = trained(task, learner)
    model.save(path)
    loaded = structlearn.load(path)
    right = it.answers(loaded)
    crf().save(path)
    path.unlink()
    assert it.answers(loaded) == right == it.answers(model)


@each
def test_eight_threads_use_one_model(task, learner, tmp_path):
    it, path = TRAININGS[task], tmp_path / "model"
    trained(task, learner).save(path)
    model = structlearn.load(path)
    right = it.answers(model)
    found, wrong = [], []

    def use():
        try:
            for _ in range(3):
                found.append(it.answers(model))
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert found == [right] * 24


@each
def test_a_forked_process_uses_a_model(task, learner):
    """After threads have been used here: it has none of them, and makes its own."""
    it = TRAININGS[task]
    model = it.fit(learner, n_jobs=2)
    right = it.answers(model)

    def work():
        assert it.answers(model) == right
        it.fit(learner, n_jobs=2)

    assert in_a_fork(work) == 0


def _all_answers(models):
    return {task: TRAININGS[task].answers(model) for task, model in models.items()}


def _answer(models, out):
    out.put(_all_answers(models))


def test_a_spawned_process_uses_models():
    """One process for all: it imports everything anew."""
    models = {task: TRAININGS[task].fit(learner, n_jobs=2) for task, learner in MODELS}
    context = multiprocessing.get_context("spawn")
    out = context.Queue()
    process = context.Process(target=_answer, args=(models, out))
    process.start()
    assert out.get(timeout=300) == _all_answers(models)
    process.join()
    assert process.exitcode == 0


def test_training_beside_labelling():
    """One thread trains while another labels: neither changes what the other gives."""
    it = TRAININGS["tagger"]
    model = trained("tagger", "perceptron")
    right, results = it.answers(model), []
    worker = threading.Thread(target=lambda: results.append(it.fit("perceptron")))
    worker.start()
    while worker.is_alive():
        assert it.answers(model) == right
    worker.join()
    assert isinstance(results[0], Tagger)
    assert it.answers(results[0]) == right
