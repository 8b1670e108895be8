"""Chains and segmentations under automata: laziness, certificates, batches, refusals.

`fuzz/structures.py` compares their answers with enumeration.
"""

import math
import pickle

import numpy as np
import pytest
from fuzz.automata import Automaton, draw_automata

from structlearn.exceptions import CapabilityError, InfeasibleError
from structlearn.structures import Chain, ConstrainedChain, ConstrainedSemiMarkov, SemiMarkov
from structlearn.testing import check_structure


def at_most(n, label, n_labels):
    table = np.tile(np.arange(n + 1)[:, np.newaxis], n_labels)
    table[:, label] = [*range(1, n + 1), -1]
    return Automaton(table.astype(np.int32), 0, np.ones(n + 1, dtype=bool))


def one_run(label, n_labels):
    table = np.array([[0], [2], [2]], dtype=np.int32).repeat(n_labels, axis=1)
    table[:, label] = 1, 1, -1
    return Automaton(table, 0, np.ones(3, dtype=bool))


def runs(y):
    starts = [0, *(t for t in range(1, len(y)) if y[t] != y[t - 1])]
    return [int(y[t]) for t in starts]


def scores(rng, length, n_labels, scale=1.0):
    return {
        "label": scale * rng.normal(size=(length, n_labels)),
        "transition": rng.normal(size=(n_labels, n_labels)),
    }


def test_the_structures_are_proven_by_the_kit():
    """Every query, the kit's own enumeration."""
    rng = np.random.default_rng(0)
    once, run = at_most(1, 1, 2), one_run(0, 2)
    for order in range(3):
        window = (2,) * (order + 1)
        table = {"transition": rng.normal(size=window)} if order else {}
        theta = {"label": rng.normal(size=(4, 2)), **table}
        report = check_structure(ConstrainedChain([once, run], order), theta)
        assert {"kbest", "count", "sample", "entropy"} <= set(report.checked)
    segments = {"segment": rng.normal(size=(4, 2, 2)), "transition": rng.normal(size=(2, 2))}
    check_structure(ConstrainedSemiMarkov([once], 2), segments)


# -- best outputs ---------------------------------------------------------------------------------


def test_only_automata_that_reject_an_answer_join_the_product():
    free = {"label": np.eye(6)[[0, 0, 1, 1, 2, 2]] * 5.0}
    every = ConstrainedChain([one_run(k, 6) for k in range(6)])
    assert every.solve(**free).states == 1
    again = {"label": np.eye(6)[[0, 1, 0, 2, 3, 4]] * 5.0}
    found = every.solve(**again)
    assert found.states == 3
    assert found.exact
    assert found.bound == found.value == 25.0
    assert found.method == "automaton"
    assert len(runs(found.output)) == len(set(runs(found.output)))


def test_many_constraints_at_once_need_few_of_their_states():
    rng = np.random.default_rng(1)
    n_labels = 29
    chain = ConstrainedChain([one_run(k, n_labels) for k in range(n_labels)])
    for _ in range(40):
        theta = scores(rng, 6, n_labels)
        found = chain.solve(**theta)
        assert len(set(runs(found.output))) == len(runs(found.output))
        assert found.value == pytest.approx(Chain().score(found.output, **theta), abs=1e-12)
        (first, *_) = [(v, y) for v, y in Chain().kbest(2000, **theta) if chain.accepts(y)]
        assert found.value == pytest.approx(first[0], abs=1e-12)
        ranked = chain.kbest(4, **theta)
        wanted = [v for v, y in Chain().kbest(3000, **theta) if chain.accepts(y)][:4]
        assert [v for v, _ in ranked][: len(wanted)] == pytest.approx(wanted, abs=1e-12)


def test_ties_are_settled_by_value():
    chain = ConstrainedChain([at_most(1, 1, 2), at_most(1, 0, 2)])
    ranked = chain.kbest(9, label=np.zeros((2, 2)))
    assert sorted(tuple(y) for _, y in ranked) == [(0, 1), (1, 0)]
    assert [v for v, _ in ranked] == [0.0, 0.0]


