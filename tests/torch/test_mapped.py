"""Jacobians, Hessians and maps of :mod:`torch.func`, against differences and loops."""

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch.func import (  # noqa: E402
    functional_call,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    vjp,
    vmap,
)

from structlearn.losses import Cost  # noqa: E402
from structlearn.structures import Arborescence, Chain, Multiclass  # noqa: E402
from structlearn.torch import (  # noqa: E402
    ChainCRF,
    ConstituencyCRF,
    DependencyCRF,
    SemiMarkovCRF,
    StructuredLayer,
    argmax,
    entropy,
    infer,
    log_partition,
    marginals,
    structured_loss,
)

from .cases import KINDS, Case  # noqa: E402

# PyTorch's own, where it sets forward mode up.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")

STEP = 1e-5


def differences(function, x):
    """The Jacobian by central differences, number by number."""
    flat = torch.eye(x.numel(), dtype=x.dtype).view(-1, *x.shape)
    columns = [(function(x + STEP * e) - function(x - STEP * e)) / (2 * STEP) for e in flat]
    found = torch.stack(columns, dim=-1)
    return found.view(*found.shape[:-1], *x.shape)


def queries(case, block):
    """Functions of one block of a case's scores."""
    options = {"lengths": case.lengths, "temperature": 0.7}
    gold = case.outputs()

    def scores(x):
        return {**case.scores, block: x}

    return {
        "log_partition": lambda x: log_partition(case.structure, scores(x), **options),
        "loss": lambda x: structured_loss(
            case.structure, scores(x), gold, margin=0.5, **options
        ),
        "zero-one": lambda x: structured_loss(
            case.structure, scores(x), gold, margin=0.5, cost="zero-one", **options
        ),
        "entropy": lambda x: entropy(case.structure, scores(x), **options),
        "marginals": lambda x: infer(case.structure, scores(x), **options)[1][block],
    }  # fmt: skip


