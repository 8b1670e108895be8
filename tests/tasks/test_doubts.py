"""What is worth a look, of every task: doubt is what the model's queries say, and has a reason."""

import json
import math

import pytest

from structlearn.cli import run
from structlearn.datasets import make_treebank
from structlearn.exceptions import CapabilityError
from structlearn.tasks import ConstituencyParser, DependencyParser, ImageSegmenter, WordSegmenter
from structlearn.tasks.base import FileTask


def bracketed(tree):
    """Return a tree of tuples as text."""
    return f"({' '.join([tree[0], *(x if type(x) is str else bracketed(x) for x in tree[1:])])})"


BANK = list(make_treebank(120, random_state=0))
ARCS = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
TREES = [bracketed(s.tree) for s in BANK]
WORDS = [list(s.words) for s in BANK[60:]]


@pytest.fixture(scope="module")
def models():
    options = {"max_iter": 3, "hash_bits": 12}
    return {
        "parser": DependencyParser(order=1, folds=2, **options).fit(ARCS[:40], dev=ARCS[40:60]),
        "second order": DependencyParser(order=2, folds=2, **options).fit(
            ARCS[:40], dev=ARCS[40:60]
        ),
        "constituents": ConstituencyParser(max_iter=3, folds=2).fit(TREES[:40], dev=TREES[40:60]),
        "words": WordSegmenter(max_iter=3).fit(
            [list(s.words) for s in BANK[:40]], dev=[list(s.words) for s in BANK[40:60]]
        ),
    }


def given(name):
    return ["".join(row) for row in WORDS] if name == "words" else WORDS


@pytest.mark.filterwarnings("ignore:the probabilities")
@pytest.mark.parametrize("name", ["parser", "second order", "constituents", "words"])
@pytest.mark.parametrize("by", ["entropy", "mean", "least", "whole"])
def test_doubt_is_what_the_queries_say(models, name, by):
    model, X = models[name], given(name)
    found = model.least_sure(X, 10, by=by)
    predicted = model.predict(X)
    n_words = [len(y) for y in predicted] if name == "words" else list(map(len, X))
    doubts = {
        "entropy": lambda: model.entropy(X),
        "mean": lambda: [h / n for h, n in zip(model.entropy(X), n_words, strict=True)],
        "least": lambda: [1 - min(row) for row in model.confidence(X)],
        "whole": lambda: [1 - p for p in model.predict_proba(X)],
    }[by]()
    assert len(found) == 10
    for one in found:
        assert one.doubt == pytest.approx(doubts[one.number - 1], abs=1e-9)
    shown = [one.doubt for one in found]
    assert shown == sorted(shown, reverse=True)
    rest = [d for i, d in enumerate(doubts) if i + 1 not in {one.number for one in found}]
    assert shown[-1] >= max(rest) - 1e-9


@pytest.mark.filterwarnings("ignore:the probabilities")
def test_reasons_name_the_part_that_is_least_sure(models):
    for name in ("parser", "second order"):
        for one in models[name].least_sure(WORDS, 5):
            m = min(range(len(one.words)), key=one.confidence.__getitem__)
            head, relation = one.labels[m].split(":", 1)
            place = f"{relation} of {one.words[int(head) - 1]!r}" if int(head) else relation
            assert one.reason.startswith(f"{one.words[m]!r} is {place}")
            marginals = models[name].predict_marginals([one.words], least=0)[0][m]
            rest = {arc: p for arc, p in marginals.items() if arc != (int(head), relation)}
            other, p = max(rest.items(), key=lambda item: item[1])
            assert f", or {other[1]}" in one.reason
            assert f"with {p:.2f}" in one.reason
    for one in models["constituents"].least_sure(WORDS, 5):
        k = min(range(len(one.labels)), key=one.confidence.__getitem__)
        place, _, label = one.labels[k].partition(":")
        begin, end = map(int, place.split("-"))
        assert one.reason.startswith(f"{' '.join(one.words[begin:end])!r} is {label} with ")
    for one in models["words"].least_sure(given("words"), 5):
        k = min(range(len(one.words)), key=one.confidence.__getitem__)
        assert one.reason.startswith(f"{one.words[k]!r} is a word with {one.confidence[k]:.2f}")
        assert "".join(one.words) == given("words")[one.number - 1]


@pytest.mark.filterwarnings("ignore:the probabilities")
def test_the_command_ranks_what_train_makes(models, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.txt").write_text("".join(" ".join(row) + "\n" for row in WORDS))
    (tmp_path / "joined.txt").write_text("".join("".join(row) + "\n" for row in WORDS))
    for name, model in models.items():
        file = "joined.txt" if name == "words" else "texts.txt"
        model.save("m.model")
        assert run(["rank", "m.model", file, "--least-sure", "3", "--json", "--by", "whole"]) == 0
        items = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
        wanted = model.least_sure(given(name), 3, by="whole")
        assert [(i["sentence"], i["reason"]) for i in items] == [
            (one.number, one.reason) for one in wanted
        ]
        assert all(
            math.isclose(i["doubt"], one.doubt, abs_tol=5e-5)
            for i, one in zip(items, wanted, strict=True)
        )
        assert items[0][model._parts] == wanted[0].labels
        assert run(["rank", "m.model", file, "--least-sure", "2", "--by", "whole"]) == 0
        assert wanted[0].reason.split(" with")[0] in capfd.readouterr().out
        assert run(["rank", "m.model", file, "--word", "token"]) == 1
        assert "--word" in capfd.readouterr().err


def test_images_are_refused_by_name():
    with pytest.raises(CapabilityError, match="image segmenters cannot be ranked"):
        FileTask._pool(ImageSegmenter(), [])
