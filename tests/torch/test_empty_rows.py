"""Batches without examples, examples without positions: one output each, of score 0."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from structlearn.structures import (  # noqa: E402
    Arborescence,
    Chain,
    Constituency,
    Multiclass,
    SemiMarkov,
)
from structlearn.torch import (  # noqa: E402
    ChainCRF,
    ConstituencyCRF,
    DependencyCRF,
    SemiMarkovCRF,
    StructuredLayer,
    argmax,
    entropy,
    infer,
    kbest,
    marginals,
    sample,
    structured_loss,
)
from structlearn.torch.batches import Batch  # noqa: E402
from structlearn.torch.operators import compute, entropies, gradients  # noqa: E402

from .cases import KINDS, Case  # noqa: E402

# NumPy, by which kernels compute here, warns of logarithms of 0; not everything has a kernel.
pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:.*has no kernel:UserWarning"),
]

SHARED = ("transition", "start", "end")
WAYS = ["core", "kernels"]


@pytest.fixture
def way(request, monkeypatch):
    """Who computes: the core, or the kernels in Triton's interpreter."""
    if request.param == "kernels":
        pytest.importorskip("triton", reason="triton is not installed")
        for module in (compute, entropies, gradients):
            monkeypatch.setattr(module, "on_gpu", lambda x: True)
    return request.param


class Mixed:
    """A case, and the same with empty rows of arbitrary scores before, between and after."""

    def __init__(self, kind, seed=3, dtype=torch.float64, *, forbid=0.0):
        case = Case(kind, seed, dtype, forbid=forbid, size=4)
        self.structure, self.main = case.structure, case.structure.label_block
        self.plain, self.plain_lengths = case.scores, case.lengths
        outputs = case.outputs(seed)
        batch = Batch(case.structure, case.scores, case.lengths)
        self.plain_y = tuple(batch.kind.pack(outputs, batch.scores, case.lengths))
        self.outputs = []
        for y in outputs:
            self.outputs += [([], []) if kind == "labelled" else [], y]
        self.outputs.append(self.outputs[0])
        size = 2 * len(outputs) + 1
        self.rows = torch.arange(1, size, 2)
        self.empty = torch.arange(0, size, 2)
        self.lengths = torch.zeros(size, dtype=torch.int64).index_copy(0, self.rows, case.lengths)
        self.scores = {
            name: block if name in SHARED else self._spread(block, torch.randn)
            for name, block in case.scores.items()
        }
        self.y = tuple(self._spread(t, torch.zeros) for t in self.plain_y)

    def _spread(self, block, fill):
        full = fill(len(self.lengths), *block.shape[1:]).to(block.dtype)
        return full.index_copy(0, self.rows, block)

    def both(self, query, **options):
        """Answers and gradients of their weighted sum: of the mixed batch, and of the plain one."""
        answers = []
        weights = None
        for scores, lengths in (
            (self.scores, self.lengths), (self.plain, self.plain_lengths),
        ):  # fmt: skip
            leaves = {name: block.clone().requires_grad_() for name, block in scores.items()}
            found = query(self.structure, leaves, lengths=lengths, **options)
            if weights is None:
                weights = torch.randn_like(found)
            else:
                weights = weights[self.rows]
            grads = torch.autograd.grad((found * weights).sum(), leaves.values())
            answers.append((found.detach(), dict(zip(leaves, grads, strict=True))))
        return answers

    def check(self, query, **options):
        (found, grads), (wanted, expected) = self.both(query, **options)
        torch.testing.assert_close(found[self.rows], wanted)
        assert (found[self.empty] == 0).all()
        for name, grad in grads.items():
            assert torch.isfinite(grad).all()
            if name in SHARED:
                torch.testing.assert_close(grad, expected[name])
            else:
                torch.testing.assert_close(grad[self.rows], expected[name])
                assert (grad[self.empty] == 0).all()


def value_of(*args, **options):
    return infer(*args, **options)[0]


#: By whom and in which type; the interpreter is slow, and knows bfloat16 in part.
BY_TYPE = pytest.mark.parametrize(
    ("way", "dtype"),
    [
        ("core", torch.float64),
        ("core", torch.float32),
        ("core", torch.bfloat16),
        ("kernels", torch.float32),
    ],
    indirect=["way"],
    ids=lambda x: str(x).removeprefix("torch."),
)


