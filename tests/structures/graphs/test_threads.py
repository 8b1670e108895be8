"""Grids, graphs and matchings while they are learned: in the core, on threads, and counted."""

import copy
import itertools
import threading
import warnings
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from structlearn import CRF, StructuredPerceptron, StructuredSVM
from structlearn.constraints import Label, at_most, with_constraints
from structlearn.exceptions import CapabilityError, InexactInferenceWarning, InfeasibleError
from structlearn.problem.array_problem import ArrayProblem
from structlearn.structures import Block, Graph, Grid, Matching, Structure
from structlearn.structures.graphs import pairwise
from structlearn.structures.parts import flatten

pytestmark = [
    pytest.mark.filterwarnings("ignore::structlearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::structlearn.exceptions.InexactInferenceWarning"),
]

SMALL, LARGE = [(2, 3), (3, 2), (2, 2)], [(17, 18), (18, 17)]


def grids(n, k, shapes, *, potts=False, tables=False, seed=0):
    """Return noisy diagonal stripes, with Potts terms or tables of features beside the labels."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i in range(n):
        h, w = shapes[i % len(shapes)]
        gold = (np.add.outer(np.arange(h), np.arange(w)) // 2 + i) % k
        x = {"label": np.eye(k)[gold] + rng.normal(size=(h, w, k))}
        if potts:
            x |= {"potts_right": np.ones((h, w - 1, 1)), "potts_down": np.ones((h - 1, w, 1))}
        if tables:
            x |= {"right": rng.random((h, w - 1, 2)), "down": rng.random((h - 1, w, 2))}
        X.append(x)
        y.append(gold)
    return X, y


def graphs(n, k, size, extra, *, features=False, cliques=False, seed=0):
    """Return random trees with ``extra`` edges more and noisy labels."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i in range(n):
        nodes = size + i % 3
        ends = [(v, int(rng.integers(v))) for v in range(1, nodes)]
        ends += [rng.choice(nodes, 2, replace=False) for _ in range(extra)]
        gold = rng.integers(k, size=nodes)
        x = {"label": np.eye(k)[gold] + 0.7 * rng.normal(size=(nodes, k)), "edges": np.array(ends)}
        if features:
            x["edge"] = rng.normal(size=(len(ends), 2))
        if cliques:
            x |= {"cliques": [[0, 1, 2], [1, 3]], "clique": np.ones((2, 1))}
        X.append(x)
        y.append(gold)
    return X, y


def matchings(n, seed=0):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(*((3, 3), (2, 4), (4, 2))[i % 3], 3)) for i in range(n)]
    scores = [x @ [1.0, -1.0, 0.5] + 0.5 * rng.normal(size=x.shape[:2]) for x in X]
    return X, [Matching().argmax(pair=s) for s in scores]


METHODS = ["elimination", "expansion", "swap", "max-product", "trws", "lp", "ilp"]
LOOPY = graphs(6, 3, 14, 30)
MODELS = {
    "grid, Potts": (StructuredSVM(Grid(), max_iter=3), grids(6, 3, LARGE, potts=True)),
    "grid, tables": (
        StructuredSVM(Grid(), solver="n-slack", max_iter=3),
        grids(6, 3, SMALL, tables=True),
    ),
    "grid, both": (
        StructuredSVM(Grid(), solver="one-slack", max_iter=3),
        grids(6, 2, SMALL, potts=True, tables=True),
    ),
    "grid, cuts": (
        StructuredSVM(Grid(), submodular=True, solver="one-slack", max_iter=3),
        grids(6, 2, LARGE, potts=True),
    ),
    "grid, roof duality": (
        StructuredSVM(Grid(method="qpbo"), max_iter=3),
        grids(6, 2, SMALL, tables=True),
    ),
    "grid, perceptron": (StructuredPerceptron(Grid(), max_iter=2), grids(6, 3, LARGE, potts=True)),
    "grid, sums": (CRF(Grid(), solver="lbfgs", max_iter=5), grids(6, 2, SMALL, potts=True)),
    "grid, pseudo": (CRF(Grid(), likelihood="pseudo", max_iter=5), grids(6, 3, LARGE, potts=True)),
    "grid, loopy sums": (
        CRF(Grid(), likelihood="loopy", max_iter=3),
        grids(6, 3, LARGE, potts=True),
    ),
    "tree": (StructuredSVM(Graph(), max_iter=3), graphs(6, 3, 8, 0)),
    "tree, sums": (CRF(Graph(), solver="lbfgs", max_iter=5), graphs(6, 3, 8, 0, features=True)),
    "graph, pseudo": (CRF(Graph(), likelihood="pseudo", max_iter=5), LOOPY),
    "graph, zero-one": (
        StructuredSVM(Graph(), cost="zero-one", solver="n-slack", max_iter=2),
        graphs(4, 2, 5, 2),
    ),
    "graph, cliques": (
        StructuredSVM(Graph(tolerance=0.4), submodular=True, solver="one-slack", max_iter=2),
        graphs(6, 2, 6, 3, cliques=True),
    ),
    **{
        f"graph, {method}": (
            StructuredSVM(Graph(method=method), solver="one-slack", max_iter=2),
            graphs(4, 3, 6, 4, features=True),
        )
        for method in METHODS
    },
    "graph, wide": (StructuredSVM(Graph(), max_iter=2), graphs(6, 4, 32, 150)),
    "matching": (StructuredSVM(Matching(), max_iter=5), matchings(12)),
    "matching, zero-one": (
        StructuredSVM(Matching(), cost="zero-one", solver="n-slack", max_iter=3),
        matchings(6),
    ),
}


