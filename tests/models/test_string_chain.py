"""Chains over strings: the estimators that they come from say the same, and so does enumeration."""

import itertools
import math
import pickle
import random
import threading
from collections import deque

import numpy as np
import pytest

import structlearn
from structlearn import CRF, StructuredPerceptron, StructuredSVM
from structlearn.exceptions import CapabilityError, FileError, InfeasibleError
from structlearn.features.rows import Examples
from structlearn.io.container import read_container, write_container
from structlearn.models import StringChain
from structlearn.models.calibration import Calibration
from structlearn.structures import Chain, SemiMarkov

pytestmark = pytest.mark.filterwarnings("ignore::structlearn.exceptions.ConvergenceWarning")
WORDS = ["fish", "sleep", "the", "eat", "old"]
LABELS = ["N", "V", "D"]


def sentences(n, seed, longest=6):
    """Tokens of every kind, and labels that the words decide most of the time."""
    rng = random.Random(seed)
    X, y = [], []
    for _ in range(n):
        words = rng.choices(WORDS, k=rng.randrange(1, longest + 1))
        kinds = rng.randrange(3)
        X.append(
            [
                {"w": w, "first": t == 0, "length": len(w) / 4, "next": {"w": words[t - 1]}}
                if kinds == 0
                else [f"w={w}", ("length", len(w) / 4), "bias"] if kinds == 1 else f"w={w}"
                for t, w in enumerate(words)
            ]
        )  # fmt: skip
        y.append([LABELS[WORDS.index(w) % 3] if rng.random() < 0.8 else rng.choice(LABELS)
                  for w in words])  # fmt: skip
    return X, y


X, Y = sentences(40, 0)
NEW, GOLD = sentences(25, 1)
NEW[3] = [{"w": "unseen"}, ["x", "bias"], "nothing", {}, []]
GOLD[3] = ["N", "V", "D", "N", "N"]
CASES = {
    "crf": CRF(),
    "every state": CRF(all_possible_states=True),
    "no boundaries": CRF(boundaries=False, all_possible_transitions=False),
    "order 0": CRF(structure=Chain(0)),
    "order 2": CRF(structure=Chain(2)),
    "svm": StructuredSVM(max_iter=20),
    "perceptron": StructuredPerceptron(max_iter=3),
    "at another temperature": CRF(temperature=0.5),
    "forbidden": CRF(forbid={"transition": [("V", "D"), ("D", "D")], "start": ["V"]}),
}


@pytest.fixture(scope="module", params=CASES)
def fitted(request):
    if request.param == "forbidden":  # every other label is N
        y = [["N" if t % 2 == 0 else k for t, k in enumerate(row)] for row in Y]
        return CASES[request.param].fit(X, y)
    return CASES[request.param].fit(X, Y)


#: What explanations tell of a decision.
TOLD = ("position", "label", "runner_up")


class NoChain:
    def of(self, model):
        return None


class General:
    """A model that is asked by the way that all structures have."""

    def __init__(self, model):
        self.model = pickle.loads(pickle.dumps(model))
        self.model._chain = NoChain()

    def __getattr__(self, name):
        return getattr(self.model, name)