@BY_TYPE
@pytest.mark.parametrize("kind", KINDS)
def test_sums(kind, dtype, way):
    mixed = Mixed(kind, dtype=dtype, forbid=0.2)
    for temperature in (1.0, 0.0):
        if temperature or kind not in ("crossing", "labelled") or way == "core":
            mixed.check(value_of, temperature=temperature)


@pytest.mark.parametrize("kind", KINDS)
def test_marginals(kind):
    mixed = Mixed(kind)
    name = mixed.main

    def parts(*args, **options):
        return infer(*args, **options)[1][name]

    mixed.check(parts, temperature=0.7)


@pytest.mark.parametrize("kind", KINDS)
def test_entropies(kind):
    Mixed(kind).check(entropy, temperature=0.7)


@pytest.mark.parametrize("way", ["kernels"], indirect=True)
@pytest.mark.parametrize("kind", ["crossing", "labelled", "constituents"])
def test_entropies_by_kernels(kind, way):
    mixed = Mixed(kind)
    found = entropy(mixed.structure, mixed.scores, lengths=mixed.lengths)
    wanted = entropy(mixed.structure, mixed.plain, lengths=mixed.plain_lengths)
    torch.testing.assert_close(found[mixed.rows], wanted)
    assert (found[mixed.empty] == 0).all()


@BY_TYPE
@pytest.mark.parametrize("kind", KINDS)
def test_losses(kind, dtype, way):
    losses = ((1.0, 0.5),) if way == "kernels" else ((0.0, 1.0), (1.0, 0.5), (1.0, 0.0))
    for seed, (margin, temperature) in enumerate(losses):
        mixed = Mixed(kind, seed, dtype)

        def loss(*args, mixed=mixed, **options):
            y = mixed.y if len(options["lengths"]) == len(mixed.lengths) else mixed.plain_y
            return structured_loss(args[0], args[1], y, **options)

        mixed.check(loss, margin=margin, temperature=temperature)


@pytest.mark.parametrize("cost", ["hamming-mean", "zero-one", "table", "blocks"])
@pytest.mark.parametrize("kind", KINDS)
def test_losses_with_other_costs(kind, cost):
    mixed = Mixed(kind)
    main = mixed.scores[mixed.main]
    K = main.shape[-1]
    if cost == "table":
        if kind in ("projective", "crossing"):
            pytest.skip("these arcs have no labels")
        cost = (1.0 - torch.eye(K)) * 0.7
    parts = torch.rand(main.shape)

    def loss(structure, scores, lengths, **options):
        whole = len(lengths) == len(mixed.lengths)
        y = mixed.outputs if whole else mixed.outputs[1::2]
        given = cost
        if isinstance(cost, str) and cost == "blocks":
            given = {mixed.main: parts if whole else parts[mixed.rows]}
        return structured_loss(structure, scores, y, lengths=lengths, cost=given, **options)

    mixed.check(loss, margin=0.6, temperature=0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_gold_outputs_as_lists(kind):
    mixed = Mixed(kind)
    found = structured_loss(mixed.structure, mixed.scores, mixed.outputs, lengths=mixed.lengths)
    wanted = structured_loss(mixed.structure, mixed.plain, mixed.plain_y,
                             lengths=mixed.plain_lengths)  # fmt: skip
    torch.testing.assert_close(found[mixed.rows], wanted)
    assert (found[mixed.empty] == 0).all()


def tensors(y):
    return y if isinstance(y, tuple) else (y,)


@pytest.mark.parametrize("way", WAYS, indirect=True)
@pytest.mark.parametrize("kind", KINDS)
def test_best_outputs(kind, way):
    mixed = Mixed(kind)
    if way == "kernels" and kind in ("crossing", "labelled"):
        pytest.skip("the core finds the best of trees that may cross")
    found = argmax(mixed.structure, mixed.scores, lengths=mixed.lengths)
    wanted = argmax(mixed.structure, mixed.plain, lengths=mixed.plain_lengths)
    for a, b in zip(tensors(found), tensors(wanted), strict=True):
        assert torch.equal(a[mixed.rows], b)
        assert (a[mixed.empty] == -100).all()


@pytest.mark.parametrize("kind", KINDS)
def test_ranked_and_drawn_outputs(kind):
    mixed = Mixed(kind)
    value, ranked = kbest(mixed.structure, 3, mixed.scores, lengths=mixed.lengths)
    wanted, expected = kbest(mixed.structure, 3, mixed.plain, lengths=mixed.plain_lengths)
    torch.testing.assert_close(value[mixed.rows], wanted)
    assert (value[mixed.empty] == torch.tensor([0.0, -torch.inf, -torch.inf])).all()
    drawn = []
    for scores, lengths in ((mixed.scores, mixed.lengths), (mixed.plain, mixed.plain_lengths)):
        generator = torch.Generator().manual_seed(7)
        drawn.append(sample(mixed.structure, 4, scores, lengths=lengths, generator=generator))
    for found, right in ((ranked, expected), drawn):
        for a, b in zip(tensors(found), tensors(right), strict=True):
            assert torch.equal(a[mixed.rows], b)
            assert (a[mixed.empty] == -100).all()


def test_masks_without_a_true():
    crf = ChainCRF(3).double()
    scores = torch.randn(3, 4, 3, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [0, 1, 0, 0]], dtype=torch.bool)
    y = torch.randint(0, 3, (3, 4))
    loss = crf(scores, y, mask=mask)
    kept = [0, 2]
    torch.testing.assert_close(loss[kept], crf(scores[kept], y[kept], mask=mask[kept]))
    assert loss[1] == 0
    loss.sum().backward()
    assert (scores.grad[1] == 0).all()
    assert (crf.argmax(scores, mask=mask)[1] == -100).all()
    pairs = marginals(Chain(), crf.blocks(scores.detach()), mask=mask)["transition"]
    assert (pairs[1] == 0).all()


