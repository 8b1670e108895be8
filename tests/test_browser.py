"""The pages of ``structlearn inspect --html`` in a real browser, where there is one."""

import json
import re
import shutil
import subprocess

import pytest

from structlearn.cli import run
from structlearn.datasets import make_treebank

BROWSER = next(
    (b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), ""
)
pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium")

#: What the page looks like from inside; left in its title.
PROBE = """<script>
const faults = []; addEventListener("error", e => faults.push(e.message));
addEventListener("load", () => {
  for (const d of document.querySelectorAll("details")) d.open = true;
  const root = document.documentElement, style = getComputedStyle(document.body);
  const wide = [...document.querySelectorAll(".wide")].filter(w => w.scrollWidth > w.clientWidth);
  const hidden = wide.map(w => { w.scrollLeft = 1e6; return w.scrollWidth - w.clientWidth -
    w.scrollLeft; });
  const covers = wide.map(w => getComputedStyle(w.firstElementChild).backgroundColor);
  document.title = JSON.stringify({faults, hidden, covers,
    across: root.scrollWidth, room: root.clientWidth,
    paper: style.backgroundColor, ink: style.color, words: document.body.innerText.length,
    outside: performance.getEntriesByType("resource").length});
});
</script>"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of each task: its name to its file."""
    folder = tmp_path_factory.mktemp("pages")
    bank = make_treebank(80, random_state=0)
    tokens = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in bank]
    (folder / "chunks.txt").write_text(
        "\n".join("".join(" ".join(t) + "\n" for t in sentence) for sentence in tokens)
    )
    (folder / "trees.mrg").write_text("\n".join(s.brackets for s in bank) + "\n")
    (folder / "trees.conllu").write_text("\n".join(_conllu(s) for s in bank))
    tasks = {
        "tagger": ("chunks.txt", ["--n-models", "1"], ["--sentence", "Fish|NN sleep|VBP .|."]),
        "segments": ("chunks.txt", ["--n-models", "1"], ["--input", str(folder / "few.txt")]),
        "parser": ("trees.conllu", [], ["--input", str(folder / "few.conllu")]),
        "constituency": ("trees.mrg", [], ["--input", str(folder / "few.mrg")]),
    }
    (folder / "few.conllu").write_text("\n".join(_conllu(s) for s in bank[:3]))
    (folder / "few.txt").write_text(
        "\n".join("".join(" ".join(t) + "\n" for t in sentence) for sentence in tokens[:3])
    )
    (folder / "few.mrg").write_text("\n".join(s.brackets for s in bank[:3]) + "\n")
    found = {}
    for task, (source, learning, looking) in tasks.items():
        model, page = folder / f"{task}.model", folder / f"{task}.html"
        options = ["--max-iter", "2", "--quiet", *learning]
        assert run(["train", task, str(folder / source), "--model", str(model), *options]) == 0
        assert run(["inspect", str(model), *looking, "--html", str(page)]) == 0
        found[task] = page
    found["scores"] = folder / "scores.html"
    given = [str(folder / "tagger.model"), str(folder / "chunks.txt")]
    assert run(["evaluate", *given, "--html", str(found["scores"])]) == 0
    return found


def _conllu(sentence):
    rows = zip(sentence.words, sentence.tags, sentence.heads, sentence.deprels, strict=True)
    return "".join(
        f"{i}\t{word}\t_\t{tag}\t{tag}\t_\t{head}\t{relation}\t_\t_\n"
        for i, (word, tag, head, relation) in enumerate(rows, 1)
    )


def look(page, width, *, dark=False):
    """Return what the probe saw at this width."""
    probed = page.with_suffix(".probe.html")
    text = page.read_text(encoding="utf-8")
    probed.write_text(text.replace("<head>", "<head>" + PROBE, 1), encoding="utf-8")
    done = subprocess.run(
        [
            BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            f"--window-size={width},900",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            "--virtual-time-budget=3000", "--dump-dom", probed.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    title = re.search(r"<title>(\{.*?\})</title>", done.stdout)
    assert title, done.stdout[:500]
    return json.loads(title[1].replace("&quot;", '"'))


def brightness(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3


@pytest.mark.parametrize("task", ["tagger", "segments", "parser", "constituency", "scores"])
def test_page_is_right_in_a_browser(pages, task):
    light, dark = look(pages[task], 1100), look(pages[task], 1100, dark=True)
    for seen in (light, dark):
        assert not seen["faults"]
        assert seen["outside"] == 0  # nothing is fetched
        assert seen["words"] > 200
        assert abs(brightness(seen["ink"]) - brightness(seen["paper"])) > 120
    assert brightness(light["paper"]) > 200
    assert brightness(dark["paper"]) < 60


@pytest.mark.parametrize("task", ["tagger", "segments", "parser", "constituency", "scores"])
def test_page_fits_a_phone(pages, task):
    """Wide tables and pictures scroll by themselves; the page does not."""
    seen = look(pages[task], 500)  # the narrowest window that Chromium opens
    assert seen["across"] <= seen["room"] + 1


@pytest.mark.parametrize("task", ["parser", "constituency"])
def test_wide_drawings_can_be_seen_to_their_end(pages, task):
    """They scroll, and do not hide the shade that says so."""
    seen = look(pages[task], 500)
    assert seen["hidden"]
    assert max(seen["hidden"]) <= 1
    assert set(seen["covers"]) == {"rgba(0, 0, 0, 0)"}
