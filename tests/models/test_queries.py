"""Every query of a model's inputs against the enumeration of all outputs, for taggers and segments.

The enumeration adds up the blocks of scores by the definition of the structure, and knows nothing
of the core's dynamic programs.
"""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from structlearn.exceptions import InfeasibleError
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.text import FeatureTemplates
from tests.tasks.tagging.tagger_data import chunked, tagged

LABEL, START, END, TRANSITION = 0, 1, 2, 3
WORDS = "word[0]\nword[-1]\nbias\n"
PAIRS = WORDS + "transition: word[0]\n"
TEMPERATURES = [0.3, 1.0, 8.0]


def coarse(sentences):
    """Four labels."""
    return [[(w, k[0] if k[0] in "NVD" else "X") for w, k in s] for s in sentences]


def phrases(sentences):
    """Chunks of two types: one of them nowhere of one token alone."""
    kept = {"B-NP": "B-a", "I-NP": "I-a", "B-VP": "B-b", "I-VP": "I-b"}
    return [[(w, kept.get(k, "O")) for w, _, k in s] for s in sentences]


def tagger(train, text=WORDS, **options):
    options = {"max_iter": 2, **options}
    if options.get("learner") != "crf":
        options["n_models"] = 1
    return Tagger(FeatureTemplates.parse(text), **options).fit(train)


def segments(**options):
    templates = FeatureTemplates.parse("begin(word)\nwhole(word)\ninside(word)\nlength\nbias")
    train = phrases(chunked(12))
    return SegmentTagger(templates, max_iter=2, n_models=1, **options).fit(train)


CASES = {
    **{f"order {n}": (lambda n=n: tagger(coarse(tagged(15)), order=n)) for n in range(4)},
    "label pairs": lambda: tagger(coarse(tagged(15)), PAIRS),
    "bio": lambda: tagger(phrases(chunked(12)), scheme="bio"),
    "iobes": lambda: tagger(phrases(chunked(12)), scheme="iobes"),
    "beginnings, order 2": lambda: tagger(phrases(chunked(12)), scheme="beginnings", order=2),
    "candidates": lambda: tagger(tagged(15), candidates=3),
    "candidates, order 2": lambda: tagger(tagged(15), candidates=3, order=2),
    "candidates, label pairs": lambda: tagger(tagged(15), PAIRS, candidates=3),
    "candidates, iobes": lambda: tagger(phrases(chunked(12)), scheme="iobes", candidates=4),
    "crf": lambda: tagger(coarse(tagged(15)), learner="crf"),
    "segments": lambda: segments(max_length=3),
    "segments, crf": lambda: segments(max_length=2, learner="crf"),
}  # fmt: skip


