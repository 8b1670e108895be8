"""Install structlearn from this folder, and show what is being done: ``make`` calls this.

pip is silent while it compiles. This prints what it fetches and which files are compiled, on a
terminal in one line, elsewhere every tenth file; all that pip said is in ``build/install.log``, and
is printed if it fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

LOG = Path("build/install.log")
#: What pip and ninja say, and how it is told.
STEPS = (
    (re.compile(r"\s*Preparing editable metadata"), "reading what is needed"),
    (re.compile(r"(?:Collecting |Processing \S*/)(\w+(?:-(?!\d)\w+)*)"), "fetching {}"),
    (re.compile(r"Installing collected packages"), "installing what was fetched"),
    (
        re.compile(r"\s*\[(\d+)/(\d+)\] Building CXX object \S*?([\w.]+)\.o\b"),
        "compiled {} of {}: {}",
    ),
    (re.compile(r"\s*\[\d+/\d+\] Linking"), "linking"),
)


def told(line: str) -> tuple[str, bool] | None:
    """Return what a line of pip's means, and whether it is worth a line without a terminal."""
    for pattern, text in STEPS:
        found = pattern.match(line)
        if found:
            numbers = found.groups()
            return text.format(*numbers), len(numbers) < 3 or int(numbers[0]) % 10 == 1
    return None


def remove_old_structlearn() -> None:
    """Remove a structlearn from before structlearn-core, with which pip would remove the module."""
    try:
        files = metadata.files("structlearn") or []
    except metadata.PackageNotFoundError:
        return
    if any(file.name.startswith("_core.") for file in files):
        command = [sys.executable, "-m", "pip", "uninstall", "--quiet", "--yes", "structlearn"]
        subprocess.run(command, check=True)


def main(arguments: list[str]) -> int:
    """Run pip with these arguments; return its exit code."""
    remove_old_structlearn()
    begin, shown, terminal = time.monotonic(), "", sys.stdout.isatty()
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-v"]
    LOG.parent.mkdir(exist_ok=True)
    with (
        LOG.open("w") as log,
        subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as pip,
    ):
        for line in pip.stdout or ():
            log.write(line)
            step = told(line)
            if step is None or step[0] == shown:
                continue
            shown, notable = step
            seconds = time.monotonic() - begin
            if terminal:
                print(f"\r\x1b[K    {seconds:4.0f} s  {shown}", end="", flush=True)
            elif notable:
                print(f"    {seconds:4.0f} s  {shown}", flush=True)
    if terminal:
        print("\r\x1b[K", end="")
    if pip.returncode:
        print(LOG.read_text(), file=sys.stderr)
    else:
        print(f"    done in {time.monotonic() - begin:.0f} s")
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
