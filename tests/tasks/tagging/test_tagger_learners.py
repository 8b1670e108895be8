"""What taggers learn by the estimators is what the estimators learn."""

import itertools

import numpy as np
import pytest

from structlearn import CRF, HMM, StructuredPerceptron, StructuredSVM
from structlearn.metrics import legal_transitions
from structlearn.structures import Chain
from structlearn.tasks import Tagger
from structlearn.text import FeatureTemplates
from tests.tasks.tagging.tagger_data import (
    TEMPLATES,
    chunked,
    feature_lists,
    labels_of,
    score_blocks,
    sequence_score,
    table_of,
    tagged,
    unlabelled,
    weights_by_name,
)


def templates():
    return FeatureTemplates.parse(TEMPLATES)


def weights_of(estimator, block="label"):
    names, coef = estimator.feature_names_[block], estimator.coef_[block]
    classes = estimator.classes_.tolist()
    return {(names[f], classes[k]): coef[k, f] for k, f in zip(*np.nonzero(coef), strict=True)}


def close(tagger, estimator, tolerance=1e-6, order=1):
    """Whether the weights are the same but for rounding."""
    model = tagger.model_
    ours, theirs = weights_by_name(model), weights_of(estimator)
    assert len(theirs) > 0
    for key in {*ours, *theirs}:
        assert ours.get(key, 0.0) == pytest.approx(theirs.get(key, 0.0), abs=tolerance)
    tables = {"start": "start", "end": "end"}
    tables |= {f"transition{m}": f"transition{m}" for m in range(1, order)}
    tables[f"transition{order}"] = "transition"
    for table, block in tables.items():
        np.testing.assert_allclose(
            table_of(model, table), estimator.coef_[block], rtol=0, atol=tolerance
        )
    return True


def words_of(sentences):
    return [[token[0] for token in sentence] for sentence in sentences]


@pytest.mark.parametrize("solver", [None, "sgd"])
def test_svm(solver):
    sentences, test = tagged(40), tagged(15, seed=1)
    options = {"C": 0.2, "max_iter": 5, "tol": 0.0, "random_state": 3}
    tagger = Tagger(templates(), "svm", solver=solver, **options).fit(sentences)
    svm = StructuredSVM(solver=solver or "frank-wolfe", **options)
    with pytest.warns(UserWarning, match="stopped after 5"):
        svm.fit(feature_lists(sentences), labels_of(sentences))
    assert close(tagger, svm)
    assert tagger.predict(test) == [y.tolist() for y in svm.predict(feature_lists(test))]
    assert tagger.model_.training["objective"] == pytest.approx(svm.objective_)
    assert tagger.model_.training["gap"] == pytest.approx(svm.duality_gap_)


def objective(model, sentences, C):
    """½‖w‖² + C Σ (log Z − score of the gold labels), by the definition."""
    squares = sum(w * w for w in weights_by_name(model).values())
    for table in ("start", "end", "transition1"):
        squares += float((table_of(model, table) ** 2).sum())
    loss = 0.0
    for rows, labels in zip(feature_lists(sentences), labels_of(sentences), strict=True):
        blocks = score_blocks(model, rows)
        y = [model.labels.index(k) for k in labels]
        loss += Chain().log_partition(**blocks) - sequence_score(blocks, y)
    return squares / 2 + C * loss


def test_crf():
    sentences, test = tagged(25), tagged(15, seed=1)
    tagger = Tagger(templates(), "crf", C=0.7).fit(sentences)
    crf = CRF(C=0.7).fit(feature_lists(sentences), labels_of(sentences))
    reached = objective(tagger.model_, sentences, 0.7)
    assert reached == pytest.approx(crf.objective_, rel=2e-3)
    assert reached == pytest.approx(tagger.history_[-1]["objective"], rel=1e-5)
    assert crf.objective_ - crf.duality_gap_ <= reached  # nothing is below the optimum
    assert tagger.predict(test) == [y.tolist() for y in crf.predict(feature_lists(test))]
    assert tagger.model_.temperature == 1.0  # its probabilities need no calibration
    for tokens, p in zip(
        tagger.predict_marginals(test), crf.predict_marginals(feature_lists(test)), strict=True
    ):
        found = [[token[k] for k in tagger.model_.labels] for token in tokens]
        np.testing.assert_allclose(found, p, atol=0.02)


