"""Importing the datasets is light, and says what it offers."""

from __future__ import annotations

import doctest
import subprocess
import sys

import structlearn.datasets
from structlearn.datasets import digits, sentence, treebank


def test_import_pulls_in_no_heavy_package():
    code = (
        "import sys, structlearn.datasets as d; d.make_treebank(2, random_state=0);"
        "print({m.partition('.')[0] for m in sys.modules} & {'sklearn', 'scipy', 'pandas'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_public_names():
    for name in structlearn.datasets.__all__:
        assert getattr(structlearn.datasets, name) is not None


def test_examples_in_docstrings():
    for module in (digits, sentence, treebank):
        result = doctest.testmod(module)
        assert result.attempted > 0
        assert result.failed == 0
