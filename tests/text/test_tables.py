"""Tables with names of their own for their columns: read as meant, written as they were."""

import csv
import io
import json
import random
import warnings

import pytest

from structlearn.cli import run
from structlearn.exceptions import FileError
from structlearn.tasks import Tagger
from structlearn.text import read_corpus, read_frame
from structlearn.text.tables import Naming, TableColumns, find_id_column, is_heading

QUICK = ["--max-iter", "3", "--n-models", "1", "--quiet"]


def addresses(n=60, seed=0):
    draw = random.Random(seed)
    rows = []
    for _ in range(n):
        row = [(str(draw.randint(1, 999)), "NUM")]
        row += [(draw.choice(["Main", "Oak", "Elm"]), "STREET")]
        row += [(draw.choice(["St", "Ave"]), "TYPE"), (draw.choice(["Dover", "Salem"]), "CITY")]
        rows.append(
            row + ([(str(draw.randint(10000, 99999)), "ZIP")] if draw.random() < 0.5 else [])
        )
    return rows


ROWS = addresses()
ROWS4 = [row[:4] for row in ROWS]


def table(rows, names=("address_id", "token", "part"), separator=","):
    lines = [separator.join((str(i), w, k)) for i, row in enumerate(rows) for w, k in row]
    return "\n".join([separator.join(names), *lines]) + "\n"


