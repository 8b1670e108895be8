"""seqeval's functions against seqeval itself, on labels in and out of order."""

import json
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import metrics
from structlearn.metrics import IOB2, chunks, get_entities

LENIENT = [f"{tag}-{kind}" for tag in "BIES" for kind in ("PER", "a-b")] + ["O", "B", "I", "E"]
SCHEMES = ("IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU")
TAGS = {"IOB1": "BI", "IOB2": "BI", "IOE1": "IE", "IOE2": "IE", "IOBES": "BIES", "BILOU": "BILU"}
AVERAGES = ("micro", "macro", "weighted", None)


@st.composite
def labelled(draw, labels, least=0):
    """Gold and predicted labels of some sentences; half of the predicted ones are right."""
    label, gold, predicted = st.sampled_from(labels), [], []
    for _ in range(draw(st.integers(1, 3))):
        gold.append(draw(st.lists(label, min_size=least, max_size=6)))
        predicted.append([k if draw(st.booleans()) else draw(label) for k in gold[-1]])
    return gold, predicted


def turned(rows):
    """The same labels with the tag at the end."""
    return [["-".join(reversed(k.split("-", 1))) for k in row] for row in rows]


def answer(function, *arguments, **options):
    """What a function returns, as plain values, and the classes of its warnings of zeros."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = function(*arguments, **options)
    zeros = {w.category.__name__ for w in caught} - {"UserWarning", "RuntimeWarning"}
    return found, zeros


def same(ours, theirs):
    (mine, zeros), (wanted, their_zeros) = ours, theirs
    assert zeros == their_zeros
    if isinstance(wanted, tuple):
        assert len(mine) == len(wanted)
    else:
        mine, wanted = (mine,), (wanted,)
    for a, b in zip(mine, wanted, strict=True):
        a, b = (x.tolist() if hasattr(x, "tolist") else x for x in (a, b))
        assert type(a) is type(b) or type(a) in (int, float)
        assert a == pytest.approx(b, rel=1e-12, abs=1e-12)


@settings(deadline=None, max_examples=300)
@given(data=labelled(LENIENT), average=st.sampled_from(AVERAGES), suffix=st.booleans(),
       zero=st.sampled_from(["warn", 0, 1]))  # fmt: skip
def test_lenient_scores(data, average, suffix, zero):
    theirs = pytest.importorskip("seqeval.metrics")
    labels = pytest.importorskip("seqeval.metrics.sequence_labeling")
    gold, predicted = map(turned, data) if suffix else data
    assert get_entities(gold, suffix) == labels.get_entities(gold, suffix)
    options = {"average": average, "suffix": suffix, "zero_division": zero}
    if average in ("micro", None) or get_entities([*gold, *predicted], suffix):
        for name in ("precision_score", "recall_score", "f1_score"):
            ours, other = getattr(metrics, name), getattr(theirs, name)
            same(
                answer(ours, gold, predicted, **options), answer(other, gold, predicted, **options)
            )
        ours, other = (m.precision_recall_fscore_support for m in (metrics, labels))
        for beta in (1.0, 0.5, 2.0, float("inf")):
            same(
                answer(ours, gold, predicted, beta=beta, **options),
                answer(other, gold, predicted, beta=beta, **options),
            )
    if any(gold):
        assert metrics.accuracy_score(gold, predicted) == theirs.accuracy_score(gold, predicted)
    counts = theirs.performance_measure(gold, predicted)
    assert metrics.performance_measure(gold, predicted) == counts
    assert metrics.performance_measure(gold[0], predicted[0]) == theirs.performance_measure(
        gold[0], predicted[0]
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(deadline=None, max_examples=150)
@given(draws=st.data(), average=st.sampled_from(AVERAGES), suffix=st.booleans(),
       zero=st.sampled_from(["warn", 0, 1]))  # fmt: skip
def test_strict_scores(scheme, draws, average, suffix, zero):
    theirs, schemes = (pytest.importorskip(f"seqeval.{m}") for m in ("metrics", "scheme"))
    names = [f"{tag}-{kind}" for tag in TAGS[scheme] for kind in ("PER", "a-b")]
    gold, predicted = draws.draw(labelled([*names, "O", TAGS[scheme][0]]))
    if suffix:
        gold, predicted = turned(gold), turned(predicted)
    options = {"average": average, "suffix": suffix, "zero_division": zero, "mode": "strict"}
    entities = schemes.Entities([*gold, *predicted], getattr(schemes, scheme), suffix)
    if not entities.unique_tags:
        average = options["average"] = "micro"
    for name in ("precision_score", "recall_score", "f1_score"):
        ours, other = getattr(metrics, name), getattr(theirs, name)
        wanted = answer(other, gold, predicted, scheme=getattr(schemes, scheme), **options)
        same(answer(ours, gold, predicted, scheme=scheme, **options), wanted)
        same(answer(ours, gold, predicted, scheme=getattr(metrics, scheme), **options), wanted)
    if entities.unique_tags:
        del options["average"]
        for shape in ({"digits": 3}, {"output_dict": True}):
            mine, zeros = answer(
                metrics.classification_report, gold, predicted, scheme=scheme, **options, **shape
            )
            wanted, their_zeros = answer(
                theirs.classification_report, gold, predicted,
                scheme=getattr(schemes, scheme), **options, **shape,
            )  # fmt: skip
            assert zeros == their_zeros
            if isinstance(wanted, str):
                assert mine == wanted
            else:
                assert list(mine) == list(wanted)
                for kind, row in wanted.items():
                    assert mine[kind] == pytest.approx(row)


@settings(deadline=None, max_examples=150)
@given(data=labelled(LENIENT, least=1), suffix=st.booleans(), digits=st.integers(0, 15))
def test_reports(data, suffix, digits):
    theirs = pytest.importorskip("seqeval.metrics")
    gold, predicted = map(turned, data) if suffix else data
    if not get_entities([*gold, *predicted], suffix):
        assert "micro avg" in metrics.classification_report(gold, predicted, zero_division=0)
        return
    options = {"digits": digits, "suffix": suffix, "zero_division": 0}
    mine = metrics.classification_report(gold, predicted, **options)
    assert mine == theirs.classification_report(gold, predicted, **options)


@settings(deadline=None, max_examples=200)
@given(rows=st.lists(st.lists(st.sampled_from([f"{t}-X" for t in "IBESUL"] + ["O"]), max_size=4),
                     min_size=1, max_size=3))  # fmt: skip
def test_detected_schemes(rows):
    """Those that seqeval finds; S or U with O alone, which it refuses, are found too."""
    schemes = pytest.importorskip("seqeval.scheme")
    try:
        wanted = schemes.auto_detect(rows).__name__
    except ValueError:
        wanted = None
    try:
        found = repr(metrics.entities.detected_scheme(rows))
    except ValueError:
        found = None
    tags = {label[0] for row in rows for label in row}
    if found != wanted:
        assert wanted is None
        assert "S" in tags or "U" in tags
    elif wanted:
        options = {"mode": "strict", "zero_division": 0, "output_dict": True}
        assert metrics.classification_report(rows, rows, **options) == (
            metrics.classification_report(rows, rows, scheme=found, **options)
        )


@given(st.lists(st.sampled_from(LENIENT), max_size=8))
def test_entities_are_chunks(row):
    spans = [(kind or "_", start, end - 1) for start, end, kind in chunks(row)]
    assert get_entities(row) == spans


def test_a_report_is_plain():
    gold, predicted = [["B-PER", "I-PER", "O"]], [["B-PER", "O", "B-LOC"]]
    report = metrics.classification_report(gold, predicted, output_dict=True, zero_division=0)
    assert json.loads(json.dumps(report)) == report
    assert report["weighted avg"]["support"] == 1


def test_what_is_refused():
    gold, predicted = [["B-PER", "O"]], [["B-PER", "O"]]
    with pytest.raises(ValueError, match="sentence 0: gold has 2 labels, predicted has 1"):
        metrics.f1_score(gold, [["O"]])
    with pytest.raises(ValueError, match=r"scheme must be one of IOB1, .* got 'IOB9'"):
        metrics.f1_score(gold, predicted, mode="strict", scheme="IOB9")
    with pytest.raises(ValueError, match="position 0: 'L-PER' is not a label of IOB2, whose tags"):
        metrics.f1_score([["L-PER"]], [["O"]], mode="strict", scheme=IOB2)
    with pytest.raises(ValueError, match="position 1: 'PER-B' is not a label of a scheme"):
        metrics.classification_report([["O", "PER-B"]], [["O", "O"]], mode="strict")
    with pytest.raises(ValueError, match="the tags O of the gold labels are not those"):
        metrics.classification_report([["O"]], [["O"]], mode="strict")
    with pytest.raises(ValueError, match="average must be one of"):
        metrics.f1_score(gold, predicted, average="samples")
    with pytest.raises(ValueError, match="mode must be 'strict' or None, got 'lenient'"):
        metrics.f1_score(gold, predicted, mode="lenient")
    with pytest.raises(ValueError, match="zero_division must be 'warn', 0 or 1, got 2"):
        metrics.f1_score([["O"]], [["O"]], zero_division=2)
    with pytest.raises(ValueError, match="position 1: a label is a string"):
        metrics.f1_score([["O", None]], [["O", "O"]])
    with pytest.raises(ValueError, match="beta must not be negative"):
        metrics.precision_recall_fscore_support(gold, predicted, beta=-1)


def test_what_is_told():
    gold = [["B-PER", "O"]]
    with pytest.warns(UserWarning, match="without scheme reads labels leniently"):
        assert metrics.f1_score(gold, [["I-PER", "O"]], mode="strict") == 1.0
    with pytest.warns(UserWarning, match="'U-PER' is not a label of IOB, IOE or IOBES"):
        metrics.f1_score([["U-PER", "O"]], [["U-PER", "O"]])
    with pytest.warns(UserWarning, match="precision is 0 where no entity was predicted"):
        metrics.precision_score(gold, [["O", "O"]])
