"""Estimators in files: what is loaded is what was saved, bit for bit, and goes on as it would."""

import datetime
import json
import pickle
import warnings
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import structlearn
from structlearn import (
    CRF,
    HMM,
    MultiLabelClassifier,
    StructuredModel,
    StructuredPerceptron,
    StructuredSVM,
)
from structlearn.constraints import Label, at_most
from structlearn.constraints.counting import Constraint
from structlearn.estimators import __all__ as NAMES
from structlearn.exceptions import FileError
from structlearn.fitting.kinds import KINDS
from structlearn.io.container import read_container
from structlearn.learners.lbfgs import LBFGS
from structlearn.losses import Cost, Hamming
from structlearn.structures import Block, Chain, Exhaustive, Structure
from tests.estimators.estimator_data import quietly, same_coef, sentences, sequences
from tests.estimators.test_columns import Frame
from tests.estimators.test_predictions import same_outputs
from tests.io.saved_cases import CASES, fitted


def alike(a, b):
    """Whether two values are the same, in type and in every bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype == object:
            return a.shape == b.shape and alike(a.tolist(), b.tolist())
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike(a[k], b[k]) for k in a)
    if isinstance(a, (set, frozenset)):
        return sorted(map(repr, a)) == sorted(map(repr, b))
    if isinstance(a, (Structure, Cost)):
        return alike_objects(a, b)
    if hasattr(a, "get_params"):
        return alike(a.get_params(), b.get_params())
    return repr(a) == repr(b)


def alike_objects(a, b):
    keys = [k for k in vars(a) if not k.startswith(("_c", "_edges", "_l", "_m", "_p"))]
    return all(alike(vars(a)[k], vars(b)[k]) for k in keys if hasattr(vars(a)[k], "__len__")) and (
        repr(a) == repr(b) or isinstance(a, Cost)
    )


def without_seconds(history):
    return [{k: v for k, v in sorted(r.items()) if k != "seconds"} for r in history]


def answers(model, X):
    """All that a model can be asked without knowing what it is."""
    found = [model.predict(X)]
    for ask in ("predict_marginals", "predict_kbest", "predict_proba"):
        try:
            found.append(getattr(model, ask)(X))
        except (ValueError, AttributeError, KeyError) as error:  # what mathematics denies
            found.append(str(error))
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_is_the_model(name, tmp_path):
    model, X, _ = fitted(name)
    path = tmp_path / "x.model"
    model.save(path)
    again = type(model).load(path)
    assert type(again) is type(structlearn.load(path)) is type(model)
    assert alike(answers(again, X), answers(model, X))
    assert alike(again.get_params(deep=False), model.get_params(deep=False))
    assert alike(again.classes_, model.classes_)
    for attribute in ("n_iter_", "objective_", "duality_gap_", "solver_", "approximate_",
                      "n_features_in_", "feature_names_in_", "transition_"):  # fmt: skip
        assert hasattr(again, attribute) == hasattr(model, attribute)
        assert alike(getattr(again, attribute, None), getattr(model, attribute, None)), attribute
    if hasattr(model, "history_"):
        assert alike(without_seconds(again.history_), without_seconds(model.history_))
        assert again.loss_curve_ == model.loss_curve_
        assert same_coef(again, model)
        assert repr(again.structure_) == repr(model.structure_)
        assert again.constraints_ == model.constraints_
        assert again.feature_names_ == model.feature_names_
    # Whatever is done with a model can be done with a loaded one.
    assert alike(answers(pickle.loads(pickle.dumps(again)), X), answers(model, X))
    assert alike(clone(again).get_params(deep=False), model.get_params(deep=False))
    for generation in (".second", ".third"):
        again.save(path.with_suffix(generation))
        assert path.with_suffix(generation).read_bytes() == path.read_bytes()
        again = structlearn.load(path.with_suffix(generation))


@pytest.mark.parametrize("name", CASES)
def test_equal_fits_give_equal_files(name, tmp_path):
    for number in range(2):
        fitted(name)[0].save(tmp_path / str(number))
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()


@pytest.mark.parametrize("name", ["strings", "hmm", "labels tree", "hierarchy", "perceptron"])
def test_other_programs_read_the_files(name, tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    model, _, _ = fitted(name)
    path = tmp_path / "x.safetensors"
    model.save(path)
    arrays = library.load_file(path)
    ours = read_container(path)[1]
    assert {k: a.tobytes() for k, a in arrays.items()} == {
        k: bytes(t.data) for k, t in ours.items()
    }
    if hasattr(model, "_weights"):
        assert any(a.tobytes() == model._weights.tobytes() for a in arrays.values())


def test_every_estimator_is_here():
    kinds = {type(estimator).__name__ for estimator, _ in CASES.values()}
    no_files = {"LossCurve", "AnnotatorModel", "PerToken", "cross_val_predict", "majority_vote"}
    assert kinds == set(NAMES) - no_files


def test_every_structure_is_here():
    models = [fitted(name)[0] for name in CASES]
    held = {type(model.structure_) for model in models if hasattr(model, "structure_")}
    assert held == {kind for kind in KINDS if issubclass(kind, Structure)}


@pytest.mark.parametrize("labels", [
    [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], [Decimal("0.1"), Decimal(2)],
    [Fraction(1, 3), Fraction(1, 2)], list(np.array([0.1, 2.0], dtype=np.longdouble)),
], ids=lambda labels: type(labels[0]).__name__)  # fmt: skip
@pytest.mark.parametrize("kind", [CRF, HMM])
def test_labels_that_files_have_not(kind, labels, tmp_path):
    """They are refused by their type, and with what to do instead."""
    X = [["a", "b"], ["b", "a"]]
    model = kind().fit(X, [labels, labels[::-1]])
    name = np.array(labels).dtype.name
    name = type(labels[0]).__name__ if name == "object" else name
    with pytest.raises(ValueError, match=rf"labels of the type {name}; fit with strings, bytes or"):
        model.save(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


class Colour(Enum):
    RED, BLUE = 1, 2


@pytest.mark.parametrize("labels", [
    list(Colour), [object(), object()], [range(3), range(2)], [range(3)],
    [np.datetime64("2020-01-01")], [np.timedelta64(3, "D")],
], ids=lambda labels: f"{len(labels)} {type(labels[0]).__name__}")  # fmt: skip
def test_labels_that_learners_do_not_take(labels):
    with pytest.raises(ValueError, match=f"not of the type {type(labels[0]).__name__}"):
        CRF().fit([["a", "b"]], [[labels[0], labels[-1]]])


def test_equal_dictionaries_make_equal_files(tmp_path):
    """Whatever the order of their keys."""
    X, y = sequences()
    for number in range(2):
        step = 1 - 2 * number
        weights = dict([("D", 2.0), ("N", 0.5), ("V", 1.0)][::step])
        tree = dict([("verbs", ["V"]), ("nouns", ["N", "D"])][::step])
        forbid = dict([("start", []), ("end", [])][::step])
        model = CRF(class_weight=weights, hierarchy=tree, forbid=forbid).fit(X, y)
        model.save(tmp_path / str(number))
        loaded = structlearn.load(tmp_path / str(number))
        assert loaded.get_params() == model.get_params()
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()


# -- going on --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        StructuredPerceptron(),
        StructuredSVM(solver="sgd"),
        structlearn.PassiveAggressive(),
        structlearn.AdaGrad(average=False),
        structlearn.AROW(),
        CRF(solver="sgd"),
    ],
    ids=lambda m: type(m).__name__,
)
def test_partial_fit_goes_on_bit_for_bit(model, tmp_path):
    """With words that the first pass has not seen: vocabulary and weights grow."""
    X, y = sentences(30)
    new = [[["bias", f"w=new{t}"] for t in range(2)]], [["N", "V"]]
    straight = clone(model)
    for one in (straight, model):
        one.partial_fit(X[:15], y[:15], classes=["D", "N", "V"])
    model.save(tmp_path / "x")
    loaded = structlearn.load(tmp_path / "x")
    for one in (straight, loaded):
        one.partial_fit(*new)
        one.partial_fit(X[15:], y[15:])
    np.testing.assert_array_equal(loaded._weights.view(np.int64), straight._weights.view(np.int64))
    assert loaded.feature_names_ == straight.feature_names_
    assert loaded.n_iter_ == straight.n_iter_ == 3
    assert same_outputs(loaded.predict(X), straight.predict(X))


def test_an_hmm_goes_on_counting(tmp_path):
    for kind in ("hmm", "hmm gaussian"):
        _, X, y = fitted(kind)
        straight, half = HMM(), HMM()
        for one in (straight, half):
            one.partial_fit(X[:8], y[:8], classes=["D", "N", "V"])
        half.save(tmp_path / kind)
        loaded = HMM.load(tmp_path / kind)
        for one in (straight, loaded):
            one.partial_fit(X[8:], y[8:])
        assert alike(answers(loaded, X), answers(straight, X))


@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "dual"])
def test_warm_starts_begin_at_the_weights(solver, tmp_path):
    X, y = sequences()
    model = quietly(CRF(solver=solver, warm_start=True, max_iter=4, random_state=0), X, y)
    model.save(tmp_path / "x")
    loaded = CRF.load(tmp_path / "x")
    model.__dict__.pop("_kept", None)  # the working states of solvers are not stored
    assert same_coef(quietly(loaded, X, y), quietly(model, X, y))
    if solver == "lbfgs":
        anew = quietly(CRF(solver=solver, max_iter=4), X, y)
        assert loaded.loss_curve_[0] < anew.loss_curve_[0]


def test_parameters_changed_after_fit_are_saved_as_they_are(tmp_path):
    """What was learned does not depend on them."""
    X, y = sequences()
    model = CRF(hierarchy=(("D", "N"), "V"), forbid={"start": []}).fit(X, y)
    model.set_params(C=7.0, hierarchy=None, forbid=None, boundaries=False, structure="multiclass")
    model.save(tmp_path / "x")
    loaded = CRF.load(tmp_path / "x")
    assert loaded.get_params() == model.get_params()
    assert alike(loaded.predict(X), model.predict(X))
    assert same_coef(loaded, model)
    with pytest.raises(ValueError, match="C must be a number above 0"):
        model.set_params(C=-1.0).save(tmp_path / "y")
    assert not (tmp_path / "y").exists()


def test_data_frames_are_known_by_their_columns(tmp_path):
    X, y = sequences()
    rows = np.concatenate(X)
    several = np.random.default_rng(0).integers(0, 2, (len(rows), 2))

    def frames(names):
        return [Frame(x, names) for x in X]

    for model, data, other, labels in (
        (CRF(), frames("abcd"), frames("zbcd"), y),
        (HMM(), frames("abcd"), frames("zbcd"), y),
        (MultiLabelClassifier(), Frame(rows, "abcd"), Frame(rows, "zbcd"), several),
    ):
        model.fit(data, labels).save(tmp_path / "x")
        loaded = structlearn.load(tmp_path / "x")
        assert loaded.feature_names_in_.tolist() == list("abcd")
        assert alike(loaded.feature_names_in_, model.feature_names_in_)
        assert alike(loaded.predict(data), model.predict(data))
        with pytest.raises(ValueError, match="feature names"):
            loaded.predict(other)


# -- structures of one's own -----------------------------------------------------------------------


class Starts(Structure):
    """A chain without transitions whose first label is 0."""

    def blocks(self, n_labels):
        return {"label": Block((n_labels,))}

    def encode(self, y, label):
        counts = np.zeros_like(label)
        counts[np.arange(len(label)), np.asarray(y)] = 1
        return {"label": counts}

    def decode(self, parts):
        return np.asarray(parts["label"]).argmax(axis=1)

    def argmax(self, label):
        y = np.asarray(label).argmax(axis=1)
        y[0] = 0
        return y


class Mine(Chain):
    """A library's structure with something of its author's: not the library's."""


