"""Labels of which one is right, PER|ORG, and labels that nobody knows, in training files."""

import json
import random
import warnings

import numpy as np
import pytest

from structlearn import cli, load
from structlearn.estimators import CRF
from structlearn.exceptions import FileError
from structlearn.tasks import Tagger
from structlearn.text import Corpus, FeatureTemplates

LABELS = ("A", "B", "C")
WORD = FeatureTemplates.parse("word")


def drawn(n=40, seed=0):
    """Return words with labels, some of them None, some sets that have the right one."""
    rng = random.Random(seed)
    truth = {word: rng.choice(LABELS) for word in "pqrstu"}
    sentences = []
    for _ in range(n):
        sentence = []
        for word in rng.choices("pqrstu", k=rng.randint(2, 6)):
            right = truth[word] if rng.random() < 0.8 else rng.choice(LABELS)
            draw = rng.random()
            other = rng.choice([k for k in LABELS if k != right])
            label = None if draw < 0.2 else {right, other} if draw < 0.5 else right
            sentence.append((word, label))
        sentences.append(sentence)
    return sentences


def cell(label, mark="|"):
    if isinstance(label, set):
        return mark.join(sorted(label))
    return "?" if label is None else label


def rows_of(sentences, mark="|"):
    return [[(word, cell(label, mark)) for word, label in s] for s in sentences]


def test_files_learn_what_estimators_do():
    """The same optimum as CRF, which is given sets and None."""
    sentences, options = drawn(), {"max_iter": 500, "tol": 1e-9, "all_possible_states": True}
    tagger = Tagger(WORD, "crf", sets="|", unknown="?", **options).fit(rows_of(sentences))
    X = [[{"w=" + word: 1.0} for word, _ in s] for s in sentences]
    crf = CRF(**options).fit(X, [[label for _, label in s] for s in sentences])
    assert tagger.classes_ == list(LABELS) == list(crf.classes_)
    assert tagger.history_[-1]["objective"] == pytest.approx(crf.objective_, rel=1e-8)
    words = [[word for word, _ in s] for s in sentences]
    for ours, theirs in zip(tagger.predict_marginals(words), crf.predict_marginals(X), strict=True):
        np.testing.assert_allclose([[row[k] for k in LABELS] for row in ours], theirs, atol=1e-4)
    blind = [[(w, "?" if isinstance(k, set) else cell(k)) for w, k in s] for s in sentences]
    without = Tagger(WORD, "crf", unknown="?", **options).fit(blind)
    assert without.history_[-1]["objective"] != pytest.approx(crf.objective_, rel=1e-3)


@pytest.mark.parametrize("learner", ["perceptron", "svm", "passive-aggressive", "adagrad"])
def test_words_that_have_sets_alone_get_one_of_their_labels(learner):
    rows = [[("x", "A|B"), ("y", "B"), ("z", "C")], [("z", "C"), ("y", "B"), ("w", "A")]] * 10
    tagger = Tagger(WORD, learner, sets="|", max_iter=10, random_state=0).fit(rows)
    assert tagger.classes_ == list(LABELS)
    found = tagger.predict([["x", "y", "z"], ["z", "y", "w"]])
    assert found[0][0] in "AB"
    assert (found[0][1:], found[1]) == (["B", "C"], ["C", "B", "A"])


def test_a_label_may_occur_in_sets_alone():
    rows = [[("x", "A|B"), ("y", "C")]] * 5
    assert Tagger(WORD, "crf", sets="|", max_iter=5).fit(rows).classes_ == list(LABELS)


def test_every_way_to_read_them_gives_one_model(tmp_path):
    rows = rows_of(drawn())
    (tmp_path / "x.tsv").write_text(
        "\n".join("".join(f"{w}\t{k}\n" for w, k in sentence) for sentence in rows)
    )
    (tmp_path / "x.csv").write_text(
        "sentence,word,tag\n"
        + "".join(f"{n},{w},{k}\n" for n, sentence in enumerate(rows) for w, k in sentence)
    )
    (tmp_path / "x.jsonl").write_text(
        "".join(
            json.dumps(dict(zip(("tokens", "tags"), zip(*sentence, strict=True), strict=True)))
            + "\n"
            for sentence in rows
        )
    )
    options = {"learner": "crf", "max_iter": 5, "sets": "|", "unknown": "?"}
    made = [Tagger(WORD, **options).fit(tmp_path / f"x.{end}") for end in ("tsv", "csv", "jsonl")]
    made += [Tagger(WORD, **options).fit(rows), Tagger(WORD, **options).fit(rows_of(drawn(), "|"))]
    stream = Tagger(WORD, **options).fit_stream(tmp_path / "x.tsv")
    assert stream.classes_ == list(LABELS)
    words = [[w for w, _ in s] for s in rows]
    probabilities = [tagger.predict_marginals(words) for tagger in made]
    assert all(one == probabilities[0] for one in probabilities)
    slashed = Tagger(WORD, **{**options, "sets": " or "}).fit(rows_of(drawn(), " or "))
    assert slashed.predict_marginals(words) == probabilities[0]