@pytest.mark.filterwarnings("ignore:the probabilities")
def test_estimators_answer_as_by_the_general_way(fitted):
    general = General(fitted)
    inputs = fitted._inputs(NEW)
    assert type(inputs).__name__ == "ChainInputs"
    for ours, theirs in zip(fitted.predict(NEW), general.predict(NEW), strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist()
    for block in ("label", None):
        for ours, theirs in zip(
            fitted.predict_marginals(NEW, block=block),
            general.predict_marginals(NEW, block=block),
            strict=True,
        ):
            for name in theirs if block is None else [...]:
                np.testing.assert_allclose(ours[name], theirs[name], rtol=0, atol=1e-12)
    for ask in ("predict_proba", "entropy"):
        found = getattr(fitted, ask)(NEW), getattr(general, ask)(NEW)
        np.testing.assert_allclose(*found, rtol=0, atol=1e-12)
    for ours, theirs in zip(fitted.confidence(NEW), general.confidence(NEW), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    for ours, theirs in zip(
        fitted.predict_kbest(NEW, 4), general.predict_kbest(NEW, 4), strict=True
    ):
        assert [y.tolist() for _, y in ours] == [y.tolist() for _, y in theirs]
        np.testing.assert_allclose([v for v, _ in ours], [v for v, _ in theirs], atol=1e-12)
    assert fitted.score(NEW, GOLD) == general.score(NEW, GOLD)
    assert fitted.log_loss(NEW, fitted.predict(NEW)) == pytest.approx(
        general.log_loss(NEW, fitted.predict(NEW)), abs=1e-12
    )
    for ours, theirs in zip(fitted.explain(NEW), general.explain(NEW), strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert [one[k] for k in TOLD] == [other[k] for k in TOLD]
            assert one["margin"] == pytest.approx(other["margin"], abs=1e-12)
            assert dict(one["contributions"]) == pytest.approx(dict(other["contributions"]))
    drawn = fitted.sample(NEW, 2, random_state=0)
    assert [[y.dtype for y in row] for row in drawn] == [[fitted.classes_.dtype] * 2] * len(NEW)
    by_chain = fitted.to_chain().sample(NEW, 2, random_state=0)
    assert [[y.tolist() for y in row] for row in drawn] == by_chain


@pytest.mark.filterwarnings("ignore:the probabilities")
def test_chains_answer_as_their_estimators(fitted, tmp_path):
    chain = fitted.to_chain()
    chain.save(tmp_path / "model")
    read = structlearn.load(tmp_path / "model")
    assert isinstance(read, StringChain)
    read.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    predicted = [y.tolist() for y in fitted.predict(NEW)]
    for model in (chain, read, pickle.loads(pickle.dumps(chain))):
        assert model.predict(NEW) == predicted
        assert [model.predict_single(x) for x in NEW] == predicted
        assert {type(k) for k in model.predict_single(NEW[0])} == {str}
        marginals = model.predict_marginals(NEW)
        assert [model.predict_marginals([x])[0] for x in NEW] == marginals
        for ours, theirs in zip(marginals, fitted.predict_marginals(NEW), strict=True):
            assert all(list(token) == model.classes_ for token in ours)
            found = [list(token.values()) for token in ours]
            np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-12)
        for ask in ("predict_proba", "entropy", "confidence"):
            for ours, theirs in zip(
                getattr(model, ask)(NEW), getattr(fitted, ask)(NEW), strict=True
            ):
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
        gold = [y if i % 2 else ["N", *y[1:]] for i, y in enumerate(predicted)]
        np.testing.assert_allclose(
            model.predict_proba(NEW, gold), fitted.predict_proba(NEW, gold), rtol=0, atol=1e-12
        )
        part = [[None, *y[1:]] for y in gold]
        np.testing.assert_allclose(
            model.predict_proba(NEW, part), fitted.predict_proba(NEW, part), rtol=0, atol=1e-12
        )
        assert model.score(NEW, GOLD) == fitted.score(NEW, GOLD)
        for ours, theirs in zip(
            model.predict_kbest(NEW, 3), fitted.predict_kbest(NEW, 3), strict=True
        ):
            assert [y for _, y in ours] == [y.tolist() for _, y in theirs]
        assert model.temperature_ == fitted.temperature_


@pytest.mark.parametrize("name", ["crf", "order 2", "no boundaries"])
def test_what_was_learned(name):
    fitted = CASES[name].fit(X, Y)
    chain = fitted.to_chain()
    assert chain.classes_ == fitted.classes_.tolist()
    for label in LABELS:
        ours, theirs = (model.top_features(label, 1000) for model in (chain, fitted))
        assert sorted(map(repr, ours)) == sorted(map(repr, theirs))
        weights = [abs(row["weight"]) for row in ours]
        assert weights == sorted(weights, reverse=True)
    if name != "order 2":
        assert chain.transitions() == fitted.transitions()
    for ours, theirs in zip(chain.explain(NEW), fitted.explain(NEW), strict=True):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert [one[k] for k in TOLD] == [other[k] for k in TOLD]
            assert one["margin"] == pytest.approx(other["margin"], abs=1e-10)
            ours_, theirs_ = (dict(d["contributions"]) for d in (one, other))
            for key in ours_.keys() | theirs_.keys():
                assert ours_.get(key, 0.0) == pytest.approx(theirs_.get(key, 0.0), abs=1e-10)


def test_draws_follow_the_distribution():
    chain = CASES["crf"].fit(X, Y).to_chain()
    x = NEW[0][:3]
    outputs = [list(y) for y in itertools.product(chain.classes_, repeat=len(x))]
    p = chain.predict_proba([x] * len(outputs), outputs)
    assert math.fsum(p) == pytest.approx(1.0, abs=1e-12)
    drawn = chain.sample([x], 20_000, random_state=3)[0]
    for y, wanted in zip(outputs, p, strict=True):
        assert drawn.count(y) / len(drawn) == pytest.approx(wanted, abs=0.015)
    assert chain.entropy([x])[0] == pytest.approx(-math.fsum(q * math.log(q) for q in p))


def test_parts_that_are_ruled_out():
    chain = CASES["crf"].fit(X, Y).to_chain()
    best = chain.predict([NEW[0]])[0]
    others = chain.predict_kbest([NEW[0]], 1, forbidden=[[(0, best[0])]])[0][0][1]
    assert others[0] != best[0]
    wanted = next(y for _, y in chain.predict_kbest([NEW[0]], 1000)[0] if y[0] != best[0])
    assert others == wanted
    with pytest.raises(ValueError, match="the model has no label 'X' at position 0"):
        chain.predict_kbest([NEW[0]], 1, forbidden=[[(0, "X")]])
    with pytest.raises(InfeasibleError):
        chain.predict_kbest([NEW[0]], 1, forbidden=[[(0, k) for k in LABELS]])


def test_calibration_goes_along(tmp_path):
    perceptron = CASES["perceptron"].fit(X, Y)
    with pytest.warns(UserWarning, match="no dev set has tried them"):
        perceptron.to_chain().predict_marginals(NEW)
    chain = perceptron.to_chain().calibrate(NEW, GOLD)
    assert isinstance(chain.calibration_, Calibration)
    chain.save(tmp_path / "model")
    assert structlearn.load(tmp_path / "model").calibration_.as_dict() == (
        chain.calibration_.as_dict()
    )
    theirs = perceptron.calibrate(NEW, GOLD)
    assert theirs.calibration_.as_dict() == chain.calibration_.as_dict()
    assert perceptron.to_chain().calibration_.as_dict() == theirs.calibration_.as_dict()


def test_empty_sequences_and_lists():
    chain = CASES["crf"].fit(X, Y).to_chain()
    assert chain.predict([]) == []
    assert chain.predict([[], X[0], ()]) == [[], chain.predict_single(X[0]), []]
    assert chain.predict_single([]) == []
    assert chain.predict_marginals([[]]) == [[]]
    assert chain.predict_kbest([[]], 2) == [[(0.0, [])]]
    assert chain.predict_proba([[], X[0]], [[], chain.predict_single(X[0])])[0] == 1.0
    assert chain.predict(iter([X[0]])) == chain.predict((X[0],)) == chain.predict([deque(X[0])])


@pytest.mark.parametrize("ask", ["predict", "predict_marginals", "confidence", "predict_single"])
@pytest.mark.parametrize(
    ("x", "message"),
    [
        (["a", 3], "example 0, position 1: a token is a string, a list of strings or a dictionary"),
        ([{"a": None}], "example 0, position 0: feature 'a' has a value of type NoneType"),
        ([{"a": math.nan}], "example 0, position 0: feature 'a' is nan; features must be finite"),
        ("text", "example 0 is a string, 'text'"),
        (3, "example 0 is of type int"),
        (
            {"a": 1},
            "example 0 is one token, a dict: pass a list of sentences, each a list of tokens",
        ),
    ],
)
def test_what_cannot_be_read(ask, x, message):
    chain = CASES["crf"].fit(X, Y).to_chain()
    with pytest.raises(ValueError, match=f"^{message}"):
        getattr(chain, ask)(x if ask == "predict_single" else [x])
    assert chain.predict_single(X[0]) == chain.predict(X)[0]  # as if nothing had been


@pytest.mark.parametrize("given", [{"a": 1}, "text", 3, None])
def test_what_is_no_list_of_sequences(given):
    chain = CASES["crf"].fit(X, Y).to_chain()
    with pytest.raises(ValueError, match="X must be a list of sequences"):
        chain.predict(given)


def test_outputs_that_do_not_fit():
    chain = CASES["crf"].fit(X, Y).to_chain()
    assert chain.predict_proba([X[0]], [["?"] * len(X[0])]) == [0.0]
    with pytest.raises(ValueError, match=r"output 0 has 1 labels for \d tokens"):
        chain.predict_proba([["a", "b"]], [["N"]])
    with pytest.raises(ValueError, match="at least one known label"):
        chain.score([X[0]], [[None] * len(X[0])])


def test_what_is_no_chain_over_strings():
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(4, 3)) for _ in range(5)]
    for model, message in (
        (CRF().fit(arrays, [["A", "B", "A", "B"]] * 5), "not strings and dictionaries"),
        (CRF().fit(X, [[LABELS.index(k) for k in y] for y in Y]), "labels are not strings"),
        (StructuredPerceptron(beam=2, max_iter=1).fit(X, Y), "a beam"),
        (CRF(structure="multiclass").fit([["a"], ["b"]], ["A", "B"]), "Multiclass"),
    ):
        with pytest.raises(CapabilityError, match=message):
            model.to_chain()