def test_crf_with_constraints():
    sentences = chunked(25)
    tagger = Tagger(templates(), "crf", scheme="bio", max_iter=100).fit(sentences)
    forbidden = legal_transitions(tagger.classes_)
    crf = CRF(forbid=forbidden).fit(feature_lists(sentences), labels_of(sentences))
    assert tagger.history_[-1]["objective"] == pytest.approx(crf.objective_, rel=2e-3)


def test_l1_makes_most_weights_zero():
    sentences = tagged(25)
    dense = Tagger(templates(), "crf", max_iter=30).fit(sentences)
    sparse = Tagger(templates(), "crf", l1=2.0, max_iter=30).fit(sentences)
    assert len(weights_by_name(sparse.model_)) < 0.4 * len(weights_by_name(dense.model_))
    crf = CRF(l1=2.0, max_iter=30).fit(feature_lists(sentences), labels_of(sentences))
    assert sparse.history_[-1]["objective"] == pytest.approx(crf.objective_, rel=1e-2)


@pytest.mark.parametrize("order", [1, 2])
def test_hmm(order, tmp_path):
    sentences, test = tagged(60), tagged(20, seed=1)  # the test set has words never seen
    tagger = Tagger(learner="hmm", order=order).fit(sentences)
    hmm = HMM(order=order).fit(words_of(sentences), labels_of(sentences))
    expected = [list(map(str, y)) for y in hmm.predict(words_of(test))]
    assert tagger.predict(test) == expected
    assert tagger.predict(words_of(test)) == expected
    for tokens, p in zip(
        tagger.predict_marginals(test), hmm.predict_marginals(words_of(test)), strict=True
    ):
        found = [[token[k] for k in tagger.model_.labels] for token in tokens]
        np.testing.assert_allclose(found, p, atol=1e-4)
    tagger.save(tmp_path / "m")
    again = Tagger.load(tmp_path / "m")
    assert again.predict(test) == expected
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_hmm_of_chunks_is_legal():
    tagger = Tagger(learner="hmm", scheme="iobes").fit(chunked(60))
    for labels in tagger.predict(unlabelled(chunked(20, seed=1))):
        before = "O"
        for label in labels:
            assert label[0] != "I" or before[1:] == label[1:]
            before = label


@pytest.mark.parametrize("order", [2, 3])
def test_higher_orders(order):
    sentences = [
        [(word, tag[0] if tag[0] in "NVD" else "X") for word, tag in s] for s in tagged(40)
    ]
    tagger = Tagger(templates(), order=order, shuffle=False, max_iter=3).fit(sentences)
    estimator = StructuredPerceptron(Chain(order=order), shuffle=False, max_iter=3)
    estimator.fit(feature_lists(sentences), labels_of(sentences))
    assert close(tagger, estimator, order=order)
    test = tagged(20, seed=1)
    assert tagger.predict(test) == [y.tolist() for y in estimator.predict(feature_lists(test))]


def test_order_two_with_constraints():
    sentences = chunked(40)
    tagger = Tagger(templates(), order=2, shuffle=False, max_iter=3, scheme="bio").fit(sentences)
    rules = legal_transitions(tagger.classes_)
    forbidden = {**rules, "transition1": rules["transition"]}
    del forbidden["transition"]
    estimator = StructuredPerceptron(
        Chain(order=2), shuffle=False, max_iter=3, forbid=forbidden
    ).fit(feature_lists(sentences), labels_of(sentences))
    test = chunked(20, seed=1)
    assert tagger.predict(test) == [y.tolist() for y in estimator.predict(feature_lists(test))]


def test_features_of_label_pairs():
    sentences = tagged(30)
    text = TEMPLATES + "transition: word[0]\ntransition: word[-1]\n"
    tagger = Tagger(FeatureTemplates.parse(text), shuffle=False, max_iter=3).fit(sentences)
    X = []
    for rows, words in zip(feature_lists(sentences), words_of(sentences), strict=True):
        pairs = [
            ["bias", f"transition: word[0]={b}", f"transition: word[-1]={a}"]
            for a, b in itertools.pairwise(words)
        ]
        X.append({"label": rows, "transition": pairs})
    estimator = StructuredPerceptron(shuffle=False, max_iter=3).fit(X, labels_of(sentences))
    names = estimator.feature_names_["transition"]
    coef = estimator.coef_["transition"]
    expected = {
        (names[f], (a, b)): coef[a, b, f] for a, b, f in zip(*np.nonzero(coef), strict=True)
    }
    bias = names.index("bias")
    np.testing.assert_allclose(table_of(tagger.model_, "transition1"), coef[:, :, bias])
    found = weights_by_name(tagger.model_, "pair")
    expected = {key: w for key, w in expected.items() if key[0] != "bias"}
    assert set(found) == {key for key, w in expected.items() if np.float32(w) != 0}
    for key, w in found.items():
        assert w == pytest.approx(expected[key], rel=1e-6)