class Enumerated:
    """All outputs of an input with their scores, as the model has them."""

    def __init__(self, model, inputs, i):
        self.blocks = {
            b: np.frombuffer(data).reshape(sites, outcomes)
            for b, sites, outcomes, data in inputs.core.scores(i)
        }
        parts = inputs.marginals(1.0, merged=False)[i]
        if hasattr(model, "max_length"):
            self._segmentations(model, inputs.source.core.length(i))
        else:
            width = self.blocks[LABEL].shape[1]
            labels = [[k for *_, k, _ in parts[t : t + width]] for t in range(0, len(parts), width)]
            self._chains(labels, model.order)
        legal = np.isfinite(self.scores)
        self.outputs = [y for y, fits in zip(self.outputs, legal, strict=True) if fits]
        self.scores = np.array(self.scores)[legal]
        shown = getattr(model, "shown", None)
        self.written = [tuple(y) if shown is None else tuple(shown[k] for k in y)
                        for y in self.outputs]  # fmt: skip

    def _chains(self, labels, order):
        """`labels` has the label of each outcome of each token."""
        length, width = self.blocks[LABEL].shape
        self.outputs, self.scores = [], []
        for y in itertools.product(range(width), repeat=length):
            total = sum(self.blocks[LABEL][t, k] for t, k in enumerate(y))
            for b, k in ((START, y[0]), (END, y[-1])):
                total += self.blocks[b][0, k] if b in self.blocks else 0.0
            for m in range(1, order + 1):
                table = self.blocks.get(TRANSITION + m - 1)
                for t in range(m, length):
                    window = 0
                    for k in y[t - m : t + 1]:
                        window = window * width + k
                    total += table[t - m if len(table) > 1 else 0, window]
            self.outputs.append([labels[t][k] for t, k in enumerate(y)])
            self.scores.append(total)

    def _segmentations(self, model, length):
        n, widest = len(model.labels), model.max_length
        self.outputs, self.scores = [], []
        for cuts in itertools.product((False, True), repeat=length - 1):
            starts = [0, *(t for t, cut in enumerate(cuts, 1) if cut), length]
            spans = list(itertools.pairwise(starts))
            if max(b - a for a, b in spans) > widest:
                continue
            for ks in itertools.product(range(n), repeat=len(spans)):
                total = self.blocks[1][0, ks[0]] + self.blocks[2][0, ks[-1]]
                output = [-1] * length
                for (a, b), k in zip(spans, ks, strict=True):
                    total += self.blocks[0][a * widest + b - a - 1, k]
                    output[a] = k
                for before, after in itertools.pairwise(ks):
                    total += self.blocks[3][0, before * n + after]
                self.outputs.append(output)
                self.scores.append(total)

    def probabilities(self, temperature):
        x = self.scores / temperature
        p = np.exp(x - x.max())
        return p / p.sum()

    def log_partition(self, temperature):
        x = self.scores / temperature
        return temperature * (x.max() + math.log(np.exp(x - x.max()).sum()))

    def score(self, output):
        return self.scores[self.outputs.index(list(output))]


def parts_of(model, output):
    """(begin, end, label) of the parts of an output."""
    if not hasattr(model, "max_length"):
        return [(t, t + 1, k) for t, k in enumerate(output)]
    starts = [t for t, k in enumerate(output) if k >= 0]
    return [(a, b, output[a]) for a, b in itertools.pairwise([*starts, len(output)])]


def name(model, label):
    return model.shown[label] if hasattr(model, "shown") else label


@pytest.fixture(scope="module", params=CASES)
def asked(request):
    """A task, its inputs, and the enumeration of each."""
    task = CASES[request.param]()
    texts = [["the", "dog"], ["sleeps"], ["a", "new", "word"], ["dogs", "see", "the", "cat"]]
    texts += [[w for w, _ in s[:3]] for s in tagged(3, seed=5)]
    X = [[(w,) for w in text] for text in texts]
    inputs = task._inputs(X)
    return task, X, inputs, [Enumerated(task.model_, inputs, i) for i in range(len(X))]


def test_best_outputs(asked):
    _, _, inputs, lists = asked
    found = inputs.solve()
    for y, value, every in zip(found.outputs, found.values, lists, strict=True):
        assert value == pytest.approx(every.scores.max(), abs=1e-9)
        assert every.score(y) == pytest.approx(value, abs=1e-9)
    assert all(found.exact)


def test_kbest_lists(asked):
    _, _, inputs, lists = asked
    for n in (1, 7, 10**5):
        for ranked, every in zip(inputs.kbest(n), lists, strict=True):
            wanted = np.sort(every.scores)[::-1][:n]
            assert [value for value, _ in ranked] == pytest.approx(wanted.tolist(), abs=1e-9)
            for value, y in ranked:
                assert every.score(y) == pytest.approx(value, abs=1e-9)
            assert len({tuple(y) for _, y in ranked}) == len(ranked)


