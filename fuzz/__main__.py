"""``python -m fuzz``: fuzz the readers; exit code 1 if there are findings."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fuzz.campaign import run
from fuzz.models import file_targets
from fuzz.readers import text_targets


def main() -> int:
    """Run the targets one after another."""
    texts = text_targets()
    makers = {name: (lambda t=target: t) for name, target in texts.items()}
    makers.update(file_targets())
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"some of {', '.join(makers)}; default: all")
    parser.add_argument("--inputs", type=int, default=1_000_000, help="of each target, at most")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for all together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--folder", type=Path, default=Path("build/found"), help="for findings")
    arguments = parser.parse_args()
    if unknown := set(arguments.targets) - set(makers):
        parser.error(f"unknown target {min(unknown)!r}; choose from {', '.join(makers)}")
    names = arguments.targets or list(makers)
    findings = 0
    for name in names:
        outcome = run(
            name,
            makers[name],
            seed=arguments.seed,
            first=arguments.first,
            inputs=arguments.inputs,
            seconds=arguments.seconds / len(names),
            folder=arguments.folder,
        )
        print(outcome, flush=True)
        for line in outcome.findings:
            print(f"  {line}", flush=True)
        findings += len(outcome.findings)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
