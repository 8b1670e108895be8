"""Unknown gold labels are left out of every score: counted by hand over what is known."""

import json
import math
import random

import pytest

from structlearn import cli
from structlearn.datasets import make_treebank
from structlearn.estimators import CRF
from structlearn.metrics import (
    attachment_interval,
    bootstrap_interval,
    chunk_report,
    chunks,
    confusion,
    randomization_test,
    reliability,
    token_accuracy,
)
from structlearn.metrics.alignment import aligned_scores
from structlearn.metrics.attachment import attachment_report
from structlearn.tasks import DependencyParser, SegmentTagger, Tagger
from structlearn.text import Corpus, FeatureTemplates

from .pipeline.small_treebank import treebank

BANK = make_treebank(140, random_state=0)
TAGS = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
CHUNKS = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]
#: It makes mistakes, right and wrong tokens alike among those that are hidden.
WEAK = FeatureTemplates.parse("suffix(word, 1)")


def hidden(sentences, unknown="_", share=0.4, seed=0):
    """Return sentences some of whose labels are unknown, and their labels, None there."""
    rng = random.Random(seed)
    rows, gold = [], []
    for sentence in sentences:
        known = [rng.random() > share for _ in sentence]
        gold.append([t[-1] if k else None for t, k in zip(sentence, known, strict=True)])
        rows.append(
            [(*t[:-1], t[-1] if k else unknown) for t, k in zip(sentence, known, strict=True)]
        )
    return rows, gold


def known_pairs(gold, predicted):
    rows = zip(gold, predicted, strict=True)
    return [(a, b) for g, p in rows for a, b in zip(g, p, strict=True) if a is not None]


@pytest.fixture(scope="module")
def tagger():
    return Tagger(WEAK, "crf", max_iter=20).fit(TAGS[:60])


@pytest.fixture(scope="module")
def chunker():
    return Tagger("chunk", max_iter=1, n_models=1).fit(CHUNKS[:30])


def test_tags(tagger):
    rows, gold = hidden(TAGS[100:])
    pairs = known_pairs(gold, tagger.predict(rows))
    accuracy = sum(a == b for a, b in pairs) / len(pairs)
    found = tagger.evaluate(rows, intervals=True, against=tagger)
    assert 0.2 < found["accuracy"] == accuracy < 0.99
    assert found["tokens"] == len(pairs)
    low, high = found["intervals"]["token_accuracy"]
    assert low < accuracy < high < 1
    assert found["p_values"]["token_accuracy"] == 1
    assert tagger.score(rows) == accuracy
    text = tagger.report(rows, confusions=3, intervals=True)
    assert f"accuracy: {100 * accuracy:.2f}%" in text
    assert "\n_ " not in text
    wrong = sum(a != b for a, b in pairs)
    assert f"{wrong} of {len(pairs)} tokens are wrong" in text


def test_calibration(tagger):
    rows, gold = hidden(TAGS[100:])
    labels, marginals = tagger.predict(rows), tagger.predict_marginals(rows)
    p, right = [], []
    for s, row in enumerate(gold):
        for t, label in enumerate(row):
            if label is not None:
                p.append(marginals[s][t][labels[s][t]])
                right.append(labels[s][t] == label)
    assert tagger.calibration(rows) == reliability(p, right)


@pytest.mark.parametrize("learner", ["perceptron", "crf", "hmm"])
def test_dev_scores(learner):
    """The score of a pass, and the calibration, by the known labels alone."""
    rows, gold = hidden(TAGS[60:100])
    options = {} if learner == "hmm" else {"features": WEAK, "max_iter": 2, "n_models": 1}
    tagger = Tagger(learner=learner, **options).fit(TAGS[:60], dev=rows)
    if learner != "hmm":
        accuracy = token_accuracy(gold, tagger.predict(rows))
        assert max(r["dev_accuracy"] for r in tagger.history_) == accuracy < 1
    pairs, best = known_pairs(gold, tagger.predict(rows)), tagger.temperature_
    assert tagger.calibration_.n_parts == len(pairs) < sum(map(len, rows))
    if learner != "perceptron":
        assert best == 1.0
        return
    loss = {}
    for factor in (0.8, 1.0, 1.25):
        marginals = tagger.predict_marginals(rows, temperature=best * factor)
        given = known_pairs(gold, marginals), known_pairs(gold, tagger.predict(rows))
        loss[factor] = -sum(
            math.log(max(1 / (len(pairs) + 2), p[label] if label == true else 1 - p[label]))
            for (_, p), (true, label) in zip(*given, strict=True)
        )
    assert loss[1.0] < min(loss[0.8], loss[1.25])


