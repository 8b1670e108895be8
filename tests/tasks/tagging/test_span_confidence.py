"""The confidence of a span: the probability of its label and both of its ends, by enumeration."""

import json
import math
import random

import pytest

import structlearn
from structlearn.labelling.kinds import KINDS
from structlearn.labelling.proposals import proposal
from structlearn.metrics import reliability
from structlearn.metrics.boundaries import boundary_table, chunks
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.text import FeatureTemplates

TYPES = ("A", "B")
WORDS = "pqrs"
TEMPLATES = FeatureTemplates.parse("word\nword[-1]")


def sentences(n, seed=0, single=False):
    """Return words with random chunks, which no model learns well; some in the scheme IOB1."""
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        labels = []
        while len(labels) < rng.randint(2, 6):
            kind, length = rng.choice(("O", *TYPES)), rng.randint(1, 3)
            if kind == "O":
                labels.append("O")
            else:
                first = rng.choice("BI") if single else "B"
                labels += [f"{first}-{kind}", *[f"I-{kind}"] * (length - 1)]
        rows.append([(rng.choice(WORDS), label) for label in labels])
    return rows


def shares(tagger, words, **reading):
    """Return every labelling of a sentence with its probability."""
    everything = tagger.predict_kbest([words], 10**5, **reading)[0]
    top = everything[0][0]
    weights = [math.exp((score - top) / tagger.temperature_) for score, _ in everything]
    return [
        (labels, w / math.fsum(weights)) for (_, labels), w in zip(everything, weights, strict=True)
    ]


