"""Every task on no sentences, empty ones and what is none: an answer, or an error that helps."""

import functools

import numpy as np
import pytest

from structlearn.datasets import make_treebank
from structlearn.tasks import ConstituencyParser, DependencyParser, SegmentTagger, Tagger

BANK = list(make_treebank(40, random_state=0))
TAGGED = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
CHUNKED = [list(zip(s.words, s.chunks, strict=True)) for s in BANK]
HEADED = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
TREES = [s.brackets for s in BANK]


@pytest.fixture(scope="module")
def tasks():
    return {
        "tagger": Tagger("pos", max_iter=1).fit(TAGGED),
        "crf": Tagger("pos", "crf", max_iter=2).fit(TAGGED),
        "hmm": Tagger(learner="hmm").fit(TAGGED),
        "segments": SegmentTagger(max_iter=1).fit(CHUNKED),
        "parser": DependencyParser(1, hash_bits=12, max_iter=1, folds=2).fit(HEADED),
        "parser of pairs": DependencyParser(2, gold_tags=True, hash_bits=12, max_iter=1).fit(
            HEADED
        ),
        "constituents": ConstituencyParser(max_iter=1, folds=2).fit(TREES),
        "constituents by tags": ConstituencyParser(max_iter=1, gold_tags=True).fit(TREES),
        "pcfg": ConstituencyParser("pcfg").fit(TREES),
    }


NAMES = (
    "tagger", "crf", "hmm", "segments", "parser", "parser of pairs", "constituents",
    "constituents by tags", "pcfg",
)  # fmt: skip
EACH = pytest.mark.parametrize("name", NAMES)
LABELLING = (
    "predict", "predict_kbest", "predict_marginals", "predict_proba", "predict_segments", "sample",
    "entropy",
)  # fmt: skip
JUDGING = ("evaluate", "report", "score")


def queries(task, names):
    for name in names:
        if hasattr(task, name):
            ask = getattr(task, name)
            if name == "sample":
                ask = functools.partial(ask, random_state=0)
            yield name, (lambda source, ask=ask: ask(source, 2)) if "kbest" in name else ask


@EACH
@pytest.mark.parametrize("make", [list, tuple, lambda: iter([]), lambda: np.empty(0)])
def test_no_sentences(tasks, name, make):
    """Nothing in, nothing out; and nothing to learn from or to be judged by."""
    task = tasks[name]
    for query, ask in queries(task, LABELLING):
        assert ask(make()) == [], query
    for query, ask in queries(task, JUDGING):
        with pytest.raises(ValueError, match="there are no sentences"):
            ask(make())
        assert query
    new = type(task)(**task.get_params())
    with pytest.raises(ValueError, match="there are no sentences"):
        new.fit(make())
    assert not hasattr(new, "model_")
    with pytest.raises(ValueError, match="there are no sentences"):
        new.fit(make(), [])
    if hasattr(task, "draw"):
        with pytest.raises(ValueError, match="there are no sentences"):
            task.draw(make())


@EACH
def test_an_empty_dev_set(tasks, name):
    task = tasks[name]
    if name in ("hmm", "pcfg"):
        return
    train = {"segments": CHUNKED, "parser": HEADED, "parser of pairs": HEADED}.get(name, TAGGED)
    new = type(task)(**task.get_params())
    with pytest.raises(ValueError, match="there are no sentences"):
        new.fit(TREES if "constituents" in name else train, dev=[])


#: What stands for sentences, and what errors about it say.
WRONG = {
    "an empty one": ([[]], r"sentence [01] (has no tokens|is empty)"),
    "an empty one among others": ([["fish"], []], r"sentence [12] (has no tokens|is empty)"),
    "an empty string": ([""], r"sentence [01] (has no tokens|is empty)"),
    "blanks": (["  "], r"sentence [01] (has no tokens|is empty)"),
    "None": (None, "got None"),
    "a number": (7, "got int 7"),
    "a dictionary": ({"a": 1}, "got dict"),
    "bytes": (b"fish", "got bytes"),
    "numbers": ([7], r"sentence [01] is not a list of"),
    "Nones": ([None], r"sentence [01] is not a list of"),
    "numbers as words": ([[7]], r"sentence [01](:| is not a list).*7"),
    "None as a word": ([[None]], r"sentence [01](:| is not a list).*None"),
    "half a character": ([["a\ud800"]], "half a character"),
    "half a character in a string": (["fish a\ud800"], "half a character"),
    "no file": ("no such file", "no such file"),
}


