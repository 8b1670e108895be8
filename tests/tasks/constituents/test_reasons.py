"""What decided a tree: the parts of both trees by name, against scores and keys of the core."""

import pytest

from structlearn import _core
from structlearn.datasets import make_treebank
from structlearn.tasks import ConstituencyParser
from structlearn.tasks.constituents.model import spans_of
from structlearn.tasks.constituents.naming import SpanNames
from structlearn.tasks.inspection import inspect_task

BANK = make_treebank(120, random_state=0)
TREES = [s.brackets for s in BANK]
TAGGED = [(list(s.words), list(s.tags)) for s in BANK]


@pytest.fixture(scope="module")
def parser():
    return ConstituencyParser(max_iter=2, gold_tags=True).fit(TREES[:100])


def test_parts_add_up_to_the_score_of_a_tree(parser):
    for words, tags in TAGGED[100:]:
        for score, output in parser.model_.inputs([(words, tags)]).kbest(3)[0]:
            sites, pairs = parser.model_.core.parts(words, tags, list(spans_of(output)))
            total = sum(sum(site[-1]) for site in sites) + sum(pair[-1] for pair in pairs)
            assert total == pytest.approx(score, abs=1e-4)


def test_names_are_as_many_as_features(parser):
    """One name for each key and one key for each name, part by part."""
    model = parser.model_
    known = set(memoryview(model.arrays["known"]).cast("B").cast("Q"))
    labels = ["+".join(chain) for chain in model.labels]
    keys, names, blocks = {}, {}, set()
    for words, tags in TAGGED:
        if not {_core.word_key(word) for word in words} <= known:
            continue  # rare words are known by their shapes and endings
        named = SpanNames(words, tags, labels)
        for _, output in model.inputs([(words, tags)]).kbest(3)[0]:
            sites, _ = model.core.parts(words, tags, list(spans_of(output)))
            for block, i, k, j, label, found, _ in sites:
                blocks.add(block)
                said = named.named(block, i, k, j, label)
                assert len(said) == len(found)
                kind = block + 10 * (block == 0 and j == i + 1)
                for t, (name, key) in enumerate(zip(said, found, strict=True)):
                    feature = name.split("': ", 1)[1]
                    assert names.setdefault((kind, t, key), feature) == feature
                    assert keys.setdefault((kind, t, feature), key) == key
    assert blocks == set(range(6))
    assert len(keys) > 2000


@pytest.mark.parametrize("learner", ["adagrad", "pcfg"])
def test_contributions_add_up_to_the_margin(parser, learner):
    if learner == "pcfg":
        parser = ConstituencyParser("pcfg", gold_tags=True, vertical=1, horizontal=0)
        parser.fit(TREES)
    given = [list(zip(*one, strict=True)) for one in TAGGED[100:]]
    given.append([(word, "?") for word in TAGGED[100][0]])
    ranked = parser.predict_kbest(given, 2)
    n_checked = 0
    for rows, best in zip(parser.explain(given), ranked, strict=True):
        if len(best) < 2:
            assert rows == []
            continue
        (row,) = rows
        assert str(row["label"]) == str(best[0][1])
        assert str(row["runner_up"]) == str(best[1][1])
        assert row["margin"] == pytest.approx(best[0][0] - best[1][0])
        values = [value for _, value in row["contributions"]]
        assert sum(values) == pytest.approx(row["margin"], abs=1e-4)
        assert values or row["margin"] == 0  # other trees may have the same rules
        assert list(map(abs, values)) == sorted(map(abs, values), reverse=True)
        n_checked += 1
    assert n_checked > 15


def test_inspection_of_a_sentence_shows_what_decided(parser):
    given = [list(zip(*TAGGED[100], strict=True))]
    ((row,),) = parser.explain(given)
    text = inspect_task(parser, 3, given)
    assert text.startswith(str(row["label"]))  # the tree, not the whole model
    assert f"not {row['runner_up']}: ahead by {row['margin']:.3f}" in text
    for name, value in row["contributions"][:3]:
        assert f"{value:>+10.3f}  {name}" in text
    assert "What decided" in inspect_task(parser, 3, given, page=True)
