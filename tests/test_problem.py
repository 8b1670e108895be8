"""The four operations of a problem, its losses and its gradients."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from structlearn.estimators import StructuredModel
from structlearn.losses import Cost, Hamming, LabelCost, StructuredLoss
from structlearn.problem import PartVector
from structlearn.structures import Block, Chain, Exhaustive, Lattice, Multiclass, Structure

REPEATABLE = settings(derandomize=True, deadline=None, database=None)
TABLE = np.array([[0.0, 2.0, 0.5], [1.5, 0.0, 3.0], [0.25, 1.0, 0.0]])
STRUCTURES = {
    "chain": Chain,
    "order 0": lambda: Chain(order=0),
    "order 2": lambda: Chain(order=2),
    "enumerated": lambda: Exhaustive(Chain()),
}
FAMILY = list(itertools.product((0, 0.5, 1, 2), (0, 0.3, 1, 5)))


class Pairs(Structure):
    """Two positions with labels of their own and a score for the pair: an argmax and no more."""

    def blocks(self, n_labels):
        return {"label": Block((n_labels,)), "pair": Block((n_labels, n_labels), shared=True)}

    def encode(self, y, **scores):
        parts = {name: np.zeros(np.shape(a)) for name, a in scores.items()}
        parts["label"][[0, 1], list(y)] = 1.0
        parts["pair"][tuple(y)] = 1.0
        return parts

    def decode(self, parts):
        return np.asarray(parts["label"]).argmax(axis=1)

    def outputs(self, **scores):
        n_labels = np.shape(scores["label"])[1]
        return map(np.array, itertools.product(range(n_labels), repeat=2))

    def argmax(self, *, n_jobs=None, **scores):
        return max(self.outputs(**scores), key=lambda y: self.score(y, **scores))


def words(rng, length):
    """Tokens with repeated features: within a token and from one token to the next."""
    vocabulary = ["a", "b", "c", "d"]
    return [list(rng.choice(vocabulary, size=rng.integers(0, 5))) for _ in range(length)]


def sentences(seed=0, n=5, longest=4, features="dense"):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, size=n)
    lengths[:2] = (longest, longest)  # enough sites for every label to occur
    X = [rng.normal(size=(length, 3)) for length in lengths]
    if features == "sparse":
        X = [sparse.csr_matrix(np.where(rng.random(x.shape) < 0.5, x, 0.0)) for x in X]
    elif features == "words":
        X = [words(rng, length) for length in lengths]
    y = [list(rng.integers(0, 3, size=length)) for length in lengths]
    y[0] = [0, 1, 2, 0][:longest]
    return X, y


# -- θ = A w --------------------------------------------------------------------------------------


def dense_features(X, vocabulary=None):
    if vocabulary is None:
        return [x.toarray() if sparse.issparse(x) else np.asarray(x) for x in X]
    counts = [np.zeros((len(x), len(vocabulary))) for x in X]
    for rows, x in zip(counts, X, strict=True):
        for row, token in zip(rows, x, strict=True):
            for name in token:
                row[vocabulary[name]] += 1
    return counts


def chain_matrix(x, edge=None, n_labels=3):
    """A of one example of a first-order chain with boundaries, parts by all possible weights.

    Parts and weights in the order label, start, end, transition; weights W[k, f], outcomes first.
    """
    L, d = x.shape
    K = n_labels
    edges = 1 if edge is None else L - 1
    d_e = 1 if edge is None else edge.shape[1]
    A = np.zeros((L * K + 2 * K + edges * K * K, K * d + 2 * K + K * K * d_e))
    for t, k in itertools.product(range(L), range(K)):
        A[t * K + k, k * d : (k + 1) * d] = x[t]
    A[L * K : L * K + 2 * K, K * d : K * d + 2 * K] = np.eye(2 * K)
    for e, j in itertools.product(range(edges), range(K * K)):
        row = np.ones(1) if edge is None else edge[e]
        at = K * d + 2 * K + j * d_e
        A[L * K + 2 * K + e * K * K + j, at : at + d_e] = row
    return A


def explicit(problem, X, i, edges=None):
    """Return A of example i, and which of its columns are weights of the problem."""
    names = problem.layout.present()
    assert list(names) == ["label", "start", "end", "transition"]
    A = chain_matrix(X[i], None if edges is None else edges[i])
    exists = problem.layout.coef(np.arange(1.0, problem.n_weights + 1))
    places = np.concatenate([exists[name].ravel() for name in names])
    return A, places


def explicit_weights(problem, w):
    coef = problem.layout.coef(w)
    return np.concatenate([coef[name].ravel() for name in problem.layout.present()])


CASES = [
    ("dense", {}),
    ("sparse", {"all_possible_states": True}),
    ("sparse", {}),
    ("words", {"all_possible_states": True}),
    ("words", {}),
    ("words", {"all_possible_transitions": False}),
    ("transition features", {}),
]


@pytest.fixture(params=CASES, ids=lambda c: " ".join([c[0], *c[1]]))
def case(request):
    """A problem on a chain, its features as dense arrays, and those of its transitions."""
    features, options = request.param
    edges = None
    X, y = sentences(features="dense" if features == "transition features" else features)
    model = StructuredModel(**options)
    if features == "transition features":
        rng = np.random.default_rng(9)
        edges = [rng.normal(size=(len(x) - 1, 2)) for x in X]
        problem = model.problem(
            [{"label": x, "transition": e} for x, e in zip(X, edges, strict=True)], y
        )
        return problem, X, edges
    problem = model.problem(X, y)
    vocabulary = None
    if features == "words":
        seen = [name for x in X for token in x for name in token]
        vocabulary = {name: f for f, name in enumerate(dict.fromkeys(seen))}
    return problem, dense_features(X, vocabulary), edges


def vectors(rng, n_parts):
    """Part vectors: dense; sparse; sparse with a part that stands twice."""
    yield PartVector(None, rng.normal(size=n_parts))
    index = rng.permutation(n_parts)[: max(2, n_parts // 2)].astype(np.uint32)
    yield PartVector(index, rng.normal(size=len(index)))
    twice = np.concatenate([index, index[:2]])
    yield PartVector(twice, rng.normal(size=len(twice)))


def test_scores(case):
    problem, X, edges = case
    rng = np.random.default_rng(1)
    w = rng.normal(size=problem.n_weights)
    for i in range(problem.n_examples):
        A, _ = explicit(problem, X, i, edges)
        theta = problem.scores(i, w)
        flat = np.concatenate([theta[name].ravel() for name in problem.layout.present()])
        np.testing.assert_allclose(flat, A @ explicit_weights(problem, w), atol=1e-13)


def test_scatter(case):
    problem, X, edges = case
    rng = np.random.default_rng(2)
    for i in range(problem.n_examples):
        A, places = explicit(problem, X, i, edges)
        for v in vectors(rng, len(A)):
            w = rng.normal(size=problem.n_weights)
            expected = np.zeros(problem.n_weights)
            # Place j + 1 of the dense array holds weight j; 0 is no weight at all.
            pulled = A.T @ v.dense(len(A))
            expected[places[places > 0].astype(int) - 1] = pulled[places > 0]
            after = w.copy()
            problem.scatter(i, v, -1.5, after)
            np.testing.assert_allclose(after, w - 1.5 * expected, atol=1e-12)


def test_squared_norm(case):
    """‖Aᵀv‖², which is not the sum of the tokens' norms where features repeat."""
    problem, X, edges = case
    rng = np.random.default_rng(3)
    differs = False
    for i in range(problem.n_examples):
        A, places = explicit(problem, X, i, edges)
        A = A * (places > 0)
        for v in vectors(rng, len(A)):
            dense = v.dense(len(A))
            expected = float(np.sum((A.T @ dense) ** 2))
            assert problem.sqnorm(i, v) == pytest.approx(expected, rel=1e-12)
            by_part = float((np.sum(A**2, axis=1) * dense**2).sum())
            differs |= abs(by_part - expected) > 0.1
    assert differs


