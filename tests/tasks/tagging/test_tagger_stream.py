"""Training by reading the file anew for each pass is training in memory, in less of it."""

import gzip
import os
import subprocess
import sys
import textwrap

import pytest

from structlearn.exceptions import FileError
from structlearn.tasks import Tagger
from structlearn.text import FeatureTemplates
from structlearn.text import stream as streaming
from tests.tasks.tagging.tagger_data import (
    TEMPLATES,
    chunked,
    column_text,
    conllu_text,
    same_model,
    tagged,
    weights_by_name,
)


def templates():
    return FeatureTemplates.parse(TEMPLATES)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(column_text(chunked(60)))
    return path


@pytest.mark.parametrize("piece", [1 << 22, 2000, 100, 1])
@pytest.mark.parametrize(
    "options", [{}, {"scheme": "bio"}, {"scheme": "iobes"}, {"min_count": 3}, {"hash_bits": 12}]
)
def test_pieces_in_file_order_are_the_whole_in_file_order(path, monkeypatch, piece, options):
    monkeypatch.setattr(streaming, "_PIECE", piece)
    common = {"shuffle": False, "max_iter": 3, **options}
    whole = Tagger(templates(), **common).fit(path)
    stream = Tagger(templates(), **common).fit_stream(path)
    assert same_model(stream.model_, whole.model_)
    assert stream.model_.feature_names() == whole.model_.feature_names()
    assert stream.model_.training == whole.model_.training
    counted = [{k: r[k] for k in ("pass", "loss", "updates")} for r in stream.history_]
    assert counted == [{k: r[k] for k in ("pass", "loss", "updates")} for r in whole.history_]


def test_strings_that_are_forgotten_between_pieces(path, monkeypatch):
    monkeypatch.setattr(streaming, "_PIECE", 500)
    monkeypatch.setattr(streaming, "_MOST_STRINGS", 1)
    whole = Tagger(templates(), shuffle=False, max_iter=2).fit(path)
    stream = Tagger(templates(), shuffle=False, max_iter=2).fit_stream(path)
    assert same_model(stream.model_, whole.model_)
    assert weights_by_name(stream.model_) == weights_by_name(whole.model_)


def test_passes_that_need_not_be_made(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "_PIECE", 300)
    path = tmp_path / "train.txt"
    path.write_text(column_text(tagged(10)))
    whole = Tagger(templates(), shuffle=False, max_iter=50).fit(path)
    stream = Tagger(templates(), shuffle=False, max_iter=50).fit_stream(path)
    assert len(stream.history_) < 50
    assert same_model(stream.model_, whole.model_)


def test_shuffled_within_pieces(path, monkeypatch):
    monkeypatch.setattr(streaming, "_PIECE", 2000)
    first, again, other, plain = (
        Tagger(templates(), max_iter=2, **options).fit_stream(path).model_
        for options in ({}, {}, {"random_state": 1}, {"shuffle": False})
    )
    assert same_model(first, again)
    assert not same_model(first, other)
    assert not same_model(first, plain)


def test_compressed_and_conllu(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "_PIECE", 1000)
    text = conllu_text(tagged(40))
    (tmp_path / "a.conllu").write_text(text)
    (tmp_path / "b.conllu.gz").write_bytes(gzip.compress(text.encode()))
    whole = Tagger(templates(), shuffle=False, max_iter=2).fit(tmp_path / "a.conllu")
    for name in ("a.conllu", "b.conllu.gz"):
        stream = Tagger(templates(), shuffle=False, max_iter=2).fit_stream(tmp_path / name)
        assert same_model(stream.model_, whole.model_)
        assert stream.model_.feature_names() == whole.model_.feature_names()


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (TEMPLATES, {"order": 2}),
        (TEMPLATES, {"order": 0}),
        (TEMPLATES, {"n_models": 2}),
        (TEMPLATES, {"class_weight": "balanced"}),
        (TEMPLATES, {"learner": "passive-aggressive"}),
        (TEMPLATES, {"learner": "arow"}),
        ("word\ntransition: word", {}),
        ("word\nseen(lower(word))\nseen(suffix(word, 2))", {}),
    ],
)
def test_other_learners_and_features(path, monkeypatch, text, options):
    """In the order of the file passes over pieces are passes over the whole."""
    monkeypatch.setattr(streaming, "_PIECE", 500)
    common = {"shuffle": False, "max_iter": 3, "n_models": 1, **options}
    whole, stream = (
        getattr(Tagger(FeatureTemplates.parse(text), **common), how)(path).model_
        for how in ("fit", "fit_stream")
    )
    assert stream.feature_names() == whole.feature_names()
    assert {k: bytes(v) for k, v in stream.arrays.items()} == {
        k: bytes(v) for k, v in whole.arrays.items()
    }


