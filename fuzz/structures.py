"""``python -m fuzz.structures``: every structure against enumeration.

A structure's answers to a batch of scores are compared with the enumeration of its outputs; some
examples of each batch are also solved as integer programs, by hyperedges if the structure has them,
and as tensors if PyTorch is installed. Scores are plain, tied, tiny, huge or of mixed sizes, and
some parts are forbidden.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings

import numpy as np

from fuzz.cases import CASES
from fuzz.comparison import MOST_FINDINGS, Campaign, Comparison
from fuzz.enumeration import Batch

TEMPERATURES = (0.3, 1.0, 5.0)
#: One in this number of examples is also solved by the integer program and by hyperedges.
PROGRAMS, EDGES = 100, 5
#: The same for structures under automata.
LOSSES = 2
#: The probability that all scores of a batch are float32 numbers, like tensors.
NARROW = 0.25
#: The structures that have kernels.
KERNELS = ["chains of order 1", "segments", "spans", "projective arcs", "arcs"]
#: For structures in Python, or integer programs, all examples are solved and summed, but only one
#: in this number gets the other queries.
SLOW = 10


try:
    from fuzz import tensors
except ModuleNotFoundError:  # PyTorch is not installed
    tensors = None  # type: ignore[assignment]


def fuzz(
    name: str, instances: int, *, seed: int = 0, size: int = 250, seconds: float = float("inf")
) -> Campaign:
    """Compare a structure's answers on a number of instances, ``size`` of one shape at most."""
    begin = time.monotonic()
    campaign = Campaign(name)
    rng = np.random.default_rng([seed, list(CASES).index(name)])
    apart = np.random.default_rng([seed, list(CASES).index(name), 2])  # keeps instances
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        while campaign.instances < instances and time.monotonic() - begin < seconds:
            case = CASES[name](rng)
            precision = np.float32 if rng.random() < NARROW else np.float64
            left = instances - campaign.instances
            batch = Batch(case, rng, min(size, case.batch, left), precision)
            campaign.instances += len(batch.theta)
            own = Comparison(campaign, batch, case.structure)
            own.refused(np.flatnonzero(~np.isfinite(batch.best))[:2])
            legal = batch.legal
            temperature = float(rng.choice(case.temperatures))
            sample = legal[::SLOW] if case.slow else legal
            if own.solved(legal):
                own.decoded(sample)
            own.summed(legal, temperature)
            own.ranked(sample, int(rng.integers(1, 7)))
            own.spread(sample, temperature)
            own.counted(sample)
            if case.certified is not None:
                Comparison(campaign, batch, case.certified).proven(legal, temperature)
                own.lost(legal[::LOSSES], temperature, rng)
            if case.programs:
                own.programmed(legal[::PROGRAMS])
            if case.mirror is not None:
                other = Comparison(campaign, batch, case.mirror, "hyperedges")
                other.solved(legal[::EDGES])
                other.decoded(legal[::EDGES])
                other.ranked(legal[::EDGES], 3)
                other.summed(legal[::EDGES], temperature)
                other.spread(legal[::EDGES], temperature)
            padded = tensors is not None and not case.topology and len(batch.outputs) > 0
            if padded and tensors.has_tensors(case.structure):
                try:
                    tensors.compare_by_core(campaign, batch, apart, temperature)
                    tensors.compare_by_kernels(campaign, batch, apart, temperature)
                except Exception as error:
                    campaign.wrong("tensors", batch, 0, "answers", repr(error))
    campaign.seconds = time.monotonic() - begin
    return campaign


def fuzz_kernels(
    name: str,
    instances: int,
    device: str,
    *,
    seed: int = 0,
    size: int = 5000,
    seconds: float = float("inf"),
) -> Campaign:
    """Compare the kernels' answers on a device, on instances they support."""
    begin = time.monotonic()
    campaign = Campaign(name)
    rng = np.random.default_rng([seed, list(CASES).index(name), 1])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        while campaign.instances < instances and time.monotonic() - begin < seconds:
            if len(campaign.findings) > MOST_FINDINGS:
                break
            case = CASES[name](rng)
            precision = np.float32 if rng.random() < 0.5 else np.float64
            batch = Batch(case, rng, min(size, instances - campaign.instances), precision, 0.8)
            before = campaign.compared["kernels"]
            temperature = float(rng.choice(TEMPERATURES))
            tensors.compare_by_kernels(campaign, batch, rng, temperature, device)
            if campaign.compared["kernels"] > before:
                campaign.instances += len(batch.theta)
    campaign.seconds = time.monotonic() - begin
    return campaign


def main() -> int:
    """Fuzz the structures one after another; return 1 if an answer was wrong."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.structures", description=__doc__)
    parser.add_argument("structures", nargs="*", help=f"some of {', '.join(CASES)}; default: all")
    parser.add_argument("--instances", type=int, default=100_000, help="of each structure")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for all together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="cuda: only the tensor kernels there")
    arguments = parser.parse_args()
    if unknown := set(arguments.structures) - set(CASES):
        parser.error(f"unknown structure {min(unknown)!r}; choose from {', '.join(CASES)}")
    on_cpu = arguments.device == "cpu"
    names = arguments.structures or (list(CASES) if on_cpu else KERNELS)
    if tensors is None:
        print("tensors and kernels are not compared: PyTorch is not installed")
        if not on_cpu:
            return 2
    findings = 0
    for name in names:
        share = arguments.seconds / len(names)
        options = {"seed": arguments.seed, "seconds": share}
        campaign = (
            fuzz(name, arguments.instances, **options)
            if on_cpu
            else fuzz_kernels(name, arguments.instances, arguments.device, **options)
        )
        print(campaign, flush=True)
        for query, reason in campaign.missing.items():
            print(f"  no {query}: {reason[:150]}")
        for line in campaign.findings[:5]:
            print(f"  {line}")
        findings += len(campaign.findings)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
