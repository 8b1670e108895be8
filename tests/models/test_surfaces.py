"""One tagger's probabilities are the same wherever they are seen."""

import csv
import json
import math
import re
from types import SimpleNamespace

import pytest

from structlearn import cli
from structlearn.models.calibration import Calibration
from structlearn.serve.answers import answer
from structlearn.serve.queries import Query
from structlearn.tasks import Tagger
from structlearn.tasks.inspection import inspect_task
from structlearn.text import FeatureTemplates
from structlearn.workbench.labs.readings import tags_of
from tests.tasks.tagging.tagger_data import chunked

TRAIN = [[(w, k) for w, _, k in s] for s in chunked(25)]
DEV = [[(w, k) for w, _, k in s] for s in chunked(60, seed=1)]
X = [[(w,) for w, _, _ in s] for s in chunked(12, seed=2)]
WEAK = "word[0]\nsuffix(word, 1)\nbias\n"
CASES = {
    "perceptron": {},
    "calibrated": {"dev": DEV},
    "curve": {"curve": (1.7, 0.2, 1.1)},
    "crf": {"learner": "crf"},
    "iobes": {"scheme": "iobes", "dev": DEV},
    "candidates": {"candidates": 4, "dev": DEV},
}


@pytest.fixture(scope="module", params=CASES)
def tagger(request):
    options = dict(CASES[request.param])
    dev, curve = options.pop("dev", None), options.pop("curve", None)
    made = Tagger(FeatureTemplates.parse(WEAK), max_iter=3, **options).fit(TRAIN, dev=dev)
    if curve:
        made.model_.calibration = Calibration(4.0, 900, 0.01, curve)
    return made


@pytest.fixture(scope="module")
def seen(tagger):
    """Labels, P(label) by token, and confidence, in a row over all sentences."""
    labels = [k for row in tagger.predict(X) for k in row]
    marginals = [p for row in tagger.predict_marginals(X) for p in row]
    confidence = [p for row in tagger.confidence(X) for p in row]
    return labels, marginals, confidence


def test_confidence_is_the_calibrated_probability_of_the_label(tagger, seen):
    calibration = tagger.calibration_
    for label, p, confidence in zip(*seen, strict=True):
        wanted = p[label] if calibration is None else calibration.confidence(p[label])
        assert confidence == pytest.approx(wanted, abs=1e-12)
        assert math.fsum(p.values()) == pytest.approx(1.0, abs=1e-9)


def test_single_inputs(tagger):
    predicted = tagger.predict(X)
    assert [tagger.predict_single(x) for x in X] == predicted
    assert len(set(map(tuple, predicted))) > 3
    assert tagger.predict_single([]) == []


def test_explanations(tagger, seen):
    labels, marginals, _ = seen
    ends = [0]
    for row in X:
        ends.append(ends[-1] + len(row))
    n = 0
    for s, row in enumerate(tagger.explain(X)):
        for decision in row:
            at = ends[s] + decision["position"]
            assert decision["label"] == labels[at]
            assert decision["probability"] == pytest.approx(marginals[at][labels[at]], abs=1e-12)
            n += 1
    assert n > 50


def test_answers_of_the_labeller(tagger, seen):
    labels, marginals, confidence = seen
    core = tagger._labeller(" ", 1, confidence=True, marginals=True, known=False)
    rows = [row for s in core.answers(tagger._read_input(X).core, 1) for row in s]
    assert [row[0] for row in rows] == labels
    assert [row[1] for row in rows] == pytest.approx(confidence, abs=1e-12)
    for (_, _, listed), p in zip(rows, marginals, strict=True):
        assert listed == pytest.approx({k: p[k] for k in listed}, abs=1e-12)
        assert set(listed) >= {k for k in p if p[k] > 0.00051}


def test_kbest_lists(tagger):
    """Softmax of the scores, where all labellings are listed; and what is written alike adds up."""
    short = [row[:2] for row in X[:6]]
    T = tagger.temperature_ or 1.0
    for row, ranked in zip(short, tagger.predict_kbest(short, 10**6), strict=True):
        scores = [score / T for score, _ in ranked]
        total = math.fsum(math.exp(score - scores[0]) for score in scores)
        shares: dict[tuple[str, ...], float] = {}
        for score, (_, y) in zip(scores, ranked, strict=True):
            shares[tuple(y)] = shares.get(tuple(y), 0.0) + math.exp(score - scores[0]) / total
        outputs = list(shares)
        found = tagger.predict_proba([row] * len(outputs), [list(y) for y in outputs])
        assert found == pytest.approx(list(shares.values()), abs=1e-12)
        (tokens,) = tagger.predict_marginals([row])
        for t, p in enumerate(tokens):
            for label in p:
                wanted = math.fsum(share for y, share in shares.items() if y[t] == label)
                assert p[label] == pytest.approx(wanted, abs=1e-12)


