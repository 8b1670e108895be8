"""The C library, which ``make library`` builds; without it these tests are skipped by name."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = Path(os.environ.get("STRUCTLEARN_LIBRARY") or ROOT / "build/library/libstructlearn.so")


def _wrapper():
    """The calls through ctypes: the module of the examples."""
    path = ROOT / "examples/library/label.py"
    spec = importlib.util.spec_from_file_location("library_label", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def calls():
    return _wrapper()


@pytest.fixture(scope="session")
def library(calls):
    if not LIBRARY.exists():
        pytest.skip(f"{LIBRARY} is not there: make library")
    return calls.Library(str(LIBRARY))


@pytest.fixture(scope="session")
def opened(calls, library):
    """From a path, or the bytes of a file, to a model."""
    return lambda source: calls.Model(library, source)
