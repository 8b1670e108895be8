"""Every structure with sums: all queries of an estimator tell of one distribution.

That of the list of all outputs, P(y) ∝ exp(score(y) / T) at the model's temperature T.
"""

import math

import numpy as np
import pytest

from structlearn.constraints import Label, require
from structlearn.estimators import CRF, HMM, MultiLabelClassifier, StructuredPerceptron
from structlearn.exceptions import CapabilityError
from structlearn.models.calibration import Calibration
from structlearn.structures import (
    Arborescence,
    Chain,
    Constituency,
    Exhaustive,
    Graph,
    Grid,
    Lattice,
    Matching,
    Multiclass,
    SemiMarkov,
    SpanningTree,
    Tree,
)

T = 1.7
RNG = np.random.default_rng(0)
EDGES = [(0, 1), (1, 2), (0, 2)]
LATTICE = Lattice([(0, 1), (0, 1), (1, 2), (1, 3), (2, 3), (0, 3)])


def draw(*shape):
    return [RNG.normal(size=shape) for _ in range(8)]


def labels(*shape):
    return [np.array(list("abc"))[RNG.integers(3, size=shape)].tolist() for _ in range(8)]


#: Name -> (structure, X, y, parameters).
CASES = {
    "multiclass": (Multiclass(), np.array(draw(3)), [*labels(8)[0][:5], "a", "b", "c"], {}),
    "chain": (Chain(), draw(3, 2), labels(3), {}),
    "chain of order 2": (Chain(2), draw(4, 2), labels(4), {}),
    "chain under a constraint": (
        Chain(), draw(3, 2), [["a", *row] for row in labels(2)],
        {"constraints": [require(Label("a", at=0))]},
    ),
    "segments": (
        SemiMarkov(2), draw(3, 2, 2), [[(0, 2, a), (2, 3, b)] for a, b in labels(2)], {}
    ),
    "tree": (
        Tree([-1, 0, 1, 1]), [{"label": x, "edge": np.ones((3, 1))} for x in draw(4, 2)],
        labels(4), {},
    ),
    "graph": (
        Graph(EDGES), [{"label": x, "edge": np.ones((3, 1))} for x in draw(3, 2)], labels(3), {}
    ),
    "grid": (Grid(), draw(2, 2, 2), [np.array(y) for y in labels(2, 2)], {}),
    "heads": (Arborescence(), draw(4, 4, 2), [[2, 0, 2]] * 4 + [[0, 1, 2]] * 4, {}),
    "projective heads with labels": (
        Arborescence(projective=True), draw(3, 3, 2), [([0, 1], y) for y in labels(2)], {}
    ),
    "spanning trees": (SpanningTree(), draw(4, 4, 2), [[(0, 1), (1, 2), (1, 3)]] * 8, {}),
    "constituents": (
        Constituency(), [{"span": x} for x in draw(3, 4, 2)],
        [[(0, 3, a), (1, 3, b)] for a, b in labels(2)], {},
    ),
    "lattice": (LATTICE, [{"edge": x} for x in draw(6, 2)], [[0, 2, 4]] * 4 + [[5]] * 4, {}),
}  # fmt: skip


def plain(output):
    """An output that can be compared: arrays and lists as tuples."""
    if isinstance(output, np.ndarray):
        output = output.tolist()
    return tuple(map(plain, output)) if isinstance(output, (list, tuple)) else output


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """A model that is not too sure of itself, an input, its scores, and all outputs with p."""
    structure, X, y, options = CASES[request.param]
    model = StructuredPerceptron(structure, max_iter=2, random_state=0, **options).fit(X, y)
    model.calibration_ = Calibration(T, 1000, 0.0)
    one = X[:1]
    (scores,) = model._inputs(one).scores()
    outputs = list(model.structure_.outputs(**scores))
    values = np.array([model.structure_.score(z, **scores) for z in outputs])
    p = np.exp((values - values.max()) / T)
    return model, one, scores, [model._name(z) for z in outputs], values, p / p.sum()


def test_temperature(case):
    assert case[0].temperature_ == T
    assert case[0].calibrated_


