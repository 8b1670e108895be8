"""Pictures of the guide: well-formed, named for those who cannot see them, and all in use."""

import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from tests.docs.page_blocks import ROOT

sys.path.insert(0, str(ROOT / "docs" / "_extensions"))
import drawn


@pytest.mark.parametrize("name", drawn.PICTURES)
def test_picture_is_well_formed(name):
    root = ElementTree.fromstring(drawn.PICTURES[name]())
    assert root.tag.endswith("svg")
    if name != "dependencies":  # the library's own drawing
        assert root[0].tag.endswith("title")
        assert root[0].text


def test_pictures_have_no_colours_of_their_own():
    """Those are the page's, light or dark."""
    for name, draw in drawn.PICTURES.items():
        if name != "dependencies":
            assert not re.search(r"#[0-9a-f]{3,6}\b|(fill|stroke)=", draw()), name


def test_pages_and_pictures_know_each_other():
    pages = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs").rglob("*.md"))
    used = set(re.findall(r"\{picture\} (\w+)", pages))
    assert used - {"name"} == set(drawn.PICTURES)


def test_map_has_every_layer():
    from drawn.layers import LAYERS

    from tests.test_layers import LAYERS as ORDER

    assert [layer for layer, _ in LAYERS] == ORDER
