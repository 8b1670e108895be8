"""The problem of a parser: its operator, its losses and its optima against lists of all trees."""

import itertools

import numpy as np
import pytest
import scipy.optimize

from structlearn.datasets import make_treebank
from structlearn.exceptions import CapabilityError
from structlearn.fitting.learner_registry import LearningParameters
from structlearn.fitting.learning import learn
from structlearn.problem.parts import PartVector
from structlearn.tasks import ConstituencyParser
from structlearn.tasks.constituents.fitting import SplitTrees, TreeFitting
from structlearn.text.trees import Tree, parse_brackets

TREES = [s.brackets for s in make_treebank(40, random_state=0)]
WORDS = ["it", "sees", "the"]
TAGS = ["N", "V", "D"]


def _problem(trees, loss_weight=None, **options):
    """The problem that a parser would learn from."""
    parser = ConstituencyParser("crf", gold_tags=True, **{"min_count": 1, **options})
    treebank = SplitTrees.read(trees, None).weighted(loss_weight)
    return TreeFitting(parser, treebank).problem()


def _all_trees(i, j, labels):
    """Every tree over words i to j: a bare or labelled word, or a labelled row of children."""
    if j - i == 1:
        leaf = Tree(TAGS[i], (), WORDS[i])
        return [leaf, *(Tree(x, [leaf]) for x in labels)]
    rows = []
    for count in range(2, j - i + 1):
        for cuts in itertools.combinations(range(i + 1, j), count - 1):
            ends = [i, *cuts, j]
            rows += itertools.product(
                *(_all_trees(a, b, labels) for a, b in itertools.pairwise(ends))
            )
    return [Tree(x, list(row)) for row in rows for x in labels]


@pytest.fixture(scope="module", params=[2, 3])
def listed(request):
    """Return a problem with every tree of a sentence as an example, and the trees."""
    trees = _all_trees(0, request.param, ["S", "NP"])
    problem = _problem(trees, min_count=3)
    assert problem.labels == [(), ("NP",), ("S",)]
    return problem, trees


def _features(problem, i):
    """Return A_iᵀ μ(gold)."""
    # At w = 0 and ε = 1 the gradient is p − μ(gold), and p is the same for each of a sentence.
    w = np.zeros(problem.n_weights)
    _, r = problem.loss(i, w, 0.0, 1.0)
    _, p = problem.infer(i, w, 0.0, 1.0)
    psi = np.zeros(problem.n_weights)
    problem.scatter(i, p, 1.0, psi)
    problem.scatter(i, r, -1.0, psi)
    return psi


def _cost(a, b):
    return len(set(a.spans()) ^ set(b.spans()))


@pytest.mark.parametrize("min_count", [1, 3])
def test_the_operator_and_its_transpose(min_count):
    problem = _problem(TREES, min_count=min_count)
    rng = np.random.default_rng(0)
    for i in range(0, problem.n_examples, 7):
        w = rng.normal(size=problem.n_weights)
        theta = problem.theta(i, w)
        index = rng.choice(len(theta), size=50).astype(np.uint32)  # repeats too
        for v in (
            PartVector(None, rng.normal(size=len(theta))),
            PartVector(index, rng.normal(size=50)),
        ):
            gathered = np.zeros(problem.n_weights)
            problem.scatter(i, v, 1.0, gathered)
            picked = theta if v.index is None else theta[v.index]
            size = np.abs(picked * v.value).sum()
            assert w @ gathered == pytest.approx(picked @ v.value, abs=1e-12 * size)
            assert problem.sqnorm(i, v) == pytest.approx(gathered @ gathered, rel=1e-11)


