"""Time loss and gradient of a chain on one CPU thread, against pytorch-crf in the same run.

    python benchmarks/tensors_cpu.py [--json FILE]

Needs ``pip install structlearn[torch] pytorch-crf``. Measured twice: in blocks of calls of one
library, and with alternating calls, each of which finds the caches full of the other's code. Best
and median of all calls, in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import torch
from structlearn.torch import ChainCRF


def main() -> None:
    from torchcrf import CRF

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=200)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    B, L, K = 32, 30, 20
    scores = torch.randn(B, L, K, requires_grad=True)
    y = torch.randint(0, K, (B, L))
    lengths = torch.randint(L // 2, L + 1, (B,))
    lengths[0] = L
    mask = torch.arange(L) < lengths[:, None]
    theirs, ours = CRF(K, batch_first=True), ChainCRF(K)
    with torch.no_grad():
        ours.transition.copy_(theirs.transitions)
        ours.start.copy_(theirs.start_transitions)
        ours.end.copy_(theirs.end_transitions)

    def step(layer: torch.nn.Module, loss: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(loss, [scores, *layer.parameters()])

    calls: dict[str, Any] = {
        "structlearn": lambda: step(ours, ours(scores, y, lengths=lengths).sum()),
        "pytorch-crf": lambda: step(theirs, -theirs(scores, y, mask=mask, reduction="sum")),
    }
    torch.testing.assert_close(calls["structlearn"]()[0], calls["pytorch-crf"]()[0])
    record: dict[str, Any] = {
        "command": "python benchmarks/tensors_cpu.py",
        "shape": [B, L, K],
        "threads": 1,
        "torch": torch.__version__,
        "unit": "milliseconds, best and median",
    }
    for way, block in (("blocks", 40), ("alternating", 1)):
        seconds: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(options.repeats // block):
            for name, call in calls.items():
                for _ in range(block):
                    begin = time.perf_counter()
                    call()
                    seconds[name].append(1e3 * (time.perf_counter() - begin))
        times = {
            name: [round(min(each), 3), round(statistics.median(each), 3)]
            for name, each in seconds.items()
        }
        times["times as fast"] = [
            round(a / b, 2) for a, b in zip(times["pytorch-crf"], times["structlearn"], strict=True)
        ]
        record[way] = times
    print(json.dumps(record, indent=1))
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
