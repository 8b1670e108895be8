"""Learning segments from made sentences: every learner, scores, probabilities, files, errors."""

import numpy as np
import pytest

from structlearn import _core
from structlearn.exceptions import FileError
from structlearn.metrics import to_iobes
from structlearn.structures import SemiMarkov
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.text import Corpus, FeatureTemplates
from tests.tasks.segments.segment_sentences import chunked, write

SENTENCES = chunked(220)
TRAIN, TEST = SENTENCES[:160], SENTENCES[160:]
SMALL = "begin(lower(word))\nend(pos)\ninside(pos)\nwhole(pos)\nlength\nbefore(pos)\nafter(pos)"


@pytest.fixture(scope="module")
def tagger():
    return SegmentTagger(max_iter=5).fit(TRAIN)


@pytest.mark.parametrize(
    "learner", ["perceptron", "svm", "crf", "passive-aggressive", "arow", "adagrad"]
)
def test_every_learner(learner):
    C = None if learner in ("perceptron", "arow") else 10.0
    tagger = SegmentTagger(FeatureTemplates.parse(SMALL), learner, max_iter=15, C=C)
    assert tagger.fit(TRAIN).evaluate(TEST)["f1"] > 0.93


def test_scores_and_outputs(tagger):
    result = tagger.evaluate(TEST)
    assert result["f1"] > 0.92
    assert result["tokens"] == sum(map(len, TEST))
    assert tagger.score(TEST) == result["f1"]
    assert "FB1" in tagger.report(TEST)
    assert "chunk_f1" in tagger.report(TEST, intervals=True)
    words = [[token[:2] for token in s] for s in TEST]
    labels = tagger.predict(words)  # the column of labels may be missing
    assert labels == tagger.predict(TEST)
    for row, found in zip(labels, tagger.predict_segments(TEST), strict=True):
        again = ["O"] * len(row)
        for start, end, kind in found:
            again[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
        assert again == row
    assert tagger.classes_[0] == "O"
    assert "SegmentTagger" in repr(tagger)


def test_schemes_do_not_matter():
    outside = [[(w, p, k) for w, p, k in s] for s in TRAIN]
    iobes = [
        [(w, p, k) for (w, p, _), k in zip(s, to_iobes([t[2] for t in s]), strict=True)]
        for s in TRAIN
    ]
    first, second = (SegmentTagger(max_iter=3).fit(x) for x in (outside, iobes))
    assert first.predict(TEST) == second.predict(TEST)
    assert second.evaluate(iobes)["accuracy"] == first.evaluate(outside)["accuracy"]


def test_probabilities(tagger):
    corpus = Corpus.from_sentences(TEST[:6])
    for s, p in enumerate(tagger.predict_marginals(corpus, least=0.0)):
        n = len(TEST[s])
        covered = np.zeros(n)
        for (start, end, label), probability in p.items():
            assert end - start == 1 or label != "O" or probability == 0.0
            covered[start:end] += probability
        assert covered == pytest.approx(np.ones(n))
    best = tagger.predict_marginals(TEST[:6])
    for row, found in zip(best, tagger.predict_segments(TEST[:6]), strict=True):
        assert min(row.values()) >= 0.001
        assert all(segment in row for segment in found)


def test_scores_are_features_times_weights(tagger):
    """What the model works out border by border, against the rows of whole segments."""
    model, corpus = tagger.model_, Corpus.from_sentences(TEST[:8])
    extractor = _core.Extractor(model.templates.compile("columns", 3), corpus.core)
    slots = np.frombuffer(model.arrays["segment.slots"], dtype=np.uint64).reshape(-1, 2)
    weight = np.frombuffer(model.arrays["segment.weight"], dtype=np.float32)
    outcome = np.frombuffer(model.arrays["segment.outcome"], dtype=np.uint32)
    n_labels = len(model.labels)
    table = {}
    for key, word in slots.tolist():
        row = np.zeros(n_labels)
        kind, count, low = word >> 62, word >> 32 & 0x3FFFFFFF, word & 0xFFFFFFFF
        if kind == 1:
            row[count] = np.array([low], dtype=np.uint32).view(np.float32)[0]
        elif kind == 2:
            row[:] = weight[low : low + n_labels]
        else:
            row[outcome[low : low + count]] = weight[low : low + count]
        table[key] = row
    shared = {k: np.frombuffer(model.arrays[k]) for k in ("start", "end", "transition")}
    shared["transition"] = shared["transition"].reshape(n_labels, n_labels)
    structure = SemiMarkov(model.max_length)
    inputs = model.inputs(corpus)
    likely = inputs.marginals(50.0)
    for s, output in enumerate(inputs.solve().outputs):
        found = [(a, b, model.labels.index(label)) for a, b, label in model.segments(output)]
        n = len(TEST[s])
        theta = np.zeros((n, model.max_length, n_labels))
        for b in range(n):
            for e in range(b + 1, min(b + model.max_length, n) + 1):
                for _, key in extractor.named(s, b, e):
                    theta[b, e - b - 1] += table.get(key, 0.0)
        theta[:, 1:, 0] = -np.inf
        assert structure.score(found, segment=theta, **shared) == pytest.approx(
            structure.solve(segment=theta, **shared).value
        )
        p = structure.marginals(segment=theta / 50, **{k: v / 50 for k, v in shared.items()})
        ours = np.zeros_like(theta)
        for begin, end, k, probability in likely[s]:
            ours[begin, end - begin - 1, k] = probability
        assert ours == pytest.approx(p["segment"], abs=1e-9)


def test_a_dev_set_ends_training_and_calibrates():
    tagger = SegmentTagger(max_iter=40, patience=2, n_models=1).fit(TRAIN, dev=TEST)
    scores = [record["dev_f1"] for record in tagger.history_]
    assert len(scores) < 40
    assert tagger.model_.training["passes"] == 1 + int(np.argmax(scores))
    assert tagger.evaluate(TEST)["f1"] == pytest.approx(max(scores))
    assert tagger.model_.temperature > 0
    rarely = SegmentTagger(FeatureTemplates.parse("begin(word)"), max_iter=5).fit(TRAIN, dev=TEST)
    gold = tagger.predict_segments(TEST)
    for fitted, least in ((tagger, 0.9), (rarely, 0.2)):
        p = [row.get(x, 0.0) for row, g in zip(fitted.predict_marginals(TEST), gold, strict=True)
             for x in g]  # fmt: skip
        assert np.mean(p) > least


def test_long_chunks_are_cut_and_counted(capsys):
    tagger = SegmentTagger(max_length=2, max_iter=2, verbose=1).fit(TRAIN)
    longer = sum(e - b > 2 for row in SegmentTagger(max_iter=1).fit(TRAIN).predict_segments(TRAIN)
                 for b, e, _ in row)  # fmt: skip
    assert tagger.n_cut_ > 0
    assert longer > 0
    assert f"{tagger.n_cut_} chunks are longer than 2" in capsys.readouterr().err
    assert max(e - b for row in tagger.predict_segments(TEST) for b, e, _ in row) == 2
    assert SegmentTagger(max_iter=1).fit(TRAIN).n_cut_ == 0


def test_without_tags():
    words = [[(w, k) for w, _, k in s] for s in TRAIN]
    tagger = SegmentTagger(max_iter=3).fit(words)
    assert "pos" not in tagger.model_.templates.columns()
    assert tagger.evaluate([[(w, k) for w, _, k in s] for s in TEST])["f1"] > 0.8


def test_the_target_is_any_column():
    turned = [[(k, p, w) for w, p, k in s] for s in TRAIN]
    templates = FeatureTemplates.parse(SMALL.replace("word", "c3"))
    tagger = SegmentTagger(templates, target=1, max_iter=4).fit(turned)
    assert tagger.evaluate([[(k, p, w) for w, p, k in s] for s in TEST])["f1"] > 0.9
    with pytest.raises(FileError, match="which is the target"):
        SegmentTagger(templates, target=3).fit(turned)


def test_functions_of_your_own(tmp_path):
    templates = FeatureTemplates.parse('begin(call(word, "last"))\ninside(match(word, /s$/))\nbias')
    last = {"last": lambda s: s[-1]}
    tagger = SegmentTagger(templates, functions=last, max_iter=2).fit(TRAIN)
    tagger.save(tmp_path / "m")
    with pytest.raises(ValueError, match="functions="):
        SegmentTagger.load(tmp_path / "m")
    again = SegmentTagger.load(tmp_path / "m", functions=last)
    assert again.predict(TEST) == tagger.predict(TEST)


def test_another_seed_another_model(tmp_path):
    for seed in (3, 4):
        tagger = SegmentTagger(max_iter=2, n_models=2, random_state=seed)
        tagger.fit(TRAIN, dev=TEST).model_.training["parameters"].pop("random_state")
        tagger.save(tmp_path / str(seed))
    assert (tmp_path / "3").read_bytes() != (tmp_path / "4").read_bytes()


def test_what_is_refused(tmp_path):
    with pytest.raises(ValueError, match="for a Tagger"):
        SegmentTagger(FeatureTemplates.parse("word")).fit(TRAIN)
    with pytest.raises(ValueError, match="preset 'ner' is for a Tagger"):
        SegmentTagger("ner").fit(TRAIN)
    with pytest.raises(ValueError, match="SegmentTagger"):
        Tagger(FeatureTemplates.parse(SMALL)).fit(TRAIN)
    with pytest.raises(ValueError, match="SegmentTagger"):
        Tagger("segments").fit(TRAIN)
    with pytest.raises(FileError, match=r"labels of chunks.*is not one"):
        SegmentTagger(target=2).fit(TRAIN)
    with pytest.raises(FileError, match="all of them are 'O'"):
        SegmentTagger().fit([[("a", "O")]])
    with pytest.raises(FileError, match="type cannot be 'O'"):
        SegmentTagger().fit([[("a", "B-O")]])
    with pytest.raises(FileError, match="with 2 columns, where the training file is"):
        SegmentTagger().fit(TRAIN, dev=[[("a", "O")]])
    with pytest.raises(ValueError, match="not learned"):
        SegmentTagger().predict(TEST)
    for parameters in (
        {"learner": "hmm"},
        {"max_length": 0},
        {"max_length": 1001},
        {"C": -1.0},
        {"l1": 1.0},
        {"n_jobs": 0},
        {"max_iter": 1.5},
    ):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            SegmentTagger(**parameters).fit(TRAIN)
    with pytest.raises(ValueError, match="no parameter 'order'"):
        SegmentTagger().set_params(order=2)
    with pytest.raises(FileError, match="gold labels"):
        SegmentTagger(max_iter=1).fit(TRAIN).evaluate([[("a", "x")]])


def test_labelling_files(tagger, tmp_path):
    gold, bare = write(tmp_path / "gold", TEST), write(tmp_path / "bare", TEST, columns=2)
    out = tmp_path / "out"
    n = tagger.label_file(bare, out)
    assert n == sum(map(len, TEST))
    rows = [line.split(" ") for line in out.read_text("utf-8").splitlines() if line]
    flat = [k for row in tagger.predict(TEST) for k in row]
    assert [row[2] for row in rows] == flat
    filled = tmp_path / "filled"
    tagger.label_file(gold, filled)
    assert filled.read_bytes() == out.read_bytes()
    tagger.n_jobs = 3
    tagger.label_file(gold, filled)
    tagger.n_jobs = 1
    assert filled.read_bytes() == out.read_bytes()
    tagger.label_file(gold, filled, confidence=True)
    p = [float(line.split(" ")[3]) for line in filled.read_text("utf-8").splitlines() if line]
    assert 0.0 <= min(p) <= max(p) <= 1.0
    tagger.label_file(gold, filled, nbest=3)
    rows = [line.split(" ")[2:] for line in filled.read_text("utf-8").splitlines() if line]
    expected = []
    for sentence, best in zip(TEST, tagger.predict_kbest(TEST, 3), strict=True):
        columns = [labels for _, labels in best] + [["-"] * len(sentence)] * (3 - len(best))
        expected += map(list, zip(*columns, strict=True))
    assert rows == expected
    for refused in ({"marginals": True}, {"known": True}):
        with pytest.raises(ValueError, match="finds segments"):
            tagger.label_file(gold, filled, **refused)
    write(tmp_path / "narrow", TEST, columns=1)
    with pytest.raises(FileError, match=r"narrow, line 1: the model reads column 2"):
        tagger.label_file(tmp_path / "narrow", filled)


def test_conllu(tmp_path):
    def conllu(sentences, labelled):
        lines = []
        for s in sentences:
            lines.append("# a comment")
            for i, (w, p, k) in enumerate(s, 1):
                label = k if labelled else "_"
                lines.append("\t".join((str(i), w, "_", p, *"____", "_", label)))
            lines.append("")
        return "\n".join(lines) + "\n"

    for name, labelled in (("train.conllu", True), ("bare.conllu", False)):
        (tmp_path / name).write_text(conllu(TRAIN, labelled), encoding="utf-8")
    tagger = SegmentTagger(max_iter=4).fit(tmp_path / "train.conllu")
    assert tagger.model_.target_name == "misc"
    tagger.label_file(tmp_path / "bare.conllu", tmp_path / "out", confidence=True)
    lines = (tmp_path / "out").read_text("utf-8").splitlines()
    assert lines[0] == "# a comment"
    cells = lines[1].split("\t")
    assert len(cells) == 10
    label, confidence = cells[9].split("|Confidence=")
    assert label == tagger.predict(tmp_path / "train.conllu")[0][0]
    assert 0.0 <= float(confidence) <= 1.0


def test_reports_of_two_models(tagger):
    other = SegmentTagger(FeatureTemplates.parse("begin(word)"), max_iter=2).fit(TRAIN)
    text = tagger.report(TEST, confusions=3, against=other)
    assert "FB1" in text
    assert len(text.splitlines()) > len(tagger.report(TEST).splitlines()) + 3


def test_a_file_with_some_of_the_columns_is_refused(tmp_path):
    turned = [[(w, k, p) for w, p, k in s] for s in TRAIN[:40]]
    templates = FeatureTemplates.parse("begin(word)\nlength")
    tagger = SegmentTagger(templates, target=2, max_iter=1).fit(turned)
    write(tmp_path / "two", turned, columns=2)
    with pytest.raises(FileError, match="two, line 1: 2 columns, where the model was trained on 3"):
        tagger.label_file(tmp_path / "two", tmp_path / "out")
