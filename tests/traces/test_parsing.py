import itertools

import numpy as np
import pytest

from structlearn import traces
from structlearn.exceptions import InfeasibleError
from structlearn.structures import Arborescence, Constituency, Grammar

from .replay import close, replay_fill, replay_follow


def random_grammar(rng):
    symbols = int(rng.integers(2, 5))
    every = list(itertools.product(range(symbols), repeat=3))
    rules = [every[i] for i in rng.permutation(len(every))[: rng.integers(2, 8)]]
    pairs = [p for p in itertools.permutations(range(symbols), 2) if rng.random() < 0.15]
    return Grammar(symbols, rules, pairs)


def test_cky_replays_to_argmax():
    rng = np.random.default_rng(0)
    seen = unique = 0
    for _ in range(250):
        grammar, n = random_grammar(rng), int(rng.integers(1, 5))
        scores = {
            "word": rng.normal(size=(n, grammar.n_symbols)),
            "binary": rng.normal(size=len(grammar.binary)),
        }
        if len(grammar.unary):
            scores["unary"] = rng.normal(size=len(grammar.unary))
        if rng.random() < 0.5:
            scores["root"] = rng.normal(size=grammar.n_symbols)
        structure = Constituency(grammar)
        try:
            best = structure.argmax(**scores)
        except InfeasibleError:
            with pytest.raises(InfeasibleError):
                traces.cky(grammar, **scores)
            continue
        trace = traces.cky(grammar, **scores)
        replay_fill(trace, scores)
        used = replay_follow(trace)
        total = sum(p["score"] for _, option in used for p in option["parts"])
        assert close(total, trace.value)
        assert close(trace.value, structure.score(best, **scores))
        assert close(trace.value, structure.score([tuple(s) for s in trace.answer], **scores))
        first, *rest = structure.kbest(2, **scores)
        if not rest or first[0] - rest[0][0] > 1e-9:  # rules used in another order score the same
            assert [tuple(s) for s in trace.answer] == best
            unique += 1
        summed = traces.cky(grammar, temperature=0.7, **scores)
        assert close(summed.value, structure.log_partition(temperature=0.7, **scores))
        _, p = structure.infer(temperature=0.7, **scores)
        for name, block in p.items():
            np.testing.assert_allclose(summed.about["marginals"][name], block, atol=1e-9)
        seen += 1
    assert seen > 150
    assert unique > 50


def test_labelled_spans_replay_to_argmax():
    rng = np.random.default_rng(1)
    for _ in range(300):
        n, R = int(rng.integers(1, 6)), int(rng.integers(2, 4))
        span = rng.normal(size=(n, n + 1, R))
        trace = traces.cky(span=span)
        replay_fill(trace, {"span": span})
        replay_follow(trace)
        best = Constituency().argmax(span=span)
        assert [tuple(s) for s in trace.answer] == best
        assert close(trace.value, Constituency().score(best, span=span))


@pytest.mark.parametrize("single_root", [True, False])
def test_eisner_replays_to_argmax(single_root):
    rng = np.random.default_rng(2)
    structure = Arborescence(projective=True, single_root=single_root)
    for _ in range(300):
        n = int(rng.integers(1, 6))
        arc = rng.normal(size=(n + 1, n + 1))
        trace = traces.eisner(arc=arc, single_root=single_root)
        replay_fill(trace, {"arc": arc})
        heads = [0] * n
        for _, option in replay_follow(trace):
            for part in option["parts"]:
                heads[part["at"][1] - 1] = part["at"][0]
        assert heads == trace.answer == structure.argmax(arc=arc).tolist()
        summed = traces.eisner(arc=arc, single_root=single_root, temperature=1.0)
        assert close(summed.value, structure.log_partition(arc=arc))
        expected = structure.marginals(arc=arc)["arc"]
        np.testing.assert_allclose(summed.about["marginals"]["arc"], expected, atol=1e-9)


