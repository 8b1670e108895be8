"""Looking inside: features, transitions and reasons as plain data, for estimators and tasks."""

import itertools
import math
from html import escape

import numpy as np
import pytest

from structlearn import load
from structlearn.datasets import make_treebank
from structlearn.estimators import (
    CRF,
    HMM,
    MultiLabelClassifier,
    StructuredPerceptron,
    StructuredSVM,
)
from structlearn.estimators.summary import summary_html
from structlearn.exceptions import CapabilityError
from structlearn.io.image_folders import read_images
from structlearn.metrics.boundaries import chunks
from structlearn.tasks import (
    ConstituencyParser,
    DependencyParser,
    ImageSegmenter,
    SegmentTagger,
    Tagger,
)
from structlearn.text.phrases import Phrases
from tests.io.image_folders import shapes

BANK = make_treebank(60, random_state=0)
WORDS = [[[f"w={w.lower()}", f"s={w[-2:]}"] for w in s.words] for s in BANK]
TAGS = [s.tags for s in BANK]
SMALL = [x[:4] for x in WORDS[:5]]


def coarse(tags):
    return ["N" if t.startswith("N") else "V" if t.startswith("V") else "O" for t in tags]


@pytest.fixture(scope="module")
def crf():
    return CRF().fit(WORDS, [coarse(t) for t in TAGS])


# -- estimators -----------------------------------------------------------------------------------


def test_top_features_are_the_largest_weights(crf):
    names, coef = crf.feature_names_["label"], crf.coef_["label"]
    for k, label in enumerate(crf.classes_.tolist()):
        rows = crf.top_features(label, 5)
        assert {row["label"] for row in rows} == {label}
        order = np.argsort(-np.abs(coef[k]), kind="stable")[:5]
        assert [row["feature"] for row in rows] == [names[j] for j in order]
        assert [row["weight"] for row in rows] == coef[k, order].tolist()
    assert len(crf.top_features(n=2)) == 2 * len(crf.classes_)
    with pytest.raises(ValueError, match="no label 'X'"):
        crf.top_features("X")


def test_transitions_are_those_of_the_weights(crf):
    classes = crf.classes_.tolist()
    rows = {(r["before"], r["after"]): r["weight"] for r in crf.transitions()}
    assert rows[classes[0], classes[1]] == crf.coef_["transition"][0, 1]


@pytest.mark.parametrize("kind", [CRF, StructuredPerceptron, StructuredSVM, HMM])
def test_explanations_name_the_best_rival_and_add_up(kind):
    X, one = WORDS, SMALL
    if kind is HMM:
        X, one = [[t[0] for t in x] for x in X], [[t[0] for t in x] for x in one]
    model = kind().fit(X, [coarse(t) for t in TAGS])
    scores = list(model._inputs(one).scores())
    for given, decisions in zip(scores, model.explain(one), strict=True):
        length, K = np.shape(given["label"])
        ranked = {y: model.structure_.score(list(y), **given)
                  for y in itertools.product(range(K), repeat=length)}  # fmt: skip
        best = max(ranked, key=ranked.get)
        for d in decisions:
            t = d["position"]
            rival = max((y for y in ranked if y[t] != best[t]), key=ranked.get)
            assert d["label"] == model.classes_[best[t]]
            assert d["margin"] == pytest.approx(ranked[best] - ranked[rival])
            assert sum(v for _, v in d["contributions"]) == pytest.approx(d["margin"])
            sizes = [abs(v) for _, v in d["contributions"]]
            assert sizes == sorted(sizes, reverse=True)


def test_explanations_name_features(crf):
    (decisions,) = crf.explain(SMALL[:1])
    named = {name for d in decisions for name, _ in d["contributions"]}
    assert named & set(crf.feature_names_["label"])
    assert any(name.startswith("transition ") for name in named)
    assert crf.explain([]) == []


def test_multiclass_and_whole_outputs_are_explained():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] > 0, "a", np.where(X[:, 1] > 0, "b", "c"))
    model = CRF("multiclass").fit(X, y)
    theta = X @ model.coef_.T
    for row, (d,) in zip(theta, model.explain(X), strict=True):
        second, first = np.argsort(row)[-2:]
        assert (d["label"], d["runner_up"]) == tuple(model.classes_[[first, second]])
        assert sum(v for _, v in d["contributions"]) == pytest.approx(row[first] - row[second])
    assert model.top_features("a", 1)[0]["feature"].startswith("feature ")
    with pytest.raises(CapabilityError, match="no transitions"):
        model.transitions()


