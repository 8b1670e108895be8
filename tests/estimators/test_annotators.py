"""The model of annotators: against enumeration, and against a made truth."""

import itertools
import math
import random

import numpy as np
import pytest

from structlearn.estimators import AnnotatorModel, majority_vote
from structlearn.metrics import token_accuracy

LABELS = ["A", "B", "C"]


def draw_answer(draw, labels):
    chance = draw.random()
    if chance < 0.15:
        return None
    return frozenset(draw.sample(labels, 2)) if chance < 0.3 else draw.choice(labels)


def tiny(seed, n=3):
    draw = random.Random(seed)
    return [
        {name: [draw_answer(draw, LABELS) for _ in range(length)]
         for name in ("x", "y", "z") if name == "x" or draw.random() < 0.8}
        for length in (draw.randint(1, 3) for _ in range(n))
    ]  # fmt: skip


def allowed(answer):
    return LABELS if answer is None else [answer] if isinstance(answer, str) else list(answer)


def enumerated(model, sentence):
    """Return all labellings with their weights, P(z, answers)."""
    length = len(sentence["x"])
    found = {}
    for z in itertools.product(range(3), repeat=length):
        p = 1.0
        for t, k in enumerate(z):
            first = t == 0 or not model.sequence
            p *= model.prior_[k] if first else model.transition_[z[t - 1], k]
            for name, row in sentence.items():
                if row[t] is not None:
                    p *= sum(model.confusion_[name][k, LABELS.index(a)] for a in allowed(row[t]))
        found[z] = p
    return found


def all_labels(answers):
    """Answers in which each label is there."""
    return [*answers, {"x": LABELS, "y": LABELS, "z": LABELS}]


@pytest.mark.parametrize("sequence", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_a_round_of_em_against_enumeration(seed, sequence):
    answers = all_labels(tiny(seed))
    model = AnnotatorModel(sequence, max_iter=4, tol=0).fit(answers)
    again = AnnotatorModel(sequence, max_iter=5, tol=0).fit(answers)
    # What the fifth round has to learn from the parameters of the fourth, by enumeration.
    confusion = {name: np.full((3, 3), model.alpha) for name in model.confusion_}
    prior, pairs, likelihood = np.full(3, model.alpha), np.full((3, 3), model.alpha), 0.0
    for sentence in answers:
        weights = enumerated(model, sentence)
        total = sum(weights.values())
        likelihood += math.log(total)
        for z, p in weights.items():
            for t, k in enumerate(z):
                if t == 0 or not sequence:
                    prior[k] += p / total
                else:
                    pairs[z[t - 1], k] += p / total
                for name, row in sentence.items():
                    if row[t] is not None:
                        share = [model.confusion_[name][k, LABELS.index(a)]
                                 if a in allowed(row[t]) else 0.0 for a in LABELS]  # fmt: skip
                        confusion[name][k] += p / total * np.array(share) / sum(share)
    for name, counts in confusion.items():
        expected = counts / counts.sum(axis=1, keepdims=True)
        assert np.allclose(again.confusion_[name], expected, atol=1e-10)
    assert np.allclose(again.prior_, prior / prior.sum(), atol=1e-10)
    if sequence:
        assert np.allclose(again.transition_, pairs / pairs.sum(axis=1, keepdims=True), atol=1e-10)
    tables = [*model.confusion_.values(), model.prior_, *([model.transition_] * sequence)]
    bonus = model.alpha * sum(np.log(t).sum() for t in tables)
    assert math.isclose(model.objective_[-1], likelihood + bonus, rel_tol=1e-10)


@pytest.mark.parametrize("sequence", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_the_consensus_against_enumeration(seed, sequence):
    answers = all_labels(tiny(seed))
    model = AnnotatorModel(sequence, max_iter=5).fit(answers)
    assert np.all(np.diff(model.objective_[1:]) >= -1e-9)  # EM never loses
    for sentence, found in zip(answers, model.consensus(answers), strict=True):
        weights = enumerated(model, sentence)
        total = sum(weights.values())
        chosen = tuple(map(LABELS.index, found.labels))
        assert math.isclose(weights[chosen], max(weights.values()), rel_tol=1e-9)
        for t, p in enumerate(found.confidence):
            share = sum(w for z, w in weights.items() if z[t] == chosen[t]) / total
            assert math.isclose(p, share, rel_tol=1e-9)


def crowd(seed, n=200, careful=(0.9, 0.55, 0.55, 0.5, 0.5)):
    """Chunks with a made truth, and annotators that are right with a given probability."""
    draw, truth, answers = random.Random(seed), [], []
    labels = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    for _ in range(n):
        row = []
        while len(row) < 12:
            kind = draw.choice(["O", "O", "O", "PER", "LOC"])
            row += ["O"] if kind == "O" else [f"B-{kind}", *[f"I-{kind}"] * draw.randint(0, 2)]
        truth.append(row)
        given = {}
        for j, skill in enumerate(careful):
            if draw.random() < 0.8:
                given[f"ann{j}"] = [
                    k if draw.random() < skill else draw.choice(labels) for k in row
                ]
        answers.append(given or {"ann0": list(row)})
    return truth, answers


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_better_than_the_majority_on_a_made_truth(seed):
    truth, answers = crowd(seed)
    votes = majority_vote(answers)
    models = {s: AnnotatorModel(sequence=s).fit(answers) for s in (False, True)}
    labels = {s: [c.labels for c in m.consensus(answers)] for s, m in models.items()}
    vote, alone, chain = (token_accuracy(truth, y) for y in (votes, labels[False], labels[True]))
    assert vote + 0.02 < alone < chain
    # Who is careful is found, and confidence is honest.
    assert max(models[True].accuracy_, key=models[True].accuracy_.get) == "ann0"
    found = models[True].consensus(answers)
    sure = [p for c in found for p in c.confidence]
    assert abs(np.mean(sure) - chain) < 0.03
    # Labels of chunks are legal.
    for c in found:
        assert all(k[:2] != "I-" or b[2:] == k[2:] for b, k in itertools.pairwise(["O", *c.labels]))


def test_answers_are_checked():
    with pytest.raises(ValueError, match=r"sentence 0: the annotators give \[1, 2\] labels"):
        AnnotatorModel().fit([{"a": ["X"], "b": ["X", "X"]}])
    with pytest.raises(ValueError, match="there are no answers"):
        AnnotatorModel().fit([{"a": [None]}])
    with pytest.raises(ValueError, match="alpha must be above 0"):
        AnnotatorModel(alpha=0).fit([{"a": ["X"]}])
    model = AnnotatorModel().fit([{"a": ["X", "Y"]}])
    with pytest.raises(ValueError, match="does not know the annotator 'b'"):
        model.consensus([{"b": ["X"]}])
    assert majority_vote([{"a": ["X", None], "b": ["Y", None]}]) == [["X", None]]
