"""Sessions: what is asked, what is saved, and what is learned from it."""

import json
import shlex
import threading

import pytest

import structlearn
from structlearn.cli import run
from structlearn.exceptions import FileError
from structlearn.labelling.journal import Journal
from structlearn.labelling.kinds import KINDS
from structlearn.labelling.pool import MOST_TOKENS, Pool
from structlearn.labelling.proposals import proposal
from structlearn.labelling.session import Conflict, Session
from structlearn.labelling.settings import Settings
from structlearn.text.conversion import read_documents


def lines(desk):
    return [json.loads(row) for row in (desk.folder / "labels.jsonl").read_text().splitlines()]


def test_an_answer_is_in_the_file_when_the_call_returns(desk):
    made = desk()
    for n in range(1, 6):
        [number] = made.work(1)
        assert len(lines(made)) == n
        found = lines(made)[-1]
        assert found["text"] == made.session.pool.texts[number].text
        assert found["spans"] == made.gold[found["text"]]


@pytest.mark.parametrize("kind", ["spans", "tags", "classes"])
def test_the_model_at_the_end_has_the_bits_of_train(desk, kind):
    made = desk(kind=kind, labels=[])
    made.session.start()
    made.work(40)
    given = made.session.next("tab", "tokens")
    made.session.answer("tab", given["number"], given["revision"], "skip", [])
    if kind == "spans":  # a part of an answer
        given = made.session.next("tab", "tokens")
        part = [k if t < 3 else None for t, k in enumerate(made.labels(given["number"]))]
        part = part[:2] + [None] * (len(part) - 2) if part[2].startswith("I-") else part
        made.session.answer("tab", given["number"], given["revision"], "accept", part)
    done = made.session.finish()
    model = made.folder / "m.model"
    ours = model.read_bytes()
    model.unlink()
    assert run([*shlex.split(done["command"])[1:], "--quiet"]) == 0
    assert model.read_bytes() == ours
    tagger = structlearn.load(str(model))
    texts = made.session.pool.texts
    right = sum(tagger.predict([t.words])[0] == made.labels(t.number) for t in texts)
    assert right > 0.6 * len(texts)


def test_tokens_that_nobody_looked_at_are_unknown_to_what_is_learned(desk):
    made = desk()
    text = made.session.pool.texts[0]
    labels = made.labels(0)
    part = [label if t < 2 else None for t, label in enumerate(labels)]
    part = labels[:1] + [None] * (len(labels) - 1) if part[1] is None else part
    made.session.answer("tab", 0, 0, "accept", part)
    [item] = lines(made)
    assert item["looked"]
    [example] = made.kind.examples(item)
    assert [label for _, label in example] == ["_" if k is None else k for k in part]
    assert made.session.text(0)["labels"] == part
    # The file is read so by everything that trains.
    [document] = read_documents(str(made.folder / "labels.jsonl"))
    assert document.looked == [tuple(one) for one in item["looked"]]
    assert text.text == document.text


def test_a_text_that_another_tab_has_answered_is_not_answered_again(desk):
    made = desk()
    first, second = made.session.text(3), made.session.text(3)
    labels = made.labels(3)
    made.session.answer("one", 3, first["revision"], "accept", labels)
    with pytest.raises(Conflict, match="another tab"):
        made.session.answer("two", 3, second["revision"], "accept", ["O"] * len(labels))
    assert lines(made)[0]["spans"] == made.gold[lines(made)[0]["text"]]
    # Having seen it, the second may change it.
    made.session.answer("two", 3, made.session.text(3)["revision"], "accept", ["O"] * len(labels))
    assert [item["spans"] for item in lines(made)] == [[]]


def test_tabs_are_asked_different_texts(desk):
    made = desk()
    numbers = {made.session.next(tab, "tokens")["number"] for tab in "abcdef"}
    assert len(numbers) == 6