@pytest.fixture
def put(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


@pytest.fixture
def call(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        code = run([str(a) for a in arguments])
        out, err = capfd.readouterr()
        assert code == 0, err
        return out, err

    return command


def test_a_column_that_changes_with_the_sentence_tells_sentences_apart(put, call):
    path = put("a.csv", table(ROWS))
    corpus = read_corpus(path)
    assert [list(s) for s in corpus] == ROWS
    assert corpus.names == ("token", "part")
    assert corpus.table["sentence"] == "address_id"
    _, err = call("train", "tagger", path, "--model", "m", *QUICK[:-1])
    assert "60 sentences" in err
    assert "a sentence ends where the column 'address_id' changes" in err
    # It can be named, in a table with tabs too, where nothing tells that the first line has names.
    for separator in (",", "\t", ";"):
        named = put("b.tsv", table(ROWS, ("a", "b", "c"), separator))
        found = read_corpus(named, sentence="a", word="b", target="c")
        assert [list(s) for s in found] == ROWS
        assert found.remarks == []


@pytest.mark.parametrize(
    ("names", "columns", "found"),
    [
        (["doc_id", "x"], [[1, 1, 2, 2], [1, 2, 3, 4]], 0),
        (["x", "doc_id"], [[7, 8, 9, 9], [1, 1, 2, 2]], 1),
        (["x", "y"], [[1, 1, 2, 2], [3, 4, 3, 4]], None),  # too few to tell without a name
        (["tweet", "y"], [[i // 3 for i in range(18)], [i % 3 for i in range(18)]], 0),
        (["row_id", "n_id"], [list(range(6)), [1, 2, 1, 2, 1, 2]], None),
        (["doc_id", "sent_no"], [[1, 1, 1, 1], [1, 1, 2, 2]], 1),
        (["doc_id", "line_id"], [[1] * 4 + [2] * 4, [1, 1, 2, 2, 3, 3, 4, 4]], 1),  # the finest
    ],
)
def test_which_column_is_an_id(names, columns, found):
    assert find_id_column(names, columns, range(len(names))) == found


def test_a_very_long_sentence_of_a_table_is_doubted(put):
    rows = [token for row in addresses(300) for token in row]
    text = "token,part\n" + "".join(f"{w},{k}\n" for w, k in rows)
    with pytest.warns(UserWarning, match=r"a\.csv, line 2: a sentence of 1,3\d\d tokens: is the"):
        read_corpus(put("a.csv", text))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_corpus(put("b.csv", "token,part\n" + "".join(f"{w},{k}\n" for w, k in rows[:1000])))


def test_the_target_goes_by_the_name_of_the_file(put, call):
    text = "sentence,ner,word,pos\n" + "".join(
        f"{i},{k},{w},P\n" for i, row in enumerate(ROWS) for w, k in row
    )
    path = put("a.csv", text)
    _, err = call("train", "tagger", path, "--target", "ner", "--model", "m", *QUICK[:-1])
    assert "5 labels in column ner (" in err
    assert Tagger.load("m").classes_ == ["CITY", "NUM", "STREET", "TYPE", "ZIP"]
    items = [{"ner": [k for _, k in s], "toks": [w for w, _ in s], "pos": ["P"] * 4} for s in ROWS4]
    path = put("a.jsonl", "".join(json.dumps(item) + "\n" for item in items))
    call("train", "tagger", path, "--target", "ner", "--word", "toks", "--model", "m", *QUICK)
    assert Tagger.load("m").classes_ == ["CITY", "NUM", "STREET", "TYPE"]
    # Python knows the names as well, and the columns may stand in any order in another file.
    other = put("b.csv", "word,sentence,pos\n" + "".join(f"{w},0,P\n" for w, _ in ROWS[0]))
    tagger = Tagger(target="ner", max_iter=3, n_models=1).fit(read_corpus("a.csv", target="ner"))
    assert tagger.predict(other) == [[k for _, k in ROWS[0]]]
    with pytest.raises(FileError, match="there is no column 'nix': the columns are word, pos, ner"):
        Tagger(target="nix").fit("a.csv")


def test_names_and_separators_are_written_as_in_training(put, call, tmp_path):
    for separator, name in ((",", "a.csv"), (";", "a.csv"), ("\t", "a.tsv")):
        path = put(name, table(ROWS, separator=separator))
        call("train", "tagger", path, "--sentence", "address_id", "--model", "m", *QUICK)
        lines = [
            line.rsplit(separator, 1)[0] for line in table(ROWS, separator=separator).split("\n")
        ]
        bare = put("bare" + name[1:], "\n".join(lines))
        out, err = call("predict", "m", bare)
        assert out == path.read_text()
        assert "labels already" not in err
        scores = json.loads(call("evaluate", "m", path, "--json")[0])
        assert (scores["accuracy"], scores["sentences"]) == (1.0, len(ROWS))


def test_numbers_stay_numbers_in_json(put, call):
    number = {k: i for i, k in enumerate(("NUM", "STREET", "TYPE", "CITY", "ZIP"))}
    path = put("a.jsonl", "".join(
        json.dumps({"tokens": [w for w, _ in row], "labels": [number[k] for _, k in row]}) + "\n"
        for row in ROWS))  # fmt: skip
    call("train", "tagger", path, "--model", "m", *QUICK)
    bare = put("b.jsonl", '{"tokens": ["Main", "St"]}\n')
    assert json.loads(call("predict", "m", bare)[0])["labels"] == [1, 2]
    found = json.loads(call("predict", "m", bare, "--confidence")[0])
    assert all(isinstance(p, float) for p in found["labels_confidence"])


def test_a_row_may_be_a_whole_text(put, call):
    lines = [f"{i},{' '.join(w for w, _ in row)},{' '.join(k for _, k in row)}"
             for i, row in enumerate(ROWS)]  # fmt: skip
    path = put("a.csv", "\n".join(["id,address,parts", *lines]) + "\n")
    named = {"text": "address", "target": "parts"}
    assert [list(s) for s in read_corpus(path, **named)] == ROWS
    call("train", "tagger", path, "--text", "address", "--target", "parts", "--model", "m", *QUICK)
    bare = put("b.csv", "id,address\n" + ",".join(lines[0].split(",")[:2]) + "\n2,\n")
    out, _ = call("predict", "m", bare)
    assert out == f"id,address,parts\n{lines[0]}\n2,,\n"
    wrong = put("c.csv", "address,parts\n5 Main St,NUM STREET\n")
    with pytest.raises(FileError, match=r"c\.csv, line 2: the text has 3 words, .*'parts' has 2"):
        read_corpus(wrong, **named)
    with pytest.raises(ValueError, match=r"for each word \(word\) or for each sentence \(text\)"):
        read_corpus(path, word="address", text="address")


def test_quotes_are_words_in_tables_with_tabs(put):
    text = 'sentence_id\ttoken\ttag\n1\t"\tQ\n1\tHi\tW\n1\t"\tQ\n2\t""\tQ\n'
    assert [list(s) for s in read_corpus(put("a.tsv", text))] == [
        [('"', "Q"), ("Hi", "W"), ('"', "Q")], [('""', "Q")]]  # fmt: skip
    text = 'sentence_id\ttoken\ttag\n1\t"a ""b"""\tQ\n1\t""""\tQ\n'
    assert [list(s) for s in read_corpus(put("b.tsv", text))] == [[('a "b"', "Q"), ('"', "Q")]]


def test_frames_with_names_of_their_own():
    rows = [(i, w, k) for i, row in enumerate(ROWS) for w, k in row]
    ids, words, parts = map(list, zip(*rows, strict=True))
    frame = Frame(part=parts, address_id=ids, piece=words, size=[len(w) for w in words])
    corpus = read_frame(frame, word="piece", target="part")
    assert [list(s) for s in corpus] == [[(w, str(len(w)), k) for w, k in row] for row in ROWS]
    assert corpus.remarks == [
        "a sentence ends where the column 'address_id' changes (--sentence names another)"
    ]
    tagger = Tagger(target="part", max_iter=3, n_models=1).fit(corpus)
    assert tagger.evaluate(corpus)["accuracy"] == 1
    # A frame with the usual names goes in as it is, and with the columns in another order.
    frame = Frame(sentence=ids, word=words, tag=parts)
    tagger = Tagger(max_iter=3, n_models=1).fit(frame)
    assert tagger.predict(Frame(word=words[:4], sentence=[0] * 4)) == [parts[:4]]
    with pytest.warns(UserWarning, match="the data frame: a sentence of 1,100 tokens"):
        read_frame(Frame(sentence=[1] * 1100, word=["a"] * 1100, tag=["b"] * 1100))


class Frame(dict):
    """What pandas and polars frames have in common."""

    columns = property(lambda self: list(self))
    shape = property(lambda self: (len(next(iter(self.values()))), len(self)))


def test_headings():
    assert is_heading(["sentence_id", "token", "part"])
    assert not is_heading(["sentence", "NN"])
    assert not is_heading(["token", "part"])
    columns = TableColumns(["lemma", "sent_id", "pos", "label", "word"])
    assert columns.cell_names == ("word", "pos", "lemma", "label")
    columns = TableColumns(["a", "b", "c"], Naming(word="b", target="a"))
    assert columns.cell_names == ("b", "c", "a")


def test_tables_are_read_as_csv_reads_them(put):
    words = ["a,b", 'say "so"', "Ü", "x;y", "emoji 🎉".replace(" ", "_"), "e\u0301", "שלום"]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["n_id", "token", "part"])
    for i in range(4):
        writer.writerows([i, w, f"K{len(w)}"] for w in words)
    corpus = read_corpus(put("a.csv", out.getvalue()))
    assert [s.column("token") for s in corpus] == [words] * 4


def test_objects_may_be_tokens(put, call):
    lines = [json.dumps({"address_id": i, "token": w, "part": k})
             for i, row in enumerate(ROWS) for w, k in row]  # fmt: skip
    path = put("a.jsonl", "\n".join(lines) + "\n")
    corpus = read_corpus(path)
    assert [list(s) for s in corpus] == ROWS
    assert corpus.table["sentence"] == "address_id"
    call("train", "tagger", path, "--model", "m", *QUICK)
    bare = [json.dumps({"address_id": i, "token": w}) for i, row in enumerate(ROWS) for w, _ in row]
    assert call("predict", "m", put("b.jsonl", "\n".join(bare)))[0] == path.read_text()
    with pytest.raises(FileError, match=r"c\.jsonl, line 2: 'token' has None"):
        read_corpus(put("c.jsonl", '{"token": "a", "tag": "X"}\n{"token": null, "tag": "X"}\n'))


@pytest.mark.parametrize("lists", [False, True])
def test_parquet(tmp_path, call, lists):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{"address_id": i, "token": w, "part": k} for i, row in enumerate(ROWS) for w, k in row]
    if lists:
        rows = [{"token": [w for w, _ in row], "part": [k for _, k in row]} for row in ROWS]
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    assert [list(s) for s in read_corpus(tmp_path / "a.parquet")] == ROWS
    call("train", "tagger", "a.parquet", "--target", "part", "--model", "m", *QUICK)
    bare = [{name: v for name, v in row.items() if name != "part"} for row in rows]
    parquet.write_table(arrow.Table.from_pylist(bare), tmp_path / "b.parquet")
    call("predict", "m", "b.parquet", "--output", "c.parquet")
    assert parquet.read_table(tmp_path / "c.parquet").to_pylist() == rows
    (tmp_path / "d.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(FileError, match=r"d\.parquet.*not a Parquet file"):
        read_corpus(tmp_path / "d.parquet")


def test_parquet_without_pyarrow(put, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        read_corpus(put("a.parquet", "PAR1"))
