"""Predictions of taggers against enumeration, their parameters, and how they are kept."""

import itertools
import random
import signal
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from structlearn.exceptions import FileError
from structlearn.metrics import chunk_f1, chunks, token_accuracy
from structlearn.structures import Chain, Exhaustive
from structlearn.tasks import Tagger
from structlearn.text import FeatureTemplates, read_corpus
from tests.tasks.tagging.tagger_data import (
    TEMPLATES,
    chunked,
    column_text,
    conllu_text,
    enumerated,
    enumerated_marginals,
    feature_lists,
    labels_of,
    same_model,
    score_blocks,
    sequence_score,
    table_of,
    tagged,
    unlabelled,
    weights_by_name,
)

#: Four coarse labels: few enough to enumerate.
COARSE = {"N": "N", "V": "V", "D": "D", "P": "D", "J": "N"}


def coarse(n, seed=0, longest=6):
    sentences = [s[:longest] for s in tagged(n, seed)]
    return [[(word, COARSE.get(tag[0], "X")) for word, tag in s] for s in sentences]


def templates():
    return FeatureTemplates.parse(TEMPLATES)


@pytest.fixture(scope="module", params=[1, 2])
def small(request):
    """A tagger of each order with four labels, and sentences it has not seen."""
    tagger = Tagger(templates(), order=request.param, max_iter=3).fit(coarse(40))
    return tagger, coarse(8, seed=9, longest=5)


def blocks_of(tagger, sentences):
    return [score_blocks(tagger.model_, rows) for rows in feature_lists(sentences)]


# -- predictions ----------------------------------------------------------------------------------


def test_predictions_are_the_best_of_all_labellings(small):
    tagger, sentences = small
    model = tagger.model_
    predicted = tagger.predict(sentences)
    for labels, blocks in zip(predicted, blocks_of(tagger, sentences), strict=True):
        y = [model.labels.index(k) for k in labels]
        best = enumerated(blocks, model.order)[0][0]
        assert sequence_score(blocks, y, model.order) == pytest.approx(best, abs=1e-9)
        chain = Chain(order=model.order)
        assert chain.score(np.array(y), **blocks) == pytest.approx(best, abs=1e-9)
        assert Exhaustive(chain).solve(**blocks).value == pytest.approx(best, abs=1e-9)


def test_marginals_are_those_of_enumeration(small):
    tagger, sentences = small
    model = tagger.model_
    assert model.temperature is None  # without a dev set: as the scores have it
    for tokens, blocks in zip(
        tagger.predict_marginals(sentences), blocks_of(tagger, sentences), strict=True
    ):
        found = np.array([[token[k] for k in model.labels] for token in tokens])
        np.testing.assert_allclose(found, enumerated_marginals(blocks, model.order), atol=1e-9)
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 40])
def test_kbest_are_those_of_enumeration(small, k):
    tagger, sentences = small
    model = tagger.model_
    for best, blocks in zip(
        tagger.predict_kbest(sentences, k), blocks_of(tagger, sentences), strict=True
    ):
        every = enumerated(blocks, model.order)
        assert len(best) == min(k, len(every))
        np.testing.assert_allclose(
            [score for score, _ in best], [score for score, _ in every[:k]], atol=1e-9
        )
        assert len({tuple(labels) for _, labels in best}) == len(best)
        for score, labels in best:
            y = [model.labels.index(label) for label in labels]
            assert score == pytest.approx(sequence_score(blocks, y, model.order), abs=1e-9)
    assert [b[0][1] for b in tagger.predict_kbest(sentences, k)] == tagger.predict(sentences)


def test_known_labels_stay_and_the_rest_is_the_best_beside_them(small):
    tagger, sentences = small
    model = tagger.model_
    rng = np.random.default_rng(0)
    known = [
        [model.labels[rng.integers(4)] if rng.random() < 0.4 else None for _ in s]
        for s in sentences
    ]
    predicted = tagger.predict(sentences, known=known)
    changed = 0
    for labels, given_, blocks in zip(predicted, known, blocks_of(tagger, sentences), strict=True):
        assert all(g is None or g == k for g, k in zip(given_, labels, strict=True))
        wanted = [None if g is None else model.labels.index(g) for g in given_]
        best = max(
            score
            for score, y in enumerated(blocks, model.order)
            if all(w is None or w == k for w, k in zip(wanted, y, strict=True))
        )
        y = [model.labels.index(k) for k in labels]
        assert sequence_score(blocks, y, model.order) == pytest.approx(best, abs=1e-9)
        changed += any(given_)
    assert changed > 3
    assert tagger.predict(sentences, known=[[None] * len(s) for s in sentences]) == tagger.predict(
        sentences
    )


