"""Taggers in files: equal after loading, smaller when rounded, and no damage or forgery crashes."""

from __future__ import annotations

import os
import struct
import tracemalloc

import numpy as np
import pytest

import structlearn
from structlearn.exceptions import FileError
from structlearn.io.container import Tensor, read_container, write_container
from structlearn.tasks import Tagger
from structlearn.tasks.tagging.model import TaggerModel
from structlearn.text import Corpus, FeatureTemplates

SENTENCES = [
    [("the", "D"), ("fish", "N"), ("sleep", "V")],
    [("eels", "N"), ("eat", "V"), ("the", "D"), ("fish", "N")],
    [("sleep", "N"), ("eat", "V")],
    [("the", "D"), ("eels", "N"), ("fish", "V"), ("größe", "N")],
]
TEMPLATES = "word[-1..1]\nsuffix(word, 1..2)\nfirst\nbias\ntransition: word"
WORDS = [["the", "eels", "sleep"], ["fish", "eat", "unknown", "fish"], ["größe"]]


def trained(text=TEMPLATES, **options):
    options = {"max_iter": 5, **options}
    features = "auto" if text is None else FeatureTemplates.parse(text)
    return Tagger(features=features, **options).fit(SENTENCES)


@pytest.fixture(scope="module")
def tagger():
    return trained()


@pytest.fixture
def saved(tagger, tmp_path):
    """A model file of each precision."""
    paths = {}
    for precision in ("float32", "float16", "int8"):
        paths[precision] = tmp_path / f"{precision}.model"
        tagger.save(paths[precision], precision)
    return paths


def scores(model):
    """Keys, labels and weights of the features, and names where they are kept."""
    keys, row_ptr, column, weights = model.unpacked()
    return list(keys), list(row_ptr), list(column), np.array(weights)


def refused(path):
    """The message of the one error there is, or None where the model loads."""
    try:
        model = TaggerModel.load(path)
    except FileError as error:
        return str(error) if str(error).startswith(f"{path}: ") else pytest.fail(str(error))
    # Whatever loads has to work.
    labels = model.label_corpus(Corpus.from_sentences(WORDS))
    assert list(map(len, labels)) == list(map(len, WORDS))
    assert {k for row in labels for k in row} <= set(model.shown)
    return None


# -- round trips --------------------------------------------------------------------------------


def test_a_loaded_model_is_the_model(tagger, saved):
    model = TaggerModel.load(saved["float32"])
    before, after = scores(tagger.model_), scores(model)
    assert before[:3] == after[:3]
    assert before[3].tolist() == after[3].tolist()
    assert model.feature_names() == tagger.model_.feature_names()
    assert model.feature_names("pair") == tagger.model_.feature_names("pair")
    assert (model.labels, model.shown, model.target_name) == (["D", "N", "V"],) * 2 + ("pos",)
    assert model.training == tagger.model_.training
    corpus = Corpus.from_sentences(WORDS)
    assert model.label_corpus(corpus) == tagger.model_.label_corpus(corpus)
    again = saved["float32"].with_suffix(".again")
    model.save(again)
    assert again.read_bytes() == saved["float32"].read_bytes()


def test_names_are_those_of_the_features_with_weights(tagger):
    """Each name is one that the extractor gives, and its weights are those that it is scored by."""
    model = tagger.model_
    corpus = Corpus.from_sentences([[w for w, _ in s] for s in SENTENCES])
    by_name = {}
    for i in range(len(corpus)):
        for token in model.core.features_of(corpus.core, i, False):
            by_name.update({name: weights for name, weights in token if any(weights)})
    keys, row_ptr, column, weights = model.unpacked()
    found = {}
    for f, name in enumerate(model.feature_names()):
        row = [0.0] * 3
        for q in range(row_ptr[f], row_ptr[f + 1]):
            row[column[q]] = weights[q]
        found[name] = row
    assert found == by_name
    assert len(keys) == len(found)


@pytest.mark.parametrize(("precision", "slack"), [("float16", 2**-11), ("int8", 0.5 / 127)])
def test_rounded_weights(tagger, saved, precision, slack):
    model = TaggerModel.load(saved[precision])
    exact = {}
    for model_, out in ((tagger.model_, exact), (model, found := {})):
        keys, row_ptr, column, weights = scores(model_)
        for f, key in enumerate(keys):
            for q in range(row_ptr[f], row_ptr[f + 1]):
                out[key, column[q]] = weights[q]
    largest = max(map(abs, exact.values()))
    for place, w in exact.items():
        room = slack * (abs(w) if precision == "float16" else largest) + 1e-6
        assert abs(found.get(place, 0.0) - w) <= room
    assert set(found) <= set(exact)
    assert model.feature_names() == tagger.model_.feature_names()
    corpus = Corpus.from_sentences([[w for w, _ in s] for s in SENTENCES])
    assert model.label_corpus(corpus) == tagger.model_.label_corpus(corpus)


