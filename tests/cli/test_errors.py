"""Bad input on the command line: a line or two that name the file, exit code 1, nothing broken."""

import gzip
import os
import subprocess
import sys

import pytest

from structlearn.cli import run
from structlearn.datasets import make_treebank

#: Output that is kept until it is much, as it is for everybody who does not ask otherwise.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a good corpus and good models, which no test changes."""
    folder = tmp_path_factory.mktemp("bad")
    lines = []
    for s in make_treebank(40, random_state=0):
        lines += [*map(" ".join, zip(s.words, s.tags, s.chunks, strict=True)), ""]
    (folder / "good.txt").write_text("\n".join(lines) + "\n")
    good = ["train", "tagger", str(folder / "good.txt"), "--max-iter", "1", "--quiet", "--model"]
    assert run([*good, str(folder / "model")]) == 0
    return folder


@pytest.fixture
def fails(home, capfd, monkeypatch, tmp_path):
    """Run a command that must fail; return its one message."""
    monkeypatch.chdir(home)
    before = (home / "model").read_bytes()
    listed = sorted(os.listdir(home))

    def call(*arguments, names=None, line=None):
        assert run([str(a) for a in arguments]) == 1
        sys.stdout.flush()
        out, err = capfd.readouterr()
        assert out == ""
        assert err.startswith("structlearn: ")
        assert err.endswith("\n")
        assert 1 <= len(err.splitlines()) <= 2
        assert all(len(text) < 400 for text in err.splitlines())
        assert "Traceback" not in err
        if names is not None:
            assert str(names) in err
        if line is not None:
            assert f", line {line}: " in err
        return err

    yield call
    assert (home / "model").read_bytes() == before
    assert sorted(os.listdir(home)) == listed


# -- models ---------------------------------------------------------------------------------------