def test_known_labels_that_make_no_sense(small):
    tagger, sentences = small
    with pytest.raises(ValueError, match=r"sentence 0.*'Q'"):
        tagger.predict(sentences[:1], known=[["Q"] + [None] * (len(sentences[0]) - 1)])
    with pytest.raises(ValueError, match="one entry for each token"):
        tagger.predict(sentences[:1], known=[[None]])


def test_known_labels_sentence_by_sentence(small):
    """One entry too many here and one too few there is an error, not a shift."""
    tagger, _ = small
    with pytest.raises(ValueError, match="one entry for each token"):
        tagger.predict([["a", "b"], ["c", "d"]], known=[["N"], [None, None, None]])


def test_with_and_without_the_label_column(tmp_path):
    sentences = chunked(40)
    tagger = Tagger(templates(), max_iter=2).fit(sentences)
    test = chunked(10, seed=3)
    expected = tagger.predict(test)
    assert tagger.predict(unlabelled(test)) == expected
    (tmp_path / "with.txt").write_text(column_text(test))
    (tmp_path / "without.txt").write_text(column_text(unlabelled(test)))
    assert tagger.predict(tmp_path / "with.txt") == expected
    assert tagger.predict(str(tmp_path / "without.txt")) == expected
    assert tagger.predict(read_corpus(tmp_path / "without.txt")) == expected
    (tmp_path / "words.txt").write_text("The\n\n")
    reads_two = Tagger("chunk", max_iter=1).fit(sentences)
    with pytest.raises(FileError, match=r"words\.txt.*column 2"):
        reads_two.predict(tmp_path / "words.txt")


def test_conllu(tmp_path):
    sentences = tagged(40)
    (tmp_path / "train.conllu").write_text(conllu_text(sentences))
    tagger = Tagger("pos", max_iter=3).fit(tmp_path / "train.conllu")
    assert tagger.model_.target_name == "upos"
    same = Tagger("pos", max_iter=3).fit(sentences)
    words = [[word for word, _ in s] for s in tagged(10, seed=4)]
    assert tagger.predict(words) == same.predict(words)


def test_threads_do_not_change_predictions():
    tagger = Tagger(templates(), max_iter=2).fit(chunked(40))
    test = chunked(60, seed=5)
    one = tagger.predict(test)
    for n in (2, 3, 100):
        assert tagger.set_params(n_jobs=n).predict(test) == one


# -- chunks ---------------------------------------------------------------------------------------


def legal(labels):
    """Whether IOB2 labels make sense: I-X only inside of X."""
    before = "O"
    for label in labels:
        if label[0] == "I" and before[1:] != label[1:]:
            return False
        before = label
    return True


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6), scheme=st.sampled_from(["bio", "iobes"]), order=st.integers(1, 2)
)
def test_constrained_labels_are_always_legal(seed, scheme, order):
    """Random labels of random words, so that the weights would have illegal sequences."""
    rng = np.random.default_rng(seed)

    def sentence():
        row = []
        while len(row) < 6:
            kind, length = rng.choice(["X", "Y", "O"]), rng.integers(1, 4)
            for i in range(length):
                label = "O" if kind == "O" else f"{'I' if i else 'B'}-{kind}"
                row.append((f"w{rng.integers(5)}", label))
        return row

    train = [sentence() for _ in range(8)]
    tagger = Tagger(templates(), scheme=scheme, order=order, max_iter=2).fit(train)
    free = Tagger(templates(), max_iter=2).fit(train)
    test = [[f"w{w}" for w in rng.integers(0, 6, size=n)] for n in (1, 2, 5, 9)]
    for labels in tagger.predict(test):
        assert legal(labels)
        assert set(labels) <= {"O", "B-X", "I-X", "B-Y", "I-Y"}
    for best in tagger.predict_kbest(test, 5):
        assert all(legal(labels) for _, labels in best)
        assert all(np.isfinite(score) for score, _ in best)
    assert set(tagger.classes_) == set(free.classes_)
    assert all(
        sum(token.values()) == pytest.approx(1) and set(token) == set(tagger.classes_)
        for tokens in tagger.predict_marginals(test)
        for token in tokens
    )


