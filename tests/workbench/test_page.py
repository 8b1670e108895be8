"""The page in a real browser: ``make test-browser`` runs this.

Each lab is opened, changed, stepped to its end; what it shows is compared with the library's own
answer to what the page sent.
"""

import base64
import contextlib
import io
import json
import os
import pathlib
import re
import sys
import threading
import xml.etree.ElementTree as ET
from importlib.resources import files

import numpy as np
import pytest

from structlearn.constraints import Label, at_most, with_constraints
from structlearn.structures import Arborescence, Chain, Graph, Grid
from structlearn.tasks import Tagger
from structlearn.workbench.server import make_server

from .chromium import BROWSER, Chromium

pytestmark = [
    pytest.mark.skipif(not BROWSER, reason="no Chromium"),
    pytest.mark.skipif(
        not os.environ.get("STRUCTLEARN_BROWSER_TESTS"), reason="make test-browser runs this"
    ),
]

#: Pictures of the page go here, to be looked at.
PICTURES = os.environ.get("STRUCTLEARN_SCREENSHOTS", "")

LABS = {
    "sequence": ["monsters", "fish", "chapter", "margin", "quiz"],
    "parse": ["cycle", "flight", "constituents", "attachment"],
    "messages": ["tree", "three", "ring", "triangle"],
    "image": ["disc", "small", "bar", "blank"],
    "learning": ["plane", "three", "planes", "family", "dual"],
    "constraints": ["one", "verbs", "fish", "none"],
    "text": ["own", "tagger", "parser", "constituency"],
}
EVERY = [(lab, preset) for lab, presets in LABS.items() for preset in presets]


ENGLISH = pathlib.Path(__file__).parents[2] / "models" / "english" / "src"


@pytest.fixture(scope="module")
def served():
    sys.path.insert(0, str(ENGLISH))
    made = make_server()
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()
    sys.path.remove(str(ENGLISH))


@pytest.fixture(scope="module")
def browser():
    chromium = Chromium()
    yield chromium
    chromium.close()


def opened(browser, served, lab, preset, **look):
    state = json.dumps({"preset": preset})
    page = browser.page(f"{served.link}#{lab}:0:{state}", **look)
    page.wait("document.querySelector('main').dataset.answered")
    return page


def sent(page, lab):
    """Return the last state that the page asked about."""
    found = [body for url, body in page.requests() if url.endswith(f"/api/{lab}") and body]
    return json.loads(found[-1])


def shown(page, kind="best"):
    """Return the text of an answer."""
    return page.run(f"document.querySelector('.answer.{kind} dd')?.firstChild.textContent")


def to_the_end(page):
    page.run("document.querySelector('.formula').focus()")
    page.press("End")
    page.wait(
        "document.querySelector('.where').textContent.match(/(\\d+) of (\\d+)/).slice(1)"
        ".every((x, i, a) => x === a[0])"
    )


def chain_scores(state):
    scores = {
        name: np.array([[float(x) for x in row] for row in state[name]])
        for name in ("label", "transition")
    }
    if state.get("start"):
        scores["start"] = np.array(state["start"], float)
    if state["augmented"]:
        scores["label"] = scores["label"] + 1 - np.eye(len(state["labels"]))[state["gold"]]
    return scores


