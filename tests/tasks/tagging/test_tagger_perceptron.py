"""The native perceptron of taggers is the perceptron of the estimators, weight by weight."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import StructuredPerceptron
from structlearn.cli import run
from structlearn.fitting.dev_monitor import Watch
from structlearn.metrics import legal_transitions, to_iobes
from structlearn.tasks import Tagger
from structlearn.tasks.tagging.token_problem import TokenProblem
from structlearn.text import FeatureTemplates, read_corpus
from tests.tasks.tagging.tagger_data import (
    TEMPLATES,
    chunked,
    column_text,
    feature_lists,
    labels_of,
    same_model,
    table_of,
    tagged,
    weights_by_name,
)


def templates():
    return FeatureTemplates.parse(TEMPLATES)


def agree(tagger, estimator):
    """Whether all weights are the same; a model keeps those of features as float32."""
    model = tagger.model_
    assert model.labels == estimator.classes_.tolist()
    coef = estimator.coef_
    names = estimator.feature_names_["label"]
    expected = {
        (names[f], model.labels[k]): float(np.float32(coef["label"][k, f]))
        for k, f in zip(*np.nonzero(coef["label"]), strict=True)
    }
    assert weights_by_name(model) == expected
    assert len(expected) > 0
    for table, block in (("start", "start"), ("end", "end"), ("transition1", "transition")):
        ours = table_of(model, table)
        finite = np.isfinite(ours)
        np.testing.assert_array_equal(ours[finite], coef[block][finite])
    return True


def estimator_of(sentences, labels=None, **options):
    options.setdefault("max_iter", 4)
    estimator = StructuredPerceptron(shuffle=False, **options)
    return estimator.fit(feature_lists(sentences), labels or labels_of(sentences))


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("passes", [1, 4])
def test_tags(average, passes):
    sentences = tagged(60)
    tagger = Tagger(templates(), shuffle=False, average=average, max_iter=passes).fit(sentences)
    assert agree(tagger, estimator_of(sentences, average=average, max_iter=passes))
    assert len(tagger.history_) == passes


@pytest.mark.parametrize(
    "options", [{"min_count": 2}, {"min_count": 4}, {"all_possible_states": True}]
)
def test_which_weights_there_are(options):
    sentences = tagged(40, seed=1)
    tagger = Tagger(templates(), shuffle=False, max_iter=3, **options).fit(sentences)
    renamed = options
    assert agree(tagger, estimator_of(sentences, max_iter=3, **renamed))


@pytest.mark.parametrize("scheme", ["bio", "iobes"])
def test_constraints(scheme):
    sentences = chunked(60)
    tagger = Tagger(templates(), shuffle=False, max_iter=4, scheme=scheme).fit(sentences)
    labels = labels_of(sentences)
    if scheme == "iobes":
        labels = [to_iobes(sentence) for sentence in labels]
    forbidden = legal_transitions(sorted({k for y in labels for k in y}), scheme)
    assert agree(tagger, estimator_of(sentences, labels, forbid=forbidden))
    # Where the estimator has a mask the model has −∞, and nowhere else.
    names = tagger.model_.labels
    expected = {("start", k) for k in forbidden["start"]} | {("end", k) for k in forbidden["end"]}
    expected |= set(forbidden["transition"])
    found = {
        (table, names[k])
        for table in ("start", "end")
        for k in np.flatnonzero(table_of(tagger.model_, table) == -np.inf)
    }
    never = np.argwhere(table_of(tagger.model_, "transition1") == -np.inf)
    assert found | {(names[a], names[b]) for a, b in never} == expected


@settings(max_examples=40, deadline=None)
@given(
    n_labels=st.sampled_from([1, 2, 7, 8, 9, 30, 70]),
    n_words=st.integers(1, 12),
    seed=st.integers(0, 10**6),
    all_possible_states=st.booleans(),
)
def test_random_corpora(n_labels, n_words, seed, all_possible_states):
    """Rows of all lengths: features with one label and with all, more labels than a word of bits.

    Both forms in which the learner keeps a feature are met: with a weight for every label, and as
    a list of the few it was seen with.
    """
    rng = np.random.default_rng(seed)
    sentences = [
        [(f"w{rng.integers(n_words)}", f"L{rng.integers(n_labels):02}") for _ in range(length)]
        for length in rng.integers(1, 9, size=12)
    ]
    if len({k for s in sentences for _, k in s}) == 1:
        sentences.append([("w0", "other"), ("w1", "other")])
    tagger = Tagger(
        templates(), shuffle=False, max_iter=3, all_possible_states=all_possible_states
    ).fit(sentences)
    assert agree(
        tagger, estimator_of(sentences, max_iter=3, all_possible_states=all_possible_states)
    )


def test_the_order_of_sentences_is_shuffled_by_the_seed():
    sentences = tagged(40)
    first, again, other, plain = (
        Tagger(templates(), max_iter=2, **options).fit(sentences).model_
        for options in (
            {"random_state": 1},
            {"random_state": 1},
            {"random_state": 2},
            {"shuffle": False},
        )
    )
    assert same_model(first, again)
    assert not same_model(first, other)
    assert not same_model(first, plain)


def test_shuffled_passes_are_passes_over_all_sentences():
    """With shuffling each pass sees every sentence once: a last pass without errors ends it."""
    sentences = tagged(30)
    tagger = Tagger(templates(), max_iter=50).fit(sentences)
    assert tagger.history_[-1]["updates"] == 0
    assert tagger.history_[-2]["updates"] > 0
    for record in tagger.history_:
        assert record["updates"] <= len(sentences)
    assert Tagger(templates(), max_iter=50, average=False).fit(sentences).score(sentences) == 1.0


def test_passes_that_need_not_be_made_count_in_the_average():
    """Once a pass has no errors the others would have none; the average is that of all."""
    sentences = tagged(25)
    tagger = Tagger(templates(), shuffle=False, max_iter=30).fit(sentences)
    assert len(tagger.history_) < 30
    assert agree(tagger, estimator_of(sentences, max_iter=30))


@pytest.mark.parametrize(
    "options", [{}, {"average": False}, {"shuffle": False}, {"n_models": 2}, {"max_iter": 30}]
)
@pytest.mark.parametrize("scheme", ["none", "iobes"])
def test_whole_numbers_are_the_general_way(options, scheme, monkeypatch):
    """The general learner over the same problem: losses, updates and bits are the same."""
    sentences = chunked(40)
    options = {"max_iter": 4, "scheme": scheme, "all_possible_states": 3, **options}
    fast = Tagger(templates(), **options).fit(sentences)
    monkeypatch.setattr(TokenProblem, "suits_integers", False)
    general = Tagger(templates(), **options).fit(sentences)
    for record in (*fast.history_, *general.history_):
        record.pop("seconds")
    assert fast.history_ == general.history_
    assert same_model(fast.model_, general.model_)


@pytest.mark.parametrize(
    "options", [[], ["--scheme", "iobes"], ["--dev", "--n-models", "3"], ["--hash-bits", "10"]]
)
def test_nothing_of_it_needs_numpy(options, tmp_path):
    """The file is the same, bit by bit, where NumPy is not there."""
    train, features = tmp_path / "train.txt", tmp_path / "features.txt"
    train.write_text(column_text(chunked(40)))
    features.write_text(TEMPLATES)
    if "--dev" in options:
        options = ["--dev", str(train), *options[1:]]
    command = ["train", "tagger", str(train), "--features", str(features), "--max-iter", "3"]
    command += [*options, "--quiet", "--model"]
    program = (
        "import sys; sys.modules['numpy'] = None\n"
        "from structlearn.cli import run\n"
        "sys.exit(run(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *command, str(tmp_path / "without")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert run([*command, str(tmp_path / "with")]) == 0
    assert (tmp_path / "without").read_bytes() == (tmp_path / "with").read_bytes()


def test_from_a_file_a_corpus_and_lists(tmp_path):
    sentences = tagged(40)
    path = tmp_path / "train.txt"
    path.write_text(column_text(sentences))
    models = [
        Tagger(templates(), max_iter=2).fit(source).model_
        for source in (sentences, path, str(path), read_corpus(path))
    ]
    assert all(same_model(models[0], model) for model in models[1:])


@pytest.mark.parametrize("n_labels", [15, 16, 17, 33, 49, 64, 65, 130])
def test_any_number_of_labels(n_labels, monkeypatch):
    """Rows of weights are added in vectors: every number of these, and of labels over them."""
    rng = np.random.default_rng(n_labels)
    sentences = [
        [(f"w{rng.integers(9)}", f"l{k}") for k in rng.integers(n_labels, size=n)]
        for n in rng.integers(1, 9, size=60)
    ]
    options = {"max_iter": 3, "all_possible_states": 2, "candidates": 0}
    fast = Tagger(templates(), **options).fit(sentences)
    monkeypatch.setattr(TokenProblem, "suits_integers", False)
    general = Tagger(templates(), **options).fit(sentences)
    assert [r["loss"] for r in fast.history_] == [r["loss"] for r in general.history_]
    assert same_model(fast.model_, general.model_)


def test_mean_of_several_runs():
    sentences = tagged(40)
    both = Tagger(templates(), n_models=3, random_state=5, max_iter=2).fit(sentences).model_
    runs = [
        Tagger(templates(), random_state=seed, max_iter=2).fit(sentences).model_
        for seed in (5, 6, 7)
    ]
    for table in ("start", "end", "transition1"):
        mean = sum(table_of(run, table) for run in runs) / 3
        np.testing.assert_allclose(table_of(both, table), mean, rtol=1e-12, atol=1e-12)
    weights = [weights_by_name(run) for run in runs]
    keys = {key for w in weights for key in w}
    mean = {key: sum(w.get(key, 0.0) for w in weights) / 3 for key in keys}
    found = weights_by_name(both)
    for key in {*mean, *found}:
        assert found.get(key, 0.0) == pytest.approx(mean.get(key, 0.0), rel=1e-6, abs=1e-6)
    assert len(found) > max(map(len, weights)) / 2


@pytest.mark.parametrize("dev", [False, True])
def test_runs_side_by_side_are_those_one_after_another(dev, tmp_path, capsys):
    sentences, held_out = tagged(40), tagged(15, seed=1) if dev else None
    models, histories = [], []
    for threads in (1, 2, 5):
        options = {"n_models": 3, "max_iter": 4, "patience": 2, "verbose": 1, "n_jobs": threads}
        tagger = Tagger(templates(), **options).fit(sentences, dev=held_out)
        tagger.save(tmp_path / "model")
        models.append((tmp_path / "model").read_bytes())
        histories.append([{k: v for k, v in r.items() if k != "seconds"} for r in tagger.history_])
        shown = capsys.readouterr().err
        assert "run 3/3  pass   1" in shown
        assert "run 4/" not in shown
    assert models[0] == models[1] == models[2]
    assert histories[0] == histories[1] == histories[2]


@pytest.mark.parametrize("threads", [1, 2])
def test_interrupt_keeps_the_runs_that_are_complete(threads, monkeypatch):
    """Ctrl-C in the second of two runs: the model is that of the first."""
    sentences = tagged(40)
    look = Watch.__call__

    def interrupted(self, record):
        number = record["iteration"]
        if self.run == 2 and number == 2:
            if threads == 1:
                raise KeyboardInterrupt
            first_is_done.wait(20)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            time.sleep(0.5)
        stop = look(self, record)
        if self.run == 1 and number == 3:
            threading.Timer(0.3, first_is_done.set).start()
        return stop

    first_is_done = threading.Event()
    monkeypatch.setattr(Watch, "__call__", interrupted)
    tagger = Tagger(templates(), n_models=2, max_iter=3, n_jobs=threads)
    with pytest.raises(KeyboardInterrupt):
        tagger.fit(sentences)
    monkeypatch.undo()
    one = Tagger(templates(), max_iter=3).fit(sentences)
    assert weights_by_name(tagger.model_) == weights_by_name(one.model_)
    assert tagger.model_.training["n_models"] == 1


def test_no_number_of_jobs_is_one(tmp_path):
    tagger = Tagger(templates(), max_iter=1, n_jobs=None).fit(tagged(10))
    assert tagger.predict(tagged(5)) == tagger.set_params(n_jobs=1).predict(tagged(5))
    tagger.n_jobs = 0
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number other than 0"):
        tagger.predict(tagged(5))
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number other than 0"):
        tagger.fit(tagged(5))


def test_all_cores():
    one, all_cores = (Tagger(templates(), max_iter=2, n_jobs=n).fit(tagged(30)) for n in (1, -1))
    assert same_model(one.model_, all_cores.model_)
    assert all_cores.predict(tagged(5)) == one.predict(tagged(5))
