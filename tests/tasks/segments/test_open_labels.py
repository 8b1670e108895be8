"""Segments of sentences whose labels are sets, or unknown."""

import itertools
import math
import random

import numpy as np
import pytest

from structlearn.exceptions import FileError
from structlearn.metrics.schemes import to_iobes
from structlearn.metrics.segments import to_labels, to_segments
from structlearn.tasks import SegmentTagger
from structlearn.tasks.segments.fitting import SegmentFitting
from structlearn.tasks.segments.open_labels import choice, fitting_segments, is_open, needed_length
from structlearn.text import Corpus, FeatureTemplates

TYPES = ("A", "B")
IOB2 = ["O", *(f"{tag}-{kind}" for kind in TYPES for tag in "BI")]
IOBES = ["O", *(f"{tag}-{kind}" for kind in TYPES for tag in "BIES")]
TEMPLATES = FeatureTemplates.parse("begin(word)\nend(word)\ninside(word)")


def random_choices(rng, labels):
    """Return sets of labels, with one labelling of the scheme among them."""
    segments, at = [], 0
    for _ in range(rng.randint(1, 4)):
        length = rng.randint(1, 3)
        kind = rng.choice(("O", *TYPES))
        segments += [(at, at + 1, "O")] if kind == "O" else [(at, at + length, kind)]
        at = segments[-1][1]
    row = to_labels(segments)
    if labels is IOBES:
        row = to_iobes(row)
    found = []
    for label in row:
        more = rng.sample(labels, rng.randint(1, 3)) if rng.random() < 0.6 else []
        found.append(None if rng.random() < 0.2 else frozenset([label, *more]))
    return found


def is_written(row, choices, labels):
    """Tell whether a labelling is in the scheme: I- begins a chunk only where that is sure."""
    segments = to_segments(row)[0]
    if labels is IOBES:
        return to_iobes(to_labels(segments)) == list(row)
    for begin, _, kind in segments:
        if row[begin] == f"I-{kind}" and begin > 0:
            before = choices[begin - 1]
            if before is None or any(label[2:] == kind for label in before):
                return False
    return True


def tilings(segments, n, at=0):
    if at == n:
        yield ()
    for begin, end, kinds in segments:
        if begin == at:
            for kind in kinds if kinds is not None else ("O", *TYPES)[end - begin > 1 :]:
                for rest in tilings(segments, n, end):
                    yield ((begin, end, kind), *rest)


@pytest.mark.parametrize("labels", [IOB2, IOBES])
def test_the_segments_that_fit_make_up_the_labellings_that_fit(labels):
    """Every labelling of the scheme in the sets, and no other one."""
    rng, compared = random.Random(0), 0
    for _ in range(300):
        choices = random_choices(rng, labels)
        if len(choices) > 6:
            continue
        wanted = set()
        for row in itertools.product(*(labels if one is None else one for one in choices)):
            if is_written(row, choices, labels):
                wanted.add(tuple(sorted(to_segments(row)[0])))
        found = fitting_segments(choices, 10, labels is IOBES)
        tiled = list(tilings(found, len(choices)))
        assert set(tiled) == wanted
        assert len(tiled) == len(set(tiled))
        lengths = [max(end - begin for begin, end, _ in one) for one in wanted]
        assert needed_length(found, len(choices)) == min(lengths, default=None)
        compared += len(wanted) > 1
    assert compared > 100


def test_cells():
    assert choice("B-A|B-B", "|", "_") == {"B-A", "B-B"}
    assert choice("B-A|B-B", "", "_") == {"B-A|B-B"}
    assert choice("_", "|", "_") is None
    assert choice("B-A|?", "|", "?") is None
    assert not is_open([choice("O", "|", "?"), choice("B-A", "|", "?")])


def test_i_after_a_token_in_no_chunk_begins_one():
    """IOB1, where what stands before is known; otherwise I- goes on, as in IOB2."""
    known = [frozenset({"O"}), frozenset({"I-A"}), None]
    assert fitting_segments(known, 3, False)[:2] == [(0, 1, {"O"}), (1, 2, {"A"})]
    unknown = [None, frozenset({"I-A"})]
    assert list(tilings(fitting_segments(unknown, 3, False), 2)) == [((0, 2, "A"),)]


def sentences(n=60, seed=0):
    """Return words that tell their types, except for "m", which its neighbour tells."""
    rng, rows = random.Random(seed), []
    for _ in range(n):
        row = []
        for _ in range(rng.randint(2, 4)):
            kind = rng.choice(TYPES)
            row += [(f"the{kind}", "O"), ("m", f"B-{kind}"), ("x", f"I-{kind}"), ("runs", "O")]
        rows.append(row)
    return rows


