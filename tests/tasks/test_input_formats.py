"""Any file that has what a model needs is labelled, and written back in its own format."""

import csv
import io
import json
import math
import random

import pytest

from structlearn.cli import run
from structlearn.datasets import make_treebank
from structlearn.exceptions import FileError
from structlearn.tasks import DependencyParser, SegmentTagger, Tagger
from structlearn.text import read_corpus, read_frame

BANK = list(make_treebank(80, random_state=0))
TEST = BANK[70:75]
WORDS = [list(s.words) for s in TEST]


def conllu(sentences, upos=True):
    rows = [
        [
            "\t".join([str(i), w, "_", t if upos else "_", *"______"])
            for i, (w, t) in enumerate(zip(s.words, s.tags, strict=True), 1)
        ]
        for s in sentences
    ]
    return "\n\n".join("\n".join(row) for row in rows) + "\n\n"


def columns(rows, separator="\t"):
    return "\n\n".join("\n".join(separator.join(t) for t in s) for s in rows) + "\n\n"


#: The words of the test sentences in each format.
FILES = {
    "conllu": conllu(TEST, upos=False),
    "columns": columns([[(w,) for w in s] for s in WORDS]),
    "text": "".join(" ".join(s) + "\n" for s in WORDS),
    "jsonl": "".join(json.dumps({"id": i, "tokens": s}) + "\n" for i, s in enumerate(WORDS)),
    "csv": "sentence,word\n" + "".join(f'{i},"{w}"\n' for i, s in enumerate(WORDS) for w in s),
}


def labels_of(format, text, place):
    """The labels in a file that was written; ``place``: their column in CoNLL-U."""
    if format == "text":
        return [[t.rsplit("|", 1)[1] for t in line.split()] for line in text.splitlines()]
    if format == "jsonl":
        return [json.loads(line)["tags"] for line in text.splitlines()]
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        return [[r["label"] for r in rows if r["sentence"] == str(i)] for i in range(len(WORDS))]
    rows = [[t.split() for t in s.split("\n")] for s in text.strip().split("\n\n")]
    if format == "columns":
        return [[t[1] for t in s] for s in rows]
    return [[t[place].removeprefix("Label=") for t in s] for s in rows]


def words_of(format, text):
    if format == "text":
        return [[t.rsplit("|", 1)[0] for t in line.split()] for line in text.splitlines()]
    if format == "jsonl":
        return [json.loads(line)["tokens"] for line in text.splitlines()]
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        return [[r["word"] for r in rows if r["sentence"] == str(i)] for i in range(len(WORDS))]
    rows = [[t.split() for t in s.split("\n")] for s in text.strip().split("\n\n")]
    return [[t[1 if format == "conllu" else 0] for t in s] for s in rows]


@pytest.fixture(scope="module")
def taggers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    (folder / "train.conllu").write_text(conllu(BANK[:70]))
    rows = [list(zip(s.words, s.tags, strict=True)) for s in BANK[:70]]
    chunked = [list(zip(s.words, s.chunks, strict=True)) for s in BANK[:70]]
    return {
        "conllu": Tagger("pos", max_iter=3, n_models=1).fit(folder / "train.conllu"),
        "columns": Tagger("pos", max_iter=3, n_models=1).fit(rows),
        "segments": SegmentTagger(max_iter=3).fit(chunked),
    }


@pytest.fixture
def attempt(taggers, tmp_path, capsysbinary):
    def call(model, text, *arguments, command="predict", name="given"):
        path, stored = tmp_path / name, tmp_path / "m"
        path.write_text(text)
        taggers[model].save(stored)
        code = run([command, str(stored), str(path), *arguments])
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode().replace(str(path), "FILE")

    return call


@pytest.mark.parametrize("model", ["conllu", "columns", "segments"])
@pytest.mark.parametrize("format", FILES)
def test_every_format_is_labelled_and_written_back(taggers, attempt, model, format):
    tagger = taggers[model]
    expected = tagger.predict(WORDS)
    guessed = [] if format != "text" else ["--format", "text"]
    code, out, err = attempt(model, FILES[format], *guessed)
    assert (code, err) == (0, "")
    # The tags of a column file are UPOS in CoNLL-U, which has no column for chunks.
    assert labels_of(format, out, 9 if model == "segments" else 3) == expected
    assert words_of(format, out) == WORDS
    assert attempt(model, FILES[format], "--format", format)[1] == out


