"""What labelling writes is read again as it was meant, or the file is refused and nothing written.

Words, labels, keys and names of files are any Unicode strings. The readers here are written apart
from the library's.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from structlearn.exceptions import FileError
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.text import Corpus, FeatureTemplates, read_corpus

NASTY = (
    "", " ", "a b", " a", "a ", "a\tb", "a\nb", "a\n\nb", "a\rb", "\r", "|", "a|b", "-", "/", "a/b",
    '"', "'", ",", ";", ":", "a:0.5000,b", "a:0.5000", "#", "# a", "1", "1-2", "=1+1", "@", "\\",
    "(", ")", "\0", "\x0b", "\x0c", "\x1b[31m", "\x1c", "\x7f", "\x85", "\xa0", "\u2028", "\ufeff",
    "\ufeffa", "O", "B-", "🦊", "e\u0301", "tags", "word", "null", "{", "[", "\u202e",
)  # fmt: skip
ANY = st.one_of(
    st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
)
PLAIN = st.sampled_from(["the", "fish", "N", "B-NP"])
WORDS = st.one_of(PLAIN, PLAIN, ANY)
LABELS = st.one_of(PLAIN, ANY).filter(lambda text: text != "_")
SETTINGS = settings(derandomize=True, deadline=None, database=None, max_examples=150)
BLANKS = " \t\r\f\v"


# -- models ---------------------------------------------------------------------------------------


def conllu_row(i, word, label="_"):
    return (str(i), word, "_", label, *"______")


def trained(kind, words, labels):
    """Return a tagger that has seen each word with each label."""
    if kind == "segments":
        rows = [[(w, f"B-{k}") for w in words] for k in labels]
        return SegmentTagger(FeatureTemplates.parse("whole(word)"), max_iter=1).fit(rows)
    templates = FeatureTemplates.parse("word" if kind == "columns" else "form")
    tagger = Tagger(templates, max_iter=1, n_models=1, names=False)
    if kind == "columns":
        return tagger.fit([[(w, k) for w in words] for k in labels])
    rows = [[conllu_row(i, w, k) for i, w in enumerate(words, 1)] for k in labels]
    return tagger.fit(Corpus.from_sentences(rows, "conllu"))


# -- files ----------------------------------------------------------------------------------------


def input_text(format, words, key):
    """Return a file of a sentence; some formats cannot hold some words, and hold others then."""
    if format == "columns":
        return "".join(f"{word}\n" for word in words) + "\n"
    if format == "conllu":
        return "".join("\t".join(conllu_row(i, w)) + "\n" for i, w in enumerate(words, 1)) + "\n"
    if format == "text":
        return " ".join(words) + "\n"
    if format == "jsonl":
        return json.dumps({"tokens": words, f"_{key}": key}) + "\n"
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([["sentence", key], *(["1", word] for word in words)])
    return out.getvalue()


def rows_of(format, text, added):
    """Read a file: for each token its word and what was added to it, by name."""
    text = text.removeprefix("\ufeff")
    if format == "jsonl":
        (item,) = [json.loads(line) for line in text.split("\n") if line]
        keys = {name: "tags" if name == "label" else f"tags_{name}" for name in added}
        return [
            (word, {name: item[key][i] for name, key in keys.items()})
            for i, word in enumerate(item["tokens"])
        ]
    if format == "csv":
        heading, *rows = csv.reader(io.StringIO(text, newline=""))
        assert heading[2:] == list(added)
        return [(row[1], dict(zip(added, row[2:], strict=True))) for row in rows]
    if format == "text":
        (line,) = text.removesuffix("\n").split("\n")
        cells = [token.rsplit("|", len(added)) for token in line.split()]
        return [(word, dict(zip(added, more, strict=True))) for word, *more in cells]
    lines = [line.rstrip(BLANKS) for line in text.split("\n")]
    lines = [line for line in lines if line]
    if format == "columns":
        tabs = bool(lines) and "\t" in lines[0]
        cells = [line.split("\t") if tabs else re.findall(f"[^{BLANKS}]+", line) for line in lines]
        return [(word, dict(zip(added, more, strict=True))) for word, *more in cells]
    cells = [line.split("\t") for line in lines if not line.startswith("#")]
    assert all(len(row) == 10 for row in cells)
    found = []
    for row in cells:
        entries = dict(e.split("=", 1) for e in row[9].split("|") if row[9] != "_")
        more = {n: entries.get(n.title(), entries.get(n.replace("label", "NBest"))) for n in added}
        if row[3] != "_" and "label" in more:
            more["label"] = row[3]
        found.append((row[1], more))
    return found


def numbers(format, name, value):
    """Return labels and probabilities as Python has them."""
    if format == "jsonl":
        return value
    if name == "confidence":
        return float(value)
    if name == "marginals":
        parts = re.findall(r"(.*?):(\d\.\d{4})(?:,|\Z)", value, re.DOTALL)
        return {label: float(p) for label, p in parts}
    return None if name != "label" and value == "-" else value


def expected_rows(tagger, kind, words, options):
    """Return what was to be written, by the methods that return values."""
    cells = [[conllu_row(i, w) for i, w in enumerate(words, 1)]] if kind == "conllu" else [words]
    given = Corpus.from_sentences(cells, "conllu") if kind == "conllu" else cells
    (labels,) = tagger.predict(given)
    rows = [{"label": label} for label in labels]
    if options["nbest"] > 1:
        (best,) = tagger.predict_kbest(given, options["nbest"])
        for n in range(2, options["nbest"] + 1):
            for t, row in enumerate(rows):
                row[f"label{n}"] = best[n - 1][1][t] if n <= len(best) else None
    if not options["confidence"] and not options["marginals"]:
        return rows
    (marginals,) = tagger.predict_marginals(given)
    for t, row in enumerate(rows):
        if kind == "segments":
            span = (t, t + 1, row["label"].removeprefix("B-"))  # all have one token
            row["confidence"] = round(marginals[span], 4)
            continue
        if options["confidence"]:
            row["confidence"] = round(marginals[t][row["label"]], 4)
        if options["marginals"]:
            row["marginals"] = {k: round(p, 4) for k, p in marginals[t].items() if p >= 0.0005}
    return rows


@st.composite
def cases(draw):
    kind = draw(st.sampled_from(["columns", "conllu", "segments"]))
    one = kind == "segments"
    return {
        "kind": kind,
        "format": draw(st.sampled_from(["columns", "conllu", "csv", "jsonl", "text"])),
        "words": draw(st.lists(WORDS, min_size=1, max_size=3)),
        "labels": draw(st.lists(LABELS, min_size=1, max_size=3, unique=True)),
        "key": draw(ANY),
        "name": draw(ANY).replace("/", "").replace("\0", ""),
        "options": {
            "nbest": 1 if one else draw(st.integers(1, 3)),
            "confidence": draw(st.booleans()),
            "marginals": not one and draw(st.booleans()),
        },
    }


def refusal(function, *given, **options):
    """Return the error that a call ends with, or None."""
    try:
        function(*given, **options)
    except FileError as error:
        return error
    return None


def check_refusal(error, case, words, labels):
    """A refusal names the file, and the label where one is at fault; it is not a pretext."""
    if "cannot hold the label" in str(error):
        assert any(repr(label)[:50] in str(error) for label in labels)
    if case["format"] == "jsonl":  # it holds everything but words that are not there
        assert "" in words
    plain = not case["options"]["marginals"] and case["options"]["nbest"] == 1
    if case["format"] == "csv" and plain:
        several = any(len(word.split()) > 1 for word in words)  # looks like a whole sentence
        assert several or not all(text.strip() for text in [*words, *labels])


@given(cases())
@SETTINGS
def test_every_label_is_read_again_or_refused(case):
    kind, format, options = case["kind"], case["format"], case["options"]
    assume(kind != "segments" or "O" not in case["labels"])  # no type of a chunk
    given = input_text(format, case["words"], case["key"])
    if format in ("columns", "conllu", "text"):  # one sentence
        assume(all(line.strip(BLANKS) for line in given.rstrip("\n").split("\n")))
    try:
        words = [word for word, _ in rows_of(format, given, [])]
    except (ValueError, AssertionError):
        assume(False)
    added = ["label", *(f"label{n}" for n in range(2, options["nbest"] + 1))]
    added += [name for name in ("confidence", "marginals") if options[name]]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # probabilities that are not calibrated
        tagger = trained(kind, case["words"], case["labels"])
        labels = tagger._labels_in_files()
        source, target = Path(folder, f"{case['name']}in"), Path(folder, f"{case['name']}out")
        source.write_bytes(given.encode())
        target.write_bytes(b"as it was")
        headed = format == "csv"
        error = refusal(tagger.label_file, source, target, format=format, header=headed, **options)
        assert sorted(os.listdir(folder)) == sorted([source.name, target.name])
        event(f"{format}: {'written' if error is None else 'refused'}")
        text = target.read_bytes().decode()
        if error is not None:
            assert text == "as it was"
            assert error.path == str(source)
            check_refusal(error, case, words, labels)
            return
        wanted = expected_rows(tagger, kind, words, options)
    if format == "text" and any("|" in label for label in labels):
        found = [token.split("|", 1) for token in text.split()]
        assert found == [[w, row["label"]] for w, row in zip(words, wanted, strict=True)]
        return
    found = rows_of(format, text, added)
    assert [word for word, _ in found] == words
    assert [{n: numbers(format, n, v) for n, v in more.items()} for _, more in found] == wanted
    if format == "jsonl":
        assert json.loads(text)[f"_{case['key']}"] == case["key"]


# -- particular files -----------------------------------------------------------------------------


def spaced(labels=("a b", "c")):
    return trained("columns", ["x", "y"], labels)


def labelled(tagger, tmp_path, text, **options):
    source, target = tmp_path / "given", tmp_path / "out"
    source.write_bytes(text.encode())
    tagger.label_file(source, target, **options)
    return target.read_bytes().decode()


def test_words_alone_get_a_tab_before_labels_with_blanks(tmp_path):
    tagger = spaced(["a b", "a b c"])
    (labels,) = tagger.predict([["x", "y"]])
    text = labelled(tagger, tmp_path, "x\ny\n", format="columns")
    assert text == f"x\t{labels[0]}\ny\t{labels[1]}\n"
    assert [list(s) for s in read_corpus(tmp_path / "out", "columns")] == [
        [("x", labels[0]), ("y", labels[1])]
    ]
    headed = labelled(tagger, tmp_path, "token\nx\n", format="columns", header=True)
    assert headed == f"token\tlabel\nx\t{labels[0]}\n"
    with pytest.raises(FileError, match=r"columns cannot hold the label 'a b' .* JSON lines"):
        labelled(tagger, tmp_path, "x N\ny N\n", format="columns")


def test_nothing_is_written_to_a_stream_before_a_refusal(tmp_path):
    source, out = tmp_path / "given", io.BytesIO()
    source.write_text("x y\n")
    with pytest.raises(FileError, match="text cannot hold the label 'a b'"):
        spaced().label_file(source, out, format="text")
    assert out.getvalue() == b""


def test_labels_that_do_not_exist(tmp_path):
    """A sentence with fewer labellings than are asked for."""
    text = labelled(spaced(["-"]), tmp_path, '{"tokens": ["x"]}\n', nbest=2)
    assert json.loads(text) == {"tokens": ["x"], "tags": ["-"], "tags_label2": [None]}
    assert labelled(spaced(["N"]), tmp_path, "x\n", nbest=2) == "x N -\n"
    with pytest.raises(FileError, match="cannot hold the label '-' of the model: it stands for"):
        labelled(spaced(["-"]), tmp_path, "x\n", nbest=2)


def test_what_was_written_can_be_labelled_and_judged_again(tmp_path):
    tagger, options = spaced(), {"nbest": 2, "confidence": True, "marginals": True}
    once = labelled(tagger, tmp_path, '{"tokens": ["x", "y"]}\n', **options)
    assert labelled(tagger, tmp_path, once, **options) == once
    (tmp_path / "gold.jsonl").write_text(once)
    assert tagger.evaluate(tmp_path / "gold.jsonl")["accuracy"] == 1
    table = labelled(tagger, tmp_path, "sentence,word\n1,x\n1,y\n", format="csv", **options)
    (tmp_path / "gold.csv").write_text(table)
    (sentence,) = read_corpus(tmp_path / "gold.csv")
    labels = tagger.predict([["x", "y"]])[0]
    assert [(row[0], row[-1]) for row in sentence] == list(zip("xy", labels, strict=True))


def test_blank_lines_inside_cells_and_arrays(tmp_path):
    """Files are read in pieces that end at blank lines; these do not end sentences."""
    tagger = spaced()
    table = 'sentence,word\n1,x\n1,"a\n\nb"\n1,y\n'
    text = labelled(tagger, tmp_path, table, format="csv")
    rows = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert [row[1] for row in rows] == ["x", "a\n\nb", "y"]
    assert [row[2] for row in rows] == tagger.predict([["x", "a\n\nb", "y"]])[0]
    array = '[{"tokens": ["x"]},\n\n{"tokens": ["y"]}]'
    found = json.loads(labelled(tagger, tmp_path, array))
    assert [item["tags"] for item in found] == tagger.predict([["x"], ["y"]])


@pytest.mark.parametrize(
    ("format", "text"),
    [("csv", "sentence,word\n1,x\n"), ("jsonl", '{"tokens": ["x"]}\n'), ("text", "x y\n"),
     ("columns", "x\n")],
)  # fmt: skip
def test_a_byte_order_mark_stays(format, text, tmp_path):
    for kind in ("columns", "conllu"):
        tagger = trained(kind, ["x", "y"], ["N", "V"])
        plain = labelled(tagger, tmp_path, text, format=format)
        assert labelled(tagger, tmp_path, "\ufeff" + text, format=format) == "\ufeff" + plain


def test_columns_of_another_kind_of_model(tmp_path):
    """White space beyond ASCII is part of a word, and the first line may name the columns."""
    tagger = trained("conllu", ["x", "y"], ["N", "V"])
    (label,) = tagger.predict([["a\xa0b"]])[0]
    assert labelled(tagger, tmp_path, "a\xa0b\n", format="columns") == f"a\xa0b {label}\n"
    text = labelled(tagger, tmp_path, "word\nx\n", format="columns", header=True)
    assert text.split() == ["word", "label", "x", tagger.predict([["x"]])[0][0]]
