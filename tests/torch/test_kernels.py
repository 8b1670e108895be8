"""The kernels against the core: on the CPU by Triton's interpreter, on CUDA where there is one."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("triton", reason="triton is not installed")

from structlearn.structures import Arborescence, Chain  # noqa: E402
from structlearn.torch import infer, kernels, structured_loss  # noqa: E402
from structlearn.torch.batches import Batch  # noqa: E402
from structlearn.torch.kernels.chain import chain_loss  # noqa: E402
from structlearn.torch.kinds import base  # noqa: E402
from structlearn.torch.operators import compute, entropies, gradients  # noqa: E402

from .cases import KINDS, Case  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

# NumPy, which computes here, warns of logarithms of 0.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def batch_of(case):
    return Batch(case.structure, case.scores, case.lengths)


def on_device(tensors):
    return [t.to(DEVICE) for t in tensors]


def check(case, temperature, close):
    batch = batch_of(case)
    value, parts = batch.kind.infer_kernel(
        on_device(batch.scores), batch.lengths.to(DEVICE), temperature
    )
    wanted, expected = batch.kind.infer_core(batch.scores, batch.lengths, temperature)
    np.testing.assert_allclose(value.cpu().numpy(), wanted.numpy(), rtol=close, atol=close)
    for p, q in zip(parts, expected, strict=True):
        assert p.dtype == case.dtype
        np.testing.assert_allclose(p.cpu().numpy(), q.numpy(), atol=close)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_sums(kind, dtype):
    close = 1e-9 if dtype == torch.float64 else 1e-5
    for seed, temperature in enumerate((1.0, 0.05, 10.0, 0.5)):
        check(Case(kind, seed, dtype, forbid=0.25 * (seed % 2)), temperature, close)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "crossing"])
def test_maxima(kind):
    for seed in range(3):
        case = Case(kind, seed, forbid=0.2 * (seed % 2))
        if kind == "labelled" and not case.structure.projective:
            continue
        check(case, 0.0, 1e-9)


@pytest.mark.parametrize("kind", ["chain", "segments", "constituents"])
def test_ties_go_to_the_same_output(kind):
    for seed in range(6):
        case = Case(kind, seed)
        for name, block in case.scores.items():
            case.scores[name] = block.round()
        batch = batch_of(case)
        value, y = batch.kind.argmax_kernel(on_device(batch.scores), batch.lengths.to(DEVICE))
        wanted, expected = batch.kind.argmax_core(batch.scores, batch.lengths)
        torch.testing.assert_close(value.cpu(), wanted)
        for a, b in zip(y, expected, strict=True):
            assert torch.equal(a.cpu(), b)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_thousands(kind):
    check(Case(kind, 11, forbid=0.2, scale=1e4), 1.0, 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_legal_gives_no_nan(kind):
    case = Case(kind, 2)
    block = case.structure.label_block
    case.scores[block] = torch.full_like(case.scores[block], float("-inf"))
    batch = batch_of(case)
    value, parts = batch.kind.infer_kernel(on_device(batch.scores), batch.lengths.to(DEVICE), 1.0)
    assert (value == float("-inf")).all()
    for p in parts:
        assert (p == 0).all()


def test_wider_than_one_block():
    rng = np.random.default_rng(0)
    case = Case("chain", 0, torch.float32)
    B, L, K = 2, 70, 20  # more positions than a block of the second kernel has
    case.scores = {
        "label": torch.tensor(rng.normal(size=(B, L, K)), dtype=torch.float32),
        "transition": torch.tensor(rng.normal(size=(K, K)), dtype=torch.float32),
    }
    case.lengths = torch.tensor([70, 65])
    check(case, 1.0, 1e-5)


@pytest.mark.parametrize("kind", ["projective", "crossing", "constituents"])
def test_longer_sentences(kind):
    case = Case(kind, 0)
    shape = {"arc": (2, 19, 19), "span": (2, 18, 19, 2)}[case.structure.label_block]
    case.scores = {case.structure.label_block: torch.randn(shape, dtype=torch.float64)}
    case.lengths = torch.tensor([18, 7])
    check(case, 1.0, 1e-9)


@pytest.fixture
def by_kernels(monkeypatch):
    """Let the layers take the way of the GPU, wherever tensors are."""
    for module in (compute, gradients):
        monkeypatch.setattr(module, "on_gpu", lambda x: True)


@pytest.mark.parametrize("unknown", [0.0, 0.3], ids=["known", "partial"])
@pytest.mark.parametrize("margin", [0.0, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_losses(kind, margin, unknown, by_kernels, monkeypatch):
    for seed, temperature in enumerate((1.0, 0.3)):
        case = Case(kind, seed)
        blocks = {k: v.clone().requires_grad_() for k, v in case.scores.items()}
        y = batch_of(case).kind.pack(case.outputs(seed), batch_of(case).scores, case.lengths)
        for t in y:
            t[torch.rand(t.shape) < unknown] = -100
        weights = torch.randn(len(case.lengths), dtype=case.dtype)

        def run(device, blocks=blocks, case=case, y=y, weights=weights, temperature=temperature):
            scores = {k: v.to(device) for k, v in blocks.items()}
            gold = tuple(t.to(device) for t in y)
            loss = structured_loss(
                case.structure, scores, gold, lengths=case.lengths.to(device),
                margin=margin, temperature=temperature,
            )  # fmt: skip
            grads = torch.autograd.grad(loss @ weights.to(device), blocks.values())
            return [loss.detach().cpu(), *grads]

        found = run(DEVICE)
        with monkeypatch.context() as core:
            for module in (compute, gradients):
                core.setattr(module, "on_gpu", lambda x: False)
            wanted = run("cpu")
        torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_loss_of_chains_with_a_table(margin):
    for seed in range(4):
        batch = batch_of(Case("chain", seed))
        K = batch.scores[0].shape[2]
        y = torch.randint(-1, K, batch.scores[0].shape[:2])
        y[y < 0] = -100
        table = torch.rand(K, K, dtype=torch.float64)
        value, parts = batch.kind.fused_loss(
            on_device(batch.scores), batch.lengths.to(DEVICE), y.to(DEVICE), table.to(DEVICE),
            margin, 0.3,
        )  # fmt: skip
        wanted, *expected = compute.loss(
            batch.scores, batch.lengths, [y], table, None, None, batch.kind.name, margin, 0.3
        )
        np.testing.assert_allclose(value.cpu().numpy(), wanted.numpy(), atol=1e-9)
        for p, q in zip(parts, expected, strict=True):
            np.testing.assert_allclose(p.cpu().numpy(), q.numpy(), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_bad_lengths_give_no_number(kind):
    case = Case(kind, 1)
    batch = batch_of(case)
    longest = batch.kind.longest(batch.scores[0])
    for bad in (-1, longest + 1):
        lengths = torch.full_like(batch.lengths, longest)
        lengths[0] = bad
        value, _ = batch.kind.infer_kernel(on_device(batch.scores), lengths.to(DEVICE), 1.0)
        assert torch.isnan(value[0])
        assert not torch.isnan(value[1:]).any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
def test_half_precision(dtype):
    case = Case("chain", 3, torch.float32)
    batch = batch_of(case)
    half = [block.to(dtype) for block in batch.scores]
    lengths = batch.lengths.to(DEVICE)
    found = batch.kind.infer_kernel(on_device(half), lengths, 1.0)
    wanted = batch.kind.infer_kernel(on_device([b.float() for b in half]), lengths, 1.0)
    assert found[1][0].dtype == torch.float32
    torch.testing.assert_close(found[0], wanted[0])
    torch.testing.assert_close(found[1], wanted[1])


@pytest.mark.parametrize("cost", [None, "table"])
def test_labels_out_of_range_give_an_infinite_loss(cost):
    scores = [torch.randn(2, 3, 4), torch.randn(4, 4), torch.randn(4), torch.randn(4)]
    table = None if cost is None else torch.rand(4, 4).to(DEVICE)
    lengths = torch.tensor([3, 3]).to(DEVICE)
    for bad in (4, 2**32 + 1):
        y = torch.tensor([[0, bad, 1], [1, 2, 3]]).to(DEVICE)
        value, *parts = chain_loss(*on_device(scores), lengths, y, 1.0, 1.0, table)
        assert value[0] == float("inf")
        assert torch.isfinite(value[1])
        assert all(torch.isfinite(p).all() for p in parts)


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_compile(kind):
    """For an architecture that need not be here: the interpreter takes more than the compiler."""
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.torch.compile_kernels", kind],
        env=environment, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "sweep" in done.stdout or "inside" in done.stdout or "eliminate" in done.stdout


@pytest.mark.filterwarnings("error::UserWarning")  # the core must not be asked
@pytest.mark.parametrize("kind", KINDS)
def test_entropies(kind, monkeypatch):
    for module in (compute, entropies):
        monkeypatch.setattr(module, "on_gpu", lambda x: True)
    for seed, (scale, temperature) in enumerate(((1.0, 0.5), (1e4, 1.0), (1e4, 0.05))):
        case = Case(kind, seed, scale=scale, size=5)
        batch = batch_of(case)
        found = entropies.entropy_value(
            on_device(batch.scores), batch.lengths.to(DEVICE), batch.kind.name, temperature
        )
        for b, one in enumerate(case.examples()):
            wanted = case.structure.entropy(temperature=temperature, **one)
            # How many segments there are is open, so their scores cannot be centred each.
            close = 1e-4 if kind.endswith("segments") else 1e-9
            assert found[b].item() == pytest.approx(wanted, abs=close)


@pytest.mark.parametrize("kind", KINDS)
def test_entropies_of_large_scores(kind, monkeypatch):
    """A difference would lose its third digit: these examples are the core's."""
    for module in (compute, entropies):
        monkeypatch.setattr(module, "on_gpu", lambda x: True)
    case = Case(kind, 3, scale=1e8, size=5)
    batch = batch_of(case)
    found = entropies.entropy_value(
        on_device(batch.scores), batch.lengths.to(DEVICE), batch.kind.name, 1e6
    )
    small = entropies.entropy_value(
        on_device([1e-6 * block for block in batch.scores]), batch.lengths.to(DEVICE),
        batch.kind.name, 1.0,
    )  # fmt: skip
    torch.testing.assert_close(found, small, rtol=1e-9, atol=1e-9)
    large = entropies.entropy_value(
        on_device(batch.scores), batch.lengths.to(DEVICE), batch.kind.name, 50.0
    )
    for b, one in enumerate(case.examples()):
        wanted = case.structure.entropy(temperature=50.0, **one)
        assert large[b].item() == pytest.approx(wanted, abs=1e-11)