def check(tagger, n_texts=12, several=False, **reading):
    """``several``: a chunk may be written in several ways, as B-A and as I-A."""
    rng = random.Random(1)
    compared = lower = 0
    for _ in range(n_texts):
        words = [rng.choice(WORDS) for _ in range(rng.randint(1, 5))]
        text, everything = " ".join(words), shares(tagger, words, **reading)
        marginals = tagger.predict_marginals([words], **reading)[0]
        best = max(everything, key=lambda one: one[1])[0]
        for span in tagger.predict_spans([text], confidence=True, **reading)[0]:
            chunk = (span.start // 2, (span.end + 1) // 2, span.label)
            exact = math.fsum(p for labels, p in everything if chunk in chunks(labels))
            assert span.confidence == pytest.approx(exact, abs=1e-9)
            compared += 1
            least = min(marginals[t][best[t]] for t in range(chunk[0], chunk[1]))
            assert several or span.confidence <= least + 1e-9
            lower += span.confidence < least - 1e-6
    assert compared > 5
    return lower


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("scheme", ["none", "bio", "iobes", "beginnings"])
def test_the_probability_of_a_span_is_that_of_all_labellings_with_it(order, scheme):
    if order == 0 and scheme != "none":
        pytest.skip("schemes need order 1")
    tagger = Tagger(TEMPLATES, "crf", order=order, scheme=scheme, max_iter=4, tokens="blank")
    tagger.fit(sentences(40, single=scheme == "none"))
    assert check(tagger, several=scheme == "none") > 0  # the least of the tokens is another number


@pytest.mark.filterwarnings("ignore:.*break a constraint")
@pytest.mark.parametrize("order", [1, 2])
def test_features_of_pairs_constraints_and_candidates(order):
    options = {"learner": "crf", "max_iter": 4, "tokens": "blank", "order": order}
    rows = sentences(40)
    check(Tagger(TEMPLATES, **options, scheme="bio").fit(rows), constraints="at_most(1, 'B-A')")
    bound = Tagger(TEMPLATES, **options, constraints="contiguous()", illegal="drop").fit(rows)
    check(bound, several=True)
    if order == 1:
        pairs = FeatureTemplates.parse("word\ntransition: word")
        check(Tagger(pairs, **options).fit(rows), several=True)
    check(Tagger(TEMPLATES, **options, candidates=3).fit(rows), several=True)


def test_a_long_line_takes_time_in_proportion():
    """Spans of a line of 20,000 tokens: not a sum over the line for each of them."""
    tagger = Tagger(TEMPLATES, "crf", max_iter=4, tokens="blank", scheme="bio").fit(sentences(40))
    (found,) = tagger.predict_spans([" ".join("pqrs" * 5000)], confidence=True)
    assert len(found) > 1000
    assert all(0 < span.confidence < 1 for span in found)


def test_segments_have_their_own():
    tagger = SegmentTagger(
        FeatureTemplates.parse("begin(word)\nend(word)"), "crf", max_iter=4, tokens="blank"
    ).fit(sentences(40))
    words = ["p", "q", "r", "s"]
    segments = tagger.predict_marginals([words])[0]
    for span in tagger.predict_spans([" ".join(words)], confidence=True)[0]:
        place = (span.start // 2, (span.end + 1) // 2, span.label)
        assert span.confidence == pytest.approx(segments[place], abs=1e-9)


def test_boundaries_between_labels_make_the_chunks():
    """The table is another way to say where chunks begin and end."""
    rng = random.Random(0)
    names = ["O", ".", "B", *(f"{tag}-{kind}" for tag in "BIESLU[]X" for kind in TYPES)]
    between, types = boundary_table(names)
    for _ in range(3000):
        row = [rng.randrange(len(names)) for _ in range(rng.randint(1, 7))]
        found, before, start = [], len(names), -1
        for t, k in enumerate(row):
            boundary = between[before * len(names) + k]
            if start >= 0 and boundary:
                found.append((start, t, types[row[start]]))
                start = -1
            if boundary & 2:
                start = t
            before = k
        if start >= 0:
            found.append((start, len(row), types[row[start]]))
        number = {k: types[names.index(f"B-{k}")] for k in TYPES} | {"": types[0]}
        wanted = chunks(names[k] for k in row)
        assert found == [(a, b, number[kind]) for a, b, kind in wanted]


# -- calibration ----------------------------------------------------------------------------------


def overconfident():
    """Return a tagger whose spans are wrong oftener than their probability says, with a dev set."""
    rows = sentences(200)
    tagger = Tagger(TEMPLATES, "crf", C=1000.0, order=1, tokens="blank", scheme="bio")
    return tagger.fit(rows[:25]).calibrate(rows[25:110]), rows[110:]


def test_spans_have_a_curve_of_their_own(tmp_path):
    tagger, rows = overconfident()
    stored = tagger.model_.training["span_calibration"]
    assert stored["curve"] is not None
    assert stored["n_parts"] < tagger.calibration_.n_parts
    honest = tagger.span_calibration(rows)
    words = [" ".join(word for word, _ in row) for row in rows]
    found = tagger.predict_spans(words)
    assert honest.n == sum(map(len, found))
    # The measure is of the figures that are given.
    right = [
        ((s.start // 2, (s.end + 1) // 2, s.label) in chunks(label for _, label in row))
        for row, spans in zip(rows, found, strict=True)
        for s in spans
    ]
    again = reliability((s.confidence for spans in found for s in spans), right)
    assert again.error == pytest.approx(honest.error)
    kept = tagger.model_.training.pop("span_calibration")
    assert tagger.span_calibration(rows).error > honest.error + 0.05  # with the curve of labels
    tagger.model_.training["span_calibration"] = kept
    tagger.save(tmp_path / "m.model")
    assert structlearn.load(tmp_path / "m.model").predict_spans(words) == found
    assert "of spans: " in tagger._certainty
    # Labels keep the figures that they had.
    curve = tagger.calibration_
    raw = tagger._certainties(*_solved(tagger, rows), tagger.temperature_)
    assert tagger.confidence(rows) == [[curve.confidence(p) for p in row] for row in raw]


def _solved(tagger, rows):
    inputs = tagger._inputs(rows)
    return inputs, inputs.solve().outputs


def test_every_surface_gives_the_same_figure(tmp_path):
    tagger, rows = overconfident()
    text = " ".join(word for word, _ in rows[0])
    (tmp_path / "t.jsonl").write_text(json.dumps({"text": text}) + "\n")
    wanted = [(s.start, s.end, s.label, s.confidence) for s in tagger.predict_spans([text])[0]]
    assert wanted
    tagger.label_file(tmp_path / "t.jsonl", tmp_path / "o.jsonl", to="prodigy")
    item = json.loads((tmp_path / "o.jsonl").read_text())
    keys = ("start", "end", "label", "confidence")
    for span, one in zip(item["spans"], wanted, strict=True):
        assert [span[key] for key in keys[:3]] == list(one[:3])
        assert span["confidence"] == pytest.approx(one[3], abs=5e-5)
    # The page of labels.
    kind = KINDS["spans"]("blank")
    proposed = proposal(tagger, kind.cut(0, text), kind)
    begins = [t for t, label in enumerate(proposed.labels) if label.startswith("B-")]
    assert [proposed.as_dict()["chunks"][t] for t in begins] == pytest.approx(
        [one[3] for one in wanted], abs=5e-5
    )


def test_a_model_without_a_dev_set_has_no_curve():
    tagger = Tagger(TEMPLATES, "crf", max_iter=4, tokens="blank").fit(sentences(40))
    assert "span_calibration" not in tagger.model_.training
    assert tagger.model_.span_calibration is None
    tags = [[(w, k.replace("-", "")) for w, k in row] for row in sentences(40)]
    plain = Tagger(TEMPLATES, "crf", max_iter=4).fit(tags, dev=tags)
    assert "span_calibration" not in plain.model_.training
    assert plain.span_calibration(tags) is None
