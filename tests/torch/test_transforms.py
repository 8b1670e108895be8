"""Layers under torch.func and in forward mode, against reverse mode."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch.autograd import forward_ad  # noqa: E402

from structlearn.torch import ChainCRF, infer, structured_loss  # noqa: E402

from .cases import KINDS, Case  # noqa: E402

# PyTorch's own, where it sets forward mode up.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")


def losses_of(kind, seed=3):
    """A case, its main block, the loss as a function of this, and the gold outputs."""
    case = Case(kind, seed, size=5)
    gold = case.outputs()
    main = case.structure.label_block

    def loss(block):
        return structured_loss(
            case.structure, {**case.scores, main: block}, gold, lengths=case.lengths,
            margin=0.5, temperature=0.7,
        )  # fmt: skip

    def parts(block):
        scores = {**case.scores, main: block}
        return infer(case.structure, scores, lengths=case.lengths, temperature=0.7)[1]

    return case.scores[main], loss, parts


@pytest.mark.parametrize("kind", KINDS)
def test_transforms_of_losses(kind):
    block, loss, _ = losses_of(kind)
    block.requires_grad_()
    wanted = loss(block)
    (grad,) = torch.autograd.grad(wanted.sum(), block)
    block = block.detach()
    torch.testing.assert_close(torch.func.grad(lambda x: loss(x).sum())(block), grad)
    line = torch.randn_like(block)
    slopes = (grad * line).flatten(1).sum(dim=1)
    value, slope = torch.func.jvp(loss, (block,), (line,))
    torch.testing.assert_close(value, wanted.detach())
    torch.testing.assert_close(slope, slopes)
    with forward_ad.dual_level():
        dual = forward_ad.unpack_dual(loss(forward_ad.make_dual(block, line)))
        torch.testing.assert_close(dual.tangent, slopes)
    torch.testing.assert_close(torch.func.jacrev(loss)(block).sum(dim=0), grad)


@pytest.mark.parametrize("kind", KINDS)
def test_transforms_of_marginals(kind):
    """Forward mode against reverse mode, with the blocks that all examples share."""
    block, _, parts = losses_of(kind)
    line = torch.randn_like(block)
    found, bends = torch.func.jvp(parts, (block,), (line,))
    weights = {name: torch.randn_like(p) for name, p in found.items()}

    def weighted(x):
        return sum((weights[name] * p).sum() for name, p in parts(x).items())

    block.requires_grad_()
    (wanted,) = torch.autograd.grad(weighted(block), block)
    slope = sum((weights[name] * bends[name]).sum() for name in weights)
    torch.testing.assert_close(slope, (wanted * line).sum(), rtol=1e-7, atol=1e-8)
    found = torch.func.grad(weighted)(block.detach())
    torch.testing.assert_close(found, wanted, rtol=1e-7, atol=1e-8)


def test_forward_mode_of_parameters():
    crf = ChainCRF(3).double()
    scores = torch.randn(2, 4, 3, dtype=torch.float64)
    parameters = {name: p.detach() for name, p in crf.named_parameters()}
    lines = {name: torch.randn_like(p) for name, p in parameters.items()}
    y = torch.randint(0, 3, (2, 4))

    def loss(given):
        return torch.func.functional_call(crf, given, (scores, y)).sum()

    _, slope = torch.func.jvp(loss, (parameters,), (lines,))
    grads = torch.func.grad(loss)(parameters)
    eager = torch.autograd.grad(crf(scores, y).sum(), list(crf.parameters()))
    torch.testing.assert_close([grads[name] for name in parameters], list(eager))
    torch.testing.assert_close(slope, sum((grads[k] * lines[k]).sum() for k in lines))


def test_transforms_nest():
    block, loss, _ = losses_of("chain")
    line = torch.randn_like(block)
    slopes = torch.func.grad(lambda x: loss(x).sum())
    _, found = torch.func.jvp(slopes, (block,), (line,))
    wanted = torch.func.grad(lambda x: (slopes(x) * line).sum())(block)
    torch.testing.assert_close(found, wanted)
    step = 1e-5
    differences = (slopes(block + step * line) - slopes(block - step * line)) / (2 * step)
    torch.testing.assert_close(found, differences, rtol=1e-6, atol=1e-6)
    with pytest.raises(RuntimeError, match="no third"):
        torch.func.grad(lambda x: (torch.func.jvp(slopes, (x,), (line,))[1] ** 2).sum())(block)


@pytest.mark.parametrize("query", ["kbest", "sample"])
def test_queries_that_read_numbers_refuse_transforms(query):
    crf = ChainCRF(3)
    with pytest.raises(NotImplementedError, match=f"{query} cannot be transformed"):
        torch.func.vmap(lambda x: getattr(crf, query)(2, x))(torch.randn(2, 2, 4, 3))


def test_marginals_at_temperature_0_have_no_gradient():
    scores = torch.randn(1, 3, 2, requires_grad=True)
    crf = ChainCRF(2)
    value = crf.log_partition(scores, temperature=0.0)
    assert torch.autograd.grad(value.sum(), scores)[0].sum().item() == pytest.approx(3)
    best = crf.marginals(scores, temperature=0.0)
    with pytest.raises(RuntimeError, match="temperature above 0"):
        torch.autograd.grad(best.sum(), scores)


def test_compiled_transforms_are_refused():
    crf = ChainCRF(3)
    y = torch.zeros(2, 4, dtype=torch.int64)

    def slope(scores):
        return torch.func.jvp(lambda x: crf(x, y), (scores,), (scores,))[1]

    with pytest.raises(Exception, match="cannot be compiled"):
        torch.compile(slope, backend="aot_eager", fullgraph=True)(torch.randn(2, 4, 3))
    torch._dynamo.reset()
