"""Count the kernel launches of one eager call of each layer, and time the host's work.

    PYTHONPATH=src python benchmarks/gpu/profile_calls.py

Loss and gradient on small inputs, so that the GPU waits for the host; by ``torch.profiler``.
"""

from __future__ import annotations

import time
from typing import Any

import layers
from torch.profiler import ProfilerActivity, profile

import torch
from structlearn.torch import ChainCRF, ConstituencyCRF, DependencyCRF, SemiMarkovCRF


def host_time(call: Any, repeats: int = 200) -> float:
    """Return the best time of a call in microseconds, not waiting for the GPU."""
    best = float("inf")
    for _ in range(repeats):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return 1e6 * best


def show(name: str, call: Any) -> None:
    for _ in range(5):
        call()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiled:
        call()
        torch.cuda.synchronize()
    events = profiled.events()
    kernels = [e.name for e in events if e.device_type == torch.autograd.DeviceType.CUDA]
    operators = [e for e in events if e.name.startswith("aten::") and e.cpu_parent is None]
    print(f"{name:28} host {host_time(call):6.0f} us, {len(kernels)} kernels, ", end="")
    print(f"{len(operators)} operators called")
    print("    " + ", ".join(k.split("(")[0].split("<")[0][-28:] for k in kernels))


def main() -> None:
    cases: dict[str, tuple[Any, tuple[int, ...], int]] = {
        "chain": (ChainCRF(9), (8, 16, 9), 16),
        "semi-Markov": (SemiMarkovCRF(9, 4), (8, 16, 4, 9), 16),
        "projective": (DependencyCRF(projective=True), (8, 17, 17), 16),
        "non-projective": (DependencyCRF(), (8, 17, 17), 16),
        "constituents": (ConstituencyCRF(), (8, 16, 17, 9), 16),
    }
    y: Any = None
    inputs = layers.draw(8)
    show("nothing", lambda: torch.autograd.grad((2.0 * inputs).sum(), inputs))
    for name, (made, shape, longest) in cases.items():
        layer, scores = made.to(layers.DEVICE), layers.draw(*shape)
        n = layers.lengths(shape[0], longest)
        if name != "non-projective":
            y = layer.argmax(scores, lengths=n)
            show(f"{name} argmax", lambda layer=layer, s=scores, n=n: layer.argmax(s, lengths=n))
        wanted = [scores, *layer.parameters()]
        show(name, lambda layer=layer, w=wanted, y=y, n=n: layers.gradient(layer, w, y, n))
        show(f"{name} forward", lambda layer=layer, s=scores, y=y, n=n: layer(s, y, lengths=n))


if __name__ == "__main__":
    main()