def damaged(home, kind):
    model = (home / "model").read_bytes()
    if kind == "truncated":
        return model[: len(model) // 2]
    if kind == "cut by one byte":
        return model[:-1]
    if kind == "longer":
        return model + b"\0"
    if kind == "flipped in the header":
        at = model.index(b"templates") + 30
        return model[:at] + bytes([model[at] ^ 1]) + model[at + 1 :]
    if kind == "flipped in the weights":
        at = len(model) - len(model) // 4
        return model[:at] + bytes([model[at] ^ 1]) + model[at + 1 :]
    return {
        "empty": b"",
        "foreign text": b"The DT\ndog NN\n",
        "foreign binary": bytes(range(256)) * 40,
        "a huge header": b"\xff" * 8 + model[8:],
    }[kind]


@pytest.mark.parametrize(
    "kind",
    [
        "truncated",
        "cut by one byte",
        "longer",
        "flipped in the header",
        "flipped in the weights",
        "empty",
        "foreign text",
        "foreign binary",
        "a huge header",
    ],
)
def test_damaged_models(fails, home, tmp_path, kind):
    model = tmp_path / "damaged"
    model.write_bytes(damaged(home, kind))
    fails("predict", model, "good.txt", names=model)
    fails("evaluate", model, "good.txt", "--json", names=model)
    fails("inspect", model, names=model)
    fails("train", "tagger", "good.txt", "--start", model, "--model", "model", names=model)


def test_models_that_are_no_files(fails, tmp_path):
    for command in ("predict", "evaluate"):
        fails(command, "missing", "good.txt", names="missing")
        fails(command, tmp_path, "good.txt", names=tmp_path)
    fails("inspect", "missing", names="missing")
    fails("inspect", "/dev/null", names="/dev/null")
    fails("train", "tagger", "good.txt", "--model", tmp_path, names=tmp_path)


# -- corpora --------------------------------------------------------------------------------------

BAD = {
    "ragged": (b"a X B-NP\nb X B-NP\n\nc X\n", 4, "columns"),
    "more columns": (b"a X B-NP\nb X B-NP B-NP\n", 2, "columns"),
    "not UTF-8": (b"a X B-NP\nb X B-NP\nc\xff X B-NP\n", 3, "UTF-8"),
    "a long line": (b"a X B-NP\n" + b"x" * 1_000_000 + b" X B-NP\n", 2, "bytes"),
    "empty": (b"", None, "no sentences"),
    "blank": (b"\n \n\n", None, "no sentences"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_corpora(fails, tmp_path, kind):
    text, line, word = BAD[kind]
    path = tmp_path / "bad.txt"
    path.write_bytes(text)
    commands = [
        ["train", "tagger", path, "--model", "model", "--features", "pos"],
        ["train", "tagger", path, "--model", "model", "--features", "pos", "--stream"],
        ["train", "tagger", "good.txt", "--dev", path, "--model", "model"],
        ["predict", "model", path, "--output", tmp_path / "out"],
        ["predict", "model", path, "--output", tmp_path / "out", "--threads", 2],
        ["evaluate", "model", path, "--json"],
        ["inspect", "model", "--input", path],
    ]
    for command in commands:
        assert word in fails(*command, names=path, line=line)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("lines", [{"half"}, {"half", "end"}, {"middle of half", "end"}])
@pytest.mark.parametrize("least", [500, 1 << 16])
def test_the_first_bad_line_is_named_on_any_number_of_threads(
    fails, tmp_path, threads, lines, least, monkeypatch
):
    monkeypatch.setattr("structlearn.text.labelling._LEAST", least)
    good = ["a X B-NP"] * 9 + [""]
    text = good * 1200
    places = {"half": len(text) // 2, "middle of half": len(text) // 2 + 4, "end": len(text) - 10}
    for line in lines:
        text[places[line]] = "first bad"
    path = tmp_path / "bad.txt"
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    first = min(places[line] for line in lines) + 1
    output = tmp_path / "out"
    told = fails("predict", "model", path, "--threads", threads, "--output", output,
                 names=path, line=first)  # fmt: skip
    assert "2 columns where the lines before have 3" in told


def test_more_threads_than_there_are(home, tmp_path):
    for threads in ("1", "100000"):
        output = str(tmp_path / threads)
        command = ["predict", str(home / "model"), str(home / "good.txt"), "--output", output]
        assert run([*command, "--threads", threads]) == 0
    assert (tmp_path / "1").read_bytes() == (tmp_path / "100000").read_bytes()


def test_numbers_that_make_no_sense(fails, capfd):
    with pytest.raises(SystemExit):
        run(["predict", "model", "good.txt", "--nbest", "9" * 20])
    assert "is greater than" in capfd.readouterr().err
    told = fails("train", "tagger", "good.txt", "--model", "m", "--learner", "crf", "--C", 0)
    assert "C must be" in told


def test_bad_conllu(fails, home, tmp_path):
    path = tmp_path / "bad.conllu"
    good = "1\ta\t_\tX\t_\t_\t0\t_\t_\t_\n"
    for text, line in (
        (good + "2\tb\t_\tX\n", 2),
        (good + "# comment\n3\tb\t_\tX\t_\t_\t0\t_\t_\t_\n", 3),
        (good + "\n\nx\tb\t_\tX\t_\t_\t0\t_\t_\t_\n", 4),
        (good.replace("\t", " "), 1),
    ):
        path.write_text(text)
        fails("train", "tagger", path, "--model", "model", names=path, line=line)


def test_columns_separated_by_commas(fails, tmp_path):
    path = tmp_path / "commas.txt"
    path.write_text("Fish,N\nsleep,V\n\n")
    for task in ("tagger", "segments"):
        message = fails("train", task, path, "--model", "model", names=path)
        assert "one column" in message
        assert "blanks or tabs" in message


def test_files_that_are_not_there(fails, tmp_path):
    fails("train", "tagger", "missing.txt", "--model", "model", names="missing.txt")
    fails("train", "tagger", "missing.txt", "--stream", "--model", "model", names="missing.txt")
    fails("train", "tagger", "good.txt", "--dev", "no", "--model", "model", names="no")
    fails("train", "tagger", "good.txt", "--start", "no", "--model", "model", names="no")
    fails("predict", "model", "missing.txt", names="missing.txt")
    fails("predict", "model", tmp_path, names=tmp_path)
    fails("evaluate", "model", "missing.txt", names="missing.txt")
    fails("evaluate", "model", tmp_path, "--json", names=tmp_path)
    fails("inspect", "model", "--input", "missing.txt", names="missing.txt")


def test_damaged_compression(fails, tmp_path):
    path = tmp_path / "bad.txt.gz"
    packed = gzip.compress(b"a X B-NP\n" * 1000)
    for data in (packed[:-20], packed[:20] + b"\0\0\0" + packed[23:]):
        path.write_bytes(data)
        fails("predict", "model", path, names=path)
        fails("train", "tagger", path, "--model", "model", names=path)


def test_columns_that_are_not_there(fails, tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("The\ndog\n")
    fails("predict", "model", path, names=path, line=1)  # the features read two columns
    fails("evaluate", "model", path, names=path)
    (tmp_path / "unlabelled.txt").write_text("The DT\ndog NN\n")
    unlabelled = tmp_path / "unlabelled.txt"
    assert "column 3" in fails("evaluate", "model", unlabelled, names=unlabelled)
    assert "column 3" in fails("evaluate", "model", unlabelled, "--json", names=unlabelled)
    fails("train", "tagger", "good.txt", "--target", "7", "--model", "model", names="good.txt")
    fails("train", "tagger", "good.txt", "--target", "lemma", "--model", "model", names="lemma")
    fails("train", "tagger", "good.txt", "--target", "word", "--model", "model", names="word")
    fails("train", "tagger", path, "--model", "model", names=path)
    # A dev set with other columns than the training set.
    fails("train", "tagger", "good.txt", "--dev", unlabelled, "--model", "model", names=unlabelled)


def test_swapped_arguments(fails):
    for name in ("predict", "evaluate"):
        assert "good.txt: it is not a model, but model is one: the model comes first" in fails(
            name, "good.txt", "model", names="good.txt"
        )


def test_known_labels_that_the_model_does_not_have(fails, tmp_path):
    path = tmp_path / "known.txt"
    path.write_text("The DT _\ndog NN Q-Q\n")
    assert "Q-Q" in fails("predict", "model", path, "--known", names=path, line=2)


# -- features and options -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("word[0]\nword[\n", 2, "offset"),
        ("# comment\n\nprefix(word)\n", 3, "','"),
        ("word\nfly(word)\n", 2, "fly"),
        ("word[3..1]\n", 1, "empty"),
        ("match(word, /(/)\n", 1, "regular expression"),
        ("U00:%x[0,0]\nU01:%y[0,0]\n", 2, "%y"),
    ],
)
def test_bad_templates(fails, tmp_path, text, line, word):
    path = tmp_path / "features.txt"
    path.write_text(text)
    assert word in fails(
        "train", "tagger", "good.txt", "--features", path, "--model", "model", names=path, line=line
    )


def test_features_that_cannot_be_had(fails, tmp_path):
    train = ["train", "tagger", "good.txt", "--model", "model", "--features"]
    fails(*train, "nowhere.txt", names="nowhere.txt")
    fails(*train, tmp_path, names=tmp_path)
    path = tmp_path / "features.txt"
    path.write_text("# nothing\n")
    fails(*train, path, names=path)
    path.write_text("lemma[0]\n")
    fails(*train, path, names="lemma")
    path.write_text("chunk[0]\n")
    assert "the target" in fails(*train, path, names="chunk")
    path.write_text('in(word, "gone.txt")\n')
    fails(*train, path, names="gone.txt")
    path.write_text('call(word, "mine")\n')
    fails(*train, path, names="mine")
    path.write_bytes(b"word\xff\n")
    fails(*train, path, names=path)
    (tmp_path / "v.txt").write_text("a 1 2\nb 1\n")
    path.write_text('vector(word, "v.txt")\n')
    fails(*train, path, names="v.txt", line=2)


def test_nothing_to_learn_from(fails, tmp_path):
    path = tmp_path / "unlabelled.txt"
    path.write_text("The DT _\ndog NN _\n\n")
    for learner in ("perceptron", "crf", "svm", "hmm"):
        text = fails("train", "tagger", path, "--learner", learner, "--model", "model", names=path)
        assert "no token has a label" in text


def test_options_that_make_no_sense(fails):
    train = ["train", "tagger", "good.txt", "--model", "model"]
    fails(*train, "--l1", 1, names="l1")
    fails(*train, "--stream", "--cluster", "local", names="--stream")
    fails(*train, "--scheme", "bio", "--target", "2", "--features", "pos", names="scheme")
    fails("train", "tagger", "-", "--stream", "--model", "model", names="standard input")
    fails("inspect", "model", "--label", "QQ", names="QQ")
    fails("inspect", "model", "--sentence", "The dog", names="column")


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "tagger", "good.txt"],
        ["predict", "model", "good.txt", "--threads", "0"],
        ["predict", "model", "good.txt", "--nbest", "x"],
        ["train", "tagger", "good.txt", "--model", "model", "--C", "nan"],
        ["train", "tagger", "good.txt", "--model", "model", "--learner", "tree"],
        ["train", "tagger", "good.txt", "--model", "model", "--hash-bits", "31"],
        ["train", "tagger", "good.txt", "--model", "model", "--order", "9"],
    ],
)
def test_arguments_that_cannot_be_read(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        run(arguments)
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("structlearn ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["trian", "tagger", "good.txt"], "train"),
        (["train", "taggr", "good.txt"], "tagger"),
        (["train", "tagger", "good.txt", "--modle", "m"], "--model"),
        (["train", "parser", "good.txt", "--model", "m", "--max-itr=3"], "--max-iter"),
        (["train", "segments", "good.txt", "--model", "m", "--learner", "cfr"], "crf"),
        (["predict", "model", "good.txt", "--thread", "2"], "--threads"),
        (["--verison"], "--version"),
    ],
)
def test_mistyped_arguments_get_one_line_with_the_nearest(arguments, meant, capsys):
    with pytest.raises(SystemExit) as stopped:
        run(arguments)
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert f"; did you mean {meant}? (structlearn" in err


