"""Every code block of the README, the guide and the how-to pages runs, and prints what it says."""

import os
import re
import subprocess
import sys

import pytest

from tests.docs.page_blocks import ROOT, blocks_of, run_python, tidy
from tests.docs.site_files import HAS_IMAGES, write_files

PAGES = sorted(
    path
    for folder in (".", "guide", "howto", "internals")
    for path in (ROOT / "docs" / folder).glob("*.md")
    if "python" in path.read_text(encoding="utf-8") or "```sh" in path.read_text(encoding="utf-8")
)
WITH_COMMANDS = [p for p in PAGES if any(b.language == "sh" for b in blocks_of(p))]


def name(path):
    return f"{path.parent.name}/{path.stem}"


def test_there_are_pages():
    assert len(PAGES) > 15
    assert len(WITH_COMMANDS) > 5


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_python_blocks_print_what_the_page_says(path, tmp_path, monkeypatch):
    if path.stem == "torch":
        pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.chdir(tmp_path)
    for block, printed in run_python(path):
        if block.output is not None:
            assert tidy(printed) == tidy(block.output), f"{path.name}, line {block.line}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make a folder of small files, with the command on the path."""
    made = tmp_path_factory.mktemp("files")
    write_files(made)
    command = made / "bin" / "structlearn"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m structlearn "$@"\n')
    command.chmod(0o755)
    return made


def run_commands(script, folder):
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, f"{script}\n{result.stderr}"


@pytest.mark.parametrize("path", WITH_COMMANDS, ids=name)
def test_commands_run(path, folder):
    if path.stem == "segmenter" and not HAS_IMAGES:
        pytest.skip("Pillow is not installed")
    run_commands("\n".join(b.content for b in blocks_of(path) if b.language == "sh"), folder)


def test_commands_of_the_readme_run(folder):
    lines = re.findall(r"^    (structlearn .*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(lines) == 3
    run_commands("\n".join(line.split("  #")[0].rstrip() for line in lines), folder)
