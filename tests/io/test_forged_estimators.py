"""No file makes the reader of estimators crash: damaged, cut short, forged with a right checksum.

Forgeries are drawn at random: an entry of the description or an array becomes another one. What is
loaded all the same has to work.
"""

import contextlib
import copy
import random

import numpy as np
import pytest
from fuzz.forging import forge_arrays, forge_description

import structlearn
from structlearn.constraints import Automaton
from structlearn.exceptions import FileError
from structlearn.io.container import Tensor, read_container, write_container
from structlearn.structures import ConstrainedChain
from tests.io.saved_cases import CASES, fitted

#: Forgeries a case.
FORGERIES = 40


def load(path):
    """Return the model, or None where the one error there is says that it cannot be used."""
    try:
        return structlearn.load(path)
    except FileError as error:
        return None if str(error).startswith(f"{path}: ") else pytest.fail(str(error))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    model, _, _ = fitted("multiclass names")
    path = tmp_path_factory.mktemp("small") / "small.model"
    model.save(path)
    return path, path.read_bytes()


def test_flipped_bits_are_found(small, tmp_path):
    """Of any one byte in nine; the tests of containers flip every bit."""
    _, data = small
    path = tmp_path / "x"
    rng = np.random.default_rng(0)
    for at in range(0, len(data), 9):
        changed = bytearray(data)
        changed[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        assert load(path) is None


def test_files_cut_short_are_refused(small, tmp_path):
    _, data = small
    path = tmp_path / "x"
    for size in range(0, len(data), 9):
        path.write_bytes(data[:size])
        assert load(path) is None
    path.write_bytes(data + b" ")
    assert load(path) is None


# -- forgeries -------------------------------------------------------------------------------------


def changed_array(path, change, of="values"):
    """Give one array of the weights another content; "values" are the weights themselves."""
    description, tensors = read_container(path)
    arrays = {k: Tensor(t.dtype, bytes(t.data), t.shape) for k, t in tensors.items()}
    weights = description["weights"]
    stored = weights["values"] if of == "values" else weights["blocks"]["label"][of]
    name = stored["name"]
    dtype = {"F64": "<f8", "U32": "<u4", "U8": "u1"}[arrays[name].dtype]
    found = change(np.frombuffer(arrays[name].data, dtype=dtype).copy())
    arrays[name] = Tensor(arrays[name].dtype, found.tobytes())
    write_container(path, description, arrays)


def put(at, value):
    def change(array):
        array[at] = value
        return array

    return change


@pytest.mark.parametrize(
    ("of", "change", "message"),
    [
        ("values", put(3, np.nan), "invalid values"),
        ("values", put(0, -np.inf), "invalid values"),
        ("values", lambda a: a[:-1], "fewer weights than"),
        ("values", lambda a: np.append(a, 0.0), "weights, but the blocks have"),
        ("row_ptr", put(1, 2**31), "decrease"),
        ("row_ptr", put(-1, 10**6), "must go from 0 to"),
        ("row_ptr", put(0, 1), "must go from 0 to"),
        ("row_ptr", lambda a: a[:-1], "has the shape"),
        ("column", put(0, 3), "a weight belongs to another one"),
        ("column", put(0, 2**32 - 1), "a weight belongs to another one"),
        ("column", lambda a: np.append(a, 0).astype("<u4"), "must go from 0 to"),
        ("real", put(0, 2), "marks other than 0 and 1"),
        ("real", lambda a: np.zeros_like(a), "nonzero fillers"),
    ],
)
def test_arrays_that_the_core_must_not_see(tmp_path, of, change, message):
    path = tmp_path / "x"
    model, _, _ = fitted("full rows" if of == "real" else "strings")
    model.save(path)
    changed_array(path, change, of)
    with pytest.raises(FileError, match=message) as error:
        structlearn.load(path)
    assert str(error.value).startswith(f"{path}: the model cannot be used: ")


def test_automata_of_other_labels(tmp_path):
    model = fitted("constraints")[0]
    before = model.structure_
    try:
        model.structure_ = ConstrainedChain([Automaton([[0] * 4], 0, [True])])
        model.save(tmp_path / "x")
    finally:
        model.structure_ = before
    with pytest.raises(FileError, match="automata over 4 labels instead of 3"):
        structlearn.load(tmp_path / "x")


@pytest.mark.parametrize("change", [put(0, 2), put(1, 9), put(1, -1), put(2, 2**40), put(4, 7)])
def test_rows_that_are_no_automata(tmp_path, change):
    path = tmp_path / "x"
    fitted("constraints")[0].save(path)
    description, tensors = read_container(path)
    arrays = {k: Tensor(t.dtype, bytes(t.data), t.shape) for k, t in tensors.items()}
    name = description["structure"]["automata"]["name"]
    row = change(np.frombuffer(arrays[name].data, dtype="<i8").copy())
    arrays[name] = Tensor(arrays[name].dtype, row.tobytes())
    write_container(path, description, arrays)
    with pytest.raises(FileError):
        structlearn.load(path)


def put_in(*keys, value):
    def change(description):
        for key in keys[:-1]:
            description = description[key]
        description[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("crf", put_in("labels", "items", 0, value="N"), "a label appears twice"),
        ("crf", put_in("labels", "items", value=["N", "V"]), "shape|size"),
        ("crf", put_in("structure", "order", value=2), "blocks"),
        ("crf", put_in("structure", value={"$": "Tree", "parents": None}), "blocks"),
        ("crf", put_in("structure", value=3), "is not a structure"),
        ("crf", put_in("features", "blocks", "label", "n_features", value=5), "not those of its"),
        ("crf", put_in("features", "blocks", "label", "n_features", value=2**70), "number of col"),
        ("crf", put_in("features", "blocks", "label", "n_features", value=True), "number of col"),
        ("crf", put_in("features", "blocks", "label", "$", value="odd"), "KeyError"),
        ("crf", put_in("features", "blocks", value={}), "not those of its features"),
        ("crf", put_in("weights", "blocks", "label", value=None), "the block 'label' has no weig"),
        ("crf", put_in("weights", "blocks", "label", "n_features", value=2**31 - 1), "not those"),
        ("crf", put_in("weights", "blocks", "start", "shared", value=False), "not those of"),
        ("crf", put_in("training", "history", value=[{}]), "KeyError: 'loss'"),
        ("crf", put_in("parameters", "C", value=-1), "C must be a number above 0"),
        ("crf", put_in("parameters", "gamma", value=1), "unexpected keyword argument 'gamma'"),
        ("crf", put_in("parameters", "n_jobs", value="many"), "n_jobs must be None or a whole"),
        ("crf", put_in("class", value="LossCurve"), "a class unknown to structlearn"),
        ("crf", put_in("class", value="Popen"), "a class unknown to structlearn"),
        ("strings", put_in("features", "blocks", "label", "separator", value=3), "not a string"),
        ("perceptron", put_in("training", "online", value={}), "of an online learner"),
        ("perceptron", put_in("training", "online", value=3), "of an online learner"),
        ("constrained structure", put_in("structure", "constraints", "items", 1, "parts", "items",
                                         0, "label", value=7), "label 7, which is unknown"),
        ("constraints", put_in("structure", "max_states", value=-1), "max_states"),
        ("hierarchy", put_in("weights", "blocks", "label", "hierarchy", "nodes", value=["a"]),
         "a hierarchy of other classes"),
        ("hmm", put_in("order", value=2), "counts of|scores of"),
        ("hmm", put_in("emissions", "suffix_length", value=-1), "suffix_length is -1"),
        ("hmm", put_in("emissions", "kind", value="gaussian"), "KeyError"),
        ("hmm gaussian", put_in("emissions", "columns", value=7), "has the shape"),
        ("labels tree", put_in("n_labels", value=4), "whose features are not"),
        ("labels tree", put_in("n_features", value=0), "whose features are not"),
        ("labels tree", put_in("parameters", "intercept", value=False), "whose features are not"),
        ("labels tree", put_in("learner", "class", value="HMM"), "unexpected keyword argument"),
    ],
)  # fmt: skip
def test_descriptions_that_do_not_fit(tmp_path, name, change, message):
    path = tmp_path / "x"
    model, _, _ = fitted(name)
    model.save(path)
    description, tensors = read_container(path)
    change(description)
    arrays = {k: Tensor(t.dtype, bytes(t.data), t.shape) for k, t in tensors.items()}
    write_container(path, description, arrays)
    with pytest.raises(FileError, match=message) as error:
        structlearn.load(path)
    assert str(error.value).startswith(f"{path}: ")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_forgeries(name, tmp_path):
    model, X, _ = fitted(name)
    path = tmp_path / "x"
    model.save(path)
    description, tensors = read_container(path)
    tensors = {k: Tensor(t.dtype, bytes(t.data), t.shape) for k, t in tensors.items()}
    rng = random.Random(name)
    refused = 0
    for _ in range(FORGERIES):
        forged, arrays = copy.deepcopy(description), dict(tensors)
        if rng.random() < 0.6:
            forge_description(rng, forged)
        else:
            forge_arrays(rng, arrays)
        write_container(path, forged, arrays)
        found = load(path)
        if found is None:
            refused += 1
            continue
        with contextlib.suppress(ValueError):  # of another structure, say, than X has
            found.predict(X)
    assert refused > FORGERIES // 5
