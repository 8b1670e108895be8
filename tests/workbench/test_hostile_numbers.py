"""Numbers that no page sends: every lab answers, or refuses with a sentence; nothing else."""

import contextlib
import json
import math

import pytest

from structlearn.traces.trace import plain
from structlearn.workbench.labs import LABS, ask
from structlearn.workbench.models import Models

from .examples import EXAMPLES

pytestmark = pytest.mark.filterwarnings("ignore::structlearn.exceptions.ConvergenceWarning")

MODELS = Models()
HOSTILE = [10**400, -(10**400), 10**30, 1e308, -1e308, 1e-320, math.nan, math.inf, -math.inf,
           True, False, None, "1", "-inf", "", [], [[]], {}, [10**400], {"a": 10**400},
           -1, 0, 0.5, 2**63]  # fmt: skip
TEXT = {"text": "They sleep", "forbidden": [[1, "NN"]], "gold": [[0, "PRP"]], "augmented": True}
TEXTS = [("text", {**TEXT, "model": name}) for name in MODELS.names()]
#: One of each lab and mode; the others read nothing else.
CASES = {}
for lab_, values_ in [*EXAMPLES, *TEXTS]:
    CASES.setdefault((lab_, *(str(values_.get(k)) for k in ("kind", "topic", "mode", "model"))),
                     (lab_, values_))  # fmt: skip


class Asked(dict):
    """A request that remembers what was asked of it."""

    def __init__(self, values, names):
        super().__init__(values)
        self.names = names

    def get(self, name, default=None):
        self.names[name] = None
        return super().get(name, default)


def replaced(value, hostile):
    """Yield the value with each of its leaves, and each list in it, replaced."""
    yield hostile
    if isinstance(value, list):
        for i in {0, len(value) - 1} & set(range(len(value))):
            for inner in replaced(value[i], hostile):
                yield [*value[:i], inner, *value[i + 1 :]]


def answer(lab, values):
    """Return what a lab answers, as JSON can hold it, or the sentence by which it refuses."""
    try:
        found = ask(lab, values, MODELS)
    except ValueError as error:  # Refused is one, and so is what the library refuses
        return str(error) or pytest.fail(f"{lab} refuses {values} without a word")
    return json.loads(json.dumps(plain(found), allow_nan=False))


def test_every_lab_is_tried():
    assert {lab for lab, _ in CASES.values()} == set(LABS)


@pytest.mark.parametrize("case", CASES.values(), ids=[" ".join(key) for key in CASES])
def test_hostile_numbers(case):
    lab, values = case
    names = {}
    with contextlib.suppress(ValueError):  # a part that another model has
        ask(lab, Asked(values, names), MODELS)
    refused = answered = 0
    for name in names:
        for hostile in HOSTILE:
            for given in replaced(values.get(name), hostile):
                said = answer(lab, {**values, name: given})
                refused += isinstance(said, str)
                answered += not isinstance(said, str)
    assert refused
    assert answered


@pytest.mark.parametrize("values", HOSTILE)
def test_requests_that_are_no_objects(values):
    for lab in LABS:
        assert isinstance(answer(lab, values), str) or values == {}
