"""Replaying traces: every number of a step from the numbers before it."""

import math

import numpy as np
import pytest


def close(a, b):
    return a == b or a == pytest.approx(b, rel=1e-9, abs=1e-9)


def combine(values, temperature):
    top = max(values, default=-math.inf)
    if top == -math.inf or temperature == 0:
        return top
    return top + temperature * math.log(sum(math.exp((v - top) / temperature) for v in values))


def replay_fill(trace, scores, temperature=0.0):
    """Check each filled node against its options, and these against scores and earlier nodes."""
    known = {}
    for step in trace.steps:
        if step["kind"] != "fill":
            continue
        for option in step["options"]:
            tails = [tuple(t) for t in option["tails"]]
            assert option["tail_values"] == [known[t] for t in tails]
            for part in option["parts"]:
                assert part["score"] == np.asarray(scores[part["block"]])[tuple(part["at"])]
            total = sum(option["tail_values"]) + sum(p["score"] for p in option["parts"])
            assert close(option["value"], total)
        values = [option["value"] for option in step["options"]]
        assert close(step["value"], combine(values, temperature))
        if values:
            assert values[step["best"]] == max(values)
        known[tuple(step["node"])] = step["value"]
    return known


def replay_follow(trace):
    """Follow the back-pointers of the filled nodes; return the (node, option) used."""
    filled = {tuple(s["node"]): s for s in trace.steps if s["kind"] == "fill"}
    goal = next(reversed(filled))
    used, waiting = [], [goal]
    while waiting:
        node = waiting.pop()
        option = filled[node]["options"][filled[node]["best"]]
        used.append((node, option))
        waiting += [tuple(t) for t in option["tails"]]
    told = [tuple(s["node"]) for s in trace.steps if s["kind"] == "follow"]
    assert told == [node for node, _ in used]
    return used