# -- output ---------------------------------------------------------------------------------------


def test_output_that_cannot_be_written(fails, home, tmp_path):
    nowhere = tmp_path / "missing" / "out"
    fails("predict", "model", "good.txt", "--output", nowhere, names=nowhere)
    fails("train", "tagger", "good.txt", "--model", nowhere, names=nowhere)
    fails("inspect", "model", "--html", nowhere, names=nowhere)
    if os.path.exists("/dev/full"):
        train = ["train", "tagger", "good.txt", "--max-iter", 1, "--quiet", "--model"]
        fails(*train, "/dev/full", names="/dev/full")
        fails("predict", "model", "good.txt", "--output", "/dev/full", names="/dev/full")
        fails("inspect", "model", "--html", "/dev/full", names="/dev/full")


def test_a_file_in_the_place_of_a_folder(fails, home):
    nowhere = "good.txt/out"
    fails("predict", "model", "good.txt", "--output", nowhere, names=nowhere)
    fails("train", "tagger", "good.txt", "--model", nowhere, names=nowhere)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_that_is_read_only(fails, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o500)
    fails("predict", "model", "good.txt", "--output", folder / "out", names=folder)
    fails("train", "tagger", "good.txt", "--model", folder / "m", names=folder)


def test_a_folder_that_is_read_only_even_for_root(fails, tmp_path, monkeypatch):
    """Where permissions do not hold: the folder says no, and opening a file in it fails."""
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / "m").write_bytes(b"precious")
    monkeypatch.setattr(os, "access", lambda path, mode: os.fspath(path) != str(folder))
    fails("train", "tagger", "good.txt", "--model", folder / "m", names=folder)
    assert os.listdir(folder) == ["m"]
    assert (folder / "m").read_bytes() == b"precious"


