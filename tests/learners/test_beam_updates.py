"""Learning with a beam: where the update is made, step by step, against a slow beam."""

import numpy as np
import pytest

from structlearn.estimators import AROW, PassiveAggressive, StructuredPerceptron
from structlearn.structures import Chain
from tests.learners.learner_transcripts import ChainModel
from tests.learners.test_online_transcripts import chain_data, check
from tests.structures.beam_structures import SteppedChain
from tests.structures.test_beam import prefix_score, slow_beam

WAYS = pytest.mark.parametrize("update_at", ["early", "max-violation", "end"])
K, D = 3, 4


def prefix_phi(model, x, y):
    """The features of the first labels: those of a shorter sequence, less the end."""
    w = model.phi(x[: len(y)], y)
    if len(y) < len(x):
        model.split(w)["end"][y[-1]] -= 1
    return w


def violation(model, w, x, gold, width, update_at, margin):
    """Return the prefixes to update on, and by how much the first outscores the second."""
    blocks = model.split(w)
    label = x @ blocks["label"].T
    if margin:
        label = label + (np.arange(K) != np.asarray(gold)[:, np.newaxis])
    scores = {**blocks, "label": label}
    beams = slow_beam(width, 1, scores)
    amounts = [beam[0][0] - prefix_score(gold[: t + 1], 1, scores) for t, beam in enumerate(beams)]
    gone = [t for t, beam in enumerate(beams) if not any(y[-1] == gold[t] for _, y in beam)]
    if update_at == "early" and gone:
        at = gone[0]
    elif list(beams[-1][0][1]) == gold:
        return None
    elif update_at == "max-violation":
        at = max(range(len(gold)), key=lambda t: (amounts[t], t))
    else:
        at = len(gold) - 1
    found = list(beams[at][0][1])
    return found, gold[: at + 1], amounts[at]


def transcript(model, X, y, max_iter, width, update_at, rule):
    w, visited, invalid = np.zeros(model.size), [], 0
    squares = np.zeros(model.size)
    for _ in range(max_iter):
        for x, gold in zip(X, y, strict=True):
            wrong = violation(model, w, x, gold, width, update_at, rule != "perceptron")
            if wrong is not None:
                found, known, loss = wrong
                delta = prefix_phi(model, x, known) - prefix_phi(model, x, found)
                invalid += loss < 0
                if rule == "perceptron":
                    w = w + delta
                elif rule == "pa" and loss > 0:
                    w = w + min(0.1, loss / (delta @ delta)) * delta
                elif rule == "arow" and loss > 0:
                    S = 1 / (1 + squares)
                    w = w + loss / (delta @ (S * delta) + 1) * S * delta
                    squares = squares + delta**2
            visited.append(w)
    return visited, invalid


LEARNERS = {
    "perceptron": (StructuredPerceptron, {}),
    "pa": (PassiveAggressive, {"C": 0.1}),
    "arow": (AROW, {"r": 1.0}),
}


@WAYS
@pytest.mark.parametrize("rule", LEARNERS)
@pytest.mark.parametrize("width", [1, 2])
def test_transcripts(update_at, rule, width):
    """Features are reals, so that nothing ties but the zero weights of the start."""
    cls, parameters = LEARNERS[rule]
    _, model, X, y = chain_data(whole=False, n=20)
    visited, _ = transcript(model, X, y, 3, width, update_at, rule)
    options = {**parameters, "beam": width, "update_at": update_at}
    options |= {"shuffle": False, "max_iter": 3}
    for structure in ("chain", SteppedChain()):
        last = cls(structure, average=False, **options).fit(X, y)
        check(last, model, visited[-1], atol=1e-11)
        mean = cls(structure, **options).fit(X, y)
        check(mean, model, np.mean(visited, axis=0), atol=1e-11)


def test_only_updates_at_the_end_may_fix_nothing():
    _, model, X, y = chain_data(whole=False, n=30, seed=4)
    for update_at in ("early", "max-violation", "end"):
        options = {"beam": 1, "update_at": update_at, "max_iter": 5, "shuffle": False}
        found = StructuredPerceptron(average=False, **options).fit(X, y)
        _, invalid = transcript(model, X, y, 5, 1, update_at, "perceptron")
        counted = sum(record["invalid_updates"] for record in found.history_)
        assert counted == invalid
        assert (counted > 0) == (update_at == "end")


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("update_at", ["early", "end"])
@pytest.mark.parametrize("average", [True, False])
def test_a_beam_with_room_for_everything_is_exact(order, update_at, average):
    _, _, X, y = chain_data(whole=False, n=30)
    options = {"average": average, "max_iter": 4, "random_state": 0}
    exact = StructuredPerceptron(Chain(order), **options).fit(X, y)
    beam = StructuredPerceptron(Chain(order), beam=K**order, update_at=update_at, **options)
    beam.fit(X, y)
    for name, block in exact.coef_.items():
        np.testing.assert_array_equal(beam.coef_[name], block)
    assert [r["updates"] for r in beam.history_] == [r["updates"] for r in exact.history_]
    for one, two in zip(beam.predict(X), exact.predict(X), strict=True):
        np.testing.assert_array_equal(one, two)


def test_prediction_uses_the_beam():
    _, _, X, y = chain_data(whole=False, n=30)
    for structure in (Chain(2), SteppedChain()):
        model = StructuredPerceptron(structure, beam=1, max_iter=2, random_state=0).fit(X, y)
        problem = model._inputs(X).problem
        greedy = [
            structure.beam(1, **problem.scores(i, model._weights)).output for i in range(len(X))
        ]
        exact = [structure.argmax(**problem.scores(i, model._weights)) for i in range(len(X))]
        assert any((a != b).any() for a, b in zip(greedy, exact, strict=True))
        for one, two in zip(model.predict(X), greedy, strict=True):
            np.testing.assert_array_equal(one, two)


@WAYS
def test_partial_fit(update_at):
    _, _, X, y = chain_data(whole=False, n=20)
    going = StructuredPerceptron(Chain(2), beam=2, update_at=update_at)
    for _ in range(3):
        going.partial_fit(X, y, classes=[0, 1, 2])
    whole = StructuredPerceptron(
        Chain(2), beam=2, update_at=update_at, max_iter=3, shuffle=False
    ).fit(X, y)
    for name, block in whole.coef_.items():
        np.testing.assert_array_equal(going.coef_[name], block)


def test_what_a_beam_cannot_do():
    _, _, X, y = chain_data(whole=False)
    unknown = [[None, *labels[1:]] for labels in y]
    with pytest.raises(ValueError, match="example 0: a beam has to know every label"):
        StructuredPerceptron(beam=2).fit(X, [unknown[0], *y[1:]])
    with pytest.raises(ValueError, match="zero-one cost does not come in steps"):
        PassiveAggressive(beam=2, cost="zero-one").fit(X, y)


def test_it_learns():
    """Separable sequences: every way but the greedy end finds weights without mistakes."""
    rng = np.random.default_rng(1)
    model = ChainModel(K, D)
    w = rng.normal(size=model.size)
    X = [rng.normal(size=(5, D)) for _ in range(20)]
    y = [model.argmax(w, x) for x in X]
    for update_at in ("early", "max-violation"):
        learner = StructuredPerceptron(
            beam=2, update_at=update_at, average=False, max_iter=500, random_state=0
        ).fit(X, y)
        assert learner.score(X, y) == 1
        assert learner.history_[-1]["updates"] == 0
