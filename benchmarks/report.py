"""Tables of results for standard output."""

from __future__ import annotations

from typing import Any

from .registry import Result, Row

__all__ = ["heading", "number", "ratio", "table"]

_COLUMNS = ("case", "rival", "ours", "rival's", "ratio", "median", "CPU", "target", "")


def heading(machine: dict[str, Any]) -> str:
    """Return two lines that describe the machine."""
    packages = ", ".join(f"{k} {v}" for k, v in machine["packages"].items() if v)
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, {machine['python']}\n"
        f"{packages}; kernels: {machine['kernels']}"
    )


def table(name: str, result: Result) -> str:
    """Return a benchmark's rows as text."""
    rows = [_COLUMNS, *(_cells(row) for row in result.rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_COLUMNS))]
    lines = [name]
    for number, row in enumerate(rows):
        cells = [
            cell.ljust(width) if i in (0, 1) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  " + "  ".join(cells).rstrip())
        if number == 0:
            lines.append("  " + "  ".join("-" * width for width in widths).rstrip())
    lines += [f"  {note}" for note in result.notes]
    lines += [f"  skipped: {what}" for what in result.skipped]
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.case,
        row.rival or "-",
        f"{number(row.ours)} {row.unit}",
        "-" if row.theirs is None else f"{number(row.theirs)} {row.unit}",
        ratio(row.ratio),
        ratio(row.ratio_median),
        ratio(row.ratio_cpu),
        row.target,
        "" if row.met is None else "met" if row.met else "MISSED",
    )


def number(x: float) -> str:
    """Return a figure with three digits."""
    return f"{x:.0f}" if x >= 1000 else f"{x:.3g}"


def ratio(x: float | None) -> str:
    """Return a ratio as a multiple."""
    return "-" if x is None else f"{x:.0f}x" if x >= 100 else f"{x:.2f}x"