def own_data():
    X, y = sequences(8)
    return X, [["D", *row[1:]] for row in y]


@pytest.mark.parametrize("constraints", [None, [at_most(4, Label("V"))]])
def test_a_structure_of_ones_own_is_given(constraints, tmp_path):
    X, y = own_data()
    model = StructuredPerceptron(Starts(), random_state=0)
    if constraints:
        model.set_params(structure=Mine(), constraints=constraints)
    quietly(model, X, y).save(tmp_path / "x")
    own = type(model.structure)
    for load in (StructuredPerceptron.load, structlearn.load):
        given = own()
        loaded = load(tmp_path / "x", structure=given)
        assert loaded.structure is given
        assert alike(loaded.predict(X), model.predict(X))
        with pytest.raises(FileError, match=rf"{own.__name__}, which files cannot store: pass it"):
            load(tmp_path / "x")
        with pytest.raises(FileError, match=f"its structure is {own.__name__}; structure is Chain"):
            load(tmp_path / "x", structure=Chain())


def test_outputs_that_a_function_gives_are_ones_own(tmp_path):
    X, y = [np.eye(2)], [["a", "b"]]

    def outputs(**scores):
        return [[0, 1], [1, 0]]

    StructuredPerceptron(Exhaustive(outputs), random_state=0).fit(X, y).save(tmp_path / "x")
    with pytest.raises(FileError, match="Exhaustive, which files cannot store"):
        structlearn.load(tmp_path / "x")
    loaded = structlearn.load(tmp_path / "x", structure=Exhaustive(outputs))
    assert [row.tolist() for row in loaded.predict(X)] == y