@contextmanager
def problems_learned():
    """Give a list of the problems that are learned meanwhile."""
    problems = []
    keep = ArrayProblem.check_threads
    ArrayProblem.check_threads = lambda problem, n_jobs: (
        problems.append(problem),
        keep(problem, n_jobs),
    )
    try:
        yield problems
    finally:
        ArrayProblem.check_threads = keep


def fitted(name, **options):
    """Return the model of this name with its problem, and what was warned of."""
    model, (X, y) = MODELS[name]
    model = type(model)(**{**model.get_params(), "random_state": 0, **options})
    with problems_learned() as problems, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model.fit(X, y)
    return model, problems[0], sorted(str(w.message) for w in seen)


@pytest.mark.parametrize("name", MODELS)
def test_same_bits_for_any_number_of_threads(name):
    X, _ = MODELS[name][1]
    (one, problem, said), (two, other, said_too) = fitted(name, n_jobs=1), fitted(name, n_jobs=2)
    for block, weights in one.coef_.items():
        np.testing.assert_array_equal(weights, two.coef_[block])
    assert problem.inexact == other.inexact
    assert said == said_too  # how often it was not exact is part of the warnings
    assert one.duality_gap_ == two.duality_gap_
    for a, b in zip(one.predict(X), two.predict(X), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", MODELS)
def test_the_core_finds_what_the_structure_finds(name):
    """Values, parts and outputs are those of the structure's own calls from Python."""
    model, problem, _ = fitted(name, n_jobs=2)
    structure = model.structure_
    rng = np.random.default_rng(5)
    w = rng.normal(size=problem.n_weights)
    if "cliques" in name or "cuts" in name:
        w = model._weights
    approximate = {"pseudo": "pseudo_infer", "loopy": "loopy_infer"}.get(problem.likelihood)
    outputs = problem.argmax_all(w, n_jobs=2)
    for i in range(problem.n_examples):
        scores = problem.scores(i, w)
        solution = structure.solve_without_bound(**scores)
        np.testing.assert_array_equal(outputs[i], solution.output)
        value, p = problem.infer(i, w, 0.0, 0.0)
        assert value == pytest.approx(solution.value, abs=1e-12)
        expected = structure.encode(solution.output, **scores)
        flat = flatten({block: expected[block] for block in problem.shapes(i)})
        np.testing.assert_array_equal(p.dense(len(flat)), flat)
        if not isinstance(model, CRF):
            continue
        value, p = problem.infer(i, w, 0.0, 0.7)
        gold = [problem.gold.outputs[i]] if approximate == "pseudo_infer" else []
        query = getattr(structure, approximate or "infer")
        same, expected = query(*gold, temperature=0.7, **scores)
        assert value == pytest.approx(same, abs=1e-9)
        flat = flatten({block: expected[block] for block in problem.shapes(i)})
        np.testing.assert_allclose(p.dense(len(flat)), flat, atol=1e-12)


@pytest.mark.parametrize("name", ["grid, tables", "grid, both", "grid, sums", "tree", "matching"])
def test_losses_by_enumeration(name):
    """max and log-sum-exp over every output, scores and costs added up part by part."""
    model, problem, _ = fitted(name, n_jobs=2)
    w = np.random.default_rng(6).normal(size=problem.n_weights)
    for i in range(2):
        scores = problem.scores(i, w)
        gold = problem.gold.outputs[i]
        every = list(itertools.islice(model.structure_.outputs(**scores), 3**9))
        values = np.array([model.structure_.score(y, **scores) for y in every])
        costs = np.array([(np.asarray(y) != gold).sum() for y in every])
        if name == "matching":
            costs = np.array([((y != gold) & (gold >= 0)).sum() for y in every])
        if isinstance(model, CRF):
            expected = 0.7 * np.logaddexp.reduce(values / 0.7) - model.structure_.score(
                gold, **scores
            )
            assert problem.loss(i, w, 0.0, 0.7)[0] == pytest.approx(expected)
            continue
        expected = (values + costs).max() - model.structure_.score(gold, **scores)
        assert problem.loss(i, w, 1.0, 0.0)[0] == pytest.approx(expected)


@pytest.mark.parametrize("name", ["graph, wide", "graph, expansion", "grid, Potts"])
def test_inexact_searches_are_counted(name):
    model, problem, _ = fitted(name, n_jobs=2)
    structure = model.structure_
    w = np.random.default_rng(7).normal(size=problem.n_weights)
    scores = [problem.scores(i, w) for i in range(problem.n_examples)]
    counts, missed = [], []
    for n_jobs in (1, 2):
        before = problem.inexact.under
        problem.total_loss(w, 0.0, 0.0, gradient=False, n_jobs=n_jobs)
        counts.append(problem.inexact.under - before)
        missed.append(problem.shortfall(w, 0.0, n_jobs))
    expected = sum(not structure.solve_without_bound(**one).exact for one in scores)
    assert counts == [expected, expected]
    assert expected > 0
    solutions = [structure.solve(**one) for one in scores]
    assert missed[0] == missed[1] == pytest.approx(sum(s.bound - s.value for s in solutions))


def test_parts_of_robust_cliques_are_no_relaxation():
    """A clique that earns in part counts in part, and is an output all the same."""
    _, problem, said = fitted("graph, cliques")
    assert problem.inexact.over == 0
    assert not [message for message in said if "fractional" in message]


# -- threads that run at the same time -----------------------------------------------------------


class Meeting:
    """Lets calls through in twos: none passes before another one is under way."""

    def __init__(self, call):
        self.call, self.barrier = call, threading.Barrier(2)

    def __call__(self, *args, **options):
        self.barrier.wait(timeout=20)
        return self.call(*args, **options)


@pytest.mark.parametrize("what", ["total_loss", "argmax_all", "shortfall"])
def test_two_searches_are_under_way_at_the_same_time(what, monkeypatch):
    X, y = graphs(4, 2, 5, 4)
    problem = _problem(StructuredSVM(Graph(method="ilp"), max_iter=1), X, y)
    w = np.random.default_rng(0).normal(size=problem.n_weights)
    call = {
        "total_loss": lambda: problem.total_loss(w, 1.0, 0.0, n_jobs=2),
        "argmax_all": lambda: problem.argmax_all(w, n_jobs=2),
        "shortfall": lambda: [problem.shortfall(w, 1.0, n_jobs=2)],
    }[what]
    alone = call()
    monkeypatch.setattr(pairwise, "search", Meeting(pairwise.search))
    together = call()
    np.testing.assert_array_equal(np.hstack(alone), np.hstack(together))


class Slow(Grid):
    """A grid of one's own, which the core does not search."""

    runs_on_threads = True

    def solve(self, **options):
        return super().solve(**options)

    def solve_without_bound(self, **scores):
        self.meeting()
        return super().solve_without_bound(**scores)

    def argmax(self, **options):
        if not isinstance(options["label"], list):
            self.meeting()
        return super().argmax(**options)

    meeting = staticmethod(lambda: None)


def test_a_structure_of_ones_own_says_that_threads_may_ask_it(monkeypatch):
    X, y = grids(4, 2, SMALL, potts=True)
    problem = _problem(StructuredSVM(Slow(), max_iter=1, n_jobs=2), X, y)
    w = np.ones(problem.n_weights)
    alone = problem.total_loss(w, 1.0, 0.0)[0]
    monkeypatch.setattr(Slow, "meeting", staticmethod(Meeting(lambda: None)))
    assert problem.total_loss(w, 1.0, 0.0, n_jobs=2)[0] == alone
    assert len(problem.argmax_all(w, n_jobs=2)) == 4


class Doubled(Structure):
    """Two sites that have the same label."""

    def blocks(self, n_labels):
        return {"label": Block((n_labels,))}

    def encode(self, y, **scores):
        counts = np.zeros(np.shape(scores["label"]))
        counts[[0, 1], list(y)] = 1.0
        return {"label": counts}

    def decode(self, parts):
        return np.asarray(parts["label"]).argmax(axis=1)

    def argmax(self, **scores):
        return np.full(2, np.asarray(scores["label"]).sum(axis=0).argmax())

    def kbest(self, n, **scores):
        total = np.asarray(scores["label"]).sum(axis=0)
        return [(float(total[k]), np.full(2, k)) for k in np.argsort(-total)[:n]]


def test_threads_that_change_nothing_are_said():
    rng = np.random.default_rng(0)
    X, y = list(rng.normal(size=(4, 2, 3))), [np.full(2, i % 3) for i in range(4)]
    with pytest.warns(UserWarning, match="n_jobs=2 has no effect: Doubled"):
        model = StructuredSVM(Doubled(), n_jobs=2, max_iter=2).fit(X, y)
    for query in (model.predict, lambda X: model.predict_kbest(X, 2)):
        with pytest.warns(UserWarning, match="Doubled is written in Python.*runs_on_threads"):
            query(X)
    with pytest.warns(UserWarning, match=r"Graph\.count is written in Python"):
        Graph([[0, 1]]).count(label=[np.zeros((2, 2))] * 2, n_jobs=2)
    limited = with_constraints(Grid(), [at_most(1, Label(1))])
    with pytest.warns(UserWarning, match="Constrained"):
        limited.argmax(label=[np.zeros((2, 2, 2))] * 2, n_jobs=2)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="n_jobs")
        StructuredSVM(Doubled(), n_jobs=1, max_iter=2).fit(X, y).predict(X)
        model.set_params(n_jobs=None).predict(X)


