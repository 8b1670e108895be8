"""Every example runs, with warnings as errors, and prints something."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    result = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=tmp_path,  # pictures land there
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


def test_pictures_are_left_out_without_matplotlib(tmp_path):
    path = next(p for p in EXAMPLES if p.stem == "learning_curves")
    code = (
        "import runpy, sys; sys.modules['matplotlib'] = None; "
        f"runpy.run_path({str(path)!r}, run_name='__main__')"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "structlearn[plot]" in result.stdout
