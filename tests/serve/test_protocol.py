"""What a server refuses, and that it goes on."""

import http.client
import json
import logging
import re
import shutil
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from structlearn.serve import Settings
from structlearn.tasks import Tagger
from tests.serve.running import in_thread, wait_for

TOKEN = "a-token-of-some-length"
SENTENCES = [[("fish", "N"), ("sleep", "V")], [("cats", "N"), ("eat", "V"), ("fish", "N")]]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Two versions of a tagger."""
    folder = tmp_path_factory.mktemp("models")
    Tagger("pos", max_iter=2).fit(SENTENCES).save(folder / "one.model")
    other = [[(word, tag.lower()) for word, tag in s] for s in SENTENCES]
    Tagger("pos", max_iter=2).fit(other).save(folder / "two.model")
    return folder


@pytest.fixture(scope="module")
def served(models):
    path = str(models / "one.model")
    settings = Settings({"one": path, "same": path}, max_body=20_000, timeout=1.5)
    with in_thread(settings) as client:
        yield client


def is_well(client):
    answer = client.predict(model="one", input=["fish", "sleep"])
    return answer.status == 200 and answer.json["outputs"] == [["N", "V"]]


GOOD = {"model": "one", "input": ["fish"]}


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        (b"", 400, "the body is not JSON"),
        (b"{", 400, "the body is not JSON"),
        (b"\xff\xfe{}", 400, "UTF-8"),
        (b"[" * 10_000, 400, "the body is not JSON"),
        (b'{"input": [NaN]}', 400, "NaN is not a number"),
        (b'{"model": ' + b"9" * 5000 + b"}", 400, "the body is not JSON"),
        (b"[]", 422, "the body must be a JSON object"),
        ({}, 422, "model must name one of one, same"),
        ({"model": "one"}, 422, "the body must have either input or inputs"),
        ({**GOOD, "inputs": []}, 422, "the body must have either input or inputs"),
        ({**GOOD, "model": 1}, 422, "model must be the name of a model"),
        ({**GOOD, "model": "two"}, 404, "there is no model 'two'; there are one, same"),
        ({**GOOD, "text": "fish"}, 422, "there is no 'text'; there are model, input, inputs"),
        ({"model": "one", "inputs": {}}, 422, "inputs must be a list"),
        ({"model": "one", "inputs": [[]] * 10_001}, 413, "the body is too long"),
        ({"model": "one", "inputs": [{}]}, 422, "input 0 must be a list of tokens"),
        ({"model": "one", "inputs": [["fish"], [1]]}, 422, "input 1: a token is a string"),
        ({"model": "one", "input": [[]]}, 422, "input 0: a token is a string"),
        ({"model": "one", "input": [["a", "b"], ["c"]]}, 422, "column"),
        ({"model": "one", "input": ["\ud800"]}, 422, ""),
        ({**GOOD, "confidence": "yes"}, 422, "confidence must be true or false"),
        ({**GOOD, "kbest": -1}, 422, "kbest must be a whole number from 0 to 100"),
        ({**GOOD, "kbest": True}, 422, "kbest must be a whole number from 0 to 100"),
        ({**GOOD, "kbest": 101}, 422, "kbest must be a whole number from 0 to 100"),
    ],
)
def test_bodies_that_are_refused(body, status, error, served):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = served.ask("/v1/predict", raw=raw)
    assert answer.status == status, answer.content
    assert error in answer.error
    assert is_well(served)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"model": "one", "text": "fish"}, "one is a Tagger, which annotates no running text"),
        ({"model": "one", "format": "xml"}, "annotates no running text"),
        ({"input": []}, "there is no 'input'; there are model, text, texts"),
    ],
)
def test_texts_that_are_refused(body, error, served):
    answer = served.ask("/v1/annotate", body)
    assert answer.status == 422
    assert error in answer.error


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/", "GET", 404),
        ("/v1/predict/", "POST", 404),
        ("/v1/../v1/models", "GET", 404),
        ("/v1/predict", "GET", 405),
        ("/v1/models", "POST", 405),
        ("/healthz", "DELETE", 405),
        ("/v1/predict", "OPTIONS", 405),
    ],
)
def test_paths_and_methods(path, method, status, served):
    answer = served.ask(path, method=method)
    assert answer.status == status
    assert answer.error
    assert ("allow" in answer.headers) == (status == 405)


def test_heads(served):
    answer = served.ask("/v1/models", method="HEAD")
    assert (answer.status, answer.content) == (200, b"")


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_pages_elsewhere_cannot_make_browsers_ask(kind, served):
    """They may send text and forms without asking first, and JSON is neither."""
    answer = served.ask("/v1/predict", GOOD, content_type=kind)
    assert answer.status == 415
    assert (
        served.ask("/v1/predict", GOOD, content_type="Application/JSON; charset=utf-8").status
        == 200
    )


def test_compressed_bodies_are_refused(served):
    assert served.ask("/v1/predict", GOOD, content_encoding="gzip").status == 415


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "127.0.0.1:x", ""])
def test_other_names_for_this_machine(host, served):
    answer = served.ask("/v1/predict", GOOD, host=host or " ")
    assert answer.status == 421
    assert "name" in answer.error
    assert served.ask("/healthz", host="evil.example").status == 200  # tells nothing


@pytest.mark.parametrize("host", ["127.0.0.1", "LOCALHOST:8000", "[::1]:99", "localhost"])
def test_names_of_this_machine(host, served):
    assert served.ask("/v1/predict", GOOD, host=host).status == 200


def test_bodies_of_any_size_are_refused_unread(served):
    answer = served.ask("/v1/predict", raw=b" " * 20_001)
    assert answer.status == 413
    assert "20,000 bytes" in answer.error
    assert answer.headers["connection"] == "close"
    assert served.ask("/v1/predict", raw=json.dumps(GOOD).encode().ljust(20_000)).status == 200


def test_bodies_in_pieces(served):
    def pieces(n):
        yield json.dumps(GOOD).encode()
        for _ in range(n):
            yield b" " * 10_000

    for n, status in ((1, 200), (400, 413)):
        connection = served.connect()
        try:
            connection.request(
                "POST", "/v1/predict", pieces(n), {"Content-Type": "application/json"},
                encode_chunked=True,
            )  # fmt: skip
        except (BrokenPipeError, ConnectionResetError):
            assert status == 413
        assert connection.getresponse().status == status
        connection.close()


def test_bodies_that_do_not_arrive(served):
    with served.raw() as one:
        one.sendall(
            b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        begin = time.monotonic()
        response = http.client.HTTPResponse(one)
        response.begin()
        assert response.status == 408
        assert 1.0 < time.monotonic() - begin < 20
        assert b"did not arrive" in response.read()
    assert is_well(served)


def test_heads_that_do_not_arrive(served, monkeypatch):
    from structlearn.serve import connections

    monkeypatch.setattr(connections, "_HEAD", 0.5)
    with served.raw() as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\n")
        for _ in range(40):
            time.sleep(0.1)
            try:
                one.sendall(b"X: y\r\n")
            except OSError:
                break
        else:
            pytest.fail("bytes that drip in keep a connection open")
    assert is_well(served)


@pytest.mark.parametrize(
    "head",
    [
        b"nonsense\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 1_000_000 + b"\r\n\r\n",
        b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
        b"Content-Length: 2\r\n\r\n{}",
        b"POST /v1/predict HTTP/1.1\r\nHost: a\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_heads_that_are_wrong(head, served):
    with served.raw() as one:
        one.sendall(head)
        one.settimeout(10)
        assert one.recv(100).startswith((b"HTTP/1.1 400", b"HTTP/1.1 421"))
    assert is_well(served)


def test_requests_in_a_row_on_one_connection(served):
    head = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    body = json.dumps(GOOD).encode()
    one = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with served.raw() as connection:
        connection.sendall(one * 5)
        connection.settimeout(10)
        found = b""
        while found.count(b"HTTP/1.1 200") < 5 or not found.endswith(b"}"):
            piece = connection.recv(1 << 16)
            assert piece
            found += piece
    assert found.count(b'"outputs": [["N"]]') == 5


def test_tokens(models, tmp_path):
    path = tmp_path / "tokens"
    path.write_text(f"{TOKEN}\nanother-token-of-some-length\n")
    settings = Settings({"one": str(models / "one.model")}, token_file=str(path))
    with in_thread(settings) as client:
        for given in (
            None, "", TOKEN, f"Basic {TOKEN}", "Bearer", f"Bearer {TOKEN[:-1]}",
            f"Bearer {TOKEN}x", "Bearer \xe9", "Bearer another-token-of-some-lengt",
        ):  # fmt: skip
            answer = client.ask("/v1/models", authorization=given)
            assert answer.status == 401, given
            assert answer.headers["www-authenticate"] == "Bearer"
            assert TOKEN not in answer.content.decode()
        for given in (f"Bearer {TOKEN}", "bearer another-token-of-some-length"):
            assert client.ask("/v1/models", authorization=given).status == 200
        assert client.ask("/metrics").status == 401
        assert client.ask("/healthz").status == 200


class Slow:
    """A model that answers when it is told to."""

    calibrated_ = True

    def __init__(self):
        self.go, self.begun, self.asked = threading.Event(), threading.Event(), []

    def predict(self, X):
        self.asked.append(X)
        self.begun.set()
        assert self.go.wait(30)
        return [["N"] * len(x) for x in X]


@pytest.fixture
def slow(models):
    """A server with a place for three waiting requests, whose model answers when it is told to."""
    settings = Settings({"one": str(models / "one.model")}, queue=3, timeout=3)
    with in_thread(settings) as client, ThreadPoolExecutor(20) as pool:
        (held,) = client.app._app.routes[0].endpoint._ask.__self__.registry.all()
        client.model = held.model = Slow()
        client.pool = pool
        client.batcher = client.app._app.routes[0].endpoint._ask.__self__.batcher
        yield client
        client.model.go.set()


def test_a_full_queue_is_said(slow):
    first = slow.pool.submit(slow.predict, input=["fish"])
    assert slow.model.begun.wait(10)
    waiting = [slow.pool.submit(slow.predict, input=["fish"] * i) for i in range(3)]
    wait_for(lambda: slow.batcher.waiting == 3)
    answer = slow.predict(input=["fish"])
    assert answer.status == 429
    assert answer.headers["retry-after"] == "1"
    assert slow.ask("/healthz").status == 200
    assert "structlearn_queue_queries 3" in slow.ask("/metrics").content.decode()
    slow.model.go.set()
    assert first.result().json["outputs"] == [["N"]]
    assert [f.result().json["outputs"] for f in waiting] == [[["N"] * i] for i in range(3)]
    assert len(slow.model.asked) == 2  # the three that waited were asked together


def test_an_answer_that_takes_too_long(slow):
    answer = slow.predict(input=["fish"])
    assert answer.status == 503
    assert "no answer within 3 seconds" in answer.error
    slow.model.go.set()
    assert slow.predict(input=["fish"]).status == 200


def test_clients_that_go_away_leave_nothing_behind(slow):
    for _ in range(5):
        with slow.raw() as one:
            body = json.dumps({"input": ["fish"]}).encode()
            one.sendall(
                b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
                b"\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
            )
            time.sleep(0.05)
    slow.model.go.set()
    wait_for(lambda: slow.predict(input=["fish"]).status == 200)


def test_a_fault_of_ours_is_logged_and_not_shown(slow, caplog):
    def fail(X):
        raise KeyError("a secret")

    slow.model.predict = fail
    with caplog.at_level(logging.ERROR, logger="structlearn.serve"):
        answer = slow.predict(input=["fish"])
    assert answer.status == 500
    assert "secret" not in answer.error
    assert "a secret" in caplog.text


def test_too_many_connections(models):
    settings = Settings({"one": str(models / "one.model")}, connections=10)
    with in_thread(settings) as client:
        held = [client.raw() for _ in range(10)]
        refused = [client.raw() for _ in range(30)]
        for one in refused:
            one.settimeout(10)
            assert one.recv(1000).startswith(b"HTTP/1.1 503")
        for one in held + refused:
            one.close()
        wait_for(lambda: _status(client) == 200)


def _status(client):
    try:
        return client.predict(input=["fish"]).status
    except OSError:
        return None


def test_files_that_change(models, tmp_path, caplog):
    path = tmp_path / "tags.model"
    shutil.copy(models / "one.model", path)
    with in_thread(Settings({"tags": str(path)}, check_every=0.05)) as client:
        first = client.predict(input=["fish"]).json
        assert first["outputs"] == [["N"]]
        with caplog.at_level(logging.INFO, logger="structlearn.serve"):
            # Half of a file: the version before stays.
            path.write_bytes((models / "two.model").read_bytes()[:-100])
            wait_for(lambda: "cannot be used" in caplog.text)
            assert client.predict(input=["fish"]).json == first
            path.unlink()
            time.sleep(0.3)
            assert client.predict(input=["fish"]).json == first
            shutil.copy(models / "two.model", path)
            wait_for(lambda: client.predict(input=["fish"]).json != first)
        second = client.predict(input=["fish"]).json
        assert second["outputs"] == [["n"]]
        assert second["version"] != first["version"]
        (described,) = client.ask("/v1/models").json["models"]
        assert described["version"] == second["version"]
        loads = client.ask("/metrics").content.decode()
    assert 'model_loads_total{model="tags",result="ok"} 2' in loads
    assert 'model_loads_total{model="tags",result="error"}' in loads


def test_a_line_for_each_request(served, caplog):
    with caplog.at_level(logging.INFO, logger="structlearn.access"):
        served.predict(**GOOD)
        served.ask("/a%1b[31mb%0ac")
        wait_for(lambda: sum(r.name == "structlearn.access" for r in caplog.records) == 2)
    lines = [r.getMessage() for r in caplog.records if r.name == "structlearn.access"]
    assert re.match(r"127\.0\.0\.1:\d+ POST /v1/predict 200 67 B \d+\.\d ms$", lines[0])
    assert " GET /a␛[31mb␊c 404 " in lines[1]


def test_requests_are_counted(served):
    def value(line):
        text = served.ask("/metrics").content.decode()
        return sum(float(x.rpartition(" ")[2]) for x in text.splitlines() if x.startswith(line))

    good = 'structlearn_requests_total{path="/v1/predict",status="200"}'
    bad = 'structlearn_requests_total{path="other",status="404"}'
    inputs = 'structlearn_inputs_total{model="same"}'
    before = value(good), value(bad), value(inputs)
    served.predict(model="same", inputs=[["fish"], ["sleep"]])
    served.ask("/what")
    assert (value(good), value(bad), value(inputs)) == (before[0] + 1, before[1] + 1, before[2] + 2)


def test_stopping_answers_what_has_begun(models):
    settings = Settings({"one": str(models / "one.model")})
    with ThreadPoolExecutor(4) as pool:
        with in_thread(settings) as client:
            (held,) = client.app._app.routes[0].endpoint._ask.__self__.registry.all()
            held.model = model = Slow()
            answers = [pool.submit(client.predict, input=["fish"] * i) for i in range(4)]
            assert model.begun.wait(10)
            threading.Timer(0.5, model.go.set).start()
        assert [f.result().json["outputs"] for f in answers] == [[["N"] * i] for i in range(4)]
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", client.port), timeout=2)
