"""Memory of ``structlearn annotate`` while it reads a long file.

    python -m benchmarks.streaming MODEL --megabytes 1000 --seconds 300 [--without parser ...]

A file of synthetic sentences is written and annotated by the command, which is stopped after the
given time. The result, benchmarks/results/streaming.json, has the resident memory by the bytes
read.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from structlearn.datasets import make_treebank

from .environment import affinity, describe

_RESULT = Path(__file__).parent / "results" / "streaming.json"


def make_file(path: Path, megabytes: float) -> None:
    """Write synthetic sentences, eight to a paragraph, until the file has its length."""
    lines = [" ".join(s.words) for s in make_treebank(4000, random_state=0)]
    paragraphs = [" ".join(lines[k : k + 8]) + "\n\n" for k in range(0, len(lines), 8)]
    block = "".join(paragraphs).encode()
    with path.open("wb") as file:
        while file.tell() < megabytes * 1e6:
            file.write(block)


def watch(command: list[str], seconds: float, source: Path) -> dict[str, Any]:
    """Run a command for some seconds; return its memory while it reads the file."""
    curve: list[tuple[float, float]] = []
    begin = time.perf_counter()
    with subprocess.Popen(command) as process:
        while process.poll() is None and time.perf_counter() - begin < seconds:
            time.sleep(seconds / 60)
            read = _position(process.pid, source)
            memory = _memory(process.pid)
            if read is not None and memory is not None:
                curve.append((read / 1e6, memory))
        finished = process.poll() is not None
        if not finished:
            process.terminate()
    return {"finished": finished, "seconds": time.perf_counter() - begin, "curve": curve}


def _position(pid: int, source: Path) -> int | None:
    """Return a process's position in a file."""
    try:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            if os.path.realpath(link) == str(source.resolve()):
                for line in Path(f"/proc/{pid}/fdinfo/{link.name}").read_text().splitlines():
                    if line.startswith("pos:"):
                        return int(line.split()[1])
    except OSError:
        pass
    return None


def _memory(pid: int) -> float | None:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return None


def main() -> None:
    """Measure once for each requested set of stages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--megabytes", type=float, default=1000)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--without", action="append", default=[])
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "made.txt"
        make_file(source, o.megabytes)
        command = [sys.executable, "-m", "structlearn", "annotate", o.model, str(source)]
        command += ["--output", os.devnull, *(f"--without={stage}" for stage in o.without)]
        figures = watch(command, o.seconds, source)
        size = source.stat().st_size / 1e6
    case = "without " + ", ".join(o.without) if o.without else "all stages"
    record = json.loads(_RESULT.read_text()) if _RESULT.exists() else {}
    record["machine"] = describe(affinity())
    record.setdefault("cases", {})[case] = {"megabytes": size, **figures}
    _RESULT.write_text(json.dumps(record, indent=1) + "\n")
    read, memory = zip(*figures["curve"], strict=True)
    print(f"{case}: {read[-1]:.1f} of {size:.0f} MB read")
    print(
        f"memory: {memory[0]:.0f} MB at first, at most {max(memory):.0f}, at last {memory[-1]:.0f}"
    )


if __name__ == "__main__":
    main()