def test_another_sign_and_several_columns(tmp_path):
    train = [[(w, t, t[:1]) for w, t in s] for s in TAGS[:60]]
    tagger = Tagger(WEAK, max_iter=2, n_models=1, target=[2, 3], unknown="?").fit(train)
    rng = random.Random(1)
    known = [[rng.random() > 0.4 for _ in s] for s in TAGS[100:]]
    rows = [
        [(w, t, t[:1]) if k else (w, "?", "?") for (w, t), k in zip(s, ks, strict=True)]
        for s, ks in zip(TAGS[100:], known, strict=True)
    ]
    predicted = tagger.predict(rows)
    triples = [
        (w[1], p)
        for s, ps, ks in zip(TAGS[100:], predicted, known, strict=True)
        for w, p, k in zip(s, ps, ks, strict=True)
        if k
    ]
    found = tagger.evaluate(rows)
    assert found["accuracy"] == sum(f"{t}|{t[:1]}" == p for t, p in triples) / len(triples)
    assert list(found["by_column"].values()) == [
        sum(t == p.split("|")[0] for t, p in triples) / len(triples),
        sum(t[:1] == p.split("|")[1] for t, p in triples) / len(triples),
    ]
    assert all(0 < x < 1 for x in found["by_column"].values())
    # The sign is kept in the file.
    tagger.save(tmp_path / "t.model")
    assert Tagger.load(tmp_path / "t.model").evaluate(rows)["accuracy"] == found["accuracy"]


def judged(spans, gold):
    """Chunks that stand among known labels, token by token."""
    return [
        (a, b, kind)
        for a, b, kind in spans
        if all(gold[t] is not None for t in range(a - 1, b + 1) if 0 <= t < len(gold))
    ]


def test_chunks(chunker):
    rows, gold = hidden(CHUNKS[100:], share=0.15)
    right = predicted = wanted = 0
    for truth, guess in zip(gold, chunker.predict(rows), strict=True):
        one, other = judged(chunks(truth), truth), judged(chunks(guess), truth)
        right += len(set(one) & set(other))
        wanted, predicted = wanted + len(one), predicted + len(other)
    found = chunker.evaluate(rows, intervals=True)
    assert found["precision"] == right / predicted
    assert found["recall"] == right / wanted
    assert found["f1"] == 2 * right / (predicted + wanted) < 1
    pairs = known_pairs(gold, chunker.predict(rows))
    assert found["accuracy"] == sum(a == b for a, b in pairs) / len(pairs)
    low, high = found["intervals"]["chunk_f1"]
    assert low <= found["f1"] <= high
    text = chunker.report(rows)
    assert f"processed {len(pairs)} tokens with {wanted} phrases; found: {predicted}" in text
    dev = Tagger("chunk", max_iter=2, n_models=1).fit(CHUNKS[:30], dev=rows)
    assert max(r["dev_f1"] for r in dev.history_) == dev.evaluate(rows)["f1"]


def test_nothing_known_is_refused(tagger):
    rows = [[(w, "_") for w, _ in s] for s in TAGS[:5]]
    for judge in (tagger.evaluate, tagger.report, tagger.score, tagger.calibration):
        with pytest.raises(ValueError, match="no token has a label: all are '_'"):
            judge(rows)
    for learner in ("perceptron", "hmm"):
        with pytest.raises(ValueError, match="no token has a label: all are '_'"):
            Tagger(learner=learner, max_iter=1).fit(TAGS[:20], dev=rows)


