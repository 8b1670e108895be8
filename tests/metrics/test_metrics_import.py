"""Importing the metrics is light, and their examples run."""

import doctest
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import structlearn
import structlearn.metrics

MODULES = [m.name for m in pkgutil.iter_modules(structlearn.metrics.__path__)]


def test_accuracy_and_chunks_need_no_heavy_package():
    code = (
        "import sys, structlearn\n"
        "m, y = structlearn.metrics, [['B-NP', 'O']]\n"
        "m.token_accuracy(y, y), m.sequence_accuracy(y, y), m.chunk_f1(y, y)\n"
        "str(m.chunk_report(y, y)), str(m.label_report(y, y)), str(m.confusion(y, y))\n"
        "m.to_iobes(y[0]), m.legal_transitions(['O'])\n"
        "print({k.partition('.')[0] for k in sys.modules} & {'numpy', 'scipy', 'sklearn', 'rich'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_public_names():
    for name in structlearn.metrics.__all__:
        assert getattr(structlearn.metrics, name) is not None


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    assert doctest.testmod(import_module(f"structlearn.metrics.{name}")).failed == 0


def test_there_are_examples():
    modules = [import_module(f"structlearn.metrics.{name}") for name in MODULES]
    assert sum(doctest.testmod(module).attempted for module in modules) > 20