def test_tabs_at_once_lose_nothing(desk):
    made = desk(n=60)
    failed = []

    def work(tab):
        for _ in range(15):
            given = made.session.next(tab, "random")
            try:
                labels = made.labels(given["number"])
                made.session.answer(tab, given["number"], given["revision"], "accept", labels)
            except Exception as error:
                failed.append(error)

    threads = [threading.Thread(target=work, args=(tab,)) for tab in "abcd"]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failed == []
    found = lines(made)
    assert len(found) == len({item["text"] for item in found}) == 60
    assert all(item["spans"] == made.gold[item["text"]] for item in found)


def test_undo_takes_back_and_gives_back(desk):
    made = desk()
    made.work(3)
    before = lines(made)
    number = made.session.pool.number[before[-1]["text"]]
    made.session.answer("tab", number, 1, "skip", [])
    assert lines(made)[-1]["answer"] == "ignore"
    assert made.session.undo()["number"] == number
    assert lines(made) == before
    for n in (2, 1, 0):
        made.session.undo()
        assert lines(made) == before[:n]
    with pytest.raises(ValueError, match="no answer"):
        made.session.undo()


def test_a_session_goes_on_where_it_was(desk, tmp_path):
    made = desk()
    asked = made.work(10)
    made.session.close()
    again = desk()
    assert again.session.state()["answered"] == 10
    assert again.session.text(asked[0])["labels"] == again.labels(asked[0])
    assert not {again.session.next("tab", "plain")["number"]} & set(asked)
    assert again.session.undo()["number"] == asked[-1]


def test_a_new_label_is_learned_and_one_in_use_stays(desk):
    made = desk()
    made.session.start()
    made.work(30)
    state = made.session.change([*made.session.settings.labels, "COUNTRY"], "")
    assert state["labels"][-1] == "COUNTRY"
    given = made.session.next("tab", "plain")
    labels = ["B-COUNTRY", *["O"] * (len(given["pieces"]) - 1)]
    saved = made.session.answer("tab", given["number"], given["revision"], "accept", labels)
    assert made.session.live.wait(saved["wait"], 20)
    assert made.session.live.error == ""
    assert "B-COUNTRY" in made.session.tagger.classes_
    with pytest.raises(ValueError, match="answers have this label"):
        made.session.change(["NAME"], "")
    with pytest.raises(ValueError, match="cannot be a label"):
        made.session.change([*state["labels"], "a b"], "")


def test_constraints_are_kept_by_proposals(desk):
    made = desk()
    made.session.start()
    made.work(30)
    made.session.change(made.session.settings.labels, "at_most(0, Chunk(NAME))")
    # Answers with a name break it: all of them are left out, and the page says so.
    made.session.change(made.session.settings.labels, "at_most(1, Chunk(CITY))")
    made.session.live.wait(made.session.live.told, 20)
    for number in range(20):
        labels = made.session.text(number)["proposal"]["labels"]
        assert labels.count("B-CITY") <= 1
    with pytest.raises(ValueError, match="constraint"):
        made.session.change(made.session.settings.labels, "at_mist(1, V)")
    assert made.session.settings.constraints == "at_most(1, Chunk(CITY))"


def test_proposals_have_the_figures_of_predict_spans(desk):
    made = desk()
    made.session.start()
    made.work(30)
    made.session.finish()
    tagger = structlearn.load(str(made.folder / "m.model"))
    for text in made.session.pool.texts[:20]:
        proposed = proposal(tagger, text, made.kind)
        [spans] = tagger.predict_spans([text.text])
        begins = {begin: t for t, (begin, _) in enumerate(text.places)}
        assert [proposed.chunks[begins[s.start]] for s in spans] == [s.confidence for s in spans]
        [marginals] = tagger.predict_marginals([text.words], temperature=1.0)
        for label, p, shares in zip(proposed.labels, proposed.confidence, marginals, strict=True):
            assert p == shares[label]