EMPTY = ([[]], [["fish"], []], [""], ["  "])


@EACH
def test_an_empty_sentence_in_a_batch(tasks, name):
    """It has an empty answer, and the others have the answers that they have without it."""
    task = tasks[name]
    given = [TAGGED[0], TAGGED[1]] if "tags" in name or "pairs" in name else [["fish"], ["a", "b"]]
    for query, ask in queries(task, LABELLING):
        if name == "parser of pairs" and query != "predict":  # no sums
            assert len(ask([[], ""])) == 2
            continue
        alone = ask(given)
        found = ask([[], given[0], "", given[1], ()])
        assert [found[1], found[3]] == alone, query
        assert len(found) == 5
        assert found[0] == found[2] == found[4] == ask([[]])[0]
        tree = query in ("predict", "predict_kbest", "sample") and hasattr(task, "draw")
        wanted = {"predict_kbest": [(0.0, [])], "predict_proba": 1.0, "sample": [[]], "entropy": 0}
        if not tree:
            assert found[2] == wanted.get(query, {} if isinstance(found[2], dict) else [])
        elif query == "predict":
            assert found[2].words == []
        else:
            (one,) = found[2]
            assert (one if query == "sample" else one[1]).words == []


@EACH
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_sentence(tasks, name, wrong):
    source, message = WRONG[wrong]
    for query, ask in queries(tasks[name], LABELLING):
        if source in EMPTY:
            continue  # answered: see above
        with pytest.raises(ValueError, match=message):
            ask(source)
        assert query
    for query, ask in queries(tasks[name], JUDGING):
        with pytest.raises(ValueError, match=rf"{message}|a tree is a Tree or|tree 1 of the list"):
            ask(source)
        assert query
    with pytest.raises(ValueError, match=rf"{message}|a tree is a Tree or|tree 1 of the list"):
        type(tasks[name])().fit(source)


@pytest.mark.parametrize("name", ["tagger", "crf", "hmm", "segments"])
def test_cells_of_different_numbers(tasks, name):
    ragged = [[("fish", "N")], [("a", "D"), ("b",)]]
    message = "sentence 1: token 1 has 1 cells, token 0 has 2; every token has the same columns"
    for ask in (tasks[name].predict, tasks[name].evaluate, type(tasks[name])().fit):
        with pytest.raises(ValueError, match=message):
            ask(ragged)


@pytest.mark.parametrize(
    "name", ["tagger", "crf", "hmm", "segments", "parser", "constituents", "pcfg"]
)
@pytest.mark.parametrize("n", [0, -1, 1.5, "2", None, True])
def test_numbers_of_outputs(tasks, name, n):
    message = f"n must be a whole number of at least 1, got {n!r}"
    for source in ([["fish", "sleep"]], []):
        with pytest.raises(ValueError, match=message):
            tasks[name].predict_kbest(source, n)


def test_halves_of_characters_in_trees():
    parser = ConstituencyParser(max_iter=1, gold_tags=True)
    for tree in ("(S (N a\ud800))", "(S (N\ud800 a))"):
        with pytest.raises(ValueError, match=r"sentence 41 is .*half a character"):
            parser.fit([*TREES, tree])
    with pytest.raises(ValueError, match=r"token 0 has .*half a character"):
        DependencyParser().fit([[("a", "N", 0, "\ud800")]])