@pytest.mark.parametrize("model", ["conllu", "columns"])
@pytest.mark.parametrize("format", FILES)
def test_what_else_is_written(taggers, attempt, model, format):
    """Second-best labels and confidences stand beside the labels, whatever the format."""
    more = ["--format", format, "--nbest", "2", "--confidence"]
    code, out, _ = attempt(model, FILES[format], *more)
    assert code == 0
    second = [best[1][1] if len(best) > 1 else ["-"] * len(best[0][1])
              for best in taggers[model].predict_kbest(WORDS, 2)]  # fmt: skip
    marginals = taggers[model].predict_marginals(WORDS)
    labels = taggers[model].predict(WORDS)
    sure = [[f"{p[k]:.4f}" for p, k in zip(ps, ks, strict=True)]
            for ps, ks in zip(marginals, labels, strict=True)]  # fmt: skip
    if format == "text":
        cells = [[t.split("|")[-2:] for t in line.split()] for line in out.splitlines()]
    elif format == "jsonl":
        read = [json.loads(line) for line in out.splitlines()]
        cells = [list(map(list, zip(o["tags_label2"], o["tags_confidence"], strict=True)))
                 for o in read]  # fmt: skip
    elif format == "csv":
        rows = list(csv.DictReader(io.StringIO(out)))
        cells = [[[r["label2"], r["confidence"]] for r in rows if r["sentence"] == str(i)]
                 for i in range(len(WORDS))]  # fmt: skip
    else:
        rows = [[t.split() for t in s.split("\n")] for s in out.strip().split("\n\n")]
        told = {"columns": lambda t: t[-2:]}.get(
            format, lambda t: [part.partition("=")[2] for part in t[9].split("|")]
        )
        cells = [[told(t) for t in s] for s in rows]
    if format == "jsonl":  # numbers; and null where the sentence has no more labellings
        second = [[None if k == "-" else k for k in s] for s in second]
        sure = [list(map(float, s)) for s in sure]
    assert [[c[0] for c in s] for s in cells] == second
    assert [[c[1] for c in s] for s in cells] == sure


def test_python_reads_the_same_files(taggers, tmp_path):
    expected = {name: tagger.predict(WORDS) for name, tagger in taggers.items()}
    for format, text in FILES.items():
        if format == "text":
            continue
        path = tmp_path / f"x.{format}"
        path.write_text(text)
        for name, tagger in taggers.items():
            assert tagger.predict(path) == expected[name]
            assert tagger.predict(str(path)) == expected[name]
    words = read_corpus(tmp_path / "x.csv")
    assert [s.column("word") for s in words] == WORDS
    parser = DependencyParser(1, hash_bits=12, max_iter=1, folds=2).fit(
        [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK[:40]]
    )
    trees = parser.predict(WORDS)
    for format in ("columns", "jsonl", "csv", "conllu"):
        assert parser.predict(tmp_path / f"x.{format}") == trees
        parser.label_file(tmp_path / f"x.{format}", tmp_path / "out.conllu")
        found = read_corpus(tmp_path / "out.conllu")
        assert [[int(h) for h in s] for s in found.column("head")] == [t.heads for t in trees]


def test_gold_of_another_format(taggers, tmp_path):
    """A tagger is judged by any file that has the labels."""
    rows = [list(zip(s.words, s.tags, strict=True)) for s in TEST]
    (tmp_path / "gold.conllu").write_text(conllu(TEST))
    (tmp_path / "gold.tsv").write_text(columns(rows))
    (tmp_path / "gold.jsonl").write_text(
        "".join(json.dumps({"tokens": s.words, "tags": s.tags}) + "\n" for s in TEST)
    )
    (tmp_path / "gold.csv").write_text(
        "Sentence #,Word,Tag\n"
        + "".join(f'{"" if t else i},"{w}",{k}\n'
                  for i, s in enumerate(rows) for t, (w, k) in enumerate(s))
    )  # fmt: skip
    for name in ("conllu", "columns"):
        score = taggers[name].score(rows)
        for ending in ("conllu", "tsv", "jsonl", "csv"):
            assert taggers[name].evaluate(tmp_path / f"gold.{ending}")["accuracy"] == score
    again = Tagger("pos", max_iter=2, n_models=1)
    models = [again.fit(tmp_path / f"gold.{e}").predict(WORDS) for e in ("tsv", "jsonl", "csv")]
    assert models[0] == models[1] == models[2]
    (tmp_path / "x.jsonl").write_text(FILES["jsonl"])
    with pytest.raises(FileError, match="gold labels must be in column 2"):
        taggers["columns"].evaluate(tmp_path / "x.jsonl")