#: Trees with a single root in which a word's other heads are penalised.
PENALTIES = [
    (5.0, [[0, 100, -1e-5, -0.1, -2e6], [0, -1e5, -0.1, 0.01, -np.inf], [0, 0, 0, 0.01, -np.inf],
           [0.1, -np.inf, 0, 0, -3e8], [0, -1e4, 1e-6, -1e-5, -np.inf]]),
    (0.3, [[0, -np.inf, -np.inf, -11369370.4], [0, 0, 1.6, 1e-4], [0, -np.inf, -np.inf, 6e-4],
           [0, -124820.284, -6e-8, 0]]),
]  # fmt: skip


@pytest.mark.parametrize(("temperature", "arc"), PENALTIES)
def test_entropies_beside_penalties(temperature, arc, monkeypatch):
    """Rounding gives a penalised arc a share of 1e-9, which its score makes a tenth of a nat."""
    for module in (compute, entropies):
        monkeypatch.setattr(module, "on_gpu", lambda x: True)
    structure, scores = Arborescence(), np.array(arc, dtype=float)
    values = np.array([structure.score(y, arc=scores) for y in structure.outputs(arc=scores)])
    logs = (values - np.logaddexp.reduce(values / temperature) * temperature) / temperature
    wanted = -(np.exp(logs) * np.where(np.isfinite(logs), logs, 0.0)).sum()
    batch = Batch(structure, {"arc": torch.tensor(scores)[None]})
    found = entropies.entropy_value(
        on_device(batch.scores), batch.lengths.to(DEVICE), batch.kind.name, temperature
    )
    assert found.item() == pytest.approx(wanted, abs=1e-6)


