"""One sentence in one call of the core: the labels of the general way, whatever came before."""

import gc
import random
import threading
import tracemalloc

import pytest

from structlearn.datasets import make_treebank
from structlearn.exceptions import FileError
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.text import Corpus, FeatureTemplates

pytestmark = pytest.mark.filterwarnings("ignore::structlearn.exceptions.ConvergenceWarning")
BANK = make_treebank(60, random_state=0)
TAGS = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
CHUNKS = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]
NEW = [list(s.words) for s in make_treebank(30, random_state=1)] + [["Größe", "名", "", "a b"]]


def conllu(sentences):
    """Sentences with their tags in the ten columns of CoNLL-U."""
    rows = [[(str(i), w, "_", t, *"______") for i, (w, t) in enumerate(s, 1)] for s in sentences]
    return Corpus.from_sentences(rows, "conllu")


def shouted(word):
    return word.upper()


def neighbours(tokens):
    return [[before[0], "again"] for before in [("",), *tokens[:-1]]]


QUICK = {"max_iter": 2, "n_models": 1, "random_state": 0}
CASES = {
    "pos": lambda: Tagger("pos", **QUICK).fit(TAGS),
    "crf": lambda: Tagger("pos", "crf", **{**QUICK, "tol": 0.1}).fit(TAGS),
    "hmm": lambda: Tagger(learner="hmm").fit(TAGS),
    "conllu": lambda: Tagger("pos", **QUICK).fit(conllu(TAGS)),
    "order 2": lambda: Tagger("pos", order=2, **QUICK).fit(TAGS),
    "order 0": lambda: Tagger("pos", order=0, **QUICK).fit(TAGS),
    "candidates": lambda: Tagger("pos", candidates=4, **QUICK).fit(TAGS),
    "chunks": lambda: Tagger("chunk", scheme="iobes", **QUICK).fit(CHUNKS),
    "segments": lambda: SegmentTagger(**QUICK).fit(CHUNKS),
    "functions": lambda: Tagger(
        FeatureTemplates.parse(
            'word\ncall(word, "shouted")\nseen(word)\ntransition: word',
            functions={"shouted": shouted},
        ),
        **QUICK,
    ).fit(TAGS),
    "whole sentences": lambda: Tagger(
        FeatureTemplates.parse(
            'word\nsentence("neighbours")', functions={"neighbours": neighbours}
        ),
        **QUICK,
    ).fit(TAGS),
}
#: Cells that the model reads beside the word.
TAGGED = {"chunks", "segments"}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return request.param, CASES[request.param]()


def inputs(name):
    if name in TAGGED:
        tag = {w: t for s in TAGS for w, t in s}
        return [[(w, tag.get(w, "NN")) for w in s] for s in NEW]
    return NEW


def test_labels_are_those_of_the_general_way(case):
    name, model = case
    X = inputs(name)
    wanted = [model.predict([x, x])[1] for x in X]
    for _ in range(2):  # what is remembered of the first time changes nothing
        assert [model.predict_single(x) for x in X] == wanted
        assert [model.predict([x])[0] for x in X] == wanted
    assert [model.predict_single(tuple(x)) for x in X] == wanted
    assert {type(k) for labels in wanted for k in labels} == {str}
    fast = [model.model_.calls.predict(x) for x in X]
    assert fast == ([None] * len(X) if name == "whole sentences" else wanted)


@pytest.mark.filterwarnings("ignore:the probabilities")
def test_probabilities_are_those_of_the_general_way(case):
    name, model = case
    if name == "segments":
        pytest.skip("its parts are segments")
    for x in inputs(name):
        wanted = model.predict_marginals([x, x])[1]
        assert model.predict_marginals([x]) == [wanted]
        some = model.predict_marginals([x], least=0.1, temperature=2.0)[0]
        assert some == model.predict_marginals([x, x], least=0.1, temperature=2.0)[0]
        assert all(p == 0 or p >= 0.1 for token in some for p in token.values())
    assert model.predict_marginals([[]]) == [[]]
    with pytest.raises(ValueError, match="temperature"):
        model.predict_marginals([x], temperature=0)


