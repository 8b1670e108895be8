"""Time the kernels with various block sizes and numbers of warps; print the best of each.

    PYTHONPATH=src python benchmarks/gpu/tune.py [name ...]

Needs torch, triton and CUDA. The best values go into the constants at the top of the kernels.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

import kernels

import torch
from structlearn.torch.kernels import arborescence, chain, cky, eisner, viterbi


def try_all(name: str, module: Any, options: list[dict[str, Any]], inputs: Any, call: Any) -> None:
    trials = []
    before = {key: getattr(module, key) for key in options[0]}
    for option in options:
        for key, value in option.items():
            setattr(module, key, value)
        try:
            trials.append((kernels.replays(lambda: call(*inputs))[0], option))
        except Exception as error:
            print(name, option, f"{type(error).__name__}: {error}"[:150], flush=True)
    for key, value in before.items():
        setattr(module, key, value)
    for time, option in sorted(trials, key=lambda pair: pair[0])[:6]:
        print(name, f"{time:.4f} ms", option, flush=True)
    print(name, f"worst {max(trials, key=lambda pair: pair[0])}", flush=True)


def chains(B: int, L: int, K: int, sweep_warps: list[int], shapes: list[Any]) -> None:
    inputs: list[Any] = kernels.chain_inputs(B, L, K)
    y = torch.randint(0, K, (B, L), device=kernels.DEVICE)
    block = chain.block_of(K)
    old = chain._SHAPES[block]
    for what, options in (
        ("sweep", [(w, *old[1:]) for w in sweep_warps]),
        ("combine", [(old[0], *shape) for shape in shapes]),
    ):
        tables = [{"_SHAPES": {**chain._SHAPES, block: option}} for option in options]
        try_all(f"{what} {B}x{L}x{K}", chain, tables, [*inputs, y, 1.0], chain.chain_loss)


def trees(module: Any, call: Any, inputs: list[Any], rows: bool = True) -> None:
    if module is arborescence:
        options = [
            {"_ROWS": r, "_WARPS": w} for r, w in itertools.product((4, 8, 16, 32), (2, 4, 8, 16))
        ]
    else:
        options = [
            {"_ROWS": r, "_SPLITS": s, "_WARPS": w}
            for r, s, w in itertools.product((16, 32, 64), (8, 16, 32), (4, 8, 16))
        ]
    try_all(module.__name__.rpartition(".")[2], module, options, inputs, call)


def main(names: list[str]) -> None:
    torch.manual_seed(0)
    wanted = set(names) or {"45", "9", "100", "256", "viterbi", "eisner", "cky", "arborescence"}
    shapes = list(itertools.product((16, 32, 64), (16, 32, 64), (2, 4, 8)))
    if "45" in wanted:
        chains(256, 128, 45, [1, 2, 4, 8], shapes)
    if "9" in wanted:
        chains(32, 128, 9, [1, 2], [s for s in shapes if s[0] == 16])
    if "100" in wanted:
        chains(64, 256, 100, [4, 8, 16], [s for s in shapes if s[1] < 64 and s[2] > 2])
    if "256" in wanted:
        chains(16, 128, 256, [8, 16], [s for s in shapes if s[1] < 32 and s[2] > 2])
    if "viterbi" in wanted:
        options = [{"_PER_THREAD": n} for n in (16, 32, 64, 128)]
        inputs = kernels.chain_inputs(256, 128, 45)
        try_all("viterbi", viterbi, options, inputs, viterbi.chain_argmax)
    arc = torch.randn(64, 41, 41, device=kernels.DEVICE)
    n = torch.randint(20, 41, (64,), device=kernels.DEVICE)
    n[0] = 40
    if "eisner" in wanted:
        trees(eisner, eisner.projective_trees, [arc, n, 1.0, True])
        trees(eisner, eisner.projective_trees, [arc, n, 0.0, True])
    if "arborescence" in wanted:
        trees(arborescence, arborescence.crossing_trees, [arc, n, 1.0, True])
    if "cky" in wanted:
        span = torch.randn(64, 40, 41, device=kernels.DEVICE)
        full = torch.full((64,), 40, device=kernels.DEVICE)
        trees(cky, cky.span_trees, [span, span + 1.0, full, 1.0])


if __name__ == "__main__":
    main(sys.argv[1:])
