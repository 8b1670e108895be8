"""Models inside models: what a file holds of a part is what a file of that part holds."""

import itertools

import pytest

from structlearn.exceptions import FileError
from structlearn.io.container import Tensor, read_container, write_container
from structlearn.models.storage import put_inside, taken_out
from structlearn.tasks import Tagger
from structlearn.tasks.dependencies.model import ParserModel
from structlearn.tasks.tagging.model import TaggerModel
from tests.io.saved_cases import fitted
from tests.tasks.trainings import TRAININGS, trained

pytestmark = pytest.mark.filterwarnings(
    "ignore::structlearn.exceptions.InexactInferenceWarning",
    "ignore::structlearn.exceptions.ConvergenceWarning",
)


def content(path):
    """Return what a file holds, as values that can be compared."""
    description, tensors = read_container(path)
    return description, {k: (t.dtype, t.shape, bytes(t.data)) for k, t in tensors.items()}


def parser_with_taggers():
    bank = TRAININGS["parser"]
    parser = bank.make("perceptron", gold_tags=False, folds=2, max_iter=2).fit(bank.examples)
    models = parser.model_.taggers
    return parser, [("taggers", i, f"tagger{i}", model) for i, model in enumerate(models)]


def constituents_with_a_tagger():
    bank = TRAININGS["constituency"]
    parser = bank.make("perceptron", gold_tags=False, folds=2, max_iter=2).fit(bank.examples)
    return parser, [("tagger", None, "tagger", parser.model_.tagger.model_)]


def pipeline():
    nlp = trained("pipeline", "crf")
    return nlp, [("parts", name, name, part) for name, part in nlp.model_.parts.items()]


def labels_in_a_tree():
    classifier = fitted("labels tree")[0]
    return classifier, [("learner", None, "learner", classifier.estimator_)]


@pytest.mark.parametrize(
    "make", [parser_with_taggers, constituents_with_a_tagger, pipeline, labels_in_a_tree]
)
def test_a_part_is_stored_as_a_file_of_its_own(make, tmp_path):
    outer, parts = make()
    assert parts
    rounds = outer.__class__.__name__ in ("DependencyParser", "Pipeline")
    for precision in ("float32", "int8") if rounds else (None,):
        outer.save(tmp_path / "outer", *([precision] if precision else []))
        description, tensors = content(tmp_path / "outer")
        for entry, key, prefix, part in parts:
            part.save(tmp_path / "part", *([precision] if precision else []))
            own_description, own_tensors = content(tmp_path / "part")
            inner = description[entry] if key is None else description[entry][key]
            assert inner == own_description
            start = f"{prefix}."
            found = {k.removeprefix(start): t for k, t in tensors.items() if k.startswith(start)}
            assert found == own_tensors


def test_parts_are_put_in_and_taken_out():
    """One prefix may begin with another; what is taken out is gone."""
    tensors = {"own": Tensor("U8", b"x")}
    taggers = [trained("tagger", learner).model_ for learner in ("perceptron", "crf")]
    names = ("part1", "part10")
    stored = {
        name: put_inside(tensors, name, model._content())
        for name, model in zip(names, taggers, strict=True)
    }
    for name, model in zip(names, taggers, strict=True):
        again = taken_out(tensors, name, "file", stored[name], TaggerModel)
        assert again.to_bytes() == model.to_bytes()
    assert list(tensors) == ["own"]


def test_a_part_of_another_kind_is_refused():
    tensors = {}
    stored = put_inside(tensors, "part", trained("tagger", "perceptron").model_._content())
    with pytest.raises(FileError, match=r"^file: a model for the task 'tagger', not a parser$"):
        taken_out(tensors, "part", "file", stored, ParserModel)


def test_a_part_that_is_damaged_is_refused_by_the_name_of_the_file(tmp_path):
    outer, _ = constituents_with_a_tagger()
    path = tmp_path / "outer"
    outer.save(path)
    description, tensors = read_container(path)
    made = {k: Tensor(t.dtype, bytes(t.data), t.shape) for k, t in tensors.items()}
    for forged in (None, {}, {**description["tagger"], "order": 9}):
        write_container(path, {**description, "tagger": forged}, made)
        with pytest.raises(FileError) as error:
            type(outer).load(path)
        assert str(error.value).startswith(f"{path}: ")
    for name in itertools.islice((k for k in made if k.startswith("tagger.")), 3):
        fewer = {k: t for k, t in made.items() if k != name}
        write_container(path, description, fewer)
        with pytest.raises(FileError):
            type(outer).load(path)


def test_kinds_of_one_precision_say_so(tmp_path):
    model = trained("segments", "perceptron")
    with pytest.raises(ValueError, match="the task 'segments' have weights of one precision"):
        model.save(tmp_path / "x", "int8")
    assert not (tmp_path / "x").exists()
    model.save(tmp_path / "x")


def test_bytes_are_those_of_a_file_without_rounding(tmp_path):
    tagger = trained("tagger", "crf")
    tagger.save(tmp_path / "x", "int8")
    rounded = Tagger.load(tmp_path / "x")
    rounded.save(tmp_path / "y", "float32")
    assert rounded.to_bytes() == (tmp_path / "y").read_bytes()
    classifier = fitted("labels tree")[0]
    classifier.save(tmp_path / "z")
    assert classifier.to_bytes() == (tmp_path / "z").read_bytes()