def replay_edmonds(trace, arc):
    """Rebuild the tree from the steps alone."""
    n = trace.about["length"]
    head, members, inner = {}, {}, {}
    for step in trace.steps:
        if step["kind"] == "choose":
            m = step["word"]
            others = [arc[h, m] for h in range(1, n + 1) if h != m]
            assert step["from_word"] == max(others, default=-np.inf)
            assert step["from_root"] == arc[0, m]
            head[m], inner[m] = step["head"], step["from_word"]
        elif step["kind"] == "contract":
            c = step["cycle"]
            members[c] = step["members"]
            assert step["inner"] == [inner[v] for v in step["members"]]
            assert step["from_node"] == max(step["enter"], default=-np.inf)
            head[c], inner[c] = step["head"], step["from_node"]
        elif step["kind"] == "penalty":
            head[step["node"]] = step["head"]
    opened = {s["cycle"]: s for s in trace.steps if s["kind"] == "expand"}
    assert set(members) == set(opened)  # every contracted cycle is opened again
    for c, step in opened.items():
        assert step["entered"] in members[c]
    return len(members)


@pytest.mark.parametrize("single_root", [True, False])
def test_chu_liu_edmonds_replays_to_argmax(single_root):
    rng = np.random.default_rng(3)
    structure = Arborescence(single_root=single_root)
    cycles = 0
    for _ in range(2000):
        n = int(rng.integers(1, 8))
        arc = rng.normal(size=(n + 1, n + 1))
        if rng.random() < 0.3:
            arc = np.round(arc)
        trace = traces.chu_liu_edmonds(arc, single_root=single_root)
        cycles += replay_edmonds(trace, arc)
        best = structure.argmax(arc=arc)
        assert trace.answer == best.tolist()
        assert trace.value == sum(arc[h, m] for m, h in enumerate(trace.answer, 1))
    assert cycles > 500


def test_arcs_with_labels_replay_to_argmax():
    rng = np.random.default_rng(4)
    for _ in range(300):
        n, R = int(rng.integers(1, 6)), int(rng.integers(1, 4))
        arc = rng.normal(size=(n + 1, n + 1, R))
        trace = traces.chu_liu_edmonds(arc)
        replay_edmonds(trace, arc.max(axis=2))
        heads, labels = Arborescence().argmax(arc=arc)
        assert trace.answer == [heads.tolist(), labels.tolist()]
        assert close(trace.value, Arborescence().score((heads, labels), arc=arc))
        projective = Arborescence(projective=True)
        trace = traces.eisner(arc=arc)
        replay_fill(trace, {"arc": arc})
        replay_follow(trace)
        heads, labels = projective.argmax(arc=arc)
        assert trace.answer == [heads.tolist(), labels.tolist()]
        summed = traces.eisner(arc=arc, temperature=1.0)
        assert close(summed.value, projective.log_partition(arc=arc))
        np.testing.assert_allclose(
            summed.about["marginals"]["arc"], projective.marginals(arc=arc)["arc"], atol=1e-9
        )


def test_offers_to_a_cycle_count_what_they_replace():
    """Words 1 and 2 hold each other (10 and 9); the root offers 5 and 1."""
    arc = np.array([[0.0, 5.0, 1.0], [0.0, 0.0, 9.0], [0.0, 10.0, 0.0]])
    trace = traces.chu_liu_edmonds(arc)
    contract = next(s for s in trace.steps if s["kind"] == "contract")
    assert sorted(contract["members"]) == [1, 2]
    assert contract["from_root"] == max(5 - 10, 1 - 9)
    assert trace.answer == [0, 1]
    expand = next(s for s in trace.steps if s["kind"] == "expand")
    assert (expand["entered"], expand["head"]) == (1, 0)


def test_trees_that_cannot_be_traced_are_refused():
    with pytest.raises(ValueError, match="at least one label"):
        traces.chu_liu_edmonds(np.zeros((3, 3, 0)))
    with pytest.raises(ValueError, match=r"\(n \+ 1, n \+ 1\)"):
        traces.chu_liu_edmonds(np.zeros((2, 3)))
    with pytest.raises(InfeasibleError):
        traces.chu_liu_edmonds(np.full((3, 3), -np.inf))
    with pytest.raises(ValueError, match="NaN"):
        traces.chu_liu_edmonds(np.full((3, 3), np.nan))
