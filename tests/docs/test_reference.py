"""Every public name has its place in the reference, and every place there a name."""

import importlib
import re

import pytest

import structlearn
from tests.docs.page_blocks import ROOT

REFERENCE = ROOT / "docs" / "reference"
#: Besides those that ``structlearn`` itself offers.
MODULES = [
    *structlearn._MODULES,
    "exceptions",
    "problem",
    *(f"drawing.{name}" for name in ("arcs", "grids", "picture", "solutions", "trees", "trellis")),
]


def names_on(page):
    """Return the full names that a page documents: entries of its lists, and data by hand."""
    names, module, inside = set(), "", False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split("::")[1].strip()
        elif line.startswith(".. data::"):
            names.add(f"{module}.{line.split('::')[1].strip()}")
        elif line.startswith(".. autosummary::"):
            inside = True
        elif inside and line.strip() and not line.startswith(" "):
            inside = False
        elif inside and re.fullmatch(r"   [\w.]+", line):
            names.add(f"{module}.{line.strip()}")
    return names


DOCUMENTED = set().union(*(names_on(page) for page in REFERENCE.glob("*.rst")))


@pytest.mark.parametrize("module", MODULES)
def test_public_names_are_documented(module):
    public = importlib.import_module(f"structlearn.{module}").__all__
    missing = [name for name in public if f"structlearn.{module}.{name}" not in DOCUMENTED]
    assert not missing, f"add them to a list in docs/reference: {missing}"


def test_names_of_the_package_itself_are_documented():
    text = (REFERENCE / "index.rst").read_text(encoding="utf-8")
    for name in structlearn.__all__:
        assert re.search(rf"\b{name}\b", text), name


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_documented_names_exist(name):
    module, _, attribute = name.rpartition(".")
    thing = getattr(importlib.import_module(module), attribute)
    assert attribute.isupper() or thing.__doc__


def test_every_page_is_in_the_table_of_contents():
    text = (REFERENCE / "index.rst").read_text(encoding="utf-8")
    for page in [*REFERENCE.glob("*.rst"), *REFERENCE.glob("*.md")]:
        if page.stem != "index":
            assert f"\n   {page.stem}\n" in text, page.name
