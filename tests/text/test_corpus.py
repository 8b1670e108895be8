"""Column files and CoNLL-U against a reader written here in Python; corpora as sequences."""

from __future__ import annotations

import io
import os
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn import _core
from structlearn.exceptions import FileError, LineError
from structlearn.metrics import to_iobes
from structlearn.text import Corpus, read_corpus
from structlearn.text.corpus import CONLLU_COLUMNS, column_names, find_column
from structlearn.text.formats import guess_format
from tests.text.text_strategies import (
    CELLS,
    REPEATABLE,
    column_files,
    conllu_sentences,
    conllu_text,
    conllu_tokens,
    sentences,
)

BLANKS = " \t\r\f\v"


def tokens_of(corpus):
    return [list(sentence) for sentence in corpus]


def parsed(data, format="columns"):
    core = _core.Corpus(format)
    core.read(data)
    return Corpus(core, format)


def reference(data):
    """The sentences of a column file, read as its description says."""
    found, sentence, tabs = [], [], None
    for line in data.decode().removeprefix("\ufeff").split("\n"):
        line = line.rstrip(BLANKS)
        if not line:
            if sentence:
                found.append(sentence)
            sentence = []
            continue
        if tabs is None:
            tabs = "\t" in line
        cells = line.split("\t") if tabs else line.replace("\t", " ").split(" ")
        sentence.append(tuple(cells if tabs else [c for c in cells if c]))
    return [*found, sentence] if sentence else found


# -- column files -------------------------------------------------------------------------------


@REPEATABLE
@given(column_files())
def test_column_files_hold_what_was_written(file):
    made, data = file
    corpus = parsed(data)
    assert tokens_of(corpus) == made == reference(data)
    assert (len(corpus), corpus.n_tokens) == (len(made), sum(map(len, made)))
    assert corpus.n_columns == len(made[0][0])


@REPEATABLE
@given(column_files(), st.integers(0, 40))
def test_pieces_of_a_file_make_one_corpus(file, cut):
    """Read in two pieces that end where a sentence ends, lines counted on."""
    made, data = file
    core = _core.Corpus("columns")
    at = _core.last_sentence_end(data[: min(cut, len(data))])
    core.read(data[:at])
    core.read(data[at:])
    assert tokens_of(Corpus(core, "columns")) == made
    expected, fresh = [], True
    for number, line in enumerate(data.decode().removeprefix("\ufeff").split("\n"), 1):
        if line.strip(BLANKS) and fresh:
            expected.append(number)
        fresh = not line.strip(BLANKS)
    assert [core.line_number(i) for i in range(core.n_sentences)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\tb\nc\td\n", [[("a", "b"), ("c", "d")]]),
        ("a b c\td\n", None),
        ("a  b\n  c\td \n", [[("a", "b"), ("c", "d")]]),
        ("a b\tc\nd e\tf\n", [[("a b", "c"), ("d e", "f")]]),
        (" a\tb\n", [[(" a", "b")]]),
        ("a b\r\nc d\r\n\r\ne f", [[("a", "b"), ("c", "d")], [("e", "f")]]),
        ("\ufeffa b\n", [[("a", "b")]]),
        ("a\n\n\n \n\t\nb\n", [[("a",)], [("b",)]]),
        ("\n\na b\n", [[("a", "b")]]),
        ("# b\n#x O\n", [[("#", "b"), ("#x", "O")]]),
        ("-DOCSTART- O\n\na O\n", [[("-DOCSTART-", "O")], [("a", "O")]]),
        ("a\x0bb\x0cc\n", [[("a", "b", "c")]]),
        ("\u00a0 b\n", [[("\u00a0", "b")]]),
        ("a\u2028b c\n", [[("a\u2028b", "c")]]),
        ("a\0b c\n", [[("a\0b", "c")]]),
    ],
)
def test_written_out_files(text, expected):
    if expected is None:  # the tab is the only separator once a line has one
        assert tokens_of(parsed(text.encode())) == [[("a b c", "d")]]
    else:
        assert tokens_of(parsed(text.encode())) == expected


