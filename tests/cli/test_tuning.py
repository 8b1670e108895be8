"""``structlearn train ... --tune``: the best candidate is found, shown and trained."""

import re

import pytest

from structlearn import cli, load
from structlearn.datasets import make_treebank
from structlearn.tasks import Tagger
from structlearn.text.sources import read_source


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bank = make_treebank(45, random_state=0)
    text = ["\n".join(map(" ".join, zip(s.words, s.chunks, strict=True))) for s in bank]
    (tmp_path / "train.txt").write_text("\n\n".join(text[:30]) + "\n")
    (tmp_path / "dev.txt").write_text("\n\n".join(text[30:]) + "\n")
    return tmp_path


def scores(told):
    return [float(x) for x in re.findall(r"^ *\d+ .* +(\d+\.\d\d)  █", told, re.MULTILINE)]


@pytest.mark.parametrize("dev", [True, False])
def test_the_best_candidate_is_trained(files, capsys, dev):
    command = ["train", "ner", "train.txt", "--model", "m.model", "--quiet"]
    command += ["--tune", "max_iter=1/6,order=1/2", *(["--dev", "dev.txt"] if dev else [])]
    assert cli.run(command) == 0
    told = capsys.readouterr().err
    assert ("scores on the dev set" if dev else "scores on 3 folds") in told
    train, held = read_source("train.txt"), read_source("dev.txt")

    def score(**options):
        if dev:
            return Tagger("ner", **options).fit(train).evaluate(held)["f1"]
        found = 0.0
        for k in range(3):
            rest = train.subset([s for s in range(30) if s % 3 != k])
            found += Tagger("ner", **options).fit(rest).evaluate(
                train.subset(range(k, 30, 3)))["f1"] / 3  # fmt: skip
        return found

    wanted = {(n, k): score(max_iter=n, order=k) for n in (1, 6) for k in (1, 2)}
    assert scores(told) == pytest.approx([100 * x for x in wanted.values()], abs=0.006)
    best = max(wanted, key=wanted.get)
    assert told.count("  best") >= 1
    assert load("m.model").order == best[1]


def test_what_cannot_be_tuned_is_said(files, capsys):
    for tune, reason in [
        ("colour", "name one of C, l1, order"),
        ("eta0", "with its values"),
        ("max_iter=" + "/".join(map(str, range(1, 70))), "69 candidates; at most 60"),
    ]:
        assert cli.run(["train", "ner", "train.txt", "--model", "m", "--tune", tune]) != 0
        assert reason in capsys.readouterr().err
    assert cli.run(["train", "ner", "train.txt", "--model", "m", "--tune", "C", "--stream"]) != 0
    assert "without --stream" in capsys.readouterr().err
