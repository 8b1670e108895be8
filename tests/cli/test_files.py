"""Files as people have them: read, or refused with advice that works when it is followed."""

import json
import os

import pytest

from structlearn import load
from structlearn.cli import run
from structlearn.datasets import make_treebank, write_treebank
from structlearn.exceptions import FileError
from structlearn.tasks import Tagger
from structlearn.text import read_corpus

BANK = list(make_treebank(40, random_state=0))
ROWS = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
QUICK = ["--max-iter", "2", "--n-models", "1"]


def columns(rows, separator=" "):
    return "\n\n".join("\n".join(separator.join(t) for t in s) for s in rows) + "\n\n"


def objects(rows):
    return [{"tokens": [w for w, _ in s], "tags": [t for _, t in s]} for s in rows]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Models of words alone, of words and tags, and a parser; and the files of the demo."""
    folder = tmp_path_factory.mktemp("files")
    write_treebank(folder, 60, random_state=0)
    (folder / "words.txt").write_text(columns(ROWS))
    for task, source, name, *more in (
        ("pos", "train.conllu", "upos", *QUICK),
        ("pos", "words.txt", "tags", *QUICK),
        ("chunks", "train.txt", "chunks", *QUICK),
        ("parser", "train.conllu", "parser", "--max-iter", "1", "--folds", "2", "--order", "1"),
        ("constituency", "train.mrg", "trees", "--max-iter", "1", "--folds", "2"),
    ):
        given = ["train", task, str(folder / source), "--model", str(folder / name), "--quiet"]
        assert run([*given, *more]) == 0
    return folder


@pytest.fixture
def call(models, tmp_path, capfd, monkeypatch):
    """Run a command in the folder of the models on a new file; return code, output and errors."""
    monkeypatch.chdir(models)

    def command(*arguments, given=None, name="given.txt"):
        path = tmp_path / name
        if given is not None:
            path.write_text(given)
        code = run([str(path) if a == "FILE" else str(a) for a in arguments])
        out, err = capfd.readouterr()
        return code, out, err.replace(str(path), "FILE")

    return command


@pytest.fixture
def train(call, tmp_path):
    def command(given, *more, task="pos", name="given.txt"):
        model = tmp_path / "new"
        code, out, err = call("train", task, "FILE", "--model", model, *QUICK, *more, given=given,
                              name=name)  # fmt: skip
        assert out == ""
        return code, err, load(model) if code == 0 else None

    return command


# -- what training says of its data ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "more"),
    [
        ("pos", []),
        ("pos", ["--stream"]),
        ("pos", ["--learner", "hmm"]),
        ("chunks", ["--target", "3"]),
        ("segments", []),
    ],
)
def test_training_begins_with_what_was_read(train, task, more):
    chunked = task in ("chunks", "segments")
    rows = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK] if chunked else ROWS
    code, err, _ = train(columns(rows), *more, task=task)
    assert code == 0
    labels = {t[-1] for s in rows for t in s}
    first, _, some = err.splitlines()[0].partition(" (")
    assert first == (
        f"{len(rows)} sentences, {sum(map(len, rows))} tokens, {len(labels)} labels in column "
        f"{3 if chunked else 2}"
    )
    assert set(some.removesuffix(", ...)").split(", ")) <= labels


def test_a_chunker_without_tags_says_so(train):
    rows = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]
    told = "no column has tags, so the features of tags are left out"
    for task in ("chunks", "segments"):
        bare = columns([[(w, k) for w, _, k in s] for s in rows])
        assert told in train(bare, task=task)[1].splitlines()
        assert told not in train(columns(rows), task=task)[1]


def test_chunks_in_the_place_of_parts_of_speech(train):
    given = columns([list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK])
    told = train(given)[1].splitlines()[1]
    assert told.startswith("column 3 has chunks, not parts of speech")
    assert told.endswith("(--target 2)")
    _, err, tagger = train(given, "--target", "2")
    assert "not parts of speech" not in err
    assert set(tagger.classes_) == {tag for s in ROWS for _, tag in s}


def test_a_hidden_markov_model_takes_no_preset(train):
    for task in ("pos", "ner", "chunks"):
        assert train(columns(ROWS), "--learner", "hmm", task=task)[0] == 0
    code, err, _ = train(columns(ROWS), "--learner", "hmm", "--features", "pos")
    assert code == 1
    assert "does not use features: leave it at its default" in err


# -- files to learn from --------------------------------------------------------------------------


def test_an_array_is_read_as_json_lines_are(train, call, tmp_path):
    expected = train("".join(json.dumps(o) + "\n" for o in objects(ROWS)))[2].classes_
    for indent, name in ((None, "a.json"), (1, "a.txt"), (None, "a.jsonl"), (2, "a.jsonl")):
        given = json.dumps(objects(ROWS), indent=indent)
        code, _, tagger = train(given, name=name)
        assert code == 0
        assert tagger.classes_ == expected
        assert [list(s) for s in read_corpus(tmp_path / name)] == ROWS
    bare = json.dumps([{"tokens": o["tokens"]} for o in objects(ROWS)], indent=1)
    code, out, _ = call("predict", "tags", "FILE", given=bare)
    assert [o["tokens"] for o in json.loads(out)] == [o["tokens"] for o in objects(ROWS)]
    labels = Tagger.load("tags").predict([[w for w, _ in s] for s in ROWS])
    assert [o["tags"] for o in json.loads(out)] == labels


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[\n{"tokens": ["a"]},\n{"tokens": ]\n', "line 3: not a JSON array of objects"),
        ('[{"tokens": ["a"]},\n\n {"words": 3}]', "line 3: a sentence is an object with a list"),
        ('[{"tokens": ["a"]},\n{"tokens": ["a"], "tags": []}]', "line 2: .* 1 tokens, 0 tags"),
        ("The DT\n", r"line 1: not a JSON object: 'The DT'\. Each line is an object, such as"),
    ],
)
def test_json_that_cannot_be_read(tmp_path, text, message):
    (tmp_path / "x.jsonl").write_text(text)
    with pytest.raises(FileError, match=message) as raised:
        read_corpus(tmp_path / "x.jsonl")
    assert "Expecting value: line 1 column 1 (char 0)" not in str(raised.value)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_with_other_separators(train, call, separator):
    lines = [separator.join((str(i), f'"{w}"', f'"{t}"'))
             for i, s in enumerate(ROWS) for w, t in s]  # fmt: skip
    usual, own = (separator.join(names) for names in (("sentence", "word", "tag"), ("s", "x", "y")))
    tagger = train("\n".join([usual, *lines]), name="a.csv")[2]
    assert tagger.classes_ == sorted({t for s in ROWS for _, t in s})
    _, out, _ = call("predict", "tags", "FILE", name="a.csv")
    assert out.splitlines()[0] == usual
    # Names that are not known: what the message says works.
    code, err, _ = train("\n".join([own, *lines]), name="a.csv")
    assert code == 1
    assert "if these are the names, say so (--header, or --word with the name of" in err
    assert train("\n".join([own, *lines]), "--header", name="a.csv")[0] == 0
    assert train("\n".join(lines), name="a.csv")[0] == 1


def test_sentences_in_cells(train):
    given = "text,label\nFish sleep .,N\nThe dog sees 10 000 fish .,V\n"
    code, err, _ = train(given, name="a.csv")
    assert code == 1
    assert "FILE, line 2: the column 'text' has several words in a row, 'Fish sleep .'" in err
    assert "write a row for each word, with the columns sentence, word, tag" in err
    given = "sentence,word,tag\n1,Fish,N\n1,sleep,V\n2,10 000,D\n2,fish,N\n"
    assert train(given, name="a.csv")[0] == 0


@pytest.mark.parametrize("mark", "/|_")
@pytest.mark.parametrize("even", [False, True])
def test_words_with_their_labels_attached(train, mark, even):
    rows = [s[:3] for s in ROWS] if even else ROWS
    code, err, _ = train("".join(" ".join(map(mark.join, s)) + "\n" for s in rows))
    assert code == 1
    assert "on each line, separated by a blank or a tab" in err
    assert "a blank line after each sentence" in err
    if even:
        assert f"words and labels are joined by {mark!r}, as in {mark.join(rows[0][0])!r}" in err
    assert train("\n".join(map(mark.join, rows[0])))[0] == 1
    assert train(columns(rows))[0] == 0


def test_running_text_is_not_to_be_learned_from(train, call, tmp_path):
    text = "".join(" ".join(s.words) + "\n" for s in BANK)
    code, err, _ = train(text)
    assert code == 1
    assert "Is this running text, one sentence on each line? Training and evaluation read" in err
    assert "--format" not in err
    code, _, err = call("evaluate", "tags", "FILE")
    assert code == 1
    assert "Training and evaluation read one token with its label on each line" in err
    even = "".join(f"He{i} sat{i} down{i} here{i}\n" for i in range(8))
    (tmp_path / "even.txt").write_text(even)
    tagger = Tagger("pos", max_iter=1, n_models=1)
    with pytest.warns(UserWarning, match=r"8 of 8 labels in column 4 occur once \(here0, .* text"):
        tagger.fit(tmp_path / "even.txt")
    assert train(even, "--target", "2")[0] == 0  # a column that was named is not doubted


# -- files to label -------------------------------------------------------------------------------


def test_any_file_that_has_the_words_is_taken(call, models):
    text = (models / "text.txt").read_text()
    for model in ("upos", "tags", "parser", "trees"):
        plain = call("predict", model, "text.txt")
        assert plain[0] == 0, plain
        assert plain[1] == call("predict", model, "text.txt", "--format", "text")[1]
    words = [line.split() for line in text.splitlines()]
    found = call("predict", "tags", "text.txt")[1].splitlines()
    assert [[t.rpartition("|")[0] for t in line.split()] for line in found] == words
    tagger = Tagger.load("tags")
    assert tagger.predict("text.txt") == tagger.predict(words)
    # Columns beyond those that the model reads: words first.
    for model in ("upos", "parser"):
        code, out, _ = call("predict", model, "test.txt")
        assert code == 0
        assert out == call("predict", model, "test.txt", "--format", "columns")[1]


@pytest.mark.parametrize(
    "given",
    [
        "Fish sleep\nDogs bark\n",
        "Fish sleep\nHe said that .\n",
        "John Smith\nMary Jones\n" * 20,
        columns([[*s[:4], ("ragged",)] for s in ROWS]),
    ],
)
def test_what_nobody_can_know_is_refused_with_options_that_work(call, given):
    code, out, err = call("predict", "upos", "FILE", given=given)
    assert (code, out) == (1, "")
    assert "use --format text if each line is a sentence, --format columns if the first" in err
    code, out, _ = call("predict", "upos", "FILE", "--format", "text")
    assert code == 0
    assert len(out.splitlines()) == len(given.splitlines())
    if len({len(line.split()) for line in given.splitlines()}) == 1:
        assert call("predict", "upos", "FILE", "--format", "columns")[0] == 0


def test_a_model_that_reads_more_than_words(call, models):
    code, out, err = call("predict", "chunks", "text.txt")
    assert (code, out) == (1, "")
    assert "--format text" not in err
    assert "The model reads the columns word, pos, which text has not" in err
    assert call("predict", "chunks", "FILE", given=columns(ROWS))[0] == 0  # as it says
    code, out, err = call("predict", "tags", "FILE", given="He said that the quick dog ran .\n")
    assert code == 1
    assert 'Then its format is text (--format text; in Python read_corpus(path, "text"))' in err
    assert call("predict", "tags", "FILE", "--format", "text")[0] == 0


# -- what is written ------------------------------------------------------------------------------


def test_commands_say_what_they_wrote(call, tmp_path):
    for arguments in (
        ["predict", "tags", "words.txt", "--output", tmp_path / "out"],
        ["evaluate", "tags", "words.txt", "--html", tmp_path / "scores.html"],
        ["inspect", "tags", "--html", tmp_path / "inside.html"],
    ):
        for _ in range(2):  # what was written before may be written again
            code, out, err = call(*arguments)
            assert code == 0
            assert err.splitlines()[-1] == f"wrote {arguments[-1]}"
        assert os.path.getsize(arguments[-1])
        if arguments[0] == "evaluate":
            assert out == call("evaluate", "tags", "words.txt")[1]
    assert call("predict", "tags", "words.txt", "--output", "-")[2].startswith("structlearn: words")


def test_what_is_read_is_not_overwritten(call, models, tmp_path):
    link = tmp_path / "link.txt"
    link.symlink_to(models / "words.txt")
    before = {name: (models / name).read_bytes() for name in ("words.txt", "test.txt", "tags")}
    for arguments in (
        ["predict", "tags", "words.txt", "--output", "words.txt"],
        ["predict", "tags", "words.txt", "--output", link],
        ["predict", "tags", "words.txt", "--output", "tags"],
        ["evaluate", "tags", "words.txt", "--html", "words.txt"],
        ["evaluate", "tags", "words.txt", "--html", "tags"],
        ["inspect", "tags", "--input", "words.txt", "--html", "words.txt"],
        ["inspect", "tags", "--html", "test.txt"],
        ["train", "pos", "words.txt", "--model", "words.txt"],
    ):
        code, out, err = call(*arguments)
        assert (code, out) == (1, "")
        assert err.startswith(f"structlearn: {arguments[-1]}: ")
        assert err.endswith(": write to another name\n")
        if arguments[0] != "train":
            assert call(*arguments[:-1], tmp_path / f"other-{arguments[0]}.html")[0] == 0
    assert before == {name: (models / name).read_bytes() for name in before}


# -- scores and reasons ---------------------------------------------------------------------------


def test_labels_of_another_kind(call, models):
    told = "no label in common: the model predicts "
    code, out, _ = call("evaluate", "upos", "test.txt")
    assert code == 0
    assert out.startswith(told)
    assert told not in call("evaluate", "upos", "test.conllu")[1]
    assert told not in call("evaluate", "tags", "words.txt")[1]


def test_relations_without_words_have_no_row(models):
    from structlearn.metrics.attachment import attachment_report

    gold = [[(2, "nsubj"), (0, "root"), (2, "obj")]]
    text = attachment_report(gold, [[(2, "nsubj"), (0, "root"), (2, "obl")]]).text()
    assert "predicted, but not in the gold data: obl 1" in text
    assert "\nobl" not in text
    assert "\nobj" in text
    assert "predicted, but" not in attachment_report(gold, gold).text()


def test_inspect_takes_its_input_as_the_other_commands_do(call):
    expected = call("inspect", "tags", "--input", "words.txt")
    assert expected[0] == 0
    assert call("inspect", "tags", "words.txt") == expected
    code, _, err = call("inspect", "tags", "words.txt", "--input", "words.txt")
    assert code == 1
    assert "name the input once" in err
