"""The harness of metamorphic relations: what it finds, what it claims, what it draws."""

import numpy as np
import pytest
from fuzz.metamorphic import catalogue
from fuzz.metamorphic.answers import Different, demand_same, difference, plain
from fuzz.metamorphic.relation import RELATIONS, Relation, run

pytestmark = pytest.mark.filterwarnings("ignore")

#: A relation for each kind of subject that takes next to no time.
QUICK = ("one by one = batch", "empty inputs put in", "one thread = several")


def test_every_module_is_registered():
    assert set(catalogue.MISSING.values()) <= {"torch", "seqeval", "starlette"}
    assert {"query", "fit", "pipeline"} == {it.cost for it in RELATIONS.values()}
    assert all(it.subjects and it.claim for it in RELATIONS.values())
    assert all(reason for it in RELATIONS.values() for reason in it.not_claimed.values())


@pytest.mark.parametrize("name", QUICK)
def test_relations_hold(name):
    campaign = run(RELATIONS[name], 20, seed=1)
    assert campaign.findings == []
    assert campaign.draws.total() == 20


def test_a_relation_that_does_not_hold_is_found_and_told_once():
    def check(subject, rng):
        demand_same("a number", 1.0, 1.0 if rng.random() < 0.5 else subject)

    broken = Relation("broken", "bit for bit", "query", check, {"two": 2.0})
    campaign = run(broken, 100)
    assert len(campaign.findings) == 1
    assert 20 < campaign.wrong.total() < 80
    assert "two: a number: answer: 1.0, and 2.0" in campaign.findings[0]
    number = int(campaign.findings[0].split()[1].rstrip(","))
    assert run(broken, 1, first=number).findings == campaign.findings  # a draw is its number


def test_errors_are_findings():
    def check(subject, rng):
        raise KeyError("nothing here")

    campaign = run(Relation("raises", "bit for bit", "query", check, {"one": 1}), 3)
    assert campaign.wrong.total() == 3
    assert "KeyError" in campaign.findings[0]


@pytest.mark.parametrize(
    ("one", "other", "tolerance", "equal"),
    [
        ([1.0, [2.0]], [1.0, [2.0]], 0.0, True),
        ([0.0], [-0.0], 0.0, False),
        ([1.0], [1.0 + 1e-12], 0.0, False),
        ([1.0], [1.0 + 1e-12], 1e-9, True),
        ({"a": 1}, {"b": 1}, 1e-9, False),
        ([1], [1, 2], 1e-9, False),
        ([1], [True], 0.0, False),
        (["x"], ["y"], 1e-9, False),
        ([np.nan], [np.nan], 0.0, True),
    ],
)
def test_differences(one, other, tolerance, equal):
    assert (difference(one, other, tolerance) is None) == equal


def test_plain_answers():
    assert plain((np.arange(2), {"k": np.float64(0.5)})) == [[0, 1], {"k": 0.5}]
    with pytest.raises(Different, match=r"length: \[1\]: 2, and 3"):
        demand_same("length", [1, 2], [1, 3])