def test_a_product_without_room_tells_how_many_states_it_would_take():
    label = np.eye(2)[[0, 1, 0, 1, 0, 1]] * 5.0
    chain = ConstrainedChain([one_run(0, 2), one_run(1, 2)], max_states=2)
    for query in ("argmax", "solve", "log_partition", "marginals", "entropy"):
        with pytest.raises(
            CapabilityError,
            match=r"up to 9 states, on \d+ positions with \d+ labels; "
            r"there may be 2 states \(max_states\)",
        ):
            getattr(chain, query)(label=label)
    with pytest.raises(CapabilityError, match="up to 9 states"):
        chain.kbest(2, label=label)
    with pytest.raises(CapabilityError, match="up to 9 states"):
        chain.sample(2, label=label)
    with pytest.raises(CapabilityError, match="max_states=2"):
        chain.count(label=label)


def test_a_product_whose_tables_have_no_room_tells_so():
    """Here max_states, 16,384, is not what is in the way."""
    label = np.random.default_rng(0).normal(size=(200, 10))
    chain = ConstrainedChain([at_most(20, k, 10) for k in range(3)])
    with pytest.raises(CapabilityError, match=r"9261 states, on 200 positions .* 8388608 triples"):
        chain.log_partition(label=label)


# -- sums -----------------------------------------------------------------------------------------


def peaked(rng, length, n_labels):
    """Scores whose best labels stand in one run each, by far."""
    best = np.sort(rng.integers(0, n_labels, size=length))
    label = rng.normal(size=(length, n_labels))
    label[np.arange(length), best] += 14.0
    return {"label": label, "transition": 0.1 * rng.normal(size=(n_labels, n_labels))}


def test_certified_sums_are_as_close_as_they_say():
    rng = np.random.default_rng(2)
    n_labels = 8
    automata = [one_run(k, n_labels) for k in range(n_labels)]
    exact = ConstrainedChain(automata, max_states=1 << 20)
    for tolerance in (1e-9, 1e-6, 1e-3):
        chain = ConstrainedChain(automata, max_states=300, tolerance=tolerance)
        proofs = []
        for _ in range(40):
            theta = peaked(rng, 6, n_labels)
            whole = exact.certified_sum(**theta)
            assert whole.bound == 0
            assert whole.automata == n_labels
            found = chain.certified_sum(**theta)
            proofs.append(found)
            assert found.bound <= tolerance
            assert found.states <= 300
            slack = 1e-12 * abs(whole.value)
            least = found.value + math.log1p(-found.bound)
            assert least - slack <= whole.value <= found.value + slack
            assert chain.log_partition(**theta) == found.value
            here, there = chain.marginals(**theta), exact.marginals(**theta)
            for name in here:
                assert np.abs(here[name] - there[name]).max() <= 2 * found.bound + 1e-10
            assert chain.entropy(**theta) == pytest.approx(
                exact.entropy(**theta), abs=40 * found.bound + 1e-9
            )
        assert any(p.bound > 0 for p in proofs)
        assert any(p.automata < n_labels for p in proofs)


def test_samples_are_accepted_whatever_the_certificate():
    rng = np.random.default_rng(3)
    chain = ConstrainedChain([one_run(k, 4) for k in range(4)], max_states=20, tolerance=0.9)
    theta = scores(rng, 5, 4)
    assert chain.certified_sum(**theta).bound > 0.05
    drawn = chain.sample(300, random_state=0, **theta)
    assert all(chain.accepts(y) for y in drawn)
    np.testing.assert_array_equal(drawn, chain.sample(300, random_state=0, **theta))
    # Draws that were rejected are drawn again: the frequencies are those of the exact sums.
    exact = ConstrainedChain([one_run(k, 4) for k in range(4)]).marginals(**theta)["label"]
    counts = np.stack([(drawn == k).mean(axis=0) for k in range(4)], axis=1)
    assert np.abs(counts - exact).max() < 0.12


def test_sums_of_spread_scores_say_what_they_would_take():
    rng = np.random.default_rng(4)
    chain = ConstrainedChain([one_run(k, 29) for k in range(29)])
    with pytest.raises(CapabilityError, match=r"a share of up to .* of the sum is missing"):
        chain.log_partition(**scores(rng, 12, 29, 0.1))


