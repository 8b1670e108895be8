"""The wheels as users get them: built, installed where no compiler is, and tried.

``python tools/check_wheel.py`` builds ``dist/*.whl``, structlearn-core and structlearn, and tries
each in a new virtual environment with the compilers out of reach:

* structlearn-core with nothing else installed: its size, the English model, and, with the Python
  that runs this, every model of ``tests/test_without_numpy.py``, trained here and used there;
* structlearn with all that it requires: import time, learning, the tour.

``--core`` does the first only and fetches nothing. ``--installed core`` and ``--installed full``
check the Python that runs this. Ends with 1 and a line for each thing that fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECTS = {"core": ROOT, "full": ROOT / "packaging" / "structlearn"}
ENGLISH = ROOT / "models/english/src/structlearn_english/english.model"
#: Megabytes of the wheel, and of what is installed as du counts it: whole blocks of the disk,
#: compiled Python included.
WHEEL, INSTALLED = 5.0, 12.0
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
LABEL = f"""
import structlearn
nlp = structlearn.load({str(ENGLISH)!r})
doc = nlp("Fish sleep. They don't dream.", confidence=True)
assert [len(sentence) for sentence in doc.sentences] == [3, 5], doc
assert doc.to_conllu(confidence=True).count("\\n") > 10 and doc.to_dict()["sentences"]
"""


def main() -> int:
    """Return 0 if everything holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--core", action="store_true", help="structlearn-core only")
    parser.add_argument("--installed", choices=list(PROJECTS), help="check what this Python has")
    options = parser.parse_args()
    if options.installed:
        return Checks().run(options.installed)
    core = build("core")
    if (size := core.stat().st_size / 1e6) > WHEEL:
        print(f"FAIL  {core.name} has {size:.2f} MB, more than {WHEEL:.0f}")
        return 1
    code = try_wheels("core", [core])
    if code or options.core:
        return code
    return try_wheels("full", [core, build("full")])


def build(kind: str) -> Path:
    """Build the wheel of a distribution with the tools of this Python and return its path."""
    tools = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation"]
        command += ["--no-deps", "-w", folder, str(PROJECTS[kind])]
        subprocess.run(command, check=True, env=tools)
        (built,) = Path(folder).glob("*.whl")
        (ROOT / "dist").mkdir(exist_ok=True)
        print(f"built {built.name}, {built.stat().st_size / 1e6:.2f} MB", flush=True)
        return Path(shutil.move(built, ROOT / "dist" / built.name))


def install(folder: str, wheels: list[Path], *, fetch: bool) -> tuple[str, dict[str, str]]:
    """Make a virtual environment with some wheels; return its Python, and variables to run it with.

    No compiler is in its reach; what the wheels require is fetched, or must not be needed.
    """
    venv.create(folder, with_pip=True)
    python = str(Path(folder, "Scripts" if os.name == "nt" else "bin", "python"))
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "CMAKE"))}
    environment.update(PATH=f"{folder}/bin", CC="/no/compiler", CXX="/no/compiler")
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--only-binary", ":all:"] if fetch else ["--no-index"]
    subprocess.run([*command, *map(str, wheels)], env=environment, cwd=folder, check=True)
    return python, environment


def try_wheels(kind: str, wheels: list[Path]) -> int:
    """Install wheels in an environment of their own, and check there."""
    with tempfile.TemporaryDirectory() as folder:
        python, environment = install(folder, wheels, fetch=kind != "core")
        check = [python, str(Path(__file__).resolve()), "--installed", kind]
        code = subprocess.run(check, env=environment, cwd=folder).returncode
        return code or (try_models(python) if kind == "core" else 0)


def try_models(python: str) -> int:
    """Have the tests train a model of each kind here, and use it with another Python."""
    command = [sys.executable, "-m", "pytest", "-q", "tests/test_without_numpy.py"]
    told = {**os.environ, "STRUCTLEARN_CORE_PYTHON": python}
    return subprocess.run(command, env=told, cwd=ROOT).returncode


def seconds(code: str) -> float:
    """Least processor time of five that a new Python takes over ``code``, its start included."""
    clock = f"{code}\nimport time; print(time.process_time())"
    runs = [subprocess.check_output([sys.executable, "-c", clock]) for _ in range(5)]
    return min(float(printed) for printed in runs)


def megabytes(files: Iterable[Path]) -> float:
    """Return what files and folders take on the disk."""
    return sum(file.stat().st_blocks * 512 for file in files) / 1e6


def installed_megabytes(home: Path) -> float:
    """Return what structlearn-core takes on the disk, with what pip wrote beside it."""
    (about,) = home.parent.glob("structlearn_core-*.dist-info")
    return megabytes([home, *home.rglob("*"), about, *about.rglob("*")])


class Checks:
    """Checks of the structlearn that this Python imports; each is told as it is made."""

    def __init__(self) -> None:
        self.failed = False

    def check(self, what: str, holds: bool) -> None:
        """Print what was checked, and whether it holds."""
        print(f"{'ok  ' if holds else 'FAIL'}  {what}", flush=True)
        self.failed |= not holds

    def run(self, kind: str) -> int:
        """Make all checks of a distribution; return 1 if one fails."""
        import structlearn

        home = Path(structlearn.__file__).parent
        names = ["structlearn-core"] if kind == "core" else ["structlearn-core", "structlearn"]
        versions = {name: metadata.version(name) for name in names}
        version = structlearn.__version__
        self.check(f"version {version}: {versions}", set(versions.values()) == {version})
        for name in ("py.typed", "_core.pyi"):
            self.check(f"{name} is shipped", (home / name).is_file())
        foreign = [f.name for f in home.rglob("*") if f.suffix in {".cpp", ".hpp", ".a", ".md"}]
        self.check(f"no sources of the core, no drafts {foreign[:3]}", not foreign)
        self.check_core(home) if kind == "core" else self.check_full()
        return int(self.failed)

    def check_core(self, home: Path) -> None:
        """Check that it stands alone, what it takes on the disk, and that it labels text."""
        present = {d.metadata["Name"] for d in metadata.distributions()} - {"pip", "setuptools"}
        self.check(f"nothing else is installed: {sorted(present)}", present == {"structlearn-core"})
        needed = [n for n in metadata.requires("structlearn-core") or [] if "extra ==" not in n]
        self.check(f"it requires nothing {needed}", not needed)
        size = installed_megabytes(home)
        module = megabytes(home.glob("_core.*.so"))
        self.check(
            f"{size:.2f} MB installed, {module:.2f} of it the module (limit {INSTALLED:.0f})",
            size <= INSTALLED,
        )
        self.check_program("the English model labels text", LABEL)

    def check_full(self) -> None:
        """Check that importing is quick, and that it learns."""
        seconds(f"{FIRST}; {ALL_OF_IT}")  # writes the byte code that pip may not have written
        extra = seconds(f"{FIRST}; {ALL_OF_IT}") - seconds(FIRST)
        self.check(f"import takes {extra:.2f} s beyond NumPy, SciPy, scikit-learn", extra < SECONDS)
        self.check_program("a CRF and an SVM learn", LEARN)
        demo = [sys.executable, "-m", "structlearn", "demo"]
        code = subprocess.run(demo, stdout=subprocess.DEVNULL).returncode
        self.check("structlearn demo", code == 0)

    def check_program(self, what: str, code: str) -> None:
        """Check that some lines of Python run."""
        self.check(what, subprocess.run([sys.executable, "-c", code]).returncode == 0)


if __name__ == "__main__":
    sys.exit(main())