def test_words_of_a_hidden_markov_model_are_ranked_by_probability():
    model = HMM().fit([[t[0] for t in x] for x in WORDS], [coarse(t) for t in TAGS])
    rows = model.top_features("N", 4)
    everything = model.emissions_.scores(model.emissions_.words)[:, list(model.classes_).index("N")]
    assert [r["weight"] for r in rows] == sorted(everything.tolist(), reverse=True)[:4]
    rows = {(r["before"], r["after"]): r["weight"] for r in model.transitions()}
    at = model.classes_.tolist().index
    assert rows["N", "V"] == model.transition_[at("N"), at("V")]


def test_several_labels_are_explained_one_by_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] > 0.1, X[:, 1] > 0]).astype(int)
    model = MultiLabelClassifier().fit(X, Y)
    assert model.top_features(0, 1)[0]["feature"] == "feature 0"
    assert model.top_features(2, 1)[0]["feature"] == "feature 1"
    assert len(model.transitions()) == len(model.edges_)
    for row, decisions in zip(model.predict(X[:5]), model.explain(X[:5]), strict=True):
        assert [d["label"] for d in decisions] == row.tolist()
        for d in decisions:
            assert d["runner_up"] == 1 - d["label"]
            assert sum(v for _, v in d["contributions"]) == pytest.approx(d["margin"])
    assert any("(label 0)" in name for name, _ in decisions[0]["contributions"])


def test_notebooks_show_the_most_frequent_labels_and_the_rest_on_request(tmp_path):
    X = [[[f"x={k}"]] * (k + 1) for k in range(15)]
    y = [[f"label{14 - k:02}"] * (k + 1) for k in range(15)]
    model = CRF().fit(X, y)
    assert model.class_count_.tolist() == list(range(15, 0, -1))
    model.save(tmp_path / "model")
    for one in (model, load(tmp_path / "model")):
        shown, rest = summary_html(one).split("<details>", 1)
        assert "the 12 most frequent of 15 labels" in shown
        assert "label11" in shown
        assert "label12" not in shown
        assert "all 15 labels" in rest
        assert "label14" in rest


@pytest.mark.parametrize("order", [1, 2, 3])
def test_windows_of_labels_are_named(order):
    """Those of a hidden Markov model, of any order: their labels from left to right."""
    words, tags = [s.words for s in BANK], [s.tags for s in BANK]
    model = HMM(order=order).fit(words, tags)
    sentence = words[0][:5]
    (decisions,) = model.explain([sentence])
    labels = model.predict([sentence])[0].tolist()
    windows = {" ".join(labels[t - m : t + 1]) for m in (1, 2, 3) for t in range(m, len(labels))}
    for d in decisions:
        assert sum(v for _, v in d["contributions"]) == pytest.approx(d["margin"])
        names = [name.split(" ", 1) for name, _ in d["contributions"]]
        mine = [rest for block, rest in names if block.startswith("transition")]
        assert all(set(rest.split()) <= set(model.classes_) for rest in mine)
        changed = [w for w in windows if len(w.split()) == order + 1 and d["label"] in w.split()]
        assert not changed or set(mine) & set(changed)


@pytest.mark.parametrize("task", [False, True])
def test_data_frames_hold_the_same(crf, task):
    pytest.importorskip("pandas")
    model, X = crf, SMALL
    if task:
        X = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
        model = Tagger("pos", n_models=1, max_iter=2).fit(X)
        X = X[:3]
    assert model.top_features(n=3, as_frame=True).to_dict("records") == model.top_features(n=3)
    wide = model.transitions(as_frame=True)
    for row in model.transitions():
        assert wide.loc[row["before"], row["after"]] == row["weight"]
    frame = model.explain(X, as_frame=True)
    decisions = [d for row in model.explain(X) for d in row]
    listed = [part for d in decisions for part in d["contributions"]]
    assert list(zip(frame["feature"], frame["contribution"], strict=True)) == listed
    sums = frame.groupby(["example", "position"])["contribution"].sum()
    np.testing.assert_allclose(sums, [d["margin"] for d in decisions])


# -- tasks ----------------------------------------------------------------------------------------