def test_only_the_first_mark_is_one():
    """A byte order mark further on, in another piece too, is part of a token."""
    core = _core.Corpus("columns")
    core.read("\ufeffa\n\n".encode())
    core.read("\ufeffb\n".encode())
    assert Corpus(core, "columns").column(0) == [["a"], ["\ufeffb"]]


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"a b\nc\n", 2, "1 column where the lines before have 2: 'c'"),
        (b"a b\n\n\nc d e\n", 4, "3 columns where the lines before have 2"),
        (b"a\tb\nc\t\td\n", 2, "column 2 is empty"),
        (b"a\tb\n\tc\n", 2, "column 1 is empty"),
        (b"a b\n\n\xff b\n", 3, "not valid UTF-8"),
        (b"\xed\xa0\x80\n", 1, "not valid UTF-8"),  # half of a surrogate pair
        (b"a\n\xc0\x80\n", 2, "not valid UTF-8"),  # a zero in two bytes
        (b"a\n\xf4\x90\x80\x80\n", 2, "not valid UTF-8"),  # beyond the last character
        (b"a\nb\xe8\xaa\n", 2, "not valid UTF-8"),  # torn
        (b"a b\n" + b"x" * 1_000_000 + b"\n", 2, "1000000 bytes, more than a token can have"),
    ],
)
def test_bad_lines_are_named(tmp_path, data, line, message):
    path = tmp_path / "bad.txt"
    path.write_bytes(data)
    with pytest.raises(FileError, match=message) as caught:
        read_corpus(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert (caught.value.path, caught.value.line) == (str(path), line)


@REPEATABLE
@given(st.binary(max_size=30))
def test_invalid_text_is_found_where_python_finds_it(data):
    data = data.replace(b"\t", b"a").replace(b" ", b"b")
    core = _core.Corpus("columns")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        with pytest.raises(LineError, match="not valid UTF-8") as caught:
            core.read(data)
        assert caught.value.line == line
    else:
        core = parsed(data.replace(b"\r", b"").replace(b"\x0b", b"").replace(b"\x0c", b""))
        assert core.n_columns in (0, 1)


def test_long_messages_end_at_a_character():
    cell = "語" * 30
    with pytest.raises(
        LineError, match=r"where the lines before have 1: '語+\.\.\.'\. Is this running"
    ):
        parsed(f"a\n{cell} b c\n".encode())


def test_a_line_may_have_65536_bytes():
    assert parsed(b"x" * 65536 + b"\n").n_tokens == 1
    with pytest.raises(LineError, match="line 1: the line has 65537 bytes"):
        parsed(b"x" * 65537 + b"\n")


# -- CoNLL-U ------------------------------------------------------------------------------------


@REPEATABLE
@given(conllu_sentences(), st.sampled_from(["\n", "\r\n"]))
def test_conllu_tokens_and_what_stands_between_them(blocks, end):
    text = conllu_text(blocks)
    corpus = parsed(text.replace("\n", end).encode(), "conllu")
    assert tokens_of(corpus) == conllu_tokens(blocks)
    assert [s.comments for s in corpus] == [
        [line for line in lines if line.startswith("#")] for lines in blocks
    ]
    out = io.BytesIO()
    corpus._write(out)
    assert out.getvalue().decode() == text


ROW = "\t_" * 9


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"2{ROW}\n", 1, "the first column is '2' where token 1 of the sentence is expected"),
        (f"1{ROW}\n3{ROW}\n", 2, "'3' where token 2"),
        (f"1{ROW}\n1{ROW}\n", 2, "'1' where token 2"),
        (f"# c\n1{ROW}\n\n2{ROW}\n", 4, "'2' where token 1"),
        (f"x{ROW}\n", 1, "'x' where token 1"),
        (f"1-{ROW}\n", 1, "'1-' where token 1"),
        (f"-1{ROW}\n", 1, "'-1' where token 1"),
        (f"1.{ROW}\n", 1, "'1.' where token 1"),
        (f"99999999999999999999999{ROW}\n", 1, "where token 1"),
        ("1\ta\tb\n", 1, "a CoNLL-U line has 10 columns separated by tabs, this one has 3"),
        ("1 a b c d e f g h i\n", 1, "10 columns separated by tabs, this one has 1"),
        (f"1{ROW}\t_\n", 1, "this one has 11"),
        ("1\ta\t\t_\t_\t_\t_\t_\t_\t_\n", 1, "column 3 is empty"),
    ],
)
def test_bad_conllu_lines(tmp_path, text, line, message):
    path = tmp_path / "bad.conllu"
    path.write_text(text)
    with pytest.raises(FileError, match=message) as caught:
        read_corpus(path)
    assert caught.value.line == line


# -- formats and files --------------------------------------------------------------------------

