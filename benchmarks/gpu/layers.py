"""Time loss and gradient of the layers on one GPU, and of other libraries in the same run.

    PYTHONPATH=src python benchmarks/gpu/layers.py [ours] [theirs] [--json FILE]

``eager`` are best and median of single calls by CUDA events, ``one thread`` those with autograd's
threads off (``torch.autograd.set_multithreading_enabled(False)``), ``graph`` those of replays of a
CUDA graph, in milliseconds; ``megabytes`` is the peak beyond the inputs. The first row is a layer
that does nothing: the cost of autograd for one operator and a sum. pytorch-crf and torch-struct are
timed if they are installed. ``--json`` writes the table.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kernels

import torch
from structlearn.torch import (
    ChainCRF,
    ConstituencyCRF,
    DependencyCRF,
    SemiMarkovCRF,
)

DEVICE = kernels.DEVICE


def measure(call: Callable[..., Any], *inputs: Any, graph: bool = True) -> dict[str, Any]:
    def step() -> Any:
        return call(*inputs)

    step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step()
    torch.cuda.synchronize()
    used = (torch.cuda.max_memory_allocated() - before) / 1e6
    times = {"eager": kernels.times(step, 100 if graph else 8), "megabytes": round(used, 1)}
    if graph:
        with torch.autograd.set_multithreading_enabled(False):
            times["one thread"] = kernels.times(step, 100)
        times["graph"] = kernels.replays(step)
    return times


def gradient(layer: Any, wanted: list[torch.Tensor], y: Any, n: torch.Tensor) -> Any:
    return torch.autograd.grad(layer(wanted[0], y, lengths=n).sum(), wanted)


def their_gradient(crf: Any, scores: torch.Tensor, y: torch.Tensor, mask: torch.Tensor) -> Any:
    loss = -crf(scores, y, mask=mask, reduction="sum")
    return torch.autograd.grad(loss, [scores, *crf.parameters()])


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, device=DEVICE).requires_grad_()


def lengths(B: int, L: int) -> torch.Tensor:
    n = torch.randint(L // 2, L + 1, (B,), device=DEVICE)
    n[0] = L
    return n


def ours() -> dict[str, Any]:
    rows: dict[str, Any] = {}
    inputs = draw(8)
    rows["nothing"] = measure(lambda: torch.autograd.grad((2.0 * inputs).sum(), inputs))
    for B, L, K in [(256, 128, 45), (32, 128, 9), (256, 512, 45)]:
        crf, scores, n = ChainCRF(K).to(DEVICE), draw(B, L, K), lengths(B, L)
        y = torch.randint(0, K, (B, L), device=DEVICE)
        rows[f"chain {B}x{L}x{K}"] = measure(gradient, crf, [scores, *crf.parameters()], y, n)
        rows[f"chain argmax {B}x{L}x{K}"] = measure(crf.argmax, scores, n)
    cases = {
        "semi-Markov 32x100x12x9": (SemiMarkovCRF(9, 12), (32, 100, 12, 9), 100),
        "projective 64x40": (DependencyCRF(projective=True), (64, 41, 41), 40),
        "constituents 64x40x30": (ConstituencyCRF(), (64, 40, 41, 30), 40),
    }
    for name, (layer, shape, longest) in cases.items():
        layer, scores, n = layer.to(DEVICE), draw(*shape), lengths(shape[0], longest)
        y = layer.argmax(torch.randn_like(scores), lengths=n)
        rows[name] = measure(gradient, layer, [scores, *layer.parameters()], y, n)
        rows[f"argmax {name}"] = measure(layer.argmax, scores, n)
        if name.startswith("projective"):
            crossing = DependencyCRF()
            rows["non-projective 64x40"] = measure(gradient, crossing, [scores], y, n)
    return rows


def theirs() -> dict[str, Any]:
    rows: dict[str, Any] = {}
    try:
        from torchcrf import CRF
    except ImportError:
        rows["pytorch-crf"] = "not installed"
    else:
        for B, L, K in [(256, 128, 45), (32, 128, 9)]:
            crf, scores, n = CRF(K, batch_first=True).to(DEVICE), draw(B, L, K), lengths(B, L)
            y = torch.randint(0, K, (B, L), device=DEVICE)
            mask = torch.arange(L, device=DEVICE) < n[:, None]
            rows[f"pytorch-crf {B}x{L}x{K}"] = measure(
                their_gradient, crf, scores, y, mask, graph=False
            )
            rows[f"pytorch-crf argmax {B}x{L}x{K}"] = measure(crf.decode, scores, mask, graph=False)
    try:
        from torch_struct import LinearChainCRF, NonProjectiveDependencyCRF
    except Exception as error:
        rows["torch-struct"] = f"not here: {error!r}"[:200]
    else:
        potentials, n = draw(256, 127, 45, 45), lengths(256, 128)
        rows["torch-struct 256x128x45"] = measure(
            lambda: torch.autograd.grad(
                LinearChainCRF(potentials, lengths=n).partition.sum(), potentials
            ),
            graph=False,
        )
        arcs, words = draw(64, 40, 40), lengths(64, 40)
        rows["torch-struct non-projective 64x40"] = measure(
            lambda: torch.autograd.grad(
                NonProjectiveDependencyCRF(arcs, lengths=words).partition.sum(), arcs
            ),
            graph=False,
        )
    return rows


def show(name: str, row: Any) -> None:
    if not isinstance(row, dict):
        print(f"{name:36} {row}", flush=True)
        return
    columns = [*row["eager"]]
    for way in ("one thread", "graph"):
        columns += row.get(way, ["", ""])
    columns.append(row["megabytes"])
    print(f"{name:36}" + "".join(f"{x:>10}" for x in columns), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help="ours, theirs; default: both")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.manual_seed(0)
    results: dict[str, Any] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    heads = ("eager", "median", "1 thread", "median", "graph", "median", "MB")
    print(f"{'milliseconds':36}" + "".join(f"{x:>10}" for x in heads))
    for part, rows in (("ours", ours), ("theirs", theirs)):
        if options.parts and part not in options.parts:
            continue
        results[part] = rows()
        for name, row in results[part].items():
            show(name, row)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
