"""The loss against the library's own, its gradient against finite differences."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from structlearn.losses import Cost, StructuredLoss  # noqa: E402
from structlearn.structures import (  # noqa: E402
    Arborescence,
    Chain,
    Constituency,
    Multiclass,
    SemiMarkov,
    Tree,
)
from structlearn.torch import structured_loss  # noqa: E402
from structlearn.torch.batches import Batch  # noqa: E402
from structlearn.torch.operators import compute  # noqa: E402

from .cases import KINDS, Case  # noqa: E402


@pytest.mark.parametrize(("margin", "temperature"), [(0, 0), (1, 0), (0, 1), (1, 1), (0.5, 0.05)])
@pytest.mark.parametrize("kind", KINDS)
def test_loss_is_the_librarys(kind, margin, temperature):
    loss = StructuredLoss(margin=margin, temperature=temperature)
    for seed in range(4):
        case = Case(kind, seed)
        gold = case.outputs()
        main = case.scores[case.structure.label_block].requires_grad_()
        found = structured_loss(
            case.structure,
            case.scores,
            gold,
            lengths=case.lengths,
            margin=margin,
            temperature=temperature,
        )
        (grad,) = torch.autograd.grad(found.sum(), main)
        main.requires_grad_(False)
        for b, one in enumerate(case.examples()):
            wanted, p = loss(case.structure, gold[b], **one)
            assert found[b].item() == pytest.approx(wanted, abs=1e-9)
            block = case.structure.label_block
            np.testing.assert_allclose(grad[b].numpy(), case.padded(block, p[block], b), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients(kind):
    case = Case(kind, 5, size=4)
    gold = case.outputs()
    blocks = tuple(block.requires_grad_() for block in case.scores.values())

    def loss(*tensors):
        scores = dict(zip(case.scores, tensors, strict=True))
        return structured_loss(
            case.structure, scores, gold, lengths=case.lengths, margin=0.5, temperature=0.7
        )

    assert torch.autograd.gradcheck(loss, blocks)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_known_labels_of_chains_in_one_call(margin, dtype):
    """The core's loss of complete chains against two inferences, of all outputs and of the gold."""
    close = 1e-9 if dtype == torch.float64 else 1e-5
    for seed, blocks in enumerate((["start"], ["transition"], ["start", "end", "transition"])):
        case = Case("chain", seed, dtype, forbid=0.1)
        case.scores = {name: case.scores[name] for name in ("label", *blocks)}
        batch = Batch(case.structure, case.scores, case.lengths)
        y = [torch.zeros(case.scores["label"].shape[:2], dtype=torch.int64)]
        raised = batch.scores[0] + margin * batch.kind.costs(y, None, batch.scores, case.lengths)[0]
        value, parts = batch.kind.core_loss(raised, batch.scores, case.lengths, y[0], 0.7)
        wanted, expected = compute._less_gold(
            batch.kind, raised, batch.scores, case.lengths, y, 0.7
        )
        np.testing.assert_allclose(value.numpy(), wanted.numpy(), rtol=close, atol=close)
        for p, q in zip(parts, expected, strict=True):
            np.testing.assert_allclose(p.numpy(), q.numpy(), atol=close)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_that_are_not_numbers_are_named(kind):
    case = Case(kind, 0)
    y = case.outputs()
    main = case.structure.label_block
    case.scores[main] = torch.full_like(case.scores[main], float("nan"))
    with pytest.raises(ValueError, match=f"{main} contains NaN"):
        structured_loss(case.structure, case.scores, y, lengths=case.lengths)


@pytest.mark.parametrize(
    ("margin", "cost"),
    [(0.0, "hamming"), (0.7, "hamming"), (0.7, "hamming-mean"), (0.7, "zero-one")],
)
@pytest.mark.parametrize("kind", KINDS)
def test_gold_outputs_beyond_the_lengths_are_not_read(kind, margin, cost):
    """Heads padded with 0 had the cost of words that are not there."""
    for seed in range(4):
        case = Case(kind, seed)
        batch = Batch(case.structure, case.scores, case.lengths)
        y = batch.kind.pack(case.outputs(), batch.scores, case.lengths)
        padded = [torch.where(t == -100, 0, t) for t in y]
        options = {"lengths": case.lengths, "margin": margin, "cost": cost}
        torch.testing.assert_close(
            structured_loss(case.structure, case.scores, tuple(padded), **options),
            structured_loss(case.structure, case.scores, tuple(y), **options),
        )


def test_second_derivatives_are_refused():
    label = torch.randn(1, 3, 2, requires_grad=True)
    loss = structured_loss(Chain(), {"label": label}, torch.tensor([[0, 1, 0]]))
    (grad,) = torch.autograd.grad(loss.sum(), label, create_graph=True)
    with pytest.raises(RuntimeError, match="first derivatives only"):
        grad.sum().backward()


