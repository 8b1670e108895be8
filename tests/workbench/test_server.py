"""The server: what it answers, and each attack that it does not."""

import http.client
import json
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest

from structlearn.cli import run
from structlearn.estimators import CRF
from structlearn.tasks import Tagger
from structlearn.workbench import local_server
from structlearn.workbench.server import HEADER, make_server

from .examples import FISH


@pytest.fixture(scope="module")
def served():
    made = make_server()
    thread = threading.Thread(
        target=made.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    )
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


def ask(served, path="/api/sequence", body=None, method="POST", host=None, token=None, **headers):
    """Return (status, headers, content) of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    connection.putrequest(method, path, skip_host=True)
    if host != "":
        connection.putheader("Host", host or f"127.0.0.1:{served.port}")
    if token is not False:
        connection.putheader(HEADER, token or served.token)
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    if method == "POST" and "Content_Length" not in headers:
        connection.putheader("Content-Length", str(len(content)))
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    if method == "POST":
        connection.send(content)
    response = connection.getresponse()
    found = response.status, response.headers, response.read()
    connection.close()
    return found


def test_a_lab_is_answered(served):
    status, headers, content = ask(served, body=FISH)
    assert status == 200
    assert json.loads(content)["best"]["named"] == ["N", "V"]
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize("digits", [400, 5000])
def test_numbers_of_any_length_are_refused(served, digits):
    text = json.dumps({**FISH, "temperature": 0}).replace('"temperature": 0', '"temperature": 1')
    for number in ("9" * digits, "-" + "9" * digits, "1e999", "NaN", "Infinity"):
        body = text.replace('"temperature": 1', f'"temperature": {number}').encode()
        status, _, content = ask(served, body=body)
        assert status in (400, 422), (number, content)
        assert json.loads(content)["error"]


def test_the_page_is_given_with_its_token_only(served):
    link = urlsplit(served.link)
    assert link.hostname == "127.0.0.1"
    status, headers, content = ask(served, f"{link.path}?{link.query}", method="GET", token=False)
    assert status == 200
    assert headers["Content-Type"].startswith("text/html")
    assert b"workbench.css" in content
    for path in ("/", "/?token=", "/?token=wrong", "/index.html"):
        status, _, content = ask(served, path, method="GET", token=False)
        assert status == 403
        assert b"token" in content
    status, _, content = ask(served, f"{link.path}?{link.query}", method="HEAD", token=False)
    assert (status, content) == (200, b"")


def test_the_page_is_small_and_asks_nobody_else(served):
    from importlib.resources import files

    folder = files("structlearn.workbench").joinpath("page")
    texts = {p.name: p.read_text(encoding="utf-8") for p in folder.iterdir() if p.is_file()}
    assert sum(len(t.encode()) for t in texts.values()) < 300_000
    for name, text in texts.items():
        status, _, content = ask(served, f"/{name}" if name != "index.html" else served.link[21:],
                                 method="GET", token=False)  # fmt: skip
        if name != "index.html":
            assert (status, content.decode()) == (200, text)
        foreign = text.replace("http://www.w3.org/2000/svg", "").replace("http://www.w3.org", "")
        assert "http://" not in foreign, name
        assert "https://" not in foreign, name
        assert "eval(" not in text
        assert "innerHTML" not in text  # what models and users say stays text


# -- attacks --------------------------------------------------------------------------------------


def test_a_browser_is_told_in_a_page_what_is_wrong(served):
    for path, said in (
        ("/", b"The link lacks its token"),
        ("/none.html", b"There is no such page"),
    ):
        status, headers, content = ask(served, path, method="GET", token=False, Accept="text/html")
        assert status in (403, 404)
        assert headers["Content-Type"].startswith("text/html")
        assert content.startswith(b"<!doctype html>")
        assert said in content
        assert served.token.encode() not in content


@pytest.mark.parametrize("token", [False, "", "wrong", "é"])
def test_nothing_is_computed_without_the_token(served, token):
    status, _, content = ask(served, body=FISH, token=token or False)
    if token:
        status, _, content = ask(served, body=FISH, token=token.encode().decode("latin-1"))
    assert status == 403
    assert b"token" in content


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "",
        "127.0.0.1:1",
        "127.0.0.1:{port}.evil.example",
    ],
)
def test_other_names_for_this_machine_are_refused(served, host):
    """DNS rebinding: the name is the attacker's, the address is ours, the token may be known."""
    for method, path in (("POST", "/api/sequence"), ("GET", f"/?token={served.token}")):
        status, _, _ = ask(
            served, path, FISH, method, host=host.format(port=served.port) if host else ""
        )
        assert status in (400, 421)


