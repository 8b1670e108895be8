"""Taggers learn under hard constraints: gold that breaks one, what is learned, files, commands."""

import itertools

import numpy as np
import pytest

import structlearn
from structlearn.cli import run
from structlearn.exceptions import FileError
from structlearn.tasks import SegmentTagger, Tagger

LEGAL = "a\tX\nb\tY\nc\tZ\n\na\tX\na\tX\n\n"
BROKEN = "a\tX\nb\tY\na\tX\n\n"


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(LEGAL * 3 + BROKEN + LEGAL + BROKEN)
    return path


def runs(labels):
    return [label for label, _ in itertools.groupby(labels)]


def test_gold_that_breaks_a_constraint_is_named_by_file_and_line(corpus):
    with pytest.raises(FileError) as caught:
        Tagger(constraints="contiguous()").fit(str(corpus))
    assert caught.value.path == str(corpus)
    # The third token of the first broken sentence, after three times seven lines.
    assert caught.value.line == 24
    assert "2 of 10 sentences" in str(caught.value)
    assert "line 24 (chunk 'X' in one run), line 35" in str(caught.value)


def test_sentences_without_lines_are_named_by_number():
    y = [["X", "Y"], ["X", "Y", "X"]]
    X = [[("a",)] * len(labels) for labels in y]
    with pytest.raises(FileError, match=r"1 of 2 sentences .*: sentence 1 \("):
        Tagger(constraints="contiguous()").fit(X, y)


@pytest.mark.filterwarnings("ignore::structlearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learner", ["perceptron", "crf", "svm", "adagrad", "arow", "hmm"])
@pytest.mark.parametrize("order", [1, 2])
def test_dropped_sentences_leave_what_the_others_teach(corpus, tmp_path, learner, order):
    legal = tmp_path / "legal.txt"
    legal.write_text(LEGAL * 4)
    settings = {"learner": learner, "order": order, "constraints": "contiguous()"}
    with pytest.warns(UserWarning, match="2 of 10 sentences break a constraint"):
        dropped = Tagger(**settings, illegal="drop").fit(str(corpus))
    same = Tagger(**settings).fit(str(legal))
    assert dropped.model_.training["illegal"] == 2
    assert "illegal" not in same.model_.training
    assert dict(dropped.model_.arrays).keys() == dict(same.model_.arrays).keys()
    for name, array in same.model_.arrays.items():
        assert bytes(dropped.model_.arrays[name]) == bytes(array), name
    for y in dropped.predict([["a", "b", "a", "c", "a"], ["b", "a", "b"]]):
        assert len(set(y)) == len(runs(y))