TEN = f"1{ROW}\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("x.conllu", "a b\n", "conllu"),
        ("x.CoNLL-U", "a b\n", "conllu"),
        ("x.conllu.gz", "a b\n", "conllu"),
        ("x.txt", TEN, "conllu"),
        ("x.txt", "# c\n\n" + TEN, "conllu"),
        ("x.txt", "1-2" + ROW + "\n" + TEN, "conllu"),
        ("x.txt", "0.1" + ROW + "\n" + TEN, "conllu"),
        ("x.txt", TEN.replace("1", "word"), "columns"),
        ("x.txt", TEN.replace("\t", " "), "columns"),
        ("x.txt", "1\t2\t3\n", "columns"),
        ("x.txt", "", "columns"),
        ("x.txt", "# only\n", "columns"),
        ("-", TEN, "conllu"),
        ("-", "fish N\n", "columns"),
    ],
)
def test_formats_go_by_name_then_by_content(name, text, expected):
    assert guess_format(name, text.encode()) == expected


def test_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(b"fish N\n\nsleep V\n")

    monkeypatch.setattr("sys.stdin", Stdin)
    corpus = read_corpus("-")
    assert (corpus.path, corpus.column("pos")) == ("-", [["N"], ["V"]])
    Stdin.buffer = io.BytesIO(b"fish N\nsleep\n")
    with pytest.raises(FileError, match=r"^standard input, line 2: 1 column where"):
        read_corpus("-")


@pytest.mark.parametrize("data", [b"", b"\n\n", b" \r\n", "\ufeff".encode(), b"\t\n"])
def test_empty_files(tmp_path, data):
    path = tmp_path / "empty"
    path.write_bytes(data)
    with pytest.raises(FileError, match="empty: the file contains no sentences"):
        read_corpus(path)
    with pytest.raises(FileError, match="empty: the file contains no sentences"):
        read_corpus(path, "conllu")


def test_only_comments(tmp_path):
    path = tmp_path / "comments.conllu"
    path.write_text("# one\n\n# two\n")
    with pytest.raises(FileError, match="the file contains no sentences"):
        read_corpus(path)


def test_formats_that_do_not_exist(tmp_path):
    path = tmp_path / "x"
    path.write_text("a b\n")
    with pytest.raises(
        ValueError, match="format must be one of brat, columns, conllu, csv, docbin,"
    ):
        read_corpus(path, "xml")
    with pytest.raises(ValueError, match="format must be 'columns' or 'conllu', got 'xml'"):
        _core.Corpus("xml")


# -- sequences ----------------------------------------------------------------------------------


@REPEATABLE
@given(sentences(), st.data())
def test_corpora_are_sequences(made, data):
    corpus = Corpus.from_sentences(made)
    n = len(made)
    assert len(corpus) == n
    assert tokens_of(corpus) == made
    i = data.draw(st.integers(-n, n - 1))
    assert list(corpus[i]) == made[i]
    part = data.draw(st.slices(n))
    assert tokens_of(corpus[part]) == made[part]
    for bad in (n, -n - 1):
        with pytest.raises(IndexError, match=f"no sentence {bad}: the corpus has {n}"):
            corpus[bad]
    sentence, expected = corpus[i], made[i]
    assert len(sentence) == len(expected)
    t = data.draw(st.integers(-len(expected), len(expected) - 1))
    assert sentence[t] == expected[t]
    inner = data.draw(st.slices(len(expected)))
    assert sentence[inner] == expected[inner]
    with pytest.raises(IndexError):
        sentence[len(expected)]
    for c, name in enumerate(corpus.columns):
        column = [token[c] for token in expected]
        assert sentence.column(name) == sentence.column(c) == column
        assert sentence.column(str(c + 1)) == sentence.column(f"c{c + 1}") == column
        assert corpus.cells(i % n, name) == column
        everything = [[token[c] for token in s] for s in made]
        assert corpus.column(name) == corpus.column(c) == everything
        assert corpus.column(str(c - corpus.n_columns)) == everything


