"""The layers on a GPU: no waiting, same bits, graphs, compilation, and input that is wrong."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

from structlearn.structures import Chain  # noqa: E402
from structlearn.torch import (  # noqa: E402
    ChainCRF,
    ConstituencyCRF,
    DependencyCRF,
    SemiMarkovCRF,
    log_partition,
    operators,
)
from structlearn.torch.batches import Batch  # noqa: E402

B, L, K = 5, 12, 7


def layer_of(name, **loss):
    if name == "chain":
        return ChainCRF(K, **loss), (B, L, K)
    if name == "segments":
        return SemiMarkovCRF(K, 4, **loss), (B, L, 4, K)
    if name == "constituents":
        return ConstituencyCRF(**loss), (B, L, L + 1, K)
    labelled = name == "labelled"
    layer = DependencyCRF(projective=name != "crossing", labelled=labelled, **loss)
    return layer, (B, L + 1, L + 1, K) if labelled else (B, L + 1, L + 1)


NAMES = ["chain", "segments", "projective", "crossing", "labelled", "constituents"]


@pytest.fixture(params=NAMES)
def case(request):
    """A layer, scores, lengths and gold outputs, all on the GPU and computed once before."""
    torch.manual_seed(0)
    layer, shape = layer_of(request.param)
    layer = layer.cuda()
    scores = torch.randn(shape, device="cuda", requires_grad=True)
    lengths = torch.tensor([12, 1, 7, 3, 11], device="cuda")
    decoder = layer_of("projective")[0].cuda() if request.param == "crossing" else layer
    y = decoder.argmax(torch.randn(shape, device="cuda"), lengths=lengths)
    step(layer, scores, y, lengths)
    return layer, scores, y, lengths


def step(layer, scores, y, lengths):
    """One loss and its gradients: of the scores and of the layer's own."""
    loss = layer(scores, y, lengths=lengths)
    wanted = [scores, *layer.parameters()]
    return [loss.detach(), *torch.autograd.grad(loss.sum(), wanted)]


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
def test_it_never_waits_for_the_gpu(case):
    layer, scores, y, lengths = case
    mask = torch.arange(L, device="cuda") < lengths[:, None]
    try:
        torch.cuda.set_sync_debug_mode("error")
        step(layer, scores, y, lengths)
        layer(scores, y, mask=mask)
        layer.marginals(scores, lengths=lengths)
        if layer.structure.label_block != "arc" or layer.structure.projective:
            layer.argmax(scores, lengths=lengths)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_same_bits_twice(case):
    first, second = step(*case), step(*case)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_cuda_graph(case):
    wanted = step(*case)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        step(*case)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = step(*case)
    scores = case[1]
    kept = scores.detach().clone()
    with torch.no_grad():
        scores.copy_(torch.randn_like(scores))
    graph.replay()
    assert not torch.equal(found[0], wanted[0])
    with torch.no_grad():
        scores.copy_(kept)
    graph.replay()
    assert all(torch.equal(a, b) for a, b in zip(found, wanted, strict=True))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_compiled_without_breaks(case):
    layer, scores, y, lengths = case
    compiled = torch.compile(layer, fullgraph=True)
    loss = compiled(scores, y, lengths=lengths)
    found = torch.autograd.grad(loss.sum(), [scores, *layer.parameters()])
    wanted = step(*case)
    torch.testing.assert_close([loss.detach(), *found], wanted)