@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_sums(asked, temperature):
    task, _, inputs, lists = asked
    model, outputs = task.model_, inputs.solve().outputs
    sums = inputs.log_partition(temperature)
    nats = inputs.entropy(temperature)
    marginals = inputs.marginals(temperature, merged=False)
    as_written = inputs.marginals(temperature)
    certainties = inputs.certainties(outputs, temperature)
    for i, every in enumerate(lists):
        p = every.probabilities(temperature)
        assert sums[i] == pytest.approx(every.log_partition(temperature), abs=1e-9)
        positive = p[p > 0]
        assert nats[i] == pytest.approx(-(positive * np.log(positive)).sum(), abs=1e-9)
        wanted, alike = Counter(), Counter()
        for share, y in zip(p, every.outputs, strict=True):
            for begin, end, k in parts_of(model, y):
                wanted[begin, end, k] += share
                alike[begin, end, name(model, k)] += share
        found = {(begin, end, k): share for begin, end, k, share in marginals[i]}
        assert wanted.keys() <= found.keys()
        assert found == pytest.approx({part: wanted[part] for part in found}, abs=1e-10)
        found = {(begin, end, name(model, k)): share for begin, end, k, share in as_written[i]}
        assert len(found) == len(as_written[i])
        assert alike.keys() <= found.keys()
        assert found == pytest.approx({part: alike[part] for part in found}, abs=1e-10)
        mine = [alike[a, b, name(model, k)] for a, b, k in parts_of(model, outputs[i])]
        assert certainties[i] == pytest.approx(mine, abs=1e-10)
    for least in (0.01, 0.5):
        some = inputs.marginals(temperature, least)
        for all_parts, likely in zip(as_written, some, strict=True):
            assert likely == [part for part in all_parts if part[3] >= least]


def test_scores_of_outputs(asked):
    task, _, inputs, lists = asked
    rng = np.random.default_rng(0)
    for _ in range(5):
        some = [int(rng.integers(len(every.outputs))) for every in lists]
        given = [every.outputs[k] for k, every in zip(some, lists, strict=True)]
        wanted = [every.scores[k] for k, every in zip(some, lists, strict=True)]
        assert inputs.score(given) == pytest.approx(wanted, abs=1e-9)
    n = len(task.model_.labels)
    for wrong in (
        [[n] * len(every.outputs[0]) for every in lists],
        [[-2] * len(every.outputs[0]) for every in lists],
        [[*every.outputs[0], 0] for every in lists],
        [every.outputs[0][1:] for every in lists],
        [[] for _ in lists],
    ):
        assert inputs.score(wrong) == [-math.inf] * len(lists)
        for row in inputs.certainties(wrong, 1.0):
            assert all(0 <= p <= 1 for p in row)
    with pytest.raises(ValueError, match="an output for each input"):
        inputs.score([[0]])
    for query in (inputs.log_partition, inputs.entropy, inputs.marginals):
        for temperature in (0.0, -1.0, math.nan):
            with pytest.raises(ValueError, match="temperature"):
                query(temperature)


def test_rivals(asked):
    task, _, inputs, lists = asked
    model, outputs = task.model_, inputs.solve().outputs
    n_without = 0
    for rivals, output, every in zip(inputs.rivals(outputs), outputs, lists, strict=True):
        places = parts_of(model, output)
        assert len(rivals) == len(places)
        for at, ((begin, end, k), found) in enumerate(zip(places, rivals, strict=True)):
            number, margin, rival = found
            assert number == at
            others = [
                score
                for score, y in zip(every.scores, every.outputs, strict=True)
                if (begin, end, name(model, k))
                not in [(a, b, name(model, j)) for a, b, j in parts_of(model, y)]
            ]
            n_without += not others
            assert (rival is not None) == bool(others)
            assert math.isfinite(margin) == bool(others)
            if others:
                assert every.score(rival) == pytest.approx(max(others), abs=1e-9)
                assert margin == pytest.approx(max(every.scores) - max(others), abs=1e-9)
    assert n_without < sum(map(len, outputs))


def test_samples(asked):
    _, _, inputs, lists = asked
    n, temperature = 4000, 2.0
    drawn = inputs.sample(n, temperature, 7)
    assert drawn == inputs.sample(n, temperature, 7, 3)
    assert drawn != inputs.sample(n, temperature, 8)
    for samples, every in zip(drawn, lists, strict=True):
        assert len(samples) == n
        counts = Counter(map(tuple, samples))
        assert counts.keys() <= set(map(tuple, every.outputs))
        for share, y in zip(every.probabilities(temperature), every.outputs, strict=True):
            slack = 5 * math.sqrt(share * (1 - share) / n) + 2 / n
            assert counts[tuple(y)] / n == pytest.approx(share, abs=slack)


