"""The steps after a mistake, against loops over dictionaries written from their definitions."""

import math

import numpy as np
import pytest

from structlearn.crfsuite.algorithms import Log, cost_of, run_algorithm
from structlearn.crfsuite.parameters import ALGORITHMS
from structlearn.crfsuite.training_data import TrainingData
from structlearn.structures import Chain

PASSES, SEED = 4, 5
LABELS = ["A", "B", "C"]


def made(seed):
    """Sequences of few attributes, repeats among them, and three labels."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(9):
        n = int(rng.integers(1, 6))
        X.append([
            [(f"a{int(a)}", float(rng.choice([1.0, 0.5, -0.25]))) for a in rng.integers(0, 5, 3)]
            for _ in range(n)
        ])  # fmt: skip
        y.append([LABELS[int(k)] for k in rng.integers(0, 3, n)])
    y[0], X[0] = LABELS, X[0][:1] * 3  # all labels, in the order of their numbers
    return X, y


def phi(x, y):
    """Φ(x, y) over all attributes with labels, and pairs of labels."""
    found = {}
    for t, (token, label) in enumerate(zip(x, y, strict=True)):
        entries = [((name, label), value) for name, value in token]
        if t:
            entries.append(((y[t - 1], label), 1.0))
        for key, value in entries:
            found[key] = found.get(key, 0.0) + value
    return found


def best(x, w):
    """The best output; the structure is an oracle's, ties are broken as they always are."""
    U = np.array([[sum(v * w.get((a, k), 0.0) for a, v in token) for k in LABELS] for token in x])
    T = np.array([[w.get((j, k), 0.0) for k in LABELS] for j in LABELS])
    return [LABELS[k] for k in Chain().argmax(label=U, transition=T)]


def transcript(X, y, step, averaging):
    """Weights, and the losses and costs of each pass."""
    features = set().union(*(phi(x, gold) for x, gold in zip(X, y, strict=True)))
    counts = {}
    for x, gold in zip(X, y, strict=True):
        for key, value in phi(x, gold).items():
            counts[key] = counts.get(key, 0.0) + value
    features = {key for key in features if counts[key] >= 0}
    w = dict.fromkeys(features, 0.0)
    totals, n, losses = dict(w), 0, []
    rng = np.random.default_rng(SEED)
    for _ in range(PASSES):
        loss = share = 0.0
        for i in rng.permutation(len(X)):
            found = best(X[i], w)
            right, other = phi(X[i], y[i]), phi(X[i], found)
            delta = {k: right.get(k, 0.0) - other.get(k, 0.0) for k in features}
            wrong = sum(a != b for a, b in zip(found, y[i], strict=True))
            if wrong and any(delta.values()):
                violation = -sum(w[k] * v for k, v in delta.items())
                changes, cost = step(delta, violation, wrong)
                for k, change in changes.items():
                    w[k] += change
                loss += cost
                share += wrong / len(found)
            n += 1
            for k in features:
                totals[k] += w[k]
        losses.append((loss, share))
    return {k: totals[k] / n if averaging else w[k] for k in features}, losses


def perceptron(_):
    return lambda delta, violation, wrong: (delta, violation)


def passive_aggressive(p):
    def step(delta, violation, wrong):
        cost = violation + (math.sqrt(wrong) if p["error_sensitive"] else 1.0)
        norm = sum(v * v for v in delta.values())
        tau = {0: cost / norm, 1: min(p["c"], cost / norm), 2: cost / (norm + 0.5 / p["c"])}
        return {k: tau[p["type"]] * v for k, v in delta.items()}, cost

    return step


def arow(p):
    variance = {}

    def step(delta, violation, wrong):
        cost = violation + wrong
        S = {k: variance.get(k, p["variance"]) for k in delta}
        alpha = cost / (p["gamma"] + sum(S[k] * v * v for k, v in delta.items()))
        for k, v in delta.items():
            variance[k] = 1.0 / (1.0 / S[k] + v * v / p["gamma"])
        return {k: alpha * S[k] * v for k, v in delta.items()}, cost

    return step


CASES = [
    ("averaged-perceptron", perceptron, {}),
    ("passive-aggressive", passive_aggressive, {}),
    ("passive-aggressive", passive_aggressive, {"type": 0}),
    ("passive-aggressive", passive_aggressive, {"type": 2, "c": 0.3}),
    ("passive-aggressive", passive_aggressive, {"c": 0.05, "averaging": False}),
    ("passive-aggressive", passive_aggressive, {"error_sensitive": False}),
    ("arow", arow, {}),
    ("arow", arow, {"variance": 0.2, "gamma": 3.0}),
]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("algorithm", "rule", "given"), CASES)
def test_weights_and_losses(algorithm, rule, given, seed):
    X, y = made(seed)
    known = ALGORITHMS[algorithm]
    p = {name: given.get(name, parameter.default) for name, parameter in known.items()}
    p["max_iterations"], p["epsilon"] = PASSES, -1.0
    averaging = algorithm == "averaged-perceptron" or bool(p.get("averaging"))
    expected, losses = transcript(X, y, rule(p), averaging)

    data = TrainingData()
    for x, labels in zip(X, y, strict=True):
        data.append(x, labels, 0)
    train, _ = data.groups(-1)
    layout = data.features(train, least=0.0, all_states=False, all_transitions=False).layout()
    lines = []
    problem = data.problem(train, layout, cost_of(algorithm))
    log = Log(lines.append, None)
    w = run_algorithm(algorithm, problem, p, log, random_state=SEED, n_jobs=1)
    assert data.labels == LABELS
    row_ptr, column, weight, transition = data.arrays(layout, w)
    found = {
        (attribute, LABELS[column[j]]): weight[j]
        for a, attribute in enumerate(data.attributes)
        for j in range(row_ptr[a], row_ptr[a + 1])
    }
    for i, j in np.ndindex(3, 3):
        found[LABELS[i], LABELS[j]] = transition[i, j]
    for key in found.keys() | expected.keys():
        assert found.get(key, 0.0) == pytest.approx(expected.get(key, 0.0), rel=1e-9, abs=1e-12)
    told = [float(line.split()[1]) for line in lines if line.startswith("Loss: ")]
    wanted = [share if algorithm == "averaged-perceptron" else loss for loss, share in losses]
    assert told == pytest.approx(wanted, abs=1e-6)