def test_unconstrained_labels_need_not_be_legal():
    """What the constraints are for: without them this model's labels are illegal."""
    train = [[("a", "B-X"), ("b", "I-X")], [("c", "O"), ("d", "O")]] * 3
    test = [["c", "b"]]
    word = FeatureTemplates.parse("word")
    assert Tagger(word, max_iter=5).fit(train).predict(test) == [["O", "I-X"]]
    assert legal(Tagger(word, max_iter=5, scheme="bio").fit(train).predict(test)[0])


def test_iobes_is_learned_and_iob2_is_written():
    sentences = chunked(60)
    tagger = Tagger(templates(), scheme="iobes", max_iter=4).fit(sentences)
    prefixes = {label[0] for label in tagger.model_.labels}
    assert prefixes == set("BIOES")
    assert {label[0] for label in tagger.classes_} == set("BIO")
    predicted = tagger.predict(sentences)
    assert chunk_f1(labels_of(sentences), predicted) > 0.9
    assert tagger.evaluate(sentences)["f1"] == chunk_f1(labels_of(sentences), predicted)
    # Marginals are of the labels as they are written.
    model = tagger.model_
    (tokens,) = tagger.predict_marginals(sentences[:1])
    (rows,) = feature_lists(sentences[:1])
    blocks = score_blocks(model, rows)
    p = Chain().marginals(**blocks)["label"]
    for t, token in enumerate(tokens):
        for name in tagger.classes_:
            alike = [k for k, shown in enumerate(model.shown) if shown == name]
            assert token[name] == pytest.approx(sum(p[t, k] for k in alike), abs=1e-9)


def test_known_labels_of_iobes_are_as_written():
    sentences = chunked(40)
    tagger = Tagger(templates(), scheme="iobes", max_iter=3).fit(sentences)
    test = chunked(6, seed=8)
    gold = labels_of(test)
    known = [[k if t % 2 else None for t, k in enumerate(y)] for y in gold]
    predicted = tagger.predict(test, known=known)
    for given_, labels in zip(known, predicted, strict=True):
        assert legal(labels)
        assert all(g is None or g == k for g, k in zip(given_, labels, strict=True))


