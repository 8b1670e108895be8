"""Layers under constraints, against enumeration; what their kernels take."""

import itertools
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from structlearn.constraints import Label, at_most  # noqa: E402
from structlearn.exceptions import InfeasibleError  # noqa: E402
from structlearn.torch import ChainCRF, SemiMarkovCRF  # noqa: E402
from structlearn.torch.batches import Batch  # noqa: E402
from structlearn.torch.kinds import named_kind  # noqa: E402


def crf():
    torch.manual_seed(0)
    return ChainCRF(3, labels=["A", "B", "O"], constraints="contiguous(A); at_most(1, B)").double()


def legal(y):
    runs = [label for label, _ in itertools.groupby(y)]
    return runs.count(0) <= 1 and list(y).count(1) <= 1


def score(layer, scores, y):
    total = layer.start[y[0]] + layer.end[y[-1]]
    total = total + sum(layer.transition[a, b] for a, b in itertools.pairwise(y))
    return total + sum(scores[t, k] for t, k in enumerate(y))


def test_the_loss_is_that_of_legal_outputs_and_reaches_the_parameters():
    layer, scores = crf(), torch.randn(1, 4, 3, dtype=torch.float64)
    y = [0, 0, 2, 1]
    every = [list(one) for one in itertools.product(range(3), repeat=4) if legal(one)]
    total = torch.logsumexp(torch.stack([score(layer, scores[0], one) for one in every]), 0)
    wanted = total - score(layer, scores[0], y)
    slopes = torch.autograd.grad(wanted, list(layer.parameters()))
    loss = layer(scores, torch.tensor([y]))
    torch.testing.assert_close(loss[0], wanted)
    for found, slope in zip(torch.autograd.grad(loss.sum(), list(layer.parameters())), slopes,
                            strict=True):  # fmt: skip
        torch.testing.assert_close(found, slope)
    best = max(every, key=lambda one: score(layer, scores[0], one).item())
    assert layer.argmax(scores)[0].tolist() == best


def test_gold_that_breaks_a_constraint_is_refused():
    with pytest.raises(InfeasibleError, match=r"example 1: .* it breaks a constraint"):
        crf()(torch.zeros(2, 3, 3, dtype=torch.float64), torch.tensor([[0, 0, 2], [0, 2, 0]]))


def test_unknown_labels_are_completed_legally():
    layer, scores = crf(), torch.randn(1, 3, 3, dtype=torch.float64)
    loss = layer(scores, torch.tensor([[0, -100, 0]])).exp()
    one = layer(scores, torch.tensor([[0, 0, 0]])).exp()
    torch.testing.assert_close(1 / loss, 1 / one)  # 0 0 0 is the only completion
    assert loss.item() == pytest.approx(one.item())


def test_segments_read_one_label_each():
    layer = SemiMarkovCRF(2, 3, constraints=[at_most(1, Label(1))]).double()
    scores = torch.zeros(1, 4, 3, 2, dtype=torch.float64)
    scores[..., 1] = 5.0
    starts = layer.argmax(scores)[0].tolist()
    assert starts.count(1) == 1
    with pytest.raises(InfeasibleError, match="breaks a constraint"):
        layer(scores, [[(0, 2, 1), (2, 4, 1)]])


def test_a_name_and_a_file_give_the_same_structure():
    layer, scores = crf(), torch.randn(2, 4, 3, dtype=torch.float64)
    batch = Batch(layer.structure, layer.blocks(scores))
    again = named_kind(batch.kind.name).structure
    for a, b in zip(again.automata, layer.structure.automata, strict=True):
        np.testing.assert_array_equal(a.next, b.next)
        assert a.start == b.start
        assert a.accepting.tolist() == b.accepting.tolist()
    copy = pickle.loads(pickle.dumps(layer))
    torch.testing.assert_close(copy.log_partition(scores), layer.log_partition(scores))


@pytest.mark.parametrize(("n_labels", "fits"), [(8, True), (100, False)])
def test_the_kernels_take_small_products(n_labels, fits):
    layer = ChainCRF(n_labels, constraints=[at_most(3, Label(0))])
    scores = torch.zeros(1, 2, n_labels)
    batch = Batch(layer.structure, layer.blocks(scores))
    assert batch.kind.has_kernel(batch.scores, 1.0) is fits
    assert Batch(ChainCRF(n_labels).structure, layer.blocks(scores)).kind.has_kernel(
        batch.scores, 1.0
    )