@pytest.mark.parametrize(
    ("margin", "temperature"), [(0.0, 1.0), (1.0, 1.0), (0.7, 0.2), (1.0, 0.0)]
)
def test_gradients_are_differences(margin, temperature):
    problem = _problem(TREES[:12], min_count=1)
    rng = np.random.default_rng(1)
    w = rng.normal(size=problem.n_weights, scale=0.3)
    _, gradient = problem.total_loss(w, margin, temperature)
    for _ in range(4):
        d = rng.normal(size=len(w))
        h = 1e-5 / np.linalg.norm(d)
        there, back = (
            problem.total_loss(w + s * h * d, margin, temperature, gradient=False)[0]
            for s in (1, -1)
        )
        assert (there - back) / (2 * h) == pytest.approx(gradient @ d, rel=1e-5, abs=1e-4)


def test_losses_agree_with_the_list(listed):
    problem, trees = listed
    rng = np.random.default_rng(2)
    w = rng.normal(size=problem.n_weights)
    scores = np.array([_features(problem, i) @ w for i in range(len(trees))])
    for i in range(0, len(trees), 5):
        cost = np.array([_cost(tree, trees[i]) for tree in trees])
        for margin, eps in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 0.3), (0.0, 0.01)):
            x = scores + margin * cost
            if eps:
                top = x.max()
                value = top + eps * np.log(np.exp((x - top) / eps).sum())
            else:
                value = x.max()
            loss, _ = problem.loss(i, w, margin, eps)
            assert loss == pytest.approx(value - scores[i], abs=1e-9)


@pytest.fixture(scope="module")
def weighted():
    """Return all trees of two words, a few of which have weight, with their features and costs."""
    trees = _all_trees(0, 2, ["S", "NP"])
    problem = _problem(trees)
    weight = np.zeros(len(trees))
    weight[[3, 8, 11, 14]] = 2.0, 1.0, 1.0, 0.5
    psi = np.array([_features(problem, i) for i in range(len(trees))])
    cost = np.array([[_cost(a, b) for b in trees] for a in trees], float)
    return trees, weight, psi, cost


def _crf_optimum(C, weight, psi):
    def objective(w):
        s = psi @ w
        log_z = np.logaddexp.reduce(s)
        p = np.exp(s - log_z)
        return (
            0.5 * w @ w + C * weight @ (log_z - s),
            w + C * (weight.sum() * (p @ psi) - weight @ psi),
        )

    return scipy.optimize.minimize(
        objective, np.zeros(psi.shape[1]), jac=True, method="L-BFGS-B",
        options={"gtol": 1e-10, "ftol": 1e-16},
    ).fun  # fmt: skip


def _svm_optimum(C, weight, psi, cost):
    """Solve the dual: max Σ α c − ½‖Σ α (ψ_gold − ψ)‖², α in a simplex for each example."""
    gold = np.flatnonzero(weight)
    n, m = len(gold), len(psi)
    d = (psi[gold][:, None, :] - psi[None]).reshape(n * m, -1)
    gram, c = d @ d.T, cost[gold].ravel()
    rows, mass = np.kron(np.eye(n), np.ones(m)), C * weight[gold]
    found = scipy.optimize.minimize(
        lambda a: (0.5 * a @ gram @ a - c @ a, gram @ a - c), np.repeat(mass / m, m), jac=True,
        method="SLSQP", bounds=[(0, None)] * (n * m), options={"ftol": 1e-13, "maxiter": 500},
        constraints={"type": "eq", "fun": lambda a: rows @ a - mass, "jac": lambda a: rows},
    )  # fmt: skip
    assert found.success
    return -found.fun


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_svm_and_crf_reach_the_optimum(weighted, C):
    trees, weight, psi, cost = weighted
    wanted = {"svm": _svm_optimum(C, weight, psi, cost), "crf": _crf_optimum(C, weight, psi)}
    for learner, optimum in wanted.items():
        parser = ConstituencyParser(learner, C=C, tol=1e-5, gold_tags=True, min_count=1)
        training = parser.fit(trees, sample_weight=weight).model_.training
        assert training["objective"] == pytest.approx(optimum, rel=2e-5)
        assert 0 <= training["gap"] <= 1.01e-5 * training["objective"]