def test_orders_and_search(desk):
    made = desk()
    assert made.work(5, "plain") == [0, 1, 2, 3, 4]
    given = made.session.next("tab", "plain", query="LEEDS")
    assert "Leeds" in "".join(a + b for a, b in given["pieces"])
    found = made.session.find("leeds", "left", 0, 50)
    assert found["total"] == sum("Leeds" in t for t in list(made.gold)[5:])
    assert made.session.find("", "accept", 0, 50)["total"] == 5
    assert made.session.find("", "all", 110, 50)["rows"][0]["number"] == 110


def test_answers_that_cannot_be_are_refused(desk):
    made = desk()
    n = len(made.session.pool.texts[0].places)
    for labels, said in (
        (["O"], "labels for"),
        (["I-NAME", *["O"] * (n - 1)], "nothing has begun"),
        (["B-NAME", "I-CITY", *["O"] * (n - 2)], "nothing has begun"),
        ([None] * n, "nothing was looked at"),
        (["X", *["O"] * (n - 1)], "not the label of a token"),
    ):
        with pytest.raises(ValueError, match=said):
            made.session.answer("tab", 0, 0, "accept", labels)
    with pytest.raises(ValueError, match="no such text"):
        made.session.answer("tab", 999, 0, "accept", [])
    assert not (made.folder / "labels.jsonl").read_text()


def test_the_uncertain_first_are_those_that_the_model_gets_wrong(desk):
    """After a while proposals are right; the share of the last ones is told."""
    made = desk(n=200)
    made.session.start()
    made.work(80)
    state = made.session.state()
    assert state["recent"]["n"] == 50
    shares = [i.get("proposal") for i in lines(made)]
    assert shares[-20:].count("right") > shares[:20].count("right")
    assert state["recent"]["right"] == shares[-50:].count("right")


def test_constraints_wait_for_the_labels_that_they_name(desk):
    made = desk(kind="classes", labels=["DASHED", "PLAIN", "NEVER"])
    made.session.start()
    made.work(30)
    assert made.session.live.wait(made.session.live.told, 20)
    assert made.session.live.error == ""
    assert made.session.tagger is not None
    assert "NEVER" not in made.session.finish()["command"]
    with pytest.raises(ValueError, match=r"MOON.*unknown"):
        made.session.change(made.session.settings.labels, "at_most(1, MOON)")


def test_a_constraint_with_a_mistyped_label_is_refused_at_once(tmp_path):
    journal = Journal(str(tmp_path / "labels.jsonl"), KINDS["spans"]().check_item)
    path = str(tmp_path / "settings")

    def session(labels):
        settings = Settings(path, labels, "at_most(1, Chunk('PRE'))")
        return Session(["Ann sleeps"], KINDS["spans"](), settings, journal, "m.model", {})

    with pytest.raises(ValueError, match=r"PRE.*unknown"):
        session(["PER", "LOC"])
    assert session([]).settings.constraints  # any label may come yet
    assert session(["PER", "PRE"]).settings.constraints
    journal.close()


def test_long_texts_are_left_out():
    pool = Pool(["Ann sleeps", "x " * (MOST_TOKENS + 1), "y " * MOST_TOKENS], KINDS["spans"]())
    assert (len(pool.texts), pool.left_out, pool.too_long) == (2, 0, 1)


def test_the_same_command_brings_back_what_the_page_was_told(tmp_path):
    path = str(tmp_path / "settings")
    Settings(path, ["A", "B", "C"], "at_most(1, A)").change(["C", "A", "D"], "at_most(2, A)")
    again = Settings(path, ["A", "B", "C"], "at_most(1, A)")
    assert (again.labels, again.constraints) == (["C", "A", "D"], "at_most(2, A)")
    more = Settings(path, ["A", "E"], "at_most(3, A)")
    assert (more.labels, more.constraints) == (["C", "A", "D", "E"], "at_most(3, A)")


@pytest.mark.parametrize(
    "content", ["half", "[]", '{"labels": [1]}', '{"labels": [], "constraints": null, "given": 1}']
)
def test_damaged_settings_are_named(tmp_path, content):
    path = tmp_path / "settings"
    path.write_text(content)
    with pytest.raises(FileError, match="settings: not the settings"):
        Settings(str(path), ["A"])
    assert path.read_text() == content