def library_answer(lab, state):
    """Return what the page should call the best, None where the library is asked elsewhere."""
    if lab in ("sequence", "constraints"):
        chain = Chain()
        if lab == "constraints" and state["constraints"] == "at most 1 noun":
            chain = with_constraints(chain, [at_most(1, Label(0))])
        elif lab == "constraints":
            return None
        return " ".join(state["labels"][k] for k in chain.argmax(**chain_scores(state)))
    if lab == "parse" and state["kind"] == "dependencies":
        arc = np.array(state["arc"], float)
        if state["augmented"]:
            cost = np.ones_like(arc)
            cost[state["gold"], np.arange(1, len(arc))] = 0
            arc = arc + cost
        heads = Arborescence(projective=state["algorithm"] == "eisner").argmax(arc=arc)
        names = ["root", *state["words"]]
        return " ".join(f"{names[h]}→{w}" for h, w in zip(heads, state["words"], strict=True))
    if lab == "messages":
        label = np.array(state["label"], float)
        if state["augmented"]:
            label = label + 1 - np.eye(len(state["labels"]))[state["gold"]]
        found = Graph(state["edges"]).argmax(label=label, edge=np.array(state["edge"], float))
        return " ".join(state["labels"][k] for k in found)
    if lab == "image":
        paint = np.array(state["paint"], float)
        label = np.stack([np.zeros_like(paint), paint], axis=-1)
        if state["augmented"]:
            label = label + 1 - np.eye(2)[np.reshape(state["gold"], paint.shape)]
        strength = state["strength"]
        count = int(Grid().argmax(label=label, potts_right=strength, potts_down=strength).sum())
        return f"{count} pixel{'' if count == 1 else 's'} of the object"
    return None


@pytest.mark.parametrize(("lab", "preset"), EVERY)
def test_every_example_steps_to_the_library_s_answer(browser, served, lab, preset):
    page = opened(browser, served, lab, preset)
    assert page.run("document.querySelector('.wrong').hidden"), page.run(
        "document.querySelector('.wrong').textContent"
    )
    before = page.run("document.querySelector('.formula').textContent")
    assert before
    to_the_end(page)
    expected = library_answer(lab, sent(page, lab))
    if expected is not None:
        assert shown(page) == expected
    assert page.run("document.querySelector('.picture svg').getAttribute('aria-label')")
    page.run("document.querySelector('.formula').focus()")
    page.press("Home")
    page.wait("document.querySelector('.where').textContent.startsWith('step 1 of')")
    assert page.run("document.querySelector('.formula').textContent") == before
    assert page.faults() == []
    own = f"http://127.0.0.1:{served.port}/"
    assert all(url.startswith((own, "data:", "blob:")) for url, _ in page.requests())
    page.close()


