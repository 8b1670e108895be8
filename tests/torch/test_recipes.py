"""How calls of pytorch-crf and torch-struct are written here, as ``docs/howto/torch.md`` has it.

Against the libraries where they are installed, and always against numbers of outputs and sums over
all of them in their own terms.
"""

import itertools
import math

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from structlearn.structures import Chain, SemiMarkov  # noqa: E402
from structlearn.torch import (  # noqa: E402
    ChainCRF,
    ConstituencyCRF,
    DependencyCRF,
    SemiMarkovCRF,
    argmax,
    entropy,
    infer,
    log_partition,
)
from tests.docs.page_blocks import ROOT, blocks_of  # noqa: E402

# Of the other libraries, which are older.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

SOME = {"dtype": torch.float64}


@pytest.fixture(scope="module")
def recipes():
    """The functions that the page defines."""
    page = ROOT / "docs" / "howto" / "torch.md"
    (code,) = [
        b.content for b in blocks_of(page) if b.language == "python" and "spans_of" in b.content
    ]
    names = {"torch": torch, "print": lambda *args, **options: None}
    exec(code, names)
    return names


def library(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


def log_sum(scores):
    return torch.logsumexp(torch.stack(scores), dim=0)


# -- TreeCRF ------------------------------------------------------------------------------------


def labelled_trees(p, i, j):
    """The scores of all binary trees over the words i..j, a label for each span."""
    if i == j:
        below = [torch.zeros((), **SOME)]
    else:
        below = [
            left + right
            for k in range(i, j)
            for left in labelled_trees(p, i, k)
            for right in labelled_trees(p, k + 1, j)
        ]
    return [score + label for score in below for label in p[i, j]]


@pytest.mark.parametrize(("n", "R"), [(1, 1), (1, 3), (2, 2), (3, 1), (4, 1), (4, 2), (6, 1)])
def test_trees_are_counted(recipes, n, R):
    spans = recipes["spans_of"](torch.zeros(1, n, n, R, **SOME))
    catalan = math.comb(2 * n - 2, n - 1) // n
    found = ConstituencyCRF().log_partition(spans).exp().item()
    assert found == pytest.approx(catalan * R ** (2 * n - 1))


def test_trees_are_summed(recipes):
    p = torch.randn(2, 4, 4, 2, **SOME)
    lengths = torch.tensor([4, 3])
    found = ConstituencyCRF().log_partition(recipes["spans_of"](p), lengths=lengths)
    for b, n in enumerate(lengths.tolist()):
        torch.testing.assert_close(found[b], log_sum(labelled_trees(p[b], 0, n - 1)))


def test_trees_are_those_of_torch_struct(recipes):
    struct = library("torch_struct")
    p = torch.randn(2, 4, 4, 3, **SOME)
    lengths = torch.tensor([4, 3])
    theirs = struct.TreeCRF(p, lengths=lengths)
    crf, spans = ConstituencyCRF(), recipes["spans_of"](p.detach())
    torch.testing.assert_close(crf.log_partition(spans, lengths=lengths), theirs.partition)
    torch.testing.assert_close(crf.entropy(spans, lengths=lengths), theirs.entropy)
    marginals = crf.marginals(spans, lengths=lengths)[:, :, 1:, 1:]
    torch.testing.assert_close(marginals, theirs.marginals)
    best = crf.argmax(spans, lengths=lengths)[:, :, 1:]
    parts = best[..., None] - 1 == torch.arange(3)
    assert torch.equal(parts, theirs.argmax.bool())


# -- dependencies -------------------------------------------------------------------------------

TREES = [
    ("DependencyCRF", True, True, lambda n: math.comb(3 * n, n) // (2 * n + 1)),
    ("DependencyCRF", True, False, None),
    ("NonProjectiveDependencyCRF", False, True, lambda n: (n + 1) ** (n - 1)),
    ("NonProjectiveDependencyCRF", False, False, lambda n: n ** (n - 1)),
]


def is_tree(heads):
    for m in range(1, len(heads) + 1):
        seen = set()
        while m and m not in seen:
            seen.add(m)
            m = heads[m - 1]
        if m:
            return False
    return True


def crosses(heads):
    arcs = [sorted((h, m)) for m, h in enumerate(heads, 1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


def tree_scores(p, projective, multiroot):
    """The scores of all trees of a sentence, the root's arcs on the diagonal."""
    n = len(p)
    found = []
    for heads in itertools.product(range(n + 1), repeat=n):
        if not is_tree(heads) or (projective and crosses(heads)):
            continue
        if multiroot or heads.count(0) == 1:
            found.append(sum(p[(h or m) - 1, m - 1] for m, h in enumerate(heads, 1)))
    return found


@pytest.mark.parametrize(("_name", "projective", "multiroot", "count"), TREES)
def test_dependencies_are_counted_and_summed(recipes, _name, projective, multiroot, count):
    crf = DependencyCRF(projective=projective, single_root=not multiroot)
    p = torch.randn(2, 4, 4, **SOME)
    lengths = torch.tensor([4, 2])
    found = crf.log_partition(recipes["arcs_of"](p), lengths=lengths)
    for b, n in enumerate(lengths.tolist()):
        scores = tree_scores(p[b, :n, :n], projective, multiroot)
        torch.testing.assert_close(found[b], log_sum(scores))
    for n in range(1, 7 if count else 0):
        trees = crf.log_partition(recipes["arcs_of"](torch.zeros(1, n, n, **SOME))).exp()
        assert trees.item() == pytest.approx(count(n))


@pytest.mark.parametrize(("name", "projective", "multiroot", "_count"), TREES)
def test_dependencies_are_those_of_torch_struct(recipes, name, projective, multiroot, _count):
    struct = library("torch_struct")
    crf = DependencyCRF(projective=projective, single_root=not multiroot)
    p = torch.randn(2, 4, 4, **SOME, requires_grad=True)
    arcs = recipes["arcs_of"](p.detach())
    theirs = getattr(struct, name)(p, multiroot=multiroot)
    # To the precision of the other library: it adds 1e-5 to each weight of crossing trees.
    close = {"rtol": 1e-9, "atol": 1e-9} if projective else {"rtol": 1e-3, "atol": 1e-3}
    torch.testing.assert_close(crf.log_partition(arcs), theirs.partition.double(), **close)
    m = crf.marginals(arcs)
    marginals = m[:, 1:, 1:] + torch.diag_embed(m[:, 0, 1:])
    torch.testing.assert_close(marginals, theirs.marginals.double(), **close)
    default = getattr(struct, name)(p).partition.double()
    same = torch.allclose(default, crf.log_partition(arcs), rtol=1e-3)
    assert same == (multiroot == (name == "DependencyCRF"))  # as the page has the defaults


# -- chains and segmentations -------------------------------------------------------------------


def path_scores(p):
    """The scores of all label sequences, p (L − 1, K, K): to, from."""
    L, K = len(p) + 1, p.shape[1]
    return [
        sum(p[t, b, a] for t, (a, b) in enumerate(itertools.pairwise(y)))
        for y in itertools.product(range(K), repeat=L)
    ]


@pytest.fixture
def by_position():
    """Their potentials, and the same as blocks."""
    p = torch.randn(2, 4, 3, 3, **SOME)
    return p, {"label": torch.zeros(2, 5, 3, **SOME), "transition": p.mT}, torch.tensor([5, 3])


def test_chains_by_position(by_position):
    p, blocks, lengths = by_position
    found = log_partition(Chain(), blocks, lengths=lengths)
    for b, n in enumerate(lengths.tolist()):
        torch.testing.assert_close(found[b], log_sum(path_scores(p[b, : n - 1])))
    nothing = {name: torch.zeros_like(block) for name, block in blocks.items()}
    assert log_partition(Chain(), nothing).exp().tolist() == pytest.approx([3**5] * 2)


def test_chains_by_position_are_those_of_torch_struct(by_position):
    struct = library("torch_struct")
    p, blocks, lengths = by_position
    theirs = struct.LinearChainCRF(p.clone(), lengths=lengths)
    torch.testing.assert_close(log_partition(Chain(), blocks, lengths=lengths), theirs.partition)
    torch.testing.assert_close(entropy(Chain(), blocks, lengths=lengths), theirs.entropy)
    _, parts = infer(Chain(), blocks, lengths=lengths)
    torch.testing.assert_close(parts["transition"].mT, theirs.marginals)
    best = argmax(Chain(), blocks, lengths=lengths)
    wanted, _ = struct.LinearChainCRF.struct.from_parts(theirs.argmax)
    for row, right, n in zip(best, wanted, lengths.tolist(), strict=True):
        assert torch.equal(row[:n], right[:n])


@pytest.fixture
def with_layer():
    """A layer and scores, and their potentials for the same."""
    crf = ChainCRF(3).double()
    scores = torch.randn(2, 5, 3, **SOME)
    p = crf.transition.mT + scores[:, 1:, :, None]
    p = torch.cat([p[:, :1] + scores[:, :1, None] + crf.start, p[:, 1:]], dim=1)
    p = torch.cat([p[:, :-1], p[:, -1:] + crf.end[:, None]], dim=1).detach()
    return crf, scores, p


def test_chains_with_the_layers_transitions(with_layer):
    crf, scores, p = with_layer
    found = crf.log_partition(scores).detach()
    for b in range(2):
        torch.testing.assert_close(found[b], log_sum(path_scores(p[b])))


def test_chains_with_the_layers_transitions_are_those_of_torch_struct(with_layer):
    struct = library("torch_struct")
    crf, scores, p = with_layer
    y = torch.randint(0, 3, (2, 5))
    theirs = struct.LinearChainCRF(p)
    torch.testing.assert_close(crf.log_partition(scores), theirs.partition)
    parts = struct.LinearChainCRF.struct.to_parts(y, 3)
    torch.testing.assert_close(-crf(scores, y), theirs.log_prob(parts))
    value, ranked = crf.kbest(4, scores)
    torch.testing.assert_close(value, theirs.kmax(4).T)
    tops = theirs.topk(4)
    for k in range(4):
        assert torch.equal(ranked[:, k], struct.LinearChainCRF.struct.from_parts(tops[k])[0])


def segmentations(L, M):
    """All sequences of lengths up to M that add up to L."""
    if L == 0:
        yield ()
    for first in range(1, min(L, M) + 1):
        for rest in segmentations(L - first, M):
            yield (first, *rest)


def segment_potentials(crf, scores):
    """Their potentials for the scores of a layer.

    Theirs begin with a label before the first segment: one of them is enough.
    """
    B, L, M, K = scores.shape
    p = torch.full((B, L, M + 1, K, K), -1e9, **SOME)
    p[:, 1:, 1:] = scores[:, 1:, :, :, None] + crf.transition.detach().mT
    p[:, 0, 1:, :, 0] = scores[:, 0] + crf.start.detach()
    for t, m in itertools.product(range(L), range(1, M + 1)):
        if t + m == L:
            p[:, t, m] += crf.end.detach()[:, None]
        elif t + m > L:
            p[:, t, m] = -1e9
    return p


SHAPES = [(4, 2, 2), (5, 3, 1), (5, 5, 3)]


@pytest.mark.parametrize(("L", "M", "K"), SHAPES)
def test_segmentations(L, M, K):
    zeros = {"segment": torch.zeros(1, L, M, K, **SOME)}
    number = sum(K ** len(s) for s in segmentations(L, M))
    assert log_partition(SemiMarkov(M), zeros).exp().item() == pytest.approx(number)
    crf = SemiMarkovCRF(K, M).double()
    scores = torch.randn(2, L, M, K, **SOME)
    p, found = segment_potentials(crf, scores), crf.log_partition(scores).detach()
    for b in range(2):
        sums = []
        for lengths in segmentations(L, M):
            for labels in itertools.product(range(K), repeat=len(lengths)):
                ends = itertools.accumulate(lengths)
                steps = zip(lengths, ends, labels, (0, *labels), strict=False)
                sums.append(sum(p[b, end - m, m, k, before] for m, end, k, before in steps))
        torch.testing.assert_close(found[b], log_sum(sums))


@pytest.mark.parametrize(("L", "M", "K"), SHAPES)
def test_segmentations_are_those_of_torch_struct(L, M, K):
    struct = library("torch_struct")
    crf = SemiMarkovCRF(K, M).double()
    scores = torch.randn(2, L, M, K, **SOME)
    theirs = struct.SemiMarkovCRF(segment_potentials(crf, scores))
    torch.testing.assert_close(crf.log_partition(scores), theirs.partition)


# -- pytorch-crf --------------------------------------------------------------------------------


def test_pytorch_crf():
    rival = library("torchcrf").CRF(4, batch_first=True).double()
    crf = ChainCRF(4).double()
    names = {"transition": "transitions", "start": "start_transitions", "end": "end_transitions"}
    crf.load_state_dict({ours: rival.state_dict()[theirs] for ours, theirs in names.items()})
    scores = torch.randn(3, 6, 4, **SOME, requires_grad=True)
    y = torch.randint(0, 4, (3, 6))
    mask = torch.tensor([[1] * 6, [1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0]], dtype=torch.uint8)
    inside = mask.bool()
    ours = {"mask": inside}
    for reduction, found in {
        "none": -crf(scores, y, **ours),
        "sum": -crf(scores, y, **ours).sum(),
        "mean": -crf(scores, y, **ours).mean(),
        "token_mean": -crf(scores, y, **ours).sum() / inside.sum(),
    }.items():
        wanted = rival(scores, y, mask=inside, reduction=reduction)
        torch.testing.assert_close(found, wanted)
        grads = [torch.autograd.grad(x.sum(), scores)[0] for x in (found, wanted)]
        torch.testing.assert_close(*grads)
    best = crf.argmax(scores, **ours)
    lists = [row[m].tolist() for row, m in zip(best, inside, strict=True)]
    assert lists == rival.decode(scores, mask=inside)
    assert (best[~inside] == -100).all()
