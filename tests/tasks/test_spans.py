"""Taggers learn from texts with spans, whatever tool they come from, and find spans."""

import json
import random

import pytest

from structlearn import cli, load
from structlearn.exceptions import FileError
from structlearn.serve.answers import answer
from structlearn.serve.queries import Query
from structlearn.serve.registry import Held
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.text import FeatureTemplates
from structlearn.text.brat_folders import unpack
from structlearn.text.files import read_bytes
from structlearn.text.formats import FORMATS, span_formats
from structlearn.text.spans import Document, Span

NAMES, PLACES = ("Maria", "John Smith", "Zoé 😀", "שרה"), ("Berlin", "New York")
PLAIN = [name for name in span_formats() if name != "docbin"]


def made(n, seed=0):
    rng = random.Random(seed)
    documents = []
    for _ in range(n):
        name, place = rng.choice(NAMES), rng.choice(PLACES)
        text = f"{name} lives in {place}, not far."
        at = text.index(place)
        spans = [Span(0, len(name), "PER"), Span(at, at + len(place), "LOC")]
        documents.append(Document(text, spans))
    return documents


def dictionaries(documents):
    return [
        {
            "text": d.text,
            "spans": [dict(zip(("start", "end", "label"), s, strict=False)) for s in d.spans],
        }
        for d in documents
    ]


def written(folder, format, documents):
    """Write documents as a tool exports them; return the path."""
    path = folder / format
    content = FORMATS[format]().render(documents)
    if format == "brat":
        unpack(content, str(path))
        return path
    path = path.with_suffix({"labelstudio": ".json"}.get(format, ".jsonl"))
    path.write_bytes(content)
    return path


@pytest.fixture(scope="module")
def crf():
    return Tagger("ner", learner="crf", max_iter=20).fit(dictionaries(made(60)))


@pytest.mark.parametrize("kind", [Tagger, SegmentTagger])
def test_every_format_trains_the_same_model(tmp_path, kind):
    documents = made(40)
    models = {}
    for format in PLAIN:
        tagger = kind(max_iter=2).fit(written(tmp_path, format, documents))
        tagger.save(tmp_path / "x.model")
        models[format] = (tmp_path / "x.model").read_bytes()
    columns = tmp_path / "x.tsv"
    assert cli.run(["convert", str(written(tmp_path, "doccano", documents)), str(columns)]) == 0
    kind(max_iter=2, tokens="words").fit(columns).save(tmp_path / "x.model")
    models["python"] = models["prodigy"]
    assert len(set(models.values())) == 1
    again = load(tmp_path / "x.model")
    spans = again.predict_spans([d.text for d in documents], confidence=False)
    from_spans = kind(max_iter=2).fit(dictionaries(documents))
    assert from_spans.predict_spans([d.text for d in documents], confidence=False) == spans


@pytest.mark.parametrize("format", PLAIN)
def test_what_is_predicted_is_read_back_and_scores_the_same(tmp_path, crf, format):
    gold = made(20, seed=1)
    source = written(tmp_path, format, gold)
    scores = crf.evaluate(source)
    assert scores["f1"] > 0.9
    output = tmp_path / f"out{source.suffix}"
    crf.label_file(source, output)
    found = FORMATS[format]().documents(read_bytes(output))
    if format == "labelstudio":  # the annotations of people stay, beside the predictions
        assert [d.spans for d in found] == [d.spans for d in gold]
        tasks = json.loads(output.read_bytes())
        assert all(0 < task["predictions"][0]["score"] <= 1 for task in tasks)
        return
    asked = crf.predict_spans(source)
    assert [[s[:3] for s in d.spans] for d in found] == [[s[:3] for s in row] for row in asked]
    if format == "prodigy":
        pairs = zip(
            (s for d in found for s in d.spans), (s for row in asked for s in row), strict=True
        )
        assert all(a.confidence == pytest.approx(b.confidence, abs=1e-4) for a, b in pairs)


