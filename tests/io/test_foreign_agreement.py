"""Models that Wapiti and CRF++ train on random data with random patterns label as they do there."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.io import read_crfpp, read_wapiti

LABELS = ("N", "V", "ß")
WORDS = (
    "a",
    "B",
    "ab",
    "Ab-1",
    "3.14",
    "Straße",
    "ÄB",
    "日本",
    "x/y",
    "#",
    "_x-1",
    "_B+1",
    "..",
    "%",
)
N_COLUMNS = 3

CELL = st.sampled_from(WORDS)
SENTENCE = st.lists(st.tuples(*[CELL] * N_COLUMNS, st.sampled_from(LABELS)), min_size=1, max_size=6)
CORPUS = st.lists(SENTENCE, min_size=3, max_size=8)
#: Of one label alone Wapiti's weights are no numbers, and CRF++ writes no model.
ALL_LABELS = [(k, "ab", "B", k) for k in LABELS] * 3

EXPRESSION = st.tuples(
    st.sampled_from(["", "^"]),
    st.lists(
        st.tuples(
            st.sampled_from([".", "a", "B", "1", "-", *(rf"\{c}" for c in "adlpsuwADLPSUW.")]),
            st.sampled_from(["", "*", "?"]),
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["", "$"]),
).map(lambda e: e[0] + "".join(a + b for a, b in e[1]) + e[2])


@st.composite
def wapiti_command(draw):
    kind = draw(st.sampled_from("xXtTmM"))
    place = draw(st.integers(-3, 3).map(str) | st.sampled_from(["@1", "@2", "@-1", "@-3", "@9"]))
    column = draw(st.integers(0, N_COLUMNS - 1))
    regex = "" if kind in "xX" else f',"{draw(EXPRESSION)}"'
    return f"%{kind}[{place},{column}{regex}]"


@st.composite
def wapiti_patterns(draw):
    """Lines with and without names, some with the same; always weights of pairs of labels."""
    lines = [draw(st.sampled_from(["*", "b\nu"]))]
    for _ in range(draw(st.integers(1, 6))):
        kind, name = (
            draw(st.sampled_from("uuuUbB*")),
            draw(st.sampled_from(["", ":", ":n=", ":é "])),
        )
        commands = draw(st.lists(wapiti_command(), min_size=1, max_size=3))
        lines.append(kind + name + draw(st.sampled_from(["", "/", "-"])).join(commands))
    return "\n".join(lines) + "\n"


@st.composite
def crfpp_template(draw):
    lines = [draw(st.sampled_from(["B", "B", "B\nU"]))]
    for i in range(draw(st.integers(1, 6))):
        name = draw(st.sampled_from([f"U{i:02}:", "U:", "U", f"B{i}:", f"U{i}="]))
        macros = [
            f"%x[{draw(st.integers(-4, 4))},{draw(st.integers(0, N_COLUMNS - 1))}]"
            for _ in range(draw(st.integers(1, 3)))
        ]
        lines.append(name + "/".join(macros))
    return "\n".join(lines) + "\n"


def text_of(sentence):
    return "\n".join(" ".join(token) for token in sentence)


def inputs_of(sentences):
    return [[token[:N_COLUMNS] for token in sentence] for sentence in sentences]


def same_labels(tagger, inputs, theirs):
    """Labels are equal, but for outputs as good as each other: weights are rounded to 32 bits."""
    ours = tagger.predict(inputs)
    differ = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
    chosen = [inputs[i] for i in differ]
    p, q = (tagger.predict_proba(chosen, [rows[i] for i in differ]) for rows in (ours, theirs))
    assert p == pytest.approx(q, rel=1e-6)


@settings(derandomize=True, deadline=None, database=None, max_examples=60)
@given(
    train=CORPUS,
    test=CORPUS,
    patterns=wapiti_patterns(),
    algorithm=st.sampled_from(["l-bfgs", "sgd-l1", "bcd", "rprop"]),
    rho1=st.sampled_from([0.0, 0.1]),
    compact=st.booleans(),
)
def test_wapiti(tmp_path_factory, train, test, patterns, algorithm, rho1, compact):
    wapiti = pytest.importorskip("wapiti", reason="Wapiti is not installed: pip install libwapiti")
    path = str(tmp_path_factory.mktemp("wapiti") / "model")
    model = wapiti.Model(
        patterns=patterns, algo=algorithm, rho1=rho1, rho2=0.1, maxiter=3, nthread=1,
        compact=compact,
    )  # fmt: skip
    train = [ALL_LABELS, *train]
    model.train([text_of(sentence) for sentence in train])
    model.save(path)
    inputs = inputs_of([*train, *test])
    theirs = [model.label_sequence(text_of(x)).decode().split() for x in inputs]
    same_labels(read_wapiti(path), inputs, theirs)


@settings(derandomize=True, deadline=None, database=None, max_examples=60)
@given(
    train=CORPUS,
    test=CORPUS,
    template=crfpp_template(),
    algorithm=st.sampled_from(["CRF-L2", "CRF-L1", "MIRA"]),
    least=st.sampled_from(["1", "2"]),
)
def test_crfpp(tmp_path_factory, train, test, template, algorithm, least):
    crfpp = pytest.importorskip("CRFPP", reason="CRF++ is not installed: pip install crfpy")
    folder = tmp_path_factory.mktemp("crfpp")
    train = [ALL_LABELS, *train]
    (folder / "template").write_text(template, encoding="utf-8")
    (folder / "train").write_text("".join(text_of(s) + "\n\n" for s in train), encoding="utf-8")
    names = [str(folder / name) for name in ("template", "train", "model")]
    crfpp.crfpp_learn(
        ["crf_learn", "-t", "-m", "5", "-p", "1", "-a", algorithm, "-f", least, *names]
    )
    tagger = crfpp.Tagger(f"-m {names[-1]}")
    inputs, theirs = inputs_of([*train, *test]), []
    for sentence in inputs:
        tagger.clear()
        for token in sentence:
            tagger.add(" ".join(token))
        tagger.parse()
        theirs.append([tagger.y2(t) for t in range(tagger.size())])
    for name in (names[-1], f"{names[-1]}.txt"):
        same_labels(read_crfpp(name), inputs, theirs)
