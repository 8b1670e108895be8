"""Taggers whose tokens have a few candidate labels each, against chains over all labels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from structlearn import _core, load
from structlearn.structures import Chain
from structlearn.tasks import Tagger
from structlearn.tasks.tagging.candidates import CandidateProblem
from structlearn.tasks.tagging.token_fitting import TokenFitting
from structlearn.testing import check_scorer
from structlearn.text.sources import read_source
from structlearn.text.templates import FeatureTemplates
from tests.tasks.tagging.tagger_data import explained_decisions, label_marginals

N_LABELS = 90
WIDTH = 8


def many_labels(n_sentences: int, seed: int, n_labels: int = N_LABELS) -> list[list[tuple]]:
    """Return sentences whose labels depend on the word and on the label before."""
    words = np.random.default_rng(0)  # the same language for every seed
    kinds = [words.choice(n_labels, size=2, replace=False) for _ in range(n_labels)]
    rng = np.random.default_rng(seed)
    sentences = []
    for _ in range(n_sentences):
        sentence, before = [], 0
        for _ in range(int(rng.integers(1, 9))):
            word = int(rng.integers(len(kinds)))
            before = int(kinds[word][before % 2])
            name = "".join(chr(97 + int(digit)) for digit in str(word))
            sentence.append((name, f"K{before:03d}"))
        sentences.append(sentence)
    return sentences


TRAIN, TEST = many_labels(400, 1), many_labels(60, 2)
WORDS = [[token[:1] for token in sentence] for sentence in TEST]


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(features="pos", n_models=1, max_iter=3, candidates=WIDTH).fit(TRAIN)


def problem(width: int, order: int = 1, fill: int = 0):
    """Return the problem of a training run with few labels."""
    made = Tagger(
        features="pos", order=order, n_models=1, all_possible_states=fill, candidates=width
    )
    return TokenFitting(made._plain(), read_source(many_labels(30, 3, 12), None)).problem()


# -- the problem that learners see ----------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("fill", [0, 2])
def test_the_operator_is_the_transpose_of_the_scores(order, fill):
    found = problem(3, order, fill)
    assert isinstance(found, CandidateProblem)
    check_scorer(found)


@pytest.mark.parametrize("order", [1, 2])
def test_scores_are_those_of_all_labels_at_the_candidates(order):
    """The same weights over all labels, where what has no weight here has weight 0."""
    found, every = problem(4, order), problem(0, order)
    n, w = found.weights.n_labels, np.random.default_rng(0).normal(size=found.n_weights)
    blocks = every.layout.present()
    dense = {name: np.zeros((*b.outcomes, b.n_features)) for name, b in blocks.items()}
    row_ptr = found.weights.observed.row_ptr
    rows = np.repeat(np.arange(len(row_ptr) - 1), np.diff(row_ptr))
    dense["label"][found.weights.observed.column, rows] = w[: len(rows)]
    at = len(rows)
    for name in ("start", "end"):
        dense[name] = w[at : at + n]
        at += n
    names = ["transition"] if order == 1 else ["transition1", "transition"]
    for name, (history, row_ptr, column) in zip(names, found.weights.windows, strict=True):
        table = np.zeros(n ** len(blocks[name].outcomes))
        code = np.repeat(history.astype(np.int64), np.diff(row_ptr)) * n + column
        table[code] = w[at : at + len(column)]
        dense[name] = table.reshape(blocks[name].outcomes)
        at += len(column)
    assert at == len(w)
    u = every.layout.pack({name: dense[name] for name in blocks})
    candidates = found._told["candidates"].reshape(-1, 4).astype(int)
    first = every.examples.blocks["label"].site_ptr
    for i in range(every.n_examples):
        mine, theirs = found.theta(i, w), every.scores(i, u)
        c = candidates[first[i] : first[i + 1]]
        L = len(c)
        wanted = [np.take_along_axis(theirs["label"], c, axis=1).ravel()]
        wanted += [theirs["start"][c[0]], theirs["end"][c[-1]]]
        for m, name in enumerate(names, 1):
            wanted += [theirs[name][np.ix_(*c[t - m : t + 1])].ravel() for t in range(m, L)]
        np.testing.assert_allclose(mine, np.concatenate(wanted), atol=1e-12)


def test_the_gold_label_is_a_candidate():
    found, every = problem(2), problem(0)
    candidates = found._told["candidates"].reshape(-1, 2)
    assert (candidates == every.gold_numbers[:, np.newaxis]).any(axis=1).all()
    assert (np.diff(candidates.astype(int), axis=1) > 0).all()


def test_threads_choose_the_same_candidates():
    every = problem(0, order=0)
    w = np.random.default_rng(0).integers(-2, 3, size=every.n_weights).astype(float)  # ties
    gold, free = every.gold_numbers, np.zeros(0, dtype=np.uint8)
    chosen = [_core.best_candidates(every.native, w, 5, gold, free, n) for n in (1, 3)]
    np.testing.assert_array_equal(*chosen)
    scores = np.concatenate([every.scores(i, w)["label"] for i in range(every.n_examples)])
    best = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    for mine, theirs, k in zip(chosen[0].reshape(-1, 5), best, gold, strict=True):
        wanted = theirs if k in theirs else [*theirs[:4], k]
        assert mine.tolist() == sorted(wanted)


@pytest.mark.parametrize("fill", [0, 1, 3])
def test_which_pairs_have_weights(fill):
    rng = np.random.default_rng(0)
    begin = np.arange(0, 61, 3, dtype=np.int64)
    feature = rng.integers(0, 9, size=60).astype(np.int32)
    candidates = np.sort(np.argsort(rng.random((20, 7)), axis=1)[:, :3], axis=1)
    seen = [set() for _ in range(9)]
    for t, k in enumerate(rng.integers(0, 3, size=20)):
        for f in feature[begin[t] : begin[t + 1]]:
            seen[f].add(int(k))
    row_ptr = np.cumsum([0, *map(len, seen)]).astype(np.uint32)
    column = np.concatenate([sorted(s) for s in seen]).astype(np.uint32)
    found = _core.candidate_pairs(
        np.array([0, 20]),
        begin,
        feature,
        candidates.astype(np.uint16).ravel(),
        3,
        row_ptr,
        column,
        7,
        fill,
    )
    for f in range(9):
        wanted = set(seen[f])
        if fill and len(wanted) >= fill:
            for t in range(20):
                if f in feature[begin[t] : begin[t + 1]]:
                    wanted |= set(candidates[t].tolist())
        assert found[1][found[0][f] : found[0][f + 1]].tolist() == sorted(wanted)


@pytest.mark.parametrize("min_count", [0, 2])
def test_pairs_seen_with_many_labels(min_count):
    """Labels beyond the 64th are remembered in another way: against sets."""
    corpus = read_source(TRAIN, None)
    templates = FeatureTemplates.parse("word[0]\nword[-1]")
    made = Tagger(features=templates, min_count=min_count, all_possible_states=False)
    run = TokenFitting(made._plain(), corpus)
    inventory = run.inventory
    inventory.freeze(inventory.count(corpus, _core.TokenRows()), min_count, 0)
    arrays, vocabulary = inventory.rows(corpus), inventory.vocabulary
    seen = [set() for _ in range(vocabulary.size)]
    for t, label in enumerate(arrays["label"]):
        for f in arrays["feature"][arrays["begin"][t] : arrays["begin"][t + 1]]:
            seen[f].add(int(label))
    row_ptr = np.frombuffer(vocabulary.row_ptr(), np.uint32)
    column = np.frombuffer(vocabulary.column(), np.uint32)
    assert len(vocabulary.labels) > 70
    for f, wanted in enumerate(seen):
        assert column[row_ptr[f] : row_ptr[f + 1]].tolist() == sorted(wanted)


# -- the model ------------------------------------------------------------------------------------


def over_all_labels(tagger, corpus, s, temperature=50.0):
    """Return the scores of a sentence over all labels, −∞ for those that are no candidates."""
    model = tagger.model_
    n, p = len(model.labels), label_marginals(model, corpus, temperature)[s]
    features = model.core.features_of(corpus.core, s, False)
    label = np.array([np.sum([w for _, w in token], axis=0) for token in features])
    assert ((p > 0).sum(axis=1) == WIDTH).all()
    tables = {"start": model.arrays["start"], "end": model.arrays["end"]}
    scores = {name: np.array(table) for name, table in tables.items()}
    for m in range(1, model.order + 1):
        table = np.zeros(n ** (m + 1))
        for code, x in model.window_scores(m).items():
            table[code] = x
        name = "transition" if m == model.order else f"transition{m}"
        scores[name] = table.reshape((n,) * (m + 1))
    return {"label": np.where(p > 0, label, -np.inf), **scores}


@pytest.mark.parametrize("order", [1, 2])
def test_a_model_is_a_chain_with_all_other_labels_forbidden(order):
    few = many_labels(150, 1, 30)
    made = Tagger(features="pos", order=order, n_models=1, max_iter=2, candidates=WIDTH).fit(few)
    corpus, chain, model = made._read_input(few[:12]), Chain(order=order), made.model_
    lists, tables = model.inputs(corpus).kbest(4), label_marginals(model, corpus, 2.0)
    for s, labels in enumerate(made.predict(few[:12])):
        scores = over_all_labels(made, corpus, s)
        best = chain.solve(**scores)
        (first, _), *_ = ranked = lists[s]
        assert first == pytest.approx(best.value, abs=1e-4)
        mine = [model.labels.index(k) for k in labels]
        assert chain.score(mine, **scores) == pytest.approx(best.value, abs=1e-4)
        theirs = chain.kbest(4, **scores)
        np.testing.assert_allclose([x for x, _ in ranked], [x for x, _ in theirs], atol=1e-4)
        wanted = chain.marginals(temperature=2.0, **scores)["label"]
        np.testing.assert_allclose(tables[s], wanted, atol=1e-4)


@pytest.mark.parametrize(
    ("n_labels", "order", "wanted"), [(20, 1, 0), (90, 1, 0), (150, 1, 12), (90, 2, 12), (20, 2, 0)]
)
def test_many_labels_have_candidates_without_asking(n_labels, order, wanted):
    """Chains of order 1 over 90 labels take less time than the first pass."""
    made = Tagger(features="pos", n_models=1, max_iter=1, order=order)
    assert made.fit(many_labels(3 * n_labels, 1, n_labels)).model_.candidates == wanted


@pytest.mark.parametrize(("n_labels", "fewer"), [(40, False), (90, True)])
def test_weights_of_many_labels_are_for_likely_pairs(n_labels, fewer):
    """Without candidates too: weights for all labels of a feature would take the memory."""
    corpus, n_weights = read_source(many_labels(200, 1, n_labels), None), []
    for fill in (None, 2):  # 2: what the preset asks for
        made = Tagger(features="pos", n_models=1, all_possible_states=fill)
        run = TokenFitting(made._plain(), corpus)
        n_weights.append(run.problem().n_weights)
        assert run.candidates == 0
    assert (n_weights[0] < n_weights[1]) == fewer


def test_accuracy_is_that_of_all_labels(tagger):
    every = Tagger(features="pos", n_models=1, max_iter=3, candidates=0).fit(TRAIN)
    mine, theirs = tagger.evaluate(TEST)["accuracy"], every.evaluate(TEST)["accuracy"]
    assert theirs > 0.5
    assert mine > theirs - 0.02


@pytest.mark.parametrize(
    ("learner", "options"),
    [
        ("crf", {"max_iter": 60, "tol": 0.05}),
        ("crf", {"max_iter": 60, "tol": 0.05, "order": 2}),
        ("svm", {"max_iter": 60, "tol": 0.2}),
        ("arow", {}),
        ("adagrad", {}),
        ("passive-aggressive", {}),
    ],
)
def test_every_learner_has_candidates(learner, options):
    made = Tagger(features="pos", learner=learner, candidates=4, **{"max_iter": 3, **options})
    made.fit(many_labels(150, 1, 30))
    assert made.evaluate(many_labels(150, 1, 30))["accuracy"] > 0.9


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_files(tagger, precision, tmp_path):
    path = tmp_path / "model"
    tagger.save(path, precision)
    again = load(path)
    assert again.model_.candidates == WIDTH
    found, wanted = again.predict(WORDS), tagger.predict(WORDS)
    if precision == "float32":
        assert found == wanted
    same = [a == b for x, y in zip(found, wanted, strict=True) for a, b in zip(x, y, strict=True)]
    assert np.mean(same) > (0.99 if precision == "float16" else 0.9)


def test_hashed_features(tmp_path):
    made = Tagger(features="pos", n_models=1, max_iter=2, candidates=4, hash_bits=14).fit(TRAIN)
    made.save(tmp_path / "model", "int8")
    assert load(tmp_path / "model").evaluate(TEST)["accuracy"] > 0.3


def test_threads_and_seeds_give_the_same_bits(tagger, tmp_path):
    one = Tagger(features="pos", n_models=2, max_iter=2, candidates=5, n_jobs=1).fit(TRAIN)
    two = Tagger(features="pos", n_models=2, max_iter=2, candidates=5, n_jobs=2).fit(TRAIN)
    one.save(tmp_path / "one")
    two.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    two.n_jobs = 3
    assert one.predict(WORDS) == two.predict(WORDS)


def test_questions_to_a_model(tagger):
    for tokens in tagger.predict_marginals(WORDS[:5]):
        for p in tokens:
            assert sum(p.values()) == pytest.approx(1.0)
            assert sum(x > 0 for x in p.values()) <= WIDTH
    samples = tagger.sample(WORDS[:3], 4, random_state=0)
    assert [len(draws) for draws in samples] == [4, 4, 4]
    for row, labels in zip(
        explained_decisions(tagger, WORDS[:5]), tagger.predict(WORDS[:5]), strict=True
    ):
        for decision in row:
            assert decision.label == labels[decision.position] != decision.runner_up
            assert decision.margin >= 0


def test_known_labels_are_kept_though_no_candidates(tagger):
    known = [[None] * len(s) for s in WORDS[:20]]
    for s, row in enumerate(known):
        row[0] = tagger.classes_[s]  # any label: most are no candidates of the token
    for s, labels in enumerate(tagger.predict(WORDS[:20], known=known)):
        assert labels[0] == tagger.classes_[s]


def test_what_goes_without_candidates():
    chunks = [[("a", "B-X"), ("b", "I-X")], [("c", "O")]]
    with pytest.raises(ValueError, match="order 0"):
        Tagger(features="pos", candidates=2, order=0).fit(chunks)
    with pytest.raises(ValueError, match="scheme 'iobes' does not go with order 0"):
        Tagger(features="pos", scheme="iobes", order=0).fit(chunks)
    with pytest.raises(ValueError, match="unknown"):
        Tagger(features="pos", candidates=1).fit([[("a", "X"), ("b", "_"), ("c", "Y")]])
    with pytest.raises(ValueError, match="candidates"):
        Tagger(features="pos", candidates=256).fit(TRAIN)


def test_a_model_with_candidates_is_not_continued(tagger):
    with pytest.raises(ValueError, match="candidates"):
        Tagger(features="pos", n_models=1).fit(TRAIN, start=tagger)


def test_forged_numbers_of_candidates(tagger, tmp_path):
    from structlearn.io.container import read_container, write_container

    path = tmp_path / "model"
    tagger.save(path)
    description, tensors = read_container(path)
    for wrong in (-1, 300, 91):
        write_container(path, {**description, "candidates": wrong}, tensors)
        with pytest.raises(Exception, match=r"candidates|negative|incompatible|model"):
            load(path)


def test_enumeration():
    """Value and best path by all sequences of candidates."""
    found = problem(3)
    w = np.random.default_rng(1).normal(size=found.n_weights)
    for i in range(found.n_examples):
        theta = found.theta(i, w)
        L = (len(theta) - 6 + 9) // 12  # 3 L + 6 + 9 (L - 1) parts
        label = theta[: 3 * L].reshape(L, 3)
        start, end = theta[3 * L : 3 * L + 3], theta[3 * L + 3 : 3 * L + 6]
        pair = theta[3 * L + 6 :].reshape(L - 1, 3, 3)
        if L > 7:
            continue
        values = [
            sum(label[t, k] for t, k in enumerate(y))
            + start[y[0]]
            + end[y[-1]]
            + sum(pair[t, y[t], y[t + 1]] for t in range(L - 1))
            for y in itertools.product(range(3), repeat=L)
        ]
        assert found.infer(i, w, 0.0, 0.0)[0] == pytest.approx(max(values))
        total = np.logaddexp.reduce(values)
        assert found.infer(i, w, 0.0, 1.0)[0] == pytest.approx(total)
