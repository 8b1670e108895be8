"""``python -m fuzz.kills``: trainings and saves ended by SIGKILL at random moments.

For each task a process trains with a checkpoint at every pass and then saves over an older model.
It is killed at random moments, while it reads, learns or saves, and restarted until it ends by
itself. At every moment the model file must be the complete old or new one, and the final model must
have the same bits as that of an undisturbed training.
"""

from __future__ import annotations

import argparse
import os
import pickle
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.tasks.trainings import TRAININGS

import structlearn
from structlearn.fitting import checkpoint

#: Task -> the learners to kill, in turns, since their states differ.
LEARNERS = {
    name: [k for k in it.learners if k not in ("hmm", "pcfg")] for name, it in TRAININGS.items()
}


#: Examples and passes of a training, and seconds of repeated saves afterwards: a single save of a
#: small model is too short to be hit.
EXAMPLES, PASSES, SAVING = 8, 6, 0.1


#: The original function that writes checkpoints.
_WRITE = checkpoint.Checkpoint._write


def _write_and_wait(self: checkpoint.Checkpoint, *arguments: object) -> None:
    """Write a checkpoint and sleep: otherwise small models finish before it is noticed."""
    _WRITE(self, *arguments)  # type: ignore[arg-type]
    time.sleep(0.003)


def _work(task: str, learner: str, folder: Path) -> float:
    """Train with checkpoints, then save for a while; return the seconds of training."""
    it, begin = TRAININGS[task], time.process_time()
    made = it.fit(learner, EXAMPLES, max_iter=PASSES, checkpoint=folder / "checkpoint")
    (folder / "trained").write_bytes(pickle.dumps(made.model_))  # some files round the weights
    took = time.process_time() - begin
    while time.process_time() - begin < took + SAVING:
        made.save(folder / "model")
    (folder / "done").touch()
    return took


def _exists(path: Path) -> bool:
    """Return whether there is a file, or a pipeline's folder with a finished stage."""
    return any(path.glob("*.model")) if path.is_dir() else path.exists()


def _computed(pid: int) -> float:
    """Return the processor seconds of a process."""
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[0]) / 1e9


class Moment(NamedTuple):
    """When a process is killed.

    Attributes
    ----------
    after : str
        The file that must exist first: "checkpoint", "trained", or "" for none.
    seconds : float
        Processor seconds from then on.
    """

    after: str
    seconds: float


def _moment(number: int, rng: random.Random, training: float, saving: float) -> Moment:
    """Return the moment of kill ``number`` of a task.

    The first two are fixed, so that even two kills meet a checkpoint and a save.
    """
    if number < 2:
        return Moment("checkpoint", 0.0) if number == 0 else Moment("trained", 0.0)
    longest = {"": 1.2 * training, "checkpoint": 0.5 * training, "trained": 1.2 * saving}
    after = rng.choice(list(longest))
    return Moment(after, longest[after] * rng.random())


def _killed_at(moment: Moment | None, task: str, learner: str, folder: Path) -> int:
    """Fork a process that works, and kill it at a moment; return its exit code."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            _work(task, learner, folder)
            code = 0
        except BaseException:
            traceback.print_exc()
        os._exit(code)
    since = None
    while moment is not None:
        if since is None and (not moment.after or _exists(folder / moment.after)):
            since = _computed(pid)
        if since is not None and _computed(pid) - since >= moment.seconds:
            os.kill(pid, signal.SIGKILL)
            break
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.0002)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@dataclass
class Kills:
    """The kills of a task, and the findings."""

    task: str
    kills: int = 0
    while_saving: int = 0
    resumed: int = 0
    finished: int = 0
    findings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.task:<28} {self.kills:>4} kills ({self.while_saving} while saving), "
            f"{self.resumed} resumed from a checkpoint, {self.finished} trainings ended with the "
            f"same bits, {len(self.findings)} findings"
        )


def kill(task: str, times: int, seed: int = 0) -> Kills:
    """Kill the trainings of a task ``times`` times."""
    checkpoint.EVERY, checkpoint.SHARE = 0.0, 1e9  # a checkpoint at every pass
    checkpoint.Checkpoint._write = _write_and_wait  # type: ignore[method-assign]
    warnings.simplefilter("ignore")
    rng, record = random.Random(f"{task} {seed}"), Kills(task)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    number = 0
    while record.kills < times and number < 50 + 10 * times:  # never forever
        learner = LEARNERS[task][number % len(LEARNERS[task])]
        number += 1
        with tempfile.TemporaryDirectory(prefix="kills", dir=memory) as folder:
            _one_training(task, learner, Path(folder), times, rng, record)
        if len(record.findings) > 10:
            break
    if record.kills < times or not record.resumed or not record.while_saving:
        record.findings.append(f"{task}: too few kills, none after a checkpoint, or none in a save")
    return record


def _one_training(
    task: str, learner: str, folder: Path, times: int, rng: random.Random, found: Kills
) -> None:
    """Kill one training repeatedly until it ends, and check the files."""
    model = folder / "model"
    TRAININGS[task].fit(learner, EXAMPLES, max_iter=1).save(model)
    old = model.read_bytes()
    begin = time.process_time()
    training = _work(task, learner, folder)
    saving = time.process_time() - begin - training
    right, names = model.read_bytes(), _names(folder)
    weights = (folder / "trained").read_bytes()
    assert right != old
    model.write_bytes(old)
    (folder / "done").unlink()
    shutil.rmtree(folder / "checkpoint", ignore_errors=True)
    while not (folder / "done").exists():
        found.resumed += _exists(folder / "checkpoint")
        (folder / "trained").unlink(missing_ok=True)
        moment = _moment(found.kills, rng, training, saving) if found.kills < times else None
        code = _killed_at(moment, task, learner, folder)
        if code == -signal.SIGKILL:
            found.kills += 1
            found.while_saving += (folder / "trained").exists()
        elif code != 0:
            found.findings.append(f"{task}, {learner}: exit code {code}")
            return
        if model.read_bytes() not in (old, right):
            found.findings.append(f"{task}, {learner}: the model is neither the old nor the new")
            return
        structlearn.load(model)
    found.finished += 1
    if (model.read_bytes(), (folder / "trained").read_bytes()) != (right, weights):
        found.findings.append(f"{task}, {learner}: the resumed training has other bits")
    left = _names(folder) - names
    if left:
        found.findings.append(f"{task}, {learner}: left behind {sorted(left)}")


def _names(folder: Path) -> set[str]:
    """Return the names in a folder, without partial files of interrupted saves."""
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    return {name for name in names if not (name.startswith("model.") and name.endswith(".part"))}


def main() -> int:
    """Kill the trainings of each task; return 1 if something was lost."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.kills", description=__doc__)
    parser.add_argument("tasks", nargs="*", help=f"some of {', '.join(TRAININGS)}; default: all")
    parser.add_argument("--kills", type=int, default=200, help="of each task")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    wrong = 0
    for task in arguments.tasks or list(TRAININGS):
        record = kill(task, arguments.kills, arguments.seed)
        print(record, flush=True)
        for line in record.findings:
            print(f"  {line}", flush=True)
        wrong += len(record.findings)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
