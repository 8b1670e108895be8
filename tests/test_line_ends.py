"""Line ends are spelled in several ways, and mean the same: texts, files of every format, lists."""

import io
import itertools
import json
import os
import pathlib
import random
import re
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structlearn
from structlearn.datasets import make_treebank
from structlearn.distributed.shards import FileShard, Piece
from structlearn.exceptions import FileError
from structlearn.io.masks import read_names
from structlearn.tasks import ConstituencyParser, DependencyParser, Pipeline, SegmentTagger, Tagger
from structlearn.tasks.pipeline import files, tokeniser
from structlearn.tasks.pipeline.tokeniser import paragraphs
from structlearn.text import FeatureTemplates, read_corpus
from structlearn.text.bracket_treebank import read_sentences
from structlearn.text.dependency_treebank import as_conllu, read_treebank
from structlearn.text.files import pieces
from structlearn.text.resources import read_phrases, read_vectors
from structlearn.text.surface import raw_paragraphs

from .tasks.pipeline.small_treebank import treebank

SPELLINGS = {
    "CRLF": "\r\n", "CR": "\r", "LS": "\u2028", "NEL": "\x85", "VT": "\v", "LF": "\n",
}  # fmt: skip
DATA = pathlib.Path(os.environ.get("STRUCTLEARN_DATA", "no folder")) / "ud_en_ewt"
ENGLISH = pathlib.Path(__file__).parents[1] / "models/english/src/structlearn_english/english.model"
SMALL = {"n_models": 1, "max_iter": 3}


def spelled(text, ending, seed=0):
    """Return a text with other line ends; "mixed": each of them drawn."""
    rng = random.Random(seed)
    ways = list(SPELLINGS.values())
    # LF after CR would be read as one line end.
    return re.sub(
        "\n", lambda _: rng.choice(ways[2:] if ending == "mixed" else [SPELLINGS[ending]]), text
    )


def wrapped(corpus, width):
    """Return the text of a treebank with line ends in its paragraphs, some after full stops."""
    return "\n\n".join(textwrap.fill(text, width) for text, _ in raw_paragraphs(corpus)) + "\n"


def told(doc):
    """Return what was found in a text, but for where."""
    return [[(s.text, s.confidence, len(s.tokens)) for s in one.surfaces] for one in doc.sentences]


@pytest.fixture(scope="module")
def nlp():
    stages = dict.fromkeys(("tokeniser", "splitter"), SMALL)
    return Pipeline(**stages, tags=False, lemmas=False, parser=False).fit(treebank(200))


# -- running text ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [*SPELLINGS, "mixed"])
@pytest.mark.parametrize("width", [12, 40])
def test_texts(nlp, ending, width):
    text = wrapped(treebank(80, random_state=5), width)
    other = spelled(text, ending)
    one, found = (nlp(x, confidence=True) for x in (text, other))
    assert told(found) == told(one)
    assert found.rebuilt == other
    for token in found.surfaces:
        assert other[token.begin : token.end] == token.text
    assert found.to_conllu().count("# newpar") == one.to_conllu().count("# newpar") > 5
    texts = [re.findall("# text = .*", doc.to_conllu()) for doc in (one, found)]
    assert texts[0] == texts[1]


def test_one_sentence_over_two_lines(nlp):
    for ending in SPELLINGS.values():
        assert len(nlp(f"The cat sees{ending}a dog.").sentences) == 1
        assert len(nlp(f"The cat sees{ending}{ending}a dog.").sentences) == 2
        assert len(nlp(f"The cat sees{ending} \t {ending}a dog.").sentences) == 2
    assert len(nlp("The cat sees\u2029a dog.").sentences) == 2


def test_pages_end_within_sentences(nlp):
    assert told(nlp("The cat sees\n\x0ca dog.")) == told(nlp("The cat sees\n a dog."))
    assert len(nlp("The cat sees\x0ca dog.").sentences) == 1


def test_a_byte_order_mark_is_no_token(nlp):
    doc = nlp("\ufeffThey don't!")
    assert told(doc) == told(nlp("They don't!"))
    assert (doc.tokens[0].begin, doc.rebuilt) == (1, doc.text)
    assert r"SpacesBefore=\ufeff" in doc.to_conllu()
    # Within a text, where a file was put behind another one, it is a blank.
    doc = nlp("They \ufeff don't!")
    assert [t.text for t in doc.tokens] == [t.text for t in nlp("They don't!").tokens]
    assert doc.rebuilt == doc.text


@pytest.mark.skipif(not DATA.is_dir(), reason=f"there is no {DATA}: STRUCTLEARN_DATA names it")
@pytest.mark.parametrize("ending", ["CRLF", "CR", "mixed"])
def test_real_text(ending):
    english = structlearn.load(ENGLISH).without("tags", "lemmas", "parser")
    corpus = read_treebank(DATA / "dev.conllu.gz").subset(range(700))
    text = wrapped(corpus, 50)
    assert told(english(spelled(text, ending))) == told(english(text))