def test_words_with_their_tags(tasks):
    """Constituents of (word, tag) are those of a tree with these words and tags."""
    parser = tasks["constituents by tags"]
    found = parser.predict(TAGGED[:5])
    assert list(map(str, found)) == list(map(str, parser.predict(TREES[:5])))
    free = tasks["constituents"]  # tags its words itself
    words = [[word for word, _ in sentence] for sentence in TAGGED[:5]]
    assert list(map(str, free.predict(TAGGED[:5]))) == list(map(str, free.predict(words)))
    for mixed in ([("fish", "N"), "sleep"], [("fish", "N", 1)], [("fish", 7)]):
        with pytest.raises(ValueError, match=r"sentence 1: .* is not a (word|tag): .*\(word"):
            parser.predict([mixed])
    with pytest.raises(ValueError, match=r"sentence 1 has no tags.*pairs"):
        parser.predict([["fish"]])
    with pytest.raises(IndexError, match="sentence 5 does not exist: there are 1"):
        parser.draw([[("fish", "N")]], 5)


def test_labels_that_are_no_chunks_are_placed(tasks):
    gold = [CHUNKED[0], [("fish", "N")]]
    with pytest.raises(ValueError, match="sentence 1, position 0: the label 'N'"):
        tasks["segments"].evaluate(gold)


@EACH
def test_one_sentence_is_not_taken_for_many(tasks, name):
    """Tokens where sentences belong: refused by every call, in a list and from an iterator."""
    task = tasks[name]
    bare, tagged = [("Fish",), ("sleep",)], [("Fish", "N"), ("sleep", "V")]
    for tokens in (bare, tagged, [{"word": "Fish"}, {"word": "sleep"}]):
        for query, ask in queries(task, (*LABELLING, *JUDGING)):
            for given in (tokens, iter(tokens)) if query not in JUDGING else (tokens,):
                if "constituents" in name or name == "pcfg":
                    message = "pass a list of sentences|a tree is a Tree"
                else:
                    message = "pass a list of sentences"
                with pytest.raises(ValueError, match=message):
                    ask(given)
    if name in ("tagger", "segments", "parser"):
        new = type(task)(**task.get_params())
        with pytest.raises(ValueError, match="pass a list of sentences"):
            new.fit(tagged)
        with pytest.raises(ValueError, match="pass a list of sentences"):
            new.fit(bare, ["N", "V"])


@pytest.mark.parametrize("name", ["tagger", "parser", "constituents"])
def test_tuples_of_words_that_are_sentences(tasks, name):
    """As many sentences as there are tuples, where their lengths or their tokens tell."""
    task = tasks[name]
    rows = [["fish", "sleep"], ["dogs", "see", "fish"]]
    wanted = list(map(str, task.predict(rows)))
    assert list(map(str, task.predict([tuple(row) for row in rows]))) == wanted
    assert list(map(str, task.predict([tuple(rows[0])]))) == wanted[:1]
    pairs = [tuple((word, "N") for word in row) for row in rows[:1] * 2]
    assert len(task.predict(pairs)) == 2


def test_dictionaries_and_numbers_are_no_cells_of_tokens():
    token = {"word": "Fish", "tag": "N"}
    for sentence in ([token], [{"Fish", "N"}]):
        with pytest.raises(ValueError, match=r"sentence 0: token 0 is .*The estimators"):
            Tagger(n_models=1).fit([sentence])
    with pytest.raises(ValueError, match=r"sentence 1: the label 7 is not a string.*str\(label\)"):
        Tagger().fit([["fish"], ["sleep"]], [["N"], [7]])
    with pytest.raises(ValueError, match="pass a list of sentences"):
        Tagger().fit([["fish"], ["sleep"]], [1, 2])


class Frame:
    """What tells a data frame."""

    columns, shape = ["word"], (2, 1)

    def __iter__(self):
        return iter(self.columns)


@EACH
def test_data_frames_of_sentences(tasks, name):
    with pytest.raises(ValueError, match=r"sentence 0 is a Frame: .*read_frame.*itertuples"):
        tasks[name].predict([Frame(), Frame()])


@EACH
def test_iterators_with_empty_sentences(tasks, name):
    if name == "parser of pairs" or name == "constituents by tags":
        return
    rows = [["fish", "sleep"], [], ["dogs"]]
    task = tasks[name]
    assert list(map(str, task.predict(iter(rows)))) == list(map(str, task.predict(rows)))