def change_score(page, value):
    count = page.run("Number(document.querySelector('main').dataset.answered)")
    page.run(
        f"(() => {{ const i = document.querySelector('input.score'); i.value = {json.dumps(value)};"
        " i.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    page.wait(f"Number(document.querySelector('main').dataset.answered) > {count}")


@pytest.mark.parametrize(
    ("lab", "preset"),
    [
        ("sequence", "fish"),
        ("sequence", "monsters"),
        ("parse", "cycle"),
        ("messages", "tree"),
        ("messages", "ring"),
        ("image", "disc"),
        ("constraints", "one"),
        ("learning", "family"),
    ],
)
def test_a_changed_score_changes_the_answer_as_the_library_does(browser, served, lab, preset):
    page = opened(browser, served, lab, preset)
    for value in ("-9", "9", "−2.5"):
        change_score(page, value)
        to_the_end(page)
        state = sent(page, lab)
        expected = library_answer(lab, state)
        if expected is not None:
            assert shown(page) == expected
    change_score(page, "-7")
    page.run("document.querySelector('input.score').value = 'abc'")
    page.run(
        "document.querySelector('input.score').dispatchEvent(new Event('input', {bubbles: true}))"
    )
    assert page.run("document.querySelector('input.score').getAttribute('aria-invalid')") == "true"
    assert page.faults() == []
    page.close()


@pytest.mark.parametrize(
    ("lab", "preset"),
    [("sequence", "fish"), ("parse", "flight"), ("parse", "constituents"), ("messages", "three"),
     ("image", "small"), ("learning", "planes"), ("learning", "family"), ("constraints", "verbs"),
     ("text", "own")],
)  # fmt: skip
def test_a_link_shows_the_same_again(browser, served, lab, preset):
    page = opened(browser, served, lab, preset)
    if page.run("Boolean(document.querySelector('input.score'))"):
        change_score(page, "3.5")
    page.run("document.querySelector('.formula').focus()")
    page.press("Home")
    page.press("ArrowRight")  # a search with automata may have no third step
    look = (
        "[...document.querySelectorAll('.picture, .answers, .formula, .where')]"
        ".map((n) => n.textContent).join('|')"
    )
    page.wait("document.querySelector('.where').textContent.startsWith('step 2')")
    first, address = page.run(look), page.run("location.href")
    other = browser.page(address)
    other.wait("document.querySelector('main').dataset.answered")
    other.wait("document.querySelector('.where').textContent.startsWith('step 2')")
    assert other.run(look) == first
    page.close()
    other.close()


def test_loss_augmentation_and_sums_are_switches(browser, served):
    page = opened(browser, served, "sequence", "margin")
    assert shown(page) == "V N"
    page.run("document.querySelector('.toggle input').click()")
    page.wait("document.querySelector('.answer.best dd').firstChild.textContent === 'N V'")
    page.run(
        "(() => { const s = document.querySelectorAll('.controls select')[1]; s.value = 'sum';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    page.wait("document.body.innerText.includes('log Z')")
    assert "adding up all outputs gives the same" in page.run("document.body.innerText")
    assert page.faults() == []
    page.close()


def click(page, script):
    """Do something that asks the server, and wait for its answer."""
    count = page.run("Number(document.querySelector('main').dataset.answered)")
    page.run(script)
    page.wait(f"Number(document.querySelector('main').dataset.answered) > {count}")


@pytest.mark.parametrize(
    ("lab", "preset"),
    [("sequence", "fish"), ("parse", "cycle"), ("parse", "attachment"), ("messages", "tree"),
     ("messages", "ring"), ("image", "small"), ("constraints", "one")],
)  # fmt: skip
def test_costs_and_sums_in_every_lab(browser, served, lab, preset):
    page = opened(browser, served, lab, preset)
    before = shown(page)
    click(page, "document.querySelector('.toggle input').click()")
    state = sent(page, lab)
    assert state["augmented"] is True
    expected = library_answer(lab, state)
    if expected is not None:
        assert shown(page) == expected
    elif preset == "attachment":
        assert shown(page) != before  # the costs move "from Boston"
    assert "hinge loss" in page.run("document.body.innerText") or lab == "constraints"
    click(page, "document.querySelector('.toggle input').click()")
    assert shown(page) == before
    click(page, "(() => { const s = [...document.querySelectorAll('.controls select')].find((n) =>"
          " [...n.options].some((o) => o.value === 'sum')); s.value = 'sum';"
          " s.dispatchEvent(new Event('change')); })()")  # fmt: skip
    to_the_end(page)
    assert "robability" in page.run("document.querySelector('.answers').innerText")
    assert page.faults() == []
    page.close()


@pytest.mark.parametrize("lab", LABS)
def test_the_python_beside_a_lab_runs(browser, served, lab):
    page = opened(browser, served, lab, LABS[lab][1 if lab == "text" else 0])
    if page.run("Boolean(document.querySelector('input.score'))"):
        change_score(page, "-2.5")
    text = page.run("document.querySelector('pre code').textContent")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(text, lab, "exec"), {})
    assert out.getvalue()
    if lab in ("sequence", "constraints"):
        assert all(name in out.getvalue() for name in shown(page).split())
    page.close()


@pytest.mark.parametrize(("lab", "preset"), [(lab, LABS[lab][0]) for lab in LABS])
def test_pictures_are_saved_whole(browser, served, lab, preset):
    page = opened(browser, served, lab, preset)
    to_the_end(page)
    found = page.run(
        "(async () => { const got = [], old = URL.createObjectURL;"
        " URL.createObjectURL = (b) => { got.push(b); return old(b); };"
        " for (const b of document.querySelectorAll('.saves button'))"
        "   if (b.textContent.startsWith('Save')) b.click();"
        " const of = (type) => got.find((b) => b.type.startsWith(type));"
        " while (!of('image/png')) await new Promise((r) => setTimeout(r, 50));"
        " const svg = await of('image/svg').text();"
        " const bytes = new Uint8Array(await of('image/png').arrayBuffer());"
        " let text = ''; for (const b of bytes) text += String.fromCharCode(b);"
        " return [svg, btoa(text)]; })()"
    )
    picture = ET.fromstring(found[0])
    assert "var(" not in found[0]
    words = [t.text for t in picture.iter("{http://www.w3.org/2000/svg}text") if t.text]
    assert len(words) > 3
    png = base64.b64decode(found[1])
    width, height = (int.from_bytes(png[i : i + 4]) for i in (16, 20))
    assert (width, height) == tuple(
        round(2 * float(picture.get(side))) for side in ("width", "height")
    )
    if PICTURES:
        pathlib.Path(PICTURES).mkdir(parents=True, exist_ok=True)
        pathlib.Path(f"{PICTURES}/saved-{lab}.png").write_bytes(png)
    page.close()


def test_a_model_is_opened_in_the_page(browser, served, tmp_path):
    words = [[("fish",), ("sleep",)], [("dogs",), ("eat",)]]
    Tagger(max_iter=2).fit(words, [["N", "V"], ["N", "V"]]).save(tmp_path / "mine.model")
    (tmp_path / "bad.model").write_bytes(b"nothing that is a model")
    page = opened(browser, served, "text", "tagger")
    page.give_file("input[type=file]", tmp_path / "bad.model")
    page.wait("document.querySelector('.editing .note').textContent.includes('bad.model')")
    page.give_file("input[type=file]", tmp_path / "mine.model")
    page.wait(
        "[...document.querySelectorAll('.controls select')].some((s) => s.value === 'mine.model')"
    )
    click(page, "(() => { const t = document.querySelector('.controls textarea');"
          " t.value = 'dogs sleep'; t.dispatchEvent(new Event('input')); })()")  # fmt: skip
    page.wait("document.querySelector('.answer.best dd').firstChild.textContent === 'N V'")
    page.close()


def test_text_goes_through_the_english_pipeline(browser, served):
    if not (ENGLISH / "structlearn_english" / "english.model").exists():
        pytest.skip("the English model is not at hand")
    page = opened(browser, served, "text", "own")
    assert "flight→Boston (nmod)" in shown(page)
    assert shown(page, "second") != shown(page)
    click(page, "document.querySelector('[aria-label=\"forbid flight → Boston\"]').click()")
    assert "want→Boston (obl)" in shown(page)
    assert "Forbidding costs" in page.run("document.querySelector('.answers').innerText")
    click(page, "[...document.querySelectorAll('.chips button')].find((b) =>"
          " b.textContent.includes('is gold')).click()")  # fmt: skip
    click(page, "[...document.querySelectorAll('.chips button')].find((b) =>"
          " b.textContent.startsWith('Allow')).click()")  # fmt: skip
    assert "want→Boston (obl)" in shown(page, "gold")
    assert "cost 1" in page.run("document.querySelector('.answer.best').innerText")
    assert page.faults() == []
    page.close()


def test_the_keyboard_is_enough(browser, served):
    page = opened(browser, served, "sequence", "fish")
    page.run("document.querySelector('.skip').focus()")
    for _ in range(60):
        page.press("Tab")
        if page.run("document.activeElement.className === 'score'"):
            break
    name = page.run("document.activeElement.getAttribute('aria-label')")
    assert name == "Scores of labels: Fish, N"
    count = page.run("Number(document.querySelector('main').dataset.answered)")
    page.press("ArrowUp")
    page.wait(f"Number(document.querySelector('main').dataset.answered) > {count}")
    assert sent(page, "sequence")["label"][0][0] == 2.1
    page.run("document.querySelector('.formula').focus()")
    page.press("ArrowRight")
    said = page.run("document.querySelector('.said[aria-live]').textContent")
    assert said  # a screen reader hears each step
    page.press("ArrowRight")
    assert page.run("document.querySelector('.said').textContent") != said
    page.close()


def test_keys_play_and_save(browser, served):
    page = opened(browser, served, "sequence", "fish")
    page.run("document.querySelector('.formula').focus()")
    page.press(" ")
    page.wait("document.querySelector('.play').textContent.includes('Pause')")
    page.wait("document.querySelector('.where').textContent.startsWith('step 2')")
    page.press(" ")
    page.close()


@pytest.mark.parametrize("lab", LABS)
def test_every_control_has_a_name_and_the_page_fits(browser, served, lab):
    for width, dark in ((1200, False), (1200, True), (400, False)):
        page = opened(browser, served, lab, LABS[lab][0], width=width, dark=dark)
        to_the_end(page)
        assert page.unnamed() == []
        assert page.size()["width"] <= width
        ink, paper = (
            page.run(
                f"getComputedStyle(document.body).{name}.match(/\\d+/g).slice(0, 3)"
                ".map(Number).reduce((a, b) => a + b)"
            )
            for name in ("color", "backgroundColor")
        )
        assert (ink > paper) == dark
        if PICTURES:
            pathlib.Path(PICTURES).mkdir(parents=True, exist_ok=True)
            page.picture(f"{PICTURES}/{lab}-{width}{'-dark' if dark else ''}.png")
        page.close()


def test_an_error_stands_alone(browser, served):
    """A picture under it would pass for the answer."""
    state = json.dumps({"preset": "disc", "algorithm": "branching"})
    page = browser.page(f"{served.link}#image:0:{state}")
    page.wait("!document.querySelector('.wrong').hidden")
    visible = "document.querySelector('.columns').offsetHeight > 0"
    assert "at most 16 pixels" in page.run("document.querySelector('.wrong').textContent")
    assert not page.run(visible)
    offered = (
        "[...document.querySelectorAll('.controls select')]"
        ".flatMap(s => [...s.options].map(o => o.value))"
    )
    assert "branching" not in page.run(offered)
    choose(page, "Example", "small")
    page.wait(f"document.querySelector('.wrong').hidden && {visible}")
    assert "branching" in page.run(offered)
    choose(page, "Algorithm", "branching")
    page.wait("document.querySelector('.where').textContent.includes('of')")
    assert page.run("document.querySelector('.wrong').hidden")
    assert [fault for fault in page.faults() if "422" not in fault] == []  # what was refused
    page.close()


def choose(page, field, value):
    """Choose an option of a field by its label."""
    page.run(
        f"(() => {{ const s = [...document.querySelectorAll('.controls .field')].find(f => "
        f"f.textContent.startsWith({field!r})).querySelector('select'); s.value = {value!r};"
        " s.dispatchEvent(new Event('change')); })()"
    )


#: Pairs of arc labels that lie on each other.
COLLISIONS = """(() => {
  const boxes = [...document.querySelectorAll('.arctext')]
    .map(t => [t.textContent, t.getBoundingClientRect()]);
  const meet = (r, q) => r.left < q.right && q.left < r.right
    && r.top + 3 < q.bottom && q.top + 3 < r.bottom;
  return boxes.flatMap(([a, r], i) => boxes.slice(i + 1)
    .filter(([, q]) => meet(r, q)).map(([b]) => a + ' ' + b));
})()"""
LONG = "Yesterday the old director of the national museum reluctantly gave us a new key ."


def test_labels_of_arcs_do_not_collide(browser, served):
    for width in (400, 1280):
        for preset in ("cycle", "flight"):
            page = opened(browser, served, "parse", preset, width=width)
            last = int(page.run("document.querySelector('.where').textContent").split()[-1])
            for _ in range(last):
                assert page.run(COLLISIONS) == []
                page.press("ArrowRight")
            page.close()
        for model in ("", "demo parser"):
            state = json.dumps({"preset": "own", "model": model, "text": LONG})
            page = browser.page(f"{served.link}#text:0:{state}", width=width)
            page.wait("document.querySelectorAll('.arctext').length > 10")
            assert page.run(COLLISIONS) == []
            if PICTURES:
                page.picture(f"{PICTURES}/arcs-{model or 'english'}-{width}.png".replace(" ", "-"))
            page.close()


@pytest.mark.parametrize(("lab", "preset"), EVERY)
def test_symbols_are_explained(browser, served, lab, preset):
    """Greek letters and log Z, wherever the lab shows them."""
    for mode in ("max", "sum"):
        state = json.dumps({"preset": preset, "mode": mode, "augmented": lab == "sequence"})
        page = browser.page(f"{served.link}#{lab}:0:{state}")
        page.wait("document.querySelector('main').dataset.answered")
        last = int(page.run("document.querySelector('.where').textContent").split()[-1])
        for _ in range(last):
            text, names = page.run(
                "[['.controls', '.stage', '.answers'].map(s => document.querySelector(s).innerText)"
                ".join(' '), [...document.querySelectorAll('.symbols dt')].map(t => t.textContent)]"
            )
            symbols = {*re.findall(r"[α-ωᾶ∂∇]|log Z|y′|ŷ", text)}
            assert {s for s in symbols if not any(s in name for name in names)} == set()
            page.press("ArrowRight")
        page.close()


@pytest.mark.parametrize("width", [400, 1100])
def test_a_long_tree_can_be_read_and_scrolls(browser, served, width):
    state = json.dumps({"preset": "constituency", "text": LONG})
    page = browser.page(f"{served.link}#text:0:{state}", width=width)
    page.wait("document.querySelectorAll('.leafword').length > 12")
    least = page.run(
        "Math.min(...[...document.querySelectorAll('.leafword')].map(t => "
        "parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a))"
    )
    assert least >= 11
    beyond, begin = page.run(
        "(p => [p.scrollWidth - p.clientWidth, p.querySelector('svg').getBoundingClientRect().left "
        "- p.getBoundingClientRect().left + p.scrollLeft])(document.querySelector('.picture'))"
    )
    assert beyond > 0
    assert begin >= 0
    assert page.size()["width"] <= width
    if PICTURES:
        page.picture(f"{PICTURES}/tree-{width}.png")
    page.close()


@pytest.mark.parametrize(("lab", "preset"), EVERY)
def test_tables_fit_a_laptop(browser, served, lab, preset):
    state = json.dumps({"preset": preset, "mode": "sum"})
    page = browser.page(f"{served.link}#{lab}:0:{state}", width=1280)
    page.wait("document.querySelector('main').dataset.answered")
    assert (
        page.run(
            "[...document.querySelectorAll('.answers .scroll')].filter(s => s.scrollWidth > "
            "s.clientWidth).map(s => s.firstChild.getAttribute('aria-label'))"
        )
        == []
    )
    page.close()


def test_recorded_labs_need_no_server(browser, tmp_path):
    """A page as the documentation has it, opened as a file."""
    extensions = pathlib.Path(__file__).parents[2] / "docs" / "_extensions"
    sys.path.insert(0, str(extensions))
    import recording as labs

    style = files("structlearn.workbench").joinpath("page").joinpath("workbench.css").read_text()
    body = "".join(labs.embedded(name) for name in labs.RECORDED)
    (tmp_path / "labs.js").write_text(labs.bundle(), encoding="utf-8")
    head = f'<!doctype html><meta charset="utf-8"><style>{style}</style>'
    page_text = f'{head}{body}<script defer src="labs.js"></script>'
    (tmp_path / "page.html").write_text(page_text, encoding="utf-8")
    page = browser.page((tmp_path / "page.html").as_uri())
    count = len(labs.RECORDED)
    page.wait(
        f"document.querySelectorAll('.workbench[data-answered] .picture svg').length === {count}"
    )
    page.run("document.querySelector('.formula').focus()")
    page.press("End")
    page.wait("document.querySelector('.where').textContent === 'step 17 of 17'")
    assert shown(page) == "noun verb adj noun"
    page.run(
        "(() => { const s = document.querySelector('.controls select'); s.value = '2';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    page.wait("document.querySelector('.answer.best dd').firstChild.textContent === 'N V'")
    assert page.faults() == []
    assert {url.split(":")[0] for url, _ in page.requests()} <= {"file", "data", "blob"}
    if PICTURES:
        page.picture(f"{PICTURES}/recorded.png")
    page.close()