def test_labels_that_the_scheme_forbids_are_refused(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("a B-X\nb I-X\n\nc O\nd I-X\n")
    with pytest.raises(FileError, match=r"train\.txt, line 5: I-X after O"):
        Tagger("pos", scheme="bio").fit(path)
    path.write_text("a I-X\nb B-X\n")
    with pytest.raises(FileError, match=r"train\.txt, line 1: I-X at the start"):
        Tagger("pos", scheme="bio").fit(path)
    # IOBES converts first: any of the schemes will do.
    tagger = Tagger("pos", scheme="iobes", max_iter=5).fit(path)
    assert tagger.predict([["a", "b"]]) == [["B-X", "B-X"]]


def test_evaluation_is_that_of_the_metrics(tmp_path):
    sentences, test = chunked(40), chunked(20, seed=2)
    tagger = Tagger("chunk", max_iter=2).fit(sentences)
    gold, predicted = labels_of(test), tagger.predict(test)
    result = tagger.evaluate(test)
    assert result["accuracy"] == token_accuracy(gold, predicted) == tagger.score(test)
    assert result["f1"] == chunk_f1(gold, predicted)
    found = [set(chunks(y)) for y in predicted]
    correct = sum(len(set(chunks(y)) & f) for y, f in zip(gold, found, strict=True))
    assert result["precision"] == pytest.approx(correct / sum(map(len, found)))
    assert result["recall"] == pytest.approx(correct / sum(len(chunks(y)) for y in gold))
    assert result["tokens"] == sum(map(len, gold))
    assert "NP" in result["by_type"]
    with pytest.raises(FileError, match="2 columns: the gold labels must be in column 3"):
        tagger.evaluate(unlabelled(test))


# -- features of label pairs, of phrases, of vectors, of one's own ---------------------------------


def test_transition_features_against_enumeration():
    text = "word[0]\ntransition: word[0]\ntransition: suffix(word[-1], 1)"
    tagger = Tagger(FeatureTemplates.parse(text), max_iter=3).fit(coarse(40))
    model = tagger.model_
    pairs = weights_by_name(model, "pair")
    assert len(pairs) > 20
    n = len(model.labels)
    for sentence in coarse(6, seed=7, longest=4):
        words = [word for word, _ in sentence]
        blocks = score_blocks(model, [[f"word[0]={word}"] for word in words])
        shared = table_of(model, "transition1")
        table = np.repeat(shared[None], len(words) - 1, axis=0)
        for t in range(1, len(words)):
            for name in (
                f"transition: word[0]={words[t]}",
                f"transition: suffix(word[-1], 1)={words[t - 1][-1]}",
            ):
                for a, b in itertools.product(range(n), repeat=2):
                    table[t - 1, a, b] += pairs.get((name, (a, b)), 0.0)
        blocks["transition"] = table
        every = enumerated(blocks)
        (best,) = tagger.predict_kbest([words], 5)
        np.testing.assert_allclose([s for s, _ in best], [s for s, _ in every[:5]], atol=1e-9)
        (tokens,) = tagger.predict_marginals([words])
        found = [[token[k] for k in model.labels] for token in tokens]
        np.testing.assert_allclose(found, enumerated_marginals(blocks), atol=1e-9)
        y = [model.labels.index(k) for k in tagger.predict([words])[0]]
        assert sequence_score(blocks, y) == pytest.approx(every[0][0], abs=1e-9)


def test_phrases_and_vectors_and_functions_through_a_file(tmp_path):
    (tmp_path / "places.txt").write_text("new york\tcity\nparis\n")
    (tmp_path / "vectors.txt").write_text("york 0.5 -1\nparis 2 0.25\nnew 1 1\n")
    (tmp_path / "features.txt").write_text(
        'in(lower(word), "places.txt")\nvector(lower(word), "vectors.txt")\n'
        'call(word, "size")\nbias\n'
    )
    functions = {"size": lambda word: ["long", "big"] if len(word) > 4 else None}
    train = [
        [("New", "B"), ("York", "I"), ("sleeps", "O")],
        [("Paris", "B"), ("and", "O"), ("York", "O")],
        [("sleeps", "O"), ("paris", "B")],
    ]
    tagger = Tagger(tmp_path / "features.txt", functions=functions, max_iter=4).fit(train)
    model = tagger.model_
    names = {name for name, _ in weights_by_name(model)}
    assert 'in(lower(word[0]), "places.txt")=B-city' in names
    assert 'in(lower(word[0]), "places.txt")=B-places' in names
    assert 'call(word[0], "size")=long' in names
    # The scores, added up by hand from the names.
    table = {"york": (0.5, -1), "paris": (2, 0.25), "new": (1, 1)}

    def row(word, phrase):
        values = {"bias": 1}
        if phrase:
            values[f'in(lower(word[0]), "places.txt")={phrase}'] = 1
        for d, x in enumerate(table.get(word.lower(), ())):
            values[f'vector(lower(word[0]), "vectors.txt")[{d}]'] = x
        if len(word) > 4:
            values |= {f'call(word[0], "size")={k}': 1 for k in ("long", "big")}
        return values

    words = ["Paris", "New", "York", "York", "sleeping"]
    phrases = ["B-places", "B-city", "I-city", None, None]
    rows = [row(w, p) for w, p in zip(words, phrases, strict=True)]
    blocks = score_blocks(model, rows)
    every = enumerated(blocks)
    (best,) = tagger.predict_kbest([words], 4)
    np.testing.assert_allclose([s for s, _ in best], [s for s, _ in every[:4]], atol=1e-9)
    # The files are in the model; the functions are not.
    tagger.save(tmp_path / "model")
    (tmp_path / "places.txt").unlink()
    (tmp_path / "vectors.txt").unlink()
    again = Tagger.load(tmp_path / "model", functions=functions)
    assert again.predict_kbest([words], 4) == [best]
    with pytest.raises(ValueError, match=r"function 'size'.*pass functions="):
        Tagger.load(tmp_path / "model")


def test_functions_that_go_wrong():
    with pytest.raises(ValueError, match=r"pass functions=\{'f'"):
        Tagger(FeatureTemplates.parse('call(word, "f")')).fit([[("a", "X")]])
    with pytest.raises(TypeError, match="must return a string"):
        Tagger(FeatureTemplates.parse('call(word, "f")'), functions={"f": lambda _: 3}).fit(
            [[("a", "X")]]
        )

    def broken(word):
        raise ZeroDivisionError("of one's own")

    with pytest.raises(ZeroDivisionError, match="of one's own"):
        Tagger(FeatureTemplates.parse('call(word, "f")'), functions={"f": broken}).fit(
            [[("a", "X")]]
        )


# -- smaller models -------------------------------------------------------------------------------


def test_min_count():
    sentences = tagged(30)
    counts = {}
    for rows in feature_lists(sentences):
        for name in itertools.chain.from_iterable(rows):
            counts[name] = counts.get(name, 0) + 1
    tagger = Tagger(templates(), min_count=3, max_iter=2).fit(sentences)
    assert tagger.model_.training["features"] == sum(n >= 3 for n in counts.values())
    assert all(counts[name] >= 3 for name, _ in weights_by_name(tagger.model_))


def test_prune_leaves_small_weights_out():
    sentences = tagged(30)
    whole = weights_by_name(Tagger(templates(), max_iter=3).fit(sentences).model_)
    pruned = Tagger(templates(), max_iter=3, prune=0.5).fit(sentences).model_
    assert weights_by_name(pruned) == {k: w for k, w in whole.items() if abs(w) > 0.5}
    assert 0 < len(weights_by_name(pruned)) < len(whole)


@pytest.mark.parametrize("n_labels", [256, 257])
def test_prune_leaves_out_lone_weights_of_many_labels(n_labels):
    """A feature with one weight that is left costs more than it tells, unless it is large."""
    draw = random.Random(n_labels)
    sentences = [
        [(f"w{draw.randrange(400)}", f"L{k}"), (f"w{draw.randrange(400)}", "L0")]
        for _ in range(3)
        for k in range(n_labels)
    ]
    how = {"max_iter": 3, "candidates": 0, "all_possible_states": 0, "learner": "perceptron"}
    whole = weights_by_name(Tagger(templates(), **how).fit(sentences).model_)
    pruned = weights_by_name(Tagger(templates(), prune=0.5, **how).fit(sentences).model_)
    kept = {place: w for place, w in whole.items() if abs(w) > 0.5}
    alone = Counter(name for name, _ in kept)
    large = {p: w for p, w in kept.items() if alone[p[0]] > 1 or abs(w) > 2.0}
    assert 0 < len(large) < len(kept)
    assert pruned == (large if n_labels > 256 else kept)


def test_all_possible_states_has_more_weights():
    sentences = tagged(20)
    seen = {
        (name, label)
        for rows, labels in zip(feature_lists(sentences), labels_of(sentences), strict=True)
        for row, label in zip(rows, labels, strict=True)
        for name in row
    }
    some = weights_by_name(Tagger(templates(), max_iter=3).fit(sentences).model_)
    every = weights_by_name(
        Tagger(templates(), max_iter=3, all_possible_states=True).fit(sentences).model_
    )
    assert set(some) <= seen
    assert set(every) - seen


def test_hashed_features(tmp_path):
    """With room for all features no two share a place: then nothing changes but the keys."""
    bits = 20
    sentences, test = tagged(60), tagged(20, seed=1)
    tagger = Tagger(templates(), hash_bits=bits, max_iter=3).fit(sentences)
    named = Tagger(templates(), max_iter=3).fit(sentences)
    keys, row_ptr, column, weights = named.model_.unpacked()
    expected = {
        (keys[f] % 2**bits, column[q]): weights[q]
        for f in range(len(keys))
        for q in range(row_ptr[f], row_ptr[f + 1])
    }
    assert len(expected) == len(weights)
    _, row_ptr, column, weights = tagger.model_.unpacked()
    assert len(row_ptr) - 1 == 2**bits
    rows = np.repeat(np.arange(2**bits), np.diff(np.asarray(row_ptr, dtype=np.int64)))
    found = dict(zip(zip(rows.tolist(), list(column), strict=True), list(weights), strict=True))
    assert found == expected
    assert tagger.predict(test) == named.predict(test)
    assert tagger.model_.feature_names() == []
    tagger.save(tmp_path / "m")
    assert Tagger.load(tmp_path / "m").predict(test) == tagger.predict(test)


def test_features_that_share_a_place():
    sentences, test = tagged(60), tagged(20, seed=1)
    tagger = Tagger(templates(), hash_bits=4, max_iter=3).fit(sentences)
    assert len(tagger.model_.unpacked()[1]) == 17
    assert 0.2 < tagger.score(test) < Tagger(templates(), max_iter=3).fit(sentences).score(test)


def test_names_may_be_left_out(tmp_path):
    sentences = tagged(30)
    with_names = Tagger(templates(), max_iter=2).fit(sentences)
    without = Tagger(templates(), max_iter=2, names=False).fit(sentences)
    assert same_model(with_names.model_, without.model_)
    assert without.model_.feature_names() == []
    with_names.save(tmp_path / "a")
    without.save(tmp_path / "b")
    assert (tmp_path / "b").stat().st_size < (tmp_path / "a").stat().st_size


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
@pytest.mark.parametrize("options", [{}, {"hash_bits": 12}, {"order": 2}])
def test_saved_and_loaded(tmp_path, precision, options):
    sentences, test = chunked(30), chunked(10, seed=1)
    tagger = Tagger(templates(), max_iter=2, scheme="bio", **options).fit(sentences)
    tagger.save(tmp_path / "m", precision)
    again = Tagger.load(tmp_path / "m")
    model, other = tagger.model_, again.model_
    _, _, column, weights = model.unpacked()
    _, _, column2, weights2 = other.unpacked()
    error = {"float32": 0.0, "float16": 2**-10 * max(map(abs, weights))}
    error["int8"] = max(map(abs, weights)) / 127 / 2 * 1.0001
    if precision != "int8":
        assert bytes(column) == bytes(column2)
        np.testing.assert_allclose(weights2, weights, rtol=0, atol=error[precision])
    elif not options.get("hash_bits"):
        ours, theirs = weights_by_name(model), weights_by_name(other)
        assert set(theirs) <= set(ours)
        for key, w in ours.items():
            assert abs(theirs.get(key, 0.0) - w) <= error["int8"]
    for name in model.arrays:
        if "." not in name:
            np.testing.assert_array_equal(table_of(other, name), table_of(model, name))
    if precision == "float32":
        assert again.predict(test) == tagger.predict(test)
        assert again.predict_marginals(test) == tagger.predict_marginals(test)
        again.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    else:
        assert again.score(test) == pytest.approx(tagger.score(test), abs=0.05)
    assert (again.scheme, again.order, again.learner) == ("bio", tagger.order, "auto")
    assert other.training == model.training


# -- parameters -----------------------------------------------------------------------------------


def test_parameters_as_scikit_learn_has_them():
    tagger = Tagger("chunk", "crf", order=2, C=0.5, min_count=3)
    params = tagger.get_params()
    assert params["features"] == "chunk"
    assert (params["learner"], params["order"], params["C"]) == ("crf", 2, 0.5)
    twin = clone(tagger)
    assert twin is not tagger
    assert twin.get_params() == params
    assert not hasattr(twin, "model_")
    assert twin.set_params(order=1, learner="svm") is twin
    assert (twin.order, twin.learner, tagger.order) == (1, "svm", 2)
    with pytest.raises(ValueError, match="no parameter 'depth'"):
        tagger.set_params(depth=3)
    fitted = Tagger("pos", max_iter=1).fit(tagged(5))
    assert not hasattr(clone(fitted), "model_")
    assert set(params) == set(Tagger().get_params())


@pytest.mark.parametrize(
    "wrong",
    [
        {"learner": "tree"},
        {"scheme": "bilou"},
        {"order": -1},
        {"order": 5},
        {"order": 1.0},
        {"max_iter": 0},
        {"patience": -1},
        {"min_count": -1},
        {"hash_bits": 31},
        {"n_models": 0},
        {"n_jobs": 0},
        {"random_state": -1},
        {"C": -1.0},
        {"C": float("nan")},
        {"l1": 1.0},
        {"prune": float("inf")},
    ],
)
def test_parameters_that_make_no_sense(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=name):
        Tagger(**wrong).fit([[("a", "X"), ("b", "Y")]])


def test_before_fit():
    for call in (
        lambda t: t.predict([["a"]]),
        lambda t: t.save("nowhere"),
        lambda t: t.classes_,
        lambda t: t.evaluate([[("a", "X")]]),
    ):
        with pytest.raises(ValueError, match="not learned anything yet"):
            call(Tagger())


def test_data_that_make_no_sense():
    with pytest.raises(ValueError, match="sentence 1 has no tokens"):
        Tagger("pos").fit([[("a", "X")], []])
    with pytest.raises(ValueError, match="which is the target"):
        Tagger("pos", target=1).fit(tagged(2))
    with pytest.raises(ValueError, match=r"one column only: .* separated by blanks or tabs"):
        Tagger("pos").fit([["a", "b"]])
    with pytest.raises(ValueError, match="no column 4"):
        Tagger("pos", target=4).fit(tagged(2))
    with pytest.raises(ValueError, match="the target"):
        Tagger("pos", target="word").fit(tagged(2))
    with pytest.raises(ValueError, match="no token has a label"):
        Tagger("pos").fit([[("a", "_"), ("b", "_")]])
    with pytest.raises(ValueError, match="dev corpus"):
        Tagger("pos").fit(tagged(2), dev=chunked(2))


def test_a_failed_fit_leaves_the_model_as_it_was():
    tagger = Tagger("pos", max_iter=1).fit(tagged(10))
    before = tagger.model_
    with pytest.raises(ValueError, match="no token has a label"):
        tagger.fit([[("a", "_")]])
    assert tagger.model_ is before


# -- Ctrl-C ---------------------------------------------------------------------------------------

PROGRAM = """
import sys
from structlearn.datasets import make_treebank
from structlearn.tasks import Tagger
from structlearn.fitting.dev_monitor import Watch
from structlearn.text import FeatureTemplates

sentences = [list(zip(s.words, s.tags)) for s in make_treebank(400, random_state=0)]
# The same words with other labels, and features of the words alone: no weights get all of it right,
# so learning does not end by itself. (The preset would do: its features of seen labels differ
# between the copies.)
sentences += [[(w, "X") for w, _ in s] for s in sentences[:40]]
look = Watch.__call__
def told(self, record):
    if record["iteration"] == 25 and self.run == 1:
        print("ready", flush=True)
    return look(self, record)
Watch.__call__ = told
tagger = Tagger(FeatureTemplates.parse("word[-1..1]"), LEARNER, max_iter=10**6)
try:
    tagger.fit(sentences)
except KeyboardInterrupt as error:
    print(error)
    assert tagger.score(sentences[:400]) > 0.5
    tagger.save(sys.argv[1])
else:
    sys.exit("the fit ended by itself")
"""


@pytest.mark.parametrize("learner", ["perceptron", "several perceptrons", "crf"])
def test_interrupt_leaves_a_model(learner, tmp_path):
    several = learner.startswith("several")
    program = PROGRAM.replace("LEARNER", repr("perceptron" if several else learner))
    if several:
        program = program.replace("10**6)", "10**6, n_models=3, n_jobs=2)")
    if learner == "crf":
        program = program.replace("10**6)", "10**6, C=1e4)")
    child = subprocess.Popen(
        [sys.executable, "-c", program, tmp_path / "model"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 0, err
    assert out == "training was interrupted; the model holds the weights reached so far\n"
    assert Tagger.load(tmp_path / "model").predict([["The", "dog", "sleeps"]])[0][0] == "DT"