@pytest.mark.parametrize("name", ["tree", "matching"])
def test_kbest_of_a_model_runs_by_batches(name):
    X, _ = MODELS[name][1]
    one, two = (fitted(name, n_jobs=n)[0] for n in (1, 2))
    batches = two.predict_kbest(X, 3)
    for x, best in zip(X, batches, strict=True):
        (alone,) = one.predict_kbest([x], 3)
        assert [value for value, _ in best] == [value for value, _ in alone]
        np.testing.assert_array_equal([y for _, y in best], [y for _, y in alone])


def _problem(model, X, y):
    with problems_learned() as problems:
        model.fit(X, y)
    return problems[0]


# -- what is out of the ordinary -----------------------------------------------------------------


def with_mask(problem, block, mask):
    """Return the problem without gold outputs, some outcomes of a block ruled out."""
    layout = copy.copy(problem.layout)
    layout.blocks = {**layout.blocks, block: replace(layout.blocks[block], mask=mask)}
    return ArrayProblem(problem.structure, problem.examples, layout)


def test_a_search_that_finds_nothing_legal_is_decided_by_a_program():
    """Three colours on a triangle: no one move leads from one colour to all three."""
    edges = np.array([[0, 1], [1, 2], [2, 0]])
    X = [{"label": np.ones((3, 1)), "edges": edges}] * 2
    y = [np.array([0, 1, 2]), np.array([2, 1, 0])]
    problem = _problem(StructuredPerceptron(Graph(method="max-product"), max_iter=1), X, y)
    equal = np.where(np.eye(3, dtype=bool), -np.inf, 0.0)
    for method in ("expansion", "swap", "max-product", "trws"):
        problem.structure = Graph(method=method)
        coloured = with_mask(problem, "edge", equal)
        w = np.zeros(problem.n_weights)
        for labels in coloured.argmax_all(w, n_jobs=2):
            assert sorted(labels) == [0, 1, 2]
        assert coloured.infer(0, w, 0.0, 0.0)[0] == 0.0