def test_strings_stand_for_tokens_of_one_column():
    corpus = Corpus.from_sentences([["fish", "sleep"], iter(["fish"])])
    assert tokens_of(corpus) == [[("fish",), ("sleep",)], [("fish",)]]
    assert corpus.columns == ("word",)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ([["a"], []], "sentence 1 has no tokens"),
        ([[("a", "b"), ("c",)]], "sentence 0: token 1 has 1 cells, token 0 has 2"),
        ([[("a", "b")], [("c",)]], "sentence 1: the sentences before have 2 columns, this one h"),
        ([[("a", 1)]], "sentence 0: its cells must be strings"),
        ([[("a", None)]], "sentence 0: its cells must be strings"),
        ([[("a", "\ud800")]], r"sentence 0: token 0 has '\\ud800': it holds half a character"),
        ([[()]], "sentence 0: a sentence needs at least one column"),
        ([[], ["a"]], "sentence 0 has no tokens"),
    ],
)
def test_bad_sentences(made, message):
    with pytest.raises(ValueError, match=message):
        Corpus.from_sentences(made)


def test_names_of_columns():
    assert column_names("columns", 5) == ("word", "pos", "chunk", "c4", "c5")
    assert column_names("conllu", 10) == CONLLU_COLUMNS
    for i, name in enumerate(CONLLU_COLUMNS):
        assert find_column(name, "conllu", 10) == find_column(name.upper(), "conllu", 10) == i
        assert find_column(str(i + 1), "conllu", 10) == i
        assert find_column(str(i - 10), "conllu", 10) == i
    assert find_column("word", "conllu", 10) == 1
    assert find_column("pos", "conllu", 10) == find_column("tag", "conllu", 10) == 3
    assert find_column("-1", "columns", 3) == find_column("chunk", "columns", 3) == 2


@pytest.mark.parametrize(
    "name", ["0", "4", "-4", "c4", "c0", "c", "form", "", "1.0", "--1", "²", "c²"]
)
def test_columns_that_do_not_exist(tmp_path, name):
    with pytest.raises(ValueError, match="there is no column"):
        find_column(name, "columns", 3)
    path = tmp_path / "three"
    path.write_text("a b c\n")
    with pytest.raises(FileError, match="three: there is no column"):
        read_corpus(path).column(name)


