"""duality_gap_ is a proof: the optimum, found by other means, is never further away."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.estimators import (
    AROW,
    CRF,
    AdaGrad,
    PassiveAggressive,
    StructuredModel,
    StructuredPerceptron,
    StructuredSVM,
)
from structlearn.exceptions import ConvergenceWarning
from structlearn.losses import Cost
from structlearn.structures import Chain, Exhaustive, Lattice
from tests.estimators.estimator_data import quietly
from tests.learners.convex_reference import Enumerated
from tests.learners.learner_transcripts import ChainModel, MulticlassModel


def data(kind, seed=0):
    """Return (structure, X, y, phi, gold, cost) of a small problem, all outputs enumerated."""
    rng = np.random.default_rng(seed)
    if kind == "lattice":
        return lattice_data(rng)
    if kind == "multiclass":
        X = rng.normal(size=(12, 3))
        y = [int(k) for k in np.argmax(X + 0.8 * rng.normal(size=X.shape), axis=1)]
        model = MulticlassModel(3, 3)
        structure = "multiclass"
    else:
        X = [rng.normal(size=(length, 2)) for length in (1, 2, 3, 2, 3, 1, 2)]
        y = [[int(k) for k in rng.integers(0, 2, size=len(x))] for x in X]
        model = ChainModel(2, 2)
        structure = "chain" if kind == "chain" else Exhaustive(Chain())
    phi = [np.array([model.phi(x, z) for z in model.outputs(x)]) for x in X]
    gold = [list(model.outputs(x)).index(k) for x, k in zip(X, y, strict=True)]
    cost = [
        np.array([model.cost(k, z) for z in model.outputs(x)]) for x, k in zip(X, y, strict=True)
    ]
    return structure, X, y, phi, gold, cost


class MissedEdges(Cost):
    def parts(self, structure, y, **scores):
        gold = structure.encode(y, **scores)["edge"]
        return {"edge": -gold}, float(gold.sum())


def lattice_data(rng):
    lattice = Lattice([(0, 1), (0, 1), (1, 2), (1, 3), (2, 3), (0, 3)])
    paths = list(lattice.outputs())
    X = [{"edge": rng.normal(size=(6, 3))} for _ in range(6)]
    gold = [int(g) for g in rng.integers(len(paths), size=6)]
    phi = [np.array([x["edge"][z].sum(axis=0) for z in paths]) for x in X]
    cost = [np.array([float(len(set(paths[g]) - set(z))) for z in paths]) for g in gold]
    return lattice, X, [paths[g] for g in gold], phi, gold, cost


def check(estimator, reference, optimum, slack=1e-6):
    """objective_ is the primal, and the gap bounds its distance from the optimum."""
    assert estimator.objective_ >= optimum - slack * abs(optimum)
    assert estimator.objective_ - optimum <= estimator.duality_gap_ + slack * abs(optimum)
    w = flat(estimator)
    assert estimator.objective_ == pytest.approx(reference.primal(w), rel=1e-10)


def flat(estimator):
    """coef_ in the order of the transcripts."""
    coef = estimator.coef_
    if not isinstance(coef, dict):
        return coef.ravel()
    return np.concatenate([coef[n].ravel() for n in ("label", "start", "end", "transition", "edge")
                           if n in coef])  # fmt: skip


KINDS = ["multiclass", "chain", "enumerated chain", "lattice"]


def cost_for(kind):
    return MissedEdges() if kind == "lattice" else "hamming"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("margin", "temperature"), [(0, 1), (1, 0.5)])
@pytest.mark.parametrize("l1", [0.0, 1.0])
def test_lbfgs(kind, margin, temperature, l1):
    structure, X, y, *enumerated = data(kind)
    reference = Enumerated(*enumerated, C=0.8, margin=margin, temperature=temperature, l1=l1)
    optimum = reference.optimum()
    for max_iter, tol in [(1, 0.0), (2, 0.0), (4, 0.0), (1000, 1e-3), (1000, 1e-9)]:
        model = CRF(
            structure, C=0.8, l1=l1, margin=margin, temperature=temperature, cost=cost_for(kind),
            tol=tol, max_iter=max_iter, random_state=0)  # fmt: skip
        quietly(model, X, y)
        check(model, reference, optimum)
        if max_iter == 1000:
            assert model.duality_gap_ <= tol * model.objective_
    assert model.objective_ == pytest.approx(optimum, rel=1e-7)
    if l1 and kind != "lattice":
        assert (flat(model) == 0).any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_hinge_by_subgradient(kind, C):
    structure, X, y, *enumerated = data(kind)
    reference = Enumerated(*enumerated, C=C, margin=1, temperature=0)
    optimum = reference.optimum()
    tightest = np.inf
    for average, max_iter in itertools.product((True, False), (1, 2, 3, 10, 64)):
        model = StructuredSVM(
            structure, C=C, cost=cost_for(kind), tol=0, max_iter=max_iter, average=average,
            random_state=max_iter, solver="sgd",
        )  # fmt: skip
        quietly(model, X, y)
        check(model, reference, optimum)
        tightest = min(tightest, model.duality_gap_)
    assert tightest < 0.5 * optimum


@pytest.mark.parametrize("kind", ["multiclass", "chain"])
@pytest.mark.parametrize("step", ["decaying", "constant"])
def test_log_loss_by_stochastic_gradient(kind, step):
    structure, X, y, *enumerated = data(kind)
    reference = Enumerated(*enumerated, C=1.0, margin=0, temperature=1)
    optimum = reference.optimum()
    for max_iter in (1, 3, 64):
        model = CRF(structure, solver="sgd", step=step, max_iter=max_iter, tol=0, random_state=0)
        quietly(model, X, y)
        check(model, reference, optimum)


def test_stochastic_gradient_stops_at_the_tolerance():
    structure, X, y, *_ = data("chain")
    model = CRF(structure, solver="sgd", max_iter=4096, tol=1e-2, random_state=0).fit(X, y)
    assert model.duality_gap_ <= 1e-2 * model.objective_
    assert model.n_iter_ < 4096
    model = StructuredSVM(structure, C=0.1, solver="sgd", max_iter=4096, random_state=0).fit(X, y)
    assert model.duality_gap_ <= 1e-2 * model.objective_
    assert model.n_iter_ < 4096


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_sample_weights_are_part_of_the_proof(scale):
    structure, X, y, *enumerated = data("chain")
    weights = scale * np.array([0, 1, 2, 3, 0.5, 1, 2])
    reference = Enumerated(*enumerated, C=0.2, margin=1, temperature=0, weights=weights)
    optimum = reference.optimum()
    for max_iter in (1, 2, 7, 1024):
        model = StructuredSVM(
            structure, C=0.2, solver="sgd", tol=0, max_iter=max_iter, random_state=1
        )
        quietly(model, X, y, sample_weight=weights)
        check(model, reference, optimum)
    assert model.duality_gap_ < 0.05 * optimum


def test_table_with_a_cost_for_the_right_label():
    """δ(k, k) > 0 only shifts the objective; the gap must know."""
    structure, X, y, phi, gold, cost = data("multiclass")
    table = 1.5 - np.eye(3)
    reference = Enumerated(phi, gold, [c + 0.5 for c in cost], C=0.3, margin=1, temperature=0)
    model = StructuredSVM(structure, C=0.3, cost=table, tol=0, max_iter=64, random_state=0)
    check(quietly(model, X, y), reference, reference.optimum())


def test_going_on_proves_nothing_about_other_data():
    """partial_fit over changing data: the gap is about the batch of the last call alone."""
    for seed, C in itertools.product(range(3), (0.1, 1.0)):
        structure, X, y, phi, gold, cost = data("chain", seed)
        model = StructuredSVM(structure, C=C, solver="sgd", random_state=0)
        for begin in (0, 2, 4, 0, 2):
            part = slice(begin, begin + 3)
            model.partial_fit(X[part], y[part], classes=[0, 1])
            reference = Enumerated(phi[part], gold[part], cost[part], C=C, margin=1, temperature=0)
            check(model, reference, reference.optimum())


def test_warm_start_proves_nothing_from_the_old_data():
    structure, X, y, phi, gold, cost = data("chain")
    model = StructuredSVM(structure, C=0.5, warm_start=True, max_iter=8, tol=0, random_state=0)
    for part in (slice(0, 4), slice(3, 7), slice(0, 7)):
        quietly(model, X[part], y[part])
        reference = Enumerated(phi[part], gold[part], cost[part], C=0.5, margin=1, temperature=0)
        check(model, reference, reference.optimum())


def zero_one_reference(phi, gold, cost, **options):
    return Enumerated(phi, gold, [(c > 0).astype(float) for c in cost], margin=1, **options)


@given(
    kind=st.sampled_from(["multiclass", "chain", "lattice"]),
    seed=st.integers(0, 20),
    solver=st.sampled_from(["lbfgs", "dual", "sag", "sgd"]),
    temperature=st.sampled_from([1 / 12, 0.1, 0.3, 1.0, 3.0]),
    C=st.floats(0.01, 20),
    scale=st.sampled_from([0.1, 1.0, 20.0]),
    max_iter=st.sampled_from([1, 3, 20, 300]),
)
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
def test_zero_one_cost_above_temperature_zero(kind, seed, solver, temperature, C, scale, max_iter):
    structure, X, y, phi, gold, cost = data(kind, seed)
    X = [{k: scale * v for k, v in x.items()} if isinstance(x, dict) else scale * x for x in X]
    n = {"multiclass": 9, "lattice": 3}.get(kind, 4)
    phi = [np.hstack([scale * p[:, :n], p[:, n:]]) for p in phi]
    reference = zero_one_reference(phi, gold, cost, C=C, temperature=temperature)
    model = CRF(
        structure, solver=solver, C=C, margin=1, temperature=temperature, cost="zero-one",
        max_iter=max_iter, tol=1e-6, random_state=0,
    )  # fmt: skip
    quietly(model, np.array(X) if kind == "multiclass" else X, y)
    check(model, reference, reference.optimum())
    assert model.duality_gap_ >= 0
    assert all(record.get("gap", 0) >= 0 for record in model.history_)


@pytest.mark.parametrize("solver", ["lbfgs", "dual", "sag", "sgd"])
def test_zero_one_cost_refuses_temperatures_that_rounding_spoils(solver):
    structure, X, y, *_ = data("chain")
    for margin, temperature in [(1.0, 0.01), (3.0, 0.2), (1.0, 1 / 12.1)]:
        model = CRF(
            structure,
            solver=solver,
            margin=margin,
            temperature=temperature,
            cost="zero-one",
            random_state=0,
        )
        with pytest.raises(ValueError, match="the zero-one cost needs temperature >= margin / 12"):
            model.fit(X, y)


def test_no_proof_where_there_is_none():
    structure, X, y, *enumerated = data("chain")
    constant = StructuredSVM(
        structure, C=0.8, solver="sgd", step="constant", max_iter=5, random_state=0
    ).fit(X, y)
    assert constant.duality_gap_ is None
    reference = Enumerated(*enumerated, C=0.8, margin=1, temperature=0)
    assert constant.objective_ == pytest.approx(reference.primal(flat(constant)), rel=1e-12)
    partial = [[None, *row[1:]] for row in y]
    latent = StructuredModel(structure, temperature=1, margin=0, max_iter=200, random_state=0).fit(
        X, partial
    )
    assert latent.duality_gap_ is None  # not convex
    assert latent.objective_ > 0


def test_warns_where_the_tolerance_was_not_reached():
    structure, X, y, *_ = data("chain")
    for model in (
        StructuredSVM(structure, max_iter=2, random_state=0),
        CRF(structure, max_iter=1, tol=1e-12, random_state=0),
    ):
        with pytest.warns(ConvergenceWarning, match=r"gap of .*[Rr]aise max_iter,? or tol"):
            model.fit(X, y)


def test_warns_where_losses_still_changed():
    """Learners that prove nothing say so too; those that only count passes do not."""
    structure, X, y, *_ = data("chain")
    partial = [[None, *row[1:]] for row in y]
    message = r"last pass changed the losses by .* of their sum, above tol=.*; raise max_iter"
    for model, labels in [
        (AdaGrad(structure, max_iter=1, random_state=0), y),
        (StructuredSVM(structure, solver="sgd", max_iter=1, random_state=0), partial),
        (CRF(structure, solver="sgd", max_iter=2, tol=1e-9, random_state=0), partial),
    ]:
        with pytest.warns(ConvergenceWarning, match=message):
            model.fit(X, labels)
    CRF(structure, solver="sgd", max_iter=300, tol=1e-2, random_state=0).fit(X, partial)
    StructuredSVM(structure, solver="sgd", step="constant", max_iter=2, tol=0, random_state=0).fit(
        X, y
    )
    StructuredPerceptron(structure, max_iter=1, random_state=0).fit(X, y)
    PassiveAggressive(structure, max_iter=1, random_state=0).fit(X, y)
    AROW(structure, max_iter=1, random_state=0).fit(X, y)


def test_loss_curve_carries_seconds_calls_and_gap():
    structure, X, y, *_ = data("chain")
    model = StructuredSVM(structure, random_state=0).fit(X, y)
    curve = pickle.loads(pickle.dumps(model)).loss_curve_
    assert curve == model.loss_curve_ == [record["loss"] for record in model.history_]
    assert isinstance(curve, list)
    assert curve.seconds == [record["seconds"] for record in model.history_]
    assert curve.oracle_calls == [record["oracle_calls"] for record in model.history_]
    assert curve.gap == [record.get("gap") for record in model.history_]
    assert curve.gap[-1] == model.duality_gap_
    assert curve.objective[-1] == model.objective_


def test_smooth_losses_only_for_lbfgs():
    structure, X, y, *_ = data("chain")
    with pytest.raises(ValueError, match="needs a smooth loss: temperature > 0"):
        StructuredModel(structure, solver="lbfgs", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="l1 > 0 needs solver='lbfgs'"):
        CRF(structure, l1=0.1, solver="sgd", random_state=0).fit(X, y)
