"""The command line: ``python -m benchmarks`` or ``python benchmarks/run.py [names...]``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # if run as a file, make the package importable
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import environment

environment.one_thread()  # before anything imports NumPy

RESULTS = Path(__file__).resolve().parent / "results"


def main(arguments: list[str] | None = None) -> int:
    """Run benchmarks; return 0 unless one of them failed."""
    cores = environment.affinity()
    pinned = environment.pin(cores[-1:])

    from benchmarks.limits import peaks
    from benchmarks.registry import Context
    from benchmarks.report import heading, table
    from benchmarks.rows import REGISTRY

    options = _parser(list(REGISTRY)).parse_args(arguments)
    if options.list:
        for name, function in REGISTRY.items():
            print(f"{name:18} {(function.__doc__ or '').splitlines()[0]}")
        return 0
    if options.show:
        return _show(options.names or list(REGISTRY))
    unknown = [name for name in options.names if name not in REGISTRY]
    if unknown:
        print(
            f"unknown benchmark {unknown[0]!r}; choose from {', '.join(REGISTRY)}", file=sys.stderr
        )
        return 2
    context = Context(options.quick, options.repeats, tuple(cores))
    machine = environment.describe(cores)
    environment.compile_library()
    common: dict[str, Any] = {
        "machine": machine,
        "pinned": pinned,
        "quick": options.quick,
    }
    print(heading(machine), flush=True)
    results: dict[str, Any] = {}
    failed = False
    for name in options.names or list(REGISTRY):
        begin = time.perf_counter()
        try:
            result = REGISTRY[name](context)
        except Exception as error:
            print(f"\n{name}: FAILED: {type(error).__name__}: {error}", flush=True)
            failed = True
            continue
        seconds = time.perf_counter() - begin
        common["peaks"] = peaks()
        print(f"\n{table(name, result)}\n  ({seconds:.0f} s)", flush=True)
        results[name] = {"date": time.strftime("%Y-%m-%d"), "seconds": seconds, **result.as_dict()}
        if not (options.quick or options.out):  # at once: a later benchmark may fail
            _write(RESULTS / f"{name}.json", {"benchmark": name, **common, **results[name]})
    if options.out:
        _write(Path(options.out), {**common, "benchmarks": results})
    return int(failed)


def _parser(names: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="small problems, under a minute")
    parser.add_argument("--repeats", type=int, help="repetitions of each timing")
    parser.add_argument(
        "--out", metavar="FILE", help="one JSON file; default: results/NAME.json, unless --quick"
    )
    parser.add_argument("--show", action="store_true", help="print the stored results, run nothing")
    parser.add_argument("--list", action="store_true", help="name the benchmarks and stop")
    return parser


def _show(names: list[str]) -> int:
    """Print the stored results."""
    from benchmarks.registry import Result, Row
    from benchmarks.report import heading, table

    for name in names:
        path = RESULTS / f"{name}.json"
        if not path.exists():
            print(f"{name}: no result yet")
            continue
        stored = json.loads(path.read_text())
        rows = [Row(**row) for row in stored["rows"]]
        result = Result(rows, notes=stored["notes"], skipped=stored["skipped"])
        print(f"\n{table(name, result)}\n  ({stored['date']}, {heading(stored['machine'])})")
    return 0


def _write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, default=float) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