def test_two_hosts_are_refused(served):
    status, _, _ = ask(served, body=FISH, Host="evil.example")
    assert status == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:1"])
def test_other_origins_are_refused(served, origin):
    status, headers, _ = ask(served, body=FISH, Origin=origin)
    assert status == 403
    assert "Access-Control-Allow-Origin" not in headers
    own = f"http://127.0.0.1:{served.port}"
    assert ask(served, body=FISH, Origin=own)[0] == 200


def test_other_sites_are_refused_but_a_link_may_be_followed(served):
    link = f"/?token={served.token}"
    assert ask(served, body=FISH, Sec_Fetch_Site="cross-site")[0] == 403
    assert ask(served, "/app.js", method="GET", Sec_Fetch_Site="cross-site")[0] == 403
    followed = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert ask(served, link, method="GET", **followed)[0] == 200


@pytest.mark.parametrize(
    "path",
    ["/../server.py", "/..%2fserver.py", "/%2e%2e/server.py", "//etc/passwd", "/page/app.js",
     "/app.js%00.html", "/__init__.py", "/api/sequence"],
)  # fmt: skip
def test_no_other_file_is_given(served, path):
    assert ask(served, path, method="GET")[0] == 404


def test_only_this_machine_can_connect(served):
    assert served.server_address[0] == "127.0.0.1"
    for address in {
        info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
    }:
        if address.startswith("127."):
            continue
        with pytest.raises(OSError, match=r"refused|timed out|unreachable"):
            socket.create_connection((address, served.port), timeout=2)


def test_a_long_request_is_refused_unread(served):
    for length in ("300000", "99999999999"):
        status, _, content = ask(served, body=b"", Content_Length=length)
        assert status == 413
        assert b"the limit is 262,144" in content
    status, _, content = ask(served, "/api/upload?name=x", b"", Content_Length=str(2**31))
    assert status == 413
    assert b"67,108,864" in content


@pytest.mark.parametrize(
    "headers",
    [
        {"Content_Length": "-1"},
        {"Content_Length": "x"},
        {"Content_Length": "2", "Transfer_Encoding": "chunked"},
    ],
)
def test_a_request_says_how_long_it_is(served, headers):
    assert ask(served, body=b"{}", **headers)[0] in (400, 411)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"words": NaN}', b'{"n": 1e999}', b"9" * 5000],
)
def test_what_is_no_json_is_refused(served, body):
    status, _, content = ask(served, body=body)
    assert status in (400, 422)
    assert "error" in json.loads(content)


def test_a_long_trellis_is_refused_with_its_limit(served):
    words = {"words": ["w"] * 10_000, "labels": ["a", "b"], "label": [[0, 0]] * 10_000}
    status, _, content = ask(served, body={**words, "transition": [[0, 0], [0, 0]]})
    assert status == 422
    assert "10,000 words; the limit is 40" in json.loads(content)["error"]


def test_a_request_that_drips_in_is_dropped(served, monkeypatch):
    monkeypatch.setattr(local_server, "PATIENCE", 0.5)
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        connection.sendall(b"POST /api/sequence HTTP/1.1\r\n")
        began = time.monotonic()
        with pytest.raises(ConnectionError):  # noqa: PT012
            while time.monotonic() - began < 25:
                connection.sendall(b"X-A: b\r\n")
                time.sleep(0.05)
                connection.settimeout(0.01)
                try:
                    if connection.recv(100) == b"":
                        raise ConnectionError("hung up")
                except TimeoutError:
                    pass
                connection.settimeout(30)
    assert ask(served, body=FISH)[0] == 200


