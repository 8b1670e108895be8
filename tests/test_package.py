"""The package as a whole: names, stub, light import."""

import ast
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import structlearn
from structlearn import _core
from structlearn.missing import BROUGHT

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


def test_what_structlearn_brings_is_listed_alike():
    """One wheel leaves out what the other has, and what is missing is told by the same list."""
    root = SOURCE.parents[1]
    core = (root / "pyproject.toml").read_text()
    full = (root / "packaging" / "structlearn" / "pyproject.toml").read_text()
    left_out = re.findall(r'^  "/([\w/]+)/",$', core, re.M)
    added = re.findall(r'^"structlearn/([\w/]+)" = "../../src/structlearn/\1"$', full, re.M)
    assert left_out == added == [name.replace(".", "/") for name in BROUGHT]
    assert all((SOURCE / name / "__init__.py").exists() for name in added)


def test_what_structlearn_brings_is_found_in_another_folder(tmp_path):
    """As where structlearn-core is the system's, and structlearn the user's."""
    for folder, name in (("system", "__init__"), ("system", "lazy"), ("system", "missing")):
        target = tmp_path / folder / "structlearn" / f"{name}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((SOURCE / f"{name}.py").read_bytes())
    brought = tmp_path / "user" / "structlearn" / "traces"
    brought.mkdir(parents=True)
    (brought / "__init__.py").write_text("from . import steps\n")
    (brought / "steps.py").write_text("found = True\n")
    code = f"""
import sys
sys.path[:0] = [{str(tmp_path / "system")!r}, {str(tmp_path / "user")!r}]
from structlearn import traces
print(traces.steps.found)
try:
    import structlearn.losses
except ModuleNotFoundError as error:
    print(error)
"""
    # -S: without site's hooks, those of installed checkouts.
    command = [sys.executable, "-S", "-c", code]
    found, told = subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert found == "True"
    assert told.startswith("this needs structlearn.losses, which is not installed: pip install")


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
