"""CRFsuite's trainers and ours, on the same data: features, objectives, logs."""

import math
import re

import pytest

from structlearn import crfsuite
from structlearn.crfsuite.log_parser import TrainLogParser
from structlearn.crfsuite.parameters import ALGORITHMS
from tests.crfsuite.data import sentences

pycrfsuite = pytest.importorskip("pycrfsuite")

NAMES = ("lbfgs", "l2sgd", "ap", "pa", "arow")


def trained(library, path, algorithm, parameters, held=0):
    X, y = sentences()
    trainer = library.Trainer(algorithm, verbose=False)
    for i, (xseq, yseq) in enumerate(zip(X, y, strict=True)):
        trainer.append(xseq, yseq, int(held > 0 and i % held == 0))
    trainer.set_params(parameters)
    trainer.train(str(path), 1 if held else -1)
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return trainer.logparser, tagger


def objective(tagger, c1, c2, held=0):
    """CRFsuite's own loss of a model on the data, from CRFsuite's own probabilities."""
    X, y = sentences()
    total = 0.0
    for i, (xseq, yseq) in enumerate(zip(X, y, strict=True)):
        if held and i % held == 0:
            continue
        tagger.set(xseq)
        total -= math.log(tagger.probability(yseq))
    info = tagger.info()
    weights = [*info.state_features.values(), *info.transitions.values()]
    return total + c2 * sum(w * w for w in weights) + c1 * sum(map(abs, weights))


@pytest.mark.parametrize("algorithm", NAMES)
def test_parameters(algorithm):
    theirs, ours = pycrfsuite.Trainer(algorithm), crfsuite.Trainer(algorithm)
    assert ours.params() == theirs.params()
    assert ours.get_params() == theirs.get_params()
    for name, value in theirs.get_params().items():
        assert type(ours.get(name)) is type(value)
        assert ours.help(name)
    changed = {name: "3" for name in ours.params() if name != "linesearch"}
    theirs.set_params(changed)
    ours.set_params(changed)
    assert ours.get_params() == theirs.get_params()


def test_every_algorithm_is_here():
    for name in ALGORITHMS:
        pycrfsuite.Trainer(name)


SMOOTH = [
    {},
    {"c2": 0.05, "max_iterations": 30},
    {"c1": 1.0, "c2": 0.0},
    {"c1": 0.1, "c2": 0.1},
    {"c1": 0.05, "c2": 1e-3, "max_iterations": 50},
    {"feature.minfreq": 3},
    {"feature.minfreq": 1.5, "feature.possible_states": True},
    {"feature.possible_states": True, "feature.possible_transitions": True},
    {"num_memories": 3, "period": 5, "delta": 1e-3},
    {"epsilon": 1e-2},
    {"max_iterations": 2},
]


@pytest.mark.parametrize("parameters", SMOOTH, ids=str)
def test_lbfgs_ends_at_the_same_objective(tmp_path, parameters):
    c1, c2 = parameters.get("c1", 0.0), parameters.get("c2", 1.0)
    logs, losses, counts = [], [], []
    for library in (pycrfsuite, crfsuite):
        log, tagger = trained(library, tmp_path / library.__name__, "lbfgs", parameters, held=4)
        logs.append(log)
        losses.append(objective(tagger, c1, c2, held=4))
        info = tagger.info()
        counts.append((list(info.labels), set(info.attributes), len(info.transitions)))
    theirs, ours = logs
    assert ours.featgen_num_features == theirs.featgen_num_features
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)
    # What the log says is the loss of the model.
    assert ours.last_iteration["loss"] == pytest.approx(losses[1], rel=1e-6)
    # The same quasi-Newton steps: not one more than a few per cent of them.
    n = theirs.last_iteration["num"]
    assert abs(ours.last_iteration["num"] - n) <= max(1, 0.1 * n)
    if c1 == 0:
        assert counts[0] == counts[1]


