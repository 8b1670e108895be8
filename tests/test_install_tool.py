"""What ``make demo`` prints while it installs, from what pip and ninja say."""

import re
import sys

import pytest

from tests.docs.page_blocks import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import install


@pytest.mark.parametrize(
    ("line", "text", "everywhere"),
    [
        ("Collecting narwhals>=2.0.1 (from scikit-learn>=1.6)", "fetching narwhals", True),
        ("Processing /files/numpy-2.4.6-cp311.whl (from structlearn)", "fetching numpy", True),
        (
            "  [31/41] Building CXX object CMakeFiles/core.dir/Unity/unity_7_cxx.cxx.o",
            "compiled 31 of 41",
            True,
        ),
        ("  [32/41] Building CXX object a.dir/b/tree.cpp.o", "compiled 32 of 41", False),
        ("  [40/41] Linking CXX static library libcore.a", "linking", True),
    ],
)
def test_steps_are_printed(line, text, everywhere):
    assert install.step_of(line) == (text, everywhere)


def test_other_lines_are_not():
    line = "  Running command Building editable for structlearn (pyproject.toml)"
    assert install.step_of(line) is None


def test_what_is_fetched_is_what_structlearn_needs(monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {re.match(r"[\w-]+", line)[0] for line in install.requirements()}
    assert {"numpy", "scipy", "scikit-learn"} <= names
    assert "structlearn-core" not in names


@pytest.mark.parametrize("which", ["compiling", "fetching", ""])
def test_a_pip_that_fails_is_the_exit_code(monkeypatch, tmp_path, capsys, which):
    """Both run, and what the one that failed has said is printed."""
    calls = []

    def run(arguments, _):
        calls.append(arguments)
        step = "compiling" if "." in arguments else "fetching"
        return (3 if step == which else 0), f"said while {step}\n"

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(install, "LOG", tmp_path / "install.log")
    monkeypatch.setattr(install, "install", run)
    monkeypatch.setattr(install, "remove_old_structlearn", lambda: None)
    assert install.main() == (3 if which else 0)
    assert len(calls) == (2 if which else 3)
    assert (f"said while {which}" in capsys.readouterr().err) == bool(which)
    assert "said while fetching" in (tmp_path / "install.log").read_text()
