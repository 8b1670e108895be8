"""``python -m fuzz.metamorphic``: draw instances of every relation; exit code 1 on a finding."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from fuzz.metamorphic.catalogue import MISSING
from fuzz.metamorphic.relation import RELATIONS, run

#: The default number of draws of a relation, by the cost of a draw.
DRAWS = {"query": 100_000, "fit": 1_000, "pipeline": 100}


def main() -> int:
    """Run the relations one after another."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.metamorphic", description=__doc__)
    parser.add_argument("relations", nargs="*", help="some of the relations; default: all")
    parser.add_argument("--list", action="store_true", help="list the relations and their claims")
    parser.add_argument("--draws", type=int, help="of each relation; default: by what a draw takes")
    parser.add_argument("--share", type=float, default=1.0, help="of the default number of draws")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each relation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--subjects", nargs="+", default=(), help="ask these alone")
    parser.add_argument("--output", type=Path, help="a JSON file for the counts")
    arguments = parser.parse_args()
    if unknown := set(arguments.relations) - set(RELATIONS):
        parser.error(f"unknown relation {min(unknown)!r}; choose from {', '.join(RELATIONS)}")
    for module, package in MISSING.items():
        print(f"the relations of {module} are left out: {package} is not installed")
    if arguments.list:
        for it in RELATIONS.values():
            print(f"{it.name}: {it.claim}, by {it.cost}, {len(it.subjects)} subjects")
            for subject, reason in it.not_claimed.items():
                print(f"    not claimed for {subject}: {reason}")
        return 0
    counts, findings = [], 0
    for name in arguments.relations or RELATIONS:
        it = RELATIONS[name]
        draws = arguments.draws or max(1, round(arguments.share * DRAWS[it.cost]))
        campaign = run(
            it, draws, seed=arguments.seed, first=arguments.first, seconds=arguments.seconds,
            only=arguments.subjects,
        )  # fmt: skip
        print(campaign, flush=True)
        for line in campaign.findings:
            print(f"  {line}", flush=True)
        findings += len(campaign.findings)
        counts.append({"relation": name, "claim": it.claim, "draws": campaign.draws.total(),
                       "seconds": round(campaign.seconds, 1),
                       "wrong": campaign.wrong.total(),
                       "findings": len(campaign.findings)})  # fmt: skip
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(counts, indent=1) + "\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