@pytest.mark.parametrize("learner", ["svm", "crf"])
def test_a_weight_of_two_is_as_being_there_twice(weighted, learner):
    trees, weight, _, _ = weighted
    parser = ConstituencyParser(learner, C=0.1, tol=1e-6, gold_tags=True, min_count=1)
    twice, heavy = (
        parser.fit(trees * 2, sample_weight=given).model_.training["objective"]
        for given in (np.tile(weight, 2), np.append(2 * weight, 0 * weight))
    )
    assert twice == pytest.approx(heavy, rel=2e-6)


def test_dual_ascent_by_sites_is_refused(weighted):
    trees, weight, _, _ = weighted
    problem = _problem(trees, weight)
    settings = {"margin": 0.0, "temperature": 1.0, "C": 0.1, "tol": 1e-5, "random_state": 0}
    # It says so, and "auto" takes another.
    with pytest.raises(CapabilityError, match="solver='lbfgs'"):
        learn(LearningParameters(solver="dual", **settings), problem)
    assert learn(LearningParameters(**settings), problem).solver == "lbfgs"


def test_parameters_reach_the_learner():
    whole = ConstituencyParser(gold_tags=True).fit(TREES[:25])  # and nothing to warn of
    assert [record["pass"] for record in whole.history_] == [1, 2, 3, 4]
    default = ConstituencyParser(gold_tags=True, max_iter=2).fit(TREES[:25])
    written = ConstituencyParser(
        "adagrad", eta0=0.1, delta=0.0, C=float("inf"), margin=1.0, temperature=0.0,
        gold_tags=True, max_iter=2,
    ).fit(TREES[:25])  # fmt: skip
    assert bytes(written.model_.arrays["weights"]) == bytes(default.model_.arrays["weights"])
    for other in (
        {"eta0": 0.2}, {"delta": 1.0}, {"C": 1.0}, {"margin": 0.5}, {"temperature": 1.0},
        {"average": False}, {"shuffle": False}, {"random_state": 1},
    ):  # fmt: skip
        changed = ConstituencyParser(gold_tags=True, max_iter=2, **other).fit(TREES[:25])
        assert bytes(changed.model_.arrays["weights"]) != bytes(default.model_.arrays["weights"])


def test_sample_weights_of_sentences_that_are_too_long_go_with_them():
    short = [i for i, text in enumerate(TREES) if len(parse_brackets(text)[0].words) <= 12]
    weight = np.arange(1.0, len(TREES) + 1)
    problem = _problem(TREES, max_words=12, loss_weight=weight)
    assert problem.n_examples == len(short) < len(TREES)
    assert problem.sample_weight.tolist() == weight[short].tolist()
    with pytest.raises(ValueError, match="sample_weight has shape"):
        ConstituencyParser(gold_tags=True).fit(TREES, sample_weight=[1.0])


def test_a_tree_of_weight_two_counts_twice_in_a_grammar():
    weight = np.ones(12)
    weight[3], weight[5] = 2.0, 0.0
    heavy = ConstituencyParser("pcfg", gold_tags=True).fit(TREES[:12], sample_weight=weight)
    kept = [*TREES[:5], *TREES[6:12], TREES[3]]
    twice = ConstituencyParser("pcfg", gold_tags=True).fit(kept)
    one, other = (parser.model_.grammar for parser in (heavy, twice))
    assert one.symbols == other.symbols

    def rules(grammar):
        found = [*grammar.binary, *grammar.unary]
        found += [[k] for k in range(len(grammar.symbols))]
        return {tuple(rule): p for rule, p in zip(found, grammar.scores, strict=True)}

    assert rules(one) == rules(other)
    plain = ConstituencyParser("pcfg", gold_tags=True).fit(TREES[:12])
    assert rules(plain.model_.grammar) != rules(one)
