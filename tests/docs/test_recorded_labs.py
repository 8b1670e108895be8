"""Recorded labs of the guide: their states are answered, and their script is whole."""

import json
import re
import sys

import pytest

from tests.docs.page_blocks import ROOT

sys.path.insert(0, str(ROOT / "docs" / "_extensions"))
import recording
from recording import RECORDED

GUIDE = ROOT / "docs" / "guide"


def test_every_recording_is_on_a_page_and_every_page_has_its_recording():
    asked = [
        name
        for page in GUIDE.glob("*.md")
        for name in re.findall(r"^:::\{lab\} (\w+)$", page.read_text(encoding="utf-8"), re.M)
    ]
    assert sorted(asked) == sorted(RECORDED)


@pytest.mark.parametrize("name", RECORDED)
def test_recordings_hold_their_answers(name):
    html = recording.embedded(name)
    [text] = re.findall(r'<script type="application/json">(.*)</script>', html, re.S)
    recorded = json.loads(text)
    assert [r["title"] for r in recorded] == [title for title, _ in RECORDED[name][1]]
    for one in recorded:
        assert one["answer"]["steps"]
        assert "error" not in one["answer"]
    assert "</" not in text
    assert len(html) < 400_000


def test_the_script_is_one_without_imports():
    script = recording.bundle()
    assert not re.search(r"^\s*(import|export) ", script, re.M)
    for name in ("dom", "shell", "sequence", "learning", "embed"):
        assert f"const ${name} = " in script
    assert "fetch(" not in script  # nothing is asked of anybody
