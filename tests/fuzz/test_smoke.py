"""A few inputs of every target, and what fuzzing has found before."""

import random

import pytest
from fuzz.campaign import input_of
from fuzz.cases import CASES
from fuzz.models import file_targets
from fuzz.mutation import mutated
from fuzz.readers import seeds_of, text_targets
from fuzz.structures import KERNELS, fuzz, fuzz_kernels

import structlearn
from structlearn.exceptions import FileError
from structlearn.io.container import Tensor, read_container, write_container
from tests.tasks.test_matrix import trained

TEXTS = text_targets()
QUICK = ("containers", "labelled", "annotated", "crfsuite", "class_names", "masks", "images",
         "wapiti", "crfpp_text", "crfpp_binary")  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", [*TEXTS, *QUICK])
def test_readers_refuse_as_they_document(name):
    """Anything but the documented errors is raised, and fails here."""
    target = TEXTS[name] if name in TEXTS else file_targets()[name]()
    accepted = [target.check(input_of(target, 1, number)) for number in range(150)]
    assert 0 < sum(accepted) < 150  # the mutations are neither all refused nor all harmless


@pytest.mark.parametrize("name", CASES)
def test_structures_agree_with_enumeration(name):
    found = fuzz(name, 60, seed=1, size=30)
    assert found.findings == []
    assert found.instances == 60
    assert found.compared["solve"] > 15


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_agree_with_enumeration(name, monkeypatch):
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("triton", reason="triton is not installed")
    from fuzz import tensors

    monkeypatch.setattr(tensors, "INTERPRETED", 1.0)
    found = fuzz_kernels(name, 8, "cpu", seed=1, size=8)
    assert found.findings == []
    assert found.compared["kernels"] > 5


def test_the_same_seed_makes_the_same_inputs():
    seeds = seeds_of("conllu")
    made = [[mutated(random.Random(i), seeds) for i in range(50)] for _ in range(2)]
    assert made[0] == made[1]
    assert len(set(made[0])) > 40


def forged(task, learner, change, path):
    """Save a model, change its description, and write it with a right checksum."""
    trained(task, learner).save(path)
    description, tensors = read_container(path)
    arrays = {k: Tensor(t.dtype, bytes(t.data), t.shape) for k, t in tensors.items()}
    change(description)
    write_container(path, description, arrays)


def forge_history(description):
    description["training"]["history"] = 3


def forge_template(description):
    description["templates"][0][0][0][2] = [["lower", 1e308]]


@pytest.mark.parametrize(
    ("task", "change"), [("parser", forge_history), ("segments", forge_template)]
)
def test_forgeries_that_were_found(task, change, tmp_path):
    """A TypeError once, from outside of what turns errors into FileError, and a bad_cast."""
    path = tmp_path / "model"
    forged(task, "perceptron", change, path)
    with pytest.raises(FileError, match="the model cannot be used"):
        structlearn.load(path)
