"""Check that a release can be made: ``python tools/release.py --tag v0.2.0``.

The tag, ``structlearn.__version__`` and the newest heading of CHANGELOG.md must name one version,
and the heading must not say "unreleased". Ends with 1 and a line for each thing that does not fit.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def problems(tag: str, source: str, changelog: str) -> list[str]:
    """Return what keeps a tag from being released, given the texts of two files."""
    version = re.search(r'^__version__ = "(.+)"', source, re.MULTILINE)
    heading = re.search(r"^## (\S+)(.*)", changelog, re.MULTILINE)
    if version is None or heading is None:
        return ["no version in src/structlearn/__init__.py, or no heading in CHANGELOG.md"]
    lines = []
    if tag != f"v{version[1]}":
        lines.append(f"the tag is {tag}, the source has version {version[1]}")
    if heading[1] != version[1]:
        lines.append(f"the newest heading of CHANGELOG.md is {heading[1]}, not {version[1]}")
    if "unreleased" in heading[2]:
        lines.append(f"CHANGELOG.md says that {heading[1]} is unreleased: write the date")
    return lines


def main() -> int:
    """Return 0 if the release can be made."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", required=True)
    source = (ROOT / "src/structlearn/__init__.py").read_text()
    lines = problems(parser.parse_args().tag, source, (ROOT / "CHANGELOG.md").read_text())
    print("\n".join(lines) or "the tag, the version and the changelog agree")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