def test_unknown_labels_of_chains():
    for seed in range(6):
        case = Case("chain", seed, size=5)
        label = case.scores["label"]
        K = label.shape[2]
        y = torch.randint(-1, K, label.shape[:2])
        y[y < 0] = -100
        for margin, temperature in ((0.0, 1.0), (1.0, 0.5), (1.0, 0.0)):
            found = structured_loss(
                case.structure,
                case.scores,
                y,
                lengths=case.lengths,
                margin=margin,
                temperature=temperature,
            )
            loss = StructuredLoss(margin=margin, temperature=temperature)
            for b, one in enumerate(case.examples()):
                gold = [None if k < 0 else k for k in y[b, : len(one["label"])].tolist()]
                assert found[b].item() == pytest.approx(loss(Chain(), gold, **one)[0], abs=1e-9)


def sums_over(structure, one, fits, temperature):
    """ε log Σ exp(score/ε) over the outputs that fit, by enumeration."""
    scores = [structure.score(y, **one) for y in structure.outputs(**one) if fits(y)]
    return temperature * np.logaddexp.reduce(np.array(scores) / temperature)


def test_unknown_heads():
    case = Case("crossing", 3, size=4)
    n = int(case.lengths[0])
    heads = torch.full((len(case.lengths), case.scores["arc"].shape[1] - 1), -100)
    gold = case.outputs()
    heads[0, n - 1] = int(gold[0][n - 1])
    found = structured_loss(case.structure, case.scores, heads, lengths=case.lengths)
    one = next(iter(case.examples()))
    everything = sums_over(case.structure, one, lambda y: True, 1.0)
    within = sums_over(case.structure, one, lambda y: y[n - 1] == gold[0][n - 1], 1.0)
    assert found[0].item() == pytest.approx(everything - within)
    assert found[1:].abs().max().item() < 1e-12 if len(found) > 1 else True


def test_unknown_starts_of_segments():
    structure = SemiMarkov(3)
    segment = torch.randn(1, 4, 3, 2, dtype=torch.float64)
    one = {"segment": segment[0].numpy()}
    # A segment of label 1 starts at 0; position 2 is inside of a segment; the rest is open.
    y = torch.tensor([[1, -100, -1, -100]])
    found = structured_loss(structure, {"segment": segment}, y)

    def fits(segments):
        starts = {a: k for a, _, k in segments}
        return starts.get(0) == 1 and 2 not in starts

    wanted = sums_over(structure, one, lambda y: True, 1.0) - sums_over(structure, one, fits, 1.0)
    assert found.item() == pytest.approx(wanted)


def test_unknown_spans():
    case = Case("constituents", 0, size=4)
    n = int(case.lengths[0])
    chart = torch.full(case.scores["span"].shape[:3], -100)
    chart[0, 0, n] = 0  # the whole has no label
    found = structured_loss(case.structure, case.scores, chart, lengths=case.lengths)
    one = next(iter(case.examples()))

    def fits(spans):
        return all((i, j) != (0, n) for i, j, _ in spans)

    everything = sums_over(case.structure, one, lambda y: True, 1.0)
    within = sums_over(case.structure, one, fits, 1.0)
    assert found[0].item() == pytest.approx(everything - within)


class FirstLabel(Cost):
    """Only the first position counts."""

    def parts(self, structure, y, **scores):
        c = np.zeros(scores["label"].shape)
        c[0] = 2.0
        c[0, y[0]] = 0.0
        return {"label": c}, 0.25


@pytest.mark.parametrize("temperature", [0.0, 0.5])
@pytest.mark.parametrize("cost", ["hamming-mean", "zero-one", "table", "own"])
def test_costs_of_chains(cost, temperature):
    case = Case("chain", 9)
    K = case.scores["label"].shape[2]
    if cost == "table":
        cost = np.abs(np.random.default_rng(0).normal(size=(K, K)))
        np.fill_diagonal(cost, 0.0)
    elif cost == "own":
        cost = FirstLabel()
    gold = case.outputs()
    options = {"margin": 0.7, "temperature": temperature}
    found = structured_loss(
        case.structure, case.scores, gold, lengths=case.lengths, cost=cost, **options
    )
    loss = StructuredLoss(cost, **options)
    for b, one in enumerate(case.examples()):
        assert found[b].item() == pytest.approx(loss(Chain(), gold[b], **one)[0], abs=1e-9)
    if isinstance(cost, np.ndarray):
        again = structured_loss(
            case.structure,
            case.scores,
            gold,
            lengths=case.lengths,
            cost=torch.tensor(cost),
            **options,
        )
        torch.testing.assert_close(again, found)


