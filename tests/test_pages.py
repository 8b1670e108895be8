"""The pages of ``inspect --html``: one frame, errors marked, small."""

import re

import pytest

from structlearn.cli import run
from structlearn.datasets import make_treebank
from structlearn.drawing.page import Page
from tests.io.image_folders import folder as write_images
from tests.io.image_folders import shapes

BANK = make_treebank(500, random_state=0)
TASKS = ["tagger", "segments", "parser", "constituency"]
#: Sentences that are made of two: as long as those of newspapers.
LONG = [BANK[i : i + 2] for i in range(100, 500, 2)]


def _columns(groups):
    return "\n".join(
        "".join(
            f"{word} {tag} {chunk}\n"
            for s in group
            for word, tag, chunk in zip(s.words, s.tags, s.chunks, strict=True)
        )
        for group in groups
    )


def _conllu(groups):
    sentences = []
    for group in groups:
        rows, first = [], 0
        for s in group:
            before = len(rows)
            for word, tag, head, relation in zip(s.words, s.tags, s.heads, s.deprels, strict=True):
                if head == 0 and first:
                    head, relation = first - before, "parataxis"
                first = first or (len(rows) + 1 if head == 0 else 0)
                at = head + before if head or relation == "parataxis" else 0
                rows.append(
                    f"{len(rows) + 1}\t{word}\t_\t{tag}\t{tag}\t_\t{at}\t{relation}\t_\t_\n"
                )
        sentences.append("".join(rows))
    return "\n".join(sentences)


def _brackets(groups):
    return "".join(f"(S {' '.join(s.brackets for s in group)})\n" for group in groups)