def test_sets_and_unknown_labels_are_learned_from():
    """Half of the types are sets of both, and whole stretches are unknown."""
    full, rng = sentences(), random.Random(1)
    partly = []
    for row in full:
        row = list(row)
        for t, (word, label) in enumerate(row):
            if label[0] in "BI" and rng.random() < 0.5:
                row[t] = (word, "|".join(f"{label[:2]}{kind}" for kind in TYPES))
            elif rng.random() < 0.2:
                row[t] = (word, "?")
        partly.append(row)
    templates = FeatureTemplates.parse("begin(word)\nbegin(word[-1])\nend(word)\ninside(word)")
    tagger = SegmentTagger(templates, "crf", sets="|", unknown="?").fit(partly)
    assert tagger.classes_ == ["O", *TYPES]
    held_out = sentences(20, seed=2)
    assert tagger.evaluate(held_out)["f1"] == 1.0
    scores = tagger.evaluate(partly)
    assert scores["tokens"] == sum(k != "?" and "|" not in k for row in partly for _, k in row)
    assert scores["accuracy"] == 1.0
    again = SegmentTagger.from_model(tagger.model_)
    assert (again.sets, again.unknown) == ("|", "?")
    tagger.calibrate(partly)
    for row in tagger.least_sure(held_out, 3):
        assert row.reason


@pytest.mark.parametrize("learner", ["perceptron", "svm", "adagrad"])
def test_every_learner_takes_them(learner):
    rows = [
        [("theA", "O"), ("m", "B-A|B-B"), ("runs", "O")],
        [("theA", "O"), ("m", "B-A"), ("runs", "?")],
        [("theB", "O"), ("m", "B-B"), ("runs", "O")],
    ] * 4
    tagger = SegmentTagger(TEMPLATES, learner, max_iter=5, sets="|", unknown="?").fit(rows)
    assert tagger.predict([["theB", "m"]])[0][0] == "O"


def test_without_open_labels_the_options_change_nothing():
    rows = sentences(20)
    plain = SegmentTagger(TEMPLATES, "crf", max_iter=10).fit(rows)
    same = SegmentTagger(TEMPLATES, "crf", max_iter=10, sets="|", unknown="?").fit(rows)
    assert {k: bytes(v) for k, v in plain.model_.arrays.items()} == {
        k: bytes(v) for k, v in same.model_.arrays.items()
    }


def test_what_is_refused_says_why():
    row = [("a", "B-A"), ("b", "I-A"), ("c", "I-A"), ("d", "?")]
    with pytest.raises(FileError, match="unknown='\\?'"):
        SegmentTagger(TEMPLATES).fit([row])
    with pytest.raises(FileError, match="at most 2 tokens fit"):
        SegmentTagger(TEMPLATES, unknown="?", max_length=2).fit([row])
    with pytest.raises(FileError, match="constraints on segments"):
        SegmentTagger(TEMPLATES, unknown="?", constraints="contiguous()").fit([row])


def test_the_loss_is_minus_the_log_of_what_fits():
    """By enumeration of all segmentations, for weights that no learner has seen."""
    rows = [
        [("a", "B-A|B-B"), ("b", "I-A|I-B"), ("c", "O|B-B")],
        [("c", "?"), ("a", "I-B"), ("b", "?"), ("c", "B-A|O")],
        [("b", "?"), ("a", "?")],
        [("a", "B-A"), ("b", "B-B"), ("c", "O")],
    ]
    tagger = SegmentTagger(TEMPLATES, "crf", sets="|", unknown="?", max_length=3)
    fitting = SegmentFitting(tagger._plain(), Corpus.from_sentences(rows))
    problem = fitting.problem()
    w = np.random.default_rng(0).integers(-2, 3, problem.n_weights).astype(float)
    w[problem.random_weights(np.random.default_rng(1)) == 0] = 0.0
    model = SegmentTagger(TEMPLATES, "crf")
    model.model_ = fitting.model(w)
    for i, row in enumerate(rows):
        every = model.predict_kbest([[word for word, _ in row]], 10**4)[0]
        sets = [choice(cell, "|", "?") for _, cell in row]
        fits = [
            score
            for score, labels in every
            if all(one is None or k in one for k, one in zip(labels, sets, strict=True))
        ]
        assert 0 < len(fits) < len(every) or i == 2
        whole, inside = (
            math.log(math.fsum(map(math.exp, scores))) for scores in ([s for s, _ in every], fits)
        )
        assert problem.loss(i, w, 0.0, 1.0)[0] == pytest.approx(whole - inside, abs=1e-9)
