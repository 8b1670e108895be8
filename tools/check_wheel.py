"""The wheel as a user gets it: built, installed where no compiler is, and tried.

``python tools/check_wheel.py`` builds ``dist/*.whl``, installs it in a new virtual environment with
the compilers out of reach, and runs itself there with ``--installed``, which checks size, names,
stubs, import time, learning and the command line. Ends with 1 and a line for each thing that fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from importlib import metadata
from pathlib import Path

MEGABYTES = 5.0
SECONDS = 0.5
FIRST = "import numpy, scipy.sparse, scipy.optimize, scipy.special, sklearn.base, sklearn.utils"
ALL_OF_IT = "; ".join(
    f"from structlearn{part} import *"
    for part in ("", ".structures", ".constraints", ".losses", ".learners", ".tasks", ".metrics")
)
LEARN = """
from structlearn import CRF, StructuredSVM
from structlearn.datasets import make_treebank
bank = make_treebank(80, random_state=0)
X = [[[w.lower(), w[-2:]] for w in s.words] for s in bank]
y = [list(s.tags) for s in bank]
for model in (CRF(C=1.0), StructuredSVM(C=0.1)):
    assert model.fit(X, y).score(X, y) > 0.9, model
"""


def main() -> int:
    """Return 0 if everything holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--installed", action="store_true", help="check what this Python has")
    parser.add_argument("--wheel", type=Path, help="a wheel; without it one is built into dist/")
    options = parser.parse_args()
    if options.installed:
        return check_installed()
    wheel = options.wheel or build()
    size = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {size:.2f} MB (limit {MEGABYTES:.0f})")
    return max(int(size > MEGABYTES), install_and_check(wheel.resolve()))


def build() -> Path:
    """Build the wheel of the folder above and return its path."""
    root = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, root]
        subprocess.run(command, check=True)
        (built,) = Path(folder).glob("*.whl")
        (root / "dist").mkdir(exist_ok=True)
        return Path(shutil.move(built, root / "dist" / built.name))


def install_and_check(wheel: Path) -> int:
    """Install in an environment of its own, with no compiler in reach, and check there."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "Scripts" if os.name == "nt" else "bin", "python")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "CMAKE"))}
        environment.update(PATH=f"{folder}/bin", CC="/no/compiler", CXX="/no/compiler")
        for arguments in (
            ["-m", "pip", "install", "--quiet", "--only-binary", ":all:", str(wheel)],
            [str(Path(__file__).resolve()), "--installed"],
        ):
            code = subprocess.run([str(python), *arguments], env=environment, cwd=folder).returncode
            if code:
                return code
    return 0


def seconds(code: str) -> float:
    """Least processor time of five that a new Python takes over ``code``, its start included."""
    clock = f"{code}\nimport time; print(time.process_time())"
    runs = [subprocess.check_output([sys.executable, "-c", clock]) for _ in range(5)]
    return min(float(printed) for printed in runs)


def check_installed() -> int:
    """Check the structlearn that this Python imports; tell each thing, return 1 if one fails."""
    import structlearn

    home = Path(structlearn.__file__).parent
    failures = []

    def check(what: str, holds: bool) -> None:
        print(f"{'ok  ' if holds else 'FAIL'}  {what}")
        if not holds:
            failures.append(what)

    version = metadata.version("structlearn")
    check(f"version {structlearn.__version__}", structlearn.__version__ == version)
    for name in ("py.typed", "_core.pyi"):
        check(f"{name} is shipped", (home / name).is_file())
    foreign = [f.name for f in home.rglob("*") if f.suffix in {".cpp", ".hpp", ".a", ".md"}]
    check(f"no sources of the core, no drafts {foreign[:3]}", not foreign)
    seconds(f"{FIRST}; {ALL_OF_IT}")  # writes the byte code that pip may not have written
    extra = seconds(f"{FIRST}; {ALL_OF_IT}") - seconds(FIRST)
    check(f"import takes {extra:.2f} s beyond NumPy, SciPy, scikit-learn", extra < SECONDS)
    learned = subprocess.run([sys.executable, "-c", LEARN]).returncode == 0
    check("a CRF and an SVM learn", learned)
    demo = subprocess.run(
        [sys.executable, "-m", "structlearn", "demo"], stdout=subprocess.DEVNULL
    ).returncode
    check("structlearn demo", demo == 0)
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