# -- files of text, piece by piece ----------------------------------------------------------------


def whole_paragraphs(texts):
    return ["".join(characters.split()) for text in texts for characters, _ in paragraphs(text)]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "é b", " ", "\n", "\r\n", "\r", "\u2028", "\u2029", "\x85"]),
             max_size=40),
    st.integers(1, 9),
)  # fmt: skip
def test_pieces_of_any_size_have_the_paragraphs_of_the_file(tmp_path_factory, parts, size):
    path, text = tmp_path_factory.mktemp("pieces") / "x.txt", "".join(parts)
    path.write_bytes(text.encode())
    found = list(files.text_pieces(path, size))
    assert "".join(found) == text
    assert whole_paragraphs(found) == whole_paragraphs([text])
    for piece, following in itertools.pairwise(found):
        assert not (piece.endswith("\r") and following.startswith("\n"))


@pytest.mark.parametrize("ending", [*SPELLINGS, "mixed"])
def test_files_of_text(nlp, tmp_path, monkeypatch, ending):
    """However small the pieces: a paragraph that is longer is cut where a sentence begins."""
    text = wrapped(treebank(60, random_state=5, paragraph=20), 30)
    monkeypatch.setattr(tokeniser, "_MOST", 300)
    wanted = [[t.text for t in sentence] for sentence in nlp(text).sentences]
    monkeypatch.setattr(files.text_pieces, "__defaults__", (101, None))
    path, other = tmp_path / "x.txt", spelled(text, ending)
    for mark in ("", "\ufeff"):
        path.write_bytes((mark + other).encode())
        out = io.BytesIO()
        nlp.label_file(path, out, format="json")
        rows = [json.loads(line) for line in out.getvalue().decode().split("\n")[:-1]]
        assert [[t["text"] for t in row["tokens"]] for row in rows] == wanted
        for row in rows:
            assert other[row["begin"] : row["end"]] == row["text"]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r", "\u2028"])
def test_long_paragraphs_are_cut_at_line_ends(tmp_path, ending):
    path = tmp_path / "x.txt"
    path.write_bytes(f"aline{ending}".encode() * 400_000)
    found = list(files.text_pieces(path))
    assert len(found) > 1
    assert all(piece.startswith("aline") and piece.endswith(ending) for piece in found)


# -- files of sentences ---------------------------------------------------------------------------

BANK = list(make_treebank(25, random_state=0))
TAGGED = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
HEADED = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
OBJECTS = [json.dumps({"tokens": [w for w, _ in s], "tags": [t for _, t in s]}) for s in TAGGED]
CONLLU = "\n".join(
    "".join("\t".join(row) + "\n" for row in sentence) for sentence in as_conllu(HEADED)
)
FILES = {
    "columns.txt": "\n".join("".join(f"{w} {t}\n" for w, t in s) for s in TAGGED),
    "tabs.txt": "\n".join("".join(f"{w}\t{t}\n" for w, t in s) for s in TAGGED),
    "words.txt": "\n".join("".join(f"{w}\n" for w, _ in s) for s in TAGGED),
    "text.txt": "".join(" ".join(w for w, _ in s) + "\n" for s in TAGGED),
    "x.csv": "sentence,word,tag\n"
    + "".join(f'{i},"{w}","{t}"\n' for i, s in enumerate(TAGGED) for w, t in s),
    "semicolons.csv": "word;tag\n"
    + "\n".join("".join(f'"{w}";"{t}"\n' for w, t in s) for s in TAGGED),
    "x.jsonl": "".join(f"{one}\n" for one in OBJECTS),
    "array.json": "[" + ",\n".join(OBJECTS) + "]\n",
    "x.conllu": CONLLU,
    "x.mrg": "".join(f"{s.brackets}\n" for s in BANK),
}


@pytest.fixture(scope="module")
def tasks():
    chunked = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]
    one = {"n_models": 1, "max_iter": 1}
    return {
        "tagger": Tagger("pos", **one).fit(TAGGED),
        "tagger of CoNLL-U": Tagger("pos", **one).fit(as_conllu(HEADED)),
        "segments": SegmentTagger(**one).fit(chunked),
        "parser": DependencyParser(hash_bits=12, folds=2, **one).fit(HEADED),
        "constituents": ConstituencyParser(folds=2, **one).fit([s.brackets for s in BANK]),
    }


