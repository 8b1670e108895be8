"""A training that was killed goes on from its checkpoint and ends as if nothing had happened."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import structlearn
from structlearn import CRF, StructuredModel, StructuredPerceptron, StructuredSVM
from structlearn.exceptions import CheckpointWarning, FileError
from structlearn.fitting import checkpoint as module
from structlearn.fitting.values import Reader, Writer
from structlearn.io.container import Tensor, read_container, write_container
from structlearn.learners.cutting_planes import Round
from structlearn.learners.frank_wolfe import FrankWolfe
from structlearn.learners.solvers import SOLVERS
from structlearn.problem import Problem
from tests.estimators.estimator_data import points, quietly, sequences

SMOOTH = {"margin": 0.0, "temperature": 1.0}
HINGE = {"margin": 1.0, "temperature": 0.0}
#: Solver to what it can learn, with a tolerance that takes it some iterations to reach.
SETTINGS = {
    "perceptron": {"margin": 0.0, "temperature": 0.0, "max_iter": 6},
    "sgd": {**HINGE, "tol": 2e-2, "max_iter": 64},
    "passive-aggressive": {**HINGE, "max_iter": 6},
    "adagrad": {**HINGE, "max_iter": 6},
    "arow": {**HINGE, "max_iter": 6},
    "lbfgs": {**SMOOTH, "tol": 1e-8},
    "dual": {**SMOOTH, "tol": 1e-8},
    "sag": {**SMOOTH, "tol": 1e-6},
    "projected": {**SMOOTH, "tol": 1e-8},
    "frank-wolfe": {**HINGE, "tol": 1e-6},
    "n-slack": {**HINGE, "tol": 1e-6},
    "one-slack": {**HINGE, "tol": 1e-5},
    "annealing": {**HINGE, "tol": 1e-3},
}
#: More that decides how a learner goes.
VARIANTS = {
    **{name: {"solver": name, **options} for name, options in SETTINGS.items()},
    "owl-qn": {"solver": "lbfgs", "l1": 0.3, **SMOOTH, "tol": 1e-8},
    "smooth sgd": {"solver": "sgd", **SMOOTH, "tol": 1e-2, "max_iter": 24},
    "smooth adagrad": {"solver": "adagrad", **SMOOTH, "tol": 1e-2, "max_iter": 12},
    "constant sgd": {"solver": "sgd", "step": "constant", "average": False, "max_iter": 5},
    "violations": {"solver": "n-slack", "violation_tol": 1e-3, "tol": 0.0},
    "in order": {"solver": "frank-wolfe", "shuffle": False, "tol": 1e-6},
    "looks": {"solver": "dual", **SMOOTH, "C": 5.0, "tol": 1e-2},
    "few passes": {"solver": "frank-wolfe", "tol": 0.0, "max_iter": 13},
    "few iterations": {"solver": "annealing", "tol": 0.0, "max_iter": 25},
}
DATA = {"multiclass": points(40), "chain": sequences(16)}


class Killed(Exception):
    pass


@pytest.fixture(autouse=True)
def at_every_iteration(monkeypatch):
    monkeypatch.setattr(module, "EVERY", 0.0)
    monkeypatch.setattr(module, "SHARE", 1e9)


def make(structure, options, **more):
    return StructuredModel(structure, **{"C": 0.5, "random_state": 3, **options, **more})


def kill_at(k):
    def callback(record):
        if record["iteration"] == k:
            raise Killed

    return callback


def interrupted(model, X, y, k, **fit):
    """Fit until iteration k, where everything ends."""
    doomed = clone(model).set_params(callbacks=kill_at(k))
    with pytest.raises(Killed):
        quietly(doomed, X, y, **fit)
    assert os.path.exists(model.checkpoint)


def records(model):
    return [{k: v for k, v in r.items() if k != "seconds"} for r in model.history_]


def assert_same(one, other):
    np.testing.assert_array_equal(one._weights.view(np.int64), other._weights.view(np.int64))
    assert one.objective_ == other.objective_
    assert one.duality_gap_ == other.duality_gap_
    assert one.n_iter_ == other.n_iter_
    assert records(one) == records(other)
    assert one.solver_ == other.solver_
    rounds = [getattr(m, "rounds_", []) for m in (one, other)]
    assert [repr(r) for r in rounds[0]] == [repr(r) for r in rounds[1]]
    for a, b in zip(*rounds, strict=True):
        assert repr(a.constraints) == repr(b.constraints)
        np.testing.assert_array_equal(a.slack, b.slack)


def test_every_solver_is_here():
    assert set(SETTINGS) == set(SOLVERS)


@pytest.mark.parametrize("structure", DATA)
@pytest.mark.parametrize("variant", VARIANTS)
def test_goes_on_bit_for_bit(variant, structure, tmp_path):
    X, y = DATA[structure]
    options = VARIANTS[variant]
    path = tmp_path / "training"
    straight = quietly(make(structure, options), X, y)
    assert straight.n_iter_ >= 4, "nothing to interrupt"
    model = make(structure, options, checkpoint=path)
    for k in {*range(2, min(straight.n_iter_, 45)), straight.n_iter_}:
        interrupted(model, X, y, k)
    assert_same(straight, quietly(clone(model).set_params(n_jobs=2), X, y))
    assert list(tmp_path.iterdir()) == []


def test_seconds_go_on(tmp_path):
    X, y = DATA["chain"]
    model = make("chain", VARIANTS["lbfgs"], checkpoint=tmp_path / "training")
    interrupted(model, X, y, 4)
    fitted = quietly(model, X, y)
    seconds = [r["seconds"] for r in fitted.history_]
    assert seconds == sorted(seconds)


@pytest.mark.parametrize("solver", ["frank-wolfe", "sgd", "n-slack", "lbfgs"])
def test_rounds_over_unknown_labels(solver, tmp_path):
    X, y = DATA["chain"]
    y = [[None if (i + t) % 4 == 1 else k for t, k in enumerate(row)] for i, row in enumerate(y)]
    options = {**SETTINGS[solver], "tol": 1e-3, "solver": solver, "latent": "cccp", "max_iter": 30}
    straight = quietly(make("chain", options), X, y)
    assert straight.n_iter_ >= 3, "nothing to interrupt"
    model = make("chain", options, checkpoint=tmp_path / "training")
    for k in (2, straight.n_iter_):
        interrupted(model, X, y, k)
    assert_same(straight, quietly(model, X, y))


@pytest.mark.parametrize("solver", ["sgd", "lbfgs"])
def test_unknown_labels_as_they_are(solver, tmp_path):
    X, y = DATA["chain"]
    y = [[{"D", "N"} if (i + t) % 4 == 1 else k for t, k in enumerate(r)] for i, r in enumerate(y)]
    options = {**SETTINGS[solver], "solver": solver, "latent": "direct", "max_iter": 8}
    straight = quietly(make("chain", options), X, y)
    model = make("chain", options, checkpoint=tmp_path / "training")
    interrupted(model, X, y, 4)
    assert_same(straight, quietly(model, X, y))


def test_beams(tmp_path):
    X, y = DATA["chain"]
    straight = StructuredPerceptron(beam=2, random_state=0).fit(X, y)
    model = StructuredPerceptron(beam=2, random_state=0, checkpoint=tmp_path / "training")
    interrupted(model, X, y, 3)
    assert_same(straight, model.fit(X, y))


@pytest.mark.parametrize("solver", ["frank-wolfe", "one-slack", "sgd", "annealing"])
def test_warm_starts(solver, tmp_path):
    X, y = DATA["chain"]
    options = {**VARIANTS[solver], "warm_start": True}
    straight = quietly(make("chain", options), X, y).set_params(C=0.7)
    quietly(straight, X, y)

    def begun():
        model = quietly(make("chain", options), X, y)
        return model.set_params(C=0.7, checkpoint=tmp_path / "training")

    doomed = begun().set_params(callbacks=kill_at(straight.history_[2]["iteration"]))
    with pytest.raises(Killed):
        quietly(doomed, X, y)
    with pytest.raises(FileError, match="another training"):
        quietly(make("chain", options, C=0.7, checkpoint=tmp_path / "training"), X, y)
    assert_same(straight, quietly(begun(), X, y))


def test_generators(tmp_path):
    X, y = DATA["chain"]
    for generator in (np.random.PCG64, np.random.MT19937):

        def model(generator=generator, **options):
            rng = np.random.Generator(generator(5))
            return StructuredPerceptron(max_iter=6, random_state=rng, **options)

        straight = model().fit(X, y)
        path = tmp_path / "training"
        with pytest.raises(Killed):
            model(checkpoint=path, callbacks=kill_at(4)).fit(X, y)
        assert_same(straight, model(checkpoint=path).fit(X, y))


def test_without_a_seed_the_orders_are_those_of_the_first_run(tmp_path):
    X, y = DATA["chain"]
    seen = []
    model = StructuredPerceptron(max_iter=8, checkpoint=tmp_path / "training")
    with pytest.raises(Killed):
        clone(model).set_params(callbacks=[lambda r: seen.append(r["loss"]), kill_at(6)]).fit(X, y)
    assert model.fit(X, y).loss_curve_[:6] == seen


#: What a process and the test itself train.
PROGRAM = """
import numpy as np
from structlearn import CRF

