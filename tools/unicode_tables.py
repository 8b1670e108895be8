"""Write native/text/unicode_tables.hpp: what the core knows of letters, from Python's tables.

Run by hand when a newer Unicode is wanted: ``python tools/unicode_tables.py``.
"""

from __future__ import annotations

import pathlib
import sys
import unicodedata

TARGET = pathlib.Path(__file__).parent.parent / "native/text/unicode_tables.hpp"
KINDS = {"Lu": "kUpper", "Lt": "kUpper", "Ll": "kLower", "Nd": "kDigit"}


def kind(point: int) -> str | None:
    category = unicodedata.category(chr(point))
    if category in KINDS:
        return KINDS[category]
    return "kLetter" if category[0] == "L" else None


def kind_ranges() -> list[tuple[int, int, str]]:
    ranges: list[tuple[int, int, str]] = []
    for point in range(0x80, 0x110000):
        found = kind(point)
        if found is None:
            continue
        if ranges and ranges[-1][1] == point - 1 and ranges[-1][2] == found:
            ranges[-1] = (ranges[-1][0], point, found)
        else:
            ranges.append((point, point, found))
    return ranges


def lower_ranges() -> list[tuple[int, int, int, int]]:
    """First, last, step between them, and what to add: simple one-to-one mappings only."""
    ranges: list[tuple[int, int, int, int]] = []
    for point in range(0x80, 0x110000):
        lower = chr(point).lower()
        if len(lower) != 1 or ord(lower) == point:
            continue
        delta = ord(lower) - point
        if ranges:
            first, last, step, before = ranges[-1]
            gap = point - last
            if before == delta and gap <= 2 and (first == last or gap == step):
                ranges[-1] = (first, point, gap, delta)
                continue
        ranges.append((point, point, 1, delta))
    return ranges


def main() -> None:
    lines = [
        f"// Written by tools/unicode_tables.py from Unicode {unicodedata.unidata_version}.",
        "#pragma once",
        "",
        "#include <cstdint>",
        "",
        "namespace structlearn::text {",
        "",
        "enum class Kind : std::uint8_t { kOther, kUpper, kLower, kDigit, kLetter };",
        "",
        "struct KindRange {",
        "  std::uint32_t first, last;",
        "  Kind kind;",
        "};",
        "struct LowerRange {",
        "  std::uint32_t first, last, step;",
        "  std::int32_t delta;",
        "};",
        "",
        "// clang-format off",
        "inline constexpr KindRange kKinds[] = {",
        *(f"{{0x{a:X}, 0x{b:X}, Kind::{name}}}," for a, b, name in kind_ranges()),
        "};",
        "inline constexpr LowerRange kLowers[] = {",
        *(f"{{0x{a:X}, 0x{b:X}, {step}, {delta}}}," for a, b, step, delta in lower_ranges()),
        "};",
        "// clang-format on",
        "",
        "}  // namespace structlearn::text",
    ]
    # Entries side by side, as many as fit a line.
    packed: list[str] = []
    for line in lines:
        short = line.startswith("{0x")
        if short and packed and packed[-1].startswith("{0x") and len(packed[-1] + line) < 99:
            packed[-1] += " " + line
        else:
            packed.append(line)
    TARGET.write_text("\n".join(packed) + "\n", encoding="utf-8")
    print(f"{TARGET.name}: {len(packed)} lines", file=sys.stderr)


if __name__ == "__main__":
    main()