def test_k_best_lists(case):
    model, X, _, outputs, values, _ = case
    (ranked,) = model.predict_kbest(X, 10 * len(outputs))
    possible = {plain(y): v for y, v in zip(outputs, values, strict=True) if v > -math.inf}
    assert {plain(y) for _, y in ranked} == set(possible)
    for score, y in ranked:
        assert score == pytest.approx(possible[plain(y)], abs=1e-9)
    assert [s for s, _ in ranked] == sorted((s for s, _ in ranked), reverse=True)


def test_probabilities_of_outputs(case):
    model, X, _, outputs, values, p = case
    known = [
        k for k in range(len(outputs)) if values[k] > -math.inf and tells_size(model, outputs[k])
    ]
    repeated = np.repeat(X, len(known), axis=0) if isinstance(X, np.ndarray) else X * len(known)
    found = model.predict_proba(repeated, [outputs[k] for k in known])
    np.testing.assert_allclose(found, p[known], rtol=1e-9)
    loss = model.log_loss(repeated, [outputs[k] for k in known])
    assert loss == pytest.approx(-np.log(p[known]).mean())
    best = np.ravel(model.predict_proba(X))
    if model.structure_.single_site:
        np.testing.assert_allclose(best, p, rtol=1e-9)
    else:
        assert best == pytest.approx([p.max()])


def tells_size(model, output):
    """A tree of constituents is read as one over the words up to the end of its last span."""
    return not isinstance(model.structure_, Constituency) or any(end == 3 for _, end, _ in output)


