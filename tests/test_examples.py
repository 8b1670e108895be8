"""Every example runs, with warnings as errors, and prints something.

The same files are the gallery of the documentation (docs/internals/documentation.md).
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    result = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_has_a_title(path):
    title, line = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).split("\n")[:2]
    assert line == "=" * len(title), "the docstring begins with a title underlined by ="
