"""Inputs of loaded models under automata, against the enumeration of all outputs."""

import math

import numpy as np
import pytest
from fuzz.automata import Automaton, draw_automaton

from structlearn import _core
from structlearn.exceptions import CapabilityError, InfeasibleError
from structlearn.models.inputs import NativeInputs
from structlearn.structures.chains.automata import accepts
from tests.models.test_queries import CASES, Enumerated, parts_of
from tests.tasks.tagging.tagger_data import tagged

TEXTS = [["the", "dog"], ["sleeps"], ["dogs", "see", "the", "cat"]]


def symbols(y):
    return [(t, k) for t, k in enumerate(y) if k >= 0]


def without(*labels, n_labels, positions=()):
    """An automaton that wants none of the labels, everywhere or at some positions."""
    table = np.zeros((1, n_labels), dtype=np.int32)
    table[0, list(labels)] = -1
    if positions:
        length, places = positions
        table = np.repeat(table[np.newaxis], length, axis=0)
        table[[t for t in range(length) if t not in places]] = 0
    return Automaton(table, 0, np.array([True]))


@pytest.fixture(scope="module", params=CASES)
def asked(request):
    """The inputs of a model, one by one, its labels, and the enumeration of each."""
    task = CASES[request.param]()
    X = [[(w,) for w in text] for text in TEXTS]
    inputs = task._inputs(X)
    lists = [Enumerated(task.model_, inputs, i) for i in range(len(X))]
    single = [task._inputs([x]) for x in X]
    return task.model_, single, lists


def under(model, automata):
    return _core.LabelConstraints(automata, len(model.labels), getattr(model, "max_length", 0))


def constrained(model, inputs, automata):
    held = automata if isinstance(automata, _core.LabelConstraints) else under(model, automata)
    return NativeInputs(held.inputs(inputs.core), inputs.source, inputs.path)


def test_answers_are_those_among_accepted_outputs(asked):
    model, single, lists = asked
    rng = np.random.default_rng(0)
    tried = 0
    for inputs, every in [*zip(single, lists, strict=True)] * 8:
        length = len(every.outputs[0])
        automata = [draw_automaton(rng, len(model.labels), length)
                    for _ in range(int(rng.integers(1, 4)))]  # fmt: skip
        legal = [all(accepts(a, symbols(y)) for a in automata) for y in every.outputs]
        if not any(legal):
            continue
        tried += 1
        here = constrained(model, inputs, automata)
        outputs = [y for y, ok in zip(every.outputs, legal, strict=True) if ok]
        scores = every.scores[legal]
        solved = here.solve()
        assert solved.values[0] == pytest.approx(scores.max(), abs=1e-9)
        assert list(solved.outputs[0]) in outputs
        (ranked,) = here.kbest(5)
        assert [v for v, _ in ranked] == pytest.approx(np.sort(scores)[::-1][:5].tolist(), abs=1e-9)
        assert all(list(y) in outputs for _, y in ranked)
        temperature = float(rng.choice([0.3, 1.0, 8.0]))
        x = scores / temperature
        p = np.exp(x - x.max())
        total, p = x.max() + math.log(p.sum()), p / p.sum()
        assert here.log_partition(temperature)[0] == pytest.approx(temperature * total, abs=1e-9)
        entropy = -(p[p > 0] * np.log(p[p > 0])).sum()
        assert here.entropy(temperature)[0] == pytest.approx(entropy, abs=1e-9)
        assert all(list(y) in outputs for y in here.sample(9, temperature, seed=1)[0])
        shares = {}
        for share, y in zip(p, outputs, strict=True):
            for part in parts_of(model, y):
                shares[part] = shares.get(part, 0.0) + share
        found = {(a, b, k): q for a, b, k, q in here.marginals(temperature, merged=False)[0]}
        for part in found.keys() | shares.keys():
            assert found.get(part, 0.0) == pytest.approx(shares.get(part, 0.0), abs=1e-9)
        best = solved.outputs[0]
        for part, sure in zip(parts_of(model, list(best)), here.certainties([best], temperature)[0],
                              strict=True):  # fmt: skip
            assert sure >= shares[part] - 1e-9  # labels that are written alike add up
        assert here.score([outputs[0]])[0] == pytest.approx(scores[0], abs=1e-9)
        if not all(legal):
            rejected = every.outputs[legal.index(False)]
            assert here.score([rejected])[0] == -math.inf
        for _, margin, rival in here.rivals([best])[0]:
            assert rival in outputs if rival else margin == math.inf
    assert tried > 3


def test_nothing_accepted_is_an_error(asked):
    model, single, _ = asked
    n = len(model.labels)
    with pytest.raises(
        InfeasibleError, match="input 0: no legal output is left: the constraints cannot"
    ):
        constrained(model, single[0], [without(*range(n), n_labels=n)]).solve()


def test_automata_that_do_not_fit_are_refused(asked):
    model, single, _ = asked
    n = len(model.labels)
    with pytest.raises(ValueError, match="an automaton over other labels"):
        under(model, [without(0, n_labels=n + 1)])
    with pytest.raises(ValueError, match="for 7 positions, there are 2"):
        constrained(model, single[0], [without(0, n_labels=n, positions=(7, ()))]).solve()


def test_automata_are_read_once_for_many_calls(asked):
    model, single, _ = asked
    n = len(model.labels)
    automata = [without(n - 1, n_labels=n)]
    once = under(model, automata)
    for inputs in single:
        there = constrained(model, inputs, automata).solve().outputs[0]
        assert list(constrained(model, inputs, once).solve().outputs[0]) == list(there)


def draw_runs(n_labels, label):
    """At most one run of a label."""
    table = np.array([[0], [2], [2]], dtype=np.int32).repeat(n_labels, axis=1)
    table[:, label] = 1, 1, -1
    return Automaton(table, 0, np.ones(3, dtype=bool))


def test_candidates_become_more_where_none_is_accepted():
    model = CASES["candidates"]()
    inputs = model._inputs([[(w,) for w in TEXTS[0]]])
    n = len(model.model_.labels)
    chosen = {k for _, _, k, _ in inputs.marginals(1.0, merged=False)[0]}
    assert len(chosen) < n
    automaton = without(*chosen, n_labels=n)
    (found,) = constrained(model.model_, inputs, [automaton]).solve().outputs
    assert not chosen & set(found)
    assert len(found) == 2
    assert set(inputs.solve().outputs[0]) <= chosen


def test_models_of_trees_have_no_automata():
    from structlearn.datasets import make_treebank
    from structlearn.tasks import DependencyParser

    bank = make_treebank(20, random_state=0)
    parser = DependencyParser(gold_tags=True, hash_bits=12, n_models=1, max_iter=1, order=1)
    rows = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in bank]
    parser.fit(rows)
    inputs = parser._inputs([[(w, t) for w, t, *_ in rows[0]]])
    with pytest.raises(CapabilityError, match="labels of sequences"):
        _core.LabelConstraints([without(0, n_labels=2)], 2).inputs(inputs.core).solve()


def test_several_threads_give_the_same_answers():
    task = CASES["order 1"]()
    X = [[(w,) for w, _ in s] for s in tagged(30, seed=3)]
    inputs = task._inputs(X)
    n = len(task.model_.labels)
    automata = [draw_runs(n, k) for k in range(n)]
    one, two = (constrained(task.model_, inputs, automata) for _ in range(2))
    assert [list(y) for y in one.solve(1).outputs] == [list(y) for y in two.solve(4).outputs]
    assert one.log_partition(1.0, 1) == two.log_partition(1.0, 4)
