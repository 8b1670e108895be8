import json

import numpy as np
import pytest

from structlearn import traces
from structlearn.exceptions import CapabilityError, InfeasibleError
from structlearn.structures import Chain, trellis

from .replay import close, replay_fill, replay_follow

FISH = {
    "label": np.array([[2.0, 1.0], [1.0, 0.0]]),
    "start": np.array([1.0, -1.0]),
    "transition": np.array([[-2.0, 1.0], [2.0, -2.0]]),
}


def instances(n, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        length, K = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        scores = {"label": rng.normal(size=(length, K))}
        if rng.random() < 0.8:
            shape = (K, K) if rng.random() < 0.7 else (max(length - 1, 0), K, K)
            scores["transition"] = rng.normal(size=shape)
        if rng.random() < 0.5:
            scores["start"] = rng.normal(size=K)
        if rng.random() < 0.5:
            scores["end"] = rng.normal(size=K)
        if rng.random() < 0.3:
            at = tuple(rng.integers(0, s) for s in scores["label"].shape)
            scores["label"][at] = -np.inf
        yield scores, rng


def test_viterbi_replays_to_argmax_on_a_thousand_chains():
    seen = 0
    for scores, _ in instances(1000):
        try:
            best = Chain().argmax(**scores)
        except InfeasibleError:
            with pytest.raises(InfeasibleError):
                traces.viterbi(**scores)
            continue
        trace = traces.viterbi(**scores)
        known = replay_fill(trace, scores)
        used = replay_follow(trace)
        path = {node[1]: node[2] for node, _ in used if node[0] == "alpha"}
        assert [path[t] for t in range(len(best))] == trace.answer == best.tolist()
        assert close(trace.value, Chain().score(best, **scores))
        assert known["goal",] == trace.value
        seen += 1
    assert seen > 900


def test_alphas_are_those_of_the_transcript():
    for scores, _ in instances(200, seed=1):
        if "end" in scores or not np.isfinite(scores["label"]).all():
            continue
        table = trellis(**scores).alpha
        for step in traces.viterbi(**scores).steps:
            if step["kind"] == "fill" and step["node"][0] == "alpha":
                assert close(step["value"], table[step["node"][1], step["node"][2]])


def test_the_max_of_the_chapter():
    """Eq. 17.38-40: max{−1.8, 12.7, 2.4} = 12.7, from verb."""
    transition = np.zeros((3, 3))
    transition[:, 2] = [-5.0, 2.5, 2.2]
    label = np.array([[2.0, 9.0, -1.0], [0.0, 0.0, 1.2]])  # α at "eat", then "tasty"
    steps = traces.viterbi(label=label, transition=transition).steps
    step = next(s for s in steps if s["node"] == ["alpha", 1, 2])
    assert [round(o["value"], 9) for o in step["options"]] == [-1.8, 12.7, 2.4]
    assert step["value"] == pytest.approx(12.7)
    assert step["options"][step["best"]]["tails"] == [["alpha", 0, 1]]
    terms = [[o["tail_values"][0], *(p["score"] for p in o["parts"])] for o in step["options"]]
    assert terms == [[2, 1.2, -5], [9, 1.2, 2.5], [-1, 1.2, 2.2]]


def test_fish_sleep_of_the_slides():
    trace = traces.viterbi(**FISH)
    values = {tuple(s["node"]): s["value"] for s in trace.steps if s["kind"] == "fill"}
    assert [values["alpha", t, k] for t in (0, 1) for k in (0, 1)] == [3, 0, 3, 4]
    assert (trace.answer, trace.value) == ([0, 1], 4.0)
    ranked = traces.chain_kbest(4, **FISH)
    assert [(s["answer"], s["value"]) for s in ranked.steps] == [
        ([0, 1], 4.0), ([1, 0], 3.0), ([0, 0], 2.0), ([1, 1], -2.0),
    ]  # fmt: skip


@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_forward_backward_replays_to_the_marginals(temperature):
    for scores, _ in instances(150, seed=2):
        try:
            log_z = Chain().log_partition(temperature=temperature, **scores)
        except InfeasibleError:
            continue
        trace = traces.forward_backward(temperature=temperature, **scores)
        alpha = replay_fill(trace, scores, temperature)
        assert close(trace.value, log_z)
        p = Chain().marginals(temperature=temperature, **scores)["label"]
        _, summed = Chain().infer(temperature=temperature, **scores)
        for name, block in summed.items():
            np.testing.assert_allclose(trace.about["marginals"][name], block, atol=1e-9)
        for step in trace.steps:
            if step["kind"] != "outside":
                continue
            _, t, k = step["node"]
            assert close(step["mass"], p[t, k])
            both = alpha["alpha", t, k] + step["value"]
            assert np.exp((both - log_z) / temperature) == pytest.approx(p[t, k], abs=1e-9)
            finite = [o["value"] for o in step["options"] if o["value"] > -np.inf]
            if finite and p[t, k] > 0:
                total = temperature * np.log(np.exp(np.array(finite) / temperature).sum())
                assert total == pytest.approx(step["value"], abs=1e-8)


def test_kbest_is_that_of_the_chain():
    for scores, _ in instances(100, seed=3):
        try:
            expected = Chain().kbest(6, **scores)
        except InfeasibleError:
            continue
        trace = traces.chain_kbest(6, **scores)
        assert [s["answer"] for s in trace.steps] == [y.tolist() for _, y in expected]
        for step, (value, _) in zip(trace.steps, expected, strict=True):
            assert close(step["value"], value)
        assert trace.steps[0]["differs_at"] == []
        assert all(s["differs_at"] for s in trace.steps[1:])


def test_beam_is_that_of_the_chain():
    for scores, rng in instances(300, seed=4):
        if not np.isfinite(scores["label"]).all():
            continue
        width = int(rng.integers(1, 5))
        trace, found = traces.beam_search(width, **scores), Chain().beam(width, **scores)
        assert trace.answer == found.output.tolist()
        assert close(trace.value, found.value)
        assert trace.about["exact"] == found.exact
        for step in trace.steps:
            assert len(step["kept"]) <= width
            worst = step["kept"][-1]["value"]
            assert all(gone["value"] <= worst for gone in step["dropped"])


def test_traces_are_json():
    scores = {**FISH, "start": np.array([1.0, -np.inf])}
    found = json.loads(traces.viterbi(**scores).to_json())
    assert found["answer"] == [0, 1]
    assert found["steps"][1]["value"] == "-inf"
    assert json.loads(traces.forward_backward(**FISH).to_json())["about"]["temperature"] == 1


def test_what_cannot_be_traced_is_refused():
    with pytest.raises(CapabilityError, match="first-order"):
        traces.viterbi(transition1=np.zeros((2, 2)), **FISH)
    with pytest.raises(ValueError, match="temperature > 0"):
        traces.forward_backward(temperature=0, **FISH)
    with pytest.raises(ValueError, match="limit is 200,000"):
        traces.viterbi(label=np.zeros((10_000, 5)))