def test_a_structure_that_is_not_asked_for(tmp_path):
    model, _, _ = fitted("crf")
    model.save(tmp_path / "x")
    with pytest.raises(FileError, match="the file contains its structure; structure= is for"):
        CRF.load(tmp_path / "x", structure=Chain())


# -- what is left out ------------------------------------------------------------------------------


class Own(Cost):
    def label_table(self, n_labels):
        return 1.0 - np.eye(n_labels)

    def parts(self, structure, y, **scores):
        return Hamming().parts(structure, y, **scores)


class OwnSolver:
    def run(self, problem, settings, progress, *, start, n_jobs):
        return LBFGS(settings).run(problem, start=start, progress=progress, n_jobs=n_jobs)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CRF(callbacks=[lambda record: None]), r"callbacks \(a function\)"),
        (CRF(margin=1.0, cost=Own()), r"cost \(a Own\)"),
        (
            StructuredSVM(cost=Hamming(weights=lambda labels: np.ones(len(labels))), max_iter=2),
            r"cost \(a function\)",
        ),
        (CRF(random_state=np.random.default_rng(0)), r"random_state \(a Generator\)"),
        (CRF(solver=OwnSolver(), max_iter=5), r"solver \(a OwnSolver\)"),
        (
            CRF(solver=OwnSolver(), callbacks=print, max_iter=5),
            r"callbacks \(a builtin.*\), solver \(a OwnSolver\)",
        ),
    ],
)
def test_what_a_file_cannot_hold_is_left_out_with_a_warning(model, message, tmp_path, capsys):
    X, y = sequences()
    quietly(model, X, y)
    path = tmp_path / "x"
    with pytest.warns(UserWarning, match=message) as caught:
        model.save(path)
    assert str(caught[0].message).startswith(f"{path}: files cannot store ")
    assert caught[0].filename == __file__
    loaded = structlearn.load(path)
    assert alike(loaded.predict(X), model.predict(X))
    defaults = type(model)().get_params()
    changed = {k for k, v in loaded.get_params().items() if repr(v) != repr(model.get_params()[k])}
    assert changed
    assert all(loaded.get_params()[k] == defaults[k] for k in changed)