def test_forbidden_labels():
    y = [["N" if k == "D" else k for k in row] for row in Y]
    y[0][0] = {"N", "D"}  # D is a label, and forbidden
    model = CRF(forbid={"label": ["D"]}).fit(X, y)
    chain = model.to_chain()
    assert "mask" in chain.arrays
    assert chain.predict(NEW) == [row.tolist() for row in General(model).predict(NEW)]
    assert all(token["D"] == 0.0 for row in chain.predict_marginals(NEW) for token in row)
    assert chain.predict_proba([X[0]], [["D"] * len(X[0])]) == [0.0]
    with pytest.raises(CapabilityError, match="labels of this chain are forbidden"):
        CRF.from_chain(chain)


def test_learning_goes_on_from_a_chain():
    fitted = CRF(tol=1e-10).fit(X, Y)
    again = CRF.from_chain(fitted.to_chain(), tol=1e-10, warm_start=True)
    for ours, theirs in zip(again.predict(NEW), fitted.predict(NEW), strict=True):
        assert ours.tolist() == theirs.tolist()
    for name, table in fitted.coef_.items():
        np.testing.assert_array_equal(again.coef_[name], table)
    more = again.fit(X + NEW, Y + GOLD)
    cold = CRF(tol=1e-10).fit(X + NEW, Y + GOLD)
    assert more.objective_ <= cold.objective_ + 1e-6
    order2 = CASES["order 2"].fit(X, Y)
    again = CRF.from_chain(order2.to_chain())
    for name, table in order2.coef_.items():
        np.testing.assert_array_equal(again.coef_[name], table)
    assert again.get_params()["structure"].order == 2


