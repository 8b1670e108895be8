"""The package as a whole: names, stub, light import."""

import ast
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import structlearn
from structlearn import _core

SOURCE = Path(structlearn.__file__).parent


@pytest.mark.parametrize("name", structlearn.__all__)
def test_public_names_exist(name):
    assert getattr(structlearn, name) is not None


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        structlearn.Nothing  # noqa: B018


def test_import_is_light():
    code = "import sys, structlearn; print(sorted(m for m in sys.modules if '.' not in m))"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    for heavy in ("numpy", "scipy", "sklearn", "rich"):
        assert f"'{heavy}'" not in modules


def test_stub_names_what_the_core_has():
    """The hand-written stub and the compiled module agree on every public name."""
    tree = ast.parse((SOURCE / "_core.pyi").read_text())
    functions, classes = set(), {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            functions.add(node.name)
        elif isinstance(node, ast.ClassDef):
            classes[node.name] = {
                m.name
                for m in node.body
                if isinstance(m, ast.FunctionDef) and not m.name.startswith("_")
            }
    public = {name for name in vars(_core) if not name.startswith("_")}
    assert public == functions | set(classes)
    for name, methods in classes.items():
        if name == "InfeasibleError":
            continue
        assert {m for m in vars(getattr(_core, name)) if not m.startswith("_")} == methods


def test_typed():
    assert (SOURCE / "py.typed").exists()


def test_citation_has_the_version():
    """The version is the package's; where it is repeated, it is the same."""
    root = SOURCE.parent.parent
    if not (root / "CITATION.cff").exists():
        pytest.skip("installed without the source tree")
    (stated,) = [
        line.split(":", 1)[1].strip()
        for line in (root / "CITATION.cff").read_text().splitlines()
        if line.startswith("version:")
    ]
    assert stated == structlearn.__version__


def test_core_has_no_dependencies_and_the_rest_requires_it():
    """What pip was told when it installed them."""
    try:
        core, rest = metadata.requires("structlearn-core"), metadata.requires("structlearn")
    except metadata.PackageNotFoundError:
        pytest.skip("not installed by pip")
    assert all("extra ==" in needed for needed in core or [])
    assert f"structlearn-core=={structlearn.__version__}" in rest
    for name in ("structlearn-core", "structlearn"):
        assert metadata.version(name) == structlearn.__version__
