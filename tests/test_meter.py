"""Progress: a bar on a terminal, plain lines elsewhere."""

import gzip
import io
import re
import sys
import time
from types import SimpleNamespace

import pytest

from structlearn import cli
from structlearn.datasets import make_treebank
from structlearn.estimators import StructuredPerceptron
from structlearn.meter import Meter, portions, say
from structlearn.tasks import ConstituencyParser, DependencyParser, Tagger


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    # Not sys.stderr itself, which pytest sets again between fixture and test.
    monkeypatch.setattr("structlearn.printing.sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(Meter, "delay", 0.0)
    monkeypatch.setenv("COLUMNS", "160")
    return stream


def plain(stream):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())


def opened(meter):
    """Wait until the bar is there."""
    end = time.monotonic() + 20
    while meter.bar is None:
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture
def corpus(tmp_path):
    bank = make_treebank(60, random_state=0)
    path = tmp_path / "train.txt"
    rows = (zip(s.words, s.tags, strict=True) for s in bank)
    path.write_text("\n".join("".join(f"{w} {t}\n" for w, t in row) for row in rows))
    return path


def test_bar_shows_what_is_done_and_the_time_left(terminal, monkeypatch):
    with Meter("training", 10) as meter:
        opened(meter)
        begin = meter._begin
        clock = SimpleNamespace(monotonic=lambda: begin + 8)
        monkeypatch.setattr("structlearn.meter.time", clock)
        meter.note(4, "pass 4/10  dev f1 0.9312")
        clock.monotonic = lambda: begin + 9
        say("a line above")
        meter.bar.refresh()
        assert meter.seconds_left == pytest.approx(11)  # 2 s each, of which one second has gone
    shown = plain(terminal)
    assert "pass 4/10  dev f1 0.9312" in shown
    assert re.search(r"\d:\d\d left", shown)
    assert "a line above\n" in shown
    assert Meter.current is None


def test_no_bar_before_two_seconds(terminal, monkeypatch):
    monkeypatch.setattr(Meter, "delay", 2.0)
    with Meter("training", 10) as meter:
        meter.note(4, "pass 4/10")
    assert terminal.getvalue() == ""


def test_without_rich_there_is_no_bar(terminal, monkeypatch):
    failed = []
    monkeypatch.setattr("threading.excepthook", failed.append)
    for name in [m for m in sys.modules if m.split(".")[0] == "rich"] + ["rich"]:
        monkeypatch.setitem(sys.modules, name, None)
    with Meter("labelling", 10) as meter:
        meter._timer.join()
        meter.show(4)
        say("a line")
        assert meter.bar is None
    assert not failed
    assert terminal.getvalue() == "a line\n"
    assert Meter.current is None


def test_lines_elsewhere(capsys):
    with Meter("training", 10) as meter:
        meter.note(4, "pass 4/10")
    with Meter("training", 10, shown=False) as meter:
        meter.note(5, "pass 5/10")
    assert capsys.readouterr().err == "pass 4/10\n"


def test_a_meter_inside_another_is_silent(terminal):
    with Meter("outer", 2) as outer:
        opened(outer)
        with Meter("inner", 2) as inner:
            inner.show(1, "hidden words")
            assert inner.bar is None
        assert Meter.current is outer
    assert "hidden words" not in plain(terminal)


def test_time_left_is_not_known_without_a_total_or_beyond_it():
    meter = Meter("x")
    meter.show(3)
    assert meter.seconds_left is None
    meter = Meter("x", 2)
    meter.show(3)
    assert meter.seconds_left is None


def test_training_ends_with_what_it_found(terminal, corpus):
    Tagger("pos", n_models=2, max_iter=3, verbose=1).fit(corpus, dev=corpus)
    lines = plain(terminal).splitlines()
    assert any(line.startswith("2 models with different seeds") for line in lines)
    assert re.search(r"6 passes, [\d.]+ s; best dev accuracy \d\.\d{4}", plain(terminal))


def test_estimators_have_the_same_bar(terminal, monkeypatch):
    seen = []
    note = Meter.note
    monkeypatch.setattr(
        Meter, "note", lambda self, *told: (seen.append((self.total, *told)), note(self, *told))
    )
    X, y = [[["a"], ["b"]], [["b"], ["a"]]], [["x", "y"], ["y", "x"]]
    StructuredPerceptron(max_iter=7, verbose=1).fit(X, y)
    assert seen[0][:2] == (7, 1)
    assert seen[0][2].startswith("StructuredPerceptron iteration   1")
    assert Meter.current is None


def test_several_models_are_announced(capsys, corpus):
    Tagger("pos", n_models=2, max_iter=1, verbose=1).fit(corpus)
    assert "2 models with different seeds are trained" in capsys.readouterr().err