def test_scores_leave_them_out(tmp_path, capfd):
    sentences = drawn()
    rows, dev = rows_of(sentences), rows_of(drawn(seed=3))
    tagger = Tagger(WORD, "crf", max_iter=5, sets="|", unknown="?").fit(rows, dev=dev)
    tagger.save(tmp_path / "m.model")
    tagger = load(tmp_path / "m.model")
    known = sum(isinstance(label, str) for s in sentences for _, label in s)
    assert tagger.evaluate(rows)["tokens"] == known
    assert tagger.calibration_.n_parts == sum(
        isinstance(k, str) for s in drawn(seed=3) for _, k in s
    )
    assert all(k in (None, *LABELS) for one in tagger.mistakes(rows) for k in one.gold)
    file = tmp_path / "x.tsv"
    Corpus.from_sentences(rows).write(file)
    assert cli.run(["evaluate", str(tmp_path / "m.model"), str(file), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["tokens"] == known


def test_labels_in_iobes_stand_for_those_of_the_set():
    corpus = Corpus.from_sentences(
        [[("a", "B-X|B-Y"), ("b", "I-X"), ("c", "O|I-X"), ("d", "S-X|O"), ("e", "_|O")]]
    )
    opened = corpus.with_sets(1, "|", "_")
    assert opened.column(1) == [["_", "I-X", "_", "_", "_"]]
    assert opened.core.labels_of_sets == ["B-X", "B-Y", "O", "I-X", "S-X", "O"]
    iobes = opened.in_iobes(1, "_")
    assert iobes.core.labels_of_sets == [
        "B-X", "S-X", "B-Y", "S-Y", "O", "I-X", "E-X", "S-X", "O"
    ]  # fmt: skip
    assert corpus.column(1)[0][0] == "B-X|B-Y"
    twice = Corpus.from_sentences([[("z", "O")], *([list(corpus[0])] * 2)])
    part = twice.with_sets(1, "|", "_").subset([2])
    assert part.core.labels_of_sets == opened.core.labels_of_sets


def test_chunks_of_sets_are_learned_in_every_scheme():
    rows = [[("Ann", "B-P|B-Q"), ("Lee", "I-P"), ("is", "O"), ("Bo", "_"), ("Q", "B-Q")]] * 12
    for scheme in ("none", "bio", "iobes", "beginnings"):
        tagger = Tagger(WORD, "crf", scheme=scheme, sets="|", max_iter=20).fit(rows)
        assert tagger.predict([["Ann", "Lee", "is"]]) == [["B-P", "I-P", "O"]]


def test_what_looks_like_them_is_said():
    sentences = rows_of(drawn())
    with pytest.warns(UserWarning, match="taken for a label") as told:
        tagger = Tagger(WORD, max_iter=1).fit(sentences)
    assert " tokens, is taken for a label like others" in str(told[0].message)
    assert "A|B" in tagger.classes_
    assert len(told) == 2
    assert 'say so: sets="|"' in str(told[1].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Tagger(WORD, max_iter=1, sets="|", unknown="?").fit(sentences)
        Tagger(WORD, max_iter=1).fit([[("?", "?"), ("w", "N"), ("v", "N|M")]])


@pytest.mark.parametrize(
    ("label", "options", "message"),
    [
        ("A|", {}, "line 1: 'A|' is no set of labels: one of them is empty"),
        ("A|B", {"learner": "hmm"}, "a hidden Markov model counts single labels"),
        ("A|B", {"target": [1, 2]}, "sets of labels are for one target"),
        ("A|B", {"candidates": 2}, "does not go with unknown labels"),
    ],
)
def test_what_cannot_be(tmp_path, label, options, message):
    path = tmp_path / "x.tsv"
    path.write_text(f"x\t{label}\ny\tC\nz\tA\n\n")
    features = "auto" if "learner" in options else WORD
    tagger = Tagger(**{"features": features, "sets": "|", **options})
    with pytest.raises((FileError, ValueError)) as error:
        tagger.fit(path)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("label", "message"),
    [(None, 'a label that nobody knows is "_"'), (["A", "B"], 'are one string, "A|B"')],
)
def test_json_has_them_as_strings(tmp_path, label, message):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"tokens": ["x", "y"], "tags": ["A", label]}) + "\n")
    with pytest.raises(FileError) as error:
        Tagger(WORD).fit(path)
    assert message in str(error.value)
