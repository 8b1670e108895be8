"""Models of Wapiti and CRF++ label as their weights say: by enumeration, and as the tools do."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest

from structlearn import load
from structlearn.datasets import make_treebank
from structlearn.exceptions import CapabilityError
from structlearn.io import read_crfpp, read_wapiti
from structlearn.tasks.inspection import task_facts
from structlearn.text import FeatureTemplates
from tests.io.foreign_files import crfpp_binary, crfpp_text, wapiti_model

LABELS = ["V", "N", "D"]  # not in the alphabet's order
WORDS = ["fish", "Sleep", "the", "a/b"]
WAPITI = ["*", "u:w=%x[0,0]", "u:%X[-1,0]", "u:%x[1,0]", "b:t=%x[0,1]", '*:end=%m[0,0,"..$"]']
CRFPP = ["U00:%x[0,0]", "U:%x[-1,0]", "U:%x[1,0]", "U05:%x[0,0]/%x[0,1]", "U", "B", "B1:%x[0,1]"]


def spelled(tool, pattern, sentence, t):
    """The feature of a pattern at a token, from the definition."""

    def cell(row, column):
        at = t + row
        if 0 <= at < len(sentence):
            return sentence[at][column]
        beyond = at if at < 0 else at - len(sentence) + 1
        return f"_{'x' if tool == 'wapiti' else 'B'}{beyond:+d}"

    text = pattern
    for row, column in itertools.product((-1, 0, 1), (0, 1)):
        text = text.replace(f"%x[{row},{column}]", cell(row, column))
        text = text.replace(f"%X[{row},{column}]", cell(row, column).lower())
        text = text.replace(f'%m[{row},{column},"..$"]', cell(row, column)[-2:])
    return text


def made(tool, seed):
    """Sentences, and random weights for the features that they have (and for none else)."""
    rng = np.random.default_rng(seed)
    sentences = [
        [(str(rng.choice(WORDS)), str(rng.choice(["x", "y"]))) for _ in range(n)]
        for n in rng.integers(1, 5, 6)
    ]
    patterns = WAPITI if tool == "wapiti" else CRFPP
    weights = {}
    for sentence, pattern in itertools.product(sentences, patterns):
        for t in range(len(sentence)):
            feature = spelled(tool, pattern, sentence, t)
            n = {"u": 3, "U": 3, "b": 9, "B": 9, "*": 12}[feature[0]]
            if feature not in weights and (rng.random() < 0.8 or "%" not in pattern):
                row = rng.normal(size=n)
                weights[feature] = np.where(rng.random(n) < 0.3, 0.0, np.float32(row)).tolist()
    return sentences, patterns, weights


def score(tool, patterns, weights, sentence, y):
    """The score of an output, from the definition."""
    total = 0.0
    for t, k in enumerate(y):
        for pattern in patterns:
            feature = spelled(tool, pattern, sentence, t)
            row = weights.get(feature)
            if row is None:
                continue
            if feature[0] in "uU*":
                total += row[k]
            if feature[0] in "bB*" and t:
                total += row[(3 if feature[0] == "*" else 0) + 3 * y[t - 1] + k]
    return total


FILES = {
    "wapiti": ("wapiti", wapiti_model, read_wapiti),
    "crf++ text": ("crf++", crfpp_text, read_crfpp),
    "crf++ binary": ("crf++", crfpp_binary, read_crfpp),
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("seed", range(12))
def test_by_enumeration(tmp_path, kind, seed):
    tool, write, read = FILES[kind]
    sentences, patterns, weights = made(tool, seed)
    path = tmp_path / "model"
    path.write_bytes(write(patterns, LABELS, weights))
    tagger = read(path)
    assert tagger.classes_ == sorted(LABELS)
    for sentence in sentences:
        outputs = list(itertools.product(range(3), repeat=len(sentence)))
        scores = np.array([score(tool, patterns, weights, sentence, y) for y in outputs])
        found = [LABELS.index(k) for k in tagger.predict([sentence])[0]]
        assert scores[outputs.index(tuple(found))] == pytest.approx(scores.max(), abs=1e-9)
        p = np.exp(scores - np.logaddexp.reduce(scores))
        marginals = tagger.predict_marginals([sentence])[0]
        for t, row in enumerate(marginals):
            for k, label in enumerate(LABELS):
                expected = sum(q for q, y in zip(p, outputs, strict=True) if y[t] == k)
                assert row[label] == pytest.approx(expected, abs=1e-6)
    again = tmp_path / "again"
    tagger.save(again)
    assert load(again).predict(sentences) == tagger.predict(sentences)


def test_ties_go_to_the_first_label_of_the_file(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(wapiti_model(["u:%x[0,0]"], LABELS, {"u:fish": [0.0, 1.0, 1.0]}))
    tagger = read_wapiti(path)
    assert tagger.predict([[("fish",), ("?",)]])[0] == ["N", "V"]


def test_the_column_of_the_labels(tmp_path):
    path, text = tmp_path / "model", tmp_path / "text"
    path.write_bytes(wapiti_model(["u:%x[0,0]"], LABELS, {"u:fish": [0.0, 1.0, 0.5]}))
    text.write_text("fish x\n\n")
    assert read_wapiti(path).model_.target == 1
    read_wapiti(path, columns=3).label_file(text, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "fish x N\n\n"
    with pytest.raises(ValueError, match="columns=1: with the labels there are at least 2"):
        read_wapiti(path, columns=1)


def test_weights_are_shown_by_their_features(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(crfpp_text(["U1:%x[0,0]", "B"], LABELS, {
        "U1:fish": [0.5, 2.0, -1.0], "B": [0.0, 3.0, *[0.0] * 7],
    }))  # fmt: skip
    tagger = read_crfpp(path)
    assert tagger.top_features("N", 1)[0]["feature"] == "U1:fish"
    pairs = {(row["before"], row["after"]): row["weight"] for row in tagger.transitions()}
    assert pairs["V", "N"] == 3.0
    assert tagger.explain([[("fish", "x")]])


@pytest.mark.parametrize(
    ("write", "read", "kinds", "tool"),
    [(wapiti_model, read_wapiti, "ub", "Wapiti"), (crfpp_text, read_crfpp, "UB", "CRF++")],
)
def test_inspecting_tells_the_tool_and_the_number_of_features(tmp_path, write, read, kinds, tool):
    patterns = [f"{kind}:%x[0,0]" for kind in kinds]
    weights = {f"{kinds[0]}:a": [1.0, 0.0, 2.0], f"{kinds[1]}:a": [3.0] * 9}
    (tmp_path / "model").write_bytes(write(patterns, LABELS, weights))
    facts = dict(task_facts(read(tmp_path / "model")))
    assert facts["trained by"] == tool
    assert facts["features"] == "1; 2 weights other than 0"
    assert "trained on" not in facts


def test_the_cost_factor_multiplies(tmp_path):
    weights = {"U1:fish": [0.5, 2.0, -1.0]}
    path = tmp_path / "model"
    for write, factor in ((crfpp_text, "2"), (crfpp_binary, 2.0)):
        path.write_bytes(write(["U1:%x[0,0]"], LABELS, weights, factor=factor))
        p = read_crfpp(path).predict_marginals([[("fish",)]])[0][0]
        assert math.log(p["N"] / p["V"]) == pytest.approx(3.0, abs=1e-6)


def test_what_is_said_twice_counts_twice(tmp_path):
    """A pattern that is there twice, or spells what another one says of every token."""
    once = {"*": [0.5, 0.25, 0.0, *np.arange(9.0)], "u:fish": [1.0, 0.0, -1.0]}
    twice = {name: [2 * x for x in row] for name, row in once.items()}
    path, sentence = tmp_path / "model", [("fish", "x"), ("fish", "x"), ("eels", "x")]
    found = []
    for patterns, weights in (
        (["*", "*", "u:%x[0,0]", "u:%x[0,0]"], once),
        (["*", '*%m[0,0,"z*"]', 'u:%m[0,0,".*$"]', "u:%x[0,0]"], once),
        (["*", "u:%x[0,0]"], twice),
    ):
        path.write_bytes(wapiti_model(patterns, LABELS, weights))
        found.append(read_wapiti(path).predict_proba([sentence], [["N", "V", "D"]])[0])
    template = ["B", "B1:%x[0,0]", "U1:%x[0,0]"]
    pairs = {"B": [*np.arange(9.0)], "B1:fish": [1.0] * 9, "U1:fish": [1.0, 0.0, -1.0]}
    doubled = {name: [2 * x for x in row] for name, row in pairs.items()}
    for write in (crfpp_text, crfpp_binary):
        for templates, weights in ((2 * template, pairs), (template, doubled)):
            path.write_bytes(write(templates, LABELS, weights))
            found.append(read_crfpp(path).predict_proba([sentence], [["N", "V", "D"]])[0])
    assert found[0] == pytest.approx(found[2], abs=1e-12)
    assert found[1] == pytest.approx(found[2], abs=1e-12)
    assert found[3] == found[5] == pytest.approx(found[4], abs=1e-12)
    assert found[4] == found[6]


def test_training_on_is_refused(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(wapiti_model(["u:%x[0,0]"], LABELS, {"u:fish": [0.0, 1.0, 0.5]}))
    from structlearn.tasks import Tagger

    start = read_wapiti(path)
    sentences = [[("fish", "N"), ("sleep", "V"), ("the", "D")]]
    tagger = Tagger(features=start.features, scheme="none")
    with pytest.raises(ValueError, match="another tool has trained cannot be continued"):
        tagger.fit(sentences, start=start)


def test_files_of_many_columns(tmp_path):
    """What the first call prepares does not grow with the square of their number."""
    path = tmp_path / "model"
    path.write_bytes(crfpp_text(["U:%x[0,0]"], LABELS, {"U:fish": [0.0, 1.0, 0.5]}, xsize=3000))
    tagger = read_crfpp(path)
    assert tagger.model_.n_columns == 3001
    tracemalloc.start()
    found = [tagger.predict_single([("fish",) + ("x",) * n]) for n in (0, 1, 63, 64, 3000)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == [["N"]] * 5
    assert peak < 2**23


def test_other_kinds_of_wapitis_models(tmp_path):
    path = tmp_path / "model"
    weights = {"u:fish": [0.0, 1.0, 0.5]}
    for options, message in (
        ({"kind": 1}, "maximum-entropy Markov model"),
        ({"autouni": 1}, r"single lines \(--me\)"),
    ):
        path.write_bytes(wapiti_model(["u:%x[0,0]"], LABELS, weights, **options))
        with pytest.raises(CapabilityError, match=message):
            read_wapiti(path)
    path.write_bytes(wapiti_model([], LABELS, weights))
    with pytest.raises(CapabilityError, match="has no patterns"):
        read_wapiti(path)
    path.write_bytes(wapiti_model(["u:%x[0,0]"], LABELS, weights, kind=0))  # maxent
    assert read_wapiti(path).predict([[("fish",)]])[0] == ["N"]


# -- against the tools -----------------------------------------------------------------------------

PATTERNS = r"""
# every kind of command
*
U:wrd-1=%X[-1,0]
u:wrd=%x[ 0,0]
u:%x[-1,0]
u:%x[1,0]
u:both=%x[-2,0]/%x[-1,0]
*:pos=%x[0,1]
b:pos=%x[-1,1]/%x[0,1]
u:suf=%M[0,0,".?.?$"]
u:pre=%m[0,0,"^.?.?.?"]
u:upper=%t[0,0,"^\u"]
u:inside=%m[0,0,".\p\P*"]
u:number=%t[0,0,"^\d*\.?\d*$"]
u:ends=%x[@1,1]/%X[@-1,0]
u:far=%x[-6,1]
u:next=%T[1,0,"^\A*$"]%x[5,1]
b:next=%t[1,0,"^\u\l"]
"""


@pytest.fixture(scope="module")
def treebank():
    bank = make_treebank(150, random_state=2)
    return [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in bank]


def text_of(sentence):
    return "\n".join(" ".join(token) for token in sentence)


@pytest.mark.parametrize("options", [{}, {"algo": "rprop", "rho1": 0.2}, {"type": "maxent"}])
def test_wapiti_itself(tmp_path, treebank, options):
    wapiti = pytest.importorskip("wapiti", reason="Wapiti is not installed: pip install libwapiti")
    path = str(tmp_path / "model")
    patterns = PATTERNS
    if options.get("type") == "maxent":
        patterns = "\n".join(p for p in PATTERNS.split("\n") if p[:1] not in "b*")
    model = wapiti.Model(patterns=patterns, nthread=1, maxiter=12, **options)
    for sentence in treebank[:100]:
        model.add_training_sequence(text_of(sentence))
    model.train()
    model.save(path)
    tagger = read_wapiti(path)
    inputs = [[token[:2] for token in sentence] for sentence in treebank]
    theirs = [model.label_sequence(text_of(s)).decode().split() for s in inputs]
    assert tagger.predict(inputs) == theirs
    # The same patterns for a tagger of ours: it sees what Wapiti sees.
    templates = FeatureTemplates.parse(patterns)
    assert [t.name for t in tagger.features.templates if not t.transition] == [
        t.name for t in templates.templates if not t.transition
    ]


@pytest.mark.parametrize("options", [[], ["-a", "CRF-L1"], ["-a", "MIRA"], ["-f", "2"]])
def test_crfpp_itself(tmp_path, treebank, options):
    crfpp = pytest.importorskip("CRFPP", reason="CRF++ is not installed: pip install crfpy")
    train, template, path = (str(tmp_path / name) for name in ("train", "template", "model"))
    (tmp_path / "template").write_text("# of all kinds\n" + "\n".join([*CRFPP, "U09:%x[-3,1]"]))
    (tmp_path / "train").write_text("".join(text_of(s) + "\n\n" for s in treebank[:100]))
    crfpp.crfpp_learn(["crf_learn", "-t", "-m", "15", "-p", "1", *options, template, train, path])
    tagger = crfpp.Tagger(f"-m {path}")
    inputs = [[token[:2] for token in sentence] for sentence in treebank]
    theirs = []
    for sentence in inputs:
        tagger.clear()
        for token in sentence:
            tagger.add(" ".join(token))
        tagger.parse()
        theirs.append([tagger.y2(t) for t in range(tagger.size())])
    for name in (path, path + ".txt"):
        assert read_crfpp(name).predict(inputs) == theirs