def test_temperature_towards_zero_is_the_best_output():
    rng = np.random.default_rng(5)
    chain = ConstrainedChain([at_most(1, 0, 3), one_run(1, 3)])
    theta = scores(rng, 7, 3)
    best = chain.solve(**theta)
    assert chain.log_partition(temperature=0.0, **theta) == pytest.approx(best.value)
    assert chain.log_partition(temperature=1e-4, **theta) == pytest.approx(best.value, abs=2e-3)
    counts = chain.infer(temperature=0.0, **theta)[1]["label"]
    np.testing.assert_array_equal(counts.argmax(axis=1), best.output)


def test_counts_are_whole_numbers_of_any_size():
    n = 400  # sequences of two labels with at most one 1, which stands at any place or nowhere
    assert ConstrainedChain([at_most(1, 1, 2)]).count(label=np.zeros((n, 2))) == n + 1
    found = ConstrainedChain([at_most(200, 1, 2)]).count(label=np.zeros((n, 2)))
    assert found == sum(math.comb(n, k) for k in range(201))
    segments = ConstrainedSemiMarkov([at_most(2, 0, 1)], n).count(segment=np.zeros((n, n, 1)))
    assert segments == n  # one segment, or two with n - 1 places for the cut


# -- examples and batches -------------------------------------------------------------------------


def batch(rng, n, kind):
    """Examples of different lengths, and automata that some of them bring."""
    examples = []
    for _ in range(n):
        length = int(rng.integers(1, 6))
        if kind is ConstrainedChain:
            theta = {"label": rng.normal(size=(length, 3))}
        else:
            theta = {"segment": rng.normal(size=(length, 2, 3))}
        examples.append({**theta, "automata": draw_automata(rng, 3, length)})
    return examples


@pytest.mark.parametrize(("kind", "size"), [(ConstrainedChain, 1), (ConstrainedSemiMarkov, 2)])
def test_a_batch_is_its_examples(kind, size):
    rng = np.random.default_rng(6)
    structure = kind([one_run(0, 3)], size)
    transition = rng.normal(size=(3, 3))
    examples = []
    for one in batch(rng, 60, kind):
        try:
            structure.argmax(**one, transition=transition)
        except InfeasibleError:
            continue
        examples.append(one)
    assert 10 < len(examples) < 60
    listed = {name: [one[name] for one in examples] for name in examples[0]}
    for jobs in (1, 3):
        given = {**listed, "transition": transition, "n_jobs": jobs}
        outputs, solved = structure.argmax(**given), structure.solve(**given)
        sums = structure.certified_sum(**given)
        ranked, nats = structure.kbest(3, **given), structure.entropy(**given)
        marginals = structure.marginals(**given)
        for i, one in enumerate(examples):
            one = {**one, "transition": transition}
            alone = structure.solve(**one)
            assert np.array_equal(outputs[i], alone.output)
            assert solved[i].value == alone.value
            assert solved[i].states == alone.states
            assert sums[i] == structure.certified_sum(**one)
            assert [v for v, _ in ranked[i]] == [v for v, _ in structure.kbest(3, **one)]
            assert nats[i] == structure.entropy(**one)
            for name, p in structure.marginals(**one).items():
                np.testing.assert_array_equal(marginals[i][name], p)


def test_automata_of_a_batch_may_be_shared():
    chain = ConstrainedChain([])
    label = np.array([[0.0, 2.0], [0.0, 3.0]])
    found = chain.argmax(label=[label, label], automata=[at_most(1, 1, 2)])
    assert [y.tolist() for y in found] == [[0, 1], [0, 1]]
    each = chain.argmax(label=[label, label], automata=[[at_most(1, 1, 2)], []])
    assert [y.tolist() for y in each] == [[0, 1], [1, 1]]


def test_without_automata_it_is_the_chain():
    rng = np.random.default_rng(7)
    theta = scores(rng, 9, 4)
    mine, plain = ConstrainedChain([]), Chain()
    np.testing.assert_array_equal(mine.argmax(**theta), plain.argmax(**theta))
    assert mine.log_partition(**theta) == pytest.approx(plain.log_partition(**theta), abs=1e-12)
    assert mine.count(**theta) == plain.count(**theta)
    segment = {"segment": rng.normal(size=(5, 3, 2))}
    assert ConstrainedSemiMarkov([], 3).argmax(**segment) == SemiMarkov(3).argmax(**segment)