def test_marginals(case):
    model, X, scores, _, _, _ = case
    expected = Exhaustive(model.structure_).marginals(temperature=T, **scores)
    (found,) = model.predict_marginals(X, block=None)
    block = model.structure_.label_block
    np.testing.assert_allclose(found[block], expected[block], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(model.predict_marginals(X)[0], found[block])


def test_confidence_is_that_of_the_predicted_parts(case):
    """The sum of the probabilities of the outputs that have a part, part by part."""
    model, X, _, outputs, _, p = case
    (found,) = model.confidence(X)
    (predicted,) = model.predict(X)
    expected = [
        sum(q for y, q in zip(outputs, p, strict=True) if part in parts_of(model, y))
        for part in parts_of(model, predicted)
    ]
    assert found == pytest.approx([min(q, 1001 / 1002) for q in expected], abs=1e-9)


def test_parts_are_right_where_the_gold_output_has_them(case):
    model, X, _, outputs, values, _ = case
    (predicted,) = model.predict(X)
    for gold, value in zip(outputs, values, strict=True):
        if value > -math.inf and tells_size(model, gold):
            _, _, (right,) = model._judged(X, [gold], {})
            known = parts_of(model, gold)
            assert right == [part in known for part in parts_of(model, predicted)]


def parts_of(model, output):
    """What is right or wrong by itself, with the place where it stands."""
    structure, y = model.structure_, plain(output)
    if isinstance(structure, (SemiMarkov, Constituency)):
        return list(y)
    if isinstance(structure, SpanningTree):
        return sorted(y)
    if isinstance(structure, Lattice):
        return [y]
    if isinstance(structure, Arborescence) and structure.labelled:
        return list(enumerate(zip(*y, strict=True)))
    return list(enumerate(np.ravel(np.array(y)).tolist()))


def test_entropy(case):
    model, X, *_, p = case
    some = p[p > 0]
    assert model.entropy(X) == pytest.approx([-(some * np.log(some)).sum()])


def test_samples(case):
    model, X, _, outputs, _, p = case
    n = 4000
    (drawn,) = model.sample(X, n, random_state=3)
    counts = dict.fromkeys(map(plain, outputs), 0)
    for y in drawn:
        counts[plain(y)] += 1
    for y, q in zip(outputs, p, strict=True):
        assert counts[plain(y)] / n == pytest.approx(q, abs=5 * math.sqrt(q * (1 - q) / n) + 1 / n)
    assert list(map(plain, model.sample(X, n, random_state=3)[0])) == list(map(plain, drawn))
    assert list(map(plain, model.sample(X, n, random_state=4)[0])) != list(map(plain, drawn))


def test_draws_of_inputs_differ():
    """Also between those that are scored together and those that are not."""
    X = [np.zeros((3, 1))] * 2100
    model = CRF(max_iter=1, tol=10.0).fit(X[:2], [["a", "b", "a"], ["b", "b", "a"]])
    drawn = [plain(y) for (y,) in model.sample(X, random_state=0)]
    assert drawn[:1024] != drawn[1024:2048]
    assert len(set(drawn[:50])) > 1


@pytest.mark.parametrize("order", [1, 2])
def test_counted_models(order):
    """A hidden Markov model: its scores are logarithms, its temperature is 1 without a dev set."""
    X = [["x", "y", "x"], ["y", "y"], ["x", "z", "z", "x"]]
    model = HMM(order=order).fit(X, [["a", "b", "a"], ["b", "b"], ["a", "b", "b", "a"]])
    assert (model.temperature_, model.calibrated_, model.calibration_) == (1.0, True, None)
    (ranked,) = model.predict_kbest(X[:1], 100)
    p = np.exp([s for s, _ in ranked] - np.logaddexp.reduce([s for s, _ in ranked]))
    np.testing.assert_allclose(model.predict_proba(X[:1] * 8, [y for _, y in ranked]), p)
    assert model.entropy(X[:1]) == pytest.approx([-(p * np.log(p)).sum()])
    expected = sum(
        q * (np.array(y)[:, None] == model.classes_) for q, (_, y) in zip(p, ranked, strict=True)
    )
    np.testing.assert_allclose(model.predict_marginals(X[:1])[0], expected)


def test_several_labels():
    X = RNG.normal(size=(30, 2))
    Y = np.stack((X[:, 0] > 0, X[:, 1] > 0, X.sum(axis=1) > 0.2), axis=1).astype(int)
    model = MultiLabelClassifier(StructuredPerceptron(max_iter=2, random_state=0)).fit(X, Y)
    assert model.temperature_ is None
    with pytest.warns(UserWarning, match="of this MultiLabelClassifier are not calibrated"):
        model.predict_proba(X)
    model.calibrate(X, Y)
    assert model.temperature_ == model.estimator_.temperature_ == model.calibration_.temperature
    (ranked,) = model.predict_kbest(X[:1], 100)
    scores = np.array([s for s, _ in ranked]) / model.temperature_
    p = np.exp(scores - np.logaddexp.reduce(scores))
    outputs = np.array([y for _, y in ranked])
    given = {"temperature": model.temperature_}
    np.testing.assert_allclose(model.predict_proba(X[[0] * 8], outputs, **given), p)
    np.testing.assert_allclose(model.predict_proba(X[:1], **given), [p @ outputs])
    assert model.entropy(X[:1], **given) == pytest.approx([-(p * np.log(p)).sum()])


# -- without sums ---------------------------------------------------------------------------------


def test_what_has_no_sums_says_so_whatever_is_asked():
    wide = StructuredPerceptron("grid", max_iter=1).fit(
        draw(2, 2, 1), [np.array(y) for y in labels(2, 2)]
    )
    pairs = StructuredPerceptron(Matching(), max_iter=1).fit(draw(3, 3, 1), [[0, 1, 2]] * 8)
    for model, X in ((wide, [RNG.normal(size=(40, 40, 1))]), (pairs, draw(3, 3, 1)[:1])):
        (best,) = model.predict(X)
        for ask in (model.predict_marginals, model.entropy, model.sample, model.predict_proba):
            with pytest.raises(CapabilityError, match="What works"):
                ask(X, temperature=1.0)
        with pytest.raises(CapabilityError, match="What works"):
            model.predict_proba(X, [best], temperature=1.0)
        with pytest.raises(CapabilityError, match="What works"):
            model.calibrate(X, [best])
        assert model.calibration(X, [best]) is None
        assert model.calibration_ is None


@pytest.mark.parametrize("forbidden", [[[]], [[(0, "N")]]])
def test_parts_of_estimators_cannot_be_forbidden(forbidden):
    words = [["fish", "sleep"]]
    for model in (CRF(), HMM()):
        model.fit(words, [["N", "V"]])
        with pytest.raises(CapabilityError, match="cannot be forbidden"):
            model.predict_kbest(words, forbidden=forbidden)
