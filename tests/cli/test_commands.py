"""The command line, run as a user runs it."""

import platform
import re
import subprocess
import sys

import numpy as np

import structlearn
from structlearn import _core


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "structlearn", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


def test_version():
    result = run("--version")
    assert result.returncode == 0
    version, core, python, packages = result.stdout.splitlines()
    assert version == structlearn.__version__
    assert f"{_core.kernels()} instructions" in core
    assert platform.python_version() in python
    assert f"numpy {np.__version__}" in packages


def test_help_names_the_commands():
    result = run("--help")
    assert result.returncode == 0
    assert "demo" in result.stdout


def test_unknown_command_is_an_error():
    result = run("fly")
    assert result.returncode == 2
    assert "fly" in result.stderr


def test_start_is_light():
    """Help must not pay for SciPy or scikit-learn."""
    code = (
        "import sys, structlearn.cli; "
        "print([m for m in ('scipy', 'sklearn', 'highspy') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_demo_shows_the_tour():
    result = run("demo", "--sentences", "250")
    assert result.returncode == 0, result.stderr
    text = result.stdout
    for part in ("phrases right (F1 %)", "●", "ξ", "ROOT", "(S\n"):
        assert part in text, part
    # Structure pays, and so do features: neither each word alone nor an HMM finds as many phrases.
    found = {
        row[1]: float(row[2])
        for row in re.finditer(r"^(\S.*?)  +([\d.]+) +\d+ +\d+\.\d+$", text, flags=re.MULTILINE)
    }
    alone, hmm = found["each word alone"], found["+ order of labels: HMM"]
    assert alone < hmm
    assert max(f1 for how, f1 in found.items() if how.startswith("both")) > hmm


def test_demo_repeats_itself():
    strip_times = re.compile(r"\d+\.\d+$", flags=re.MULTILINE)
    first, second = (
        strip_times.sub("", run("demo", "--sentences", "100").stdout) for _ in range(2)
    )
    assert first == second
