"""Constraints on the pair tables of a grid, whose positions have two axes: against enumeration."""

import numpy as np
import pytest

from structlearn.constraints import (
    Label,
    Part,
    at_least,
    at_most,
    exactly,
    forbid,
    require,
    with_constraints,
)
from structlearn.structures import Exhaustive, Grid

CONSTRAINTS = {
    "everywhere": [forbid(Part("right", 0, 1))],
    "both directions": [forbid(Part("right", 0, 1)), forbid(Part("down", 1, 0))],
    "at one place": [forbid(Part("right", 0, 1, at=(1, 0)))],
    "at two places": [forbid(Part("down", 1, 1, at=(0, 1))), forbid(Part("down", 0, 0, at=(0, 2)))],
    "with a label": [forbid(Part("right", 1, 0)), require(Label(1, at=(0, 0)))],
    "at most": [at_most(1, Part("right", 0, 1))],
    "at least": [at_least(2, Part("down", 1, 0))],
    "exactly, and nowhere": [exactly(2, Part("right", 0, 0)), forbid(Part("down", 0, 1))],
}


def legal(y, constraints):
    """Tell whether a labelling keeps to the constraints, by looking at its pairs."""
    for constraint in constraints:
        (selection,) = constraint.selections()
        if isinstance(selection, Label):
            found = int(y[selection.at] == selection.label)
        else:
            first, second = (y[:, :-1], y[:, 1:]) if selection.block == "right" else (y[:-1], y[1:])
            pairs = (first == selection.outcome[0]) & (second == selection.outcome[1])
            found = int(pairs.sum() if selection.at is None else pairs[selection.at])
        if not constraint.lower <= found <= constraint.upper:
            return False
    return True


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("tables", ["none", "shared", "by position", "one of each"])
@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (3, 1)])
def test_against_enumeration(name, tables, shape):
    height, width = shape
    rng = np.random.default_rng(0)
    label = rng.normal(size=(height, width, 2))
    shared = {"right": rng.normal(size=(2, 2)), "down": rng.normal(size=(2, 2))}
    placed = {
        "right": rng.normal(size=(height, width - 1, 2, 2)),
        "down": rng.normal(size=(height - 1, width, 2, 2)),
    }
    pairs = {
        "none": {},
        "shared": shared,
        "by position": placed,
        "one of each": {"right": shared["right"], "down": placed["down"]},
    }[tables]
    constraints = CONSTRAINTS[name]
    try:
        for constraint in constraints:
            (selection,) = constraint.selections()
            if selection.at is not None:
                sites = placed.get(getattr(selection, "block", ""), label)
                sites[selection.at]
    except IndexError:
        pytest.skip("the grid has no such place")
    scores = {"label": label, **pairs}
    grid = with_constraints(Grid(), constraints)
    every = [y for y in Grid().outputs(label=label) if legal(y, constraints)]
    if not every:
        with pytest.raises(ValueError, match="no legal output"):
            grid.argmax(**scores)
        return
    oracle = Exhaustive(every, Grid())
    best = oracle.solve(**scores)
    found = grid.solve(**scores)
    assert found.value == pytest.approx(best.value)
    np.testing.assert_array_equal(found.output, best.output)
    np.testing.assert_array_equal(grid.argmax(**scores), best.output)
    value, parts = grid.infer(temperature=0, **scores)
    assert value == pytest.approx(best.value)
    assert {k: a.shape for k, a in parts.items()} == {k: a.shape for k, a in scores.items()}
    got = grid.kbest(4, **scores)
    assert [v for v, _ in got] == pytest.approx([v for v, _ in oracle.kbest(4, **scores)])
    assert grid.score(best.output, **scores) == pytest.approx(best.value)
    if grid.report(**scores).needs_program:
        return
    value, p = grid.infer(**scores)
    right_value, right_p = oracle.infer(**scores)
    assert value == pytest.approx(right_value)
    for block in scores:
        np.testing.assert_allclose(p[block], right_p[block], atol=1e-12)
    right_p = oracle.marginals(**scores)
    for block, marginals in grid.marginals(**scores).items():
        np.testing.assert_allclose(marginals, right_p[block], atol=1e-12)
    assert grid.count(**scores) == len(every)
    drawn = grid.sample(20, random_state=0, **scores)
    assert all(legal(y, constraints) for y in drawn)
