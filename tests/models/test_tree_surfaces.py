"""One parser's confidence is the same wherever it is seen: in methods, files, commands, pages."""

import io
import json
import re
import warnings

import pytest

from structlearn import cli
from structlearn.datasets import make_treebank
from structlearn.models.calibration import Calibration
from structlearn.tasks import ConstituencyParser, DependencyParser
from structlearn.tasks.inspection import inspect_task
from structlearn.text.dependency_treebank import as_conllu

pytestmark = pytest.mark.filterwarnings("ignore:.*not calibrated")

BANK = make_treebank(160, random_state=0)
ARCS = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
BRACKETS = [s.brackets for s in BANK]
TEST = BANK[140:]
PROJECTIVE = "sums over projective trees"
CASES = {
    "order 1": {"order": 1},
    "order 1, own taggers": {"order": 1, "gold_tags": False},
    "order 2": {},
    "order 2, own taggers": {"gold_tags": False},
    "order 2, projective": {"projective": True},
}
CURVE = Calibration(2.0, 900, 0.01, (1.4, 0.3, -0.2))


@pytest.fixture(scope="module", params=CASES)
def parser(request):
    options = {"gold_tags": True, "hash_bits": 14, "max_iter": 2, "folds": 2}
    made = DependencyParser(**{**options, **CASES[request.param]}).fit(ARCS[:60], dev=ARCS[60:120])
    if "projective" in request.param:
        made.model_.calibration = CURVE
    return made


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    path = tmp_path_factory.mktemp("trees") / "x.conllu"
    as_conllu(ARCS[140:]).write(path)
    text = path.read_text().replace("\t_\n", "\tNote=1|Other=2\n", 1)  # what MISC has stays
    path.write_text(text)
    return path


def misc(text):
    return [line.split("\t")[9] for line in text.splitlines() if line and line[0] != "#"]


def test_confidence_is_the_calibrated_probability_of_an_arc(parser, treebank):
    calibration = parser.calibration_
    rows = zip(
        parser.confidence(treebank),
        parser.predict(treebank, confidence=True),
        parser.predict_marginals(treebank, least=0.0),
        parser.explain(treebank),
        strict=True,
    )
    n = 0
    for confidence, tree, marginals, decisions in rows:
        assert tree.confidence == confidence
        for m, arc in enumerate(tree):
            p = min(1.0, marginals[m].get(arc, 0.0))
            assert confidence[m] == pytest.approx(calibration.confidence(p), abs=1e-12)
            assert decisions[m]["label"] == arc
            assert decisions[m]["probability"] == pytest.approx(p, abs=1e-12)
            n += 1
    assert n == sum(len(s.words) for s in TEST)


@pytest.mark.parametrize("threads", [1, 3])
def test_arcs_in_conllu(parser, treebank, threads):
    wanted = [f"Confidence={p:.4f}" for row in parser.confidence(treebank) for p in row]
    wanted[0] = f"Note=1|Other=2|{wanted[0]}"
    parser.set_params(n_jobs=threads)
    said, out = [], io.BytesIO()
    parser.label_file(treebank, out, confidence=True, notice=said.append)
    parser.set_params(n_jobs=1)
    assert misc(out.getvalue().decode()) == wanted
    second = parser.order == 2 and not parser.projective
    assert [PROJECTIVE in line for line in said] == [True] * second
    plain = io.BytesIO()
    parser.label_file(treebank, plain)
    strip = re.compile(r"\|?Confidence=[^\t\n|]*")
    found = [strip.sub("", line) for line in out.getvalue().decode().splitlines()]
    assert [line if line[-1:] != "\t" else f"{line}_" for line in found] == (
        plain.getvalue().decode().splitlines()
    )