def test_rounded_files_are_smaller(tmp_path):
    """Of a model with enough features for the weights to count."""
    words = [f"w{i}" for i in range(400)]
    sentences = [[(w, "NVD"[i % 3]) for i, w in enumerate(words[k : k + 8])] for k in range(392)]
    tagger = Tagger(features="pos", max_iter=2, names=False).fit(sentences)
    sizes = {}
    for precision in ("float32", "float16", "int8"):
        tagger.save(tmp_path / precision, precision)
        sizes[precision] = os.path.getsize(tmp_path / precision)
    assert sizes["int8"] < sizes["float16"] < 0.7 * sizes["float32"]


@pytest.mark.parametrize(
    "options",
    [{}, {"hash_bits": 6}, {"learner": "crf", "max_iter": 3}, {"learner": "hmm"},
     {"names": False}],
)  # fmt: skip
def test_the_same_training_gives_the_same_file(tmp_path, options):
    text = None if options.get("learner") == "hmm" else "word[-1..1]\nbias"
    files = []
    for i in range(2):
        path = tmp_path / f"{i}.model"
        trained(text, **options).save(path)
        files.append(path.read_bytes())
    assert files[0] == files[1]


def test_models_without_a_single_weight(tmp_path):
    path = tmp_path / "x"
    for precision in ("float32", "float16", "int8"):
        trained("word", prune=1e9).save(path, precision)
        assert refused(path) is None


def test_a_precision_that_does_not_exist(tagger, tmp_path):
    with pytest.raises(ValueError, match="precision must be float32, float16 or int8, got 'f"):
        tagger.save(tmp_path / "x", "float8")
    assert os.listdir(tmp_path) == []


def test_a_failure_while_saving_keeps_the_old_model(tagger, saved, monkeypatch):
    path = saved["float32"]
    data, there = path.read_bytes(), sorted(os.listdir(path.parent))

    def full(*_):
        raise OSError(28, "No space left on device")

    for precision in saved:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(FileError, match="cannot be written: no space left"):
                tagger.save(path, precision)
        assert path.read_bytes() == data
        assert sorted(os.listdir(path.parent)) == there