@pytest.mark.parametrize("query", ["log_partition", "loss", "zero-one", "entropy", "marginals"])
@pytest.mark.parametrize("kind", KINDS)
def test_jacobians(kind, query):
    case = Case(kind, 3, size=4)
    block = case.structure.label_block
    function, x = queries(case, block)[query], case.scores[block]
    wanted = differences(function, x)
    for found in (jacrev(function)(x), jacfwd(function)(x)):
        torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-7)
    line = torch.randn_like(x)
    value, slope = jvp(function, (x,), (line,))
    torch.testing.assert_close(value, function(x))
    along = (wanted * line).flatten(value.dim()).sum(dim=-1)
    torch.testing.assert_close(slope, along, rtol=1e-6, atol=1e-7)
    weights = torch.randn_like(value)
    value, back = vjp(function, x)
    torch.testing.assert_close(
        back(weights)[0], torch.tensordot(weights, wanted, value.dim()), rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize("block", ["transition", "start", "end"])
@pytest.mark.parametrize("kind", ["chain", "segments"])
def test_jacobians_of_what_all_examples_share(kind, block):
    case = Case(kind, 3, size=4)
    x = case.scores[block]
    for name in ("log_partition", "loss", "entropy", "marginals"):
        function = queries(case, block)[name]
        wanted = differences(function, x)
        for found in (jacrev(function)(x), jacfwd(function)(x)):
            torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("query", ["log_partition", "loss"])
@pytest.mark.parametrize("kind", KINDS)
def test_hessians(kind, query):
    case = Case(kind, 3, size=4)
    block = case.structure.label_block
    function, x = queries(case, block)[query], case.scores[block]

    def total(x):
        return function(x).sum()

    def slope(x):
        x = x.clone().requires_grad_()
        return torch.autograd.grad(total(x), x)[0]

    wanted = differences(slope, x)
    ways = {
        "forward over reverse": hessian(total),
        "forward twice": jacfwd(jacfwd(total)),
        "reverse twice": jacrev(jacrev(total)),
        "reverse over forward": jacrev(jacfwd(total)),
    }
    for found in ways.values():
        torch.testing.assert_close(found(x), wanted, rtol=1e-5, atol=1e-6)


def test_hessians_along_two_blocks():
    case = Case("chain", 3, size=4)
    label, transition = case.scores["label"], case.scores["transition"]

    def total(label, transition):
        scores = {**case.scores, "label": label, "transition": transition}
        return log_partition(case.structure, scores, lengths=case.lengths).sum()

    def slope(transition):
        x = label.clone().requires_grad_()
        return torch.autograd.grad(total(x, transition), x)[0]

    found = hessian(total, argnums=(0, 1))(label, transition)
    torch.testing.assert_close(found[0][1], differences(slope, transition), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("query", ["entropy", "marginals"])
def test_second_derivatives_of_these_are_refused(query):
    case = Case("chain", 3, size=4)
    function, x = queries(case, "label")[query], case.scores["label"]
    for twice in (hessian(function), jacrev(jacrev(function)), jacfwd(jacfwd(function))):
        with pytest.raises(RuntimeError, match="no third ones"):
            twice(x)


@pytest.mark.parametrize("kind", KINDS)
def test_maps(kind):
    """Over scores, and over scores with lengths: the same as one call after another."""
    case = Case(kind, 5, size=5)
    block = case.structure.label_block
    x = torch.stack([case.scores[block] + i for i in range(3)])
    x = x + torch.randn_like(x)
    for name, function in queries(case, block).items():
        found = vmap(function)(x)
        wanted = torch.stack([function(one) for one in x])
        torch.testing.assert_close(found, wanted, msg=lambda m, name=name: f"{name}: {m}")
    moved = vmap(queries(case, block)["loss"], in_dims=1)(x.movedim(0, 1))
    torch.testing.assert_close(moved, vmap(queries(case, block)["loss"])(x))
    lengths = torch.stack([case.lengths, case.lengths - 1, case.lengths * 0])

    def values(x, lengths):
        return log_partition(case.structure, {**case.scores, block: x}, lengths=lengths)

    def best(x, lengths):
        return argmax(case.structure, {**case.scores, block: x}, lengths=lengths)

    for function in (values, best):
        wanted = [function(*pair) for pair in zip(x, lengths, strict=True)]
        if isinstance(wanted[0], tuple):
            wanted = tuple(map(torch.stack, zip(*wanted, strict=True)))
        else:
            wanted = torch.stack(wanted)
        torch.testing.assert_close(vmap(function)(x, lengths), wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_maps_of_gradients(kind):
    case = Case(kind, 5, size=4)
    block = case.structure.label_block
    x = torch.stack([case.scores[block], -case.scores[block]])
    for name, function in queries(case, block).items():
        slope = grad(lambda x, function=function: (function(x) ** 2).sum())
        wanted = torch.stack([slope(one) for one in x])
        torch.testing.assert_close(
            vmap(slope)(x), wanted, rtol=1e-7, atol=1e-7,
            msg=lambda m, name=name: f"{name}: {m}",
        )  # fmt: skip


def test_gradients_of_each_example():
    """The use that vmap is known for: what each example says of the parameters."""
    crf = ChainCRF(3, labels=["O", "B-X", "I-X"], scheme="iob", margin=0.5).double()
    parameters = {name: p.detach() for name, p in crf.named_parameters()}
    scores = torch.randn(4, 5, 3, dtype=torch.float64)
    y = torch.tensor([[0, 1, 2, 0, 0], [1, 2, 2, 2, 2], [0, 0, 0, 1, 1], [1, 1, 0, 0, 0]])
    lengths = torch.tensor([5, 0, 3, 1])

    def loss(parameters, scores, y, length):
        given = (scores[None], y[None])
        return functional_call(crf, parameters, given, {"lengths": length[None]})[0]

    found = vmap(grad(loss), in_dims=(None, 0, 0, 0))(parameters, scores, y, lengths)
    for b in range(4):
        one = crf(scores[b : b + 1], y[b : b + 1], lengths=lengths[b : b + 1])
        wanted = torch.autograd.grad(one[0], list(crf.parameters()))
        for name, slope in zip(parameters, wanted, strict=True):
            torch.testing.assert_close(found[name][b], slope)


LAYERS = {
    "chain": lambda: (ChainCRF(3), (4, 3), lambda y: y % 3),
    "segments": lambda: (SemiMarkovCRF(3, 1), (4, 1, 3), lambda y: y % 3),
}


@pytest.mark.parametrize("name", LAYERS)
def test_ensembles(name):
    """Several layers at once, each with parameters of its own, on the same scores."""
    crf, shape, labels = LAYERS[name]()
    layers = [LAYERS[name]()[0] for _ in range(3)]
    stacked, _ = torch.func.stack_module_state(layers)
    scores = torch.randn(2, *shape)
    y = labels(torch.arange(8).view(2, 4))

    def loss(parameters):
        return functional_call(crf, parameters, (scores, y))

    found = vmap(loss)(stacked)
    torch.testing.assert_close(found, torch.stack([layer(scores, y) for layer in layers]))


def test_maps_nest():
    crf = ChainCRF(3)
    scores, y = torch.randn(2, 3, 2, 4, 3), torch.randint(0, 3, (3, 2, 4))
    found = vmap(vmap(crf), in_dims=(0, None))(scores, y)
    assert found.shape == (2, 3, 2)
    torch.testing.assert_close(found[1, 2], crf(scores[1, 2], y[2]))
    pieces = vmap(crf, chunk_size=2)(scores[0], y)
    torch.testing.assert_close(pieces, found[0])


def test_maps_over_masks():
    crf = ChainCRF(3)
    scores, y = torch.randn(2, 2, 4, 3), torch.randint(0, 3, (2, 2, 4))
    mask = torch.rand(2, 2, 4) < 0.6
    found = vmap(lambda s, y, m: crf(s, y, mask=m))(scores, y, mask)
    torch.testing.assert_close(found[1], crf(scores[1], y[1], mask=mask[1]))
    trees = DependencyCRF()
    arcs = torch.randn(2, 2, 5, 5)
    mask = torch.tensor([[[1, 1, 1, 0], [1, 1, 0, 0]], [[1, 0, 0, 0], [0, 0, 0, 0]]]).bool()
    found = vmap(lambda s, m: trees.log_partition(s, mask=m))(arcs, mask)
    torch.testing.assert_close(found[1], trees.log_partition(arcs[1], mask=mask[1]))
    mask[1, 0] = torch.tensor([1, 0, 1, 0])
    with pytest.raises(ValueError, match="lengths must be"):
        vmap(lambda s, m: trees.log_partition(s, mask=m))(arcs, mask)


def test_maps_check_gold_outputs():
    crf = ChainCRF(3)
    y = torch.tensor([[[0, 1]], [[3, 0]]])
    with pytest.raises(ValueError, match=r"labels beyond 0..2"):
        vmap(crf)(torch.randn(2, 1, 2, 3), y)


def test_maps_of_backward_calls():
    """Several vectors through one graph, as PyTorch's notes on Jacobians have it."""
    crf = ChainCRF(3).double()
    scores = torch.randn(2, 3, 3, dtype=torch.float64, requires_grad=True)
    for query in (crf.marginals, crf.entropy, crf.log_partition):
        found = query(scores)
        units = torch.eye(found.numel(), dtype=found.dtype).view(-1, *found.shape)
        back = partial(torch.autograd.grad, found, scores, retain_graph=True)
        rows = vmap(lambda unit, back=back: back(unit)[0])(units)
        wanted = jacrev(query)(scores.detach())
        torch.testing.assert_close(rows.view_as(wanted), wanted)
    loss = crf(scores, torch.zeros(2, 3, dtype=torch.int64))
    rows = vmap(lambda unit: torch.autograd.grad(loss, scores, unit, retain_graph=True)[0])(
        torch.eye(2, dtype=loss.dtype)
    )
    torch.testing.assert_close(rows.sum(dim=0), torch.autograd.grad(loss.sum(), scores)[0])


def test_transitions_by_position():
    label = torch.randn(2, 4, 3, dtype=torch.float64)
    transition = torch.randn(2, 3, 3, 3, dtype=torch.float64)

    def pairs(transition):
        return marginals(Chain(), {"label": label, "transition": transition})["transition"]

    wanted = differences(pairs, transition)
    for found in (jacrev(pairs)(transition), jacfwd(pairs)(transition)):
        torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-7)


class FirstLabel(Cost):
    """Only the first position counts."""

    def parts(self, structure, y, **scores):
        c = np.zeros(scores["label"].shape)
        c[0] = 2.0
        c[0, y[0]] = 0.0
        return {"label": c}, 0.25


def test_costs_of_ones_own():
    crf = ChainCRF(3, margin=1.0, cost=FirstLabel()).double()
    x, y = torch.randn(2, 4, 3, dtype=torch.float64), torch.randint(0, 3, (2, 4))
    wanted = differences(lambda x: crf(x, y), x)
    for found in (jacrev(lambda x: crf(x, y))(x), jacfwd(lambda x: crf(x, y))(x)):
        torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-7)
    with pytest.raises(NotImplementedError, match="FirstLabel cannot be mapped"):
        vmap(crf)(x[None], y[None])


def test_empty_rows():
    layer = ConstituencyCRF()
    x = torch.randn(2, 3, 4, 2, dtype=torch.float64)
    lengths = torch.tensor([0, 3])
    for query in (layer.log_partition, layer.entropy):
        rows = partial(query, lengths=lengths)
        for found in (jacrev(rows)(x), jacfwd(rows)(x)):
            torch.testing.assert_close(found, differences(rows, x), rtol=1e-6, atol=1e-7)
        assert vmap(query)(x[None, :0]).shape == (1, 0)


class Lists:
    """Classes, and a chain given as one tensor for each example with transitions for all."""

    def __init__(self):
        self.classes = torch.randn(3, 4, dtype=torch.float64)
        self.label = torch.randn(2, 4, 3, dtype=torch.float64)
        self.transition = torch.randn(3, 3, dtype=torch.float64)
        self.layer = StructuredLayer(Multiclass(), margin=0.5)

    def loss(self, x):
        return self.layer({"label": x}, [0, 3, 1])

    def values(self, x):
        return self.layer.log_partition({"label": x})

    def chains(self, x):
        blocks = {"label": list(self.label), "transition": x}
        return structured_loss(Chain(), blocks, [[0, 1, 2, 0], [1, 1, 0, 2]])


def test_lists():
    lists = Lists()
    cases = ((lists.loss, lists.classes), (lists.values, lists.classes),
             (lists.chains, lists.transition))  # fmt: skip
    for function, x in cases:
        wanted = differences(function, x)
        for found in (jacrev(function)(x), jacfwd(function)(x)):
            torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-7)
        many = torch.stack([x, -x])
        torch.testing.assert_close(
            vmap(function)(many), torch.stack([function(one) for one in many])
        )
        slope = grad(lambda x, function=function: function(x).sum())
        torch.testing.assert_close(vmap(slope)(many)[0], slope(x))
    wanted = torch.distributions.Categorical(logits=lists.classes).entropy()
    found = vmap(lambda x: lists.layer.entropy({"label": x}))(lists.classes[None])
    torch.testing.assert_close(found[0], wanted)


def test_lists_have_first_derivatives_and_say_so():
    lists = Lists()
    for twice in (hessian(lists.values), jacfwd(jacfwd(lists.values)), jacrev(jacrev(lists.loss))):
        with pytest.raises(RuntimeError, match="first derivatives only"):
            twice(lists.classes)
    for query in (lists.layer.entropy, lambda x: torch.stack(lists.layer.marginals(x))):
        for way in (jacrev, jacfwd):
            with pytest.raises(RuntimeError, match="first derivatives only"):
                way(lambda x, query=query: query({"label": x}))(lists.classes)
    with pytest.raises(NotImplementedError, match="argmax cannot be transformed"):
        vmap(lambda x: lists.layer.argmax({"label": x}))(lists.classes[None])


def test_shared_axes_of_trees():
    """Arcs that all copies share beside arcs that they do not: labels of one, not of the other."""
    arcs = torch.randn(2, 4, 4, dtype=torch.float64)
    shift = torch.randn(3, dtype=torch.float64)
    found = vmap(lambda s: log_partition(Arborescence(), {"arc": arcs * s}))(shift)
    wanted = torch.stack([log_partition(Arborescence(), {"arc": arcs * s}) for s in shift])
    torch.testing.assert_close(found, wanted)
