"""Saving a loaded model is the identity: every task and learner, every precision and option."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

import structlearn
from structlearn.exceptions import FileError
from structlearn.io.container import Tensor, read_container, write_container
from structlearn.tasks import ImageSegmenter, Tagger
from structlearn.tasks.dependencies.model import ParserModel
from structlearn.tasks.tagging.model import TaggerModel
from structlearn.text import FeatureTemplates
from tests.io.saved_cases import fitted
from tests.io.test_estimator_files import alike, without_seconds
from tests.tasks.trainings import TRAININGS, trained

pytestmark = pytest.mark.filterwarnings(
    "ignore::structlearn.exceptions.InexactInferenceWarning",
    "ignore::structlearn.exceptions.ConvergenceWarning",
)

#: Kinds whose weights files hold in fewer bits, too.
ROUNDED = ("tagger", "parser", "pipeline", "candidates", "stream")
PRECISIONS = ("float32", "float16", "int8")
#: Features of labels and of pairs of labels.
PAIRS = FeatureTemplates.parse("word[-1..1]\nsuffix(word, 1..2)\nbias\ntransition: word")
#: (task, learner) -> options that change what a file holds.
OPTIONS = [
    ("tagger", "perceptron", {"hash_bits": 8}),
    ("tagger", "perceptron", {"names": False, "order": 2, "n_models": 2}),
    ("tagger", "crf", {"features": PAIRS, "C": 100.0}),
    ("tagger", "crf", {"order": 0, "class_weight": {"NN": np.float32(2), "DT": 0.5}}),
    ("tagger", "adagrad", {"prune": 0.05, "min_count": 2}),
    ("tagger", "svm", {"target": 2, "all_possible_states": True}),
    ("segments", "crf", {"prune": 0.01, "max_length": 3}),
    ("parser", "crf", {"C": 30.0}),
    ("parser of pairs", "passive-aggressive", {"prune": True}),
    ("parser of pairs", "perceptron", {"gold_tags": False, "folds": 2}),
    ("constituency", "perceptron", {"folds": 3, "min_count": 1}),
    ("segmenter", "svm", {"superpixels": 20}),
]
MODELS = [(task, learner, {}) for task, it in TRAININGS.items() for learner in it.learners]
MODELS += OPTIONS


def name_of(model):
    task, learner, options = model
    return "-".join((task, learner, *(k for k in options)))


def made(task, learner, options):
    """Return a model, and inputs for it; those with options are calibrated on a dev set."""
    it = TRAININGS[task]
    if not options:
        return trained(task, learner), it.inputs
    model = it.make(learner, **options)
    few = it.examples[:6]
    return model.fit(it.examples, **({} if "target" in options else {"dev": few})), it.inputs


def answers(model, inputs):
    """All that it can be asked: predictions, probabilities, alternatives."""
    if not hasattr(model, "predict_marginals"):
        if isinstance(model, ImageSegmenter):
            return [np.asarray(y).tolist() for y in model.predict(inputs)]
        return model(inputs, confidence=True).to_conllu()
    few, found = inputs[:5], [model.predict(inputs)]
    for ask in ("predict_marginals", "predict_kbest", "entropy"):
        try:
            found.append(getattr(model, ask)(few))
        except ValueError as error:  # what the kind has not
            found.append(str(error))
    return [repr(one) for one in found]


def parts_of(model):
    """Return the models in a model, by name."""
    model = getattr(model, "model_", model)
    inner = dict(getattr(model, "parts", {}))
    inner |= {f"tagger{i}": one for i, one in enumerate(getattr(model, "taggers", ()))}
    own = {"": model} if isinstance(model, (ParserModel, TaggerModel)) else {}
    return own | {
        f"{name}.{below}": one
        for name, part in inner.items()
        for below, one in parts_of(part).items()
    }


def tables_of(model):
    """Return the weights that precisions round, by table and place, and the other arrays."""
    if isinstance(model, ParserModel):
        arrays = model.arrays
        tables = {n: np.frombuffer(arrays[n], np.float32) for n in ("weights", "pruner")}
        return {n: dict(zip(w.nonzero()[0], w[w != 0], strict=True)) for n, w in tables.items()}, {}
    tables = {}
    for table in model._tables():
        keys, rows, columns, weights = model.unpacked(table)
        of = [
            f if model.hashed else keys[f]
            for f in range(len(keys))
            for _ in range(*rows[f : f + 2])
        ]
        tables[table] = dict(zip(zip(of, columns, strict=True), weights, strict=True))
    return tables, {n: bytes(a) for n, a in model.arrays.items() if "." not in n}


def names_of(model):
    """Return the names of features by table and key."""
    return {
        (table, key): name
        for table in model.names
        for key, name in zip(model.unpacked(table)[0], model.feature_names(table), strict=True)
    }


def check_rounding(before, after, precision):
    """Weights differ by no more than half a step of the precision; names stay with theirs."""
    names = parts_of(before)
    assert names.keys() == parts_of(after).keys()
    for name, model in names.items():
        (exact, others), (rounded, same) = tables_of(model), tables_of(parts_of(after)[name])
        assert others == same
        if isinstance(model, TaggerModel):
            assert names_of(parts_of(after)[name]).items() <= names_of(model).items()
        for table, weights in exact.items():
            assert rounded[table].keys() <= weights.keys()
            w = np.array(list(weights.values()), dtype=np.float64)
            v = np.array([rounded[table].get(place, 0.0) for place in weights])
            largest = np.abs(w).max(initial=0.0)
            if precision == "float32":
                np.testing.assert_array_equal(v, w)
            elif precision == "float16":
                assert (np.abs(v - w) <= np.abs(w) * 2**-11 + 2**-25).all()
            elif isinstance(model, TaggerModel):
                assert (np.abs(v - w) <= largest / 254 * (1 + 1e-4)).all()
            elif largest:  # steps of one size between the roots
                root = np.copysign(np.sqrt(np.abs(w) / largest), w)
                assert (np.abs(np.copysign(np.sqrt(np.abs(v) / largest), w) - root)
                        <= 0.5 / 127 + 1e-6).all()  # fmt: skip
                assert (v * w >= 0).all()


def check_generations(unsaved, inputs, rounds, tmp_path):
    first = tmp_path / "first"
    for precision in PRECISIONS if rounds else ("float32",):
        unsaved.save(first, *([precision] if rounds else []))
        loaded, content = structlearn.load(first), first.read_bytes()
        expected = answers(loaded, inputs)
        again = loaded
        for generation in ("second", "third"):
            again.save(tmp_path / generation)  # as it came
            assert (tmp_path / generation).read_bytes() == content
            again = structlearn.load(tmp_path / generation)
            assert answers(again, inputs) == expected
        pickle.loads(pickle.dumps(loaded)).save(tmp_path / "pickled")
        assert (tmp_path / "pickled").read_bytes() == content
        assert clone(loaded)._stored() == loaded._stored() == unsaved._stored()
        check_rounding(unsaved, loaded, precision)
        if precision == "float32":
            assert answers(unsaved, inputs) == expected
        else:  # more bits hold what fewer do
            loaded.save(tmp_path / "wide", "float32")
            wide = structlearn.load(tmp_path / "wide")
            assert answers(wide, inputs) == expected
            wide.save(tmp_path / "narrow", precision)
            assert (tmp_path / "narrow").read_bytes() == content
        if precision == "int8":  # from one way of rounding to another, and then no further
            loaded.save(tmp_path / "half", "float16")
            half = structlearn.load(tmp_path / "half")
            check_rounding(loaded, half, "float16")
            half.save(tmp_path / "again")
            assert (tmp_path / "again").read_bytes() == (tmp_path / "half").read_bytes()
        if hasattr(unsaved, "history_"):
            assert alike(without_seconds(loaded.history_), without_seconds(unsaved.history_))
            assert getattr(loaded, "class_weight", 0) == getattr(unsaved, "class_weight", 0)
            assert loaded.calibrated_ == unsaved.calibrated_
            assert loaded.model_.temperature == unsaved.model_.temperature
            assert loaded.model_.training == unsaved.model_.training


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_saving_a_loaded_model_is_the_identity(model, tmp_path):
    rounds = model[0].split(",")[0].split(" ")[0] in ROUNDED
    check_generations(*made(*model), rounds, tmp_path)


def test_what_templates_read_is_saved_again(tmp_path):
    """Word vectors, lists of phrases and the lexica of the training text."""
    it = TRAININGS["tagger"]
    words = sorted({word for sentence in it.inputs for word in sentence})
    lists = "".join(f"{w}\tkind{i % 3}\n" for i, w in enumerate(words[::3]))
    (tmp_path / "list.txt").write_text(lists)
    rows = "".join(f"{w} {i % 5} {-i / 7}\n" for i, w in enumerate(words[::2]))
    (tmp_path / "vectors.txt").write_text(rows)
    text = 'word\nseen(word)\nin(word, "list.txt")\nvector(word, "vectors.txt")'
    features = FeatureTemplates.parse(text, folder=str(tmp_path))
    tagger = Tagger(features, "crf", max_iter=3).fit(it.examples)
    check_generations(tagger, it.inputs, True, tmp_path)


def test_names_stay_with_their_weights(tmp_path):
    """Of features whose weights become 0 as well; names of others are refused."""
    tagger, _ = made("tagger", "svm", {})
    path = tmp_path / "model"
    tagger.save(path, "int8")
    loaded = Tagger.load(path)
    before, after = names_of(tagger.model_), names_of(loaded.model_)
    assert 0 < len(after) < len(before)
    assert after.items() <= before.items()
    description, tensors = read_container(path)
    changed = {name: Tensor(t.dtype, bytes(t.data), t.shape) for name, t in tensors.items()}
    weights = np.frombuffer(changed["state.rounded"].data, np.int8).copy()
    rows = np.cumsum([0, *np.frombuffer(changed["state.counts"].data, "<u2")])
    weights[rows[3] : rows[4]] = 0
    changed["state.rounded"] = Tensor("I8", weights)
    write_container(path, description, changed)
    with pytest.raises(FileError, match="the names of 'state' do not fit its weights"):
        Tagger.load(path)


def test_words_of_any_kind_are_counted_and_stored(tmp_path):
    """A token may have line ends, where it does not come from a file."""
    words = ["a\nb", "", "c\r", "\0", "a", "b"]
    tagger = Tagger(learner="hmm").fit([list(zip(words, "NVNVNV", strict=True))] * 3)
    tagger.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model")
    assert answers(loaded, [words]) == answers(tagger, [words])
    assert loaded.top_features() == tagger.top_features()


AGAIN = """
import sys, structlearn
for path in sys.argv[1:]:
    structlearn.load(path).save(path + ".again")
"""


def test_another_process_writes_the_same_bytes(tmp_path):
    """Whatever its hash seed, its folder and its environment."""
    paths = []
    for number, (task, learner, precision) in enumerate(
        [("tagger", "perceptron", "int8"), ("parser", "crf", "int8"), ("pipeline", "crf", "int8"),
         ("tagger", "hmm", "float16"), ("constituency", "pcfg", None), ("segments", "crf", None)]
    ):  # fmt: skip
        path = tmp_path / str(number)
        trained(task, learner).save(path, *([precision] if precision else []))
        paths.append(path)
    estimators = {"weighted bytes", "hmm", "labels tree", "hierarchy", "constraints", "strings"}
    for name in sorted(estimators):
        fitted(name)[0].save(tmp_path / name)
        paths.append(tmp_path / name)
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    command = [sys.executable, "-c", AGAIN, *map(str, paths)]
    subprocess.run(command, check=True, cwd=tmp_path, env=environment)
    for path in paths:
        assert path.with_name(path.name + ".again").read_bytes() == path.read_bytes(), path.name