FILES = {
    "columns": ("x.txt", "\n\n".join("\n".join(w for (w,) in s) for s in X) + "\n"),
    "conllu": (
        "x.conllu",
        "\n\n".join(
            "\n".join(f"{i}\t{w}" + "\t_" * 8 for i, (w,) in enumerate(s, 1)) for s in X
        )
        + "\n\n",
    ),
    "csv": ("x.csv", "sentence,word\n" + "".join(f'{i},"{w}"\n' for i, s in enumerate(X)
                                                   for (w,) in s)),
    "jsonl": ("x.jsonl", "".join(json.dumps({"words": [w for (w,) in s]}) + "\n" for s in X)),
}  # fmt: skip


def written(format, text):
    """(label, confidence) as they are written, token by token."""
    if format == "columns":
        return [tuple(line.split(" ")[1:]) for line in text.splitlines() if line]
    if format == "conllu":
        misc = [line.split("\t")[9] for line in text.splitlines() if line and line[0] != "#"]
        return [re.search(r"Label=([^|]*)\|.*?Confidence=([^|]*)", cell).groups() for cell in misc]
    if format == "csv":
        return [(row["label"], row["confidence"]) for row in csv.DictReader(text.splitlines())]
    records = map(json.loads, text.splitlines())
    return [pair for r in records for pair in zip(r["tags"], r["tags_confidence"], strict=True)]


@pytest.mark.parametrize("format", FILES)
def test_files(format, tagger, seen, tmp_path):
    name, text = FILES[format]
    (tmp_path / name).write_text(text)
    tagger.label_file(tmp_path / name, tmp_path / "out", confidence=True)
    found = written(format, (tmp_path / "out").read_text())
    labels, _, confidence = seen
    assert [label for label, _ in found] == labels
    if format == "jsonl":
        assert [p for _, p in found] == [round(p, 4) for p in confidence]
    else:
        assert [p for _, p in found] == [f"{p:.4f}" for p in confidence]


def test_the_command_writes_what_the_method_does(tagger, tmp_path, capsys):
    (tmp_path / "x.txt").write_text(FILES["columns"][1])
    tagger.save(tmp_path / "model")
    tagger.label_file(tmp_path / "x.txt", tmp_path / "out", confidence=True, marginals=True)
    options = ["--confidence", "--marginals"]
    assert cli.run(["predict", str(tmp_path / "model"), str(tmp_path / "x.txt"), *options]) == 0
    assert capsys.readouterr().out == (tmp_path / "out").read_text()


def test_pages(tagger, seen):
    """Two digits in pages, three in text."""
    labels, marginals, _ = seen
    n = sum(map(len, X))
    page = inspect_task(tagger, X=X, page=True, most=len(X))
    shown = re.findall(r"<i>([01]\.\d\d)</i>", page)
    assert shown == [f"{p[k]:.2f}" for p, k in zip(marginals, labels, strict=True)]
    text = inspect_task(tagger, X=X, most=len(X))
    shown = re.findall(r"\(p = ([01]\.\d{3})", text)
    assert shown == [f"{p[k]:.3f}" for p, k in zip(marginals, labels, strict=True)]
    assert len(shown) == n


@pytest.mark.filterwarnings("ignore:.*not calibrated")
def test_readings_of_the_workbench(tagger, seen):
    labels, marginals, _ = map(iter, seen)
    for row in X:
        words = [w for (w,) in row]
        reading = tags_of(tagger, words, [])
        drawn = reading.drawn(tagger.predict_single(row))
        for t, (word, listed) in enumerate(reading.probabilities):
            label, p = next(labels), next(marginals)
            assert (word, drawn["tags"][t]) == (words[t], label)
            assert drawn["tag_probabilities"][t] == pytest.approx(p[label], abs=1e-12)
            assert dict(listed) == pytest.approx({k: p[k] for k, _ in listed}, abs=1e-12)
            assert bool(reading.note) is not tagger.calibrated_


@pytest.mark.filterwarnings("ignore:.*not calibrated")
def test_answers_of_the_server(tagger, seen):
    held = SimpleNamespace(name="m", version="1", model=tagger)
    (body,) = answer([Query(held, "predict", X, confidence=True)])
    found = json.loads(body)
    labels, _, confidence = seen
    assert [k for row in found["outputs"] for k in row] == labels
    assert [p for row in found["confidence"] for p in row] == [round(p, 4) for p in confidence]
    assert found["calibrated"] is tagger.calibrated_