# -- what is refused ------------------------------------------------------------------------------


def test_running_text_is_not_damaged(taggers, attempt):
    prose = "He said that the quick dog ran .\n"
    code, out, err = attempt("columns", prose)
    assert (code, out) == (1, "")
    assert "FILE, line 1: 8 columns, where the model was trained on 2" in err
    assert "running text" in err
    assert "--format text" in err
    code, out, err = attempt("conllu", prose)
    assert (code, out) == (1, "")
    assert "FILE, line 1: it has 8 columns and is not CoNLL-U: use --format text" in err
    code, out, err = attempt("columns", "Fish sleep\nHe said that .\n")
    assert (code, out) == (1, "")
    assert "FILE, line 2: 4 columns where the lines before have 2" in err
    assert "--format text" in err
    with pytest.raises(FileError, match=r"no such file\. A string is the name of a file"):
        taggers["columns"].predict("He said that")


def test_columns_that_the_model_reads_are_missing(tmp_path, capsysbinary):
    rows = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK[:40]]
    tagger = Tagger("chunk", max_iter=1, n_models=1).fit(rows)
    with pytest.raises(
        ValueError, match=r"the columns word, pos, .* has word: pos \(column 2\) is"
    ):
        tagger.predict(WORDS)
    path = tmp_path / "x.txt"
    path.write_text(FILES["text"])
    with pytest.raises(FileError, match=r"x.txt, line 1: the model reads the columns word, pos"):
        tagger.label_file(path, tmp_path / "out", format="text")
    assert not (tmp_path / "out").exists()
    # CoNLL-U has a column for them, and none for chunks.
    path.write_text(conllu(TEST))
    tagger.label_file(path, tmp_path / "out.conllu")
    tagged = [list(zip(s.words, s.tags, strict=True)) for s in TEST]
    found = [[m.removeprefix("Label=") for m in s]
             for s in read_corpus(tmp_path / "out.conllu").column("misc")]  # fmt: skip
    assert found == tagger.predict(tagged)


@pytest.mark.parametrize("separator", ["\t", " "])
def test_headings(taggers, attempt, tmp_path, separator):
    rows = [list(zip(s.words, s.tags, strict=True)) for s in TEST]
    plain = columns(rows, separator)
    headed = separator.join(("word", "label")) + "\n" + plain
    path = tmp_path / "headed.tsv"
    path.write_text(headed)
    expected = attempt("columns", plain)[1]
    if separator == "\t":  # a table
        assert read_corpus(path).names == ("word", "label")
        assert attempt("columns", headed)[:2] == (0, "word\tlabel\n" + expected)
    else:
        for ask in (Tagger().fit, taggers["columns"].evaluate, taggers["columns"].predict):
            with pytest.raises(FileError, match=r"headed.tsv, line 1: this line names the columns"):
                ask(path)
        code, out, err = attempt("columns", headed)
        assert (code, out) == (1, "")
        assert "FILE, line 1: this line names the columns (word, label)" in err
    code, out, _ = attempt("columns", headed, "--header")
    assert (code, out) == (0, separator.join(("word", "label")) + "\n" + expected)
    # Blank lines before it and a single sentence: no other blank line ends a piece of the file.
    single = "\n\n" + separator.join(("word", "label")) + "\n" + columns(rows[:1], separator)
    assert attempt("columns", single.rstrip("\n"), "--header")[1].startswith(
        "\n\n" + "\n".join(out.splitlines()[: 1 + len(rows[0])])
    )
    bare = columns([[t[:1] for t in s] for s in rows], separator)
    assert attempt("columns", "token\n" + bare, "--header")[1].splitlines()[0].split() == [
        "token", "label",
    ]  # fmt: skip
    scores = [json.loads(attempt("columns", text, "--json", *more, command="evaluate")[1])
              for text, more in ((plain, []), (headed, ["--header"]))]  # fmt: skip
    assert scores[0]["accuracy"] == scores[1]["accuracy"]
    model = tmp_path / "trained"
    assert run(["train", "tagger", str(path), "--model", str(model), "--header", "--quiet"]) == 0
    assert "label" not in Tagger.load(model).classes_


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.jsonl", '{"tokens": ["a"]}\n{"tokens": \n', "line 2: not a JSON object"),
        ("x.jsonl", '{"words of it": "a"}\n', "line 1: a sentence is an object with a list"),
        ("x.jsonl", '{"tokens": ["a"], "tags": []}\n', "line 1: .* 1 tokens, 0 tags"),
        ("x.jsonl", '{"tokens": ["a", null]}\n', "line 1: 'tokens' has None"),
        ("x.csv", "the,DT\ndog,NN\n", "line 1: the first line of a CSV file names its columns"),
        ("x.csv", "word,tag\nthe,DT\ndog\n", "line 3: 1 columns, where the heading has 2"),
        ("x.csv", "word,tag\nthe,\n", "line 2: the column 'tag' is empty"),
        ("x.csv", "word,tag\n\n", "the file contains no sentences"),
    ],
)
def test_bad_tables(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FileError, match=message):
        read_corpus(path)


