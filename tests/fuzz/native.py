"""``python -m tests.fuzz.native``: libFuzzer on the core's readers, under ASan and UBSan.

Built by ``make fuzz``. The seeds of the text formats go before bytes that say how they are read.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from tests.fuzz.readers import HERE, seeds_of

__all__ = ["TARGETS"]

#: Target -> what its inputs begin with, and the formats of which there are seeds.
TARGETS: dict[str, tuple[tuple[bytes, ...], tuple[str, ...]]] = {
    # which reader; the format; whether lines are kept, and which column; whether chunks are read
    "corpus": (
        (b"\0\0\1\1\1", b"\0\1\0\0", b"\3", b"\4\3"),
        ("columns", "conllu", "csv", "brackets"),
    ),
    # the format, n best, confidence, marginals, known labels
    "labelled": ((b"\0\0\0\0\0", b"\1\2\1\1\1", b"\0\1\1\0\1"), ("columns", "conllu")),
    "tables": ((b"\0\2\0", b"\1\2\0\1\1\x10", b"\2\4", b"\3\4\0", b"\4\3"), ("columns",)),
}
#: Bytes and megabytes that an input may have and take.
LIMITS = ("-max_len=4096", "-rss_limit_mb=1024", "-malloc_limit_mb=1024")


def main() -> int:
    """Run the targets; return 1 where one found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.native", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"some of {', '.join(TARGETS)}; default: all")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="of the programs")
    parser.add_argument("--inputs", type=int, default=1_000_000, help="of each target, at most")
    parser.add_argument("--seconds", type=int, default=0, help="for all together; 0: no limit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=1, help="seconds for an input")
    arguments = parser.parse_args()
    chosen = arguments.targets or list(TARGETS)
    found = 0
    for name in chosen:
        prefixes, formats = TARGETS[name]
        grown = arguments.folder / "corpora" / name
        seeds = arguments.folder / "seeds" / name
        for folder in (grown, seeds, arguments.folder / "found"):
            folder.mkdir(parents=True, exist_ok=True)
        texts = [text for format in formats for text in seeds_of(format)]
        for i, (prefix, text) in enumerate((p, t) for p in prefixes for t in texts):
            (seeds / f"seed{i}").write_bytes(prefix + text)
        command = [
            str(arguments.folder / f"fuzz_{name}"),
            f"-runs={arguments.inputs}",
            f"-max_total_time={arguments.seconds // len(chosen)}",
            f"-seed={arguments.seed}",
            f"-artifact_prefix={arguments.folder}/found/{name}-",
            f"-timeout={arguments.timeout}",
            *LIMITS,
            str(grown),
            str(seeds),
            *(str(p) for p in [HERE / "found" / f"native_{name}"] if p.is_dir()),
        ]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        runs = re.findall(r"^(?:Done |#)(\d+)", ended.stderr, re.MULTILINE)
        done = int(runs[-1]) if runs else 0
        print(f"{name:<18} {done:>9,} inputs, exit code {ended.returncode}", flush=True)
        if ended.returncode:
            print(ended.stderr[-3000:])
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