def outcomes(tasks, path):
    """Return what every reader makes of a file; an error is one outcome."""

    def labelled(task):
        out = io.BytesIO()
        task.label_file(path, out)
        return re.sub(rb"\r\n?", b"\n", out.getvalue().removeprefix(b"\xef\xbb\xbf"))

    asked = {
        "corpus": lambda: [list(s) for s in read_corpus(path)],
        "sentences": lambda: [(s.words, s.tags) for s in read_sentences(path)],
        "accuracy": lambda: tasks["tagger"].evaluate(path)["accuracy"],
        "training": lambda: Tagger("pos", n_models=1, max_iter=1).fit(path).classes_,
        "stream": lambda: Tagger("pos", n_models=1, max_iter=1).fit_stream(path).classes_,
    }
    for name, task in tasks.items():
        asked[f"{name} predict"] = lambda task=task: list(map(str, task.predict(path)))
        asked[f"{name} label"] = lambda task=task: labelled(task)
    found = {}
    for name, ask in asked.items():
        try:
            found[name] = ask()
        except ValueError:
            found[name] = None
    return found


@pytest.mark.filterwarnings("ignore:.*Is this running text")
@pytest.mark.parametrize("name", FILES)
def test_files_of_sentences(tasks, tmp_path, name):
    """Those with CRLF, or with a byte order mark, are read as those with LF; those with CR too, or
    they are refused.
    """
    path = tmp_path / name
    found = {}
    for ending in ("\n", "\r\n", "\r"):
        for mark in ("", "\ufeff"):
            path.write_bytes((mark + FILES[name].replace("\n", ending)).encode())
            found[ending, mark] = outcomes(tasks, path)
    wanted = found["\n", ""]
    assert sum(outcome is not None for outcome in wanted.values()) >= 3
    for (ending, _), other in found.items():
        for reader, outcome in other.items():
            refused = outcome is None and ending == "\r"
            assert refused or outcome == wanted[reader], (reader, ending)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lists(tmp_path, ending, mark):
    def write(name, *lines):
        path = tmp_path / name
        path.write_bytes((mark + "".join(f"{line}{ending}" for line in lines)).encode())
        return str(path)

    phrases = read_phrases(write("p.txt", "New York\tLOC", "", "the UN"))
    assert phrases == [(["New", "York"], "LOC"), (["the", "UN"], "p")]
    assert read_names(write("n.txt", "sky", "sea")) == ["sky", "sea"]
    assert read_names(write("n.json", '["sky",', '"sea"]')) == ["sky", "sea"]
    ours = FeatureTemplates.load(write("t.txt", "# ours", "word[-1..1]", "suffix(word, 2)"))
    assert ours.to_json() == FeatureTemplates.parse("word[-1..1]\nsuffix(word, 2)").to_json()
    theirs = FeatureTemplates.load(write("c.txt", "U0:%x[0,0]", "", "B"))
    assert theirs.to_json() == FeatureTemplates.parse("U0:%x[0,0]\nB").to_json()
    vectors = write("v.txt", "2 2", "a 1 2", "b 3 4")
    if ending == "\r":
        with pytest.raises(FileError):
            read_vectors(vectors)
    else:
        assert read_vectors(vectors) == read_vectors(write("v.txt", "a 1 2", "b 3 4"))


@pytest.mark.filterwarnings("ignore:.*a sentence of 320,000 tokens")
@pytest.mark.parametrize("name", ["x.jsonl", "array.json", "x.csv", "text.txt"])
def test_lines_of_megabytes_are_read_to_their_end(tasks, tmp_path, name):
    """A file is not cut where a line is long: in text, in JSON, in CSV whose line ends are CR."""
    words = [f"word{i % 97}" for i in range(320_000)]
    path, out = tmp_path / name, io.BytesIO()
    text = " ".join(words)
    if name.startswith("x.c"):
        text = "word,tag\r" + "".join(f"{word},X\r" for word in words)
    elif name != "text.txt":
        text = json.dumps({"tokens": words})
        text = f"[{text}]" if name == "array.json" else text
    path.write_text(f"{text}\n", newline="")
    format = {"format": "text"} if name == "text.txt" else {}
    assert tasks["tagger"].label_file(path, out, **format) == len(words)
    assert out.getvalue().count(b"word96") == words.count("word96")


def test_lines_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("structlearn.text.files._LONGEST_LINE", 1 << 10)
    path = tmp_path / "x"
    path.write_bytes(b"a" * 5000)
    with pytest.raises(FileError, match="a line has more than 1024 bytes: is this text"):
        list(pieces(path, 100))


def test_shards_of_several_files(tmp_path):
    """A byte order mark of the second file is none of its first word."""
    for name in ("a", "b"):
        (tmp_path / name).write_bytes("\ufeffword N\r\n\r\n".encode())
    shard = FileShard(tuple(Piece(str(tmp_path / name)) for name in ("a", "b")), 2)
    assert "\ufeff" not in shard.text().decode()
