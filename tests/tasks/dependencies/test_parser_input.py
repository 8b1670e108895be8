"""What users give a dependency parser by mistake: errors name the file, the line, the way out."""

import json
import re

import pytest

from structlearn.cli import run
from structlearn.datasets import make_treebank
from structlearn.exceptions import FileError
from structlearn.tasks import DependencyParser
from structlearn.tasks.inspection import inspect_task
from structlearn.text import read_corpus

BANK = make_treebank(60, random_state=0)
ROWS = [
    [
        (str(i), word, "_", tag, tag, "_", str(head), label, "_", "_")
        for i, (word, tag, head, label) in enumerate(
            zip(s.words, s.tags, s.heads, s.deprels, strict=True), 1
        )
    ]
    for s in BANK
]
SMALL = {"hash_bits": 14, "max_iter": 1}


def _conllu(sentences):
    return "".join("\n".join(map("\t".join, rows)) + "\n\n" for rows in sentences)


def _changed(column, value, sentence=2):
    rows = [[*row[:column], value, *row[column + 1 :]] for row in ROWS[sentence]]
    return _conllu([*ROWS[:sentence], rows])


#: The line on which the third sentence begins.
THIRD = sum(len(rows) + 1 for rows in ROWS[:2]) + 1


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    DependencyParser(1, folds=2, **SMALL).fit(ROWS).save(folder / "own")
    DependencyParser(1, gold_tags=True, **SMALL).fit(ROWS).save(folder / "gold")
    return folder


@pytest.fixture
def attempt(models, tmp_path, capsysbinary):
    """Run a command on a file with this text; return the exit code, output and errors."""

    def run_it(text, *arguments, model="own", command="predict", name="given.txt"):
        path = tmp_path / name
        path.write_text(text)
        code = run([command, str(models / model), str(path), *arguments])
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode().replace(str(path), "FILE")

    return run_it


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize(
    ("model", "more"), [("gold", []), ("gold", ["--gold-tags"]), ("own", ["--gold-tags"])]
)
def test_tags_that_are_not_there(attempt, model, more, threads):
    rows = [[*row[:3], "_", "_", *row[5:]] for row in ROWS[2]]
    text = _conllu([*ROWS[:2], rows])
    code, _, err = attempt(text, *more, "--threads", threads, model=model)
    assert code == 1
    assert f"FILE, line {THIRD}: no word of this sentence has a tag" in err
    assert "without --gold-tags" in err
    code, out, _ = attempt(_conllu(ROWS[:3]), *more, model=model)
    assert code == 0
    assert out.count("\troot\t") == 3


def test_tags_that_are_not_there_in_python(models, tmp_path):
    parser = DependencyParser.load(models / "gold")
    path = tmp_path / "x.conllu"
    path.write_text(_changed(3, "_").replace("\t_\tNN\t", "\t_\t_\t"))
    path.write_text(_conllu([*ROWS[:2], [(*r[:3], "_", "_", *r[5:]) for r in ROWS[2]]]))
    for ask in (parser.predict, parser.evaluate, DependencyParser(gold_tags=True).fit):
        with pytest.raises(FileError, match=rf"x.conllu, line {THIRD}: sentence 3: no word has a"):
            ask(path)
    with pytest.raises(ValueError, match="sentence 1: no word has a tag"):
        parser.predict([["a", "dog"]])


def test_plain_text_is_not_a_column(attempt):
    text = "\n".join(" ".join(s.words) for s in BANK[:2]) + "\n"
    code, out, err = attempt(text)
    assert (code, out) == (1, "")
    assert "FILE, line 1: it has 15 columns and is not CoNLL-U: use --format text" in err
    code, out, _ = attempt(text, "--format", "text")
    assert code == 0
    columns = "\n\n".join("\n".join(s.words) for s in BANK[:2]) + "\n"
    assert attempt(columns) == (0, out, "")
    assert attempt(columns, "--format", "columns")[1] == out
    tagged = "\n\n".join("\n".join(f"{w}\tX" for w in s.words) for s in BANK[:2]) + "\n"
    assert attempt(tagged) == (0, out, "")  # text has no tabs
    assert attempt(tagged, "--format", "columns")[1] == out
    numbered = "\n\n".join(
        "\n".join(f"{i}\t{w}" for i, w in enumerate(s.words, 1)) for s in BANK[:2]
    )
    assert attempt(numbered)[0] == 1  # the words are in the second column


def test_other_formats_are_refused(attempt):
    brackets = BANK[0].brackets + "\n"
    assert "--format text" in attempt(brackets)[2]
    assert (
        "reads the formats brat, columns, conllu, csv"
        in attempt(brackets, "--format", "brackets")[2]
    )
    for gold in (brackets, "the dog\n"):
        code, _, err = attempt(gold, command="evaluate")
        assert code == 1
        assert "FILE, line 1: a CoNLL-U line has 10 columns" in err
    code, _, err = attempt(_conllu(ROWS), "--format", "columns", command="evaluate")
    assert code == 1
    assert "read from CoNLL-U" in err
    code, _, err = attempt("1 a\n", "--format", "conllu")
    assert "FILE, line 1: a CoNLL-U line has 10 columns" in err


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (6, "_", "sentence 3, word 1: it has no head"),
        (6, "99", "sentence 3, word 1: its head is 99"),
        (6, "x", "sentence 3, word 1: its head 'x' is not a number"),
        (7, "_", "sentence 3, word 1: it has no relation"),
    ],
)
def test_bad_trees(attempt, column, value, message):
    code, _, err = attempt(_changed(column, value), command="evaluate", name="x.conllu")
    assert code == 1
    assert f"FILE, line {THIRD}: {message}" in err