def test_commands(tagger, tmp_path, capsys):
    rows, gold = hidden(TAGS[100:])
    path, model = tmp_path / "gold.txt", tmp_path / "t.model"
    Corpus.from_sentences(rows).write(path)
    tagger.save(model)
    assert cli.run(["evaluate", str(model), str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    pairs = known_pairs(gold, tagger.predict(rows))
    assert found["accuracy"] == sum(a == b for a, b in pairs) / len(pairs)
    assert found["calibration"]["predictions"] == len(pairs)
    assert cli.run(["evaluate", str(model), str(path), "--confusions", "3"]) == 0
    assert f"of {len(pairs)} tokens are wrong" in capsys.readouterr().out


def test_statistics_of_partial_labels(tagger):
    """As for sentences from which the unknown tokens were taken out."""
    rows, gold = hidden(TAGS[100:])
    predicted = tagger.predict(rows)
    bare = [
        [(a, b) for a, b in zip(g, p, strict=True) if a is not None]
        for g, p in zip(gold, predicted, strict=True)
    ]
    one, other = [[a for a, _ in s] for s in bare], [[b for _, b in s] for s in bare]
    wrong = "N"
    assert confusion(gold, predicted) == confusion(one, other)
    for metric in ("token_accuracy", "sequence_accuracy"):
        intervals = [
            bootstrap_interval(a, b, metric, random_state=0)
            for a, b in ((gold, predicted), (one, other))
        ]
        assert intervals[0] == intervals[1]
        rival, bare_rival = ([[wrong] * len(k) for k in rows] for rows in (gold, one))
        assert randomization_test(gold, predicted, rival, metric, random_state=0) == (
            randomization_test(one, other, bare_rival, metric, random_state=0)
        )


def test_estimators_say_the_same():
    """A tagger's score and that of an estimator, on the same partial labels."""
    X = [[{"w": w[-1:]} for w, _ in s] for s in TAGS]
    y = [[k for _, k in s] for s in TAGS]
    crf = CRF(max_iter=30).fit(X[:60], y[:60])
    _, gold = hidden(TAGS[100:])
    assert crf.score(X[100:], gold) == token_accuracy(gold, crf.predict(X[100:]))


# -- segments and trees ---------------------------------------------------------------------------


def test_segments_are_judged_by_the_tokens_that_are_known():
    tagger = SegmentTagger(max_iter=2, n_models=1).fit(CHUNKS[:30])
    rows, gold = hidden(CHUNKS[100:130])
    predicted = tagger.predict(rows)
    scores = tagger.evaluate(rows)
    assert scores["tokens"] == sum(k is not None for row in gold for k in row)
    assert scores["accuracy"] == token_accuracy(gold, predicted)
    assert scores["f1"] == chunk_report(gold, predicted).overall.f1
    # Segments in unknown labels, or beside them, are not judged.
    judged = tagger.calibration(rows).n
    assert 0 < judged < tagger.calibration(CHUNKS[100:130]).n
    assert tagger.report(rows)
    dev = SegmentTagger(max_iter=2, n_models=1).fit(rows, dev=rows)
    assert 0 < dev.calibration_.n_parts < sum(map(len, rows))


def test_parsers_refuse_unknown_heads_and_leave_out_unknown_tags():
    rows = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
    parser = DependencyParser(hash_bits=12, max_iter=1, folds=2).fit(rows[:60])
    whole = parser.evaluate(rows[100:])["tags"]
    rng = random.Random(0)
    # Tags are hidden where they are right: what is left is worse than the whole.
    tags = [tree.tags for tree in parser.predict(rows[100:])]
    partial = [
        [
            (word, "_" if tag == guess and rng.random() < 0.5 else tag, *arc)
            for (word, tag, *arc), guess in zip(s, guesses, strict=True)
        ]
        for s, guesses in zip(rows[100:], tags, strict=True)
    ]
    pairs = [
        (t[1], p)
        for s, ps in zip(partial, tags, strict=True)
        for t, p in zip(s, ps, strict=True)
        if t[1] != "_"
    ]
    found = parser.evaluate(partial)["tags"]
    assert found["upos"] == sum(a == b for a, b in pairs) / len(pairs) <= whole["upos"]
    for column, message in ((2, "no head"), (3, "no relation")):
        torn = [list(map(list, s)) for s in rows[100:110]]
        torn[0][1][column] = "_"
        for judge in (parser.evaluate, parser.report, parser.score, parser.calibration):
            with pytest.raises(ValueError, match=message):
                judge(torn)
        with pytest.raises(ValueError, match=message):
            DependencyParser(hash_bits=12, max_iter=1, gold_tags=True).fit(rows[:30], dev=torn)


def test_attachment_of_partial_trees():
    gold = [
        [(2, "a"), (0, "root"), (None, None), (2, None)],
        [(0, "root"), (1, "b")],
        [(None, None)],
    ]
    guess = [
        [(2, "a"), (0, "root"), (2, "a"), (3, "b")],
        [(0, "root"), (1, "a")],
        [(0, "root")],
    ]
    found = attachment_report(gold, guess)
    assert (found.uas, found.las, found.label_accuracy) == (4 / 5, 3 / 4, 3 / 4)
    assert (found.root_accuracy, found.exact, found.n_words, found.n_sentences) == (1, 0, 5, 3)
    assert {k: (s.correct, s.predicted, s.gold) for k, s in found.by_label.items()} == {
        "root": (2, 2, 2),
        "a": (1, 2, 1),
        "b": (0, 0, 1),
    }
    assert attachment_interval(gold, guess, random_state=0).value == 3 / 4
    assert attachment_interval(gold, guess, labelled=False, random_state=0).value == 4 / 5


# -- the alignment of pipelines -------------------------------------------------------------------

COLUMNS = {"upos": 3, "xpos": 4, "lemmas": 2, "uas": 6, "las": 7}


def sentences(corpus):
    return [[(row[1], [tuple(row)]) for row in sentence] for sentence in corpus]


@pytest.mark.parametrize("name", COLUMNS)
def test_pipelines(name):
    """A third of the gold cells are unknown: scores are those of the other words."""
    rng, column = random.Random(0), COLUMNS[name]
    whole = sentences(treebank(30))
    gold, system = [], []
    right = known = 0
    for sentence in whole:
        ours, theirs = [], []
        for form, [row] in sentence:
            is_known, is_right = rng.random() < 0.7, rng.random() < 0.6
            known += is_known
            right += is_known and is_right
            cut = list(row)
            if not is_known:
                cut[column] = "_"
                if name == "las":
                    cut[6] = row[6]
            other = list(row)
            if not is_right:
                other[column] = str((int(row[6]) + 1) % 3) if name == "uas" else "wrong"
            ours.append((form, [tuple(cut)]))
            theirs.append((form, [tuple(other)]))
        gold.append(ours)
        system.append(theirs)
    score = aligned_scores(gold, system)[name]
    assert (score.gold, score.predicted, score.aligned) == (known, known, known)
    if name == "uas":  # a wrong head may be the right one by chance
        assert right <= score.correct < known
    else:
        assert score.correct == right
    # Nothing is known: there is nothing to say.
    none = [[(f, [(*r[:column], "_", *r[column + 1 :])]) for f, [r] in s] for s in gold]
    assert name not in aligned_scores(none, system)


def test_a_word_without_a_head_is_no_root():
    word = ("1", "a", "a", "X", "X", "_", "0", "root", "_", "_")
    bare = (*word[:6], "_", "_", "_", "_")
    scores = aligned_scores([[("a", [word])]], [[("a", [bare])]])
    assert scores["uas"].correct == 0
    assert "uas" not in aligned_scores([[("a", [bare])]], [[("a", [word])]])