# -- damage -------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_damaged_models_are_refused(saved, precision):
    path = saved[precision]
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.permutation(len(data))[:600]:
        changed = bytearray(data)
        changed[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        assert refused(path)
    for size in rng.permutation(len(data))[:100]:
        path.write_bytes(data[:size])
        assert refused(path)
    path.write_bytes(data)
    assert refused(path) is None


def forged(path, description=None, tensors=None):
    """The file with other contents, its checksum right."""
    before, arrays = read_container(path)
    changed = {**before, **(description or {})}
    made = {k: Tensor(t.dtype, bytes(t.data), t.shape) for k, t in arrays.items()}
    for name, tensor in (tensors or {}).items():
        if tensor is None:
            del made[name]
        else:
            made[name] = tensor
    write_container(path, changed, made)
    return path


def atoms(*steps, column="word", kind="string", offset=0):
    return [[[[kind, column, [list(s) for s in steps], offset]], False, False, ""]]


@pytest.mark.parametrize(
    "description",
    [
        {"task": "parser"}, {"task": None},
        {"labels": []}, {"labels": 5}, {"labels": ["D", "N"]}, {"labels": ["D", "N", "V", "X"]},
        {"labels": ["D", "D", "V"]}, {"labels": None},
        {"shown": ["D", "N"]}, {"shown": []}, {"shown": 5},
        {"order": -1}, {"order": 2}, {"order": "x"}, {"order": None},
        {"templates": 5}, {"templates": "word"}, {"templates": [[]]}, {"templates": [["word"]]},
        {"templates": [[[], False, False, ""]]}, {"templates": None},
        {"templates": atoms(column="lemma")}, {"templates": atoms(column="c3")},
        {"templates": atoms(column="")}, {"templates": atoms(column=5)},
        {"templates": atoms(kind="magic")}, {"templates": atoms(kind=["string"])},
        {"templates": atoms(kind="gazetteer")}, {"templates": atoms(("in", "x"), kind="gazetteer")},
        {"templates": atoms(("vector", "x"), kind="vector")},
        {"templates": atoms(("lower", None), kind="vector")},
        {"templates": atoms(("emission", None), kind="vector")},
        {"templates": atoms(("upper", None))}, {"templates": atoms(("prefix", "x"))},
        {"templates": atoms(("prefix", -1))}, {"templates": atoms(("prefix", 10**9))},
        {"templates": atoms(("lower", [1]))}, {"templates": atoms((["lower"], None))},
        {"templates": atoms(("match", 5))}, {"templates": atoms(("in", "x"))},
        {"templates": atoms(offset=1001)}, {"templates": atoms(offset=10**30)},
        {"templates": atoms(offset=0.5)}, {"templates": atoms(offset=None)},
        {"templates": [[*atoms()[0][:3], str(i)] for i in range(70_000)]},
        {"phrases": 5}, {"phrases": {"x": 5}}, {"phrases": {"x": [["a"]]}},
        {"vectors": {"x": ["a"]}}, {"vectors": 5},
        {"training": 5},
        {"emissions": {}}, {"emissions": 5},
    ],
)  # fmt: skip
def test_forged_descriptions(saved, description):
    path = forged(saved["float32"], description)
    assert refused(path)


def test_missing_parts_of_descriptions(saved):
    path = saved["float32"]
    description, arrays = read_container(path)
    made = {k: Tensor(t.dtype, bytes(t.data), t.shape) for k, t in arrays.items()}
    for name in description:
        write_container(path, {k: v for k, v in description.items() if k != name}, made)
        assert refused(path)


def slots_with(data, place, key, word):
    changed = bytearray(data)
    struct.pack_into("<QQ", changed, 16 * place, key, word)
    return bytes(changed)


LIST, SINGLE, ROW, NOTHING = 0, 1 << 62, 2 << 62, 3 << 62


@pytest.mark.parametrize("table", ["state", "pair"])
@pytest.mark.parametrize(
    "word",
    [
        LIST | 1 << 32 | 0xFFFFFFFF, LIST | 0x3FFFFFFF << 32, LIST | 1 << 32 | 10**6,
        SINGLE | 9 << 32, SINGLE | 0x3FFFFFFF << 32, SINGLE | 0x7FC00000, SINGLE | 0x7F800000,
        ROW | 0xFFFFFFFF, ROW | 10**6, NOTHING, NOTHING | 5,
    ],
)  # fmt: skip
def test_slots_that_point_nowhere(saved, table, word):
    path = saved["float32"]
    tensor = read_container(path)[1][f"{table}.slots"]
    for place in range(tensor.shape[0]):
        forged(path, None, {f"{table}.slots": tensor._replace(
            data=slots_with(bytes(tensor.data), place, 12345, word))})  # fmt: skip
        assert "points nowhere" in refused(path)
        forged(path, None, {f"{table}.slots": tensor._replace(data=bytes(tensor.data))})
    assert refused(path) is None


def with_numbers(tensor, kind, change):
    values = np.frombuffer(bytes(tensor.data), dtype=kind).copy()
    change(values)
    return tensor._replace(data=values.tobytes())


def setting(at, value):
    def change(values):
        values[at] = value

    return change


@pytest.mark.parametrize(
    ("precision", "name", "kind", "value"),
    [
        ("float32", "state.weight", "<f4", np.nan), ("float32", "state.weight", "<f4", np.inf),
        ("float32", "state.outcome", "<u4", 3), ("float32", "state.outcome", "<u4", 2**32 - 1),
        ("float32", "start", "<f8", np.nan), ("float32", "end", "<f8", np.inf),
        ("float32", "transition1", "<f8", np.nan), ("float32", "transition1", "<f8", np.inf),
        ("float16", "state.rounded", "<f2", np.nan), ("float16", "state.rounded", "<f2", np.inf),
        ("float16", "state.columns", "<u2", 3), ("float16", "pair.columns", "<u2", 9),
        ("float16", "state.counts", "<u2", 65535), ("float16", "state.counts", "<u2", 0),
        ("float16", "state.keys", "<u8", 0), ("int8", "state.scale", "<f8", np.nan),
        ("int8", "state.scale", "<f8", np.inf), ("int8", "pair.scale", "<f8", 1e300),
        ("int8", "state.counts", "<u2", 100), ("int8", "pair.keys", "<u8", 0),
    ],
)  # fmt: skip
def test_forged_numbers(saved, precision, name, kind, value):
    path = saved[precision]
    tensor = read_container(path)[1][name]
    for at in {0, len(np.frombuffer(bytes(tensor.data), kind)) - 1}:
        forged(path, None, {name: with_numbers(tensor, kind, setting(at, value))})
        assert refused(path)


def test_keys_that_stand_twice(saved):
    path = saved["int8"]
    tensor = read_container(path)[1]["state.keys"]
    keys = np.frombuffer(bytes(tensor.data), "<u8")
    forged(path, None, {"state.keys": with_numbers(tensor, "<u8", setting(0, keys[1]))})
    assert refused(path)


def test_a_table_without_an_empty_slot(saved):
    """A search for a key that is not there would not end."""
    path = saved["float32"]
    slots = np.ones((4, 2), "<u8")
    slots[:, 0] = [1, 2, 3, 4]
    slots[:, 1] = 0
    forged(path, None, {"state.slots": Tensor("U64", slots.tobytes(), (4, 2))})
    assert "full" in refused(path)


@pytest.mark.parametrize("rows", [3, 5, 6, 7, 9])
def test_tables_of_odd_sizes(saved, rows):
    path = saved["float32"]
    forged(path, None, {"state.slots": Tensor("U64", bytes(16 * rows), (rows, 2))})
    assert "power of two" in refused(path)


@pytest.mark.parametrize("name", ["start", "end", "transition1"])
def test_scores_of_the_wrong_size(saved, name):
    path = saved["float32"]
    tensor = read_container(path)[1][name]
    data = bytes(tensor.data)
    for changed in (data[:-8], data + bytes(8), data * 2):
        forged(path, None, {name: Tensor("F64", changed)})
        assert refused(path)
    forged(path, None, {name: Tensor("I64", data)})
    assert refused(path)


def test_thousands_of_forged_tables(saved):
    """Random slots, weights and labels: refused, or a model that labels."""
    path = saved["float32"]
    rng = np.random.default_rng(0)
    description, arrays = read_container(path)
    made = {k: Tensor(t.dtype, bytes(t.data), t.shape) for k, t in arrays.items()}
    loaded = 0
    for _ in range(500):
        changed = dict(made)
        table = str(rng.choice(["state", "pair"]))
        outcomes, n = (3 if table == "state" else 9), int(rng.choice([1, 2, 4, 8, 16]))
        m = int(rng.integers(12))
        slots = np.zeros((n, 2), "<u8")
        for i in range(n):
            kind = int(rng.integers(3))
            label, low = (
                int(rng.integers(outcomes + (rng.random() < 0.1))),
                int(rng.integers(m + 1)),
            )
            slots[i] = int(rng.integers(3)), kind << 62 | label << 32 | low
        changed[f"{table}.slots"] = Tensor("U64", slots.tobytes(), (n, 2))
        changed[f"{table}.weight"] = Tensor("F32", rng.normal(size=m).astype("<f4").tobytes())
        outcome = rng.integers(outcomes + (rng.random() < 0.1), size=m).astype("<u4")
        changed[f"{table}.outcome"] = Tensor("U32", outcome.tobytes())
        for name in (f"{table}.names", f"{table}.names_end"):
            changed[name] = changed[name]._replace(data=b"", shape=(0,))
        write_container(path, {**description, "hashed": bool(rng.integers(2))}, changed)
        loaded += refused(path) is None
    assert 20 < loaded < 480


def test_functions_that_templates_call_are_asked_for(tmp_path):
    path = tmp_path / "x"
    templates = FeatureTemplates.parse('call(word, "f")', functions={"f": str.upper})
    Tagger(features=templates, max_iter=2).fit(SENTENCES).save(path)
    with pytest.raises(ValueError, match=r"pass functions=\{'f'") as caught:
        TaggerModel.load(path)
    assert not isinstance(caught.value, FileError)
    assert TaggerModel.load(path, functions={"f": str.upper}).labels == ["D", "N", "V"]


def test_forged_phrases_and_vectors(tmp_path):
    (tmp_path / "p").write_text("the fish\n")
    (tmp_path / "v").write_text("fish 1 2\neels 3 4\n")
    text = 'in(word, "p")\nvector(word, "v")\nword'
    templates = FeatureTemplates.parse(text, folder=str(tmp_path))
    path = tmp_path / "x"
    Tagger(features=templates, max_iter=2).fit(SENTENCES).save(path)
    data = path.read_bytes()
    assert refused(path) is None
    vectors = read_container(path)[1]["vectors.0"]
    whole = bytes(vectors.data)
    for description, tensors in [
        ({"phrases": {}}, {}),
        ({"phrases": {"p": [[["a"], 5, 6]]}}, {}),
        ({"phrases": {"p": 5}}, {}),
        ({"vectors": {}}, {}),
        ({"vectors": {"v": ["fish"]}}, {}),
        ({"vectors": {"v": ["fish", "fish"]}}, {}),
        ({"vectors": {"v": 5}}, {}),
        ({}, {"vectors.0": None}),
        ({}, {"vectors.0": Tensor("F32", whole, (4,))}),
        ({}, {"vectors.0": Tensor("F32", whole, (4, 1))}),
        ({}, {"vectors.0": Tensor("F32", whole[:8], (1, 2))}),
    ]:
        path.write_bytes(data)
        assert refused(forged(path, description, tensors))


def test_forged_emissions(tmp_path):
    path = tmp_path / "x"
    trained(None, learner="hmm").save(path)
    data = path.read_bytes()
    assert refused(path) is None
    arrays = read_container(path)[1]
    counts, ends = arrays["emission.counts"], np.frombuffer(arrays["emission.ends"].data, "<u4")
    whole, same = bytes(counts.data), b"the" * len(ends)
    for description, tensors in [
        ({"emissions": {}}, {}),
        ({"emissions": 5}, {}),
        ({}, {"emission.words": None}),
        ({}, {"emission.counts": None}),
        ({}, {"emission.words": Tensor("U8", b"the\nthe")}),
        ({}, {"emission.words": Tensor("U8", b"the\nthe"), "emission.ends": None}),
        (
            {},
            {
                "emission.words": Tensor("U8", same),
                "emission.ends": Tensor("U32", np.arange(3, len(same) + 1, 3, dtype="<u4")),
            },
        ),
        ({}, {"emission.ends": Tensor("U32", ends[:-1])}),
        ({}, {"emission.ends": Tensor("U32", ends[[1, 0, *range(2, len(ends))]])}),
        ({}, {"emission.ends": Tensor("I32", ends.copy())}),
        ({}, {"emission.words": Tensor("U8", b"\xff")}),
        ({}, {"emission.ends": Tensor("U32", b"")}),
        ({}, {"emission.ends": Tensor("U32", struct.pack("<II", 9, 3))}),
        ({}, {"emission.ends": Tensor("F32", whole[:8])}),
        ({}, {"emission.counts": Tensor("F64", whole[:-8])}),
        ({}, {"emission.counts": Tensor("F64", struct.pack("<d", -1) + whole[8:], counts.shape)}),
        ({}, {"emission.counts": Tensor("F64", struct.pack("<d", np.nan) + whole[8:])}),
    ]:
        path.write_bytes(data)
        assert refused(forged(path, description, tensors))


@pytest.mark.parametrize("order", [5, 10**9, 10**30])
def test_an_order_that_no_model_has(saved, order):
    path = forged(saved["float32"], {"order": order})
    tracemalloc.start()
    try:
        assert refused(path)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


CALIBRATION = {"temperature": 2.0, "n_parts": 9, "error": 0.0, "curve": None}


@pytest.mark.parametrize(
    "description",
    [
        {"format": "xml"}, {"format": 5}, {"format": ["columns"]}, {"format": "conllu"},
        {"n_columns": 0}, {"n_columns": 1}, {"n_columns": -1}, {"n_columns": 10**8},
        {"n_columns": 10**30}, {"n_columns": "x"}, {"n_columns": None},
        {"target": -1}, {"target": 2}, {"target": 10**9}, {"target": "x"}, {"target": None},
        *(
            {"training": {"learner_parameters": {"temperature": given}}}
            for given in (-1.0, float("nan"), float("inf"), "x", [], True)
        ),
        *(
            {"training": {"calibration": {**CALIBRATION, **given}}}
            for given in (
                {"temperature": 0}, {"temperature": -1.0}, {"temperature": float("nan")},
                {"temperature": float("inf")}, {"temperature": "x"}, {"temperature": []},
                {"n_parts": -1}, {"n_parts": 1.5}, {"n_parts": None}, {"error": -0.1},
                {"error": 1.1}, {"error": float("nan")}, {"curve": [1.0, 1.0]}, {"curve": 5},
                {"curve": [-1.0, 1.0, 0.0]}, {"curve": [1.0, 1.0, float("inf")]},
            )
        ),
        {"training": {"calibration": {"temperature": 1.0}}}, {"training": {"calibration": 3}},
    ],
)  # fmt: skip
def test_columns_and_temperatures_that_make_no_sense(saved, description):
    path = forged(saved["float32"], description)
    tracemalloc.start()
    try:
        assert refused(path)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_arrays_that_are_missing_or_of_another_kind(saved, precision):
    path = saved[precision]
    data = path.read_bytes()
    sizes = {"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "I16": 2, "I8": 1, "U8": 1}
    sizes.update(F16=2, U16=2)
    for name, tensor in read_container(path)[1].items():
        tensor = tensor._replace(data=bytes(tensor.data))
        path.write_bytes(data)
        if name not in ("state.names", "pair.names"):  # a model need not have names
            assert refused(forged(path, None, {name: None})), name
        for other, size in sizes.items():
            if other != tensor.dtype and len(tensor.data) % size == 0:
                path.write_bytes(data)
                assert refused(forged(path, None, {name: Tensor(other, tensor.data)})), name
    for precision_ in ("float64", None, 5):
        path.write_bytes(data)
        assert refused(forged(path, {"precision": precision_}))


def test_counts_that_add_up_to_more_than_32_bits(saved):
    """65,537 times 65,535 is 2^32 - 1: the sum comes round to what is there."""
    path = saved["int8"]
    n = len(read_container(path)[1]["state.rounded"].data)
    counts = np.full(65_538, 65_535, "<u2")
    counts[-1] = n + 1
    keys = np.arange(1, len(counts) + 1, dtype="<u8")
    assert (int(counts.sum(dtype=np.uint64)) - n) % 2**32 == 0
    forged(path, None, {"state.counts": Tensor("U16", counts), "state.keys": Tensor("U64", keys)})
    assert "do not fit together" in refused(path)


def test_names_that_do_not_fit(saved):
    path = saved["float32"]
    data = path.read_bytes()
    ends = read_container(path)[1]["state.names_end"]
    for change in (setting(-1, 0), setting(-1, 2**32 - 1)):
        path.write_bytes(data)
        assert refused(forged(path, None, {"state.names_end": with_numbers(ends, "<u4", change)}))
    path.write_bytes(data)
    size = len(read_container(path)[1]["state.names"].data)
    forged(path, None, {"state.names": Tensor("U8", b"\xff" * size)})
    assert len(TaggerModel.load(path).feature_names()) == len(ends.data) // 4


@pytest.mark.parametrize(
    "templates",
    [
        atoms(("match", "(")),
        atoms(("match", "a{9999999999999999999}")),
        atoms(*[("lower", None)] * 300_000),
        [[atoms()[0][0] * 300_000, False, False, ""]],
        [[atoms(("ngrams", 1))[0][0] * 300_000, False, False, ""]],
    ],
    ids=["regex", "repetition", "functions", "attributes", "values"],
)
def test_templates_that_would_be_too_deep(saved, templates):
    assert refused(forged(saved["float32"], {"templates": templates}))


def test_features_of_label_pairs_without_label_pairs(saved):
    """The core would read a table of transitions that is not there."""
    path = forged(
        saved["float32"],
        {"order": 0},
        {name: None for name in read_container(saved["float32"])[1] if name.startswith("pair.")},
    )
    assert "features of transitions need a model of order 1" in refused(path)


def test_rounding_uses_all_of_its_steps(tagger, saved):
    tensors = read_container(saved["int8"])[1]
    steps = np.frombuffer(tensors["state.rounded"].data, "i1")
    (scale,) = np.frombuffer(tensors["state.scale"].data, "<f8")
    assert np.abs(steps.astype(int)).max() == 127
    assert scale * 127 == pytest.approx(np.abs(tagger.model_.unpacked()[3]).max(), rel=1e-12)


def test_words_of_a_hidden_markov_model_may_have_line_ends(tmp_path):
    rows = [[("a\nb", "N"), ("x", "V"), ("\n", "Z")]] * 3
    tagger = Tagger(learner="hmm").fit(rows)
    tagger.save(tmp_path / "m")
    again = structlearn.load(tmp_path / "m")
    words = [[word for word, _ in rows[0]]]
    assert again.predict(words) == tagger.predict(words) == [["N", "V", "Z"]]
    assert again.top_features("N", 1) == tagger.top_features("N", 1)
    assert again.top_features("N", 1)[0]["feature"] == "word=a\nb"