def test_arcs_of_words_in_other_formats(parser, tmp_path):
    if parser.gold_tags:
        return  # words alone have no tags
    words = [s.words for s in TEST]
    files = {
        "x.txt": "".join(f"{' '.join(s)}\n" for s in words),
        "x.jsonl": "".join(json.dumps({"tokens": s}) + "\n" for s in words),
        "x.tsv": "\n".join("".join(f"{w}\t_\n" for w in s) for s in words),
    }
    wanted = [f"Confidence={p:.4f}" for row in parser.confidence(words) for p in row]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        out = io.BytesIO()
        format = "text" if name == "x.txt" else None
        parser.label_file(tmp_path / name, out, format=format, confidence=True)
        assert misc(out.getvalue().decode()) == wanted


def test_the_command_writes_what_the_method_does(parser, treebank, tmp_path, capsys):
    parser.save(tmp_path / "m", "float32")
    out = io.BytesIO()
    parser.label_file(treebank, out, confidence=True)
    assert cli.run(["predict", str(tmp_path / "m"), str(treebank), "--confidence"]) == 0
    found = capsys.readouterr()
    assert found.out == out.getvalue().decode()
    second = parser.order == 2 and not parser.projective
    assert (PROJECTIVE in found.err) == second
    assert cli.run(["inspect", str(tmp_path / "m")]) == 0
    assert (PROJECTIVE in " ".join(capsys.readouterr().out.split())) == second


def test_pages_of_arcs(parser, treebank):
    """Two digits in pages, three in text: probabilities, as ``explain`` has them."""
    shares = [d["probability"] for row in parser.explain(treebank) for d in row]
    page = inspect_task(parser, X=treebank, page=True, most=len(TEST))
    assert re.findall(r"<i>([01]\.\d\d)</i>", page) == [f"{p:.2f}" for p in shares]
    text = inspect_task(parser, X=treebank, most=len(TEST))
    assert re.findall(r"\(p = ([01]\.\d{3})", text) == [f"{p:.3f}" for p in shares]


def test_what_is_not_calibrated_warns(treebank, tmp_path):
    parser = DependencyParser(1, gold_tags=True, hash_bits=10, max_iter=1).fit(ARCS[:20])
    with pytest.warns(UserWarning, match="are not calibrated") as caught:
        parser.label_file(treebank, tmp_path / "out", confidence=True)
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parser.label_file(treebank, tmp_path / "out")


# -- constituents ---------------------------------------------------------------------------------

LEARNERS = {
    "own tagger": {"max_iter": 2},
    "gold tags": {"max_iter": 2, "gold_tags": True},
    "pcfg": {"learner": "pcfg", "gold_tags": True, "vertical": 1, "horizontal": 0},
}


@pytest.fixture(scope="module", params=LEARNERS)
def tree_parser(request):
    made = ConstituencyParser(**LEARNERS[request.param]).fit(BRACKETS[:80], dev=BRACKETS[80:140])
    if request.param == "gold tags":
        made.model_.calibration = CURVE
    return made


def test_spans_in_json(tree_parser, tmp_path, capsys):
    path = tmp_path / "x.mrg"
    path.write_text("\n".join(BRACKETS[140:]) + "\n")
    out, plain = io.BytesIO(), io.BytesIO()
    assert tree_parser.label_file(path, out, confidence=True) == sum(len(s.words) for s in TEST)
    tree_parser.label_file(path, plain)
    rows = [json.loads(line) for line in out.getvalue().decode().splitlines()]
    assert [row["tree"] for row in rows] == plain.getvalue().decode().splitlines()
    confidence = tree_parser.confidence(path)
    marginals = tree_parser.predict_marginals(path, least=0.0)
    calibration, n = tree_parser.calibration_, 0
    for row, wanted, p in zip(rows, confidence, marginals, strict=True):
        assert [span["confidence"] for span in row["spans"]] == [round(one, 4) for one in wanted]
        for span, one in zip(row["spans"], wanted, strict=True):
            share = min(1.0, p.get((span["start"], span["end"], span["label"]), 0.0))
            assert one == pytest.approx(calibration.confidence(share), abs=1e-12)
            assert f"({span['label']} " in row["tree"]
            n += 1
    assert n > 40
    tree_parser.save(tmp_path / "m")
    assert cli.run(["predict", str(tmp_path / "m"), str(path), "--confidence"]) == 0
    assert capsys.readouterr().out == out.getvalue().decode()