def test_cycles_and_second_roots(tmp_path):
    rows = [list(row) for row in ROWS[2]]
    rows[0][6], rows[1][6] = "2", "1"
    path = tmp_path / "x.conllu"
    path.write_text(_conllu([*ROWS[:2], rows]))
    with pytest.raises(FileError, match=rf"line {THIRD}: sentence 3, word 1: its heads lead back"):
        DependencyParser().fit(path)
    path.write_text(_changed(6, "0"))
    with pytest.raises(FileError, match=rf"line {THIRD + 1}: sentence 3, word 2: it is a second"):
        DependencyParser().fit(ROWS, dev=path)


def test_long_sentences(attempt, models):
    long = "a " * 4001
    for text, line, more in (
        (f"b\n\n{long}\n", 3, ["--format", "text"]),
        ("b\n\n" + long.replace(" ", "\n"), 3, []),
        (
            _conllu([ROWS[0], [(str(i), "a", *"________") for i in range(1, 4002)]]),
            len(ROWS[0]) + 2,
            [],
        ),
    ):
        code, _, err = attempt(text, *more)
        assert code == 1
        assert f"FILE, line {line}: a sentence of 4001 words, more than a parser takes" in err
    parser = DependencyParser.load(models / "own")
    assert len(parser.predict(["the dog sees " * 133 + "."])[0]) == 400
    with pytest.raises(ValueError, match="sentence 2 has 4001 words"):
        parser.predict([["b"], long])


def test_accuracy_of_tags(models, tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(_conllu(ROWS))
    parser = DependencyParser.load(models / "own")
    tags = parser.evaluate(path)["tags"]
    assert set(tags) == {"upos", "xpos"}  # the file has no morphology
    predicted = tmp_path / "out.conllu"
    parser.label_file(path, predicted)
    for name in tags:
        pairs = zip(
            *(read_corpus(p).column(name) for p in (path, predicted)),
            strict=True,
        )
        right = [a == b for gold, guess in pairs for a, b in zip(gold, guess, strict=True)]
        assert tags[name] == sum(right) / len(right)
    assert "predicted tags: upos" in parser.report(path)
    assert "tags" not in parser.evaluate(path, gold_tags=True)


def test_inspection(models, tmp_path, capsys):
    path, page = tmp_path / "x.conllu", tmp_path / "page.html"
    path.write_text(_conllu(ROWS))
    command = ["inspect", str(models / "gold")]
    assert run([*command, "--label", "nsubj", "--top", "3"]) == 0
    out = capsys.readouterr().out
    blocks = out.split("\n\n")
    assert len(blocks) == 2
    assert blocks[1].startswith("nsubj\n")
    assert len(blocks[1].splitlines()) == 4
    assert "word tag" in out or "word form" in out or "word upos" in out
    assert max(map(len, out.splitlines())) <= 120
    assert run([*command, "--label", "nope"]) == 1
    assert "no label 'nope'" in capsys.readouterr().err
    assert run([*command, "--input", str(path), "--html", str(page)]) == 0
    assert page.read_text().count("<svg") == 20
    assert "20 of 60 sentences are shown" in page.read_text()
    assert run([*command, "--input", str(path), "--html", str(page), "--most", "60"]) == 0
    assert page.read_text().count("<svg") == 60
    assert "sentences are shown" not in page.read_text()
    assert run([*command, "--input", str(path), "--most", "2", "--label", "punct"]) == 0
    out = capsys.readouterr().out
    words = [line for line in out.splitlines() if re.match(r"\d+ ", line) and "shown" not in line]
    assert len(words) >= 2
    assert all(re.match(r"\d+ \S+ +punct ← ", line) for line in words)
    assert "2 of 60 sentences are shown" in out


def test_drawing_with_the_tags_given(models):
    parser = DependencyParser.load(models / "own")
    plain, gold = (parser.draw(ROWS[:1], gold=True, gold_tags=g) for g in (False, True))
    assert plain.svg.startswith("<svg")
    assert gold.svg.startswith("<svg")
    tree = parser.predict(ROWS[:1], gold_tags=True)[0]
    missed = sum(a != (int(r[6]), r[7]) for a, r in zip(tree, ROWS[0], strict=True))
    (group,) = re.findall(r'<g class="missed">.*?</g>', gold.svg)
    assert group.count("<text") == missed


@pytest.mark.parametrize("name", ["words.jsonl", "words.csv", "words.txt"])
def test_what_predict_reads_is_explained_and_drawn(models, tmp_path, name):
    """Files of words are read for explanations, pictures and ``inspect`` as for trees."""
    parser = DependencyParser.load(models / "own")
    sentences = [s.words for s in BANK[:2]]
    path = tmp_path / name
    path.write_text(
        {
            "words.jsonl": "".join(json.dumps({"tokens": s}) + "\n" for s in sentences),
            "words.csv": "sentence,word\n"
            + "".join(f'{n},"{w}"\n' for n, s in enumerate(sentences) for w in s),
            "words.txt": "\n\n".join(map("\n".join, sentences)) + "\n",
        }[name]
    )
    assert parser.predict(path) == parser.predict(sentences)
    assert parser.explain(path) == parser.explain(sentences)
    assert parser.draw(path, 1)._repr_svg_() == parser.draw(sentences, 1)._repr_svg_()
    assert inspect_task(parser, X=path) == inspect_task(parser, X=sentences)