WRITTEN = {"tagger": _columns, "segments": _columns, "parser": _conllu, "constituency": _brackets}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Folder with a model of each task, and the sentences to look at."""
    folder = tmp_path_factory.mktemp("models")
    for task, write in WRITTEN.items():
        (folder / f"{task}.train").write_text(write([[s] for s in BANK[:60]]))
        (folder / f"{task}.long").write_text(write(LONG))
        options = ["--quiet", "--max-iter", "1", "--n-models", "1"]
        source, model = str(folder / f"{task}.train"), str(folder / task)
        assert run(["train", task, source, "--model", model, *options]) == 0
    pairs = shapes(5)
    write_images(folder / "images", pairs)
    source, model = str(folder / "images"), str(folder / "segmenter")
    assert run(["train", "segmenter", source, "--model", model, "--quiet", "--max-iter", "1"]) == 0
    return folder


def look(models, task, *options):
    page = models / "page.html"
    source = "images" if task == "segmenter" else f"{task}.long"
    given = ["inspect", models / task, "--input", models / source, "--html", page, *options]
    assert run([str(one) for one in given]) == 0
    return page.read_text(encoding="utf-8")


def test_all_pages_have_one_frame(models):
    """The same rules before those of the task, the same header, facts and order of sections."""
    pages = {task: look(models, task, "--most", "2") for task in [*TASKS, "segmenter"]}
    model, gold, page = models / "tagger", models / "tagger.long", models / "scores.html"
    assert run(["evaluate", str(model), str(gold), "--html", str(page)]) == 0
    scores = page.read_text(encoding="utf-8")
    frame = re.search(r"<style>(.*)</style>", Page("", "").html())[1]
    assert re.search(r"<style>(.*)</style>", scores)[1].startswith(frame)
    for task, text in pages.items():
        style = re.search(r"<style>(.*)</style>", text)[1]
        assert style.startswith(frame)
        assert text.count("<style>") == 1  # drawings have none of their own
        assert re.search(r"<header><p>structlearn inspect</p><h1>[\w ]+</h1></header>\n<dl>", text)
        headings = re.findall("<h2>(.*?)</h2>", text)
        assert headings[0] == ("Images" if task == "segmenter" else "Sentences")
        assert len(headings) > 1
        assert "<dt>trained on</dt>" in text
    assert "<header><p>structlearn evaluate</p><h1>Tagger: evaluation</h1></header>" in scores


@pytest.mark.parametrize("task", TASKS)
def test_200_sentences_take_less_than_a_megabyte(models, task):
    assert sum(len(s.words) for group in LONG for s in group) > 200 * 20
    text = look(models, task, "--most", "200")
    assert len(text.encode()) < 1_000_000
    assert "sentences are shown" not in text
    assert len(re.findall('<p class="note count">', text)) == 200
    if task != "constituency":  # the choices that are worth a look have their reasons
        shown = int(re.search(r"small, ([\d,]+) of [\d,]+ choices", text)[1].replace(",", ""))
        wrong = text.count('<details class="t x">')
        assert shown == text.count('<details class="t')
        assert wrong + text.count('<span class="t x">') > 0
        assert wrong == shown or '<span class="t x">' not in text


@pytest.mark.parametrize("task", [*TASKS, "segmenter"])
def test_as_many_are_shown_as_asked_for(models, task):
    what, total = ("images", 5) if task == "segmenter" else ("sentences", 200)
    text = look(models, task, "--most", "3")
    assert f"3 of {total} {what} are shown; --most N shows more." in text
    assert len(re.findall('<p class="note count">', text)) == 3
    usual = look(models, task)
    assert len(re.findall('<p class="note count">', usual)) == min(20, total)


def test_wrong_labels_are_marked(models, tmp_path, capsys):
    """Of a tagger: as many as predict gets wrong, each with the label that it should have."""
    text = look(models, "tagger")
    given = _columns(LONG[:20])
    path = tmp_path / "given"
    path.write_text(given)
    assert run(["predict", str(models / "tagger"), str(path)]) == 0
    out = capsys.readouterr().out
    pairs = [
        (a.split()[-1], b.split()[-1])
        for a, b in zip(given.splitlines(), out.splitlines(), strict=True)
        if a
    ]
    wrong = [gold for gold, label in pairs if gold != label]
    assert wrong
    assert sorted(re.findall("<u>(.*?)</u>", text)) == sorted(wrong)
    assert len(re.findall('class="t x"', text)) == len(wrong)
    assert run(["inspect", str(models / "tagger"), "--input", str(path)]) == 0
    assert capsys.readouterr().out.count("; WRONG, gold ") == len(wrong)


def test_without_gold_labels_nothing_is_marked(models, tmp_path):
    path, page = tmp_path / "bare", tmp_path / "page.html"
    path.write_text(re.sub(r" \S+$", "", _columns(LONG[:2]), flags=re.MULTILINE))
    for task in ("tagger", "segments"):
        given = ["inspect", models / task, "--input", path, "--html", page]
        assert run([str(one) for one in given]) == 0
        text = page.read_text()
        assert 'class="t x"' not in text
        assert "all right" not in text


def test_wrong_segments_are_marked(models, tmp_path):
    """A gold chunk of another type is shown by its type, one of other tokens with its words."""
    rows = [[word, tag, chunk] for s in BANK[:1] for word, tag, chunk in zip(
        s.words, s.tags, s.chunks, strict=True)]  # fmt: skip
    begin = next(i for i, row in enumerate(rows) if row[2] == "B-NP")
    rows[begin][2] = "B-QQ"  # a chunk of one token, of a type that the model has not seen
    if begin + 1 < len(rows) and rows[begin + 1][2] == "I-NP":
        rows[begin + 1][2] = "B-NP"
    path, page = tmp_path / "given", tmp_path / "page.html"
    path.write_text("".join(" ".join(row) + "\n" for row in rows) + "\n")
    given = ["inspect", models / "segments", "--input", path, "--html", page]
    assert run([str(one) for one in given]) == 0
    marked = re.findall("<u>(.*?)</u>", page.read_text())
    assert any(gold.startswith("QQ") for gold in marked)


def test_reasons_of_arcs_fold_and_have_values(models):
    text = look(models, "parser", "--most", "2")
    folds = re.findall(r'<details class="fold"><summary>What decided</summary>(.*)</details>', text)
    assert len(folds) == 2
    assert "<td" in folds[0]
    assert re.search(r">(relation: )?(head|word) (tag|form|upos) = [^<]+<", text)
    assert "<pre>" not in text
    words = [word for s in LONG[0] for word in s.words]
    assert [re.sub(r"<[^>]*>", "", w) for w in re.findall(
        r"<summary>\d+ (.*?)<b>", folds[0])] == words  # fmt: skip
    assert '<text class="t"' in text  # tags under the words


def test_segments_can_be_looked_at(models, capsys):
    assert run(["inspect", str(models / "segments"), "--sentence", "The|DT dog|NN sleeps|VBZ"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^The dog .* NP \(p = ", out, flags=re.MULTILINE)
    assert re.search(r"^ +[+-]\d+\.\d+  (its|a|the) (first |last )?(word|tag)", out, re.MULTILINE)
    assert run(["inspect", str(models / "segments"), "--label", "NP", "--top", "2"]) == 0
    out = capsys.readouterr().out
    assert out.count("\nNP\n") == 1
    assert "VP\n" not in out.split("transitions")[0].split("\n\n", 1)[1]
    assert run(["inspect", str(models / "segments"), "--label", "QQ"]) == 1
    assert "no label 'QQ'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("task", "parts"),
    [
        ("tagger", "labels"),
        ("segments", "segments"),
        ("parser", "arcs"),
        ("constituency", "brackets and tags"),
        ("segmenter", "pixels"),
    ],
)
def test_counts_of_errors_say_of_what(models, task, parts):
    text = look(models, task)
    assert re.search(rf"[\d,]+ of [\d,]+ {parts} wrong", text)
    assert not re.search(r"\d of [\d,]+ wrong", text)