class Frame(dict):
    """What pandas and polars frames have in common."""

    columns = property(list)
    shape = property(lambda self: (len(next(iter(self.values()))), len(self)))


def test_frames():
    rows = [(i, w, t) for i, s in enumerate(TEST) for w, t in zip(s.words, s.tags, strict=True)]
    numbers, words, tags = (list(column) for column in zip(*rows, strict=True))
    frame = Frame(sent_id=numbers, token=words, tag=tags)
    expected = [list(zip(s.words, s.tags, strict=True)) for s in TEST]
    assert [list(s) for s in read_frame(frame)] == expected
    assert [list(s) for s in read_frame(Frame(tag=tags, sent_id=numbers, token=words))] == expected
    bare = read_frame(Frame(n=numbers, token=words, x=tags), sentence="n", columns=["token"])
    assert bare.column(0) == WORDS
    # "Sentence: 1" stands beside the first word of a sentence alone in a well-known data set.
    first = [n if i == 0 or n != numbers[i - 1] else math.nan for i, n in enumerate(numbers)]
    marked = Frame({"Sentence #": first, "Word": words, "Tag": tags})
    assert [list(s) for s in read_frame(marked)] == expected
    tagger = Tagger("pos", max_iter=1, n_models=1).fit(read_frame(frame))
    assert len(tagger.predict(bare)) == len(WORDS)
    with pytest.raises(ValueError, match="no column tells the sentences apart"):
        read_frame(Frame(token=words, tag=tags))
    with pytest.raises(ValueError, match="row 1: 'tag' is nan, not a string"):
        read_frame(Frame(sent_id=numbers, token=words, tag=[tags[0], math.nan, *tags[2:]]))
    with pytest.raises(ValueError, match="there is no column 'words'"):
        read_frame(frame, word="words")
    with pytest.raises(ValueError, match="must be a data frame, got list"):
        read_frame([])
    for ask in (tagger.predict, tagger.fit):
        with pytest.raises(ValueError, match=r"got a FrameLike: structlearn\.text\.read_frame"):
            ask(FrameLike(frame))


class FrameLike:
    """A frame that is no dictionary."""

    def __init__(self, frame):
        self.columns, self.shape = frame.columns, frame.shape

    def __iter__(self):
        return iter(self.columns)


@pytest.mark.parametrize("cell", ["a\tN\nb", "a\tN\n\nb", "a\nN", "a\tb"])
def test_cells_that_would_be_several_lines_are_one_token(cell, tmp_path):
    """A tab or a line end inside a word once made two tokens of one, and labels of others."""
    rows = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK[:20]]
    tagger = Tagger(max_iter=1).fit(rows)
    path, out = tmp_path / "x.jsonl", tmp_path / "y.jsonl"
    path.write_text(json.dumps({"tokens": [cell], "tags": ["N"]}) + "\n")
    assert tagger.label_file(path, out) == 1
    found = json.loads(out.read_text())
    assert (found["tokens"], found["tags"]) == ([cell], ["N"])
    assert found["label"] == tagger.predict([[(cell, "N")]])[0]