def test_nothing_is_said_where_nothing_is_left_out(tmp_path):
    model, _, _ = fitted("crf")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.save(tmp_path / "x")


def test_a_learner_inside_another_estimator(tmp_path):
    X, y = CASES["labels tree"][1]()

    class Other(CRF):
        pass

    model = MultiLabelClassifier(CRF(callbacks=print)).fit(X, y)
    with pytest.warns(UserWarning, match=r"estimator__callbacks \(a builtin"):
        model.save(tmp_path / "x")
    with pytest.raises(ValueError, match="cannot be saved: files cannot store a Other"):
        MultiLabelClassifier(Other()).fit(X, y).save(tmp_path / "y")


def test_constraints_of_ones_own_are_refused(tmp_path):
    """They would be missing from every prediction."""

    class Odd(Constraint):
        def selections(self):
            return ()

    model, _, _ = fitted("constrained structure")
    model.structure_.constraints = (*model.structure_.constraints, Odd())
    model.save(tmp_path / "x")
    with pytest.raises(FileError, match="a structure of your own, Constrained"):
        structlearn.load(tmp_path / "x")


# -- other files -----------------------------------------------------------------------------------


def test_files_of_other_classes(tmp_path):
    fitted("crf")[0].save(tmp_path / "crf")
    fitted("hmm")[0].save(tmp_path / "hmm")
    fitted("labels tree")[0].save(tmp_path / "labels")
    wrong = [(HMM, "crf"), (StructuredModel, "crf"), (StructuredSVM, "crf"), (CRF, "hmm"),
             (CRF, "labels"), (MultiLabelClassifier, "hmm")]  # fmt: skip
    names = {"crf": "CRF", "hmm": "HMM", "labels": "MultiLabelClassifier"}
    for kind, name in wrong:
        message = f"the model of '{names[name]}', not of '{kind.__name__}'"
        with pytest.raises(FileError, match=message):
            kind.load(tmp_path / name)


def test_a_class_of_ones_own_reads_its_own_files(tmp_path):
    class Special(CRF):
        pass

    X, y = sequences()
    Special(C=2.0).fit(X, y).save(tmp_path / "x")
    assert type(Special.load(tmp_path / "x")) is Special
    with pytest.raises(FileError, match="the model of 'Special', a class unknown to structlearn"):
        structlearn.load(tmp_path / "x")


def test_nothing_learned_is_nothing_to_save(tmp_path):
    for model in (CRF(), HMM(), MultiLabelClassifier()):
        with pytest.raises(NotFittedError):
            model.save(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_times_are_not_in_a_file(tmp_path):
    model, _, _ = fitted("perceptron")
    model.save(tmp_path / "x")
    assert "seconds" not in json.dumps(read_container(tmp_path / "x")[0])
    loaded = structlearn.load(tmp_path / "x")
    assert loaded.loss_curve_.seconds == [None] * loaded.n_iter_