@pytest.mark.parametrize("kind", ["labelled", "constituents", "segments"])
def test_tables_of_other_structures(kind):
    case = Case(kind, 4)
    K = case.scores[case.structure.label_block].shape[-1]
    table = np.abs(np.random.default_rng(1).normal(size=(K, K)))
    np.fill_diagonal(table, 0.0)
    gold = case.outputs()
    options = {"margin": 0.7, "temperature": 0.5}
    found = structured_loss(
        case.structure,
        case.scores,
        gold,
        lengths=case.lengths,
        cost=torch.tensor(table),
        **options,
    )
    loss = StructuredLoss(table, **options)
    for b, one in enumerate(case.examples()):
        assert found[b].item() == pytest.approx(loss(case.structure, gold[b], **one)[0], abs=1e-9)


def test_costs_as_tensors():
    case = Case("chain", 9)
    y = torch.zeros(case.scores["label"].shape[:2], dtype=torch.int64)
    cost = (torch.arange(case.scores["label"].shape[2]) != 0).double()
    cost = cost.expand(case.scores["label"].shape)
    options = {"lengths": case.lengths, "margin": 1.0}
    found = structured_loss(case.structure, case.scores, y, cost={"label": cost}, **options)
    torch.testing.assert_close(found, structured_loss(case.structure, case.scores, y, **options))


def test_lists_of_any_structure():
    rng = np.random.default_rng(0)
    parents = [np.array([-1, 0, 0]), np.array([-1, 0])]
    scores = {
        "label": [torch.tensor(rng.normal(size=(len(p), 2)), requires_grad=True) for p in parents],
        "edge": torch.tensor(rng.normal(size=(2, 2)), requires_grad=True),
        "parents": parents,
    }
    gold = [np.array([0, 1, 1]), np.array([1, 0])]
    structure = Tree()
    found = structured_loss(structure, scores, gold)
    found.sum().backward()
    loss = StructuredLoss(temperature=1.0)
    total = 0.0
    for b in range(2):
        one = {
            "label": scores["label"][b].detach().numpy(),
            "edge": scores["edge"].detach().numpy(),
            "parents": parents[b],
        }
        wanted, p = loss(structure, gold[b], **one)
        assert found[b].item() == pytest.approx(wanted)
        np.testing.assert_allclose(scores["label"][b].grad.numpy(), p["label"])
        total = total + p["edge"]
    np.testing.assert_allclose(scores["edge"].grad.numpy(), total)


def test_multiclass_is_cross_entropy():
    scores = torch.randn(5, 4, dtype=torch.float64)
    y = torch.tensor([0, 3, 1, 1, 2])
    found = structured_loss(Multiclass(), {"label": scores}, y.tolist())
    wanted = torch.nn.functional.cross_entropy(scores, y, reduction="none")
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (torch.zeros(2, 3, dtype=torch.int64), "y has shape"),
        (torch.zeros(2, 4), "whole numbers"),
        (torch.full((2, 4), 3), "labels beyond 0..2"),
        (torch.full((2, 4), -1), "labels beyond 0..2; unknown ones are -100"),
        (torch.full((2, 4), -5), "labels beyond 0..2; unknown ones are -100"),
        ([[0, 0, 0, 0, 0], [0]], "5 labels"),
        ([[0, 0, 0, 0], [0]], "example 1: y has 1 labels, expected 4"),
        ([[0, 0, 0, 0]], "y has 1 outputs, the batch 2 examples"),
        ([[0, 0, 0, 0.5], [0] * 4], "example 0: y must hold whole numbers"),
        (np.zeros((2, 4)), "y must be a tensor or a list of outputs, got ndarray"),
        (torch.zeros(2, 4, dtype=torch.int64, device="meta"), "y is on meta"),
    ],
)
def test_bad_gold_outputs_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        structured_loss(Chain(), {"label": torch.zeros(2, 4, 3)}, y)


SEGMENTS = (SemiMarkov(2), {"segment": torch.zeros(1, 4, 2, 2)})
ARCS = (Arborescence(), {"arc": torch.zeros(1, 5, 5)})
NAMED = (Arborescence(labelled=True), {"arc": torch.zeros(1, 5, 5, 2)})
FLAT = (Arborescence(projective=True), {"arc": torch.zeros(1, 5, 5)})
SPANS = (Constituency(), {"span": torch.zeros(1, 2, 3, 2)})
ANY = torch.tensor([[2, 0, 2, 3]])