def test_bad_scores_are_refused_by_name():
    for name in ("grid, Potts", "graph, wide", "matching"):
        _, problem, _ = fitted(name)
        w = np.full(problem.n_weights, np.nan)
        for call in (
            lambda p=problem, w=w: p.total_loss(w, 1.0, 0.0, n_jobs=2),
            lambda p=problem, w=w: p.argmax_all(w, n_jobs=2),
        ):
            with pytest.raises(ValueError, match="NaN"):
                call()
    with pytest.raises(CapabilityError, match="small treewidth"):
        StructuredSVM(Graph(method="elimination"), n_jobs=2).fit(*graphs(4, 4, 30, 200))
    with pytest.raises(CapabilityError, match="#P-hard"):
        CRF(Matching(), n_jobs=2).fit(*matchings(4))


def test_the_example_without_a_legal_output_is_named():
    model, problem, _ = fitted("tree")
    closed = with_mask(problem, "label", np.full(3, -np.inf))
    for n_jobs in (1, 2):
        with pytest.raises(InfeasibleError, match=r"example \d: no legal output is left"):
            closed.argmax_all(model._weights, n_jobs=n_jobs)


def test_topologies_that_do_not_fit_are_refused():
    X, y = graphs(3, 2, 5, 1)
    model = StructuredSVM(Graph(), max_iter=1).fit(X, y)
    for edges, message in (
        ([[0, 9]], "but there are"),
        ([[1, 1]], "to itself"),
        ([[0, 1, 2]], r"\(E, 2\)"),
    ):
        broken = [X[0], {**X[1], "edges": np.array(edges)}]
        with pytest.raises(ValueError, match=message):
            model.predict(broken)
        with pytest.raises(ValueError, match=f"example 1: .*{message}"):
            StructuredSVM(Graph(), max_iter=1).fit(broken, y[:2])


