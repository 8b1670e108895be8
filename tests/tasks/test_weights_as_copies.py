"""A sentence of weight k is k copies of it, and one of weight 0 is absent: in every count too.

The oracle is the training text itself, with its sentences written out as often as they weigh.
"""

import numpy as np
import pytest

from structlearn.datasets import make_treebank
from structlearn.estimators import CRF, HMM, StructuredSVM
from structlearn.tasks import (
    ConstituencyParser,
    DependencyParser,
    ImageSegmenter,
    SegmentTagger,
    Tagger,
)
from structlearn.text import Corpus, FeatureTemplates
from tests.tasks.test_matrix import TASKS

pytestmark = pytest.mark.filterwarnings("ignore::structlearn.exceptions.ConvergenceWarning")

BANK = make_treebank(24, random_state=100)
HELD_OUT = make_treebank(4, random_state=9)
TAGGED = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
CHUNKED = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]
PARSED = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
BRACKETS = [s.brackets for s in BANK]
#: Weights, and the numbers of the sentences that they stand for: each with its copies beside it,
#: and, where the order means nothing, one round after another.
WEIGHTS = np.random.default_rng(0).integers(0, 4, size=len(BANK)).astype(float)
IN_PLACE = [i for i, k in enumerate(WEIGHTS) for _ in range(int(k))]
SPREAD = [i for times in range(3) for i, k in enumerate(WEIGHTS) if k > times]

#: Where the order of sentences means nothing: lexica leave out folds, which are runs of neighbours.
WITHOUT_LEXICA = ("none", "hmm", "parser", "constituency", "constituency, rare features", "pcfg")
SOLVED = {"tol": 1e-7, "max_iter": 5000}
PAIRS = FeatureTemplates.parse("word[0]\nword[-1]\ntransition: seen(lower(word))\n")
UNPRUNED = {"most_heads": 64, "least_share": 1e-300, "gold_tags": True, "hash_bits": 10}


def crf(kind, **options):
    return lambda: kind(learner="crf", **{"C": 0.3, **SOLVED, **options})


TASK_MODELS = {
    "pos": (crf(Tagger, features="pos"), TAGGED),
    "pos, rare features": (crf(Tagger, features="pos", min_count=3), TAGGED),
    "pos, hashed": (crf(Tagger, features="pos", hash_bits=12), TAGGED),
    "pos, order 2": (crf(Tagger, features="pos", order=2, C=0.1), TAGGED),
    "pos, order 0": (crf(Tagger, features="pos", order=0), TAGGED),
    "pos, balanced": (crf(Tagger, features="pos", class_weight="balanced"), TAGGED),
    "pos, all states": (crf(Tagger, features="pos", all_possible_states=2, C=0.1), TAGGED),
    "pairs": (crf(Tagger, features=PAIRS, min_count=2), TAGGED),
    "chunk": (crf(Tagger, features="chunk"), CHUNKED),
    "ner": (crf(Tagger, features="ner", C=0.1), CHUNKED),
    "none": (crf(Tagger, features="none"), TAGGED),
    "several targets": (crf(Tagger, features="pos", target="2,3"), CHUNKED),
    "hmm": (lambda: Tagger(learner="hmm"), TAGGED),
    "segments": (crf(SegmentTagger, C=0.1), CHUNKED),
    "segments, rare features": (
        crf(SegmentTagger, C=0.1, min_count=3, class_weight="balanced"),
        CHUNKED,
    ),
    "parser": (crf(DependencyParser, order=1, C=0.02, **UNPRUNED), PARSED[:12]),
    "parser, balanced": (
        crf(DependencyParser, order=1, C=0.02, class_weight="balanced", **UNPRUNED),
        PARSED[:12],
    ),
    "constituency": (crf(ConstituencyParser, gold_tags=True, C=0.02), BRACKETS[:12]),
    "constituency, rare features": (
        crf(ConstituencyParser, gold_tags=True, C=0.02, min_count=4, class_weight="balanced"),
        BRACKETS[:12],
    ),
    "pcfg": (lambda: ConstituencyParser("pcfg", gold_tags=True), BRACKETS),
}


