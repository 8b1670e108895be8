"""A release is refused where tag, version and changelog do not name the same one."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def problems():
    spec = importlib.util.spec_from_file_location("release", ROOT / "tools/release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.problems


SOURCE = '__version__ = "1.2.0"\n'


@pytest.mark.parametrize(
    ("tag", "changelog", "fragments"),
    [
        ("v1.2.0", "# Changelog\n\n## 1.2.0 (2030-01-02)\n\n## 1.1.0 (2029-01-01)\n", []),
        ("v1.2.1", "## 1.2.0 (2030-01-02)\n", ["the tag is v1.2.1"]),
        ("v1.2.0", "## 1.1.0 (2030-01-02)\n", ["newest heading of CHANGELOG.md is 1.1.0"]),
        ("v1.2.0", "## 1.2.0 (unreleased)\n", ["is unreleased: write the date"]),
        ("1.2", "## 1.3 (unreleased)\n", ["the tag is 1.2", "1.3, not 1.2.0", "unreleased"]),
        ("v1.2.0", "no heading\n", ["no version"]),
    ],
)
def test_what_keeps_a_tag_from_being_released(problems, tag, changelog, fragments):
    lines = problems(tag, SOURCE, changelog)
    assert len(lines) == len(fragments)
    for line, fragment in zip(lines, fragments, strict=True):
        assert fragment in line


def test_this_source_is_read(problems):
    source = (ROOT / "src/structlearn/__init__.py").read_text()
    lines = problems("v0.0.0", source, (ROOT / "CHANGELOG.md").read_text())
    assert lines[0].startswith("the tag is v0.0.0, the source has version ")
