"""A parser as a learning problem: operator and adjoint, losses, inference against all trees."""

import itertools
import math
import warnings

import numpy as np
import pytest

from structlearn import _core
from structlearn.datasets import make_treebank
from structlearn.exceptions import ConvergenceWarning, InexactInferenceWarning
from structlearn.fitting.presets import PRESETS
from structlearn.fitting.task_learning import learn_task
from structlearn.learners.orders import Orders
from structlearn.problem import Problem
from structlearn.problem.parts import PartVector
from structlearn.structures.trees.heads import all_heads, is_projective
from structlearn.tasks import DependencyParser
from structlearn.tasks.dependencies.training import ParserFitting
from structlearn.text.dependency_treebank import read_treebank
from tests.learners.convex_reference import Enumerated

TREES = [
    list(zip(s.words, s.tags, s.heads, s.deprels, strict=True))
    for s in make_treebank(60, random_state=0)
]
#: Of a few words and relations, so that all trees can be listed.
TINY = [
    [("dogs", "N", 2, "s"), ("sleep", "V", 0, "root"), ("well", "R", 2, "m")],
    [("big", "J", 2, "m"), ("dogs", "N", 3, "s"), ("see", "V", 0, "root"), ("us", "N", 3, "o")],
    [("sleep", "V", 0, "root"), ("well", "R", 1, "m")],
    [("go", "V", 0, "root")],
    [("we", "N", 4, "s"), ("it", "N", 4, "o"), ("now", "R", 4, "m"), ("do", "V", 0, "root")],
]
EVERYTHING = {"most_heads": 100, "least_share": 1e-300}


def problem_of(trees, order=1, learner="passive-aggressive", **options):
    """The problem that a parser would learn from."""
    options = {"hash_bits": 10, "gold_tags": True, **options}
    parser = DependencyParser(order, learner, **options)
    return ParserFitting(parser, read_treebank(trees)).problem()


def pruner_problem(trees):
    treebank = _core.ParserTreebank(read_treebank(trees).core, [None] * 3, False)
    return Problem(treebank.pruner_problem(10, None))


def sentence_lengths(trees):
    return [len(tree) for tree in trees]


@pytest.mark.parametrize("kind", ["order 1", "order 2", "pruner"])
def test_the_adjoint(kind):
    """⟨A w, v⟩ = ⟨w, Aᵀ v⟩ for dense and sparse v, whose parts have features of every kind."""
    trees = TREES[:6] + TINY
    problem = pruner_problem(trees) if kind == "pruner" else problem_of(trees, int(kind[-1]))
    rng = np.random.default_rng(0)
    for i in range(problem.n_examples):
        w = rng.normal(size=problem.n_weights)
        theta = problem.theta(i, w)
        legal = np.flatnonzero(np.isfinite(theta))
        assert len(theta) == problem.n_parts(i)
        v = np.zeros(len(theta))
        v[legal] = rng.normal(size=len(legal))
        few = rng.choice(legal, size=min(9, len(legal)), replace=False).astype(np.uint32)
        for given in (PartVector(None, v), PartVector(few, v[few])):
            gathered = np.zeros(problem.n_weights)
            problem.scatter(i, given, 1.0, gathered)
            assert problem.dot(theta, given) == pytest.approx(w @ gathered, rel=1e-9, abs=1e-9)
            assert problem.sqnorm(i, given) == pytest.approx(gathered @ gathered)


def test_every_kind_of_part_has_features():
    """Arcs with labels, siblings and grandparents: no block scores zero everywhere."""
    first, second = problem_of(TREES[:5]), problem_of(TREES[:5], 2)
    w = np.random.default_rng(1).normal(size=first.n_weights)
    arcs, both = first.theta(0, w), second.theta(0, w)
    np.testing.assert_array_equal(arcs, both[: len(arcs)])
    pairs = both[len(arcs) :]
    assert np.isfinite(pairs).all()
    assert (pairs != 0).mean() > 0.4