def test_dot(case):
    problem, X, edges = case
    rng = np.random.default_rng(4)
    A, _ = explicit(problem, X, 0, edges)
    theta = rng.normal(size=len(A))
    for v in vectors(rng, len(A)):
        assert problem.dot(theta, v) == pytest.approx(theta @ v.dense(len(A)), rel=1e-12)
    theta[3] = -np.inf
    sparse_v = PartVector(np.array([1, 3], dtype=np.uint32), np.array([2.0, 0.0]))
    assert problem.dot(theta, sparse_v) == 2 * theta[1]
    one = PartVector(None, np.where(np.arange(len(A)) == 5, 1.0, 0.0))
    assert problem.dot(theta, one) == theta[5]


def test_infer_is_the_structure_with_the_cost_added():
    X, y = sentences()
    problem = StructuredModel().problem(X, y)
    w = np.random.default_rng(5).normal(size=problem.n_weights)
    for i, (margin, temperature) in itertools.product(range(len(X)), FAMILY):
        theta = problem.scores(i, w)
        label = theta["label"] + margin * (1 - np.eye(3)[y[i]])
        value, p = Chain().infer(temperature=temperature, **{**theta, "label": label})
        found, vector = problem.infer(i, w, margin, temperature)
        assert found == pytest.approx(value, rel=1e-13)
        flat = np.concatenate([p[name].ravel() for name in problem.layout.present()])
        np.testing.assert_allclose(vector.dense(len(flat)), flat, atol=1e-13)