def test_all_sentences_cannot_be_dropped(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(BROKEN)
    with pytest.raises(FileError, match="would leave out all sentences"):
        Tagger(constraints="contiguous()", illegal="drop").fit(str(path))


def test_a_crf_learns_the_probabilities_of_legal_outputs(corpus):
    """Against enumeration: its objective is the log loss over legal outputs."""
    with pytest.warns(UserWarning, match="break a constraint"):
        tagger = Tagger(
            learner="crf", constraints="contiguous()", illegal="drop", tol=1e-7, max_iter=1000
        ).fit(str(corpus))
    sentence = ["a", "b", "a"]
    legal = [list(y) for y in itertools.product("XYZ", repeat=3) if len(set(y)) == len(runs(y))]
    total = tagger.predict_proba([sentence] * len(legal), legal)
    assert np.isclose(sum(total), 1.0)
    free = Tagger(learner="crf", tol=1e-7, max_iter=1000)
    free.fit([[("a",), ("b",), ("c",)], [("a",), ("a",)]] * 4,
             [["X", "Y", "Z"], ["X", "X"]] * 4)  # fmt: skip
    # Legal outputs are fewer: what is learned differs, and the log loss is smaller.
    assert tagger.history_[-1]["objective"] < free.history_[-1]["objective"] - 1e-3
    one = tagger.predict_marginals([sentence])
    two = tagger.predict_marginals([sentence, sentence])
    assert one[0] == two[1]  # one sentence goes the same way


def test_a_crf_of_many_labels_reaches_its_proven_gap():
    """Its sums are certified: the product of all automata has 3^29 states."""
    rng = np.random.default_rng(0)
    names = [f"L{chr(97 + k // 6)}{chr(97 + k % 6)}" for k in range(29)]
    X, y = [], []
    for _ in range(100):
        parts = rng.permutation(29)[: int(rng.integers(2, 5))]
        y.append([names[k] for k in np.repeat(parts, rng.integers(1, 3, size=len(parts)))])
        X.append([(label,) for label in y[-1]])
    tagger = Tagger(learner="crf", constraints="contiguous()", C=30.0, tol=1e-3).fit(X, y)
    last = tagger.history_[-1]
    assert last["gap"] <= 1e-3 * last["objective"]
    assert 0 < last["bound"] <= 1e-2
    assert tagger.predict(X) == y


def test_partial_labels_are_completed_legally(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(LEGAL * 3 + "a\tX\nb\t_\na\tX\n\n")
    tagger = Tagger(learner="crf", constraints="contiguous()").fit(str(path))
    assert tagger.predict([["a", "b", "c"]]) == [["X", "Y", "Z"]]
    path.write_text(LEGAL * 3 + "a\tX\nb\tY\na\t_\nc\tX\n\n")
    with pytest.raises(FileError, match="no labels for the unknown ones") as caught:
        Tagger(learner="crf", constraints="contiguous()").fit(str(path))
    assert caught.value.line == 22


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("learner", ["perceptron", "crf"])
def test_candidates_are_searched_under_constraints(learner, order):
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(40):
        labels = np.repeat(rng.permutation(6)[:3], rng.integers(1, 3, size=3))
        X.append([(f"w{k}",) if rng.random() < 0.7 else ("w",) for k in labels])
        y.append([f"L{k}" for k in labels])
    settings = {"learner": learner, "order": order, "candidates": 3, "random_state": 0}
    tagger = Tagger(constraints="contiguous()", **settings).fit(X, y)
    free = Tagger(**settings).fit(X, y)
    words = [[("w",), ("w1",), ("w",), ("w2",), ("w1",), ("w",)]] * 2
    for found in tagger.predict(words):
        assert len(set(found)) == len(runs(found))
    assert any(
        bytes(array) != bytes(free.model_.arrays[name])
        for name, array in tagger.model_.arrays.items()
    )


def test_labels_are_those_of_the_file_where_others_are_learned(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("a\tB-X\nb\tI-X\nc\tO\n\n" * 3 + "a\tB-X\nc\tO\na\tB-X\nb\tI-X\n\n")
    settings = {"scheme": "iobes", "learner": "crf"}
    with pytest.raises(FileError, match=r"line 15 .at most 1 of chunk 'X'"):
        Tagger(constraints="at_most(1, Chunk(X))", **settings).fit(str(path))
    tagger = Tagger(constraints="at_most(2, B-X)", **settings).fit(str(path))
    assert {"S-X", "E-X"} & set(tagger.model_.labels)
    tagger.save(tmp_path / "model")
    found = structlearn.load(tmp_path / "model").predict([["a", "c", "a", "c", "a"]])
    assert found[0].count("B-X") <= 2


def test_segments_are_learned_under_constraints(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("a\tB-X\nb\tI-X\nc\tO\n\n" * 3 + "a\tB-X\nc\tO\na\tB-X\nb\tI-X\n\n")
    with pytest.raises(FileError, match=r"line 15: 1 of 4 sentences"):
        SegmentTagger(constraints="at_most(1, X)").fit(str(path))
    with pytest.warns(UserWarning, match="left out"):
        tagger = SegmentTagger(constraints="at_most(1, X)", illegal="drop").fit(str(path))
    assert tagger.predict([["a", "c", "a", "b"]])[0].count("B-X") <= 1
    tagger.save(tmp_path / "model")
    assert structlearn.load(tmp_path / "model").model_.constraints == ["at_most(1, 'X')"]


def test_a_stream_learns_what_a_file_teaches(corpus):
    settings = {"learner": "crf", "constraints": "contiguous()", "illegal": "drop"}
    with pytest.warns(UserWarning, match="left out"):
        read = Tagger(**settings).fit(str(corpus))
    with pytest.warns(UserWarning, match="left out"):
        streamed = Tagger(**settings).fit_stream(str(corpus))
    words = [["a", "b", "a"], ["c", "a"]]
    assert streamed.predict(words) == read.predict(words)


@pytest.mark.filterwarnings("ignore:.*break a constraint")
def test_the_command_takes_constraints_and_files_of_them(corpus, tmp_path, capsys):
    model, free, text = tmp_path / "model", tmp_path / "free", tmp_path / "input.txt"
    text.write_text("a\nb\na\n\n")
    train = ["train", "tagger", str(corpus), "--learner", "crf", "--quiet", "--model"]
    assert run([*train, str(model), "--constraint", "contiguous()"]) == 1
    assert "line 24" in capsys.readouterr().err
    assert run([*train, str(model), "--constraint", "contiguous()", "--illegal", "drop"]) == 0
    assert run([*train, str(free)]) == 0
    assert run(["inspect", str(model)]) == 0
    shown = capsys.readouterr().out
    assert "contiguous() (3 automata of 3 + 3 + 3 states)" in shown
    assert "2 sentences that break a constraint" in shown

    def labels(*options):
        assert run(["predict", *map(str, options), str(text)]) == 0
        return [line.split("\t")[1] for line in capsys.readouterr().out.splitlines() if line]

    assert labels(free) == ["X", "Y", "X"]
    found = labels(model)
    assert len(set(found)) == len(runs(found))
    assert labels(free, "--constraint", "at_most(0, Y)").count("Y") == 0
    rules = tmp_path / "rules.txt"
    rules.write_text("# two rules\nexactly(1, X)\nrequire(Label(Z, at=-1))\n")
    found = labels(free, "--constraints", rules)
    assert found.count("X") == 1
    assert found[-1] == "Z"
    assert run(["predict", str(free), str(text), "--constraint", "matches(X)"]) == 1
    told = capsys.readouterr().err
    assert "line 1: every labelling of this sentence, which has 3 tokens, breaks a const" in told


def test_the_command_names_the_place_of_an_error(corpus, tmp_path, capsys):
    model, rules = tmp_path / "model", tmp_path / "rules.txt"
    assert run(["train", "tagger", str(corpus), "--quiet", "--model", str(model)]) == 0
    rules.write_text("contiguous()\nmatches('X (Y')\n")
    assert run(["predict", str(model), str(corpus), "--constraints", str(rules)]) == 1
    assert "rules.txt, line 2: this group is not closed" in capsys.readouterr().err
    assert run(["predict", str(model), str(corpus), "--constraint", "at_most(X)"]) == 1
    told = capsys.readouterr().err
    assert "--constraint 'at_most(X)', column 1" in told
    assert "␊" not in told


def test_a_model_that_training_starts_from_keeps_its_constraints(tmp_path):
    path = tmp_path / "legal"
    path.write_text("a\tX\nb\tX\n\na\tX\nb\tY\n\n")
    before = Tagger(constraints="contiguous()").fit(str(path))
    on = Tagger().fit(str(path), start=before)
    assert on.model_.constraints == before.model_.constraints != []
    assert Tagger(constraints=[]).fit(str(path), start=before).model_.constraints == []
    broken = tmp_path / "broken"
    broken.write_text("a\tX\nb\tY\na\tX\n\n")
    with pytest.raises(FileError, match="line 3: 1 of 1"):
        Tagger().fit(str(broken), start=before)