def test_descriptions_of_corpora(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text("# c\n1\tfish" + "\t_" * 8 + "\n")
    corpus = read_corpus(path)
    assert repr(corpus) == f"<Corpus of 1 sentences, 1 tokens, columns {', '.join(CONLLU_COLUMNS)}>"
    assert repr(corpus[0]) == "<Sentence of 1 tokens: fish>"
    assert (corpus.format, corpus.path) == ("conllu", str(path))


# -- writing ------------------------------------------------------------------------------------


@REPEATABLE
@given(column_files())
def test_column_files_come_back(file):
    made, data = file
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.txt")
        parsed(data).write(path)
        assert tokens_of(read_corpus(path, "columns")) == made
        again = os.path.join(folder, "again.txt")
        read_corpus(path, "columns").write(again)
        with open(path, "rb") as one, open(again, "rb") as two:
            assert one.read() == two.read()


# -- chunk labels -------------------------------------------------------------------------------

LABELS = st.sampled_from(["O", *(f"{p}-{t}" for p in "BIESLU" for t in ("NP", "VP", "a-b"))])


@REPEATABLE
@given(st.lists(st.lists(LABELS, min_size=1, max_size=7), min_size=1, max_size=4))
def test_iobes_as_the_metrics_have_it(labels):
    corpus = Corpus.from_sentences([[("w", k) for k in sentence] for sentence in labels])
    corpus.core.to_iobes(1)
    assert corpus.column(1) == [to_iobes(sentence) for sentence in labels]
    assert corpus.column(0) == [["w"] * len(sentence) for sentence in labels]
    once = corpus.column(1)
    corpus.core.to_iobes(1)
    assert corpus.column(1) == once


def test_iobes_of_a_column_that_does_not_exist():
    with pytest.raises(IndexError):
        Corpus.from_sentences([["a"]]).core.to_iobes(1)


def test_numbers_out_of_range_are_refused():
    core = Corpus.from_sentences([[("a", "b")]]).core
    for call in (
        lambda: core.cells(1, 0),
        lambda: core.cells(0, 2),
        lambda: core.length(1),
        lambda: core.line_number(1),
        lambda: core.strings(2),
        lambda: core.asides(1),
        lambda: core.cell_numbers(2),
        lambda: core.counts(2),
    ):
        with pytest.raises(IndexError):
            call()


def test_forgetting_tokens_keeps_the_strings():
    core = _core.Corpus("columns")
    core.read(b"a b\nc b\n")
    numbers = core.cell_numbers(0)
    core.clear_tokens()
    assert (core.n_tokens, core.n_sentences, core.strings(0)) == (0, 0, ["a", "c"])
    core.read(b"c x\na b\n")
    assert core.cell_numbers(0) == numbers[4:] + numbers[:4]
    copy = core.copy()
    core.clear()
    assert (core.strings(0), copy.strings(0)) == ([], ["a", "c"])
    core.read(b"c x\n")
    assert core.strings(0) == ["c"]


def test_a_byte_order_mark_hides_no_format():
    for text in (TEN, "# c\n" + TEN):
        assert guess_format("x.txt", ("\ufeff" + text).encode()) == "conllu"
    assert guess_format("x.txt", "\ufefffish N\n".encode()) == "columns"


SPACED = st.one_of(CELLS, st.sampled_from(["a b", "New York", "x  y"]))


@REPEATABLE
@given(sentences(cells=SPACED))
def test_corpora_made_in_python_come_back_or_are_refused(made):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.txt")
        corpus = Corpus.from_sentences(made)
        spaces = len(made[0][0]) == 1 and any(" " in t[0] for s in made for t in s)
        if spaces:
            with pytest.raises(FileError, match=r"x\.txt: sentence \d+ cannot be written: a cell "):
                corpus.write(path)
            assert os.listdir(folder) == []
        else:
            corpus.write(path)
            assert tokens_of(read_corpus(path, "columns")) == made


@pytest.mark.parametrize("cell", ["", "a\tb", "a\nb", "\n", "b ", "b\r"])
def test_cells_that_no_file_can_hold(tmp_path, cell):
    corpus = Corpus.from_sentences([[("a", "b")], [("a", cell)]])
    path = tmp_path / "x"
    path.write_text("before\n")
    with pytest.raises(FileError, match="x: sentence 1 cannot be written: a cell"):
        corpus.write(path)
    assert path.read_text() == "before\n"
    assert os.listdir(tmp_path) == ["x"]


def test_spaces_inside_the_cells_of_a_file_stay(tmp_path):
    path, again = tmp_path / "x", tmp_path / "y"
    path.write_bytes(b" a \tb c\n\n")
    read_corpus(path).write(again)
    assert again.read_bytes() == path.read_bytes()


def test_comments_at_the_end_of_a_file_are_written_again(tmp_path):
    text = "# a\n1\tx\t_\tN\t_\t_\t0\troot\t_\t_\n\n# last words\n# and more\n"
    path = tmp_path / "in.conllu"
    path.write_text(text, encoding="utf-8")
    again = tmp_path / "out.conllu"
    read_corpus(path).write(again)
    assert again.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("numbers", [[1], [2, 0], [0, 1, 2], []])
def test_a_subset_is_what_its_sentences_would_be_read_as(tmp_path, numbers):
    blocks = [
        "# one\n1\ta\tA\tX\t_\t_\t0\troot\t_\t_\n",
        "# two\n1-2\tbc\t_\t_\t_\t_\t_\t_\t_\t_\n1\tb\tB\tY\t_\t_\t0\troot\t_\t_\n"
        "2\tc\tC\tX\t_\t_\t1\tx\t_\t_\n",
        "1\ta\tA\tZ\t_\t_\t0\troot\t_\t_\n# three\n",
    ]
    whole, part, again = (tmp_path / f"{name}.conllu" for name in ("whole", "part", "again"))
    whole.write_text("\n".join(blocks) + "\n")
    subset = read_corpus(whole).subset(numbers)
    part.write_text("".join(blocks[i] + "\n" for i in numbers))
    subset.write(again)
    assert again.read_text() == part.read_text()
    if numbers:
        read = read_corpus(part)
        assert [list(s) for s in subset] == [list(s) for s in read]
        assert subset.core.cell_numbers(3) == read.core.cell_numbers(3)
    with pytest.raises(IndexError):
        read_corpus(whole).subset([3])


def test_a_word_with_a_blank_is_not_taken_for_running_text():
    with pytest.raises(LineError) as caught:
        parsed(b"Ann B-PER\nNew York B-LOC\n")
    assert "'New York B-LOC'. A cell with a blank in it? Then tabs" in str(caught.value)
    with pytest.raises(LineError, match=r"'is O'\. A cell with a blank in it"):
        parsed(b"New York B-LOC\nis O\n")
    with pytest.raises(LineError, match="Is this running text"):
        parsed(b"He sat\nHe ate a sub-cut\n")