LAYERS = {
    "chain": lambda: (ChainCRF(3), (3,), ()),
    "iob": lambda: (ChainCRF(3, labels=["O", "B-X", "I-X"], scheme="iob", margin=1.0), (3,), ()),
    "segments": lambda: (SemiMarkovCRF(2, 2), (2, 2), ()),
}


def shapes(name, B, n):
    """A layer, its scores for B examples of n positions, and gold outputs."""
    if name in LAYERS:
        layer, rest, _ = LAYERS[name]()
        return layer, torch.randn(B, n, *rest), torch.zeros(B, n, dtype=torch.int64)
    heads = torch.zeros(B, n, dtype=torch.int64)
    if name in ("dependencies", "projective"):
        layer = DependencyCRF(projective=name == "projective", margin=1.0)
        return layer, torch.randn(B, n + 1, n + 1), heads
    if name == "labelled":
        return DependencyCRF(labelled=True), torch.randn(B, n + 1, n + 1, 2), (heads, heads)
    chart = torch.zeros(B, n, n + 1, dtype=torch.int64)
    return ConstituencyCRF(), torch.randn(B, n, n + 1, 2), chart


NAMES = ["chain", "iob", "segments", "dependencies", "projective", "labelled", "constituents"]


@pytest.mark.parametrize("way", WAYS, indirect=True)
@pytest.mark.parametrize(("B", "n"), [(0, 4), (2, 0), (0, 0)])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_at_all(name, B, n, way):
    layer, scores, y = shapes(name, B, n)
    scores.requires_grad_()
    for temperature in (1.0, 0.0):
        layer.temperature = temperature
        loss = layer(scores, y)
        assert loss.tolist() == [0.0] * B
        grads = torch.autograd.grad(loss.sum(), [scores, *layer.parameters()])
        for grad, x in zip(grads, [scores, *layer.parameters()], strict=True):
            assert grad.shape == x.shape
            assert (grad == 0).all()
    value = layer.log_partition(scores)
    assert value.tolist() == [0.0] * B
    parts = layer.marginals(scores)
    assert parts.shape == scores.shape
    assert (parts == 0).all()
    assert layer.entropy(scores).tolist() == [0.0] * B
    (value.sum() + parts.sum() + layer.entropy(scores).sum()).backward()
    best = layer.argmax(scores)
    for t, gold in zip(tensors(best), tensors(y), strict=True):
        assert t.shape == gold.shape
        assert (t == -100).all()
    if way == "core":
        values, ranked = layer.kbest(2, scores)
        assert values.tolist() == [[0.0, -torch.inf]] * B
        drawn = layer.sample(2, scores)
        for t, gold in zip((*tensors(ranked), *tensors(drawn)), 2 * tensors(y), strict=True):
            assert t.shape == (B, 2, *gold.shape[1:])