@pytest.mark.parametrize(
    ("case", "y", "message"),
    [
        (SEGMENTS, torch.tensor([[0, -5, 0, 0]]), "labels beyond 0..1"),
        (SEGMENTS, [[(0, 1, 0), (3, 4, 1)]], "expected one that starts at 1"),
        (SEGMENTS, [[(0, 2, 0), (1, 3, 1), (3, 4, 0)]], "expected one that starts at 2"),
        (SEGMENTS, [[(0, 2, 0)]], "segments up to 2 of 4 positions"),
        (SEGMENTS, [[(0, 2, -5), (2, 4, 0)]], "the label -5"),
        (SEGMENTS, torch.tensor([[0, -1, -1, 0]]), "a segment longer than max_length, 2"),
        (ARCS, torch.tensor([[-1, 0, 2, 3]]), "heads beyond the words"),
        (ARCS, [[0]], "example 0: y has 1 words, expected 4"),
        (ARCS, torch.tensor([[1, 0, 2, 3]]), "a cycle through word 1"),
        (ARCS, torch.tensor([[2, 1, 0, 3]]), "a cycle through word 1"),
        (ARCS, torch.tensor([[0, 0, 1, 1]]), "words 1 and 2 both have the root"),
        (FLAT, torch.tensor([[3, 4, 0, 3]]), "its arcs cross: one is between 1 and 3"),
        (NAMED, (ANY, torch.tensor([[0, -1, 0, 0]])), "labels beyond 0..1"),
        (SPANS, torch.tensor([[[-100, 0, 1], [-100, -100, -5]]]), "labels beyond 0..1"),
        (SPANS, torch.tensor([[[-100, -1, 1], [-100, -100, 0]]]), "not those of one binary tree"),
        (SPANS, [[(0, 2, -1)]], "a label below 0"),
    ],
)  # fmt: skip
def test_bad_gold_outputs_of_other_structures_are_named(case, y, message):
    structure, scores = case
    with pytest.raises(ValueError, match=message):
        structured_loss(structure, scores, y)


def test_gold_outputs_as_arrays_and_as_tensors_of_each_example():
    label = torch.randn(2, 4, 3)
    y = torch.randint(0, 3, (2, 4))
    wanted = structured_loss(Chain(), {"label": label}, y)
    for given in (y.numpy(), list(y), list(y.numpy()), y.tolist()):
        torch.testing.assert_close(structured_loss(Chain(), {"label": label}, given), wanted)


def test_costs_as_tensors_follow_a_mask_with_holes():
    mask = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 0, 1, 1]], dtype=torch.bool)
    label, c = torch.randn(2, 5, 3), torch.rand(2, 5, 3)
    y = torch.randint(0, 3, (2, 5))
    found = structured_loss(Chain(), {"label": label}, y, mask=mask, margin=1, cost={"label": c})
    for b, m in enumerate(mask):
        wanted = structured_loss(
            Chain(), {"label": label[None, b, m]}, y[None, b, m], margin=1.0,
            cost={"label": c[None, b, m]},
        )  # fmt: skip
        assert found[b].item() == pytest.approx(wanted.item(), rel=1e-6)


@pytest.mark.parametrize("temperature", [0.0, 0.7])
@pytest.mark.parametrize("kind", KINDS)
def test_mean_costs_are_the_librarys(kind, temperature):
    for seed in range(5):
        case = Case(kind, seed, size=4)
        gold = case.outputs()
        options = {"margin": 0.8, "temperature": temperature}
        found = structured_loss(
            case.structure, case.scores, gold, lengths=case.lengths, cost="hamming-mean", **options
        )
        loss = StructuredLoss("hamming-mean", **options)
        for b, one in enumerate(case.examples()):
            wanted = loss(case.structure, gold[b], **one)[0]
            assert found[b].item() == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(
    ("cost", "margin", "message"),
    [
        ("foo", 0.0, "cost must be one of"),
        ("foo", 1.0, "cost must be one of"),
        (torch.full((3, 3), -3.0), 1.0, "finite and >= 0"),
        (torch.zeros(2, 2), 1.0, "cost has shape"),
        ({"label": torch.zeros(1, 2, 3), "start": torch.zeros(3)}, 1.0, "parts of 'start'"),
    ],
)
def test_bad_costs_are_named(cost, margin, message):
    y = torch.zeros(1, 2, dtype=torch.int64)
    with pytest.raises(ValueError, match=message):
        structured_loss(Chain(), {"label": torch.zeros(1, 2, 3)}, y, margin=margin, cost=cost)


def test_forbidden_gold_output():
    label = torch.zeros(2, 3, 2)
    label[1, 2, 0] = float("-inf")
    with pytest.raises(ValueError, match=r"example 1.*forbidden"):
        structured_loss(Chain(), {"label": label}, torch.zeros(2, 3, dtype=torch.int64))


@pytest.mark.parametrize("margin", [-1.0, float("nan")])
def test_bad_margins(margin):
    with pytest.raises(ValueError, match="margin"):
        structured_loss(
            Chain(), {"label": torch.zeros(1, 2, 2)}, torch.zeros(1, 2).long(), margin=margin
        )
