"""Compare the kernels on a GPU with float64 references in plain PyTorch; prints a JSON object.

    PYTHONPATH=src python benchmarks/gpu/check.py [name[:first-last] ...]

Needs torch, triton and CUDA, not the core. The references are textbook recursions over logarithms,
differentiated by autograd. Shapes, lengths, forbidden parts and types are drawn at random; inputs
of every type are compared with the reference on the same numbers in float64.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from structlearn.torch.kernels import arborescence, chain, cky, eisner, semimarkov, viterbi

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LOW = float("-inf")
TYPES = [torch.float32, torch.float32, torch.float64, torch.float16, torch.bfloat16]
Tensors = list[torch.Tensor]


def log_sum(x: torch.Tensor, dim: int, best: bool = False) -> torch.Tensor:
    if best:
        return x.amax(dim)
    m = x.detach().amax(dim, keepdim=True)
    m = torch.where(m == LOW, 0.0, m)
    s = (x - m).exp().sum(dim)
    # A sum of 0 has the logarithm −∞ and no gradient.
    return torch.where(s > 0, s, 1.0).log() + torch.where(s > 0, m.squeeze(dim), LOW)


def chain_reference(
    label: torch.Tensor, trans: torch.Tensor, start: torch.Tensor, end: torch.Tensor,
    n: torch.Tensor, best: bool = False,
) -> torch.Tensor:  # fmt: skip
    a = start + label[:, 0]
    table = trans if trans.dim() == 3 else trans[None]
    for t in range(1, label.shape[1]):
        new = log_sum(a[:, :, None] + table, 1, best) + label[:, t]
        a = torch.where((t < n)[:, None], new, a)
    return log_sum(a + end, 1, best)


def segment_reference(
    segment: torch.Tensor, trans: torch.Tensor, start: torch.Tensor, end: torch.Tensor,
    n: torch.Tensor, best: bool = False,
) -> torch.Tensor:  # fmt: skip
    B, L, M, K = segment.shape
    table = trans if trans.dim() == 3 else trans[None]
    far = [start.expand(B, K)]
    value = segment.new_full((B,), LOW)
    for p in range(1, L + 1):
        terms = [far[p - d] + segment[:, p - d, d - 1] for d in range(1, min(M, p) + 1)]
        near = log_sum(torch.stack(terms), 0, best)
        value = torch.where(n == p, log_sum(near + end, 1, best), value)
        far.append(log_sum(near[:, :, None] + table, 1, best))
    return value


def eisner_reference(
    arc: torch.Tensor, n: torch.Tensor, single: bool, best: bool = False
) -> torch.Tensor:
    B, N, _ = arc.shape
    zero = arc.new_zeros(B)
    right: dict[Any, torch.Tensor] = {(i, i): zero for i in range(N)}
    left = dict(right)
    out: dict[Any, torch.Tensor] = {}
    back: dict[Any, torch.Tensor] = {}
    for width in range(1, N):
        for i in range(N - width):
            j = i + width
            last = i + 1 if single and i == 0 else j
            terms = [right[i, k] + left[k + 1, j] for k in range(i, last)]
            both = log_sum(torch.stack(terms), 0, best)
            out[i, j] = arc[:, i, j] + both
            back[i, j] = arc[:, j, i] + both if i > 0 else zero + LOW
            terms = [out[i, k] + right[k, j] for k in range(i + 1, j + 1)]
            right[i, j] = log_sum(torch.stack(terms), 0, best)
            terms = [left[i, k] + back[k, j] for k in range(i, j)]
            left[i, j] = log_sum(torch.stack(terms), 0, best)
    return torch.stack([right[0, int(k)][b] for b, k in enumerate(n)])


def span_reference(
    labelled: torch.Tensor, every: torch.Tensor, n: torch.Tensor, best: bool = False
) -> torch.Tensor:
    N = labelled.shape[1]
    child: dict[Any, torch.Tensor] = {}
    follow: dict[Any, torch.Tensor] = {}
    for width in range(1, N + 1):
        for i in range(N - width + 1):
            j = i + width
            if width == 1:
                child[i, j] = follow[i, j] = every[:, i, j]
                continue
            terms = [child[i, k] + follow[k, j] for k in range(i + 1, j)]
            body = log_sum(torch.stack(terms), 0, best)
            child[i, j], follow[i, j] = body + labelled[:, i, j], body + every[:, i, j]
    return torch.stack([follow[0, int(k)][b] for b, k in enumerate(n)])


def matrix_tree(arc: torch.Tensor, n: torch.Tensor, single: bool) -> torch.Tensor:
    values = []
    for b, k in enumerate(n.tolist()):
        w = arc[b, : k + 1, : k + 1].exp()
        inner = w[1:, 1:] * (1 - torch.eye(k, device=arc.device, dtype=arc.dtype))
        laplacian = torch.diag(inner.sum(0)) - inner
        if single:
            laplacian = torch.cat([w[0, 1:][None], laplacian[1:]])
        else:
            laplacian = laplacian + torch.diag(w[0, 1:])
        values.append(torch.linalg.slogdet(laplacian)[1])
    return torch.stack(values)


class Draw:
    """Random inputs on the device."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.generator = torch.Generator(device=DEVICE).manual_seed(seed)
        self.dtype = self.rng.choice(TYPES)
        self.scale = self.rng.choice([1.0, 1.0, 5.0, 1e4])
        if self.dtype == torch.float16:
            self.scale = min(self.scale, 1e3)
        self.closed = self.rng.choice([0.0, 0.0, 0.2, 0.5])
        self.temperature = self.rng.choice([1.0, 1.0, 0.05, 10.0])

    def scores(self, *shape: int) -> torch.Tensor:
        x = torch.randn(*shape, device=DEVICE, generator=self.generator) * self.scale
        closed = torch.rand(*shape, device=DEVICE, generator=self.generator) < self.closed
        return torch.where(closed, LOW, x).to(self.dtype)

    def lengths(self, batch: int, longest: int) -> torch.Tensor:
        n = torch.randint(1, longest + 1, (batch,), device=DEVICE, generator=self.generator)
        n[0] = longest
        return n

    def sequence_scores(self, B: int, L: int, K: int) -> Tensors:
        """Transition, start and end, with label 0 always allowed."""
        each = self.rng.random() < 0.3
        blocks = [self.scores(*((B, K, K) if each else (K, K))), self.scores(K), self.scores(K)]
        for x in blocks:
            x[..., 0] = torch.where(x[..., 0] == LOW, 0.0, x[..., 0])
        blocks[0][..., 0, :] = torch.where(blocks[0][..., 0, :] == LOW, 0.0, blocks[0][..., 0, :])
        return blocks


