"""Adapters of the rivals, each imported only when a benchmark asks for it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["load"]

_PACKAGES = {
    "addresses": "usaddress",
    "numpy_chain": "numpy",
    "numpy_segments": "numpy",
    "numpy_trees": "numpy",
    "nltk_trees": "nltk",
    "hmmlearn_chain": "hmmlearn",
    "crfsuite": "python-crfsuite",
    "wapiti_files": "libwapiti",
    "ufal_trees": "ufal.chu_liu_edmonds",
    "pymaxflow_grid": "PyMaxflow",
    "gco_grid": "gco-wrapper",
    "numpy_beliefs": "numpy",
    "pgmpy_beliefs": "pgmpy",
    "udpipe_text": "ufal.udpipe",
}


def load(name: str, skipped: list[str]) -> Any:
    """Return the adapter's module; None, and a line in ``skipped``, if the rival is missing."""
    try:
        return import_module(f".{name}", __name__)
    except ImportError as error:
        skipped.append(f"{_PACKAGES[name]} ({error})")
        return None
