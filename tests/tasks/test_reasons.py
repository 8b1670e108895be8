"""What decided an output, for every task and learner: the margin is that of the k-best list.

The runner-up is the best output of the list that differs where a decision is made; contributions
add up to the difference of the two scores.
"""

import math

import pytest

from structlearn.datasets import make_treebank
from structlearn.tasks import ConstituencyParser, DependencyParser, SegmentTagger, Tagger
from tests.tasks.tagging.test_candidates import TRAIN, WIDTH
from tests.tasks.tagging.test_candidates import WORDS as MANY_LABELLED
from tests.tasks.test_kbest_lists import ALL, BANK, LEARNERS, TAGGERS, segments

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*not calibrated", "ignore::structlearn.exceptions.ConvergenceWarning"
)


def assert_reasons(decision, margin):
    assert decision["margin"] == pytest.approx(margin, abs=1e-4)
    assert decision["margin"] >= -1e-6
    values = [value for _, value in decision["contributions"]]
    assert sum(values) == pytest.approx(decision["margin"], abs=1e-4)
    assert values == sorted(values, key=abs, reverse=True)
    assert values or decision["margin"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "learner"),
    [(name, learner) for name in TAGGERS for learner in LEARNERS]
    + [("tags", "hmm"), ("chunks", "hmm")],
)
def test_labels(name, learner):
    make, column = TAGGERS[name]
    tagger = Tagger(learner="hmm") if learner == "hmm" else make(learner)
    rows = [[s.words, s.tags, *([s.chunks] if column == "chunks" else [])] for s in BANK]
    tagger.fit([list(zip(*row, strict=True)) for row in rows])
    words = [["the", "fish"], ["fish"]]
    given = [[(w, "N") for w in s] for s in words] if column == "chunks" else words
    check_labels(tagger, given, ALL)


def check_labels(tagger, given, n):
    lists = tagger.predict_kbest(given, n)
    for ranked, decisions in zip(lists, tagger.explain(given), strict=True):
        score, best = ranked[0]
        for decision in decisions:
            t = decision["position"]
            others = [(s, labels) for s, labels in ranked if labels[t] != best[t]]
            assert decision["label"] == best[t]
            if others:  # those of a short list may all be the same here
                assert_reasons(decision, score - others[0][0])
                assert decision["runner_up"] == others[0][1][t] or others[0][0] == pytest.approx(
                    score - decision["margin"], abs=1e-4
                )


@pytest.mark.parametrize("learner", ["perceptron", "crf", "adagrad"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_candidates(learner, order):
    tagger = Tagger("pos", learner, n_models=1, max_iter=3, candidates=WIDTH, order=order)
    tagger.fit(TRAIN)
    check_labels(tagger, [words[:3] for words in MANY_LABELLED[:20]], 200)


@pytest.mark.parametrize("learner", LEARNERS)
def test_segments(learner):
    rows = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]
    tagger = SegmentTagger(learner=learner, n_models=1, max_iter=2, max_length=3).fit(rows)
    given = [[("the", "DET"), ("fish", "NOUN"), ("sleep", "VERB")], [("fish", "NOUN")]]
    lists = tagger.predict_kbest(given, ALL)
    for ranked, decisions in zip(lists, tagger.explain(given), strict=True):
        for decision in decisions:
            others = [s for s, labels in ranked if decision["label"] not in segments(labels)]
            assert_reasons(decision, ranked[0][0] - others[0])


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    "options", [{"order": 1}, {"order": 1, "projective": True}, {"projective": True}]
)
def test_arcs(learner, options):
    rows = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
    parser = DependencyParser(
        learner=learner, gold_tags=True, hash_bits=12, max_iter=2, least_share=1e-9, **options
    ).fit(rows)
    given = [[("the", "DET"), ("fish", "NOUN"), ("sleep", "VERB")], [("fish", "NOUN")]]
    n_checked = 0
    for ranked, decisions in zip(
        parser.predict_kbest(given, ALL), parser.explain(given), strict=True
    ):
        score, best = ranked[0]
        assert [decision["label"] for decision in decisions] == best
        for decision in decisions:
            m = decision["position"]
            others = [(s, tree[m]) for s, tree in ranked if tree[m] != best[m]]
            if decision["runner_up"] is None:  # there was no choice
                assert (decision["margin"], others) == (math.inf, [])
                continue
            assert_reasons(decision, score - others[0][0])
            assert decision["runner_up"] == others[0][1] or others[0][0] == pytest.approx(
                score - decision["margin"], abs=1e-4
            )
            n_checked += 1
    assert n_checked > 2


def test_arcs_of_second_order():
    """Dual decomposition finds trees that may cross; pairs of arcs are reasons too."""
    rows = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
    parser = DependencyParser(gold_tags=True, hash_bits=12, max_iter=2).fit(rows)
    n_pairs = 0
    for row, decisions in zip(rows[:8], parser.explain(rows[:8]), strict=True):
        assert [d["position"] for d in decisions] == list(range(len(row)))
        for decision in decisions:
            if decision["runner_up"] is None:
                continue
            assert decision["runner_up"] != decision["label"]
            names, values = zip(*decision["contributions"], strict=True)
            assert sum(values) == pytest.approx(decision["margin"], abs=1e-4)
            n_pairs += any("under" in name for name in names)
    assert n_pairs > 5


BRACKETS = [s.brackets for s in make_treebank(60, random_state=0)]


@pytest.mark.parametrize("learner", [*LEARNERS, "pcfg"])
def test_trees(learner):
    options = {"vertical": 1, "horizontal": 0} if learner == "pcfg" else {"max_iter": 2}
    parser = ConstituencyParser(learner, gold_tags=True, **options).fit(BRACKETS[:50])
    n_checked = 0
    for ranked, decisions in zip(
        parser.predict_kbest(BRACKETS[50:], 2), parser.explain(BRACKETS[50:]), strict=True
    ):
        assert len(decisions) == len(ranked) - 1
        for decision in decisions:
            assert [decision["label"], decision["runner_up"]] == [tree for _, tree in ranked]
            assert_reasons(decision, ranked[0][0] - ranked[1][0])
            n_checked += 1
    assert n_checked > 3