def test_an_example_without_cliques_may_come_first():
    X, y = graphs(4, 2, 6, 2, cliques=True)
    X[0] = {**X[0], "cliques": [], "clique": np.ones((0, 1))}
    model = StructuredSVM(Graph(), submodular=True, solver="one-slack", max_iter=2).fit(X, y)
    assert len(model.predict(X)) == 4
    batch = [model._inputs(X).problem.scores(i, model._weights) for i in range(4)]
    columns = {name: [one[name] for one in batch] for name in batch[0]}
    together = Graph().argmax(**columns)
    for one, labels in zip(batch, together, strict=True):
        np.testing.assert_array_equal(labels, Graph().argmax(**one))


def test_warnings_of_inexact_inference_stay():
    X, y = MODELS["graph, wide"][1]
    with pytest.warns(InexactInferenceWarning, match="under-generating"):
        StructuredSVM(Graph(), max_iter=2, n_jobs=2).fit(X, y)


# -- assignments ---------------------------------------------------------------------------------


def test_assignments_are_those_of_scipy():
    rng = np.random.default_rng(0)
    for trial in range(300):
        shape = rng.integers(1, 8, 2)
        pair = rng.normal(size=shape) if trial % 2 else rng.integers(0, 4, shape).astype(float)
        pair[rng.random(shape) < 0.15] = -np.inf
        try:
            rows, columns = linear_sum_assignment(pair, maximize=True)
        except ValueError:
            with pytest.raises(InfeasibleError):
                Matching().argmax(pair=pair)
            continue
        found = Matching().solve(pair=pair)
        assert found.value == pytest.approx(pair[rows, columns].sum(), abs=1e-12)
        assert Matching().score(found.output, pair=pair) == pytest.approx(found.value, abs=1e-12)
    np.testing.assert_array_equal(Matching().argmax(pair=np.zeros((4, 5))), np.arange(4))


def test_batches_of_matchings_run_on_threads():
    rng = np.random.default_rng(1)
    pairs = [rng.normal(size=(30, 30)) for _ in range(6)]
    one, two = (Matching().argmax(pair=pairs, n_jobs=n) for n in (1, 2))
    for a, b, pair in zip(one, two, pairs, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, linear_sum_assignment(pair, maximize=True)[1])