def test_too_many_connections_are_hung_up(served):
    """The 257th is closed at once, and the server answers again when they have gone."""
    held = []
    try:
        for _ in range(local_server.MOST_CONNECTIONS + 20):
            held.append(socket.create_connection(("127.0.0.1", served.port), timeout=10))
        last = held[-1]
        last.settimeout(10)
        assert last.recv(10) == b""
    finally:
        for connection in held:
            connection.close()
    for _ in range(100):
        try:
            assert ask(served, body=FISH)[0] == 200
            break
        except (OSError, http.client.HTTPException):
            time.sleep(0.1)
    else:
        pytest.fail("the server did not recover")


def test_what_finds_no_place_to_compute_is_told_so(served, monkeypatch):
    monkeypatch.setattr(local_server, "PATIENCE", 0.3)
    for _ in range(local_server.MOST_AT_A_TIME):
        assert served.places.acquire(blocking=False)
    try:
        status, _, content = ask(served, body=FISH)
        assert status == 503
        assert b"too many requests at a time" in content
    finally:
        for _ in range(local_server.MOST_AT_A_TIME):
            served.places.release()
    assert ask(served, body=FISH)[0] == 200


def test_many_at_a_time_are_answered(served):
    failures = []

    def work():
        for _ in range(3):
            status, _, content = ask(served, body=FISH)
            if status != 200 or json.loads(content)["best"]["named"] != ["N", "V"]:
                failures.append((status, content[:200]))

    threads = [threading.Thread(target=work) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# -- models ---------------------------------------------------------------------------------------


def test_models_come_from_the_command_line_or_an_upload(tmp_path):
    words = [[("fish",), ("sleep",)], [("dogs",), ("eat",)]]
    Tagger(max_iter=2).fit(words, [["N", "V"], ["N", "V"]]).save(tmp_path / "tags.model")
    made = make_server(paths=[str(tmp_path / "tags.model")])
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    try:
        status, _, content = ask(made, "/api/text", {"text": "fish sleep", "model": "tags.model"})
        assert status == 200
        assert json.loads(content)["steps"][0]["shown"]["tags"] == ["N", "V"]
        whole = (tmp_path / "tags.model").read_bytes()
        status, _, content = ask(made, "/api/upload?name=../../mine.model", whole)
        assert status == 200
        name = json.loads(content)["name"]
        assert name == "mine.model"
        status, _, content = ask(made, "/api/text", {"text": "dogs eat", "model": name})
        assert json.loads(content)["steps"][0]["shown"]["tags"] == ["N", "V"]
        for damaged in (b"", b"rubbish" * 100, whole[: len(whole) // 2], whole[:-1] + b"\x00"):
            status, _, content = ask(made, "/api/upload?name=x", damaged)
            assert status == 422
            error = json.loads(content)["error"]
            assert "x" in error
            assert "/tmp" not in error
        for i in range(8):  # old uploads make room
            assert ask(made, f"/api/upload?name=m{i}", whole)[0] == 200
        names = json.loads(ask(made, "/api/models", {})[2])["models"]
        assert sum(n.startswith("m") for n in names) <= 5
        CRF().fit([[["a"]], [["b"]]], [["x"], ["y"]]).save(tmp_path / "crf.model")
        content = (tmp_path / "crf.model").read_bytes()
        assert ask(made, "/api/upload?name=crf", content)[0] == 200
        status, _, content = ask(made, "/api/text", {"text": "a", "model": "crf"})
        assert status == 422
        assert "shown are taggers" in json.loads(content)["error"]
    finally:
        made.shutdown()
        made.server_close()


def test_the_command_says_what_is_wrong(tmp_path, capsys, served):
    (tmp_path / "no.model").write_text("nothing")
    assert run(["workbench", "--no-browser", str(tmp_path / "no.model")]) == 1
    assert "no.model" in capsys.readouterr().err
    assert run(["workbench", "--no-browser", "--port", "99999"]) == 1
    assert "65535" in capsys.readouterr().err
    assert run(["workbench", "--no-browser", "--port", str(served.port)]) == 1
    assert "cannot be used" in capsys.readouterr().err
