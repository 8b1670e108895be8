"""structlearn.load: one function for every model file, and the command line goes by it."""

import subprocess
import sys

import numpy as np
import pytest

import structlearn
from structlearn import CRF
from structlearn.cli import run
from structlearn.cli.commands import TASKS as COMMANDS
from structlearn.cli.commands import commands_of
from structlearn.datasets import make_shapes, make_treebank
from structlearn.exceptions import FileError
from structlearn.io.container import write_container
from structlearn.loading import TASKS
from structlearn.tasks import (
    ConstituencyParser,
    DependencyParser,
    ImageSegmenter,
    LatticeSegmenter,
    Pipeline,
    SegmentTagger,
    Tagger,
    WordSegmenter,
)
from structlearn.text import FeatureTemplates
from tests.estimators.estimator_data import sequences

BANK = make_treebank(40, random_state=0)
QUICK = {"max_iter": 1, "random_state": 0}


def _tagger():
    rows = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
    return Tagger("pos", n_models=1, **QUICK).fit(rows), [[("Fish",), ("sleep",)]]


def _segments():
    rows = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]
    made = SegmentTagger(n_models=1, **QUICK).fit(rows)
    return made, [[("Fish", "NNS"), ("sleep", "VBP")]]


def _parser():
    rows = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
    made = DependencyParser(1, folds=2, hash_bits=14, C=0.5, **QUICK).fit(rows)
    return made, [["Fish", "sleep", "."]]


def _constituency():
    made = ConstituencyParser(folds=2, **QUICK).fit([s.brackets for s in BANK])
    return made, [["Fish", "sleep", "."]]


def _pipeline():
    rows = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
    made = Pipeline(
        tokeniser=False, tags={"n_models": 1, **QUICK}, parser={"hash_bits": 14, **QUICK}, folds=2
    )
    return made.fit(rows), [["Fish", "sleep", "."]]


def _segmenter():
    pytest.importorskip("PIL")
    shapes = make_shapes(3, size=24, n_classes=2, random_state=0)
    pairs = list(zip(shapes.images, shapes.masks, strict=True))
    made = ImageSegmenter(C=0.5, margin=2.0, scales=(1, 2), void=None, max_iter=1, random_state=3)
    return made.fit(pairs), shapes.images[:1]


def _estimator():
    X, y = sequences()
    return CRF().fit(X, y), X


def _chain():
    X = [[{"w": word} for word in s.words] for s in BANK]
    return CRF(max_iter=3, tol=1.0).fit(X, [s.tags for s in BANK]).to_chain(), X[:1]


def _words():
    made = WordSegmenter(n_models=1, **QUICK).fit([" ".join(s.words) for s in BANK])
    return made, ["Fishsleep."]


def _lattice():
    made = LatticeSegmenter(n_models=1, **QUICK).fit([" ".join(s.words) for s in BANK])
    return made, ["Fishsleep."]


MAKERS = {
    "words": _words,
    "word lattice": _lattice,
    "tagger": _tagger,
    "segments": _segments,
    "parser": _parser,
    "constituency": _constituency,
    "pipeline": _pipeline,
    "segmenter": _segmenter,
    "estimator": _estimator,
    "chain": _chain,
}


def test_every_task_is_here():
    assert set(MAKERS) == set(TASKS)
    assert set(COMMANDS) == set(TASKS) - {"estimator", "chain"}
    for task in COMMANDS:
        commands = commands_of(task)
        assert all(hasattr(commands, name) for name in ("train", "predict", "evaluate", "inspect"))


@pytest.mark.parametrize("task", MAKERS)
def test_the_right_object_comes_back(task, tmp_path):
    model, source = MAKERS[task]()
    path = tmp_path / "x.model"
    model.save(path)
    found = structlearn.load(path)
    assert type(found) is type(model)
    for a, b in zip(found.predict(source), model.predict(source), strict=True):
        assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
    if task == "chain":
        assert repr(found) == repr(model)
        before, after = {}, {}
    else:
        before, after = model.get_params(deep=False), found.get_params(deep=False)
    passing = {"n_jobs", "verbose", "checkpoint", "functions", "features"}  # and not the model's
    for name in before.keys() - (passing if task != "estimator" else set()):
        assert np.array_equal(after[name], before[name]), name
    again = tmp_path / "again"
    found.save(again)
    assert again.read_bytes() == path.read_bytes()
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(FileError, match="damaged"):
        structlearn.load(path)


@pytest.mark.parametrize("task", MAKERS)
def test_other_classes_say_what_the_file_is(task, tmp_path):
    model, _ = MAKERS[task]()
    path = tmp_path / "x.model"
    model.save(path)
    told = "the model of 'CRF'" if task == "estimator" else f"a model for the task '{task}'"
    others = {Tagger, SegmentTagger, DependencyParser, ConstituencyParser, ImageSegmenter,
              structlearn.HMM}  # fmt: skip
    for other in others - {type(model)}:
        with pytest.raises(FileError, match=f"{told}, not ") as error:
            other.load(path)
        assert str(error.value).startswith(f"{path}: ")


def test_what_a_file_does_not_hold_is_given(tmp_path):
    rows = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
    templates = FeatureTemplates.parse('word\ncall(word, "last")', functions={"last": last})
    Tagger(templates, n_models=1, **QUICK).fit(rows).save(tmp_path / "t")
    found = structlearn.load(tmp_path / "t", functions={"last": last})
    assert found.functions == {"last": last}
    with pytest.raises(ValueError, match="last"):
        structlearn.load(tmp_path / "t")
    with pytest.raises(ValueError, match="the task 'tagger' takes no structure"):
        structlearn.load(tmp_path / "t", structure=structlearn.structures.Chain())
    _estimator()[0].save(tmp_path / "e")
    with pytest.raises(ValueError, match="the model of 'CRF' takes no functions"):
        structlearn.load(tmp_path / "e", functions={"last": last})
    _constituency()[0].save(tmp_path / "c")
    with pytest.raises(ValueError, match="the task 'constituency' takes no functions"):
        structlearn.load(tmp_path / "c", functions={"last": last})


def last(word):
    return word[-1:]


@pytest.mark.parametrize("description", [{}, {"task": "oracle"}, {"task": ["tagger"]},
                                         {"task": None}, {"kind": "else"}])  # fmt: skip
def test_files_of_no_task(description, tmp_path, capsys):
    path = tmp_path / "x"
    write_container(path, description, {})
    with pytest.raises(
        FileError, match=r"a model for the task .*, which this version of structlearn cannot"
    ):
        structlearn.load(path)
    assert run(["predict", str(path), "-"]) == 1
    assert "commands work with models of tagger, segments, parser" in capsys.readouterr().err


def test_commands_say_that_arrays_are_for_python(tmp_path, capsys):
    _estimator()[0].save(tmp_path / "x")
    for command in (["predict", "-"], ["evaluate", "gold"], ["inspect"]):
        assert run([command[0], str(tmp_path / "x"), *command[1:]]) == 1
        told = capsys.readouterr().err
        assert "the model of 'CRF'; commands work with models of tagger" in told
        assert "structlearn.load" in told


def test_loading_a_tagger_waits_for_nothing_heavy(tmp_path):
    _tagger()[0].save(tmp_path / "x")
    code = (
        "import sys, structlearn; structlearn.load(sys.argv[1]); "
        "print([m for m in ('numpy', 'scipy', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "x")], capture_output=True,
                          text=True, check=True)  # fmt: skip
    assert done.stdout == "[]\n"
