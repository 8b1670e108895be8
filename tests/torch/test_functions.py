"""Values, gradients and outputs against the structures themselves."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from structlearn.exceptions import InfeasibleError  # noqa: E402
from structlearn.structures import (  # noqa: E402
    Arborescence,
    Chain,
    Constituency,
    Multiclass,
    SemiMarkov,
)
from structlearn.torch import (  # noqa: E402
    argmax,
    entropy,
    infer,
    kbest,
    log_partition,
    marginals,
    sample,
)

from .cases import KINDS, Case  # noqa: E402


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("temperature", [0.0, 0.05, 1.0, 10.0])
@pytest.mark.parametrize("kind", KINDS)
def test_infer(kind, temperature, dtype):
    close = 1e-9 if dtype == torch.float64 else 1e-5
    for seed in range(8):
        case = Case(kind, seed, dtype, forbid=0.2 * (seed % 2))
        value, parts = infer(
            case.structure, case.scores, lengths=case.lengths, temperature=temperature
        )
        assert value.dtype == dtype
        for b, one in enumerate(case.examples()):
            wanted, p = case.structure.infer(temperature=temperature, **one)
            assert value[b].item() == pytest.approx(wanted, rel=close, abs=close)
            for name in one:
                np.testing.assert_allclose(
                    parts[name][b].numpy(), case.padded(name, p[name], b), atol=close
                )


@pytest.mark.parametrize("kind", KINDS)
def test_gradients(kind):
    case = Case(kind, 3, size=5)
    blocks = {name: block.requires_grad_() for name, block in case.scores.items()}

    def value(*tensors):
        scores = dict(zip(blocks, tensors, strict=True))
        return log_partition(case.structure, scores, lengths=case.lengths, temperature=0.7)

    def parts(*tensors):
        scores = dict(zip(blocks, tensors, strict=True))
        _, p = infer(case.structure, scores, lengths=case.lengths, temperature=0.7)
        return tuple(p.values())

    assert torch.autograd.gradcheck(value, tuple(blocks.values()))
    assert torch.autograd.gradcheck(parts, tuple(blocks.values()))


def test_second_derivatives_of_values():
    case = Case("chain", 5)
    blocks = [block.requires_grad_() for block in case.scores.values()]

    def value(*tensors):
        scores = dict(zip(case.scores, tensors, strict=True))
        return log_partition(case.structure, scores, lengths=case.lengths, temperature=0.7)

    assert torch.autograd.gradgradcheck(value, tuple(blocks))
    first = torch.autograd.grad(value(*blocks).sum(), blocks[0], create_graph=True)[0]
    second = torch.autograd.grad((first**2).sum(), blocks[0], create_graph=True)[0]
    with pytest.raises(RuntimeError, match="no third"):
        torch.autograd.grad((second**2).sum(), blocks[0])


@pytest.mark.parametrize("kind", KINDS)
def test_argmax_is_the_structures_own(kind):
    for seed in range(6):
        case = Case(kind, seed, scale=2.0)
        found = argmax(case.structure, case.scores, lengths=case.lengths)
        value = infer(case.structure, case.scores, lengths=case.lengths, temperature=0.0)[0]
        for b, one in enumerate(case.examples()):
            solution = case.structure.solve(**one)
            n = int(case.lengths[b])
            assert value[b].item() == pytest.approx(solution.value)
            if kind in ("segments", "accepted segments"):
                starts = {a: k for a, _, k in solution.output}
                wanted = [starts.get(t, -1) for t in range(n)]
                assert found[b, :n].tolist() == wanted
            elif kind == "labelled":
                assert found[0][b, :n].tolist() == solution.output[0].tolist()
                assert found[1][b, :n].tolist() == solution.output[1].tolist()
            elif kind == "constituents":
                spans = [
                    (i, j, int(found[b, i, j]))
                    for i in range(n)
                    for j in range(n, i, -1)
                    if found[b, i, j] > 0
                ]
                assert spans == solution.output
            else:
                assert found[b, :n].tolist() == solution.output.tolist()
                assert (found[b, n:] == -100).all()


@pytest.mark.parametrize("kind", KINDS)
def test_entropy(kind):
    case = Case(kind, 4)
    found = entropy(case.structure, case.scores, lengths=case.lengths, temperature=0.5)
    for b, one in enumerate(case.examples()):
        wanted = case.structure.entropy(temperature=0.5, **one)
        assert found[b].item() == pytest.approx(wanted, abs=1e-9)
    main = case.scores[case.structure.label_block].requires_grad_()

    def of(scores):
        blocks = {**case.scores, case.structure.label_block: scores}
        return entropy(case.structure, blocks, lengths=case.lengths, temperature=0.5)

    assert torch.autograd.gradcheck(of, (main,))


def test_entropy_with_forbidden_parts_has_a_gradient():
    case = Case("chain", 1, forbid=0.3)
    label = case.scores["label"].requires_grad_()
    entropy(case.structure, case.scores, lengths=case.lengths).sum().backward()
    assert torch.isfinite(label.grad).all()


@pytest.mark.parametrize("kind", KINDS)
def test_kbest(kind):
    case = Case(kind, 2, size=5)
    values, _ = kbest(case.structure, 3, case.scores, lengths=case.lengths)
    for b, one in enumerate(case.examples()):
        wanted = [score for score, _ in case.structure.kbest(3, **one)]
        wanted += [-np.inf] * (3 - len(wanted))
        np.testing.assert_allclose(values[b].numpy(), wanted)


def test_kbest_outputs_of_chains():
    case = Case("chain", 2)
    _, y = kbest(case.structure, 2, case.scores, lengths=case.lengths)
    assert y.shape == (len(case.lengths), 2, case.scores["label"].shape[1])
    for b, one in enumerate(case.examples()):
        for i, (_, wanted) in enumerate(case.structure.kbest(2, **one)):
            assert y[b, i, : len(wanted)].tolist() == wanted.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_samples_have_the_frequencies_of_the_marginals(kind):
    n = 4000
    case = Case(kind, 3, size=4)
    options = {"lengths": case.lengths, "temperature": 0.8}

    def draw():
        seed = torch.Generator().manual_seed(1)
        return sample(case.structure, n, case.scores, generator=seed, **options)

    drawn = draw()
    torch.testing.assert_close(draw(), drawn, rtol=0, atol=0)
    rows = drawn if kind == "labelled" else (drawn,)
    main = case.structure.label_block
    parts = infer(case.structure, case.scores, **options)[1][main]
    for b, length in enumerate(case.lengths.tolist()):
        y = rows[0][b, :, :length]
        if kind in ("chain", "accepted"):
            found, wanted = frequencies(y, parts.shape[2]), parts[b, :length]
        elif kind in ("segments", "accepted segments"):
            found, wanted = frequencies(y, parts.shape[3]), parts[b, :length].sum(dim=1)
        elif kind == "constituents":
            y = y[..., : length + 1]
            # The library's trees do not tell which spans have no label.
            found = frequencies(y, parts.shape[3])[..., 1:]
            wanted = parts[b, :length, : length + 1, 1:]
        elif kind == "labelled":
            pairs = y * parts.shape[3] + rows[1][b, :, :length]
            found = frequencies(pairs, (length + 1) * parts.shape[3])
            wanted = parts[b, : length + 1, 1 : length + 1].transpose(0, 1).flatten(1)
        else:
            found = frequencies(y, length + 1)
            wanted = parts[b, : length + 1, 1 : length + 1].T
        assert (found - wanted).abs().max() < 5 * 0.5 / n**0.5


def frequencies(y, n):
    """How often each of n numbers is at each place, over the first axis."""
    return (y[..., None] == torch.arange(n)).double().mean(dim=0)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_samples_of_labelled_arcs_are_trees_and_their_labels(n):
    arc = torch.randn(2, 4, 4, 3, dtype=torch.float64) * 1e3  # so that every draw is the best one
    structure = Arborescence(labelled=True)
    heads, labels = sample(structure, n, {"arc": arc})
    best, names = argmax(structure, {"arc": arc})
    assert torch.equal(heads, best[:, None].expand(-1, n, -1))
    assert torch.equal(labels, names[:, None].expand(-1, n, -1))


def test_marginals_by_position():
    case = Case("chain", 7)
    found = marginals(case.structure, case.scores, lengths=case.lengths)
    for b, one in enumerate(case.examples()):
        wanted = case.structure.marginals(**one)
        n = int(case.lengths[b])
        np.testing.assert_allclose(
            found["transition"][b, : n - 1].numpy(), wanted["transition"], atol=1e-12
        )
    alone = marginals(case.structure, case.scores, lengths=case.lengths, blocks=("label",))
    assert list(alone) == ["label"]
    torch.testing.assert_close(alone["label"], found["label"])


def test_masks_with_holes_leave_positions_out():
    label = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    transition = torch.randn(3, 3, dtype=torch.float64)
    mask = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 0, 0, 0]], dtype=torch.bool)
    scores = {"label": label, "transition": transition}
    value, parts = infer(Chain(), scores, mask=mask)
    best = argmax(Chain(), scores, mask=mask)
    for b in range(2):
        kept = label[b, mask[b]].detach().numpy()
        wanted, p = Chain().infer(label=kept, transition=transition.numpy())
        assert value[b].item() == pytest.approx(wanted)
        np.testing.assert_allclose(parts["label"][b, mask[b]].detach().numpy(), p["label"])
        assert (parts["label"][b, ~mask[b]] == 0).all()
        wanted_best = Chain().argmax(label=kept, transition=transition.numpy())
        assert best[b, mask[b]].tolist() == wanted_best.tolist()
        assert (best[b, ~mask[b]] == -100).all()
    value.sum().backward()
    assert (label.grad[~mask] == 0).all()


def test_marginals_of_transitions_with_holes_are_where_their_first_label_is():
    label = torch.randn(1, 5, 3, dtype=torch.float64)
    transition = torch.randn(3, 3, dtype=torch.float64)
    mask = torch.tensor([[False, True, False, True, True]])
    found = marginals(Chain(), {"label": label, "transition": transition}, mask=mask)
    wanted = Chain().marginals(label=label[0, mask[0]].numpy(), transition=transition.numpy())
    np.testing.assert_allclose(found["transition"][0, [1, 3]].numpy(), wanted["transition"])
    assert (found["transition"][0, [0, 2]] == 0).all()


@pytest.mark.parametrize(
    ("structure", "scores"),
    [
        (SemiMarkov(2), {"segment": torch.zeros(2, 4, 2, 3)}),
        (Arborescence(), {"arc": torch.zeros(2, 5, 5)}),
        (Constituency(), {"span": torch.zeros(2, 4, 5, 2)}),
        (Chain(), {"label": torch.zeros(2, 4, 3), "transition": torch.zeros(2, 3, 3, 3)}),
    ],
    ids=lambda x: type(x).__name__,
)
def test_masks_with_holes_are_refused_where_positions_cannot_be_left_out(structure, scores):
    mask = torch.tensor([[1, 1, 1, 0], [1, 0, 1, 1]], dtype=torch.bool)
    with pytest.raises(ValueError, match="mask has holes: row 1"):
        infer(structure, scores, mask=mask)
    mask[1] = torch.tensor([1, 1, 0, 0])
    value = log_partition(structure, scores, mask=mask)
    wanted = log_partition(structure, scores, lengths=torch.tensor([3, 2]))
    torch.testing.assert_close(value, wanted)


class OwnChain(Chain):
    pass


@pytest.mark.parametrize("option", ["lengths", "mask"])
@pytest.mark.parametrize(
    ("structure", "block"),
    [
        (OwnChain(), torch.zeros(2, 4, 3)),
        (Chain(), [torch.zeros(4, 3), torch.zeros(4, 3)]),
        (Multiclass(), torch.zeros(2, 3)),
    ],
    ids=["subclass", "list", "multiclass"],
)
def test_lengths_of_lists_are_refused(structure, block, option):
    given = torch.tensor([2, 2]) if option == "lengths" else torch.ones(2, 4, dtype=torch.bool)
    for query in (infer, argmax, marginals, log_partition):
        with pytest.raises(ValueError, match="lengths and mask are for padded tensors"):
            query(structure, {"label": block}, **{option: given})


def test_transitions_of_each_example_and_by_position():
    B, L, K = 2, 4, 3
    label = torch.randn(B, L, K, dtype=torch.float64)
    shared = torch.randn(K, K, dtype=torch.float64)
    lengths = torch.tensor([4, 2])
    wanted = log_partition(Chain(), {"label": label, "transition": shared}, lengths=lengths)
    each = shared.expand(B, K, K)
    anchored = shared.expand(B, L - 1, K, K)
    for transition in (each, anchored):
        found = log_partition(Chain(), {"label": label, "transition": transition}, lengths=lengths)
        torch.testing.assert_close(found, wanted)


def test_higher_orders():
    label = torch.randn(2, 5, 2, dtype=torch.float64)
    transition = torch.randn(2, 2, 2, dtype=torch.float64, requires_grad=True)
    value = log_partition(Chain(2), {"label": label, "transition": transition})
    for b in range(2):
        wanted = Chain(2).log_partition(
            label=label[b].numpy(), transition=transition.detach().numpy()
        )
        assert value[b].item() == pytest.approx(wanted)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
def test_half_precision_is_summed_in_full(dtype):
    label = torch.randn(2, 50, 4).to(dtype).requires_grad_()
    value = log_partition(Chain(), {"label": label})
    assert value.dtype == torch.float32
    wanted = torch.logsumexp(label.detach().double(), dim=2).sum(dim=1)
    torch.testing.assert_close(value.double(), wanted, rtol=1e-6, atol=0)
    value.sum().backward()
    assert label.grad.dtype == dtype


def test_large_scores():
    case = Case("chain", 8, scale=1e4)
    value = log_partition(case.structure, case.scores, lengths=case.lengths)
    for b, one in enumerate(case.examples()):
        assert value[b].item() == pytest.approx(case.structure.log_partition(**one), rel=1e-12)


def label(**changes):
    return {"label": torch.zeros(2, 4, 3), **changes}


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        (label(), {"lengths": torch.tensor([4, -1])}, "lengths must be within 0..4: example 1"),
        (label(), {"lengths": torch.tensor([5, 4])}, "lengths must be within 0..4: example 0"),
        (label(), {"lengths": torch.tensor([4])}, "lengths"),
        (label(), {"lengths": torch.tensor([4.0, 4.0])}, "lengths"),
        (label(), {"lengths": [4, 4]}, "lengths must be a tensor, got list"),
        (label(), {"lengths": torch.tensor([True, True])}, "lengths is torch.bool"),
        (label(), {"mask": [[True] * 4] * 2}, "mask must be a tensor, got list"),
        ({"label": torch.zeros(2, 4, 3, device="meta")}, {}, "label is on the meta device"),
        ([torch.zeros(2, 4, 3)], {}, "scores must be tensors by block"),
        (label(), {"mask": torch.ones(2, 3, dtype=torch.bool)}, "mask"),
        (label(), {"mask": torch.ones(2, 4)}, "mask"),
        (label(transition=torch.zeros(3, 2)), {}, "transition has shape"),
        (label(transition=torch.zeros(3)), {}, "transition has 1 axes"),
        (label(arc=torch.zeros(3)), {}, "has no score block 'arc'"),
        (label(start=torch.zeros(4)), {}, "start has shape"),
        ({"transition": torch.zeros(3, 3)}, {}, "needs label scores"),
        ({"label": torch.zeros(4, 3)}, {}, "label has 2 axes"),
        ({"label": torch.zeros(2, 4, 0)}, {}, "only its batch and its length may be 0"),
        ({"label": torch.zeros(2, 4, 3, dtype=torch.int64)}, {}, "floating point"),
        ({"label": torch.full((2, 4, 3), float("nan"))}, {}, "label contains NaN"),
        ({"label": np.zeros((2, 4, 3))}, {}, "label must be a tensor"),
        (label(), {"temperature": -1.0}, "temperature"),
        (label(start=torch.zeros(3, device="meta")), {}, "start is on meta, label on cpu"),
    ],
)
def test_bad_arguments_are_named(scores, options, message):
    with pytest.raises(ValueError, match=message):
        infer(Chain(), scores, **options)


def test_lengths_and_mask_together():
    with pytest.raises(ValueError, match="not both"):
        infer(
            Chain(),
            label(),
            lengths=torch.tensor([1, 1]),
            mask=torch.ones(2, 4, dtype=torch.bool),
        )


def test_nothing_legal_is_left():
    forbidden = torch.zeros(2, 3, 2)
    forbidden[1, 1] = float("-inf")
    with pytest.raises(InfeasibleError, match="example 1"):
        infer(Chain(), {"label": forbidden})


def test_segments_of_another_length():
    with pytest.raises(ValueError, match="max_length is 3"):
        infer(SemiMarkov(3), {"segment": torch.zeros(1, 4, 2, 2)})


@pytest.mark.parametrize("temperature", [1.0, 0.05])
@pytest.mark.parametrize("kind", KINDS)
def test_entropy_of_large_scores(kind, temperature):
    for seed in range(3):
        case = Case(kind, seed, scale=1e4)
        found = entropy(case.structure, case.scores, lengths=case.lengths, temperature=temperature)
        for b, one in enumerate(case.examples()):
            wanted = case.structure.entropy(temperature=temperature, **one)
            assert found[b].item() == pytest.approx(wanted, abs=1e-9)


def test_entropy_of_long_chains_with_large_scores():
    label = torch.randn(3, 200, 10, dtype=torch.float64) * 1e4
    transition = torch.randn(10, 10, dtype=torch.float64) * 1e4
    found = entropy(Chain(), {"label": label, "transition": transition}, temperature=0.05)
    assert found.abs().max() < 1e-9


@pytest.mark.parametrize("kind", ["chain", "crossing", "labelled", "constituents"])
def test_the_gradient_of_the_entropy_does_not_see_a_shift(kind):
    case = Case(kind, 3)
    main = case.structure.label_block
    block = case.scores[main].requires_grad_()

    def gradient(shift):
        scores = {**case.scores, main: block + shift}
        found = entropy(case.structure, scores, lengths=case.lengths, temperature=0.5)
        return torch.autograd.grad(found.sum(), block)[0]

    torch.testing.assert_close(gradient(1e4), gradient(0.0), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("structure", "main"), [(Chain(), "label"), (Chain(2), "label"), (SemiMarkov(1), "segment")]
)
def test_entropy_where_no_transition_is_left(structure, main):
    """One position with transitions by position: the gradient asked for the largest of nothing."""
    shape = (2, 1, 3) if main == "label" else (2, 1, 1, 3)
    order = getattr(structure, "order", 1)
    scores = {
        main: torch.randn(shape, dtype=torch.float64, requires_grad=True),
        "transition": torch.zeros(2, 0, *[3] * (order + 1), dtype=torch.float64),
    }
    found = entropy(structure, scores)
    p = torch.softmax(scores[main].flatten(1), dim=1)
    wanted = -(p * p.log()).sum(dim=1)
    torch.testing.assert_close(found, wanted)
    (got,) = torch.autograd.grad(found.sum(), scores[main], retain_graph=True)
    (right,) = torch.autograd.grad(wanted.sum(), scores[main])
    torch.testing.assert_close(got, right)
