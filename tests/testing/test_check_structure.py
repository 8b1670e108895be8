"""The check finds every planted mistake, says what it is, and passes what is right."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from structlearn.exceptions import CapabilityError
from structlearn.structures import Block, Chain, Lattice, Multiclass, Solution, Structure
from structlearn.testing import check_structure, enumerate_outputs
from structlearn.testing.report import Report
from tests.testing import planted_structures as planted


def chain_scores(rng):
    return {
        "label": rng.normal(size=(3, 3)),
        "transition": rng.normal(size=(3, 3)),
        "start": rng.normal(size=3),
        "end": rng.normal(size=3),
    }


def coin_scores(rng):
    return {"coin": rng.normal(size=(2, 2)), "both": rng.normal(size=(2, 2))}


MISTAKES = {
    planted.IgnoresTransitions: r"argmax",
    planted.ForgetsToLookBack: r"solve",
    planted.BoundTooLow: r"solve: bound",
    planted.MarginalsOff: r"marginals",
    planted.MarginalsSwapped: r"marginals \(transition\)",
    planted.GradientOff: r"infer: gradient",
    planted.ForgetsTemperature: r"infer: value, temperature 5.0",
    planted.LogPartitionUnscaled: r"log_partition, temperature 0.3",
    planted.EntropyInBits: r"entropy",
    planted.KBestRepeats: r"kbest\(2\)",
    planted.KBestWorstFirst: r"kbest\(2\)",
    planted.KBestSkips: r"kbest\(2\)",
    planted.CountsIllegal: r"count",
    planted.SampleIgnoresTemperature: r"sample\(2000\): frequencies.*temperature",
    planted.SampleIgnoresSeed: r"sample\(50\)(.|\n)*the same draw",
    planted.SampleAlwaysSame: r"sample\(50\)(.|\n)*another draw",
    planted.SamplePositionsApart: r"sample\(2000\): frequencies",
    planted.SoftMask: r"infer",
    planted.AlwaysAnswers: r"argmax(.|\n)*InfeasibleError",
    planted.ScoreForgetsEnds: r"score\(",
    planted.DecodeReversed: r"decode\(encode\(y\)\)",
    planted.EncodeDropsBlock: r"encode.*expected a dict with the blocks",
    planted.EncodeWrongShape: r"encode.*counts >= 0 of shape",
    planted.OutputsRepeat: r"enumerated twice",
    planted.OutputsIncomplete: r"one of the enumerated outputs|count",
    planted.BatchBackwards: r"of a batch differs",
    planted.WritesIntoScores: r"argmax(.|\n)*scores left as they were",
    planted.Raises: r"kbest(.|\n)*KeyError",
    planted.TwoDerivations: r"count|one derivation",
    planted.EdgesOfLegalParts: r"edges that depend on the shapes",
    planted.WrongPart: r"argmax|solve|infer|decode|kbest",
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda cls: cls.__name__)
def test_planted_mistakes_are_found(mistake):
    scores = coin_scores if issubclass(mistake, planted.Coins) else chain_scores
    with pytest.raises(AssertionError, match=MISTAKES[mistake]):
        check_structure(mistake(), scores)


def test_the_right_one_passes():
    assert not check_structure(planted.Coins(), coin_scores).missing
    assert not check_structure(Chain(), chain_scores).missing


def test_two_derivations_are_named():
    """Even where ``count`` hides them."""

    class Hidden(planted.TwoDerivations):
        def count(self, **scores):
            return planted.Coins().count(**scores)

    with pytest.raises(AssertionError, match="one derivation for each of 4 legal outputs"):
        check_structure(Hidden(), coin_scores)


def test_the_message_says_everything():
    scores = {"label": np.array([[0.5, 1.0]]), "start": np.array([2.0, 0.25])}
    with pytest.raises(AssertionError) as caught:
        check_structure(planted.GradientOff(), scores)
    message = str(caught.value)
    assert "GradientOff(order=1).infer: gradient (label), temperature 0.3" in message
    assert "on input 'number 0'" in message
    right = Chain().infer(temperature=0.3, **scores)[1]["label"]
    assert f"expected {right!r}"[:20] in message
    assert "got" in message
    assert "'start': array([2.  , 0.25])" in message


def test_the_message_can_be_pasted():
    scores = {"label": np.array([[1 / 3, -np.inf]])}
    with pytest.raises(AssertionError) as caught:
        check_structure(planted.MarginalsOff(), scores, variations=False)
    text = str(caught.value).split("scores")[1].strip()
    found = eval(text, {"array": np.array, "inf": np.inf})
    np.testing.assert_array_equal(found["label"], scores["label"])


def test_report():
    report = check_structure(Chain(), chain_scores, n_inputs=2)
    assert isinstance(report, Report)
    assert report.structure == "Chain(order=1)"
    assert report.n_inputs == 2 * (1 + 3 + 2 + 1)
    assert report.n_outputs == 27 * report.n_inputs
    for query in (
        "encode and decode",
        "score",
        "argmax",
        "solve",
        "kbest",
        "infer",
        "infer at temperature 0",
        "finite differences",
        "log_partition",
        "marginals",
        "entropy",
        "sample",
        "count",
        "nothing legal",
        "order of blocks",
        "batches",
    ):
        assert report.checked[query] > 0, query
    assert "argmax: right" in str(report)


def test_missing_abilities_are_reported():
    class NoSums(Chain):
        def infer(self, *, temperature=1.0, **scores):
            if temperature > 0:
                raise CapabilityError("NoSums adds nothing up. What works: argmax")
            return super().infer(temperature=0, **scores)

    report = check_structure(NoSums(), chain_scores)
    assert report.missing == {"infer": "NoSums adds nothing up. What works: argmax"} | {
        "entropy": "NoSums adds nothing up. What works: argmax"
    }
    assert "infer: missing" in str(report)
    assert report.checked["infer at temperature 0"] > 0


def test_scores_as_a_dict_a_function_or_neither():
    one = check_structure(Multiclass(), {"label": [1.0, 2.0]}, variations=False)
    assert (one.n_inputs, one.n_outputs) == (1, 2)
    asked = []

    def draw(rng):
        asked.append(rng)
        return {"label": rng.normal(size=len(asked))}

    many = check_structure(Multiclass(), draw, n_inputs=3, variations=False)
    assert (many.n_inputs, many.n_outputs) == (3, 1 + 2 + 3)
    drawn = check_structure(Multiclass(), n_labels=4, n_inputs=2, variations=False)
    assert (drawn.n_inputs, drawn.n_outputs) == (2, 8)
    with pytest.raises(ValueError, match="pass scores="):
        check_structure(Lattice([(0, i) for i in range(1, 10)]))


def test_outputs_can_be_given():
    class Unlisted(Chain):
        def outputs(self, **scores):
            return Structure.outputs(self, **scores)

    with pytest.raises(CapabilityError, match="or pass outputs="):
        check_structure(Unlisted(), chain_scores)
    report = check_structure(
        Unlisted(),
        chain_scores,
        outputs=lambda **scores: itertools.product(range(3), repeat=len(scores["label"])),
        n_inputs=1,
    )
    assert not report.missing
    fixed = itertools.product(range(3), repeat=3)
    check_structure(Unlisted(), chain_scores, outputs=fixed, n_inputs=1, n_samples=0)


def test_the_same_seed_checks_the_same():
    seen = []

    class Watched(Multiclass):
        def argmax(self, *, n_jobs=None, **scores):
            seen.append(repr(scores))
            return super().argmax(n_jobs=n_jobs, **scores)

    for seed in (0, 0, 1):
        seen.append("--")
        check_structure(Watched(), n_inputs=2, random_state=seed)
    first, second, third = "".join(seen).split("--")[1:]
    assert first == second != third


def test_too_many_outputs():
    with pytest.raises(ValueError, match="more than 100 outputs"):
        check_structure(Chain(), {"label": np.zeros((8, 3))}, max_outputs=100)


def test_nothing_legal_is_checked_alone():
    report = check_structure(Chain(), {"label": np.full((2, 2), -np.inf)})
    assert report.checked["nothing legal"] > 10


def test_only_structures():
    with pytest.raises(TypeError, match="needs a Structure"):
        check_structure("chain")


class Greedy(Structure):
    """Two labels, the second chosen after the first: a bound and no proof."""

    method = "greedy"

    def blocks(self, n_labels):
        return {"table": Block((2, 2))}

    def encode(self, y, **scores):
        counts = np.zeros((2, 2))
        counts[tuple(y)] = 1.0
        return {"table": counts}

    def decode(self, parts):
        return tuple(int(i) for i in np.argwhere(parts["table"])[0])

    def outputs(self, **scores):
        return itertools.product(range(2), repeat=2)

    def argmax(self, *, n_jobs=None, **scores):
        table = np.asarray(scores["table"])
        first = int(table.sum(axis=1).argmax())
        return first, int(table[first].argmax())

    def solve(self, *, n_jobs=None, **scores):
        y = self.argmax(**scores)
        table = np.asarray(scores["table"])
        return Solution(y, self.score(y, **scores), False, float(table.max()), self.method)

    def kbest(self, n, **scores):
        raise CapabilityError("Greedy has no kbest")


def test_an_argmax_without_proof_may_fall_short():
    """``exact`` False: the output must be legal and the bound right, no more."""
    table = np.array([[5.0, -9.0], [1.0, 1.0]])
    assert Greedy().solve(table=table).value == 1.0
    report = check_structure(Greedy(), {"table": table}, variations=False)
    assert "kbest" in report.missing

    class Boastful(Greedy):
        def solve(self, **scores):
            return super().solve(**scores)._replace(exact=True)

    with pytest.raises(AssertionError, match="an output with score 5"):
        check_structure(Boastful(), {"table": table}, variations=False)


class Around(Structure):
    """One of the edges that come with the example: topology beside the scores."""

    topology = ("edges_given",)

    def blocks(self, n_labels):
        return {"edge": Block(())}

    def outputs(self, **scores):
        return iter(scores["edges_given"])

    def encode(self, y, **scores):
        return {"edge": np.array([1.0 if e == y else 0.0 for e in scores["edges_given"]])}

    def score(self, y, **scores):
        return float(np.asarray(scores["edge"])[list(scores["edges_given"]).index(y)])

    def argmax(self, *, n_jobs=None, **scores):
        return scores["edges_given"][int(np.argmax(scores["edge"]))]

    def solve(self, *, n_jobs=None, **scores):
        y = self.argmax(**scores)
        return Solution(y, self.score(y, **scores), True, self.score(y, **scores), "maximum")


def test_topology_goes_along_with_the_scores():
    report = check_structure(
        Around(), {"edge": np.array([1.0, 3.0, 2.0]), "edges_given": "abc"}, variations=False
    )
    assert {"decode", "infer"} <= set(report.missing)
    assert report.checked["argmax"] > 0


def test_enumeration_answers_by_adding_up():
    table = enumerate_outputs(Multiclass(), {"label": np.log([1.0, 3.0, 4.0])})
    assert table.outputs == [0, 1, 2]
    assert table.n_legal == 3
    np.testing.assert_allclose(table.probabilities(1.0), [1 / 8, 3 / 8, 4 / 8])
    value, p = table.infer(1.0)
    assert value == pytest.approx(np.log(8))
    np.testing.assert_allclose(p["label"], [1 / 8, 3 / 8, 4 / 8])
    assert table.entropy(1.0) == pytest.approx(-sum(q * np.log(q) for q in (1 / 8, 3 / 8, 4 / 8)))
    assert table.entropy(0.0) == 0.0
    assert table.find({"label": np.array([0, 1, 0])}) == 1
    assert table.find({"label": np.array([1, 1, 0])}) is None
    masked = enumerate_outputs(Multiclass(), {"label": [0.0, -np.inf]})
    assert masked.values.tolist() == [0.0, -np.inf]
    assert masked.n_legal == 1


def test_import_is_light():
    """The kit does not bring in SciPy or scikit-learn."""
    code = (
        "import sys, structlearn.testing;"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'scipy', 'sklearn', 'pandas'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