def test_threads_give_the_same_bits(asked):
    task, X, *_ = asked
    inputs = task._inputs(X * 40)
    given = inputs.solve().outputs
    for ask in (
        lambda threads: vars(inputs.solve(threads)),
        lambda threads: inputs.kbest(3, threads),
        lambda threads: inputs.marginals(2.0, 0.0, threads),
        lambda threads: inputs.entropy(2.0, threads),
        lambda threads: inputs.log_partition(2.0, threads),
        lambda threads: inputs.sample(2, 2.0, 1, threads),
        lambda threads: inputs.score(given, threads),
        lambda threads: inputs.certainties(given, 2.0, threads),
        lambda threads: inputs.rivals(given, threads),
    ):
        assert ask(1) == ask(3)


def test_probabilities_of_outputs_as_they_are_written(asked):
    """What is written alike is one output; all of them together have probability 1."""
    task, X, _, lists = asked
    written = [
        [task._named(None, i, y) for y in every.outputs] if hasattr(task, "max_length") else
        list(map(list, every.written))
        for i, every in enumerate(lists)
    ]  # fmt: skip
    for i, every in enumerate(lists):
        shares = Counter()
        for share, y in zip(every.probabilities(3.0), map(tuple, written[i]), strict=True):
            shares[y] += share
        likely = shares.most_common(40)
        found = task.predict_proba(
            [X[i]] * len(likely), [list(y) for y, _ in likely], temperature=3.0
        )
        assert found == pytest.approx([share for _, share in likely], abs=1e-10)
        foreign = [["B-zzz", *["O"] * (len(X[i]) - 1)]]
        assert task.predict_proba([X[i]], foreign, temperature=3.0) == [0.0]
        others = itertools.product(task.classes_, repeat=len(X[i]))
        missing = next((y for y in others if y not in shares), None)
        if missing is not None and not hasattr(task, "max_length"):  # no candidates, not legal
            assert task.predict_proba([X[i]], [list(missing)], temperature=3.0) == [0.0]
    best = task.predict(X)
    assert task.predict_proba(X, temperature=3.0) == task.predict_proba(X, best, temperature=3.0)
    losses = -np.log(task.predict_proba(X, best, temperature=3.0))
    assert task.log_loss(X, best, temperature=3.0) == pytest.approx(losses.mean())
    with pytest.raises(ValueError, match="without parts"):
        task.predict_proba([[], X[1]], [best[1], []], temperature=1.0)


@pytest.mark.parametrize("case", [c for c in CASES if "segments" not in c])
def test_known_labels(case):
    """Of all outputs those that are written so are left; of candidates, these become some."""
    task = CASES[case]()
    X = [[("the",), ("dog",), ("sleeps",)], [("a",), ("new",), ("word",)]]
    for t, label in itertools.product(range(3), task.classes_[:5]):
        known = [[None] * 3, [None] * 3]
        known[0][t] = known[1][2 - t] = label
        try:
            inputs = task._inputs(X, known=known)
            found = inputs.solve()
        except InfeasibleError:
            # Nothing but the marks of chunks can rule a label out: I- does not begin a sentence.
            assert task.model_.training["scheme"] != "none"
            assert label.startswith("I-")
            assert t in (0, 2)
            continue
        for i, y in enumerate(found.outputs):
            every = Enumerated(task.model_, inputs, i)
            at = (t, 2 - t)[i]
            assert {row[at] for row in every.written} == {label}
            assert found.values[i] == pytest.approx(every.scores.max(), abs=1e-9)
            assert every.score(y) == pytest.approx(every.scores.max(), abs=1e-9)
        (p, _) = task.predict_marginals(X, known=known, temperature=1.0)
        assert p[t][label] == pytest.approx(1.0)
