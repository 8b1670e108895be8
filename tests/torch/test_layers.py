"""The layers: parameters, what is forbidden, and how they go along with PyTorch."""

import copy
import itertools
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from structlearn.structures import Chain, Multiclass  # noqa: E402
from structlearn.torch import (  # noqa: E402
    ChainCRF,
    ConstituencyCRF,
    DependencyCRF,
    SemiMarkovCRF,
    StructuredLayer,
    forbidden_transitions,
    structured_loss,
)

from ..structures.edge_structures import EdgeChain  # noqa: E402

IOB = ["O", "B-X", "I-X", "B-Y", "I-Y"]
IOBES = ["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y"]


def legal(labels, scheme):
    """Whether a sequence of labels is one of the scheme's: by reading it, label by label."""
    inside = None
    for label in labels:
        tag, _, kind = label.partition("-")
        if tag in ("I", "E", "L"):
            if inside != kind:
                return False
        elif inside is not None and scheme != "iob":
            return False
        opened = tag in ("B", "I")
        inside = kind if opened else None
    return scheme == "iob" or inside is None


@pytest.mark.parametrize(("names", "scheme"), [(IOB, "iob"), (IOBES, "iobes")])
def test_schemes_allow_what_can_be_read(names, scheme):
    between, start, end = forbidden_transitions(names, scheme)
    K = len(names)
    for y in np.ndindex(*(K,) * 3):
        allowed = not (
            start[y[0]] or end[y[-1]] or any(between[a, b] for a, b in itertools.pairwise(y))
        )
        assert allowed == legal([names[k] for k in y], scheme)


def test_bilou_is_iobes_by_other_names():
    names = [k.replace("E-", "L-").replace("S-", "U-") for k in IOBES]
    for a, b in zip(
        forbidden_transitions(names, "bilou"), forbidden_transitions(IOBES, "iobes"), strict=True
    ):
        assert torch.equal(a, b)


def test_forbidden_labels_are_never_predicted_nor_counted():
    crf = ChainCRF(len(IOB), labels=IOB, scheme="iob").double()
    scores = torch.randn(4, 6, len(IOB), dtype=torch.float64) * 3
    for row in crf.argmax(scores):
        assert legal([IOB[k] for k in row.tolist()], "iob")
    for row in crf.sample(20, scores)[0]:
        assert legal([IOB[k] for k in row.tolist()], "iob")
    y = crf.argmax(-scores)
    loss = crf(scores, y)
    loss.sum().backward()
    for parameter in crf.parameters():
        assert torch.isfinite(parameter.grad).all()
    assert (crf.transition.grad[crf.no_transition] == 0).all()