def test_last_line_says_what_was_saved_and_what_comes_next(capsys, corpus, tmp_path):
    model = tmp_path / "a model"
    command = ["train", "tagger", str(corpus), "--model", str(model), "--max-iter", "1"]
    assert cli.run([*command, "--n-models", "1"]) == 0
    last = capsys.readouterr().err.splitlines()[-1]
    size = float(re.search(r"([\d.]+) kB|([\d.]+) MB", last)[0].split()[0])
    unit = 1e3 if "kB" in last else 1e6
    assert size == pytest.approx(model.stat().st_size / unit, abs=0.06)
    assert f"structlearn evaluate '{model}' GOLD" in last
    assert cli.run([*command, "--n-models", "1", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_labelling_shows_the_share_of_the_file(terminal, corpus, tmp_path, monkeypatch):
    tagger = Tagger("pos", n_models=1, max_iter=1).fit(corpus)
    monkeypatch.setattr("structlearn.text.labelling._PIECE", 500)
    shares = []
    monkeypatch.setattr(Meter, "share", lambda self, done: shares.append(done))
    with Meter("labelling", unit="tokens") as meter:
        n_tokens = tagger.label_file(corpus, tmp_path / "out", progress=meter)
    assert meter.text == f"{n_tokens:,} tokens"
    assert len(shares) > 2
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.fixture(scope="module")
def parser():
    """A dependency parser with taggers, and the sentences that it learned."""
    trees = [
        list(zip(s.words, s.tags, s.heads, s.deprels, strict=True))
        for s in make_treebank(100, random_state=0)
    ]
    return DependencyParser(hash_bits=14, max_iter=1, folds=2).fit(trees), trees


def shown_by(monkeypatch):
    """Return the list to which every share that a meter shows is added."""
    shares = []
    show = Meter.show

    def noted(self, done, text=""):
        shares.append(None if self.total is None else done / self.total)
        show(self, done, text)

    monkeypatch.setattr(Meter, "show", noted)
    return shares


def steps_to_one(shares):
    return len(shares) > 3 and shares == sorted(shares) and shares[-1] == 1.0


@pytest.mark.parametrize("threads", [1, 2])
def test_evaluating_a_parser_shows_the_share_and_changes_nothing(
    terminal, monkeypatch, parser, threads
):
    parser, trees = parser
    monkeypatch.setattr(parser, "n_jobs", threads)
    monkeypatch.setattr("structlearn.tasks.dependencies.model._PORTION", 7)
    quiet = parser.evaluate(trees)
    shares = shown_by(monkeypatch)
    with Meter("evaluating"):
        told = parser.evaluate(trees)
    assert steps_to_one(shares)
    for found in (quiet, told):
        del found["tokens_per_second"]
    assert told == quiet


def test_evaluating_constituents_shows_the_share(terminal, monkeypatch):
    trees = [s.brackets for s in make_treebank(60, random_state=0)]
    parser = ConstituencyParser(max_iter=1, gold_tags=True).fit(trees)
    monkeypatch.setattr("structlearn.tasks.constituents.model._PORTION", 7)
    quiet = parser.evaluate(trees)["by_label"]
    shares = shown_by(monkeypatch)
    with Meter("evaluating"):
        assert parser.evaluate(trees)["by_label"] == quiet
    assert steps_to_one(shares)


def test_portions_leave_a_meter_alone_that_counts_already(terminal):
    assert [list(some) for some in portions(5, 2, "words")] == [[0, 1, 2, 3, 4]]
    with Meter("training", 10) as meter:
        meter.show(3)
        assert len(list(portions(5, 2, "words"))) == 1
        assert (meter._done, meter.total) == (3, 10)
    with Meter("evaluating") as meter:
        found = [(list(some), meter.total) for some in portions(5, 2, "words")]
        assert found == [([0, 1], 5), ([2, 3], 5), ([4], 5)]
        assert meter.text == "5 of 5 words"


@pytest.mark.parametrize("ending", ["conllu", "conllu.gz", "txt"])
def test_parsing_a_file_shows_its_share_soon(monkeypatch, parser, tmp_path, ending):
    """After a share of the file that a slow parser takes less than a second for."""
    parser, trees = parser
    path = tmp_path / f"input.{ending}"
    text = "\n".join(" ".join(t[0] for t in tree) for tree in trees * 12) + "\n"
    if ending != "txt":
        row = "{}\t{}\t_\t_\t_\t_\t_\t_\t_\t_\n"
        text = "\n".join(
            "".join(row.format(i, t[0]) for i, t in enumerate(tree, 1)) for tree in trees * 12
        )
    opened = gzip.open if ending.endswith("gz") else open
    with opened(path, "wb") as file:
        file.write(text.encode())
    counts, shares = [], []
    monkeypatch.setattr(Meter, "__call__", lambda self, count: counts.append(count))
    monkeypatch.setattr(Meter, "share", lambda self, done: shares.append(done))
    chosen = "text" if ending == "txt" else None
    n_words = parser.label_file(path, tmp_path / "out", format=chosen, progress=Meter("labelling"))
    assert n_words == sum(map(len, trees * 12)) > 6000
    assert max(b - a for a, b in zip([0, *counts], counts, strict=False)) < 4000
    assert steps_to_one([round(share, 1) for share in shares])


def test_dev_score_of_the_mean_that_is_kept_is_told(capsys, corpus):
    tagger = Tagger("pos", n_models=3, max_iter=2, verbose=1).fit(corpus, dev=corpus)
    told = re.search(
        r"mean of 3 models, which is kept: dev accuracy ([\d.]+)\n", capsys.readouterr().err
    )
    assert float(told[1]) == pytest.approx(tagger.evaluate(corpus)["accuracy"], abs=6e-5)


def test_trees_that_are_not_proven_best_are_told_in_words(capsys, parser):
    _, trees = parser
    parser = DependencyParser(
        hash_bits=10, max_iter=1, gold_tags=True, verbose=1, training_iterations=1
    ).fit(trees)
    n = parser.history_[0]["inexact"]
    told = capsys.readouterr().err
    assert f"outputs not proven best {n}" in told
    assert "inexact" not in told
