"""Model files of segments: what is in them, and what happens to damaged and forged ones."""

import json
import os
import random

import pytest

from structlearn.exceptions import FileError
from structlearn.io.container import read_container, write_container
from structlearn.tasks import SegmentTagger, Tagger
from tests.tasks.segments.segment_sentences import chunked

SENTENCES = chunked(60)


@pytest.fixture(scope="module")
def tagger():
    return SegmentTagger(max_iter=2).fit(SENTENCES, dev=SENTENCES[:20])


@pytest.fixture(scope="module")
def path(tagger, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model"
    tagger.save(path)
    return path


def test_there_and_back(tagger, path, tmp_path):
    again = SegmentTagger.load(path)
    assert again.predict(SENTENCES) == tagger.predict(SENTENCES)
    assert again.predict_marginals(SENTENCES[:3]) == tagger.predict_marginals(SENTENCES[:3])
    assert again.classes_ == tagger.classes_
    assert again.get_params() == tagger.get_params()
    assert again.model_.max_length == tagger.model_.max_length
    assert again.model_.temperature == tagger.model_.temperature
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    # What was loaded can be trained anew.
    assert again.set_params(max_iter=1).fit(SENTENCES).evaluate(SENTENCES)["f1"] > 0.8


def test_models_of_other_tasks(path, tmp_path):
    with pytest.raises(FileError, match="'segments', not a tagger"):
        Tagger.load(path)
    Tagger("pos", max_iter=1, n_models=1, target=2).fit(SENTENCES).save(tmp_path / "tagger")
    with pytest.raises(FileError, match="'tagger', not for segments"):
        SegmentTagger.load(tmp_path / "tagger")
    with pytest.raises(FileError):
        SegmentTagger.load(tmp_path / "nothing")


def test_damage_is_found(path, tmp_path):
    whole = path.read_bytes()
    broken = tmp_path / "broken"
    draw = random.Random(0)
    for _ in range(30):
        at = draw.randrange(len(whole))
        flipped = bytes([whole[at] ^ 1 << draw.randrange(8)])
        broken.write_bytes(whole[:at] + flipped + whole[at + 1 :])
        with pytest.raises(FileError):
            SegmentTagger.load(broken)
    for size in (0, 7, 8, 100, len(whole) // 2, len(whole) - 1):
        broken.write_bytes(whole[:size])
        with pytest.raises(FileError):
            SegmentTagger.load(broken)


def changed(d, **entries):
    return {**d, **entries}


def calibrated(d, **calibration):
    return {**d, "training": {**d["training"], "calibration": calibration}}


FORGED = {
    "no labels": lambda d: changed(d, labels=[]),
    "one label too many": lambda d: changed(d, labels=[*d["labels"], "zzz"]),
    "a label twice": lambda d: changed(d, labels=[d["labels"][0], *d["labels"][1:-1], "O"]),
    "no outside": lambda d: changed(d, labels=["A", *d["labels"][1:]]),
    "labels of no kind": lambda d: changed(d, labels=7),
    "length 0": lambda d: changed(d, max_length=0),
    "length below 0": lambda d: changed(d, max_length=-1),
    "a huge length": lambda d: changed(d, max_length=2**40),
    "a length that is no number": lambda d: changed(d, max_length="long"),
    "a target beyond": lambda d: changed(d, target=99),
    "a target below 0": lambda d: changed(d, target=-1),
    "a format": lambda d: changed(d, format="xml"),
    "few columns": lambda d: changed(d, n_columns=1),
    "a calibration without a temperature": lambda d: calibrated(d, n_parts=3),
    "temperature 0": lambda d: calibrated(d, temperature=0.0, n_parts=3, error=0.0, curve=None),
    "a temperature that is no number": lambda d: calibrated(
        d, temperature="warm", n_parts=3, error=0.0, curve=None
    ),
    "templates of tokens": lambda d: changed(
        d, templates=[[[["string", "word", [], 0]], False, False, ""]]
    ),
    "a place": lambda d: changed(d, templates=[[[["string", "word", [], 0, "under"]], False]]),
    "an offset of whole": lambda d: changed(
        d, templates=[[[["string", "word", [], 1, "whole"]], False]]
    ),
    "a huge offset": lambda d: changed(
        d, templates=[[[["string", "word", [], 10**9, "begin"]], False]]
    ),
    "a function": lambda d: changed(
        d, templates=[[[["string", "word", [["fly", None]], 0, "begin"]], False]]
    ),
    "nothing joined": lambda d: changed(d, templates=[[[], False]]),
    "no lexica": lambda d: {k: v for k, v in d.items() if k != "lexica"},
    "lexica of no kind": lambda d: changed(d, lexica=[1, 2]),
    "training of no kind": lambda d: changed(d, training=3),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_descriptions(path, tmp_path, name):
    description, tensors = read_container(path)
    forged = FORGED[name](json.loads(json.dumps(description)))
    write_container(tmp_path / "forged", forged, tensors)
    with pytest.raises(FileError, match="cannot be used"):
        SegmentTagger.load(tmp_path / "forged")


@pytest.mark.parametrize(
    "name",
    ["segment.slots", "segment.weight", "segment.outcome", "start", "end", "transition"],
)
@pytest.mark.parametrize("how", ["gone", "another type", "short", "all ones"])
def test_forged_arrays(path, tmp_path, name, how):
    description, tensors = read_container(path)
    tensor = tensors[name]
    data = bytes(tensor.data)
    if how == "gone":
        del tensors[name]
    elif how == "another type":
        tensors[name] = tensor._replace(dtype="U8", shape=(len(data),))
    elif how == "short":
        tensors[name] = tensor._replace(data=data[:-16], shape=None)
    else:
        tensors[name] = tensor._replace(data=b"\xff" * len(data), shape=None)
    write_container(tmp_path / "forged", description, tensors)
    if how == "short" and name == "segment.outcome":
        # Its end may be of rows that have a weight for every label and do not read it.
        try:
            forged = SegmentTagger.load(tmp_path / "forged")
        except FileError:
            return
        assert forged.predict(SENTENCES) == SegmentTagger.load(path).predict(SENTENCES)
        return
    with pytest.raises(FileError, match="cannot be used"):
        SegmentTagger.load(tmp_path / "forged")


def test_a_file_in_the_way_stays_as_it_was(tagger, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError):
        tagger.save(tmp_path / "folder" / "none" / "model")
    assert os.listdir(tmp_path / "folder") == []


def test_gold_labels_that_are_no_chunks_are_named_with_their_file(tmp_path):
    path = tmp_path / "gold.txt"
    path.write_text("a X\nb Y\n\n")
    tagger = SegmentTagger(max_iter=1).fit([[("a", "B-X"), ("b", "O")]])
    with pytest.raises(FileError, match=r"gold.txt: sentence 0, position 0: the label 'X'"):
        tagger.evaluate(path)
