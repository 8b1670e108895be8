"""train segments, predict and evaluate, run as a user runs them."""

import json
import subprocess
import sys

import pytest

from tests.tasks.segments.segment_sentences import chunked, write

SENTENCES = chunked(120)


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "structlearn", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        encoding="utf-8",
        **options,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("segments")
    write(folder / "train", SENTENCES[:90])
    write(folder / "test", SENTENCES[90:])
    write(folder / "bare", SENTENCES[90:], columns=2)
    done = run(
        *("train", "segments", folder / "train", "--model", folder / "m", "--dev", folder / "test"),
        *("--max-iter", "4", "--max-length", "3", "--random-state", "1", "--threads", "2"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "chunks are longer than 3 tokens" in done.stderr
    assert "dev f1" in done.stderr
    return folder


def test_predict(folder):
    plain = run("predict", folder / "m", folder / "bare")
    assert plain.returncode == 0, plain.stderr
    rows = [line.split(" ") for line in plain.stdout.splitlines() if line]
    assert len(rows) == sum(map(len, SENTENCES[90:]))
    assert {row[2][:1] for row in rows} <= {"B", "I", "O"}
    text = (folder / "test").read_text("utf-8")
    sure = run("predict", folder / "m", "-", "--confidence", input=text)
    assert [line.split(" ")[:3] for line in sure.stdout.splitlines() if line] == rows
    assert all(0 <= float(line.split(" ")[3]) <= 1 for line in sure.stdout.splitlines() if line)
    best = run("predict", folder / "m", folder / "bare", "--nbest", "2")
    assert [line.split(" ")[:3] for line in best.stdout.splitlines() if line] == rows
    every = run("predict", folder / "m", folder / "bare", "--marginals")
    assert every.returncode == 1
    assert "finds segments" in every.stderr


def test_evaluate(folder):
    judged = run("evaluate", folder / "m", folder / "test", "--json")
    assert judged.returncode == 0, judged.stderr
    assert json.loads(judged.stdout)["f1"] > 0.85
    assert "FB1" in run("evaluate", folder / "m", folder / "test").stdout


def test_the_same_seed_gives_the_same_file(folder, tmp_path):
    for name in "ab":
        done = run(
            *("train", "segments", folder / "train", "--model", tmp_path / name, "--quiet"),
            *("--max-iter", "2", "--learner", "svm", "--random-state", "5"),
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_templates_from_a_file(folder, tmp_path):
    (tmp_path / "t").write_text("begin(word)\nend(pos) after(pos) # a comment\nlength\n")
    train = ("train", "segments", folder / "train", "--quiet", "--max-iter", "2")
    done = run(*train, "--model", tmp_path / "m", "--features", tmp_path / "t")
    assert done.returncode == 0, done.stderr
    (tmp_path / "t").write_text("begin(word)\nword\n")
    done = run(*train, "--model", tmp_path / "n", "--features", tmp_path / "t")
    assert done.returncode == 1
    assert "line 2: 'word' needs a place" in done.stderr
    assert not (tmp_path / "n").exists()


def test_errors(folder, tmp_path):
    done = run("train", "segments", folder / "train", "--model", tmp_path / "m", "--target", "2")
    assert done.returncode == 1
    assert "labels of chunks" in done.stderr
    assert run("predict", folder / "train", folder / "bare").returncode == 1


def test_inspect(folder, tmp_path):
    shown = run("inspect", folder / "m").stdout
    assert shown.startswith("learner      perceptron\n")
    assert "scores       segments of up to" in shown
    assert "parameters   average True, max_iter 4 (estimator's default: 10), shuffle True" in shown
    assert "transitions: from the row's label to the column's" in shown
    assert run("inspect", folder / "m", "--html", tmp_path / "page").stdout == ""
    assert "Transitions" in (tmp_path / "page").read_text(encoding="utf-8")


def test_prediction_needs_no_numpy(folder):
    code = (
        "import sys, structlearn.cli as cli\n"
        f"code = cli.run(['predict', {str(folder / 'm')!r}, {str(folder / 'bare')!r}])\n"
        "heavy = [m for m in ('numpy', 'scipy', 'sklearn') if m in sys.modules]\n"
        "print(code, heavy, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert done.stderr.strip() == "0 []"
