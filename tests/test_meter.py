"""Progress: a bar on a terminal, plain lines elsewhere."""

import io
import re
import time
from types import SimpleNamespace

import pytest

from structlearn import cli
from structlearn.datasets import make_treebank
from structlearn.estimators import StructuredPerceptron
from structlearn.meter import Meter, say
from structlearn.tasks import Tagger


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    # Not sys.stderr itself, which pytest sets again between fixture and test.
    monkeypatch.setattr("structlearn.meter.sys", SimpleNamespace(stderr=stream))
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