def test_spans_of_python(crf):
    texts = ["Maria lives in New York, not far.", "", "\n", "Maria\nMaria lives in Berlin"]
    found = crf.predict_spans(texts)
    assert [(texts[0][s.start : s.end], s.label) for s in found[0]] == [
        ("Maria", "PER"),
        ("New York", "LOC"),
    ]
    assert found[1] == found[2] == []
    assert [s.start for s in found[3]] == [0, 6, 21]
    assert all(0 < s.confidence <= 1 for row in found for s in row)
    with pytest.raises(ValueError, match="texts are a file's name"):
        crf.predict_spans([["a", "b"]])


@pytest.mark.filterwarnings("ignore:.*tokens were split")
@pytest.mark.parametrize("tokens", ["blank", "words", "characters", r"\w+|\S"])
def test_the_model_remembers_its_tokeniser(tmp_path, tokens):
    Tagger("ner", tokens=tokens, max_iter=2).fit(dictionaries(made(20))).save(tmp_path / "m")
    model = load(tmp_path / "m")
    assert model.tokens == model.model_.tokens == tokens
    n = {"blank": 5, "words": 8, "characters": 22, r"\w+|\S": 8}[tokens]
    text = "Ann lives in Rome,not far."
    assert len(model.predict([text])[0]) == n == len(model.predict_single(text))
    assert len(model.predict_marginals([text])[0]) == n
    (tmp_path / "raw.txt").write_text(text + "\n")
    model.label_file(tmp_path / "raw.txt", tmp_path / "out.txt")
    words = [token.rpartition("|")[0] for token in (tmp_path / "out.txt").read_text().split()]
    assert len(words) == n
    assert "".join(words) == text.replace(" ", "")


def test_strings_are_cut_at_blanks_by_taggers_of_tokens():
    tagger = Tagger("ner", max_iter=1).fit([[("fish,", "N"), ("sleep", "V")]])
    assert tagger.model_.tokens is None
    assert len(tagger.predict(["fish, sleep"])[0]) == 2


def test_labels_of_single_tokens_are_spans(tmp_path):
    tagger = Tagger("pos", max_iter=2).fit([[("fish", "N"), ("sleep", "V")], [("sleep", "V")]])
    assert tagger.predict_spans(["fish sleep"], confidence=False) == [
        [(0, 4, "N", None), (5, 10, "V", None)]
    ]


def test_models_of_more_columns_are_judged_by_spans(tmp_path):
    columns = tmp_path / "train.txt"
    columns.write_text(
        "".join("Ann\tx\ty\tB-PER\nsleeps\tx\ty\tO\n.\tx\ty\tO\n\n" for _ in range(9))
    )
    tagger = Tagger(FeatureTemplates.parse("word"), max_iter=2).fit(columns)
    documents = [Document("Ann sleeps.", [Span(0, 3, "PER")])]
    assert tagger.evaluate(written(tmp_path, "prodigy", documents))["f1"] == 1.0


def test_nothing_is_learned_of_texts_that_nobody_labelled(tmp_path):
    path = tmp_path / "raw.jsonl"
    path.write_text('{"text": "Ann sleeps."}\n')
    for kind in (Tagger, SegmentTagger):
        with pytest.raises(FileError, match="none of its texts has a list of spans"):
            kind().fit(path)
    labelled = tmp_path / "some.jsonl"
    labelled.write_text(path.read_text() + json.dumps(dictionaries(made(1))[0]) + "\n")
    for kind in (Tagger, SegmentTagger):
        with pytest.warns(UserWarning, match="1 of 2 sentences are left out: nobody has labelled"):
            tagger = kind(max_iter=2).fit(labelled)
        with pytest.warns(UserWarning, match="left out"):
            assert tagger.evaluate(labelled)["sentences"] == 1
        assert len(tagger.predict(path)) == 1


