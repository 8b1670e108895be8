"""What ``docs/howto/migrate.md`` says of other libraries, against them: scripts and parameters."""

import contextlib
import io
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from structlearn import CRF
from structlearn.io import read_wapiti
from structlearn.metrics import label_report
from tests.docs.page_blocks import ROOT
from tests.docs.site_files import write_files
from tests.estimators.estimator_data import sentences

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SECTION = re.compile(r"^## From (.+?)\n(.*?)(?=^## )", re.DOTALL | re.MULTILINE)
SECTIONS = dict(SECTION.findall((ROOT / "docs/howto/migrate.md").read_text(encoding="utf-8")))
#: The other tools' commands, where only their Python packages are installed.
CRFPP = "import sys, CRFPP; sys.exit(CRFPP.crfpp_{}(sys.argv))"
WAPITI = """
import argparse, wapiti
parser = argparse.ArgumentParser()
parser.add_argument("mode"); parser.add_argument("input"); parser.add_argument("output")
parser.add_argument("-p"); parser.add_argument("-m")
parser.add_argument("-1", type=float); parser.add_argument("-2", type=float)
o = vars(parser.parse_args())
sequences = [s for s in open(o["input"]).read().split("\\n\\n") if s.strip()]
if o["mode"] == "train":
    model = wapiti.Model(patterns=open(o["p"]).read(), rho1=o["1"], rho2=o["2"], nthread=1)
    model.train(sequences)
    model.save(o["output"])
else:
    model = wapiti.Model(model=o["m"])
    with open(o["output"], "wb") as file:
        for sequence in sequences:
            file.write(model.label_sequence(sequence.strip(), include_input=True) + b"\\n")
"""


def blocks(tool, *languages):
    """Return the code blocks of a section of the page that are in some language."""
    found = re.findall(r"^```(\S+(?: \S+)?)\n(.*?)^```$", SECTIONS[tool], re.DOTALL | re.MULTILINE)
    return [block for language, block in found if language in languages]


@pytest.mark.parametrize(
    ("tool", "library"),
    [("python-crfsuite", "pycrfsuite"), ("sklearn-crfsuite", "sklearn_crfsuite")],
)
def test_scripts_print_the_same(tool, library, tmp_path, monkeypatch):
    pytest.importorskip(library, reason=f"{tool} is not installed")
    monkeypatch.chdir(tmp_path)
    printed = []
    for script in (blocks(tool, "{code-block} python")[0], blocks(tool, "python")[0]):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            exec(compile(script, tool, "exec"), {})
        printed.append(text.getvalue())
    assert printed[0] == printed[1]
    assert printed[0].count("\n") > 1


@pytest.fixture
def folder(tmp_path):
    """A folder of files, whose commands structlearn, crf_learn, crf_test and wapiti are run."""
    write_files(tmp_path)
    bin = tmp_path / "bin"
    bin.mkdir()
    for name, code in (
        ("crf_learn", CRFPP.format("learn")),
        ("crf_test", CRFPP.format("test")),
        ("wapiti", WAPITI),
        ("structlearn", "from structlearn.cli import main; main()"),
    ):
        (bin / f"{name}_.py").write_text(code)
        (bin / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "{bin / name}_.py" "$@"\n')
        (bin / name).chmod(0o755)
    return tmp_path


def run(script, folder):
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("tool", "library"), [("CRF++", "CRFPP"), ("Wapiti", "wapiti")])
def test_commands_label_the_same(tool, library, folder):
    pytest.importorskip(library, reason=f"{tool} is not installed")
    before, kept = blocks(tool, "{code-block} bash")
    (after,) = blocks(tool, "sh")
    run(before, folder)
    theirs = (folder / "labelled.txt").read_text()
    run(kept, folder)
    assert (folder / "kept.txt").read_text().split() == theirs.split()
    run(after, folder)
    accuracies = []
    for text in (theirs, (folder / "labelled.txt").read_text()):
        cells = text.split()
        accuracies.append(sum(a == b for a, b in zip(cells[2::4], cells[3::4], strict=True)))
    assert accuracies[1] >= 0.97 * accuracies[0] > 0