@pytest.mark.parametrize("unknown", [0.0, 0.3], ids=["known", "partial"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
def test_losses_are_differences_of_two_inferences(case, dtype, unknown):
    """The kernels of losses against those of sums: over all outputs, and over what y allows."""
    layer, scores, y, lengths = case
    layer = layer.to(dtype)
    gold = [t.clone() for t in (y if isinstance(y, tuple) else (y,))]
    for t in gold:
        t[torch.rand(t.shape, device="cuda") < unknown] = -100
    wanted = [scores.detach().to(dtype).requires_grad_(), *layer.parameters()]
    weights = torch.randn(B, device="cuda", dtype=dtype)
    loss = layer(wanted[0], tuple(gold), lengths=lengths)
    found = torch.autograd.grad(loss @ weights, wanted)

    blocks = layer.blocks(wanted[0].double())
    batch = Batch(layer.structure, {k: v.double() for k, v in blocks.items()}, lengths)
    within = [batch.kind.clamped(batch.scores, lengths, gold), *batch.scores[1:]]
    value = torch.zeros(B, device="cuda", dtype=torch.float64)
    for sign, given in ((1.0, batch.scores), (-1.0, within)):
        value = value + sign * operators.infer(given, lengths, batch.kind.name, 1.0)[0]
    close = 1e-8 if dtype == torch.float64 else 1e-4
    torch.testing.assert_close(loss.double(), value, rtol=close, atol=close)
    expected = torch.autograd.grad(value @ weights.double(), wanted)
    torch.testing.assert_close(found, expected, rtol=close, atol=close)


def test_half_precision_and_autocast(case):
    layer, scores, y, lengths = case
    for dtype in (torch.float16, torch.bfloat16):
        narrow = scores.detach().to(dtype)
        loss = layer(narrow, y, lengths=lengths)
        assert loss.dtype == torch.float32
        torch.testing.assert_close(loss, layer(narrow.float(), y, lengths=lengths))
    with torch.autocast("cuda", torch.bfloat16):
        loss = layer(scores, y, lengths=lengths)
    assert loss.dtype == torch.float32


def test_rows_without_positions(case):
    layer, scores, y, lengths = case
    some = [0, 1, 3, 4]
    shorter = lengths.clone()
    shorter[2] = 0
    loss, grad, *_ = step(layer, scores, y, shorter)
    gold = tuple(t[some] for t in y) if isinstance(y, tuple) else y[some]
    rows = scores.detach()[some].requires_grad_()
    wanted, slope, *_ = step(layer, rows, gold, lengths[some])
    torch.testing.assert_close(loss[some], wanted)
    torch.testing.assert_close(grad[some], slope)
    assert loss[2] == 0
    assert (grad[2] == 0).all()
    none = scores.detach()[:0].requires_grad_()
    gold = tuple(t[:0] for t in y) if isinstance(y, tuple) else y[:0]
    assert step(layer, none, gold, lengths[:0])[0].shape == (0,)


def test_wrong_input_leaves_the_gpu_as_it_was(case):
    layer, scores, y, lengths = case
    wanted = step(*case)
    for bad in (-3, L + 9, 2**40):
        wrong = lengths.clone()
        wrong[2] = bad
        loss = layer(scores, y, lengths=wrong)
        assert not torch.isfinite(loss[2])
        assert torch.isfinite(loss[[0, 1, 3, 4]]).all()
    for bad in (1000, 2**40):
        wrong = [t.clone() for t in (y if isinstance(y, tuple) else (y,))]
        for t in wrong:
            t[0].fill_(bad)
        step(layer, scores, tuple(wrong) if isinstance(y, tuple) else wrong[0], lengths)
    nothing = torch.full_like(scores, float("nan"), requires_grad=True)
    step(layer, nothing, y, lengths)
    layer.marginals(nothing, lengths=lengths)
    if layer.structure.label_block != "arc" or layer.structure.projective:
        layer.argmax(nothing, lengths=lengths)
    torch.cuda.synchronize()
    assert all(torch.equal(a, b) for a, b in zip(step(*case), wanted, strict=True))


@pytest.mark.parametrize("name", ["chain", "projective"])
def test_hinge(name):
    layer, shape = layer_of(name, margin=1.0, temperature=0.0)
    layer = layer.cuda()
    scores = torch.randn(shape, device="cuda", requires_grad=True)
    lengths = torch.tensor([12, 1, 7, 3, 11], device="cuda")
    y = layer.argmax(scores.detach(), lengths=lengths)
    loss = layer(scores, y, lengths=lengths)
    assert (loss >= -1e-4).all()
    loss.sum().backward()
    assert torch.isfinite(scores.grad).all()


def test_tensors_on_two_devices():
    crf = ChainCRF(K).cuda()
    with pytest.raises(ValueError, match="lengths is on cpu"):
        crf.argmax(torch.randn(B, L, K, device="cuda"), lengths=torch.full((B,), L))


def test_enormous_transitions_are_summed():
    # A product and a difference that are rounded together made the exponential of 0 infinite.
    size = 999999995904.0
    scores = {
        "label": size * torch.tensor([[[0.0, 1.0], [0.0, -1.0]]], device="cuda"),
        "transition": size * torch.tensor([[1.0, -2.0], [0.0, 1.0]], device="cuda"),
    }
    value = log_partition(Chain(), scores, temperature=5.0)
    torch.testing.assert_close(value.cpu(), torch.tensor([size]), rtol=1e-6, atol=0)