@pytest.mark.parametrize("c2", [1.0, 0.1])
def test_l2sgd_comes_as_close_to_the_optimum(tmp_path, c2):
    parameters = {"c2": c2, "max_iterations": 200}
    losses = {}
    for library in (pycrfsuite, crfsuite):
        log, tagger = trained(library, tmp_path / "model", "l2sgd", parameters)
        losses[library] = objective(tagger, 0.0, c2)
        text = "".join(log.log)
        assert "Calibrating the learning rate (eta)\ncalibration.eta: 0.100000\n" in text
    _, tagger = trained(crfsuite, tmp_path / "best", "lbfgs", {"c2": c2, "delta": 1e-9})
    optimum = objective(tagger, 0.0, c2)
    for loss in losses.values():
        assert optimum * (1 - 1e-6) <= loss <= 1.01 * optimum
    assert losses[crfsuite] == pytest.approx(losses[pycrfsuite], rel=5e-3)


@pytest.mark.parametrize(
    ("algorithm", "parameters"),
    [
        ("ap", {}),
        ("pa", {}),
        ("pa", {"type": 0}),
        ("pa", {"type": 2, "c": 0.1}),
        ("pa", {"error_sensitive": False, "averaging": False}),
        ("arow", {}),
        ("arow", {"variance": 0.1, "gamma": 3.0}),
    ],
)
def test_online_learners_see_the_same_features(tmp_path, algorithm, parameters):
    """Orders are random, so weights differ: features and accuracies do not, or little."""
    accuracies = []
    for library in (pycrfsuite, crfsuite):
        parameters = {**parameters, "max_iterations": 12, "feature.possible_transitions": True}
        log, tagger = trained(library, tmp_path / "model", algorithm, parameters, held=3)
        features = log.featgen_num_features, tagger.labels()
        accuracies.append((log.last_iteration["item_accuracy_float"], features))
    (theirs, of_theirs), (ours, of_ours) = accuracies
    assert of_theirs == of_ours
    assert abs(theirs - ours) < 0.06


def test_the_log_is_written_alike(tmp_path):
    """But for times and the last decimals every line is CRFsuite's."""

    def lines(log):
        text = "".join(log.log)
        text = re.sub(r"(Seconds required[^:]*|Total seconds[^:]*): [\d.]+", r"\1: -", text)
        text = re.sub(r"(Line search step): [\d.]+", r"\1: -", text)
        return re.sub(r"(\d\.\d{2})\d{4}", r"\1", text).splitlines()

    parameters = {"max_iterations": 3, "feature.minfreq": 2}
    logs = [trained(lib, tmp_path / "m", "lbfgs", parameters, held=4)[0]
            for lib in (pycrfsuite, crfsuite)]  # fmt: skip
    assert lines(logs[0]) == lines(logs[1])
    assert len(lines(logs[0])) > 80


@pytest.mark.parametrize("algorithm", NAMES)
def test_logs_are_read_alike(tmp_path, algorithm):
    parameters = {"max_iterations": 3}
    for library in (pycrfsuite, crfsuite):
        theirs, _ = trained(library, tmp_path / "model", algorithm, parameters, held=4)
        ours = TrainLogParser()
        for line in theirs.log:
            ours.feed(line)
        assert ours.events == [*map(tuple, theirs.events)]
        assert ours.last_log == theirs.last_log
        for name in ("featgen_percent", "featgen_num_features", "featgen_seconds",
                     "training_seconds", "storing_seconds"):  # fmt: skip
            # Theirs takes a storing time of 0.000 for none.
            assert getattr(ours, name) == pytest.approx(getattr(theirs, name) or 0.0)
        assert len(ours.iterations) == len(theirs.iterations)
        for mine, other in zip(ours.iterations, theirs.iterations, strict=True):
            scores = {k: tuple(v) for k, v in mine.pop("scores").items()}
            assert scores == {k: tuple(v) for k, v in other["scores"].items()}
            assert mine == {k: v for k, v in other.items() if k != "scores"}
