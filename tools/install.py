"""Install structlearn from this folder, and show what is being done: ``make`` calls this.

pip is silent while it compiles, and fetches before it compiles. Here one pip compiles the core
while another fetches what the rest needs, whose Python is compiled when it is first imported. What
is fetched and how many files are compiled is printed, on a terminal in one line, elsewhere every
fifth file; all that they said is in ``build/install.log``, and is printed if one fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

LOG = Path("build/install.log")
FULL = Path("packaging/structlearn")
#: What pip and ninja say, and what is printed of it.
STEPS = (
    (re.compile(r"\s*Preparing editable metadata"), "reading what is needed"),
    (re.compile(r"(?:Collecting |Processing \S*/)(\w+(?:-(?!\d)\w+)*)"), "fetching {}"),
    (re.compile(r"Installing collected packages"), "installing what was fetched"),
    (re.compile(r"\s*\[(\d+)/(\d+)\] Building CXX object "), "compiled {} of {}"),
    (re.compile(r"\s*\[\d+/\d+\] Linking"), "linking"),
)


def step_of(line: str) -> tuple[str, bool] | None:
    """Return what a line of pip's means, and whether it is worth a line without a terminal."""
    for pattern, text in STEPS:
        match = pattern.match(line)
        if match:
            parts = match.groups()
            return text.format(*parts), len(parts) < 2 or int(parts[0]) % 5 == 1
    return None


def requirements() -> list[str]:
    """Return what structlearn needs beside structlearn-core."""
    project = tomllib.loads((FULL / "pyproject.toml").read_text(encoding="utf-8"))
    lines: list[str] = project["tool"]["scikit-build"]["metadata"]["dependencies"]["result"]
    return [line for line in lines if not line.startswith("structlearn-core")]


def remove_old_structlearn() -> None:
    """Remove a structlearn from before structlearn-core, with which pip would remove the module."""
    try:
        files = metadata.files("structlearn") or []
    except metadata.PackageNotFoundError:
        return
    if any(file.name.startswith("_core.") for file in files):
        command = [sys.executable, "-m", "pip", "uninstall", "--quiet", "--yes", "structlearn"]
        subprocess.run(command, check=True)


class Progress:
    """What pip is doing, on a terminal in one line."""

    def __init__(self) -> None:
        self.begin, self.shown, self.terminal = time.monotonic(), "", sys.stdout.isatty()

    def seconds(self) -> float:
        """Return the seconds so far."""
        return time.monotonic() - self.begin

    def show(self, line: str) -> None:
        """Print what a line of pip's means."""
        step = step_of(line)
        if step is None or step[0] == self.shown:
            return
        self.shown, notable = step
        if self.terminal:
            print(f"\r\x1b[K    {self.seconds():4.0f} s  {self.shown}", end="", flush=True)
        elif notable:
            print(f"    {self.seconds():4.0f} s  {self.shown}", flush=True)


def install(arguments: list[str], progress: Progress) -> tuple[int, str]:
    """Run pip; return its exit code and all that it said."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-v"]
    said = []
    with subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        for line in pip.stdout or ():
            said.append(line)
            progress.show(line)
    return pip.returncode, "".join(said)


def main() -> int:
    """Install both distributions as editable; return pip's exit code."""
    remove_old_structlearn()
    progress = Progress()
    local = ["--no-build-isolation", "--no-deps", "--editable"]
    with ThreadPoolExecutor() as pool:
        jobs = [
            pool.submit(install, arguments, progress)
            for arguments in ([*local, "."], ["--no-compile", *requirements()])
        ]
        results = [job.result() for job in jobs]
    if not any(code for code, _ in results):
        results.append(install([*local, f"./{FULL}"], progress))
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_text("\n".join(said for _, said in results), encoding="utf-8")
    if progress.terminal:
        print("\r\x1b[K", end="")
    failed = [(code, said) for code, said in results if code]
    if failed:
        print(*(said for _, said in failed), sep="\n", file=sys.stderr)
        return failed[0][0]
    print(f"    done in {progress.seconds():.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