def test_labels_of_another_kind_leave_those_of_the_file(tmp_path):
    """Chunks were written over the tags that they had been found from."""
    rows = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK[:20]]
    tagger = Tagger(max_iter=1).fit(rows)
    path, out = tmp_path / "x.jsonl", tmp_path / "y.jsonl"
    path.write_text(json.dumps({"tokens": BANK[0].words, "tags": BANK[0].tags}) + "\n")
    tagger.label_file(path, out)
    found = json.loads(out.read_text())
    assert found["tags"] == list(BANK[0].tags)
    assert (
        found["label"] == tagger.predict([list(zip(BANK[0].words, BANK[0].tags, strict=True))])[0]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 5000, "line 1: not a JSON"),
        ('[{"' + "[" * 5000, "line 1: not a JSON array"),
        ('{"tokens": ["a"], "n": ' + "9" * 5000 + "}", "line 1: not a JSON object"),
        ('[{"tokens": ["a"], "n": ' + "9" * 5000 + "}]", "line 1: .* thousands of digits"),
        ('[{"tokens": ["a"], "n": ' + "[" * 5000 + "]" * 5000 + "}]", "line 1: .* too deeply"),
        ('{"tokens": ["a\\ud800"]}', "line 1: .* half a character"),
    ],
)
def test_json_that_overwhelms_a_reader(text, message, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(FileError, match=message):
        read_corpus(path)


def test_values_beside_the_words_may_be_anything(tmp_path):
    """Half characters beside the words are written as they were read."""
    tagger = Tagger(max_iter=1).fit([list(zip(s.words, s.tags, strict=True)) for s in BANK[:20]])
    path, out = tmp_path / "x.jsonl", tmp_path / "y.jsonl"
    path.write_text('{"tokens": ["a"], "id": "\\ud800"}\n')
    tagger.label_file(path, out)
    assert json.loads(out.read_text())["id"] == "\ud800"


def test_words_that_begin_as_a_byte_order_mark(taggers, tmp_path):
    """The mark of the file is one thing, a character of its first word is another."""
    path, out = tmp_path / "words.txt", tmp_path / "out"
    path.write_bytes("\ufeff\ufeff x\n".encode())
    assert taggers["columns"].label_file(path, out, format="text") == 2
    words = [token.partition("|")[0] for token in out.read_text("utf-8-sig").split()]
    assert words == ["\ufeff", "x"]


def test_lists_of_json_objects_stand_in_any_order(tmp_path):
    """The names of lists say what they hold, not the order of an object's keys."""
    rng = random.Random(0)
    items = [
        {"tokens": [f"w{i}"], "pos": [tag], "chunk": [{"N": "B-X", "V": "O"}[tag]]}
        for i in range(20)
        for tag in "NV"
    ]
    tagger = Tagger("chunk", max_iter=5, n_models=1).fit(
        [list(zip(*item.values(), strict=True)) for item in items]
    )
    given = [{**item, "chunk": ["O"]} for item in items]
    mixed = [given[0], *({k: x[k] for k in rng.sample(list(x), 3)} for x in given[1:])]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(x) + "\n" for x in mixed))
    assert [list(s) for s in read_corpus(path)] == [
        list(zip(*x.values(), strict=True)) for x in given
    ]
    tagger.label_file(path, tmp_path / "out.jsonl")
    written = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in written] == items


@pytest.mark.parametrize("other", [{"tokens": ["a"]}, {"tokens": ["a"], "chunk": ["O"]}])
def test_json_objects_with_other_lists_are_refused(tmp_path, other):
    tagger = Tagger("pos", max_iter=1, n_models=1).fit([[("a", "N")], [("b", "V")]])
    path = tmp_path / "x.jsonl"
    rows = [{"tokens": []}, {"tokens": ["a"], "tags": ["N"]}, {"tokens": []}, other]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for read in (read_corpus, lambda p: tagger.label_file(p, tmp_path / "out.jsonl")):
        with pytest.raises(FileError, match=r"x\.jsonl, line 4: .*the first one has tokens, tags"):
            read(path)
