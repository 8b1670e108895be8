"""The operators of the tasks: both directions agree, and their losses have their gradients."""

import numpy as np
import pytest

from structlearn.losses import LabelCost, StructuredLoss
from structlearn.structures import Chain
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.testing import check_scorer
from structlearn.text import Corpus, FeatureTemplates, SegmentTemplates
from tests.tasks.constituents.test_tree_problem import TREES as BRACKETS
from tests.tasks.constituents.test_tree_problem import _problem as brackets_problem
from tests.tasks.dependencies.test_parser_problem import TINY, TREES, problem_of, pruner_problem
from tests.tasks.tagging.tagger_data import chunked


def label_problem(tagger, sentences):
    corpus = Corpus.from_sentences(sentences)
    return tagger._fitting(corpus, None, None).problem()


def tokens(templates, **options):
    return label_problem(Tagger(FeatureTemplates.parse(templates), **options), chunked(12))


PROBLEMS = {
    "tokens": lambda: tokens("word[-1..1]\npos\nbias", scheme="bio"),
    "tokens, rows filled up": lambda: tokens("pos[-1..1]\nbias", all_possible_states=False),
    "tokens of order 2": lambda: tokens("word\npos", order=2),
    "label pairs": lambda: tokens("word\ntransition: pos[0]\ntransition: word[-1]"),
    "segments": lambda: label_problem(
        SegmentTagger(SegmentTemplates.parse("begin(word)\ninside(pos)\nlength")), chunked(12)
    ),
    "arcs": lambda: problem_of(TREES[:5] + TINY),
    "pairs of arcs": lambda: problem_of(TREES[:5] + TINY, order=2),
    "pruner": lambda: pruner_problem(TREES[:5] + TINY),
    "spans": lambda: brackets_problem(BRACKETS[:6], min_count=1),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_operator_and_gradients(name):
    problem = PROBLEMS[name]()
    losses = {
        "pruner": [(0.0, 0.0), (0.0, 1.0)],
        "pairs of arcs": [(0.0, 0.0), (1.0, 0.0)],
    }
    every = losses.get(name, [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)])
    report = check_scorer(problem, losses=every)
    assert report.checked["adjoint"] == report.checked["sqnorm"] == 2 * report.n_inputs
    assert all(report.checked.get(f"gradient({m:g}, {t:g})", 0) > 0 for m, t in every)


def test_costs_and_scores_of_losses_are_real():
    with pytest.raises(ValueError, match="Complex data not supported: the label cost"):
        LabelCost(np.array([[0, 1j], [1, 0]]))
    with pytest.raises(ValueError, match="label has complex numbers"):
        StructuredLoss("hamming")(Chain(), [0, 1], label=np.zeros((2, 2), complex))