def marginals(model):
    """Return the probabilities of all parts, one dictionary for each token or sentence."""
    X = [list(zip(sentence.words, sentence.tags, strict=True)) for sentence in HELD_OUT]
    if model.learner == "pcfg":
        return [{str(tree): score for score, tree in row} for row in model.predict_kbest(X, 9)]
    options = {} if isinstance(model, (Tagger, SegmentTagger)) else {"least": 0.0}
    found = []
    for row in model.predict_marginals(X, **options):
        found += row if isinstance(row, list) else [row]
    return found


def assert_alike(one, other, tolerance):
    for a, b in zip(marginals(one), marginals(other), strict=True):
        parts = list(a) + [k for k in b if k not in a]
        np.testing.assert_allclose(
            [a.get(k, 0.0) for k in parts], [b.get(k, 0.0) for k in parts], atol=tolerance
        )


@pytest.mark.parametrize("name", TASK_MODELS)
def test_weights_are_copies(name):
    make, examples = TASK_MODELS[name]
    n = len(examples)
    weighted = make().fit(examples, sample_weight=WEIGHTS[:n])
    for order in (IN_PLACE, SPREAD) if name in WITHOUT_LEXICA else (IN_PLACE,):
        copied = make().fit([examples[i] for i in order if i < n])
        assert_alike(weighted, copied, 1e-4)
    plain = make().fit(examples)
    with pytest.raises(AssertionError):
        assert_alike(weighted, plain, 1e-3)


ONLINE = ["perceptron", "passive-aggressive", "adagrad", "arow"]


@pytest.mark.parametrize("learner", ONLINE)
def test_online_learners_have_the_features_of_the_copies(learner):
    """They make one step for a sentence, whatever it weighs: what they learn about is the same."""
    model = Tagger("pos", learner, min_count=3, max_iter=2, n_models=1)
    weighted = model.fit(TAGGED, sample_weight=WEIGHTS).model_
    copied = Tagger("pos", learner, min_count=3, max_iter=2, n_models=1).fit(
        [TAGGED[i] for i in IN_PLACE]
    ).model_  # fmt: skip
    plain = Tagger("pos", learner, min_count=3, max_iter=2, n_models=1).fit(TAGGED).model_
    tables = [
        (m.labels, bytes(m.templates.lexica.popitem()[1].value), m.training["features"])
        for m in (weighted, copied, plain)
    ]
    assert tables[0] == tables[1]
    assert tables[0] != tables[2]


def stored(model, path):
    model.save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("task", "learner"), [(task, learner) for task, it in TASKS.items() for learner in it.learners]
)
def test_a_weight_of_zero_is_absence(task, learner, tmp_path):
    """Bit for bit, for every learner: with seeds, folds, taggers, pruners and samples of pixels."""
    it = TASKS[task]
    examples = it.examples[: 4 if it.kind is ImageSegmenter else 12]
    weight = np.ones(len(examples))
    weight[[0, 3]] = 0
    present = [one for one, w in zip(examples, weight, strict=True) if w]
    weighted = it.make(learner).fit(examples, sample_weight=weight)
    removed = it.make(learner).fit(present)
    assert stored(weighted, tmp_path / "a") == stored(removed, tmp_path / "b")


def test_labels_of_weight_zero_are_unknown():
    examples = [*TAGGED[:6], [("odd", "ODD")]]
    weight = [1.0] * 6 + [0.0]
    assert "ODD" not in Tagger("pos", max_iter=1).fit(examples, sample_weight=weight).classes_


@pytest.mark.parametrize("scale", [1e-6, 0.3, 1.0])
def test_small_weights_leave_no_feature_out(scale):
    """Counts are rounded, and at least 1: weights that add up to 1 keep all features."""
    weights = np.full(len(TAGGED), scale)
    model = Tagger("pos", "crf", min_count=2, max_iter=3).fit(TAGGED, sample_weight=weights)
    plain = Tagger("pos", "crf", min_count=2, max_iter=3).fit(TAGGED)
    assert model.model_.training["features"] == plain.model_.training["features"]


def test_counts_of_a_weighted_corpus():
    corpus = Corpus.from_sentences(TAGGED)
    weighted, copied = corpus.weighted(WEIGHTS), Corpus.from_sentences([TAGGED[i] for i in SPREAD])
    assert weighted.weights == WEIGHTS[WEIGHTS > 0].tolist()
    for column in ("word", "pos"):
        assert weighted.counts(column) == copied.counts(column)
    assert weighted.subset([1, 0]).weights == weighted.weights[1::-1]
    assert corpus.weights == []
    halves = corpus.weighted(np.full(len(TAGGED), 0.5))
    assert halves.counts("pos") == corpus.counts("pos")
    many = corpus.weighted([1e300] * len(TAGGED))
    assert min(many.counts("pos").values()) >= 2**32 - 1