# -- losses ---------------------------------------------------------------------------------------

COSTS = {
    "hamming": "hamming",
    "divided by length": "hamming-mean",
    "table": TABLE,
    "table that charges the right label": TABLE + 0.75 * np.eye(3),
    "label weights": LabelCost(TABLE, weights={0: 3.0, 2: 0.5}, normalize=True),
    "position weights": Hamming(weights=lambda labels: 1.0 + np.arange(len(labels))),
    "zero-one": "zero-one",
}


def check_loss(problem, structure, outputs, cost, seed=6, family=FAMILY):
    """The core's loss and gradient against the loss of the structure's own scores."""
    rng = np.random.default_rng(seed)
    for i, y in enumerate(outputs):
        w = rng.normal(size=problem.n_weights)
        theta = problem.scores(i, w)
        for margin, temperature in family:
            loss = StructuredLoss(cost, margin=margin, temperature=temperature)
            expected, slope = loss(structure, y, **theta)
            value, gradient = problem.loss(i, w, margin, temperature)
            assert value == pytest.approx(expected, rel=1e-11, abs=1e-11)
            flat = np.concatenate([slope[name].ravel() for name in problem.layout.present()])
            np.testing.assert_allclose(gradient.dense(len(flat)), flat, atol=1e-10)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("name", STRUCTURES)
def test_loss_of_sequences(name, cost):
    structure = STRUCTURES[name]()
    X, y = sentences(longest=3 if name == "enumerated" else 4)
    problem = StructuredModel(structure, cost=COSTS[cost]).problem(X, y)
    check_loss(problem, structure, y, COSTS[cost])


@pytest.mark.parametrize("cost", [c for c in COSTS if c != "zero-one"])
@pytest.mark.parametrize("name", STRUCTURES)
def test_loss_of_partly_unknown_sequences(name, cost):
    structure = STRUCTURES[name]()
    X, y = sentences(longest=3 if name == "enumerated" else 4)
    rng = np.random.default_rng(7)
    # The first example has every label; of the others some are unknown, of the last all are.
    y[1:] = [[None if rng.random() < 0.5 else int(k) for k in row] for row in y[1:]]
    y[-1] = [None] * len(y[-1])
    problem = StructuredModel(structure, cost=COSTS[cost]).problem(X, y)
    assert problem.gold.partial.tolist() == [any(k is None for k in row) for row in y]
    check_loss(problem, structure, y, COSTS[cost])


@pytest.mark.parametrize("cost", COSTS)
def test_loss_of_single_labels(cost):
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(6, 3)), [0, 1, 2, 2, 1, 0]
    problem = StructuredModel("multiclass", cost=COSTS[cost]).problem(X, y)
    check_loss(problem, Multiclass(), y, COSTS[cost])
    if cost != "zero-one":
        y = [0, None, 2, None, 1, 0]
        problem = StructuredModel("multiclass", cost=COSTS[cost]).problem(X, y)
        check_loss(problem, Multiclass(), y, COSTS[cost])


@pytest.mark.parametrize("cost", ["hamming", "table", "zero-one"])
def test_loss_under_constraints(cost):
    """Forbidden labels and transitions are at −∞ in every inference."""
    X, y = sentences()
    y = [[0 if k == 1 and t and row[t - 1] == 2 else k for t, k in enumerate(row)] for row in y]
    forbid = {"transition": [(2, 1)], "end": [2]}
    y = [[*row[:-1], 0] for row in y]
    model = StructuredModel(cost=COSTS[cost], forbid=forbid)
    problem = model.problem(X, y)
    assert problem.scores(0, np.zeros(problem.n_weights))["transition"][2, 1] == -np.inf
    check_loss(problem, Chain(), y, COSTS[cost])


@pytest.mark.parametrize("cost", ["hamming", "table", "zero-one"])
def test_loss_of_a_structure_with_an_argmax_only(cost):
    X, y = sentences(longest=2)
    X, y = X[:2], [[0, 1], [2, 0]]
    problem = StructuredModel(Pairs(), cost=COSTS[cost]).problem(X, y)
    check_loss(problem, Pairs(), y, COSTS[cost], family=[(0, 0), (1, 0), (2, 0)])


