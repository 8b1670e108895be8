"""The test suites of python-crfsuite, sklearn-crfsuite and seqeval, run on our modules.

Their source packages are downloaded from the registry, and none of their code is kept here: modules
of their names that lead to :mod:`structlearn.crfsuite` and :mod:`structlearn.metrics` stand before
theirs on the path, and pytest runs their tests as they are, but for those that are excepted by
name. Ends with 1 if one fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
from pathlib import Path

#: Package on the registry -> version whose tests these are.
PACKAGES = {"python-crfsuite": "0.9.12", "sklearn-crfsuite": "0.5.0", "seqeval": "1.2.2"}
#: Package -> what is run of its tests, if not all: seqeval's others are of its inner classes.
FILES = {"seqeval": "test_metrics.py"}
#: Package -> tests that are not run.
EXCEPTED = {
    "seqeval": (
        "test_runtime_warning",  # NumPy's warning of a mean of nothing: ours is 0.0
        "test_by_ground_truth",  # conlleval.pl is not in the package
        "test_statistical_tests",  # the same
    )
}
#: Module to be found -> the lines that make it lead to ours.
STAND_INS = {
    "pycrfsuite/__init__.py": (
        "from structlearn.crfsuite import *\n"
        "from structlearn.crfsuite import CRFSUITE_VERSION, BaseTrainer, ItemSequence, Tagger\n"
        "from structlearn.crfsuite import CRFSuiteError, Trainer\n"
    ),
    "pycrfsuite/_logparser.py": "from structlearn.crfsuite.log_parser import *\n",
    "sklearn_crfsuite/__init__.py": "from structlearn.crfsuite import CRF\n",
    "sklearn_crfsuite/metrics.py": "from structlearn.crfsuite.metrics import *\n",
    "sklearn_crfsuite/scorers.py": "from structlearn.crfsuite.scorers import *\n",
    "seqeval/__init__.py": "",
    "seqeval/metrics/__init__.py": "from structlearn.metrics import *\n",
    "seqeval/metrics/sequence_labeling.py": "from structlearn.metrics import get_entities\n",
    "seqeval/scheme.py": "from structlearn.metrics import *\n",
}


def main() -> int:
    """Return 0 if all tests pass."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("build/neighbours/suites"))
    folder = parser.parse_args().folder.resolve()
    stand_ins = make_stand_ins(folder)
    failed = 0
    for package, version in PACKAGES.items():
        tests = unpacked(package, version, folder) / "tests"
        print(f"==> {package} {version}", flush=True)
        failed |= run(tests, FILES.get(package, ""), EXCEPTED.get(package, ()), stand_ins)
    return failed


def make_stand_ins(folder: Path) -> Path:
    """Write the modules that lead to ours; return the folder that has to be on the path."""
    root = folder / "stand_ins"
    for name, lines in STAND_INS.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(lines)
    return root


def unpacked(package: str, version: str, folder: Path) -> Path:
    """Return the folder of a source package, downloaded where it is not there yet."""
    stem = f"{package.replace('-', '_')}-{version}"
    if not (folder / stem).is_dir():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--use-pep517"]
        command += ["--no-binary", package, "--dest", str(folder), f"{package}=={version}"]
        subprocess.run(command, check=True)
        with tarfile.open(folder / f"{stem}.tar.gz") as archive:
            # Older releases of Python have no filters; these archives are the registry's.
            safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(folder, **safe)
    return folder / stem


def run(tests: Path, file: str, excepted: tuple[str, ...], stand_ins: Path) -> int:
    """Run tests in a folder with our modules in place of theirs; return pytest's answer."""
    environment = with_path(stand_ins)
    ours = "import pycrfsuite as p; assert p.Trainer.__module__ == 'structlearn.crfsuite.trainer'"
    subprocess.run([sys.executable, "-c", ours], env=environment, cwd=tests, check=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
    command += ["--rootdir", str(tests), "--doctest-modules", "-rfE", str(tests / file)]
    command += ["-k", " and ".join(f"not {name}" for name in excepted)]
    return int(subprocess.run(command, env=environment, cwd=tests, check=False).returncode != 0)


def with_path(*folders: Path) -> dict[str, str]:
    """Return the environment with some folders before all others where modules are found."""
    paths = [*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


if __name__ == "__main__":
    sys.exit(main())