def exact(inputs: Tensors, reference: Callable[..., torch.Tensor]) -> tuple[torch.Tensor, Tensors]:
    """Value and gradients of a reference in float64; 0 if a score is −∞ or nothing is legal."""
    wide = [x.double().detach().requires_grad_() for x in inputs]
    value = reference(*wide)
    legal = value > LOW
    torch.where(legal, value, 0.0).sum().backward()
    return value.detach(), [
        torch.zeros_like(x) if x.grad is None else x.grad.nan_to_num() for x in wide
    ]


def error(got: torch.Tensor, wanted: torch.Tensor) -> float:
    """The largest difference, relative to numbers above 1; NaN is infinite."""
    same = got.double() == wanted
    gap = (got.double() - wanted).abs() / wanted.abs().clamp(min=1.0)
    gap = torch.where(same, 0.0, gap).nan_to_num(nan=float("inf"), posinf=float("inf"))
    return float(gap.max()) if gap.numel() else 0.0


def tempered(reference: Callable[..., torch.Tensor], t: float) -> Callable[..., torch.Tensor]:
    return lambda *x: t * reference(*(block / t for block in x))


def compare(
    got: tuple[torch.Tensor, ...], value: torch.Tensor, parts: Tensors, scale: float
) -> list[float]:
    errors = [error(got[0], value)]
    for p, q in zip(got[1:], parts, strict=True):
        if p.dim() == q.dim() + 1:  # shared by the batch
            p = p.double().sum(dim=0)
        errors.append(error(p, q))
    return errors


