"""``python -m fuzz.native``: libFuzzer on the core's readers, under ASan and UBSan.

Built by ``make fuzz``. Seeds of the text formats follow bytes that select how they are read.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
from pathlib import Path

from fuzz.readers import seeds_of

#: Target -> the first bytes of its inputs, and the formats of its seeds.
TARGETS: dict[str, tuple[tuple[bytes, ...], tuple[str, ...]]] = {
    # the reader; the format; whether lines are kept, and the column; whether chunks are read
    "corpus": (
        (b"\0\0\1\1\1", b"\0\1\0\0", b"\3", b"\4\3"),
        ("columns", "conllu", "csv", "brackets"),
    ),
    # the format, n best, confidence, marginals, known labels
    "labelled": ((b"\0\0\0\0\0", b"\1\2\1\1\1", b"\0\1\1\0\1"), ("columns", "conllu")),
    # whether a description follows, n best, what is wanted
    "library": ((b"\1\2\3", b"\1\0\1"), ("descriptions",)),
    "tables": ((b"\0\2\0", b"\1\2\0\1\1\x10", b"\2\4", b"\3\4\0", b"\4\3"), ("columns",)),
}
#: Limits of bytes of an input, and of megabytes of memory. libFuzzer measures clock time: slow
#: inputs are reported, and their processor time is measured afterwards.
LIMITS = ("-max_len=4096", "-rss_limit_mb=1024", "-malloc_limit_mb=1024", "-timeout=300")


def _computed(program: str, path: Path) -> float:
    """Return the processor seconds of a program for an input."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, "-timeout=300", str(path)], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Run the targets; return 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.native", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"some of {', '.join(TARGETS)}; default: all")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="of the programs")
    parser.add_argument("--inputs", type=int, default=1_000_000, help="of each target, at most")
    parser.add_argument("--seconds", type=int, default=0, help="for all together; 0: no limit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=1, help="seconds of computing for an input")
    arguments = parser.parse_args()
    names = arguments.targets or list(TARGETS)
    findings = 0
    for name in names:
        prefixes, formats = TARGETS[name]
        grown = arguments.folder / "corpora" / name
        seeds = arguments.folder / "seeds" / name
        saved = arguments.folder / "found"
        for folder in (grown, seeds, saved):
            folder.mkdir(parents=True, exist_ok=True)
        for path in saved.glob(f"{name}-slow-unit-*"):
            path.unlink()
        texts = [text for format in formats for text in seeds_of(format)]
        for i, (prefix, text) in enumerate((p, t) for p in prefixes for t in texts):
            (seeds / f"seed{i}").write_bytes(prefix + text)
        program = str(arguments.folder / f"fuzz_{name}")
        command = [
            program,
            f"-runs={arguments.inputs}",
            f"-max_total_time={arguments.seconds // len(names)}",
            f"-seed={arguments.seed}",
            f"-artifact_prefix={saved}/{name}-",
            f"-report_slow_units={arguments.timeout}",
            *LIMITS,
            str(grown),
            str(seeds),
        ]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        runs = re.findall(r"^(?:Done |#)(\d+)", ended.stderr, re.MULTILINE)
        done = int(runs[-1]) if runs else 0
        print(f"{name:<18} {done:>9,} inputs, exit code {ended.returncode}", flush=True)
        if ended.returncode:
            print(ended.stderr[-3000:])
            findings += 1
        for path in sorted(saved.glob(f"{name}-slow-unit-*")):
            took = _computed(program, path)
            if took > arguments.timeout:
                print(f"  {path} took {took:.1f} s", flush=True)
                findings += 1
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
