"""Taggers on the command line: train, predict, evaluate, inspect on good input."""

import gzip
import io
import itertools
import json
import subprocess
import sys
import textwrap

import pytest

from structlearn import load
from structlearn.cli import run
from structlearn.datasets import make_treebank
from structlearn.metrics import chunk_f1, token_accuracy
from structlearn.tasks import Tagger

#: A sentence with everything that is not a token: comments, a multi-word token, an empty node.
CONLLU = textwrap.dedent(
    """\
    # newdoc
    # text = Don't the dogs sleep
    1-2|Don't|_|_|_|_|_|_|_|SpaceAfter=No
    1|Do|do|AUX|VB|_|4|aux|_|Gloss=x
    2|n't|not|PART|RB|_|4|advmod|_|_
    3|the|the|DET|DT|_|4|det|_|_
    3.1|big|big|ADJ|JJ|_|_|_|4:amod|_
    4|dogs|dog|NOUN|NNS|_|0|root|_|A=1|B=2

    # the second sentence
    1|They sleep|they|PRON|PRP|_|0|root|_|_
    # a comment at the end
    """
).replace("|", "\t")
# MISC has bars of its own.
CONLLU = CONLLU.replace("A=1\tB=2", "A=1|B=2")


def text_of(rows, separator="\t"):
    """Sentences of tuples as a column file."""
    return "".join(
        "".join(separator.join(row) + "\n" for row in sentence) + "\n" for sentence in rows
    )


def rows_of(text, separator="\t"):
    blocks = [block for block in text.split("\n\n") if block.strip()]
    return [[tuple(line.split(separator)) for line in block.splitlines()] for block in blocks]


def column(text, number):
    return [[row[number] for row in sentence] for sentence in rows_of(text)]


@pytest.fixture(scope="module")
def bank():
    return make_treebank(130, random_state=0)


@pytest.fixture(scope="module")
def home(tmp_path_factory, bank):
    """A folder with files and models of every kind."""
    folder = tmp_path_factory.mktemp("cli")
    chunks = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in bank]
    (folder / "train.txt").write_text(text_of(chunks[:80]))
    (folder / "dev.txt").write_text(text_of(chunks[80:100]))
    (folder / "test.txt").write_text(text_of(chunks[100:]))
    (folder / "bare.txt").write_text(text_of([[r[:2] for r in s] for s in chunks[100:]]))
    lines = []
    for s in bank[:80]:
        for i, (word, tag) in enumerate(zip(s.words, s.tags, strict=True), 1):
            lines.append("\t".join([str(i), word, "_", tag, "_", "_", "0", "_", "_", "_"]))
        lines.append("")
    (folder / "train.conllu").write_text("\n".join(lines) + "\n")
    (folder / "input.conllu").write_text(CONLLU)
    quiet = ["--quiet", "--max-iter", "3"]
    for name, arguments in {
        "chunk": ["train.txt", "--features", "chunk"],
        "pos": ["train.conllu"],
        "calibrated": ["train.txt", "--dev", str(folder / "dev.txt"), "--scheme", "bio"],
    }.items():
        arguments[0] = str(folder / arguments[0])
        assert run(["train", "tagger", *arguments, "--model", str(folder / name), *quiet]) == 0
    return folder