def test_labels_of_arcs_with_large_scores(by_kernels):
    """In float32 the sum over labels is rounded by more than the temperature, shares are not."""
    arc = torch.tensor([[[0.0, 0.0], [1586092.125, 1725097.5]], [[0.0, 0.0], [0.0, 0.0]]])
    _, p = infer(Arborescence(), {"arc": arc[None].to(DEVICE)}, temperature=0.3)
    assert p["arc"][0, 0, 1].tolist() == [0.0, 1.0]


def test_kernels_import_torch_and_triton_alone():
    """So that they can be tried where the core is not built."""
    files = list(Path(kernels.__file__).parent.glob("*.py"))
    assert len(files) > 8
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level <= 1, f"{path.name} imports from outside of the folder"
                names = [node.module] if node.level == 0 else []
            for name in names:
                root = name.partition(".")[0]
                assert root in {"torch", "triton"} | sys.stdlib_module_names, path.name


def test_what_has_no_kernel_says_so_once(by_kernels, monkeypatch, recwarn):
    monkeypatch.setattr(base, "_SAID", set())
    label = torch.randn(2, 4, 3, dtype=torch.float64)
    with pytest.warns(UserWarning, match=r"infer of Chain\(.*2\).* has no kernel for CUDA"):
        value, _ = infer(Chain(2), {"label": label})
    torch.testing.assert_close(value, torch.logsumexp(label, dim=2).sum(dim=1))
    recwarn.clear()
    infer(Chain(2), {"label": label})
    assert not recwarn