class MissedEdges(Cost):
    """Edges of the gold path that are not on the other one: a cost with a constant."""

    def parts(self, structure, y, **scores):
        gold = structure.encode(y, **scores)["edge"]
        return {"edge": -gold}, float(gold.sum())


@pytest.mark.parametrize("cost", [MissedEdges(), "zero-one"], ids=["own cost", "zero-one"])
def test_loss_of_outputs_without_labels(cost):
    """A lattice: no labels, features on edges, and a cost of the user's own."""
    lattice = Lattice([(0, 1), (0, 1), (1, 2), (1, 3), (2, 3), (0, 3)])
    rng = np.random.default_rng(10)
    X = [{"edge": rng.normal(size=(6, 2))} for _ in range(4)]
    paths = list(lattice.outputs())
    y = [paths[k] for k in (0, 3, 4, 1)]
    problem = StructuredModel(lattice, cost=cost).problem(X, y)
    assert problem.n_weights == 2
    check_loss(problem, lattice, y, cost)
    # And by hand, at the hinge: the score of a path is the sum of its edges'.
    w = np.array([0.3, -0.7])
    for i, gold in enumerate(y):
        theta = X[i]["edge"] @ w
        costs = [
            len(set(gold) - set(z)) if isinstance(cost, Cost) else float(list(z) != list(gold))
            for z in paths
        ]
        expected = max(theta[z].sum() + c for z, c in zip(paths, costs, strict=True))
        value, _ = problem.loss(i, w, 1, 0)
        assert value == pytest.approx(expected - theta[gold].sum(), abs=1e-13)


def test_position_weights_by_example():
    """One array an example: example i gets its own."""
    X, y = sentences()
    weights = [1.0 + i + np.arange(len(row)) for i, row in enumerate(y)]
    problem = StructuredModel(cost=Hamming(weights=weights)).problem(X, y)
    w = np.zeros(problem.n_weights)
    for i, row in enumerate(weights):  # at w = 0 everything wrong is worst
        assert problem.loss(i, w, 1, 0)[0] == row.sum()


def test_label_weights_go_by_name():
    X, y = sentences()
    named = [["DNV"[k] for k in row] for row in y]
    problem = StructuredModel(cost=Hamming(weights={"V": 10.0})).problem(X, named)
    for i, row in enumerate(named):
        expected = sum(10 if k == "V" else 1 for k in row)
        assert problem.loss(i, np.zeros(problem.n_weights), 1, 0)[0] == expected


# -- totals, objectives and their gradients -------------------------------------------------------


def slopes(f, w, h=1e-5):
    return np.array([(f(w + h * e) - f(w - h * e)) / (2 * h) for e in np.eye(len(w))])


@pytest.mark.parametrize("features", ["dense", "sparse", "words"])
@pytest.mark.parametrize(("margin", "temperature"), [(1, 0), (0, 0), (0, 1), (1, 1), (0.5, 0.3)])
def test_gradient_of_the_objective(features, margin, temperature):
    X, y = sentences(features=features)
    y[1] = [None, *y[1][1:]]
    weights = np.array([1.0, 0.5, 2.0, 0.25, 3.0])
    problem = StructuredModel(cost=TABLE).problem(X, y, sample_weight=weights)
    w = np.random.default_rng(11).normal(size=problem.n_weights)
    options = {"C": 0.7, "margin": margin, "temperature": temperature}
    value, gradient = problem.objective(w, **options)
    counted = weights[weights > 0]  # the others are not examples
    total = sum(s * problem.loss(i, w, margin, temperature)[0] for i, s in enumerate(counted))
    assert value == pytest.approx(0.5 * w @ w + 0.7 * total, rel=1e-13)
    expected = slopes(lambda v: problem.objective(v, **options)[0], w)
    np.testing.assert_allclose(gradient, expected, atol=2e-8)


@pytest.mark.parametrize("name", ["multiclass", "order 2", "enumerated"])
@pytest.mark.parametrize("cost", ["hamming", "zero-one"])
def test_gradient_for_every_kind_of_structure(name, cost):
    X, y = sentences(n=3, longest=3)
    if name == "multiclass":
        structure = "multiclass"
        X, y = np.vstack(X), [k for row in y for k in row]
    else:
        structure = STRUCTURES[name]()
    problem = StructuredModel(structure, cost=cost).problem(X, y)
    w = 0.3 * np.random.default_rng(12).normal(size=problem.n_weights)
    for margin, temperature in [(1, 0), (1, 1)]:
        options = {"C": 2.0, "margin": margin, "temperature": temperature}
        _, gradient = problem.objective(w, **options)
        expected = slopes(lambda v, o=options: problem.objective(v, **o)[0], w)
        np.testing.assert_allclose(gradient, expected, atol=2e-8)


