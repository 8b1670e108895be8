"""Time the kernels alone on one GPU; prints a JSON object.

    PYTHONPATH=src python benchmarks/gpu/kernels.py [name ...]

Needs torch, triton and CUDA, not the core. ``eager`` are best and median of single calls by CUDA
events, ``graph`` those of replays of a CUDA graph: the time of the device without Python.
``error`` is the largest difference from the same kernel in float64, ``megabytes`` the peak beyond
the inputs.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from typing import Any

import torch
from structlearn.torch.kernels import arborescence, chain, cky, eisner, semimarkov, viterbi

DEVICE = "cuda"


def times(call: Callable[[], Any], repeats: int = 50) -> list[float]:
    for _ in range(5):
        call()
    milliseconds = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        milliseconds.append(begin.elapsed_time(end))
    return [round(min(milliseconds), 4), round(statistics.median(milliseconds), 4)]


def replays(call: Callable[[], Any]) -> list[float]:
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return times(graph.replay)


def measure(call: Callable[..., Any], inputs: list[Any]) -> dict[str, Any]:
    def run() -> Any:
        return call(*inputs)

    got = run()
    exact = call(*[x.double() if torch.is_tensor(x) and x.is_floating_point() else x
                   for x in inputs])  # fmt: skip
    error = [
        float((a.double() - b.double()).abs().max() / b.double().abs().max().clamp(min=1.0))
        for a, b in zip(got, exact, strict=True)
        if a.numel()
    ]
    del got, exact
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    run()
    torch.cuda.synchronize()
    used = (torch.cuda.max_memory_allocated() - before) / 1e6
    return {"eager": times(run), "graph": replays(run), "error": error, "megabytes": round(used, 1)}


def chain_inputs(B: int, L: int, K: int) -> list[torch.Tensor]:
    n = torch.randint(L // 2, L + 1, (B,), device=DEVICE)
    n[0] = L
    return [torch.randn(*s, device=DEVICE) for s in ((B, L, K), (K, K), (K,), (K,))] + [n]


def cases() -> dict[str, Callable[[], dict[str, Any]]]:
    calls: dict[str, Callable[[], dict[str, Any]]] = {}
    for B, L, K in [(256, 128, 45), (32, 128, 9), (256, 512, 45), (64, 512, 128), (16, 128, 256)]:

        def loss(B: int = B, L: int = L, K: int = K) -> dict[str, Any]:
            inputs: list[Any] = chain_inputs(B, L, K)
            y = torch.randint(0, K, (B, L), device=DEVICE)
            return measure(chain.chain_loss, [*inputs, y, 1.0, 0.0])

        def infer(B: int = B, L: int = L, K: int = K) -> dict[str, Any]:
            return measure(chain.chain_infer, [*chain_inputs(B, L, K), 1.0])

        def decode(B: int = B, L: int = L, K: int = K) -> dict[str, Any]:
            return measure(viterbi.chain_argmax, chain_inputs(B, L, K))

        calls[f"chain loss {B}x{L}x{K}"] = loss
        calls[f"chain infer {B}x{L}x{K}"] = infer
        calls[f"chain argmax {B}x{L}x{K}"] = decode

    def segments(best: bool) -> dict[str, Any]:
        inputs: list[Any] = chain_inputs(32, 100, 9)
        inputs[0] = torch.randn(32, 100, 12, 9, device=DEVICE)
        if best:
            return measure(semimarkov.segment_argmax, inputs)
        return measure(semimarkov.segment_infer, [*inputs, 1.0])

    calls["semi-Markov 32x100x12x9"] = lambda: segments(False)
    calls["semi-Markov argmax 32x100x12x9"] = lambda: segments(True)

    def trees(kernel: Callable[..., Any], *options: Any) -> dict[str, Any]:
        arc = torch.randn(64, 41, 41, device=DEVICE)
        n = torch.randint(20, 41, (64,), device=DEVICE)
        n[0] = 40
        return measure(kernel, [arc, n, *options])

    calls["projective 64x40"] = lambda: trees(eisner.projective_trees, 1.0, True)
    calls["projective argmax 64x40"] = lambda: trees(eisner.projective_trees, 0.0, True)
    calls["non-projective 64x40"] = lambda: trees(arborescence.crossing_trees, 1.0, True)

    def spans(temperature: float) -> dict[str, Any]:
        labelled = torch.randn(64, 40, 41, device=DEVICE)
        n = torch.full((64,), 40, device=DEVICE)
        return measure(cky.span_trees, [labelled, labelled + 1.0, n, temperature])

    calls["constituents 64x40"] = lambda: spans(1.0)
    calls["constituents argmax 64x40"] = lambda: spans(0.0)
    return calls


def main(names: list[str]) -> None:
    torch.manual_seed(0)
    results: dict[str, Any] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    for name, case in cases().items():
        if names and not any(part in name for part in names):
            continue
        try:
            results[name] = case()
        except Exception as error:
            results[name] = {"failed": f"{type(error).__name__}: {error}"[:2000]}
        print(name, json.dumps(results[name]), file=sys.stderr, flush=True)
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
