"""Each metamorphic relation reports a bug that is planted in the library for it."""

import pytest
from fuzz.metamorphic import catalogue
from fuzz.metamorphic.relation import RELATIONS, run

from tests.fuzz.planted_files import FILES
from tests.fuzz.planted_fits import FITS
from tests.fuzz.planted_models import MODELS
from tests.fuzz.planted_scores import SCORES
from tests.fuzz.planted_structures import STRUCTURES
from tests.fuzz.planted_tensors import TENSORS
from tests.fuzz.planting import plant

pytestmark = pytest.mark.filterwarnings("ignore")

BUGS = (*STRUCTURES, *FITS, *MODELS, *SCORES, *TENSORS, *FILES)


def test_every_relation_has_a_bug_to_find():
    assert set(RELATIONS) <= {bug.relation for bug in BUGS}


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.relation)
def test_a_planted_bug_is_found(bug, monkeypatch):
    if bug.relation not in RELATIONS:
        pytest.skip(f"{', '.join(catalogue.MISSING.values())} is not installed")
    relation = RELATIONS[bug.relation]
    # The relation holds without the bug; this run also fits the cached models.
    right = run(relation, bug.draws, only=bug.subjects)
    assert right.findings == []
    assert right.draws.total() == bug.draws
    plant(monkeypatch, bug)
    found = run(relation, bug.draws, only=bug.subjects).findings
    assert any("Error at " not in line for line in found), found  # a difference, not a crash