def test_feature_rows_go_the_general_way():
    fitted = CASES["crf"].fit(X, Y)
    examples = fitted._encoder.transform(NEW)
    assert isinstance(examples, Examples)
    found = fitted.predict(examples)
    assert [y.tolist() for y in found] == [y.tolist() for y in fitted.predict(NEW)]


def test_weights_that_change_are_seen():
    model = StructuredPerceptron(max_iter=1, shuffle=False)
    model.partial_fit(X, Y, classes=LABELS)
    before = model.coef_["label"].copy()
    first = [y.tolist() for y in model.predict(NEW)]
    for _ in range(3):
        model.partial_fit(NEW, [["D"] * len(x) for x in NEW])
    assert [y.tolist() for y in model.predict(NEW)] == [
        y.tolist() for y in General(model).predict(NEW)
    ]
    assert model.coef_["label"].shape[1] >= before.shape[1]
    assert [y.tolist() for y in model.predict(NEW)] != first


def test_several_threads_call_one_model():
    chain = CASES["crf"].fit(X, Y).to_chain()
    long = [x * 200 for x in NEW]  # other threads run meanwhile
    wanted = {0: chain.predict(NEW), 1: chain.predict(long)}
    wrong = []

    def work(seed):
        rng = random.Random(seed)
        for _ in range(300):
            i, kind = rng.randrange(len(NEW)), int(rng.random() < 0.1)
            if chain.predict_single((NEW, long)[kind][i]) != wanted[kind][i]:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_many_sequences_on_threads():
    chain = CASES["crf"].fit(X, Y).to_chain()
    one = chain.predict(NEW * 20), chain.predict_marginals(NEW * 20)
    chain.n_jobs = 2
    assert (chain.predict(NEW * 20), chain.predict_marginals(NEW * 20)) == one