@pytest.mark.parametrize("name", NAMES)
def test_compiled(name):
    layer, scores, y = shapes(name, 3, 2)
    y = tuple(torch.zeros_like(t) for t in tensors(y))  # the first label, a chain of arcs
    if name in ("dependencies", "projective", "labelled"):
        y[0][:, 1] = 1
    if name == "constituents":
        y[0][:, 0, 2] = 1
    y = y if len(y) > 1 else y[0]
    scores.requires_grad_()
    lengths = torch.tensor([2, 0, 1])
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    answers = []
    for call in (compiled, layer):
        loss = call(scores, y, lengths=lengths)
        answers.append([loss, *torch.autograd.grad(loss.sum(), scores)])
    torch.testing.assert_close(*answers)
    assert answers[0][0][1] == 0
    none = layer(scores[:0], y[:0] if isinstance(y, torch.Tensor) else tuple(t[:0] for t in y))
    assert none.shape == (0,)
    torch._dynamo.reset()


def test_exported_programs_take_empty_rows():
    class Decoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.crf = ChainCRF(3)

        def forward(self, scores, lengths):
            return self.crf.argmax(scores, lengths=lengths)

    given = torch.randn(2, 4, 3), torch.tensor([4, 2])
    program = torch.export.export(Decoder(), given).module()
    assert program(given[0], torch.tensor([0, 3]))[0].tolist() == [-100] * 4


def test_autocast():
    network, crf = torch.nn.Linear(4, 3), ChainCRF(3)
    x, y = torch.randn(2, 5, 4), torch.zeros(2, 5, dtype=torch.int64)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = crf(network(x), y, lengths=torch.tensor([0, 5]))
    assert loss[0] == 0
    loss.sum().backward()
    assert torch.isfinite(network.weight.grad).all()


def test_errors_name_the_row_beside_empty_ones():
    label = torch.zeros(3, 3, 2)
    label[2, 2, 0] = -torch.inf
    lengths = torch.tensor([0, 3, 3])
    y = torch.zeros(3, 3, dtype=torch.int64)
    for gold in (y, y.masked_fill(torch.tensor([[False] * 3, [True] * 3, [False] * 3]), -100)):
        with pytest.raises(ValueError, match="example 2: the gold output is forbidden"):
            structured_loss(Chain(), {"label": label}, gold, lengths=lengths)
    label[2, 1] = -torch.inf
    for query in (infer, argmax, entropy):
        with pytest.raises(ValueError, match="example 2"):
            query(Chain(), {"label": label}, lengths=lengths)
    with pytest.raises(ValueError, match="example 2"):
        kbest(Chain(), 2, {"label": label}, lengths=lengths)


@pytest.mark.parametrize(
    ("structure", "scores"),
    [
        (Chain(), {"label": torch.zeros(2, 4, 0)}),
        (SemiMarkov(2), {"segment": torch.zeros(2, 4, 2, 0)}),
        (Arborescence(), {"arc": torch.zeros(2, 0, 0)}),
        (Arborescence(labelled=True), {"arc": torch.zeros(2, 3, 3, 0)}),
        (Constituency(), {"span": torch.zeros(2, 2, 3, 0)}),
    ],
    ids=["chain", "segments", "arcs", "labelled", "spans"],
)
def test_other_axes_must_not_be_empty(structure, scores):
    with pytest.raises(ValueError, match=r"\w+ has shape"):
        infer(structure, scores)


def test_lists_without_examples():
    layer = StructuredLayer(Multiclass())
    for block in ([], torch.zeros(0, 3)):
        assert layer({"label": block}, []).shape == (0,)
        assert layer.log_partition({"label": block}).shape == (0,)
        assert layer.marginals({"label": block}) == []
        assert layer.argmax({"label": block}) == []
        assert layer.entropy({"label": block}).shape == (0,)
        assert layer.sample(2, {"label": block}) == []
        assert layer.kbest(2, {"label": block})[0].shape == (0, 2)
