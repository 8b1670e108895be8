"""As many answers as inputs, whatever the inputs are: every class, every call, every empty input.

The answers for inputs with something in them are those that they get without the empty ones, in
their places; an empty input has the empty answer.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse

from structlearn.datasets import make_treebank
from structlearn.estimators import CRF, HMM, MultiLabelClassifier, StructuredPerceptron
from structlearn.exceptions import CapabilityError
from structlearn.structures import Chain, SemiMarkov
from structlearn.tasks import (
    ConstituencyParser,
    DependencyParser,
    Pipeline,
    SegmentTagger,
    Tagger,
)
from structlearn.tasks.pipeline.doc import DocSentence
from structlearn.text import Tree

from .tasks.pipeline.small_treebank import treebank

BANK = list(make_treebank(40, random_state=0))
TAGGED = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
CHUNKED = [list(zip(s.words, s.chunks, strict=True)) for s in BANK]
HEADED = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
TREES = [s.brackets for s in BANK]
WORDS = [list(s.words) for s in BANK]
TAGS = [list(s.tags) for s in BANK]
TOKENS = [[{"word": w, "end": w[-1:]} for w in row] for row in WORDS]
ARRAYS = [np.random.default_rng(i).normal(size=(len(row), 3)) for i, row in enumerate(WORDS)]
#: Two rows a position: segments of one token and of two.
SEGMENTS = [np.random.default_rng(i).normal(size=(2 * len(row), 3)) for i, row in enumerate(WORDS)]
SEGMENTED = [[(t, t + 1, k) for t, k in enumerate(row)] for row in TAGS]

#: Where the empty inputs (0) stand among the others.
PATTERNS = ([], [0], [0, 0], [0, 1], [1, 0], [1, 0, 2], [0, 1, 0, 0, 2, 0], [1, 2])
SMALL = {"n_models": 1, "max_iter": 1}
BLANK = ([], (), "", " \t\n", np.empty(0))


def stages():
    some = dict.fromkeys(("tokeniser", "splitter", "tags", "lemmas"), SMALL)
    return {**some, "parser": {"hash_bits": 12, **SMALL}, "folds": 2}


#: Name -> what makes it, two inputs (the first one has a single token), what stands for no tokens.
MADE = {
    "tagger": (lambda: Tagger("pos", **SMALL).fit(TAGGED), (["fish"], WORDS[0][:4]), BLANK),
    "tagger of order 0": (
        lambda: Tagger("pos", "crf", order=0, max_iter=2).fit(TAGGED),
        (["fish"], WORDS[0][:4]),
        BLANK,
    ),
    "hidden Markov tagger": (
        lambda: Tagger(learner="hmm").fit(TAGGED),
        (["fish"], WORDS[0][:4]),
        BLANK,
    ),
    "segments": (lambda: SegmentTagger(**SMALL).fit(CHUNKED), (["fish"], WORDS[0][:4]), BLANK),
    "parser": (
        lambda: DependencyParser(1, hash_bits=12, folds=2, **SMALL).fit(HEADED),
        (["fish"], WORDS[0][:4]),
        BLANK,
    ),
    "parser of pairs": (
        lambda: DependencyParser(2, gold_tags=True, hash_bits=12, **SMALL).fit(HEADED),
        ([("fish", "N")], TAGGED[0][:4]),
        BLANK,
    ),
    "constituents": (
        lambda: ConstituencyParser(folds=2, **SMALL).fit(TREES),
        (["fish"], WORDS[0][:4]),
        BLANK,
    ),
    "pcfg": (lambda: ConstituencyParser("pcfg").fit(TREES), (["fish"], WORDS[0][:4]), BLANK),
    "pipeline": (
        lambda: Pipeline(**stages()).fit(treebank(40)),
        (["Fish"], ["They", "don't", "!"]),
        ([], ()),
    ),
    "crf": (lambda: CRF(max_iter=3).fit(TOKENS, TAGS), (TOKENS[0][:1], TOKENS[1][:4]), ([], ())),
    "crf of order 0": (
        lambda: CRF(Chain(0), max_iter=3).fit(TOKENS, TAGS),
        (TOKENS[0][:1], TOKENS[1][:4]),
        ([],),
    ),
    "crf of order 2": (
        lambda: CRF(Chain(2), max_iter=2).fit(TOKENS, TAGS),
        (TOKENS[0][:1], TOKENS[1][:4]),
        ([],),
    ),
    "perceptron": (
        lambda: StructuredPerceptron(max_iter=1).fit(ARRAYS, TAGS),
        (ARRAYS[0][:1], ARRAYS[1][:4]),
        ([], np.empty((0, 3)), sparse.csr_matrix((0, 3))),
    ),
    "crf of blocks": (
        lambda: CRF(max_iter=3).fit([{"label": x} for x in ARRAYS], TAGS),
        ({"label": ARRAYS[0][:1]}, {"label": ARRAYS[1][:4]}),
        ({"label": np.empty((0, 3))}, {"label": []}),
    ),
    "semi-Markov crf": (
        lambda: CRF(SemiMarkov(2), max_iter=3).fit(SEGMENTS, SEGMENTED),
        (SEGMENTS[0][:2], SEGMENTS[1][:8]),
        ([], np.empty((0, 3))),
    ),
    "hmm": (lambda: HMM().fit(WORDS, TAGS), (["fish"], WORDS[0][:4]), ([], ())),
}
CALLS = {
    "predict": {},
    "predict_segments": {},
    "predict_kbest": {"n": 2},
    "predict_marginals": {},
    "predict_proba": {},
    "sample": {"n": 2, "random_state": 3},
    "entropy": {},
    "explain": {},
    "annotate": {"confidence": True, "split": True},
}


@pytest.fixture(scope="module")
def models():
    made = {}

    def get(name):
        if name not in made:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # few iterations
                made[name] = MADE[name][0]()
        return made[name]

    return get


def plain(found):
    """Return an answer as data that can be compared."""
    if isinstance(found, DocSentence):
        return [(s.text, s.confidence, [plain(t) for t in s.tokens]) for s in found.surfaces]
    if isinstance(found, Tree):
        return str(found) if found.words else []
    if isinstance(found, dict):
        return {key: plain(value) for key, value in found.items()}
    if isinstance(found, (np.ndarray, np.generic)):
        return found.tolist()
    if isinstance(found, (list, tuple)):
        return [plain(one) for one in found]
    if hasattr(found, "lemma"):
        return [
            found.text,
            found.lemma,
            found.upos,
            found.head_id,
            found.relation,
            found.confidence,
        ]
    return found


def is_empty(answer):
    """Nothing, certainty, or lists and scores of nothing."""
    if isinstance(answer, (list, dict)):
        return all(map(is_empty, answer.values() if isinstance(answer, dict) else answer))
    return answer in (0.0, 1.0)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", MADE)
def test_as_many_answers_as_inputs(models, name, call):
    model, (_, inputs, blanks) = models(name), MADE[name]
    if not hasattr(model, call):
        return
    ask = getattr(model, call)

    def answers(given):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # not calibrated
            found = ask(given, **CALLS[call])
            return [plain(one) for one in getattr(found, "sentences", found)]

    try:
        answers(list(inputs))
    except CapabilityError:
        return
    for pattern in PATTERNS:
        alone = iter(answers([inputs[k - 1] for k in pattern if k]))
        wanted = [next(alone) if k else None for k in pattern]
        for blank in blanks:
            given = [inputs[k - 1] if k else blank for k in pattern]
            for form in (list, tuple, iter) if blank is blanks[0] else (list,):
                found = answers(form(given))
                assert len(found) == len(given), (pattern, blank)
                for one, right in zip(found, wanted, strict=True):
                    if right is None:
                        assert is_empty(one), (pattern, blank, one)
                    else:
                        assert one == right, (pattern, blank)


def test_known_labels_beside_empty_sentences(models):
    tagger = models("tagger")
    given, label = [[], ["fish"], "", WORDS[0]], tagger.classes_[0]
    known = [[], [label], [], [None] * len(WORDS[0])]
    found = tagger.predict(given, known=known)
    assert found[0] == found[2] == []
    assert found[1] == [label]
    assert found[3] == tagger.predict([WORDS[0]])[0]
    for wrong in ([[label], [], [], known[3]], known[1:], [*known, []]):
        with pytest.raises(ValueError, match="known must have one entry for each token"):
            tagger.predict(given, known=wrong)


def test_trees_that_are_asked_about(models):
    parser = models("parser")
    tree = parser.predict([WORDS[0]])[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = parser.predict_proba([[], WORDS[0], ""], [[], tree, []])
        assert found == [1.0, *parser.predict_proba([WORDS[0]], [tree]), 1.0]


def test_texts_of_pipelines(models):
    nlp = models("pipeline")
    texts = ["", "They don't!", " \n\n ", "Fish", "\ufeff", "\r\n"]
    docs = list(nlp.pipe(texts))
    assert [doc.text for doc in docs] == texts
    assert [len(doc.sentences) for doc in docs] == [0, 1, 0, 1, 0, 0]
    assert all(doc.to_conllu() == str(doc) == "" and doc.rebuilt == doc.text for doc in docs[::2])


def test_documents_with_empty_sentences(models):
    """Everything that a document can be asked, with empty sentences in it and without."""
    nlp = models("pipeline")
    bare, full = (nlp.annotate(x, split=True) for x in ([["They", "don't", "!"], ["Fish"]],
                  [[], ["They", "don't", "!"], [], ["Fish"], []]))  # fmt: skip
    assert full.text == bare.text == full.rebuilt
    assert full.to_conllu() == bare.to_conllu()
    assert full.to_html() == bare.to_html()
    assert str(full) == str(bare)
    assert [s.text for s in full.sentences] == ["", "They don't !", "", "Fish", ""]
    assert [s.to_dict()["tokens"] for s in full.sentences][::2] == [[], [], []]
    assert [s.entities for s in full.sentences] == [[]] * 5
    assert full.sentences[0].tree == []


@pytest.mark.parametrize("text", ["", " ", "Fish swim."])
def test_pipelines_refuse_strings_for_sentences(models, text):
    nlp = models("pipeline")
    for ask in (nlp.annotate, nlp.predict, nlp.predict_kbest):
        with pytest.raises(TypeError, match="call the pipeline with the text"):
            ask(text)
        with pytest.raises(TypeError, match=r"sentence 1 is a string.*call the pipeline"):
            ask([["Fish"], text])
    with pytest.raises(TypeError, match="call the pipeline"):
        next(nlp.pipe(text))


def test_trees_without_a_parser(models):
    with pytest.raises(CapabilityError, match="no parser"):
        models("pipeline").without("parser").predict_kbest([["Fish"]])


def test_labels_of_no_examples():
    rng = np.random.default_rng(0)
    model = MultiLabelClassifier().fit(rng.normal(size=(20, 3)), rng.integers(2, size=(20, 2)))
    assert model.predict(np.empty((0, 3))).shape == (0, 2)
    assert model.predict_proba(np.empty((0, 3))).shape == (0, 2)
    assert list(model.explain(np.empty((0, 3)))) == []


def test_rows_of_datasets(models):
    """Batches as workers of a cluster label them; a row may have no tokens."""
    pandas = pytest.importorskip("pandas")
    from structlearn.distributed.datasets import _LabelRows

    rows = object.__new__(_LabelRows)
    rows._model = models("tagger")
    frame = pandas.DataFrame({"tokens": [[], ["fish"], [], WORDS[0]]})
    assert list(rows(frame)["labels"]) == models("tagger").predict([[], ["fish"], [], WORDS[0]])
    assert list(rows(frame[:0])["labels"]) == []