def test_a_server_takes_texts(crf):
    held = Held.__new__(Held)
    for name, value in {"name": "m", "version": "1", "model": crf}.items():
        object.__setattr__(held, name, value)
    (body,) = answer([Query(held, "predict", ["Maria lives in Berlin, not far."], True)])
    found = json.loads(body)
    (spans,), (sure,) = found["outputs"], found["confidence"]
    assert [(s["start"], s["end"], s["label"]) for s in spans] == [(0, 5, "PER"), (15, 21, "LOC")]
    assert len(sure) == 2
    assert all(0 < p <= 1 for p in sure)


# -- the command line -----------------------------------------------------------------------------


def run(*arguments):
    return cli.run(list(map(str, arguments)))


def test_commands(tmp_path, capfd):
    source, model = written(tmp_path, "brat", made(30)), tmp_path / "m.model"
    assert run("train", "ner", source / "00001.ann", "--model", model, "-q") == 0
    assert set(load(model).classes_) >= {"O", "B-PER", "B-LOC"}
    assert run("train", "ner", source, "--model", model, "-q", "--learner", "crf") == 0
    assert run("predict", model, source, "--output", tmp_path / "out") == 0
    first = (tmp_path / "out/00001.ann").read_text().splitlines()
    assert [row.split("\t")[1].split(" ")[0] for row in first] == [
        "PER",
        "LOC",
        "AnnotatorNotes",
        "AnnotatorNotes",
    ]
    assert run("evaluate", model, tmp_path / "out", "--json") == 0
    raw = tmp_path / "raw.txt"
    raw.write_text("Maria lives in Berlin, not far.\n")
    capfd.readouterr()
    assert run("predict", model, raw, "--to", "doccano") == 0
    assert json.loads(capfd.readouterr().out)["label"] == [[0, 5, "PER"], [15, 21, "LOC"]]
    assert run("predict", model, source) == 1
    assert "name it, --output FOLDER" in capfd.readouterr().err
    assert run("predict", model, raw, "--to", "prodigy", "--nbest", "2") == 1
    assert "best labels alone" in capfd.readouterr().err
    assert run("inspect", model, "--sentence", "Maria, in Berlin.") == 0
    assert "Maria " in capfd.readouterr().out


def test_what_has_no_places_in_a_text_is_refused(tmp_path, capfd):
    columns, export = tmp_path / "train.tsv", written(tmp_path, "prodigy", made(5))
    assert run("convert", export, columns) == 0
    model = tmp_path / "m.model"
    assert run("train", "ner", columns, "--model", model, "-q", "--max-iter", 1) == 0
    capfd.readouterr()
    assert run("predict", model, columns, "--to", "prodigy", "--format", "columns") == 1
    assert "structlearn convert makes texts of tokens" in capfd.readouterr().err
    assert run("train", "ner", export, "--model", model, "-q", "--stream") == 1
    assert "structlearn convert makes columns of it" in capfd.readouterr().err
    assert run("train", "ner", export, "--model", model, "-q", "--tokens", "wrods") == 1
    assert "there is no tokeniser 'wrods'" in capfd.readouterr().err


def test_convert(tmp_path, capfd):
    source = written(tmp_path, "labelstudio", made(5))
    steps = ["a.jsonl", "b", "c.json", "d.txt"]
    before = source
    for name in steps:
        assert run("convert", before, tmp_path / name) == 0
        before = tmp_path / name
    assert "5 texts, 10 spans" in capfd.readouterr().err
    again = [json.loads(row) for row in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert again == dictionaries(made(5))
    tokens = (tmp_path / "d.txt").read_text().split("\n\n")[0].splitlines()
    assert tokens[0].endswith("\tB-PER")
    assert run("convert", source, tmp_path / "x.xyz") == 1
    assert "choose one with --to" in capfd.readouterr().err
    assert run("convert", source, source) == 1
