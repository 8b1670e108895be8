"""The operators of the tasks: both directions agree, and their losses have their gradients."""

import numpy as np
import pytest

from structlearn.losses import LabelCost, StructuredLoss
from structlearn.structures import Chain
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.tasks.images.pixels import PixelProblem, Pixels
from structlearn.testing import check_scorer
from structlearn.text import Corpus, FeatureTemplates
from tests.tasks.constituents.test_tree_problem import TREES as BRACKETS
from tests.tasks.constituents.test_tree_problem import _problem as brackets_problem
from tests.tasks.dependencies.test_parser_problem import TINY, TREES, problem_of, pruner_problem
from tests.tasks.images.test_image_problem import Small
from tests.tasks.tagging.tagger_data import chunked


def label_problem(tagger, sentences):
    corpus = Corpus.from_sentences(sentences)
    return tagger._fitting(corpus, None).problem()


def tokens(templates, **options):
    return label_problem(Tagger(FeatureTemplates.parse(templates), **options), chunked(12))


def single_pixels():
    rng = np.random.default_rng(6)
    groups = [
        Pixels(rng.normal(size=(9, 4)), np.zeros((9, 3)), rng.integers(0, 3, 9), rng.random(9))
        for _ in range(3)
    ]
    return PixelProblem(groups, 12)


PROBLEMS = {
    "tokens": lambda: tokens("word[-1..1]\npos\nbias", scheme="bio"),
    "tokens, rows filled up": lambda: tokens("pos[-1..1]\nbias", all_possible_states=False),
    "tokens of order 2": lambda: tokens("word\npos", order=2),
    "label pairs": lambda: tokens("word\ntransition: pos[0]\ntransition: word[-1]"),
    "segments": lambda: label_problem(
        SegmentTagger(FeatureTemplates.parse("begin(word)\ninside(pos)\nlength")), chunked(12)
    ),
    "arcs": lambda: problem_of(TREES[:5] + TINY),
    "pairs of arcs": lambda: problem_of(TREES[:5] + TINY, order=2),
    "pruner": lambda: pruner_problem(TREES[:5] + TINY),
    "spans": lambda: brackets_problem(BRACKETS[:6], min_count=1),
    "pixels": lambda: Small(n_classes=3).problem(),
    "single pixels": single_pixels,
}


#: The (margin, temperature) of the losses that not every problem has.
LOSSES = {
    "pruner": [(0.0, 1.0), (0.0, 0.0)],
    "pairs of arcs": [(1.0, 0.0), (0.0, 0.0)],
    "pixels": [(1.0, 0.0), (0.0, 0.0)],
    "single pixels": [(0.0, 1.0), (0.0, 0.0), (0.0, 0.3)],
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_operator_and_gradients(name):
    problem = PROBLEMS[name]()
    every = LOSSES.get(name, [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)])
    report = check_scorer(problem, losses=every)
    assert report.checked["adjoint"] == report.checked["sqnorm"] == 2 * report.n_inputs
    assert all(report.checked.get(f"gradient({m:g}, {t:g})", 0) > 0 for m, t in every)


def without_the_last_part(kept, i, v, a, w):
    value = v.value.copy()
    value[np.flatnonzero(value)[-1:]] = 0.0
    kept(i, type(v)(v.index, value), a, w)


def every_other_part_scaled(kept, i, v, a, w):
    value = v.value.copy()
    value[np.flatnonzero(value)[::2]] *= 1.001
    kept(i, type(v)(v.index, value), a, w)


def a_score_moved(kept, i, w):
    theta = kept(i, w)
    theta[np.flatnonzero(np.isfinite(theta))[0]] += 1e-3
    return theta


def a_longer_gradient(kept, i, w, margin, temperature):
    value, r = kept(i, w, margin, temperature)
    return value, type(r)(r.index, 1.1 * r.value)


PLANTED = {
    "a part is dropped": ("scatter", without_the_last_part, "not the transpose"),
    "parts are scaled": ("scatter", every_other_part_scaled, "not the transpose"),
    "a score is off": ("theta", a_score_moved, "not the transpose"),
    "repeats are not added": ("sqnorm", lambda kept, i, v: 0.999 * kept(i, v), "sqnorm gives"),
    "the gradient is too long": ("loss", a_longer_gradient, "its gradient says"),
}


@pytest.mark.parametrize("bug", PLANTED)
@pytest.mark.parametrize("name", PROBLEMS)
def test_planted_bugs_are_found(name, bug, monkeypatch):
    """Each operator of each task is looked at closely enough to catch a small mistake in it."""
    problem = PROBLEMS[name]()
    operation, change, message = PLANTED[bug]
    kept = getattr(problem, operation)
    monkeypatch.setattr(problem, operation, lambda *given: change(kept, *given))
    with pytest.raises(AssertionError, match=message):
        check_scorer(problem, losses=LOSSES.get(name, [(0.0, 1.0)])[:1])


def test_costs_and_scores_of_losses_are_real():
    with pytest.raises(ValueError, match="Complex data not supported: the label cost"):
        LabelCost(np.array([[0, 1j], [1, 0]]))
    with pytest.raises(ValueError, match="label has complex numbers"):
        StructuredLoss("hamming")(Chain(), [0, 1], label=np.zeros((2, 2), complex))