def test_word_vectors_are_numbers(tmp_path):
    sentences = tagged(30)
    rng = np.random.default_rng(0)
    table = {}
    for word in {w for s in sentences for w, _ in s}:
        table[word] = rng.integers(-8, 9, size=3) / 4  # exact in float32
    lines = [f"{word} {' '.join(map(str, v))}\n" for word, v in sorted(table.items())]
    (tmp_path / "vectors.txt").write_text("".join(lines))
    (tmp_path / "features.txt").write_text('vector(word[-1..0], "vectors.txt")\nbias\n')
    tagger = Tagger(tmp_path / "features.txt", shuffle=False, max_iter=3).fit(sentences)
    X = []
    for words in words_of(sentences):
        rows = []
        for t in range(len(words)):
            row = {"bias": 1.0}
            for offset in (-1, 0):
                if t + offset >= 0:
                    for d, x in enumerate(table[words[t + offset]]):
                        row[f'vector(word[{offset}], "vectors.txt")[{d}]'] = x
            rows.append(row)
        X.append(rows)
    estimator = StructuredPerceptron(shuffle=False, max_iter=3).fit(X, labels_of(sentences))
    assert close(tagger, estimator, tolerance=1e-5)


# -- labels that are not known --------------------------------------------------------------------


def partly(sentences, unknown, seed=0):
    rng = np.random.default_rng(seed)
    return [
        [(word, unknown if rng.random() < 0.4 else tag) for word, tag in sentence]
        for sentence in sentences
    ]


@pytest.mark.parametrize("unknown", ["_", "?"])
def test_partial_labels_perceptron(unknown):
    sentences = partly(tagged(40), unknown)
    tagger = Tagger(templates(), shuffle=False, max_iter=3, unknown=unknown).fit(sentences)
    y = [[None if k == unknown else k for k in labels] for labels in labels_of(sentences)]
    estimator = StructuredPerceptron(shuffle=False, max_iter=3).fit(feature_lists(sentences), y)
    assert unknown not in tagger.classes_
    assert close(tagger, estimator)


def test_the_sign_for_an_unknown_label_is_the_models(tmp_path):
    tagger = Tagger("pos", max_iter=3, unknown="?").fit(partly(tagged(30), "?"))
    tagger.save(tmp_path / "m")
    again = Tagger.load(tmp_path / "m")
    assert again.unknown == "?"
    source = tmp_path / "in.txt"
    source.write_text("The ?\ndog VB\nsleeps ?\n")
    again.label_file(source, tmp_path / "out.txt", known=True)
    found = [line.split()[1] for line in (tmp_path / "out.txt").read_text().splitlines()]
    assert [found] == again.predict([["The", "dog", "sleeps"]], known=[[None, "VB", None]])


def test_partial_labels_crf():
    sentences = partly(tagged(25), "_")
    tagger = Tagger(templates(), "crf", max_iter=20).fit(sentences)
    y = [[None if k == "_" else k for k in labels] for labels in labels_of(sentences)]
    crf = CRF(max_iter=20)
    with pytest.warns(UserWarning, match="stopped after"):
        crf.fit(feature_lists(sentences), y)
    assert tagger.history_[-1]["objective"] == pytest.approx(crf.objective_, rel=1e-3)
    assert tagger.score(tagged(25)) > 0.9


def test_partial_labels_hmm():
    sentences, test = partly(tagged(40), "_"), tagged(10, seed=1)
    y = [[None if k == "_" else k for k in labels] for labels in labels_of(sentences)]
    hmm = HMM().fit(words_of(sentences), y)
    tagger = Tagger(learner="hmm").fit(sentences)
    assert tagger.predict(test) == [list(map(str, k)) for k in hmm.predict(words_of(test))]


# -- the same file whatever the threads ------------------------------------------------------------