def test_failing_half_way_leaves_the_old_output(fails, tmp_path):
    """The error is at the end of a file of many pieces; the output from before is whole."""
    path, out = tmp_path / "long.txt", tmp_path / "out"
    path.write_text("The DT\n\n" * 200_000 + "dog\n")
    out.write_text("precious")
    fails("predict", "model", path, "--output", out, names=path, line=400_001)
    assert out.read_text() == "precious"
    assert sorted(os.listdir(tmp_path)) == ["long.txt", "out"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "model", "good.txt", "--known"],
        ["evaluate", "model", "good.txt", "--json"],
        ["inspect", "model"],
    ],
)
def test_standard_output_that_is_full(home, arguments):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "structlearn", *arguments],
            cwd=home,
            env=BUFFERED,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("structlearn: standard output: ")
    assert len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "model", "long.txt", "--known"],
        ["predict", "model", "good.txt", "--known"],
        ["evaluate", "model", "good.txt"],
        ["inspect", "model", "--top", "10"],
    ],
)
def test_a_reader_who_has_seen_enough(home, tmp_path, arguments):
    (tmp_path / "long.txt").write_text((home / "good.txt").read_text() * 300)
    (tmp_path / "good.txt").write_bytes((home / "good.txt").read_bytes())
    (tmp_path / "model").write_bytes((home / "model").read_bytes())
    child = subprocess.Popen(
        [sys.executable, "-m", "structlearn", *arguments],
        cwd=tmp_path,
        env=BUFFERED,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if "long.txt" in arguments:
        assert child.stdout.readline()
    child.stdout.close()
    err = child.stderr.read()
    child.stderr.close()
    assert child.wait(timeout=60) == 0
    assert err == b""
