"""Users find the page they need: by the search of the site, and by what they have and want."""

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from structlearn.cli import COMMANDS
from structlearn.cli.arguments import make_parser
from tests.cli.test_help import PARSERS
from tests.docs.page_blocks import ROOT
from tests.docs.test_links import PAGES

sys.path.insert(0, str(ROOT / "docs" / "_extensions"))
CHOOSE = ROOT / "docs" / "howto" / "choose.md"

#: What users search for -> the page that should come first.
SEARCHES = {
    "NER": "entities",
    "named entities": "entities",
    "POS": "tagger",
    "chunks": "chunker",
    "CSV": "from_table",
    "JSON": "input",
    "pandas": "from_table",
    "raw text": "pipeline",
    "tokenizer": "pipeline",
    "PyTorch": "torch",
    "saving": "saving",
    "load": "saving",
    "CRFsuite": "migrate",
    "GridSearchCV": "scikit_learn",
}


@pytest.mark.parametrize("query", SEARCHES)
def test_the_page_is_the_main_one_in_the_index(query):
    """An entry of the index with an exclamation mark comes before titles, objects and text."""
    found = [
        path.stem
        for path in PAGES
        for entries in re.findall(r"^:::\{index\} (.*)$", path.read_text("utf-8"), re.MULTILINE)
        if f"! {query}" in entries.split(", ")
    ]
    assert found == [SEARCHES[query]]


@pytest.mark.skipif(not shutil.which("node"), reason="no Node.js")
def test_search_finds_the_page_first(tmp_path):
    """By the search that Sphinx writes, in a site of these pages."""
    for module in ("sphinx", "myst_parser"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"no {module}")
    source, site = tmp_path / "source", tmp_path / "site"
    for folder in ("howto", "reference"):
        shutil.copytree(ROOT / "docs" / folder, source / folder, ignore=_all_but_pages)
    (source / "index.md").write_text("# Learner\n")
    (source / "conf.py").write_text(
        'extensions = ["myst_parser"]\nmyst_enable_extensions = ["colon_fence"]\n'
    )
    subprocess.run([sys.executable, "-m", "sphinx", "-Q", source, site], check=True, timeout=300)
    search = ["node", ROOT / "tests" / "docs" / "search_site.js", site, *SEARCHES]
    done = subprocess.run(search, capture_output=True, check=True, timeout=60)
    first = [pages[0] if pages else None for pages in json.loads(done.stdout)]
    assert dict(zip(SEARCHES, first, strict=True)) == {
        query: f"howto/{page}" for query, page in SEARCHES.items()
    }


def _all_but_pages(folder, names):
    return [name for name in names if not name.endswith(".md")]


def calls_of(page):
    """Return the commands in a page's tables; where one is cut short, its end is left open."""
    return re.findall(r"`(structlearn [^`]*)`", page.read_text(encoding="utf-8"))


def test_calls_parse():
    calls = [call for call in calls_of(CHOOSE) if "…" not in call and "." in call]
    assert len(calls) > 6
    for call in calls:
        options = make_parser(COMMANDS).parse_args(shlex.split(call)[1:])
        assert callable(options.command)


def test_every_task_is_named():
    tasks = [prog for prog in PARSERS if prog.startswith("structlearn train ")]
    assert len(tasks) > 7
    text = CHOOSE.read_text(encoding="utf-8")
    assert not [prog for prog in tasks if f"`{prog} " not in text]


def test_reference_has_every_command():
    pytest.importorskip("sphinx")
    from pictures import leaves

    below = {prog.rpartition(" ")[0] for prog in PARSERS}
    assert [p.prog for p in leaves(make_parser(COMMANDS))] == [p for p in PARSERS if p not in below]