def test_l1_counts_in_the_value_only():
    X, y = sentences()
    problem = StructuredModel().problem(X, y)
    w = np.random.default_rng(13).normal(size=problem.n_weights)
    options = {"C": 1.0, "margin": 0, "temperature": 1}
    plain, gradient = problem.objective(w, **options)
    value, smooth = problem.objective(w, l1=0.5, **options)
    assert value == pytest.approx(plain + 0.5 * np.abs(w).sum(), rel=1e-14)
    np.testing.assert_array_equal(smooth, gradient)


@settings(REPEATABLE, max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 70), threads=st.integers(2, 4))
def test_total_has_the_same_bits_for_any_number_of_threads(seed, n, threads):
    X, y = sentences(seed=seed, n=n + 1)
    problem = StructuredModel().problem(X, y)
    w = np.random.default_rng(seed).normal(size=problem.n_weights)
    for margin, temperature in [(1, 0), (0, 1)]:
        one, slope = problem.total_loss(w, margin, temperature, n_jobs=1)
        many, other = problem.total_loss(w, margin, temperature, n_jobs=threads)
        assert one == many
        np.testing.assert_array_equal(slope, other)
        assert problem.total_loss(w, margin, temperature, gradient=False) == (one, None)


def test_argmax_of_every_example():
    X, y = sentences(n=40)
    problem = StructuredModel().problem(X, y)
    w = np.random.default_rng(14).normal(size=problem.n_weights)
    for jobs in (1, 3):
        for i, found in enumerate(problem.argmax_all(w, n_jobs=jobs)):
            np.testing.assert_array_equal(found, Chain().argmax(**problem.scores(i, w)))


def test_the_wrong_number_of_weights():
    X, y = sentences()
    problem = StructuredModel().problem(X, y)
    short = np.zeros(problem.n_weights - 1)
    with pytest.raises(ValueError, match=f"has {problem.n_weights} weights, not {len(short)}"):
        problem.loss(0, short, 0, 1)
    with pytest.raises(ValueError, match="there is no example 5"):
        problem.loss(5, np.zeros(problem.n_weights), 0, 1)
    with pytest.raises(ValueError, match="does not fit the example"):
        problem.sqnorm(0, PartVector(None, np.zeros(2)))


@pytest.mark.parametrize("kind", STRUCTURES)
@pytest.mark.parametrize("cost", ["hamming", "zero-one", TABLE])
@pytest.mark.parametrize("temperature", [0.3, 1, 5])
def test_total_cost_is_how_the_loss_grows_with_the_margin(kind, cost, temperature):
    """d infer(θ + γc, ε) / dγ = ⟨c, p⟩: at the margin 1 the mean cost."""
    X, y = sentences()
    problem = StructuredModel(STRUCTURES[kind](), cost=cost).problem(X, y)
    w = np.random.default_rng(1).normal(size=problem.n_weights)
    gradient = np.full(problem.n_weights, np.nan)
    loss, mean = problem.total_cost(w, 1, temperature, out=gradient)
    value, expected = problem.total_loss(w, 1, temperature)
    assert loss == value
    np.testing.assert_array_equal(gradient, expected)
    h = 1e-5
    above, below = (
        problem.total_loss(w, m, temperature, gradient=False)[0] for m in (1 + h, 1 - h)
    )
    assert mean == pytest.approx((above - below) / (2 * h), rel=1e-6)
    assert problem.total_cost(w, 0, temperature) == (problem.total_loss(w, 0, temperature)[0], 0)


def test_gradients_into_memory_that_is_there():
    X, y = sentences()
    problem = StructuredModel().problem(X, y)
    w = np.random.default_rng(1).normal(size=problem.n_weights)
    out = np.full(problem.n_weights, np.nan)
    for temperature in (1, 0, 1):  # whatever an earlier call has left behind
        _, gradient = problem.total_loss(w, 1, temperature, out=out)
        assert gradient is out
        fresh = StructuredModel().problem(X, y)
        np.testing.assert_array_equal(out, fresh.total_loss(w, 1, temperature)[1])