@pytest.mark.parametrize(("rho1", "rho2"), [(0.5, 0.1), (0.0, 1.0), (1.0, 1e-4)])
def test_wapitis_objective(rho1, rho2, tmp_path, capfd):
    """The sum of losses, rho1·‖w‖₁ and rho2/2·‖w‖²: C = 1/rho2, l1 = rho1/rho2."""
    wapiti = pytest.importorskip("wapiti", reason="Wapiti is not installed: pip install libwapiti")
    X, y = sentences()
    path = str(tmp_path / "model")
    words = [[(token[0],) for token in x] for x in X]
    model = wapiti.Model(patterns="*\nu:%x[0,0]", rho1=rho1, rho2=rho2, maxiter=4, nthread=1)
    model.train(["\n".join(f"{w[0]} {k}" for w, k in zip(*pair, strict=True))
                 for pair in zip(words, y, strict=True)])  # fmt: skip
    model.save(path)
    told = [*map(float, re.findall(r"obj=([\d.]+)", capfd.readouterr().err))]
    gold = [[str(k) for k in row] for row in y]
    loss = -np.log(read_wapiti(path).predict_proba(words, gold)).sum()
    lines = (tmp_path / "model").read_text().splitlines()
    w = np.array([float.fromhex(line.partition("=")[2]) for line in lines if "=0x" in line
                  or "=-0x" in line])  # fmt: skip
    ours = loss + rho1 * abs(w).sum() + rho2 / 2 * w @ w
    assert ours == pytest.approx(told[-1], rel=1e-3)


@pytest.fixture(scope="module")
def data():
    X, y = sentences()
    return X, [[str(k) for k in row] for row in y]


@pytest.fixture(scope="module")
def fit(data):
    """Train the other library's CRF to its optimum."""
    library = pytest.importorskip("sklearn_crfsuite", reason="sklearn_crfsuite is not installed")

    def train(**parameters):
        closely = {"max_iterations": 5000, "epsilon": 1e-12, "delta": 1e-14}
        return library.CRF(algorithm="lbfgs", **closely, **parameters).fit(*data)

    return train


def close_to(ours, theirs, X):
    """Whether the marginals of all labels are the same."""
    for mine, rows in zip(ours.predict_marginals(X), theirs.predict_marginals(X), strict=True):
        wanted = [[row[k] for k in ours.classes_] for row in rows]
        if not np.allclose(mine, wanted, rtol=0, atol=1e-5):
            return False
    return True


@pytest.mark.parametrize("options", [{}, {"all_possible_states": True}])
@pytest.mark.parametrize("pairs", [True, False])
@pytest.mark.parametrize("c2", [0.5, 2.0])
def test_c2(data, fit, c2, pairs, options):
    theirs = fit(c2=c2, all_possible_transitions=pairs, **options)
    closely = {"tol": 1e-12, "max_iter": 10_000, "all_possible_transitions": pairs, **options}
    ours = CRF(C=1 / (2 * c2), boundaries=False, **closely).fit(*data)
    assert close_to(ours, theirs, data[0])
    assert [row.tolist() for row in ours.predict(data[0])] == [*map(list, theirs.predict(data[0]))]
    with_ends = CRF(C=1 / (2 * c2), **closely).fit(*data)
    assert not close_to(with_ends, theirs, data[0])


@pytest.mark.parametrize(("c1", "c2"), [(0.3, 0.5), (1.0, 0.1)])
def test_c1(data, fit, c1, c2):
    theirs = fit(c1=c1, c2=c2, all_possible_transitions=True)
    ours = CRF(
        C=1 / (2 * c2), l1=c1 / (2 * c2), solver="lbfgs", boundaries=False, tol=1e-10,
        max_iter=20_000,
    ).fit(*data)  # fmt: skip
    assert close_to(ours, theirs, data[0])
    assert np.count_nonzero(ours.coef_["label"]) == len(theirs.state_features_)
    assert np.count_nonzero(ours.coef_["transition"]) == len(theirs.transition_features_)


def weighed(model):
    """The features that have a weight, each with its label."""
    names = model.feature_names_["label"]
    rows = zip(*np.nonzero(model.coef_["label"]), strict=True)
    return {(names[f], str(model.classes_[k])) for k, f in rows}


def test_counts_of_features(data, fit):
    """Theirs counts a feature with a label, and pairs of labels; here whatever the label."""
    X, y = data
    theirs = fit(c2=0.5, all_possible_transitions=True, min_freq=8)
    ours = CRF(boundaries=False, min_count=8).fit(X, y)
    counts, pairs = {}, {}
    for tokens, labels in zip(X, y, strict=True):
        for token, label in zip(tokens, labels, strict=True):
            for name in token:
                counts[name] = counts.get(name, 0) + 1
                pairs[name, label] = pairs.get((name, label), 0) + 1
    assert weighed(ours) == {pair for pair in pairs if counts[pair[0]] >= 8}
    assert set(theirs.state_features_) == {pair for pair, count in pairs.items() if count >= 8}
    assert len(theirs.transition_features_) < len(ours.classes_) ** 2


def test_scores_of_labels(data, fit):
    metrics = pytest.importorskip(
        "sklearn_crfsuite.metrics", reason="sklearn_crfsuite is not installed"
    )
    X, y = data
    predicted = fit(c2=100.0).predict(X)
    report = label_report(y, predicted)
    assert report.macro.f1 == pytest.approx(metrics.flat_f1_score(y, predicted, average="macro"))
    assert report.accuracy == pytest.approx(metrics.flat_accuracy_score(y, predicted))