def test_pickled_structures_answer_alike():
    rng = np.random.default_rng(8)
    theta = scores(rng, 6, 3)
    for chain in (ConstrainedChain([one_run(0, 3)], max_states=9, tolerance=1e-3),):
        again = pickle.loads(pickle.dumps(chain))
        assert (again.max_states, again.tolerance, again.order) == (9, 1e-3, 1)
        assert again.log_partition(**theta) == chain.log_partition(**theta)


# -- refusals -------------------------------------------------------------------------------------


def test_nothing_accepted_is_infeasible():
    never = Automaton(np.array([[0, 0]], dtype=np.int32), 0, np.array([False]))
    for query in ("argmax", "solve", "log_partition", "marginals", "entropy", "certified_sum"):
        with pytest.raises(InfeasibleError, match="no legal output is left"):
            getattr(ConstrainedChain([never]), query)(label=np.zeros((3, 2)))
    with pytest.raises(InfeasibleError, match="no legal output is left"):
        ConstrainedChain([never]).kbest(2, label=np.zeros((3, 2)))
    each = [[], [at_most(0, 0, 1)]]
    with pytest.raises(InfeasibleError, match="example 1"):
        ConstrainedChain([]).argmax(label=[np.zeros((1, 1))] * 2, automata=each)
    assert ConstrainedChain([never]).count(label=np.zeros((3, 2))) == 0


def test_outputs_that_an_automaton_rejects_have_no_score():
    chain = ConstrainedChain([at_most(1, 1, 2)])
    label = np.zeros((2, 2))
    assert chain.score([1, 1], label=label) == -math.inf
    with pytest.raises(ValueError, match="an automaton rejects the output"):
        chain.encode([1, 1], label=label)
    assert chain.score([1, 0], label=label) == 0.0


def test_a_beam_is_refused_with_what_works():
    with pytest.raises(CapabilityError, match=r"no beam search.*argmax"):
        ConstrainedChain([]).beam(3, label=np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("next_", "start", "accepting", "message"),
    [
        ([[0, 1]], 0, [True], "leads to the state 1; it has 1"),
        ([[0, -2]], 0, [True], "leads to the state -2"),
        ([[0, 0]], 1, [True], "no state 1 to start from"),
        ([[0, 0]], 0, [True, False], "accepting of shape"),
        ([0, 0], 0, [True], "shape"),
        ("ab", 0, [True], "is not an automaton"),
        (np.zeros((0, 2)), 0, np.zeros(0), "at least one state"),
    ],
)
def test_tables_that_are_no_automata_are_refused(next_, start, accepting, message):
    with pytest.raises(ValueError, match=message):
        ConstrainedChain([Automaton(next_, start, accepting)])


def test_automata_for_other_inputs_are_refused():
    with pytest.raises(ValueError, match="reads 3 labels, there are 2"):
        ConstrainedChain([one_run(0, 3)]).argmax(label=np.zeros((4, 2)))
    varying = Automaton(np.zeros((5, 1, 2), dtype=np.int32), 0, np.array([True]))
    with pytest.raises(ValueError, match="for 5 positions, there are 4"):
        ConstrainedChain([varying]).argmax(label=np.zeros((4, 2)))
    with pytest.raises(ValueError, match="does not hold automata"):
        ConstrainedChain([]).argmax(label=np.zeros((4, 2)), automata=np.array([2, 1, 1]))
    for wrong in ({"max_states": 0}, {"tolerance": 1.0}, {"tolerance": math.nan}):
        with pytest.raises(ValueError, match=r"max_states|tolerance"):
            ConstrainedChain([], **wrong)


def test_without_automata_each_call_may_have_another_number_of_labels():
    chain, segments = ConstrainedChain([]), ConstrainedSemiMarkov([], 2)
    for n_labels in (2, 5, 3, 70):
        label = np.zeros((3, n_labels))
        assert np.isclose(chain.log_partition(label=label), 3 * np.log(n_labels))
        found = segments.log_partition(segment=np.zeros((1, 2, n_labels)))
        assert np.isclose(found, np.log(n_labels))