def test_taggers():
    rows = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
    tagger = Tagger("pos", n_models=1, max_iter=3).fit(rows)
    label = tagger.classes_[0]
    found = tagger.top_features(label, 3)
    assert {row["label"] for row in found} == {label}
    assert len(found) >= 3
    with pytest.raises(ValueError, match="no label 'X'"):
        tagger.top_features("X")
    assert set(tagger.classes_) <= {r["before"] for r in tagger.transitions()}
    for row, labels, decisions in zip(
        rows[:5], tagger.predict(rows[:5]), tagger.explain(rows[:5]), strict=True
    ):
        for d in decisions:
            assert d["token"][0] == row[d["position"]][0]
            assert d["label"] == labels[d["position"]] != d["runner_up"]
            assert sum(v for _, v in d["contributions"]) == pytest.approx(d["margin"])


def test_phrases_stand_for_names():
    rows = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
    tagger = Tagger("pos", n_models=1, max_iter=2).fit(rows)
    said = Phrases(tagger.model_.templates)
    plain, phrases = (tagger.top_features(n=4, in_words=words) for words in (False, True))
    assert [row["feature"] for row in phrases] == [said(row["feature"]) for row in plain]
    assert any(row["feature"].startswith("the word") for row in phrases)
    assert not any("(" in row["feature"] for row in phrases)
    (plain,), (phrases,) = (tagger.explain(rows[:1], in_words=words) for words in (False, True))
    for one, other in zip(plain, phrases, strict=True):
        assert [(said(name), v) for name, v in one["contributions"]] == other["contributions"]


@pytest.fixture(scope="module")
def segments():
    rows = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]
    return SegmentTagger(n_models=1, max_iter=2, max_length=3).fit(rows), rows


def test_segments_are_explained_against_all_other_segmentations(segments):
    tagger, rows = segments
    assert {r["before"] for r in tagger.transitions()} >= set(tagger.classes_)
    short = [row[:5] for row in rows[:6]]
    for ranked, decisions, row in zip(
        tagger.predict_kbest(short, 100_000), tagger.explain(short), short, strict=True
    ):
        scored = [(score, set(_segments(labels))) for score, labels in ranked]
        best, mine = scored[0]
        assert {d["label"] for d in decisions} == mine
        for d in decisions:
            begin, end, _ = d["label"]
            rival, theirs = next(one for one in scored if d["label"] not in one[1])
            assert d["position"] == begin
            assert d["token"] == " ".join(word for word, *_ in row[begin:end])
            assert d["margin"] == pytest.approx(best - rival)
            assert sum(v for _, v in d["contributions"]) == pytest.approx(d["margin"])
            assert set(d["runner_up"]) == {s for s in theirs if s[0] < end and begin < s[1]}


def _segments(labels):
    """Chunks, and single tokens outside of them."""
    inside = {t for a, b, _ in chunks(labels) for t in range(a, b)}
    return [*chunks(labels), *((t, t + 1, "O") for t in range(len(labels)) if t not in inside)]


def test_names_of_the_strongest_features_of_segments(segments, tmp_path):
    """Those of all segments of the training text, ranked by their weights."""
    tagger, rows = segments
    model, corpus = tagger.model_, tagger._read_input(rows)
    known = {}
    # In the training text words have the labels that other parts of it gave them, so features of
    # lexica are left out here.
    labels = range(len(model.labels))
    for s, row in enumerate(rows):
        spans = [(a, b) for a, b, _ in _segments([k for _, _, k in row]) if b - a <= 3]
        asked = [(*span, k) for span in spans for k in labels]
        for (*_, k), features in zip(asked, model.core.explain(corpus.core, s, asked), strict=True):
            known.update({(name, k): w for name, w in features if "seen(" not in name})
    tagger.save(tmp_path / "model")
    for one in (tagger, load(tmp_path / "model")):
        for k, label in enumerate(model.labels):
            found = [(row["feature"], row["weight"]) for row in one.top_features(label, 12)]
            plain = [(name, w) for name, w in found if "seen(" not in name]
            assert plain
            for name, weight in plain:
                assert weight == pytest.approx(known[name, k], abs=1e-5)
            least = min(abs(w) for _, w in found)
            above = sum(abs(w) > least + 1e-5 for (_, j), w in known.items() if j == k)
            assert above <= len(plain) <= 12


def test_parsers_of_dependencies():
    trees = [
        [
            (str(i), w, "_", t, "_", "_", str(h), r, "_", "_")
            for i, (w, t, h, r) in enumerate(
                zip(s.words, s.tags, s.heads, s.deprels, strict=True), 1
            )
        ]
        for s in BANK
    ]
    options = {"gold_tags": True, "max_iter": 2, "hash_bits": 14, "n_models": 1, "order": 1}
    parser = DependencyParser(**options).fit(trees)
    label = parser.classes_[0]
    assert {row["label"] for row in parser.top_features(label, 2)} == {label}
    with pytest.raises(ValueError, match="no label 'X'"):
        parser.top_features("X")
    with pytest.raises(CapabilityError, match="What works: top_features, explain"):
        parser.transitions()
    for tree, decisions in zip(parser.predict(trees[:5]), parser.explain(trees[:5]), strict=True):
        assert [d["label"] for d in decisions] == list(tree)
        for d in decisions:
            if d["runner_up"] is not None:
                assert math.fsum(v for _, v in d["contributions"]) == pytest.approx(
                    d["margin"], abs=1e-3
                )