@pytest.mark.parametrize(
    ("order", "projective", "margin", "temperature"),
    [
        (1, False, 0, 1),
        (1, True, 0, 1),
        (1, False, 1, 0.7),
        (1, False, 1, 0),
        (2, True, 1, 0),
        (2, True, 0, 1),
        (2, True, 1, 0.7),
    ],
)
def test_finite_differences(order, projective, margin, temperature):
    problem = problem_of(TREES[:4] + TINY, order, projective=projective)
    rng = np.random.default_rng(2)
    w = 0.1 * rng.normal(size=problem.n_weights)
    loss, gradient = problem.total_loss(w, margin, temperature)
    assert loss > 0
    for _ in range(4):
        d = rng.normal(size=len(w))
        d /= np.linalg.norm(d)
        h = 1e-5
        ahead, _ = problem.total_loss(w + h * d, margin, temperature, gradient=False)
        behind, _ = problem.total_loss(w - h * d, margin, temperature, gradient=False)
        assert (ahead - behind) / (2 * h) == pytest.approx(gradient @ d, rel=1e-4, abs=1e-6)


def all_outputs(problem, i, tree, labels, projective):
    """Every legal output as (parts, cost): heads and relations listed one by one.

    Nothing is pruned: the arcs of word m come from heads 0..n without m, in ascending order.
    """
    allowed = np.isfinite(problem.theta(i, np.zeros(problem.n_weights)))
    n, width = len(tree), -(-len(labels) // 16) * 16
    found = []
    for heads in all_heads(n, projective=projective, single_root=True):
        choices = []
        for m, h in enumerate(heads.tolist(), 1):
            first = ((m - 1) * n + (h if h < m else h - 1)) * width
            _, _, head, label = tree[m - 1]
            costs = [0.5 * (h != head) + 0.5 * (h != head or name != label) for name in labels]
            choices.append([(first + k, c) for k, c in enumerate(costs) if allowed[first + k]])
        for chosen in itertools.product(*choices):
            found.append(([j for j, _ in chosen], sum(c for _, c in chosen)))
    return found


def labels_of(trees):
    """The relations, in the order in which the core numbers them."""
    return _core.ParserTreebank(read_treebank(trees).core, [None] * 3, False).labels


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_order_one_against_all_trees(projective, margin):
    """Losses, best trees and marginals; a wrong head costs half, and so does a wrong relation."""
    problem = problem_of(TINY, projective=projective, **EVERYTHING)
    rng = np.random.default_rng(3)
    for i, tree in enumerate(TINY):
        w = 0.5 * rng.normal(size=problem.n_weights)
        theta = problem.theta(i, w)
        outputs = all_outputs(problem, i, tree, labels_of(TINY), projective)
        values = np.array([theta[parts].sum() + margin * cost for parts, cost in outputs])
        gold = [k for k, (_, cost) in enumerate(outputs) if cost == 0]
        assert len(gold) == 1  # the gold tree is among them, and no other one costs nothing
        clamp = values[gold[0]]
        assert problem.loss(i, w, margin, 0.0)[0] == pytest.approx(values.max() - clamp)
        _, p = problem.infer(i, w, margin, 0.0)
        assert sorted(p.index.tolist()) == sorted(outputs[int(values.argmax())][0])
        for temperature in (1.0, 0.3):
            total = temperature * np.logaddexp.reduce(values / temperature)
            loss, r = problem.loss(i, w, margin, temperature)
            assert loss == pytest.approx(total - clamp)
            expected = np.zeros(len(theta))
            for (parts, cost), value in zip(outputs, values, strict=True):
                expected[parts] += math.exp((value - total) / temperature) - (cost == 0)
            np.testing.assert_allclose(r.value, expected, atol=1e-9)


def second_order_parts(heads, n):
    """How many siblings and grandparents a tree has: counted from its heads alone."""
    grands = sum(1 for m, h in enumerate(heads, 1) if h > 0)
    children = len(heads)
    return 2 * (n + 1) + children, grands


@pytest.mark.parametrize("projective", [False, True])
def test_order_two_against_all_trees(projective):
    """The best tree under arcs, siblings and grandparents: the score of a tree is ⟨θ, μ(tree)⟩.

    μ(tree) of a given tree comes from a problem whose gold tree it is.
    """
    problem = problem_of(TINY, 2, projective=projective, training_iterations=500, **EVERYTHING)
    rng = np.random.default_rng(4)
    proven = 0
    for i, n in enumerate(sentence_lengths(TINY)):
        w = 0.3 * rng.normal(size=problem.n_weights)
        theta = problem.theta(i, w)
        candidates = []
        for heads in all_heads(n, projective=projective, single_root=True):
            changed = list(TINY)
            changed[i] = [
                (word, tag, h, "root" if h == 0 else label if label != "root" else "m")
                for (word, tag, _, label), h in zip(TINY[i], heads.tolist(), strict=True)
            ]
            other = problem_of(changed, 2, projective=projective, **EVERYTHING)
            gold = gold_parts(other, i)
            candidates.append((heads.tolist(), gold))
            siblings, grands = second_order_parts(heads.tolist(), n)
            assert len(gold) == n + siblings + grands
        width = 16
        n_arcs = n * n
        best = -np.inf
        for heads, gold in candidates:
            score = 0.0
            for j in gold.tolist():
                if j >= n_arcs * width:
                    score += theta[j]
            for m, h in enumerate(heads, 1):
                place = (m - 1) * n + (h if h < m else h - 1)
                score += theta[place * width : (place + 1) * width].max()
            best = max(best, score)
        before = problem.inexact.under
        value, p = problem.infer(i, w, 0.0, 0.0)
        exact = problem.inexact.under == before
        proven += exact
        assert value == pytest.approx(problem.dot(theta, p))
        assert value <= best + 1e-9
        if exact:
            assert value == pytest.approx(best)
    assert proven == len(TINY) if projective else proven >= 3


def gold_parts(problem, i):
    """The parts of the gold output: p − ∇loss at ε = 0."""
    w = np.zeros(problem.n_weights)
    _, p = problem.infer(i, w, 0.0, 0.0)
    _, r = problem.loss(i, w, 0.0, 0.0)
    counts = np.zeros(problem.n_parts(i))
    counts[p.index] += p.value
    counts[r.index] -= r.value
    assert set(np.unique(counts)) <= {0.0, 1.0}
    return np.flatnonzero(counts)


def test_sums_of_order_two_are_refused():
    problem = problem_of(TINY, 2)
    with pytest.raises(ValueError, match="order 1"):
        problem.loss(0, np.zeros(problem.n_weights), 0.0, 1.0)


def test_inexact_inference_is_counted_and_bounded():
    """One round of dual decomposition proves little; the shortfall bounds what was missed."""
    options = {"most_heads": 100, "least_share": 1e-300, "hash_bits": 12}
    rough = problem_of(TREES[:20], 2, training_iterations=1, **options)
    fine = problem_of(TREES[:20], 2, training_iterations=2000, **options)
    w = np.random.default_rng(5).normal(size=rough.n_weights)
    low, _ = rough.total_loss(w, 1.0, 0.0, gradient=False)
    high, _ = fine.total_loss(w, 1.0, 0.0, gradient=False)
    assert rough.inexact.under > fine.inexact.under
    missing = rough.shortfall(w, 1.0)
    assert low <= high + 1e-6 <= low + missing + 2e-6
    assert missing > 0
    assert problem_of(TREES[:20], 2, projective=True).shortfall(w[:1024], 1.0) == 0.0


def test_no_step_away_from_what_is_worse_than_gold():
    """A tree that scores less than the gold one is no mistake: loss 0 and no gradient."""
    crossing = [("a", "A", 3, "x"), ("b", "B", 4, "y"), ("c", "C", 0, "root"), ("d", "D", 3, "x")]
    assert not is_projective([3, 4, 0, 3])
    problem = problem_of([crossing], projective=True, **EVERYTHING)
    free = problem_of([crossing], **EVERYTHING)
    w = np.zeros(problem.n_weights)
    for _ in range(20):  # learn the tree where it may be found
        _, r = free.loss(0, w, 1.0, 0.0)
        free.scatter(0, r, -0.1, w)
    assert free.loss(0, w, 1.0, 0.0)[0] == 0.0
    loss, r = problem.loss(0, w, 1.0, 0.0)
    assert loss == 0.0
    assert len(r.index) == 0


@pytest.mark.parametrize("order", [1, 2])
def test_what_the_default_learner_learns_is_what_a_plain_loop_learns(order):
    """Passive-aggressive steps, the mean of the weights after every sentence, three passes."""
    parser = DependencyParser(order, hash_bits=12, gold_tags=True, max_iter=3, random_state=5)
    fitting = ParserFitting(parser, read_treebank(TREES))
    fitting.shape = fitting.shape._replace(dtype=np.float64)  # or what is level is told otherwise
    problem = fitting.problem()
    learned = learn_task(parser, problem, preset=PRESETS["parser"]["passive-aggressive"])
    w, total, rng = np.zeros(problem.n_weights), np.zeros(problem.n_weights), Orders(5)
    for _ in range(3):
        for i in rng.permutation(problem.n_examples):
            loss, r = problem.loss(i, w, 1.0, 0.0)
            gradient = np.zeros_like(w)
            problem.scatter(i, r, 1.0, gradient)
            if loss > 0.0:
                w -= min(0.002, loss / (gradient @ gradient)) * gradient
            total += w
    assert np.abs(total).max() > 0.1
    np.testing.assert_allclose(learned.weights, total / (3 * len(TREES)), atol=1e-12)


@pytest.mark.parametrize(
    ("learner", "margin", "temperature"), [("svm", 1.0, 0.0), ("crf", 0.0, 1.0)]
)
def test_convex_learners_reach_the_optimum(learner, margin, temperature):
    """The optimum over features of all trees, written down, by SciPy."""
    trees = [TINY[0], TINY[2], TINY[3], [("we", "N", 2, "s"), ("go", "V", 0, "root")]]
    C = 0.3
    options = {"hash_bits": 10, "gold_tags": True, "C": C, "tol": 1e-5, "max_iter": 3000}
    parser = DependencyParser(1, learner, **options, **EVERYTHING)
    problem = ParserFitting(parser, read_treebank(trees)).problem()
    phi, gold, costs = [], [], []
    for i, tree in enumerate(trees):
        outputs = all_outputs(problem, i, tree, labels_of(trees), False)
        rows = np.zeros((len(outputs), problem.n_weights))
        for row, (parts, _) in zip(rows, outputs, strict=True):
            problem.scatter(
                i, PartVector(np.array(parts, np.uint32), np.ones(len(parts))), 1.0, row
            )
        phi.append(rows)
        costs.append(np.array([cost for _, cost in outputs]))
        gold.append(int(np.flatnonzero(costs[-1] == 0)[0]))
    optimum = Enumerated(phi, gold, costs, C, margin, temperature).optimum()
    learned = learn_task(parser, problem)
    value, _ = problem.objective(learned.weights, C=C, margin=margin, temperature=temperature)
    assert learned.objective == pytest.approx(value)
    assert value == pytest.approx(optimum, rel=2e-5)
    assert value - learned.gap <= optimum * (1 + 1e-6)


@pytest.mark.parametrize("order", [1, 2])
def test_a_gap_with_inexact_inference_says_so(order):
    parser = DependencyParser(
        order,
        "svm",
        hash_bits=12,
        gold_tags=True,
        max_iter=3,
        training_iterations=1,
        **EVERYTHING,
    )
    problem = ParserFitting(parser, read_treebank(TREES[:15])).problem()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        learn_task(parser, problem)
    said = [str(w.message) for w in told if w.category is InexactInferenceWarning]
    assert not [w for w in told if w.category is ConvergenceWarning]  # max_iter was asked for
    assert bool(said) == (order == 2)
    assert all("at most" in text for text in said)