def test_semi_markov_models_are_asked_as_before():
    model = CRF(structure=SemiMarkov(2)).fit(
        [[[f"w={t}"] for t in range(4)]], [[(0, 1, "A"), (1, 2, "B")]]
    )
    assert model.predict([[[f"w={t}"] for t in range(4)]]) == [[(0, 1, "A"), (1, 2, "B")]]


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d, t: d.update(labels=["N", "N", "V"]), "a label appears twice"),
        (lambda d, t: d.update(labels=["N", "V"]), "the labels of a feature are not in order"),
        (lambda d, t: d.update(labels=["N", "V", "D", "X"]), "start has 3 scores, not 4"),
        (lambda d, t: d.update(labels=["N", "V", 3]), "labels of a chain over strings are strings"),
        (lambda d, t: d.update(labels=[]), "without labels"),
        (lambda d, t: d.update(order=2), "not that of the order"),
        (lambda d, t: d.update(order=99), "an order of 99"),
        (lambda d, t: d.update(temperature=-1.0), "a temperature of -1.0"),
        (lambda d, t: t.pop("row_ptr"), "do not fit together"),
        (lambda d, t: t.pop("names.text"), "names.text"),
        (lambda d, t: t.update(other=t["weight"]), "arrays that nothing reads: other"),
        (lambda d, t: changed(t, "column", 3, "<u4"), "the labels of a feature are not in order"),
        (lambda d, t: changed(t, "row_ptr", 2**31, "<u4"), "do not fit together"),
        (lambda d, t: changed(t, "weight", math.nan, "<f8"), "the weights must be finite"),
        (lambda d, t: changed(t, "transition1", math.nan, "<f8"), "neither finite nor -inf"),
        (lambda d, t: changed(t, "names.ends", 2**40, "<u8"), "do not fit together"),
        (lambda d, t: changed(t, "names.text", 0xFF, "u1"), "utf-8"),
    ],
)  # fmt: skip
def test_forged_files(tmp_path, change, message):
    CASES["crf"].fit(X, Y).to_chain().save(tmp_path / "model")
    description, tensors = read_container(tmp_path / "model")
    change(description, tensors)
    write_container(tmp_path / "forged", description, tensors)
    with pytest.raises(FileError, match=message):
        structlearn.load(tmp_path / "forged")


def changed(tensors, name, value, dtype):
    """Put another number in the second place of an array."""
    array = np.frombuffer(tensors[name].data, dtype).copy()
    array[1] = value
    tensors[name] = tensors[name]._replace(data=array)
