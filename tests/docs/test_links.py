"""Links between pages lead somewhere: files, headings, names. ``make docs`` looks again."""

import importlib
import re

import pytest

from tests.docs.page_blocks import FENCE, ROOT

DOCS = ROOT / "docs"
PAGES = sorted(
    path
    for path in [*DOCS.rglob("*.md"), *DOCS.rglob("*.rst")]
    if not {"gallery", "generated", "_build", "_templates"} & set(path.relative_to(DOCS).parts)
    and path.name != "sg_execution_times.rst"
)
SOURCES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md", *PAGES]
LINK = re.compile(r"\]\(([^)\s]+)\)")
ROLE = re.compile(r"(?:\{(class|func|meth|mod)\}|:(class|func|meth|mod):)`([^`]+)`")


def name(path):
    return str(path.relative_to(ROOT))


def prose(path):
    """Return the text of a page without its code blocks."""
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def anchor(title):
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def exists(target):
    """Whether a page is there, or an example that one is made of."""
    if (DOCS / "gallery") in target.parents:
        source = ROOT / "examples" / target.relative_to(DOCS / "gallery").with_suffix(".py")
        return target.stem == "index" or source.exists()
    return target.exists()


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_links_lead_to_files(path):
    for link in LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, heading = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert exists(target), f"{name(path)} links to {link}"
        if heading:
            titles = re.findall(r"^#+ (.*)$", prose(target), re.MULTILINE)
            assert heading in {anchor(t) for t in titles}, f"{name(path)} links to {link}"


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_names_lead_to_objects(path):
    for *_, content in ROLE.findall(prose(path)):
        target = re.sub(r".*<(.*)>$", r"\1", content).lstrip("~.")
        if not target.startswith("structlearn."):
            continue  # short names are looked up by Sphinx
        parts, thing = target.split("."), importlib.import_module("structlearn")
        for i, part in enumerate(parts[1:], 2):
            try:
                thing = getattr(thing, part)
            except AttributeError:
                thing = importlib.import_module(".".join(parts[:i]))


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_tables_of_contents_lead_to_pages(path):
    text = path.read_text(encoding="utf-8")
    fenced = re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL)
    directives = re.findall(r"^\.\. toctree::\n((?:\s+.*\n|\n)*)", text, re.MULTILINE)
    for block in [*fenced, *directives]:
        for line in block.splitlines():
            entry = re.sub(r".*<(.*)>", r"\1", line.strip())
            if entry and not entry.startswith(":"):
                ends = (path.parent / f"{entry}.md", path.parent / f"{entry}.rst")
                assert any(map(exists, ends)), f"{name(path)} lists {entry}"


def test_every_page_is_in_a_table_of_contents():
    listed = {DOCS / "index"}
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for line in re.findall(r"^\s*(?:[\w ]+ <)?([\w/]+)>?$", text, re.MULTILINE):
            listed.add(path.parent / line)
    lost = [name(p) for p in PAGES if p.with_suffix("") not in listed]
    assert not lost
