"""What ``make demo`` tells while it installs, from what pip and ninja say."""

import sys

import pytest

from tests.docs.page_blocks import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from install import told


@pytest.mark.parametrize(
    ("line", "text", "everywhere"),
    [
        ("Collecting narwhals>=2.0.1 (from scikit-learn>=1.6)", "fetching narwhals", True),
        ("Processing /files/numpy-2.4.6-cp311.whl (from structlearn)", "fetching numpy", True),
        (
            "  [31/128] Building CXX object CMakeFiles/core.dir/native/structures/grid.cpp.o",
            "compiled 31 of 128: grid.cpp",
            True,
        ),
        (
            "  [32/128] Building CXX object a.dir/b/tree.cpp.o",
            "compiled 32 of 128: tree.cpp",
            False,
        ),
        ("  [127/128] Linking CXX static library libcore.a", "linking", True),
    ],
)
def test_lines_are_told(line, text, everywhere):
    assert told(line) == (text, everywhere)


def test_other_lines_are_not():
    assert told("  Running command Building editable for structlearn (pyproject.toml)") is None