def test_forbid_by_pairs_and_by_table():
    table = torch.zeros(3, 3, dtype=torch.bool)
    table[0, 1] = True
    a = ChainCRF(3, forbid=table)
    b = ChainCRF(3, forbid=[(0, 1)])
    c = ChainCRF(3, forbid=[("x", "y")], labels=["x", "y", "z"])
    for crf in (b, c):
        assert torch.equal(crf.no_transition, a.no_transition)
    ends = ChainCRF(3, forbid=[(None, 2), (1, None)])
    assert ends.no_start.tolist() == [False, False, True]
    assert ends.no_end.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_labels": 0}, "n_labels"),
        ({"n_labels": 2, "scheme": "iob"}, "needs the labels"),
        ({"n_labels": 2, "labels": ["O"]}, "1 labels"),
        ({"n_labels": 2, "labels": ["O", "X"], "scheme": "iob"}, "not a label of the scheme"),
        ({"n_labels": 2, "labels": ["O", "O"], "scheme": "xyz"}, "scheme must be"),
        ({"n_labels": 2, "forbid": [(0, 5)]}, "unknown label 5"),
        ({"n_labels": 2, "forbid": [0]}, "pairs"),
        ({"n_labels": 2, "forbid": torch.zeros(3, 3, dtype=torch.bool)}, "forbid is"),
        ({"n_labels": 2, "margin": -1.0}, "margin"),
        ({"n_labels": 2, "temperature": float("nan")}, "temperature"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        ChainCRF(**options)


def test_scores_for_another_number_of_labels_are_named():
    """The layer's own transitions are not to blame."""
    for layer, shape in ((ChainCRF(5), (2, 7, 4)), (SemiMarkovCRF(5, 3), (2, 7, 3, 4))):
        scores = torch.zeros(shape)
        for ask in (layer.argmax, layer.log_partition, lambda s, m=layer: m(s, s[..., 0].long())):
            with pytest.raises(ValueError, match=r"are for 4 labels.*n_labels=5"):
                ask(scores)
    with pytest.raises(ValueError, match=r"transition has shape \(5, 5\).*label.*has 4 labels"):
        structured_loss(
            Chain(), {"label": torch.zeros(2, 7, 4), "transition": torch.zeros(5, 5)},
            torch.zeros(2, 7).long(),
        )  # fmt: skip


def test_chain_layer_is_the_function():
    crf = ChainCRF(3, margin=0.5, temperature=0.8)
    scores, y = torch.randn(2, 4, 3), torch.randint(0, 3, (2, 4))
    blocks = {"label": scores, "transition": crf.transition, "start": crf.start, "end": crf.end}
    wanted = structured_loss(Chain(), blocks, y, margin=0.5, temperature=0.8)
    torch.testing.assert_close(crf(scores, y), wanted)


def test_state_and_copies():
    crf = ChainCRF(3, labels=["O", "B-X", "I-X"], scheme="iob")
    other = ChainCRF(3, labels=["O", "B-X", "I-X"], scheme="iob")
    assert sorted(crf.state_dict()) == ["end", "start", "transition"]
    other.load_state_dict(crf.state_dict())
    scores, y = torch.randn(2, 4, 3), torch.zeros(2, 4, dtype=torch.int64)
    wanted = crf(scores, y)
    for copied in (other, copy.deepcopy(crf), pickle.loads(pickle.dumps(crf))):
        torch.testing.assert_close(copied(scores, y), wanted)


LAYERS = {
    "chain": lambda: (ChainCRF(3), torch.randn(2, 4, 3), torch.randint(0, 3, (2, 4))),
    "segments": lambda: (
        SemiMarkovCRF(2, 2),
        torch.randn(2, 3, 2, 2),
        torch.tensor([[0, -1, 1], [1, 0, 0]]),
    ),
    "dependencies": lambda: (DependencyCRF(), torch.randn(1, 4, 4), torch.tensor([[2, 0, 2]])),
    "labelled": lambda: (
        DependencyCRF(labelled=True),
        torch.randn(1, 4, 4, 2),
        (torch.tensor([[2, 0, 2]]), torch.tensor([[0, 1, 1]])),
    ),
    "projective": lambda: (
        DependencyCRF(projective=True),
        torch.randn(1, 4, 4),
        torch.tensor([[2, 0, 2]]),
    ),
    "constituents": lambda: (
        ConstituencyCRF(),
        torch.randn(1, 2, 3, 2),
        torch.tensor([[[-100, 0, 1], [-100, -100, 0]]]),
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_compile_has_no_graph_breaks(name):
    layer, scores, y = LAYERS[name]()
    scores.requires_grad_()
    wanted = layer(scores, y)
    (grad,) = torch.autograd.grad(wanted.sum(), scores)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    found = compiled(scores, y)
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(torch.autograd.grad(found.sum(), scores)[0], grad)
    best = torch.compile(layer.argmax, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(best(scores), layer.argmax(scores), rtol=0, atol=0)
    torch._dynamo.reset()


@pytest.mark.parametrize("name", LAYERS)
def test_every_query_has_its_shape(name):
    layer, scores, _ = LAYERS[name]()
    assert layer.marginals(scores).shape == scores.shape
    assert layer.entropy(scores).shape == scores.shape[:1]
    assert layer.log_partition(scores).shape == scores.shape[:1]
    best = layer.argmax(scores)
    values, ranked = layer.kbest(2, scores)
    drawn = layer.sample(3, scores)
    assert values.shape == (len(scores), 2)
    if name != "labelled":
        best, ranked, drawn = (best,), (ranked,), (drawn,)
    for first, both, three in zip(best, ranked, drawn, strict=True):
        assert torch.equal(both[:, 0], first)
        assert three.shape == (len(scores), 3, *first.shape[1:])


def test_training_lowers_the_loss():
    torch.manual_seed(1)
    crf = ChainCRF(3)
    scores = torch.randn(4, 5, 3)
    y = torch.randint(0, 3, (4, 5))
    optimizer = torch.optim.SGD(crf.parameters(), lr=0.1)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = crf(scores, y).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)


def test_autocast():
    network, crf = torch.nn.Linear(4, 3), ChainCRF(3)
    x, y = torch.randn(2, 5, 4), torch.randint(0, 3, (2, 5))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = crf(network(x), y)
    assert loss.dtype == torch.float32
    loss.sum().backward()
    assert network.weight.grad.dtype == torch.float32


def test_calls_from_several_threads():
    """As ``DataParallel`` makes them: new shapes in every thread, and the answers of one."""
    crf = ChainCRF(3)
    batches = [torch.randn(2, 2 + i, 3, requires_grad=True) for i in range(24)]
    known = torch.zeros(2, 40, dtype=torch.int64)

    def step(scores):
        loss = crf(scores, known[:, : scores.shape[1]])
        return loss.detach(), *torch.autograd.grad(loss.sum(), [scores, *crf.parameters()])

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(step, batches))
    for scores, answer in zip(batches, found, strict=True):
        for a, b in zip(answer, step(scores), strict=True):
            assert torch.equal(a, b)


def test_layer_for_any_structure():
    layer = StructuredLayer(Multiclass(), margin=1.0, temperature=0.0)
    scores = torch.tensor([[1.0, 2.0, 0.0]], requires_grad=True)
    loss = layer({"label": scores}, [0])
    assert loss.item() == pytest.approx(2.0)  # 2 + 1 − 1
    loss.sum().backward()
    assert scores.grad.tolist() == [[-1.0, 1.0, 0.0]]
    assert layer.argmax({"label": scores}) == [1]


def test_every_query_of_lists():
    """Of classes, against sums and sorts over them."""
    layer = StructuredLayer(Multiclass())
    scores = torch.randn(2, 4, dtype=torch.float64)
    chances = torch.softmax(scores, dim=1)
    blocks = {"label": scores}
    found = layer.entropy(blocks)
    torch.testing.assert_close(found, torch.distributions.Categorical(chances).entropy())
    value, y = layer.kbest(5, blocks)
    ranked = torch.sort(scores, dim=1, descending=True)
    assert [[int(k) for k in row] for row in y] == ranked.indices.tolist()
    torch.testing.assert_close(value[:, :4], ranked.values)
    assert (value[:, 4] == -torch.inf).all()
    drawn = layer.sample(4000, blocks, generator=torch.Generator().manual_seed(1))
    counts = torch.stack([torch.bincount(torch.tensor(d).long(), minlength=4) for d in drawn])
    assert (counts / 4000 - chances).abs().max() < 5 * 0.5 / 4000**0.5
    torch.testing.assert_close(torch.stack(layer.marginals(blocks)), chances)


def test_lists_have_first_derivatives_and_say_so():
    layer = StructuredLayer(Multiclass())
    scores = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    blocks = {"label": scores}
    value = layer.log_partition(blocks)
    (slope,) = torch.autograd.grad(value.sum(), scores, create_graph=True)
    torch.testing.assert_close(slope.detach(), torch.softmax(scores, dim=1).detach())
    (loss,) = torch.autograd.grad(layer(blocks, [0, 1]).sum(), scores, create_graph=True)
    for second in (slope, loss, layer.marginals(blocks)[0], layer.entropy(blocks)):
        with pytest.raises(RuntimeError, match="first derivatives only"):
            torch.autograd.grad((second**2).sum(), scores)


def test_layer_for_a_structure_of_ones_own():
    """A chain written in Python, against the chain of the core."""
    label = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    transition = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[0, 1, 1, 2], [2, 1, 0, 0]])
    blocks = {"label": label, "transition": transition}
    wanted = structured_loss(Chain(), blocks, y)
    expected = torch.autograd.grad(wanted.sum(), blocks.values())
    layer = StructuredLayer(EdgeChain())
    found = layer({"label": list(label), "transition": transition}, list(y.numpy()))
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(torch.autograd.grad(found.sum(), blocks.values()), expected)


def test_nothing_imports_torch_unless_asked():
    code = """
import importlib, pathlib, sys, structlearn
root = pathlib.Path(structlearn.__file__).parent
for path in root.rglob("*.py"):
    parts = path.relative_to(root.parent).with_suffix("").parts
    if parts[:2] != ("structlearn", "torch") and parts[-1] != "__main__":
        try:
            importlib.import_module(".".join(parts).removesuffix(".__init__"))
        except ModuleNotFoundError as error:  # another optional package
            optional = ("ray", "matplotlib", "PIL", "skimage", "starlette", "uvicorn", "spacy")
            assert error.name in optional, error
import structlearn.torch
assert "structlearn.tasks" in sys.modules
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_numbers_and_tables_of_numpy():
    pairs = ChainCRF(np.int64(3), forbid=[(np.int64(0), np.int64(2))])
    table = np.zeros((3, 3), dtype=bool)
    table[0, 2] = True
    assert torch.equal(ChainCRF(3, forbid=table).no_transition, pairs.no_transition)
    assert pairs.no_transition.nonzero().tolist() == [[0, 2]]


def test_a_cost_of_an_unknown_name_is_refused_at_once():
    with pytest.raises(ValueError, match="cost must be one of"):
        ChainCRF(3, cost="foo")