@pytest.fixture
def command(home, capfd, monkeypatch):
    """Run a command in the folder; return what it wrote to standard output."""
    monkeypatch.chdir(home)

    def call(*arguments, errors=False, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        assert run([str(a) for a in arguments]) == 0
        sys.stdout.flush()
        out, err = capfd.readouterr()
        if not errors:
            pairs = itertools.pairwise(arguments)
            files = [after for option, after in pairs if option in ("--output", "--html")]
            assert err.splitlines() == [f"wrote {name}" for name in files if name != "-"]
        return (out, err) if errors else out

    return call


# -- as a user runs it ----------------------------------------------------------------------------


def test_from_training_to_evaluation_in_processes(home, tmp_path):
    def call(*arguments, stdin=None):
        return subprocess.run(
            [sys.executable, "-m", "structlearn", *map(str, arguments)],
            capture_output=True,
            input=stdin,
            timeout=120,
            check=True,
        )

    model = tmp_path / "model"
    made = call(
        "train", "tagger", home / "train.txt", "--model", model, "--max-iter", 3, "--n-models", 1
    )
    assert made.stdout == b""
    assert [line.split()[:2] for line in made.stderr.decode().splitlines()] == [
        ["80", "sentences,"],
        ["learner", "perceptron:"],  # by --max-iter
        ["features", "chunk,"],
        ["pass", "1/3"],
        ["pass", "2/3"],
        ["pass", "3/3"],
        ["saved", f"{model},"],
    ]
    labelled = call("predict", model, "-", stdin=(home / "bare.txt").read_bytes())
    assert labelled.stderr == b""
    text = labelled.stdout.decode()
    assert (
        text_of([[row[:2] for row in s] for s in rows_of(text)]) == (home / "bare.txt").read_text()
    )
    judged = call("evaluate", model, home / "test.txt", "--json")
    assert judged.stderr == b""
    gold = column((home / "test.txt").read_text(), 2)
    assert json.loads(judged.stdout)["f1"] == chunk_f1(gold, column(text, 2)) > 0.8


def test_commands_do_without_heavy_imports(home):
    code = (
        "import sys; from structlearn.cli import run; code = run(sys.argv[1:]); "
        "heavy = [m for m in ('numpy', 'scipy', 'sklearn', 'rich') if m in sys.modules]; "
        "print(code, heavy, file=sys.stderr)"
    )
    train = ["train", "tagger", "train.txt", "--model", "other", "--quiet", "--max-iter", "1"]
    for arguments, needed in (
        (["predict", "chunk", "bare.txt", "--confidence", "--nbest", "2"], []),
        (train, []),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=home,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert done.stderr.splitlines()[-1] == f"0 {needed}"


# -- predict --------------------------------------------------------------------------------------


def test_label_column_is_appended_or_filled(command, home):
    appended = command("predict", "chunk", "bare.txt")
    bare = (home / "bare.txt").read_text()
    assert text_of([[row[:2] for row in s] for s in rows_of(appended)]) == bare
    predicted = Tagger.load(home / "chunk").predict(home / "bare.txt")
    assert column(appended, 2) == predicted
    # The gold labels in the column make no difference, and are replaced, which is said.
    out, err = command("predict", "chunk", "test.txt", errors=True)
    assert out == appended
    note = "test.txt has labels already: they are replaced (--known keeps them)"
    assert err == f"structlearn: {note}\n"
    nonsense = text_of([[(*r[:2], "X-Y") for r in s] for s in rows_of(bare)])
    assert command("predict", "chunk", "-", stdin=nonsense.encode(), errors=True)[0] == appended
    open_labels = text_of([[(*r[:2], "_") for r in s] for s in rows_of(bare)])
    assert command("predict", "chunk", "-", stdin=open_labels.encode()) == appended


def test_output_file_standard_output_and_gzip_agree(command, home, tmp_path):
    expected = command("predict", "chunk", "bare.txt")
    assert command("predict", "chunk", "bare.txt", "--output", tmp_path / "out") == ""
    assert (tmp_path / "out").read_text() == expected
    assert command("predict", "chunk", "bare.txt", "--output", "-") == expected
    packed = tmp_path / "bare.txt.gz"
    packed.write_bytes(gzip.compress((home / "bare.txt").read_bytes()))
    assert command("predict", "chunk", packed) == expected


def test_layout_of_a_column_file_stays(command):
    """White space, blank lines, line ends and the missing end of the last line are kept."""
    source = b"\n\nThe   DT \r\ndog NN\t\r\n\r\n \r\nIt PRP\nsleeps VBZ"
    out = command("predict", "chunk", "-", stdin=source).encode()
    labels = [s for sentence in Tagger.load("chunk").predict(
        [[("The", "DT"), ("dog", "NN")], [("It", "PRP"), ("sleeps", "VBZ")]]
    ) for s in sentence]  # fmt: skip
    a, b, c, d = (label.encode() for label in labels)
    assert out == (
        b"\n\nThe   DT %s \r\ndog NN %s\t\r\n\r\n \r\nIt PRP %s\nsleeps VBZ %s" % (a, b, c, d)
    )


def test_conllu_changes_in_one_column_only(command, home):
    out = command("predict", "pos", "input.conllu")
    before, after = CONLLU.splitlines(), out.splitlines()
    assert len(before) == len(after)
    labels = [k for s in Tagger.load(home / "pos").predict("input.conllu") for k in s]
    for old, new in zip(before, after, strict=True):
        if old[:1].isdigit() and old.split("\t")[0].isdigit():
            cells = old.split("\t")
            cells[3] = labels.pop(0)
            assert new == "\t".join(cells)
        else:
            assert new == old
    assert labels == []


def test_more_columns_of_a_column_file(command, home):
    tagger = Tagger.load(home / "calibrated")
    out = command("predict", "calibrated", "bare.txt", "--nbest", 2, "--confidence", "--marginals")
    best = tagger.predict_kbest(home / "bare.txt", 2)
    marginals = tagger.predict_marginals(home / "bare.txt")
    confidences = tagger.confidence(home / "bare.txt")
    for s, sentence in enumerate(rows_of(out)):
        for t, (_, _, first, second, confidence, listed) in enumerate(sentence):
            assert first == best[s][0][1][t]
            assert second == (best[s][1][1][t] if len(best[s]) > 1 else "-")
            p = marginals[s][t]
            assert confidence == f"{confidences[s][t]:.4f}"
            shown = {k: float(x) for k, x in (e.rsplit(":", 1) for e in listed.split(","))}
            assert shown == pytest.approx({k: x for k, x in p.items() if x >= 5e-4}, abs=6e-5)
            assert list(shown.values()) == sorted(shown.values(), reverse=True)
    # Each alone stands in the same place after the label.
    alone = command("predict", "calibrated", "bare.txt", "--confidence")
    assert column(alone, 3) == column(out, 4)
    assert len(rows_of(alone)[0][0]) == 4


@pytest.mark.filterwarnings("default:the probabilities of this:UserWarning")
def test_uncalibrated_probabilities_are_told(command):
    _, err = command("predict", "chunk", "bare.txt", "--confidence", errors=True)
    assert err.startswith("structlearn: ")
    assert "not calibrated" in err
    assert len(err.splitlines()) == 1


def test_more_columns_of_conllu_go_to_misc(command):
    plain = command("predict", "pos", "input.conllu").splitlines()
    out, _ = command(
        "predict", "pos", "input.conllu", "--nbest", 2, "--confidence", "--marginals", errors=True
    )
    added = 0
    for old, new in zip(plain, out.splitlines(), strict=True):
        cells, more = old.split("\t"), new.split("\t")
        if not cells[0].isdigit():
            assert new == old
            continue
        assert len(more) == 10
        assert more[:9] == cells[:9]
        assert " " not in more[9]
        kept = [] if cells[9] == "_" else cells[9].split("|")
        assert more[9].split("|")[: len(kept)] == kept
        names = [entry.split("=")[0] for entry in more[9].split("|")[len(kept) :]]
        assert names == ["NBest2", "Confidence", "Marginals"]
        added += 1
    assert added == 5


def test_misc_as_the_target_is_not_overwritten_by_what_else_there_is(command, tmp_path):
    def conllu(misc):
        cells = [["1", "Fish", *"______", "_", misc], ["2", "sleep", *"______", "_", "Other=Long"]]
        return "".join("\t".join(row) + "\n" for row in cells) + "\n"

    (tmp_path / "train.conllu").write_text(conllu("X=1") * 3)
    command("train", "tagger", tmp_path / "train.conllu", "--target", "misc", "--features", "pos",
            "--model", tmp_path / "m", "--quiet")  # fmt: skip
    (tmp_path / "in.conllu").write_text(conllu("_"))
    out, _ = command("predict", tmp_path / "m", tmp_path / "in.conllu", "--confidence", errors=True)
    cells = [line.split("\t") for line in out.splitlines() if line]
    assert [c[9].split("|")[0] for c in cells] == ["X=1", "Other=Long"]
    assert all("Confidence=" in c[9] for c in cells)


def test_known_labels_are_kept(command, home):
    free = command("predict", "calibrated", "bare.txt")
    rows = rows_of(free)
    chosen = Tagger.load(home / "calibrated").classes_
    given, known = [], []
    for s, sentence in enumerate(rows):
        # The second token of each sentence is known to be something else than predicted.
        other = next(k for k in chosen if k != sentence[1][2] and k[0] != "I")
        known.append([other if t == 1 else None for t in range(len(sentence))])
        given.append([(*row[:2], known[s][t] or "_") for t, row in enumerate(sentence)])
    out = command("predict", "calibrated", "-", "--known", stdin=text_of(given).encode())
    found = column(out, 2)
    assert all(labels[1] == known[s][1] for s, labels in enumerate(found))
    assert found == Tagger.load(home / "calibrated").predict(home / "bare.txt", known=known)
    # Without the option the column says nothing.
    assert command("predict", "calibrated", "-", stdin=text_of(given).encode()) == free


@pytest.mark.parametrize("least", [100, 1 << 16])
def test_threads_change_no_label(command, monkeypatch, least):
    monkeypatch.setattr("structlearn.text.labelling._LEAST", least)
    for model, source in (("chunk", "bare.txt"), ("pos", "input.conllu")):
        outputs = [
            command("predict", model, source, "--threads", n, "--marginals", errors=True)[0]
            for n in (1, 2, 5)
        ]
        assert outputs[0] == outputs[1] == outputs[2]


def test_threads_change_no_weight(command, home):
    for threads in (1, 2):
        command("train", "tagger", "train.txt", "--learner", "crf", "--max-iter", 4, "--quiet",
                "--threads", threads, "--model", f"crf{threads}")  # fmt: skip
    assert (home / "crf1").read_bytes() == (home / "crf2").read_bytes()


# -- train ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target", "number"),
    [
        ("train.txt", "2", 1),
        ("train.txt", "pos", 1),
        ("train.txt", "chunk", 2),
        ("train.txt", "-1", 2),
        ("train.conllu", "UPOS", 3),
        ("train.conllu", "4", 3),
        ("train.conllu", "tag", 3),
    ],
)
def test_target_by_number_and_name(command, home, source, target, number):
    command("train", "tagger", source, "--target", target, "--features", "pos", "--max-iter", 1,
            "--model", "target", "--quiet")  # fmt: skip
    tagger = Tagger.load(home / "target")
    assert tagger.model_.target == number
    if number == 3:
        expected = {line.split("\t")[3] for line in (home / source).read_text().split("\n") if line}
    else:
        expected = {row[number] for s in rows_of((home / source).read_text()) for row in s}
    assert tagger.classes_ == sorted(expected)


def test_train_reads_gzip_standard_input_and_format(command, home, tmp_path):
    text = (home / "train.conllu").read_bytes()
    (tmp_path / "train.conllu.gz").write_bytes(gzip.compress(text))
    (tmp_path / "unnamed").write_bytes(text)
    common = ["--max-iter", 1, "--quiet", "--model"]
    command("train", "tagger", home / "train.conllu", *common, tmp_path / "0")
    command("train", "tagger", tmp_path / "train.conllu.gz", *common, tmp_path / "1")
    command("train", "tagger", tmp_path / "unnamed", *common, tmp_path / "2")
    command("train", "tagger", "-", "--format", "conllu", *common, tmp_path / "3", stdin=text)
    command("train", "tagger", "-", *common, tmp_path / "4", stdin=text)
    models = [(tmp_path / str(i)).read_bytes() for i in range(5)]
    assert len(set(models)) == 1


def test_options_of_training_reach_the_model(command, home):
    command(
        "train", "tagger", "train.txt", "--model", "options", "--features", "pos", "--target", "2",
        "--order", 2, "--min-count", 3, "--max-iter", 2, "--random-state", 7, "--quiet",
        "--no-names", "--prune", 0.25, "--n-models", 2, "--all-possible-states", 1,
    )  # fmt: skip
    options = {"order": 2, "target": "2", "min_count": 3, "max_iter": 2, "random_state": 7}
    options |= {"prune": 0.25, "n_models": 2, "all_possible_states": 1, "names": False}
    same = Tagger("pos", **options).fit(home / "train.txt")
    same.save(home / "options2")
    assert (home / "options").read_bytes() == (home / "options2").read_bytes()
    command("train", "tagger", "train.txt", "--model", "options", "--learner", "crf", "--C", 0.5,
            "--l1", 0.3, "--max-iter", 5, "--quiet", "--precision", "int8")  # fmt: skip
    same = Tagger(learner="crf", C=0.5, l1=0.3, max_iter=5).fit(home / "train.txt")
    same.save(home / "options2", "int8")
    assert (home / "options").read_bytes() == (home / "options2").read_bytes()


def test_order_0_labels_each_token_by_itself(command, home):
    train = "train", "tagger", "train.txt", "--model", "alone", "--features", "pos"
    command(*train, "--order", 0, "--max-iter", 2, "--n-models", 1, "--quiet")
    same = Tagger("pos", order=0, max_iter=2, n_models=1).fit(home / "train.txt")
    same.save(home / "alone2")
    assert (home / "alone").read_bytes() == (home / "alone2").read_bytes()
    # The preset's scheme is for pairs of labels.
    train = "train", "tagger", "train.txt", "--model", "alone", "--features", "chunk"
    command(*train, "--order", 0, "--max-iter", 2, "--n-models", 1, "--quiet")
    assert load(home / "alone").model_.training["scheme"] is None


def test_start_and_stream(command, home):
    command("train", "tagger", "train.txt", "--start", "chunk", "--max-iter", 1, "--quiet",
            "--model", "more")  # fmt: skip
    same = Tagger(max_iter=1).fit(home / "train.txt", start=Tagger.load(home / "chunk"))
    same.save(home / "more2")
    assert (home / "more").read_bytes() == (home / "more2").read_bytes()
    command("train", "tagger", "train.txt", "--stream", "--max-iter", 2, "--quiet", "--model", "s")
    same = Tagger(max_iter=2).fit_stream(home / "train.txt")
    same.save(home / "s2")
    assert (home / "s").read_bytes() == (home / "s2").read_bytes()


# -- evaluate and inspect -------------------------------------------------------------------------


def test_evaluate_agrees_with_the_output_of_predict(command, home):
    gold = column((home / "test.txt").read_text(), 2)
    predicted = column(command("predict", "chunk", "bare.txt"), 2)
    out = command("evaluate", "chunk", "test.txt", "--json")
    assert out.count("\n") == 1
    result = json.loads(out)
    assert result["accuracy"] == token_accuracy(gold, predicted) > 0.8
    assert result["f1"] == chunk_f1(gold, predicted) > 0.8
    assert result["tokens"] == sum(map(len, gold))
    assert result["sentences"] == len(gold)
    assert result["tokens_per_second"] > 0
    assert result["sentence_accuracy"] == sum(map(list.__eq__, gold, predicted)) / len(gold)
    text = (home / "test.txt").read_bytes()
    again = json.loads(command("evaluate", "chunk", "-", "--json", stdin=text))
    again.pop("tokens_per_second")
    assert again == {k: v for k, v in result.items() if k != "tokens_per_second"}
    report = command("evaluate", "chunk", "test.txt", "--intervals")
    assert f"{100 * result['f1']:.2f}" in report
    assert "NP" in report


def test_evaluate_tags_has_no_f1(command):
    result = json.loads(command("evaluate", "pos", "input.conllu", "--json"))
    assert "f1" not in result
    assert result["tokens"] == 5


def test_inspect(command, home, tmp_path):
    text = command("inspect", "chunk", "--top", 3)
    for label in Tagger.load(home / "chunk").model_.labels:
        assert label in text
    one = command("inspect", "chunk", "--label", "B-NP")
    assert "B-NP" in one
    assert "I-VP" not in one
    why = command("inspect", "chunk", "--sentence", "The|DT dog|NN sleeps|VBZ")
    assert [line.split()[0] for line in why.splitlines() if not line.startswith(" ")] == [
        "The",
        "dog",
        "sleeps",
    ]
    assert (
        command("inspect", "chunk", "--html", tmp_path / "page.html", "--input", "bare.txt") == ""
    )
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")


def test_inspect_a_sentence_with_a_conllu_model(command):
    why = command("inspect", "pos", "--sentence", "The dog sleeps")
    assert [line.split()[0] for line in why.splitlines() if not line.startswith(" ")] == [
        "The",
        "dog",
        "sleeps",
    ]
