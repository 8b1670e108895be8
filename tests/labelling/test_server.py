"""The page's server: as safe as the workbench's, and every value checked."""

import http.client
import json
import threading
from importlib.resources import files

import pytest

from structlearn.labelling.server import LabelServer
from structlearn.labelling.settings import Settings
from structlearn.workbench.local_server import HEADER


@pytest.fixture
def served(desk):
    made = desk()
    server = LabelServer(0, made.session)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.desk = made
    yield server
    server.shutdown()
    server.server_close()


def ask(server, path, values=None, *, method="POST", token=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    body = None if method == "GET" else json.dumps({} if values is None else values)
    given = {HEADER: server.token if token is None else token, **headers}
    connection.request(method, path, body, {k: v for k, v in given.items() if v != ""})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, dict(response.getheaders()), content


def test_nothing_is_told_or_saved_without_the_token(served):
    for token in ("", "wrong"):
        for name in ("state", "next", "answer", "undo", "finish", "change", "find", "text"):
            status, _, content = ask(served, f"/api/{name}", {"number": 0}, token=token)
            assert status == 403
            assert b"Lang" not in content
    for path in ("/", "/?token=wrong", "/index.html"):
        assert ask(served, path, method="GET", token="")[0] == 403
    assert ask(served, "/api/state", Host="evil.example")[0] == 421
    assert ask(served, "/api/state", Origin="http://evil.example")[0] == 403
    assert (served.desk.folder / "labels.jsonl").read_text() == ""


def test_the_page_has_a_policy_and_no_script_of_its_own(served):
    status, headers, content = ask(served, f"/?token={served.token}", method="GET", token="")
    assert status == 200
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    text = content.decode()
    assert text.count("<script") == text.count('<script type="module" src=') == 1
    assert "style=" not in text
    folder = files("structlearn.labelling").joinpath("page")
    for file in folder.iterdir():
        source = file.read_text(encoding="utf-8")
        assert "innerHTML" not in source
        assert "eval(" not in source
        assert "http://" not in source
        assert "https://" not in source
        if file.name != "index.html":
            status, _, content = ask(served, f"/{file.name}", method="GET", token="")
            assert (status, content.decode()) == (200, source)
    for name in ("dom.js", "controls.js", "workbench.css", "icon.svg"):  # shared
        assert ask(served, f"/{name}", method="GET", token="")[0] == 200
    for path in ("/../server.py", "/server.py", "/%2e%2e/journal.py", "/nothing.js"):
        assert ask(served, path, method="GET", token="")[0] == 404


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("answer", {"number": 0, "revision": 0, "verdict": "maybe", "labels": []}, "verdict"),
        ("answer", {"number": 0, "revision": 0, "verdict": "accept", "labels": "O"}, "labels"),
        ("answer", {"number": 0, "revision": 0, "verdict": "accept", "labels": [1]}, "texts"),
        ("answer", {"number": 0, "revision": 0, "verdict": "accept", "labels": ["B-a b"]}, "label"),
        ("answer", {"number": 0.5, "labels": []}, "whole"),
        ("answer", {"number": 10**9, "labels": ["O"]}, "no such text"),
        ("text", {"number": 10**9}, "no text"),
        ("text", {"number": -1}, "between"),
        ("next", {"order": "best"}, "order"),
        ("next", {"query": "x" * 1000}, "limit"),
        ("find", {"count": 100_000}, "between"),
        ("find", {"which": "some"}, "which"),
        ("change", {"labels": ["a|b"], "constraints": ""}, "cannot be a label"),
        ("change", {"labels": ["A"], "constraints": "nonsense"}, "constraint"),
        ("undo", {}, "no answer"),
        ("finish", {}, "no answers to learn from"),
        ("nothing", {}, "no such question"),
        ("state", [], "JSON object"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(served, name, values, said):
    status, _, content = ask(served, f"/api/{name}", values)
    assert status == 422
    assert said in json.loads(content)["error"]
    assert (served.desk.folder / "labels.jsonl").read_text() == ""


def test_an_answer_and_a_conflict(served):
    made = served.desk
    values = {"number": 0, "revision": 0, "verdict": "accept", "labels": made.labels(0)}
    status, _, content = ask(served, "/api/answer", values)
    assert status == 200
    assert json.loads(content)["saved"]
    status, _, content = ask(served, "/api/answer", values)
    assert status == 200
    assert "another tab" in json.loads(content)["conflict"]
    assert len((made.folder / "labels.jsonl").read_text().splitlines()) == 1


def test_an_answer_that_is_not_on_disk_is_not_told_to_be(served, monkeypatch):
    made = served.desk

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("structlearn.labelling.journal.os.fsync", full)
    values = {"number": 0, "revision": 0, "verdict": "accept", "labels": made.labels(0)}
    status, _, content = ask(served, "/api/answer", values)
    assert status == 422
    assert "not saved: No space left" in json.loads(content)["error"]
    monkeypatch.undo()
    assert (made.folder / "labels.jsonl").read_text() == ""
    assert json.loads(ask(served, "/api/answer", values)[2])["saved"]


def test_labels_that_the_session_knows_are_taken_however_long(served):
    made = served.desk
    made.session.settings.take(["PERSON NAME"])  # as a file of another tool may have it
    for number, name in enumerate(["x" * 60, "PERSON NAME"]):
        labels = [f"B-{name}", *["O"] * (len(made.labels(number)) - 1)]
        values = {"number": number, "revision": 0, "verdict": "accept", "labels": labels}
        assert json.loads(ask(served, "/api/answer", values)[2]).get("saved"), name
    names = {"labels": made.session.settings.labels, "constraints": ""}
    assert ask(served, "/api/change", names)[0] == 200
    Settings(made.session.settings.path, [])


def test_the_labels_of_the_longest_text_arrive(served):
    values = {"number": 0, "labels": ["B-COUNTRY"] * 20_000, "proposed": ["B-COUNTRY"] * 20_000,
              "verdict": "accept"}  # fmt: skip
    assert b"20000 labels for" in ask(served, "/api/answer", values)[2]