def test_counted_models(path, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "_PIECE", 500)
    for name, how in (("fit", "fit"), ("stream", "fit_stream")):
        getattr(Tagger(learner="hmm"), how)(path, dev=path).save(tmp_path / name)
    assert (tmp_path / "stream").read_bytes() == (tmp_path / "fit").read_bytes()


@pytest.mark.parametrize("learner", ["crf", "svm", "adagrad"])
def test_objectives_are_those_of_the_whole(path, monkeypatch, learner):
    monkeypatch.setattr(streaming, "_PIECE", 500)
    common = {"learner": learner, "max_iter": 300, "shuffle": False}
    whole = Tagger(templates(), **common).fit(path).model_.training
    stream = Tagger(templates(), **common).fit_stream(path).model_.training
    room = (whole["gap"] or 0.0) + (stream["gap"] or 0.0)
    assert stream["objective"] == pytest.approx(whole["objective"], abs=room, rel=1e-3)


def test_candidates(tmp_path, monkeypatch):
    """The first pass sees the sentences in another order: it may choose others."""
    monkeypatch.setattr(streaming, "_PIECE", 2000)
    path = tmp_path / "train.txt"
    path.write_text(column_text(tagged(150)))
    stream = Tagger("pos", candidates=2, n_models=1).fit_stream(path)
    assert stream.model_.candidates == 2
    assert stream.evaluate(path)["accuracy"] > 0.97


def test_it_goes_on_from_a_model(path, monkeypatch):
    monkeypatch.setattr(streaming, "_PIECE", 500)
    common = {"shuffle": False, "max_iter": 1}
    before = Tagger(templates(), **common).fit(path)
    whole = Tagger(templates(), **common).fit(path, start=before)
    stream = Tagger(templates(), **common).fit_stream(path, start=before)
    assert weights_by_name(stream.model_) == weights_by_name(whole.model_)


def test_unknown_labels(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "_PIECE", 300)
    path = tmp_path / "partial.txt"
    text = column_text(tagged(20))
    path.write_text(text + "a\t_\nb\t_\n\n" + text)
    common = {"shuffle": False, "max_iter": 2}
    whole = Tagger(templates(), **common).fit(path)
    stream = Tagger(templates(), **common).fit_stream(path)
    assert weights_by_name(stream.model_) == weights_by_name(whole.model_)


def test_what_cannot_be_streamed(path, tmp_path):
    with pytest.raises(ValueError, match="keeps something for each example"):
        Tagger("pos", learner="crf", solver="sag").fit_stream(path)
    with pytest.raises(ValueError, match="standard input"):
        Tagger().fit_stream("-")
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(FileError, match=r"empty\.txt: there are no sentences"):
        Tagger("pos").fit_stream(tmp_path / "empty.txt")


def test_errors_name_the_line_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "_PIECE", 50)
    path = tmp_path / "train.txt"
    good = column_text(tagged(10))
    lines = good.count("\n")
    path.write_text(good + "a X\nb\n")
    with pytest.raises(FileError, match=rf"train\.txt, line {lines + 2}: 1 column"):
        Tagger("pos").fit_stream(path)
    path.write_text("a B-X\n\n" * 20 + "c O\nd I-X\n")
    with pytest.raises(FileError, match=r"train\.txt, line 42: I-X after O"):
        Tagger("pos", scheme="bio").fit_stream(path)


MEMORY = """
import sys
from structlearn.tasks import Tagger
from structlearn.text import stream as streaming

def peak():
    with open("/proc/self/status") as file:
        (line,) = [line for line in file if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024

path, how = sys.argv[1:]
before = peak()
streaming._PIECE = 1 << 18
getattr(Tagger("pos", max_iter=1), how)(path)
print(peak() - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peak memory is read in /proc")
def test_memory_does_not_grow_with_the_file(tmp_path):
    """A corpus many times as long, of the same words: only training in memory needs more."""
    text = column_text(tagged(1500))
    used = {}
    for how, times in (("fit_stream", 4), ("fit_stream", 40), ("fit", 40)):
        path = tmp_path / f"{times}.txt"
        path.write_text(text * times)
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(MEMORY), path, how],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        used[how, times] = float(done.stdout)
    limit = 1.5 * used["fit_stream", 4]
    assert used["fit_stream", 40] < limit < used["fit", 40], used
