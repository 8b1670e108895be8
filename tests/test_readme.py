"""Every Python block of the README runs as printed, and it stays short."""

import re
from pathlib import Path

import pytest

from tests.test_layers import LAYERS

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)


def test_there_are_blocks():
    assert len(BLOCKS) >= 2


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_block_runs(block, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out.strip()


def test_outputs_are_those_of_the_first_block(capsys):
    exec(compile(BLOCKS[0], "README.md", "exec"), {"__name__": "readme"})
    text = (ROOT / "README.md").read_text()
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 4
    assert "\n".join(f"    {line}" for line in printed) in text


def test_links_inside_the_repository_resolve():
    for document in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md"):
        path = ROOT / document
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
            assert (path.parent / target).exists(), f"{document} links to {target}"


def test_table_of_folders_has_every_layer():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for layer in LAYERS:
        path = ROOT / "src" / "structlearn" / layer
        if path.is_dir():
            assert f"(src/structlearn/{layer})" in text, layer


def test_prose_is_short():
    text = re.sub(r"```.*?```", "", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    lines = [line for line in text.splitlines() if not line.startswith(("|", "    "))]
    assert 300 < sum(len(line.split()) for line in lines) < 800


def test_speed_table_has_its_figures():
    section = (ROOT / "docs" / "comparison.md").read_text().split("## Speed")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert len(rows) == 8
    assert all(re.search(r"\d+(\.\d+)? ?(×|µs)", row) for row in rows)