def test_sentences_of_other_shapes(case):
    name, model = case
    x = inputs(name)[0]
    cells = [token if isinstance(token, tuple) else (token,) for token in x]
    wanted = model.predict([x, x])[0]
    assert model.predict_single(cells) == wanted
    assert model.predict_single(list(map(list, cells))) == wanted
    assert model.predict_single(iter(cells)) == wanted
    assert model.predict([]) == []
    assert model.predict_single([]) == model.predict_single("") == []
    if name not in TAGGED:
        assert model.predict_single(" ".join(map(str, x))) == wanted
        labelled = [(word, "ignored") for word in x]
        assert model.predict_single(labelled) == model.predict([labelled, labelled])[0]
    if name != "whole sentences":
        longer = [(*token, *["?"] * 12) for token in cells]
        assert model.model_.calls.predict(longer) is None
        assert model.predict_single(longer) == model.predict([longer, longer])[0]


@pytest.mark.parametrize(
    "x",
    [
        ["a", 3],
        ["a", None],
        [("a", "b"), ("a",)],
        ["a", "\ud800"],
        [{"a": 1}, {"b": 2}],
        {"a": 1},
        3,
        b"ab",
        [()],
    ],
)
@pytest.mark.parametrize("name", ["pos", "segments"])
def test_errors_are_those_of_the_general_way(name, x):
    model = CASES[name]()
    with pytest.raises((ValueError, TypeError)) as general:
        model._ask([x], model._best, model._no_output, {})
    for ask in (model.predict_single, lambda one: model.predict([one])):
        with pytest.raises(type(general.value)) as raised:
            ask(x)
        assert str(raised.value) == str(general.value)
    good = inputs(name)[0]
    assert model.predict_single(good) == model.predict([good, good])[0]


def test_a_missing_column():
    model = CASES["chunks"]()
    with pytest.raises(FileError, match=r"pos \(column 2\) is missing"):
        model.predict_single(["Fish", "sleep"])


def test_functions_that_fail_and_that_call_the_model(tmp_path):
    model = CASES["functions"]()
    wanted = [model.predict([x, x])[0] for x in NEW]
    asked = []

    def curious(word):
        if not asked:
            asked.append(word)
            asked.append(model.predict_single(NEW[1]))
        if word == "fails":
            raise LookupError("no such word")
        return word.upper()

    model.save(tmp_path / "model")
    with_function = Tagger.load(tmp_path / "model", functions={"shouted": curious})
    assert with_function.predict_single(NEW[0]) == wanted[0]
    assert asked[1] == wanted[1]
    with pytest.raises(LookupError, match="no such word"):
        with_function.predict_single(["fails"])
    assert [with_function.predict_single(x) for x in NEW] == wanted


def test_several_threads_call_one_model(case):
    name, model = case
    X = [*inputs(name), *(x * 60 for x in inputs(name)[:3])]  # other threads run in long ones
    wanted, wrong = [model.predict([x, x])[0] for x in X], []

    def work(seed):
        rng = random.Random(seed)
        for _ in range(60):
            i = rng.randrange(len(X))
            if model.predict_single(X[i]) != wanted[i]:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_memory_is_bounded():
    """Words that were never seen are remembered, and forgotten when there are too many."""
    try:
        resident()
    except OSError:
        pytest.skip("there is no /proc here")
    model = CASES["pos"]()
    wanted = [model.predict([x, x])[0] for x in NEW]

    def call(begin, end):
        for i in range(begin, end):
            model.predict_single([f"word{i}-{j}" for j in range(50)])

    call(0, 3_000)  # 150,000 words
    gc.collect()
    before = resident()
    call(3_000, 12_000)
    assert resident() - before < 24 << 20
    assert [model.predict_single(x) for x in NEW] == wanted


def test_calls_leave_nothing_behind():
    model = CASES["pos"]()
    for _ in range(50):
        model.predict_single(NEW[0])
    tracemalloc.start()
    try:
        for _ in range(2000):
            model.predict_single(NEW[0])
        assert tracemalloc.get_traced_memory()[0] < 20_000
    finally:
        tracemalloc.stop()
