"""Formulas have a font of their own: those of the system often have no maths."""

import importlib.util
import re

import pytest

from tests.docs.page_blocks import ROOT

STATIC = ROOT / "docs" / "_static"
STYLE = (STATIC / "site.css").read_text(encoding="utf-8")


def font_of_formulas():
    """Return the file that the style sheet gives for the first font of formulas."""
    (family,) = re.findall(r'^math \{ font-family: "([^"]+)"', STYLE, re.MULTILINE)
    (rule,) = (r for r in re.findall(r"@font-face \{(.*?)\}", STYLE) if f'"{family}"' in r)
    return STATIC / re.search(r'url\("([^"]+)"\) format\("woff2"\)', rule)[1]


def test_site_ships_the_font_with_its_licence():
    font = font_of_formulas()
    assert font.read_bytes()[:4] == b"wOF2"
    (licence,) = font.parent.glob("*LICENSE.txt")
    assert "SIL OPEN FONT LICENSE" in licence.read_text(encoding="utf-8")
    assert 'html_static_path = ["_static"]' in (ROOT / "docs" / "conf.py").read_text()


@pytest.mark.skipif(not importlib.util.find_spec("brotli"), reason="WOFF2 is packed by brotli")
def test_font_is_one_for_maths():
    fonts = pytest.importorskip("fontTools.ttLib")
    font = fonts.TTFont(font_of_formulas())
    assert "MATH" in font
    assert set("𝑖𝑗𝑦θ𝜃∑∏⟨⟩‖∇𝟙ℝ") <= {chr(code) for code in font.getBestCmap()}


def test_blocks_leave_room_above_and_below():
    """They scroll sideways, and what stands out of the line would be cut off."""
    (block,) = re.findall(r"\.math-block \{(.*?)\}", STYLE)
    assert re.search(r"padding: 0\.[1-9]\d*em 0;", block)