def test_parsers_of_constituents():
    parser = ConstituencyParser(gold_tags=True, max_iter=2).fit([s.brackets for s in BANK])
    assert {row["label"] for row in parser.top_features("NP", 3)} == {"NP"}
    with pytest.raises(ValueError, match="no label 'X'"):
        parser.top_features("X")
    pairs = parser.transitions()
    assert {r["before"] for r in pairs} >= {"S", "NP", "VP"}
    under = {r["after"]: r["weight"] for r in pairs if r["before"] == "NP"}
    for row in parser.top_features("NP", 3):
        assert under[row["feature"]] == row["weight"]
    words = [s.brackets for s in BANK[:4]]
    for tree, (d,) in zip(parser.predict(words), parser.explain(words), strict=True):
        assert d["label"] == tree != d["runner_up"]
        assert d["margin"] >= 0


def test_the_rules_of_a_counted_grammar_are_its_transitions():
    parser = ConstituencyParser(learner="pcfg", gold_tags=True).fit([s.brackets for s in BANK])
    total = {}
    for row in parser.transitions():
        total[row["before"]] = total.get(row["before"], 0.0) + row["weight"]
    assert "S" in {name.split("^")[0] for name in total}
    assert all(p == pytest.approx(1.0, abs=1e-6) for p in total.values())


@pytest.mark.parametrize("superpixels", [0, 12])
def test_classes_of_images_are_explained(superpixels):
    if superpixels:
        pytest.importorskip("skimage")
    pairs = shapes(4)
    segmenter = ImageSegmenter(max_iter=1, superpixels=superpixels)
    segmenter.fit([image for image, _ in pairs], [mask for _, mask in pairs])
    model, images = segmenter.model_, [image for image, _ in pairs]
    read = read_images(images)
    for image, found, decisions in zip(
        read, model.segment_all(read), segmenter.explain(images), strict=True
    ):

        def score(labels, image=image):
            sites = model.sites(image)
            unary = model.scores(image, model.label)[np.arange(labels.size), labels.ravel()].sum()
            at = np.zeros(sites.n_sites, dtype=int)
            at[np.arange(labels.size) if sites.regions is None else sites.regions] = labels.ravel()
            first, second = sites.ends.T
            return unary - (sites.pairs @ model.pair)[at[first] != at[second]].sum()

        names = model.coding.names
        assert {d["label"] for d in decisions} == {names[k] for k in np.unique(found)}
        for d in decisions:
            k = names.index(d["label"])
            assert d["pixels"] == (found == k).sum()
            other = {
                names[j]: score(np.where(found == k, j, found)) for j in range(len(names)) if j != k
            }
            assert d["runner_up"] == max(other, key=other.get)
            margin = (score(found) - max(other.values())) / d["pixels"]
            assert d["margin"] == pytest.approx(margin, rel=1e-3, abs=1e-3)
            assert sum(v for _, v in d["contributions"]) == pytest.approx(d["margin"])


# -- notebooks ------------------------------------------------------------------------------------


def test_notebooks_show_what_a_task_is():
    bank = make_treebank(30, random_state=0)
    tagged = [list(zip(s.words, s.tags, strict=True)) for s in bank]
    chunked = [list(zip(s.words, s.chunks, strict=True)) for s in bank]
    headed = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in bank]
    for task, data in (
        (Tagger("pos", max_iter=1, n_models=1), tagged),
        (Tagger(learner="hmm"), tagged),
        (SegmentTagger(max_iter=1, n_models=1), chunked),
        (DependencyParser(1, hash_bits=12, max_iter=1, gold_tags=True), headed),
        (ConstituencyParser(max_iter=1, gold_tags=True), [s.brackets for s in bank]),
    ):
        assert "not trained" in task._repr_html_()
        page = task.fit(data)._repr_html_()
        assert escape(repr(task)) in page
        assert "<th>trained on</th><td>30 sentences" in page
        learner = "perceptron" if task.learner == "auto" else task.learner  # one pass was asked for
        assert f"<td>{learner}" in page
