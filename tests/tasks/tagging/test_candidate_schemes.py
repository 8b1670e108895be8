"""Candidates with schemes of labels and with features of label pairs, against all labels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import _core, load
from structlearn.cli import run
from structlearn.exceptions import InfeasibleError
from structlearn.fitting import parts
from structlearn.metrics import legal_transitions
from structlearn.structures import Chain
from structlearn.tasks import Tagger
from structlearn.tasks.tagging.candidates import CandidateProblem, CandidateWeights, Chosen
from structlearn.tasks.tagging.first_pass import FirstPass, forbidden_bits
from structlearn.tasks.tagging.label_layout import seen_labels
from structlearn.tasks.tagging.token_fitting import TokenFitting
from structlearn.tasks.tagging.token_problem import TokenProblem
from structlearn.tasks.tagging.weights import TokenWeights
from structlearn.testing import check_scorer
from structlearn.text.sources import read_source
from structlearn.text.templates import FeatureTemplates
from tests.tasks.tagging.tagger_data import explained_decisions, label_marginals, label_numbers

WORDS = "word[0]\nword[-1]\nword[1]\nbias\n"
PAIRS = WORDS + "transition: word[0]\ntransition: word[-1]\n"
N_TYPES = 30


def entities(n_sentences: int, seed: int, n_types: int = N_TYPES) -> list[list[tuple]]:
    """Return sentences with chunks of many types, in IOB2; words tell the type, not the place."""
    rng = np.random.default_rng(seed)
    sentences = []
    for _ in range(n_sentences):
        sentence: list[tuple] = []
        while len(sentence) < rng.integers(1, 10):
            kind, size = int(rng.integers(n_types)), int(rng.integers(0, 4))
            name = chr(97 + kind % 26) * (1 + kind // 26)
            sentence += [(f"of{rng.integers(6)}", "O")] * (size == 0)
            for i in range(size):
                sentence.append((f"{name}{min(i, 1)}", f"{'IB'[i == 0]}-{name}"))
        sentences.append(sentence)
    return sentences


TRAIN, TEST = entities(300, 1), entities(60, 2)
SCHEMES = [None, "bio", "iobes", "beginnings"]


def templates(text: str) -> FeatureTemplates:
    return FeatureTemplates.parse(text)


def fitted(scheme, text=WORDS, candidates=6, **options):
    options = {"n_models": 1, "max_iter": 3, **options}
    tagger = Tagger(templates(text), scheme=scheme, candidates=candidates, **options)
    return tagger.fit(TRAIN)


@pytest.fixture(scope="module", params=SCHEMES[1:])
def tagger(request) -> Tagger:
    return fitted(request.param)


def problems(scheme, text, width, order=1):
    """Return a problem over candidates and the one over all labels, of the same tokens."""
    made = Tagger(templates(text), scheme=scheme, order=order, n_models=1, candidates=0)
    corpus = read_source(entities(25, 3, 3), None)
    run = TokenFitting(made._plain(), corpus)
    every = run.problem().whole
    if scheme == "iobes":  # as the fitting reads it
        corpus = corpus.in_iobes(run.target, run.unknown)
    rows = run.inventory.rows(corpus)
    seen, bits = seen_labels(run.inventory.vocabulary), forbidden_bits(run.forbid(), run.labels)
    alone, width = TokenWeights(run.inventory, 0, {}, seen), min(width, len(run.labels))
    tokens = TokenProblem(alone, rows)
    first = FirstPass(tokens, alone, bits, 0, 1)
    weights = CandidateWeights(run.inventory, first, seen, order, width)
    chosen = Chosen(tokens, first.best(tokens, width), tokens.arrays)
    weights.find_windows(parts.alone(chosen))
    return CandidateProblem(chosen, weights), every, chosen.candidates.astype(int)


def weights_for_both(found, every):
    """Return random weights over candidates and the same over all labels, 0 where none is."""
    n, blocks = found.weights.n_labels, every.layout.present()
    w = np.random.default_rng(0).normal(size=found.n_weights)
    at = 0

    def take(count):
        nonlocal at
        at += count
        return w[at - count : at]

    dense = {name: np.zeros((*b.outcomes, b.n_features)) for name, b in blocks.items()}
    row_ptr, column = found.weights.observed.row_ptr, found.weights.observed.column
    rows = np.repeat(np.arange(len(row_ptr) - 1), np.diff(row_ptr))
    dense["label"][column, rows] = take(len(column))
    for name in ("start", "end"):
        dense[name][:, 0] = take(n)
    for m, (history, row_ptr, column) in enumerate(found.weights.windows, 1):
        name = "transition" if m == found.weights.order else f"transition{m}"
        code = np.repeat(history.astype(np.int64), np.diff(row_ptr)) * n + column
        values = take(len(column))
        if found.weights.pairs:  # all labels have weights for the pairs that were seen alone
            values[:] = 0.0
        dense[name].reshape(-1, blocks[name].n_features)[code, -1] = values
    if found.weights.pairs:
        row_ptr, column = found.weights.pairs
        rows = np.repeat(np.arange(len(row_ptr) - 1), np.diff(row_ptr))
        dense["transition"].reshape(n * n, -1)[column, rows] = take(len(column))
    assert at == len(w)
    own = {k: v if blocks[k].n_features > 1 else v[..., 0] for k, v in dense.items()}
    return w, every.layout.pack(own)


# -- the problem that learners see ----------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("text", [WORDS, PAIRS])
def test_the_operator_is_the_transpose_of_the_scores(scheme, text):
    check_scorer(problems(scheme, text, 4)[0])


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("text", "order"), [(WORDS, 1), (WORDS, 2), (PAIRS, 1)])
def test_all_labels_as_candidates_are_all_labels(scheme, text, order):
    """Scores, values and best paths, with weights for all that both problems have."""
    found, every, candidates = problems(scheme, text, 100, order)
    assert candidates.shape[1] == found.weights.n_labels
    w, u = weights_for_both(found, every)
    for i in range(found.n_examples):
        for margin, temperature in itertools.product((0.0, 1.0), (0.0, 1.0)):
            mine, theirs = (p.infer(i, v, margin, temperature) for p, v in ((found, w), (every, u)))
            assert mine[0] == pytest.approx(theirs[0], abs=1e-9)
        assert np.isfinite(found.theta(i, w)).all() == (scheme is None)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("text", [WORDS, PAIRS])
def test_scores_are_those_of_all_labels_at_the_candidates(scheme, text):
    found, every, candidates = problems(scheme, text, 4)
    w, u = weights_for_both(found, every)
    first = every.examples.blocks["label"].site_ptr
    for i in range(every.n_examples):
        theirs, c = every.scores(i, u), candidates[first[i] : first[i + 1]]
        if not len(c):
            continue
        wanted = [np.take_along_axis(theirs["label"], c, axis=1).ravel()]
        wanted += [theirs["start"][c[0]], theirs["end"][c[-1]]]
        pair = np.broadcast_to(
            theirs["transition"], (max(len(c) - 1, 0), *theirs["transition"].shape[-2:])
        )
        wanted += [pair[t - 1][np.ix_(c[t - 1], c[t])].ravel() for t in range(1, len(c))]
        np.testing.assert_allclose(found.theta(i, w), np.concatenate(wanted), atol=1e-9)


class Single:
    """Tokens that are labelled by themselves, with labels and pairs forbidden at random."""

    def __init__(self, seed: int) -> None:
        made = Tagger(templates(WORDS), order=0, n_models=1, scheme="none")
        run = TokenFitting(made._plain(), read_source(entities(25, 3, 3), None))
        self.problem, labels, self.rng = run.problem(), run.labels, np.random.default_rng(seed)
        n = self.n = len(labels)
        table = self.table = self.rng.random((n + 2, n)) < 0.4
        forbid = {
            "start": [k for k, out in zip(labels, table[n], strict=True) if out],
            "end": [k for k, out in zip(labels, table[n + 1], strict=True) if out],
            "transition": [(labels[a], labels[b]) for a, b in np.argwhere(table[:n])],
        }
        self.bits = forbidden_bits(forbid, labels)
        self.gold = self.problem.gold_numbers
        self.free = np.full(len(self.gold), -1, dtype=np.int32)

    def best(self, w, width, gold):
        """Return the scores of all labels and the candidates, of each short sentence."""
        found = _core.best_candidates(self.problem.native, w, width, gold, self.bits, 1)
        rows, first = found.reshape(-1, width), self.problem.examples.blocks["label"].site_ptr
        for i in range(self.problem.n_examples):
            if 0 < first[i + 1] - first[i] < 5:
                at = slice(first[i], first[i + 1])
                yield self.problem.whole.scores(i, w)["label"], rows[at].tolist(), gold[at]

    def allows(self, y) -> bool:
        ends = self.table[self.n, y[0]] or self.table[self.n + 1, y[-1]]
        return not (ends or any(self.table[a, b] for a, b in itertools.pairwise(y)))

    def best_score(self, score, choices) -> float:
        """Return the score of the best allowed sequence of some labels: by enumeration."""
        every = filter(self.allows, itertools.product(*choices))
        return max((sum(score[t, k] for t, k in enumerate(y)) for y in every), default=-np.inf)


@pytest.mark.parametrize("seed", range(4))
def test_labels_are_as_likely_as_the_best_allowed_sequence(seed):
    single = Single(seed)
    w = single.rng.normal(size=single.problem.n_weights)
    every = range(single.n)
    for score, chosen, _ in single.best(w, 3, single.free):
        for t, candidates in enumerate(chosen):
            choices = [every] * len(score)
            likely = [
                single.best_score(score, [*choices[:t], [k], *choices[t + 1 :]]) for k in every
            ]
            best = np.argsort(-np.array(likely))[:3]
            if np.isfinite(np.array(likely)[best]).all():
                assert candidates == sorted(best.tolist())


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_best_allowed_sequence_is_among_the_candidates(seed, width):
    """Of scores that are often equal, with labels that do not fit each other."""
    single = Single(seed)
    w = single.rng.integers(0, 1 + seed % 3, size=single.problem.n_weights).astype(float)
    for gold in (single.free, single.gold)[: min(width, 2)]:
        for score, chosen, own in single.best(w, width, gold):
            best = single.best_score(score, [range(single.n)] * len(score))
            assert single.best_score(score, chosen) == best
            for candidates, label in zip(chosen, own.tolist(), strict=True):
                assert len(set(candidates)) == width
                assert candidates == sorted(candidates)
                assert label < 0 or label in candidates


# -- the model ------------------------------------------------------------------------------------


def is_legal(model, row) -> bool:
    """Whether labels as the model has them keep to its scheme."""
    forbid = legal_transitions(model.labels, model.training["scheme"])
    pairs = set(forbid["transition"])
    return (
        row[0] not in forbid["start"]
        and row[-1] not in forbid["end"]
        and not any(pair in pairs for pair in itertools.pairwise(row))
    )


words = st.sampled_from([*sorted({w for s in TRAIN for w, _ in s}), "new", "Other"])


@settings(max_examples=25, deadline=None)
@given(data=st.data(), sentence=st.lists(words, min_size=1, max_size=8))
def test_every_labelling_is_legal(tagger, data, sentence):
    model, given_words = tagger.model_, [[(w,) for w in sentence]]
    corpus = tagger._read_input(given_words)
    (row,) = label_numbers(model, corpus)
    assert is_legal(model, [model.labels[k] for k in row])
    for _, labels in model.inputs(corpus).kbest(5)[0]:
        assert is_legal(model, [model.labels[k] for k in labels])
    # Known labels need not be candidates, nor what has to stand beside them.
    t = data.draw(st.integers(0, len(sentence) - 1))
    known = [[None] * len(sentence)]
    known[0][t] = data.draw(st.sampled_from(tagger.classes_))
    every = legal_rows(model, len(sentence), t, known[0][t])
    if every:
        (found,) = tagger.predict(given_words, known=known)
        assert found[t] == known[0][t]
    else:
        with pytest.raises(InfeasibleError):
            tagger.predict(given_words, known=known)


def legal_rows(model, n: int, at: int, shown: str) -> bool:
    """Whether a legal sequence has a label that is written so at a token: by reachability."""
    forbid = legal_transitions(model.labels, model.training["scheme"])
    pairs = set(forbid["transition"])
    reached = set(model.labels) - set(forbid["start"])
    for t in range(n):
        if t:
            reached = {b for b in model.labels if any((a, b) not in pairs for a in reached)}
        if t == at:
            reached = {k for k in reached if model.shown[model.labels.index(k)] == shown}
    return bool(reached - set(forbid["end"]))


@pytest.mark.parametrize("scheme", ["bio", "iobes"])
def test_labels_without_a_safe_one(scheme):
    """No O and no chunks of one token: a sentence must not end where one begins."""
    rng = np.random.default_rng(0)
    sentences = []
    for _ in range(80):
        kinds = rng.integers(0, 25, size=rng.integers(1, 4))
        sentences.append(
            [(f"w{k}{i}", f"{'BII'[i]}-{chr(97 + k)}") for k in kinds for i in range(2 + k % 2)]
        )
    made = Tagger(templates(WORDS), scheme=scheme, candidates=2, n_models=1, max_iter=2)
    made.fit(sentences)
    shuffled = [[(f"w{rng.integers(25)}{rng.integers(2)}",) for _ in range(6)] for _ in range(40)]
    model, corpus = made.model_, made._read_input(shuffled)
    for row in label_numbers(model, corpus):
        assert is_legal(model, [model.labels[k] for k in row])


@pytest.mark.parametrize("scheme", ["bio", "iobes", "beginnings"])
@pytest.mark.parametrize("candidates", [1, 2, 5, 12])
def test_words_that_nothing_is_known_of(scheme, candidates):
    """All labels have the same score: those considered have to fit each other all the same."""
    made = Tagger(templates("word[0]"), scheme=scheme, order=2, candidates=candidates, n_models=1)
    made.fit(entities(150, 1, 40))
    corpus = made._read_input([[("new",)] * n for n in range(1, 9)])
    for row in label_numbers(made.model_, corpus):
        assert is_legal(made.model_, [made.model_.labels[k] for k in row])


@pytest.mark.parametrize("candidates", [0, 2])
def test_a_sentence_without_a_legal_labelling(candidates, tmp_path, capsys):
    """No blame of known labels where none are given."""
    made = Tagger(templates("word[0]"), scheme="iobes", candidates=candidates, n_models=1)
    made.fit([[(f"w{k}", f"{'BI'[k % 2]}-{'abc'[k // 2]}") for k in range(6)]] * 3)
    made.save(tmp_path / "model")
    for text, wanted in (
        ("w0\n", "which has 1 token, breaks a constraint or the model's scheme"),
        ("w0 O\n", "known label"),
    ):
        (tmp_path / "text").write_text(text)
        options = ["--known"] if "O" in text else []
        assert run(["predict", str(tmp_path / "model"), str(tmp_path / "text"), *options])
        assert wanted in capsys.readouterr().err


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("text", [WORDS, PAIRS])
def test_a_model_is_a_chain_with_all_other_labels_forbidden(scheme, text):
    made = fitted(scheme, text, candidates=5)
    model, chain = made.model_, Chain()
    corpus, n = made._read_input([[(w,) for w, _ in s] for s in TEST[:15]]), len(made.model_.labels)
    lists, features = model.inputs(corpus).kbest(4), model.core.features_of
    # At a high temperature all that is allowed has some probability.
    allowed, tables = (label_marginals(model, corpus, t) for t in (50.0, 2.0))
    forbid = legal_transitions(model.labels, scheme) if scheme else {}
    index = {label: k for k, label in enumerate(model.labels)}
    mask = np.zeros((n, n))
    for a, b in forbid.get("transition", ()):
        mask[index[a], index[b]] = -np.inf
    boundary = {}
    for name in ("start", "end"):
        boundary[name] = np.array(model.arrays[name])
        boundary[name][[index[k] for k in forbid.get(name, ())]] = -np.inf
    plain = np.zeros(n * n)
    for code, x in model.window_scores(1).items():
        plain[code] = x
    for s in range(len(corpus)):
        parts = features(corpus.core, s, False)
        label = np.array([np.sum([w for _, w in token], axis=0) for token in parts])
        pair = np.tile(plain.reshape(n, n) + mask, (len(label) - 1, 1, 1))
        if text == PAIRS:
            for t, found in enumerate(features(corpus.core, s, True)):
                pair[t] += np.sum([w for _, w in found], axis=0).reshape(n, n)
        scores = {"label": np.where(allowed[s] > 0, label, -np.inf)}
        scores |= {"transition": pair, **boundary}
        theirs = chain.kbest(4, **scores)
        np.testing.assert_allclose([x for x, _ in lists[s]], [x for x, _ in theirs], atol=1e-4)
        wanted = chain.marginals(temperature=2.0, **scores)["label"]
        np.testing.assert_allclose(tables[s], wanted, atol=1e-4)


@pytest.mark.parametrize("text", [WORDS, PAIRS])
@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_files(text, precision, tmp_path):
    made = fitted("iobes", text)
    made.save(tmp_path / "model", precision)
    again, corpus = load(tmp_path / "model"), [[(w,) for w, _ in s] for s in TEST]
    if precision == "float32":
        assert again.predict(corpus) == made.predict(corpus)
    rows = label_numbers(again.model_, again._read_input(corpus))
    assert all(is_legal(again.model_, [again.model_.labels[k] for k in row]) for row in rows)
    for row, labels in zip(
        explained_decisions(again, corpus[:4]), again.predict(corpus[:4]), strict=True
    ):
        assert all(d.label == labels[d.position] for d in row)


@pytest.mark.parametrize("text", [WORDS, PAIRS])
@pytest.mark.parametrize("learner", ["perceptron", "crf", "svm"])
def test_learners_find_the_chunks(text, learner):
    options = {"max_iter": 8} if learner == "perceptron" else {"max_iter": 40, "tol": 0.05}
    found = fitted("iobes", text, candidates=12, learner=learner, **options)
    assert found.evaluate(TEST)["f1"] > 0.8


def test_when_chunks_of_many_types_have_candidates():
    """All labels of a scheme are considered by chains of order 1, whose steps are cheap enough."""
    assert fitted("iobes", candidates=None).model_.candidates == 0
    assert fitted("iobes", candidates=None, order=2).model_.candidates == 12


def test_a_forged_table_of_what_is_forbidden(tagger, tmp_path):
    from structlearn.io.container import Tensor, read_container, write_container

    tagger.save(tmp_path / "model")
    description, tensors = read_container(tmp_path / "model")
    for wrong in (Tensor("U8", b"\xff"), Tensor("F64", np.zeros(8))):
        write_container(tmp_path / "model", description, {**tensors, "forbidden": wrong})
        with pytest.raises(Exception, match="forbidden"):
            load(tmp_path / "model")
