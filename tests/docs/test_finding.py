"""Users find the page they need: by the search of the site, and by what they have and want."""

import re
import shlex
import sys

import pytest

from structlearn.arguments import make_parser
from structlearn.cli import COMMANDS
from tests.docs.page_blocks import ROOT
from tests.docs.test_links import PAGES, prose
from tests.test_cli_help import PARSERS

sys.path.insert(0, str(ROOT / "docs" / "_extensions"))
CHOOSE = ROOT / "docs" / "howto" / "choose.md"

#: What users search for -> the page that has it. The search of Sphinx ranks pages that have all the
#: words in one of their headings first; it compares stems.
SEARCHES = {
    "NER": "entities",
    "named entities": "entities",
    "POS": "tagger",
    "chunks": "choose",
    "CSV": "input",
    "JSON": "input",
    "pandas": "input",
    "raw text": "input",
    "PyTorch": "choose",
    "saving": "saving",
    "load": "saving",
    "CRFsuite": "migrate",
    "GridSearchCV": "scikit_learn",
}


def stem(word):
    """Return a rough stem; good enough for words that end in -s, -y, -ies, -e, -ing."""
    return re.sub(r"(ing|ies|es|s|e|y)$", "", word.lower())


def stems(text):
    return {stem(word) for word in re.findall(r"[A-Za-z]+", text)}


@pytest.mark.parametrize("query", SEARCHES)
def test_search_finds_the_page(query):
    found = [
        path.stem
        for path in PAGES
        if any(
            stems(query) <= stems(title)
            for title in re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
        )
    ]
    assert SEARCHES[query] in found


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