def check_chain(draw: Draw) -> list[float]:
    K = draw.rng.choice([2, 3, 9, 17, 33, 45, 64, 100, 256])
    B, L = draw.rng.randint(1, 9), draw.rng.choice([1, 2, 3, 31, 64, 65, 130])
    inputs = [draw.scores(B, L, K), *draw.sequence_scores(B, L, K)]
    inputs[0][..., 0] = torch.where(inputs[0][..., 0] == LOW, 0.0, inputs[0][..., 0])
    n, t = draw.lengths(B, L), draw.temperature
    wanted, parts = exact(inputs, tempered(lambda *x: chain_reference(*x, n), t))
    got = chain.chain_infer(*inputs, n, t)
    errors = compare(got, wanted, parts, draw.scale)
    y = torch.randint(0, K, (B, L), device=DEVICE, generator=draw.generator)
    if draw.rng.random() < 0.5:
        y[torch.rand(B, L, device=DEVICE, generator=draw.generator) < 0.3] = -100
    margin = draw.rng.choice([0.0, 1.0])
    table = None
    cost = ((y[..., None] != torch.arange(K, device=DEVICE)) & (y >= 0)[..., None]).double()
    if draw.rng.random() < 0.5:
        table = torch.rand(K, K, device=DEVICE, generator=draw.generator).to(draw.dtype)
        cost = torch.where((y >= 0)[..., None], table.double()[y.clamp(min=0)], 0.0)
    keep = (y < 0)[..., None] | (y[..., None] == torch.arange(K, device=DEVICE))

    def loss(label: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        raised = chain_reference((label + margin * cost) / t, *(x / t for x in rest), n)
        clamped = torch.where(keep, label / t, LOW)
        return t * (raised - chain_reference(clamped, *(x / t for x in rest), n))

    got = chain.chain_loss(*inputs, n, y, t, margin, table)
    wanted, parts = exact(inputs, loss)
    legal = torch.isfinite(wanted)
    if bool(legal.all()):
        errors += compare(got, wanted, parts, draw.scale)
    else:  # a gold path that is forbidden has an infinite loss
        errors.append(error(got[0], wanted))
        errors += [0.0 if bool(torch.isfinite(p).all()) else float("inf") for p in got[1:]]
    best = chain_reference(*(x.double() for x in inputs), n, best=True)
    value, y = viterbi.chain_argmax(*inputs, n)
    errors.append(error(value, best))
    errors.append(error(path_score([x.double() for x in inputs], y, n), best))
    inside = torch.arange(L, device=DEVICE) < n[:, None]
    assert bool(((y >= 0) == inside).all())
    return errors


def path_score(inputs: Tensors, y: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    label, trans, start, end = inputs
    B, L, _K = label.shape
    b = torch.arange(B, device=DEVICE)
    inside = torch.arange(L, device=DEVICE) < n[:, None]
    k = y.clamp(min=0)
    score = torch.where(inside, label.gather(2, k[..., None])[..., 0], 0.0).sum(1) + start[k[:, 0]]
    score = score + end[k[b, n - 1]]
    pairs = (
        trans[k[:, :-1], k[:, 1:]] if trans.dim() == 2 else trans[b[:, None], k[:, :-1], k[:, 1:]]
    )
    return score + torch.where(inside[:, 1:], pairs, 0.0).sum(1)


def check_segments(draw: Draw) -> list[float]:
    K, M = draw.rng.choice([1, 2, 9, 17, 40]), draw.rng.choice([1, 2, 5, 12, 33])
    B, L = draw.rng.randint(1, 5), draw.rng.choice([1, 2, 7, 40])
    inputs = [draw.scores(B, L, M, K), *draw.sequence_scores(B, L, K)]
    inputs[0][..., 0, 0] = torch.where(inputs[0][..., 0, 0] == LOW, 0.0, inputs[0][..., 0, 0])
    n, t = draw.lengths(B, L), draw.temperature
    wanted, parts = exact(inputs, tempered(lambda *x: segment_reference(*x, n), t))
    errors = compare(semimarkov.segment_infer(*inputs, n, t), wanted, parts, draw.scale)
    best, parts = exact(inputs, lambda *x: segment_reference(*x, n, best=True))
    value, _ = semimarkov.segment_argmax(*inputs, n)
    return [*errors, error(value, best)]


def check_trees(draw: Draw, crossing: bool) -> list[float]:
    B, N = draw.rng.randint(1, 4), draw.rng.choice([2, 3, 5, 12, 18])
    arc = draw.scores(B, N, N)
    word = torch.arange(N - 1, device=DEVICE)
    arc[:, word, word + 1] = torch.where(arc[:, word, word + 1] == LOW, 0.0, arc[:, word, word + 1])
    single, t, n = draw.rng.random() < 0.5, draw.temperature, draw.lengths(B, N - 1)
    if not crossing:
        wanted, parts = exact([arc], tempered(lambda x: eisner_reference(x, n, single), t))
        errors = compare(eisner.projective_trees(arc, n, t, single), wanted, parts, draw.scale)
        best, _ = exact([arc], lambda x: eisner_reference(x, n, single, best=True))
        value, tree = eisner.projective_trees(arc, n, 0.0, single)
        score = torch.where(tree > 0, arc.double(), 0.0).flatten(1).sum(1)
        assert bool((tree.flatten(1).sum(1) == n).all())
        return [*errors, error(value, best), error(score, best)]
    if draw.scale / t > 20:  # the determinant has lost its digits: the kernel in float64 instead
        value, p = arborescence.crossing_trees(arc.double(), n, t, single)
        return compare(arborescence.crossing_trees(arc, n, t, single), value, [p], draw.scale)
    wanted, parts = exact([arc], tempered(lambda x: matrix_tree(x, n, single), t))
    return compare(arborescence.crossing_trees(arc, n, t, single), wanted, parts, draw.scale)


def check_spans(draw: Draw) -> list[float]:
    B, N = draw.rng.randint(1, 4), draw.rng.choice([1, 2, 5, 17, 20])
    labelled, every = draw.scores(B, N, N + 1), draw.scores(B, N, N + 1)
    every = torch.where(every == LOW, 0.0, every)
    n, t = draw.lengths(B, N), draw.temperature
    wanted, parts = exact([labelled, every], tempered(lambda a, b: span_reference(a, b, n), t))
    errors = compare(cky.span_trees(labelled, every, n, t), wanted, parts, draw.scale)
    best, _ = exact([labelled, every], lambda a, b: span_reference(a, b, n, best=True))
    return [*errors, error(cky.span_trees(labelled, every, n, 0.0)[0], best)]


def check_long(draw: Draw) -> list[float]:
    """L = 10,000, float32 and narrower, against the recursion and against the kernel in float64."""
    K = draw.rng.choice([2, 9, 45])
    inputs = [draw.scores(3, 10_000, K), *draw.sequence_scores(3, 10_000, K)]
    inputs[0][..., 0] = torch.where(inputs[0][..., 0] == LOW, 0.0, inputs[0][..., 0])
    n = torch.tensor([10_000, 1, 7777], device=DEVICE)
    with torch.no_grad():
        wanted = chain_reference(*(x.double() for x in inputs), n)
    got = chain.chain_infer(*inputs, n, 1.0)
    value, *parts = chain.chain_infer(*(x.double() for x in inputs), n, 1.0)
    errors = [error(got[0], wanted), error(value, wanted)]
    errors += [error(p, q) for p, q in zip(got[1:], parts, strict=True)]
    best = chain_reference(*(x.double() for x in inputs), n, best=True)
    best_value, y = viterbi.chain_argmax(*inputs, n)
    return [
        *errors,
        error(best_value, best),
        error(path_score([x.double() for x in inputs], y, n), best),
    ]


CHECKS: dict[str, tuple[int, Callable[[Draw], list[float]]]] = {
    "chain": (120, check_chain),
    "segments": (60, check_segments),
    "projective": (30, lambda draw: check_trees(draw, False)),
    "crossing": (80, lambda draw: check_trees(draw, True)),
    "constituents": (30, check_spans),
    "long chain": (3, check_long),
}


def main(names: list[str]) -> None:
    results: dict[str, Any] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    for request in names or list(CHECKS):
        name, _, seeds = request.partition(":")
        repeats, check = CHECKS[name]
        first, last = (int(x) for x in (seeds or f"0-{repeats}").split("-"))
        begin = time.monotonic()
        worst: dict[str, float] = {}
        failed: list[str] = []
        for seed in range(first, last):
            draw = Draw(seed)
            kind = f"{str(draw.dtype)[6:]}, scores of {draw.scale:g}"
            try:
                errors = check(draw)
            except Exception as problem:
                failed.append(f"seed {seed}, {kind}: {type(problem).__name__}: {problem}"[:400])
                if len(failed) > 3:
                    break
                continue
            worst[kind] = max(worst.get(kind, 0.0), *errors)
            limit = (
                1e-8
                if draw.dtype == torch.float64
                else 2e-5 * max(1.0, draw.scale / draw.temperature / 100)
            )
            if not max(errors) < limit:
                failed.append(f"seed {seed}, {kind}, ε {draw.temperature}, {draw.closed}: {errors}")
        results[request] = {"draws": last - first, "worst": worst, "failed": failed[:8]}
        seconds = time.monotonic() - begin
        print(name, f"{seconds:.1f} s", json.dumps(results[request]), file=sys.stderr, flush=True)
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