# -- estimators -----------------------------------------------------------------------------------


WORDS = [[w for w, _ in s] for s in TAGGED]
TAGS = [[t for _, t in s] for s in TAGGED]
TOKENS = [
    [{"w": w, "end": w[-2:], "before": row[t - 1] if t else "^"} for t, w in enumerate(row)]
    for row in WORDS
]
SITES = [token for row in TOKENS for token in row]
CLASSES = [tag for row in TAGS for tag in row]


def assert_same_weights(one, other, tolerance):
    assert one.feature_names_ == other.feature_names_
    assert one.classes_.tolist() == other.classes_.tolist()
    a, b = (m.coef_ if isinstance(m.coef_, dict) else {"label": m.coef_} for m in (one, other))
    for name in a:
        np.testing.assert_allclose(a[name], b[name], atol=tolerance)


@pytest.mark.parametrize(
    "make",
    [
        lambda **o: CRF(C=0.3, tol=1e-10, **o),
        lambda **o: CRF(C=0.3, l1=0.2, tol=1e-10, **o),
        lambda **o: CRF(C=0.3, tol=1e-10, all_possible_states=True, **o),
    ],
)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_estimators(make, class_weight):
    options = {"min_count": 3, "class_weight": class_weight}
    weighted = make(**options).fit(TOKENS, TAGS, sample_weight=WEIGHTS)
    for order in (IN_PLACE, SPREAD):
        copied = make(**options).fit([TOKENS[i] for i in order], [TAGS[i] for i in order])
        assert_same_weights(weighted, copied, 1e-4)
        np.testing.assert_allclose(weighted.class_count_, copied.class_count_)
    plain = make(**options).fit(TOKENS, TAGS)
    assert plain.feature_names_ != weighted.feature_names_


def test_single_sites():
    weights = np.random.default_rng(1).integers(0, 4, size=len(SITES))
    order = np.repeat(np.arange(len(SITES)), weights)
    make = lambda: CRF("multiclass", min_count=3, class_weight="balanced", tol=1e-10)  # noqa: E731
    weighted = make().fit(SITES, CLASSES, sample_weight=weights)
    copied = make().fit([SITES[i] for i in order], [CLASSES[i] for i in order])
    assert_same_weights(weighted, copied, 1e-4)


def test_hinge():
    make = lambda: StructuredSVM(C=0.05, tol=1e-4, max_iter=9999, min_count=3)  # noqa: E731
    weighted = make().fit(TOKENS, TAGS, sample_weight=WEIGHTS)
    copied = make().fit([TOKENS[i] for i in SPREAD], [TAGS[i] for i in SPREAD])
    assert weighted.feature_names_ == copied.feature_names_
    difference = weighted.objective_ - copied.objective_
    assert -copied.duality_gap_ <= difference <= weighted.duality_gap_


@pytest.mark.parametrize("rare", [1, 3])
def test_hidden_markov(rare):
    weighted = HMM(rare=rare).fit(WORDS, TAGS, sample_weight=WEIGHTS)
    copied = HMM(rare=rare).fit([WORDS[i] for i in SPREAD], [TAGS[i] for i in SPREAD])
    new = [s.words for s in HELD_OUT]
    for a, b in zip(weighted.predict_marginals(new), copied.predict_marginals(new), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_copies_are_copies_whatever_stands_in_columns_that_nobody_reads():
    """Adjacent sentences with the same words share a fold, so lexica ignore other columns."""
    rng = np.random.default_rng(4)
    texts = [[(str(w), str(rng.choice(list("NV")))) for w in rng.choice(list("abcdefgh"), size=3)]
             for _ in range(7)]  # fmt: skip
    rows = [text for text in texts for _ in range(2)]
    noted = [[(*token, str(s)) for token in text] for s, text in enumerate(rows)]
    templates = FeatureTemplates.parse("seen(word)")
    plain, other = (Tagger(templates, "crf", target=2).fit(x) for x in (rows, noted))
    words = [list("abcd"), list("hgfe")]
    assert plain.predict_marginals(words) == other.predict_marginals(
        [[(w, "_", "?") for w in s] for s in words]
    )