def model(path, **options):
    return CRF("multiclass", solver="lbfgs", tol=1e-9, checkpoint=path, **options)

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 6))
y = np.argmax(X[:, :4] + rng.normal(size=(60, 4)), axis=1)
"""
DEATH = """
import os, signal, sys
from structlearn.fitting import checkpoint

def callback(record):
    if record["iteration"] == 6:
        os.kill(os.getpid(), signal.SIGKILL)

checkpoint.EVERY, checkpoint.SHARE = 0.0, 1e9
model(sys.argv[1], callbacks=callback).fit(X, y)
"""


def test_sigkill(tmp_path):
    """The real thing: a process that has no chance to tidy up."""
    path = tmp_path / "training"
    process = [sys.executable, "-c", PROGRAM + DEATH, str(path)]
    assert subprocess.run(process, check=False).returncode == -signal.SIGKILL
    assert path.exists()
    (tmp_path / "training.123.part").write_bytes(b"half of one")  # killed while it wrote
    names = {}
    exec(PROGRAM, names)
    X, y, model = names["X"], names["y"], names["model"]
    seen = []
    resumed = model(path, n_jobs=2, callbacks=lambda r: seen.append(r["iteration"])).fit(X, y)
    assert_same(model(None).fit(X, y), resumed)
    assert seen == list(range(6, resumed.n_iter_ + 1))
    assert list(tmp_path.iterdir()) == []


def test_after_ctrl_c_the_last_whole_pass_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "EVERY", 1e9)  # nothing is due
    X, y = DATA["chain"]
    straight = StructuredPerceptron(max_iter=6, random_state=0).fit(X, y)
    model = StructuredPerceptron(max_iter=6, random_state=0, checkpoint=tmp_path / "training")

    def ctrl_c(record):
        if record["iteration"] == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clone(model).set_params(callbacks=ctrl_c).fit(X, y)
    assert [p.name for p in tmp_path.iterdir()] == ["training"]
    seen = []
    model.set_params(callbacks=lambda r: seen.append(r["iteration"]))
    assert_same(straight, model.fit(X, y))
    assert seen == [4, 5, 6]


@pytest.mark.parametrize("variant", ["lbfgs", "owl-qn", "sgd"])
def test_ctrl_c_in_the_middle_of_an_iteration(variant, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "EVERY", 1e9)
    X, y = DATA["chain"]
    options = VARIANTS[variant]
    straight = quietly(make("chain", options), X, y)
    model = make("chain", options, checkpoint=tmp_path / "training")
    looks = 0

    def total(self, *arguments, **more):
        nonlocal looks
        looks += 1
        if looks == 7:
            raise KeyboardInterrupt
        return losses(self, *arguments, **more)

    losses = Problem._total
    monkeypatch.setattr(Problem, "_total", total)
    with pytest.raises(KeyboardInterrupt):
        quietly(clone(model), X, y)
    assert [p.name for p in tmp_path.iterdir()] == ["training"]
    assert_same(straight, quietly(model, X, y))


def test_ctrl_c_in_the_middle_of_a_round(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "EVERY", 1e9)
    X, y = DATA["chain"]
    y = [[None if (i + t) % 4 == 1 else k for t, k in enumerate(row)] for i, row in enumerate(y)]
    options = {**VARIANTS["frank-wolfe"], "tol": 1e-3}
    straight = quietly(make("chain", options), X, y)
    model = make("chain", options, checkpoint=tmp_path / "training")
    rounds = 0

    def look(self, *arguments):
        nonlocal rounds
        rounds += arguments[2].iteration == 1
        if rounds == 3:
            raise KeyboardInterrupt
        return before(self, *arguments)

    before = FrankWolfe._look
    monkeypatch.setattr(FrankWolfe, "_look", look)
    with pytest.raises(KeyboardInterrupt):
        quietly(clone(model), X, y)
    assert [p.name for p in tmp_path.iterdir()] == ["training"]
    assert_same(straight, quietly(model, X, y))


def test_written_now_and_then_only(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "EVERY", 1e9)
    X, y = DATA["chain"]
    model = make("chain", VARIANTS["lbfgs"], checkpoint=tmp_path / "training")
    with pytest.raises(Killed):
        quietly(model.set_params(callbacks=kill_at(6)), X, y)
    assert list(tmp_path.iterdir()) == []


class Sum:
    """A callback that has a state."""

    def __init__(self):
        self.total = np.zeros(1)

    def __call__(self, record):
        self.total = self.total + record["iteration"]

    def dump(self):
        return {"total": self.total}

    def load(self, state):
        self.total = state["total"]


def test_callbacks_go_on_too(tmp_path):
    X, y = DATA["chain"]
    model = make("chain", VARIANTS["lbfgs"], checkpoint=tmp_path / "training")
    with pytest.raises(Killed):
        quietly(clone(model).set_params(callbacks=[Sum(), kill_at(6)]), X, y)
    total = Sum()
    quietly(model.set_params(callbacks=[total, lambda record: None]), X, y)
    assert total.total == sum(range(1, model.n_iter_ + 1))


def test_a_callback_that_stops_is_an_end(tmp_path):
    X, y = DATA["chain"]
    model = make("chain", VARIANTS["lbfgs"], checkpoint=tmp_path / "training")
    model.set_params(callbacks=lambda record: record["iteration"] == 3).fit(X, y)
    assert model.n_iter_ == 3
    assert list(tmp_path.iterdir()) == []


def test_partial_fit_has_none(tmp_path):
    X, y = DATA["chain"]
    path = tmp_path / "training"
    path.write_bytes(b"anything")
    model = StructuredPerceptron(checkpoint=path)
    model.partial_fit(X, y, classes=["D", "N", "V"])
    assert path.read_bytes() == b"anything"


def test_grid_search(tmp_path):
    X, y = DATA["multiclass"]
    model = CRF("multiclass", checkpoint=str(tmp_path / "training"))
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert search.best_estimator_.checkpoint == model.checkpoint
    assert list(tmp_path.iterdir()) == []


# -- files that are none of this training's --------------------------------------------------------


@pytest.fixture
def left(tmp_path):
    """A model with the checkpoint that an earlier training left."""
    X, y = DATA["chain"]
    model = CRF(solver="lbfgs", tol=1e-8, checkpoint=tmp_path / "training")
    interrupted(model, X, y, 5)
    return model, X, y


def refused(model, X, y, message, **fit):
    before = model.checkpoint.read_bytes()
    with pytest.raises(FileError, match=message) as error:
        model.fit(X, y, **fit)
    assert str(model.checkpoint) in str(error.value)
    assert "delete the file to start again" in str(error.value)
    assert model.checkpoint.read_bytes() == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 2.0}, "C was 1.0 and is 2.0"),
        ({"solver": "sgd"}, "solver was 'lbfgs' and is 'sgd'"),
        ({"tol": 1e-3}, "tol was 1e-08 and is 0.001"),
        ({"max_iter": 7}, "max_iter was 1000 and is 7"),
        ({"l1": 0.5}, "l1 was"),
        ({"margin": 1.0}, "margin was"),
        ({"random_state": 1}, "random_state was None and is 1"),
        ({"boundaries": False}, "n_weights was"),
    ],
)
def test_other_parameters(left, parameters, message):
    model, X, y = left
    refused(model.set_params(**parameters), X, y, message)


def test_other_data(left):
    model, X, y = left
    refused(model, X[:-1], y[:-1], "n_examples was 16 and is 15")
    other = [x.copy() for x in X]
    other[7][0, 0] += 1e-9
    refused(model, other, y, r"another training run \(data\)")
    labels = [list(row) for row in y]
    labels[5][0] = "V" if labels[5][0] != "V" else "N"
    refused(model, X, labels, r"another training run \(data\)")
    weights = np.ones(len(X))
    refused(model, X, y, r"another training run \(data\)", sample_weight=weights)


def test_what_does_not_matter(left):
    model, X, y = left
    straight = clone(model).set_params(checkpoint=None).fit(X, y)
    assert_same(straight, model.set_params(n_jobs=2, verbose=0, min_count=0).fit(X, y))


@pytest.mark.parametrize("where", [0.0, 0.05, 0.3, 0.9, 0.999])
def test_a_flipped_bit(left, where):
    model, X, y = left
    content = bytearray(model.checkpoint.read_bytes())
    content[int(where * len(content))] ^= 4
    model.checkpoint.write_bytes(content)
    refused(model, X, y, "damaged")


@pytest.mark.parametrize("size", [0, 3, 24, 40, 200, -1])
def test_a_file_cut_short(left, size):
    model, X, y = left
    model.checkpoint.write_bytes(model.checkpoint.read_bytes()[:size])
    refused(model, X, y, "not a structlearn checkpoint, or damaged")


def test_another_version(left):
    model, X, y = left
    content = model.checkpoint.read_bytes()
    model.checkpoint.write_bytes(content.replace(b'"version":"2"', b'"version":"1"', 1))
    refused(model, X, y, "a checkpoint file of version '1'")


def test_a_model_is_not_a_checkpoint(left):
    model, X, y = left
    write_container(model.checkpoint, {"task": "tagger"}, {})
    refused(model, X, y, "a model for the task 'tagger', not a checkpoint")


def nested(depth):
    """Lists in lists: JSON reads more of them than the reader of values goes down."""
    stored = []
    for _ in range(depth):
        stored = [stored]
    return stored


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"state": 1}, "its parts are inconsistent"),
        ({"state": None}, "its parts are inconsistent"),
        ({"state": nested(600)}, "damaged"),
        ({"state": {"$": "array", "name": "array99"}}, "'array99'"),
        ({"state": {"$": "Popen", "args": "ls"}}, "damaged"),
        ({"watching": {}}, "its parts are inconsistent"),
        ({"belongs_to": []}, "its parts are inconsistent"),
        ({"records": [3]}, "its parts are inconsistent"),
        ({"seconds": "soon"}, "damaged"),
    ],
)
def test_content_that_makes_no_sense(left, changes, message):
    """The checksum is right; what it is of is not."""
    model, X, y = left
    description, tensors = read_container(model.checkpoint)
    copies = {name: Tensor(t.dtype, bytes(t.data), t.shape) for name, t in tensors.items()}
    write_container(model.checkpoint, {**description, **changes}, copies)
    refused(model, X, y, message)


def test_missing_and_misshapen_arrays(left):
    model, X, y = left
    description, tensors = read_container(model.checkpoint)
    copies = {name: Tensor(t.dtype, bytes(t.data), t.shape) for name, t in tensors.items()}
    copies["other"] = copies.pop("array0")
    write_container(model.checkpoint, description, copies)
    refused(model, X, y, "damaged: 'array0'")


def test_other_programs_read_checkpoints(left):
    library = pytest.importorskip("safetensors.numpy")
    model, _, _ = left
    arrays = library.load_file(model.checkpoint)
    assert arrays
    assert all(np.isfinite(a).all() for a in arrays.values())


def test_a_checkpoint_is_not_a_model(left):
    model, _, _ = left
    for load in (structlearn.load, CRF.load):
        with pytest.raises(FileError, match="the checkpoint of a training that has not ended"):
            load(model.checkpoint)


def test_places_that_cannot_hold_a_file(tmp_path):
    X, y = DATA["chain"]
    with pytest.raises(FileError, match="its folder does not exist"):
        CRF(checkpoint=tmp_path / "nowhere" / "training").fit(X, y)
    with pytest.raises(FileError, match="not a regular file"):
        CRF(checkpoint=tmp_path).fit(X, y)
    with pytest.raises(ValueError, match="checkpoint must be None or the name of a file"):
        CRF(checkpoint=3).fit(X, y)


def test_what_cannot_be_written_is_known_at_once(tmp_path):
    X, y = DATA["chain"]
    calls = []
    model = CRF(checkpoint=tmp_path / ("n" * 253), callbacks=calls.append)  # no room for ".part"
    with pytest.raises(FileError, match="cannot be written: File name too long"):
        model.fit(X, y)
    assert not calls


def test_a_full_disk_does_not_end_the_training(tmp_path, monkeypatch):
    X, y = DATA["chain"]

    def full(path, *content):
        raise FileError(path, "cannot be written: No space left on device")

    monkeypatch.setattr(module, "write_container", full)
    model = CRF(checkpoint=tmp_path / "training")
    with pytest.warns(CheckpointWarning, match="No space left on device; training continues"):
        model.fit(X, y)
    np.testing.assert_array_equal(model.coef_["label"], CRF().fit(X, y).coef_["label"])


# -- states as text and arrays ---------------------------------------------------------------------


def test_a_state_survives_with_every_bit():
    numbers = [0.1, -0.0, np.inf, -np.inf, 5e-324, 2**127 + 1, True, None, "ψ"]
    arrays = [np.arange(6.0).reshape(2, 3), np.zeros(0), np.array([True]), np.array(3, np.uint8)]
    round_ = Round(1, *arrays[:2], np.arange(3), np.ones(1), 0.5, 1.0, 2.0, 3)
    state = {"numbers": numbers, "arrays": arrays, "deep": {"round": round_}, "one": np.float64(2)}
    writer = Writer()
    again = Reader("file", writer.tensors).value(writer.value(state))
    assert again["numbers"] == numbers
    assert np.signbit(again["numbers"][1])
    for a, b in zip(arrays, again["arrays"], strict=True):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    assert type(again["deep"]["round"]) is type(round_)
    assert again["one"] == 2.0


def test_a_state_holds_nothing_else():
    for what in (object(), np.array([1j]), lambda: 0, range(3)):
        with pytest.raises(TypeError):
            Writer().value({"what": what})
    for stored in ({"$": "Popen", "args": "ls"}, {"$": "Round", "iteration": 1}):
        with pytest.raises((KeyError, TypeError)):
            Reader("file", {}).value(stored)


@pytest.mark.parametrize("solver", ["lbfgs", "sag", "dual"])
def test_a_state_that_does_not_fit_names_the_file(solver, tmp_path, monkeypatch):
    """The checksum and the training are right, and what is refused is the fault of the file."""
    monkeypatch.setattr(module, "EVERY", 0.0)
    monkeypatch.setattr(module, "SHARE", 1e9)
    path, (X, y) = tmp_path / "checkpoint", sequences(6)

    def stop(record):
        if record["iteration"] == 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        CRF(solver=solver, random_state=0, checkpoint=path, callbacks=stop).fit(X, y)
    description, tensors = read_container(path, "checkpoint")
    arrays = {k: Tensor(t.dtype, bytes(t.data), t.shape) for k, t in tensors.items()}
    name = max(arrays, key=lambda k: len(arrays[k].data))
    arrays[name] = Tensor(arrays[name].dtype, arrays[name].data[:16])
    write_container(path, description, arrays)
    before = path.read_bytes()
    with pytest.raises(FileError, match=r"checkpoint: .*; delete the file to start again"):
        CRF(solver=solver, random_state=0, checkpoint=path).fit(X, y)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("solver", "emptied"),
    [("frank-wolfe", "product"), ("n-slack", "product"), ("one-slack", "idle")],
)
def test_a_state_whose_arrays_do_not_fit_each_other(solver, emptied, tmp_path, monkeypatch):
    """Products of outputs that are not there ended the process."""
    monkeypatch.setattr(module, "EVERY", 0.0)
    monkeypatch.setattr(module, "SHARE", 1e9)
    path, (X, y) = tmp_path / "checkpoint", sequences(6)

    def stop(record):
        if record["iteration"] == 3:
            raise ZeroDivisionError

    model = StructuredSVM(solver=solver, random_state=0, checkpoint=path, callbacks=stop)
    with pytest.raises(ZeroDivisionError):
        model.fit(X, y)
    description, tensors = read_container(path, "checkpoint")
    arrays = {k: Tensor(t.dtype, bytes(t.data), t.shape) for k, t in tensors.items()}
    state = description["state"]["state"]
    held = state["more"]["constraints"] if emptied == "idle" else state["sets"]
    name = held[emptied]["name"]
    arrays[name] = Tensor(arrays[name].dtype, b"")
    write_container(path, description, arrays)
    with pytest.raises(FileError, match=r"checkpoint: .*; delete the file to start again"):
        model.set_params(callbacks=None).fit(X, y)
