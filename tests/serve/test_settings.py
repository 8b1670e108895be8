"""What the command line of a server accepts."""

import asyncio
import errno
import json
import select
import socket
import sys
from contextlib import ExitStack

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from structlearn import cli
from structlearn.datasets import make_shapes
from structlearn.exceptions import FileError
from structlearn.serve import Settings
from structlearn.serve.registry import Registry
from structlearn.serve.settings import named_models, read_tokens
from structlearn.serve.shared_socket import SharedSocket, n_waiting, refuse_new
from structlearn.tasks import ImageSegmenter, Tagger

SENTENCES = [[("fish", "N"), ("sleep", "V")]]


def test_names_of_models(tmp_path):
    odd = tmp_path / "a=b.model"
    odd.write_text("")
    assert named_models(["english", "x/tags.model", "n=x/ner.model", "usa.crfsuite"]) == {
        "english": "english",
        "tags": "x/tags.model",
        "n": "x/ner.model",
        "usa": "usa.crfsuite",
    }
    assert list(named_models([str(odd)]).values()) == [str(odd)]
    with pytest.raises(ValueError, match="two models are called 'tags'"):
        named_models(["x/tags.model", "y/tags.model"])


@pytest.mark.parametrize("name", ["", "a b", "../x", "a" * 65, "ä", "-a"])
def test_names_that_urls_and_logs_could_not_hold(name):
    with pytest.raises(ValueError, match="cannot be the name of a model"):
        Settings({name: "model"})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.org"])
def test_other_addresses_need_a_token(host):
    with pytest.raises(ValueError, match="--token-file is needed"):
        Settings({"a": "model"}, host=host)
    assert Settings({"a": "model"}, host=host, token_file="tokens")
    assert Settings({"a": "model"}, host="127.0.0.1")


@pytest.mark.parametrize(
    ("option", "value"),
    [("port", 65536), ("workers", 0), ("queue", 0), ("timeout", 0.0), ("timeout", float("inf")),
     ("threads", True), ("connections", 0), ("max_body", 0)],
)  # fmt: skip
def test_bounds(option, value):
    with pytest.raises(ValueError, match=option):
        Settings({"a": "model"}, **{option: value})


def test_settings_reach_the_processes(monkeypatch):
    monkeypatch.setenv("STRUCTLEARN_SERVE", "")
    settings = Settings({"a": "model"}, hosts=("x", "y"), queue=7)
    settings.to_environment()
    assert Settings.from_environment() == settings


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("", "it has no token"),
        ("\n \n", "it has no token"),
        ("short\n", "at least 16 characters"),
        ("a-token-of-some-length\nshort\n", "line 2: a token has at least 16"),
        ("two words of some length\n", "no blank"),
        ("ein-schlüssel-aus-wörtern\n", "ASCII"),
    ],
)
def test_token_files(content, error, tmp_path):
    path = tmp_path / "tokens"
    path.write_text(content)
    with pytest.raises(FileError, match=error):
        read_tokens(str(path))


def test_a_token_file_that_is_missing(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        read_tokens(str(tmp_path / "tokens"))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    Tagger("pos", max_iter=1).fit(SENTENCES).save(folder / "good.model")
    shapes = make_shapes(2, size=16, random_state=0)
    ImageSegmenter("crf", max_iter=1).fit(list(zip(shapes.images, shapes.masks, strict=True))).save(
        folder / "image.model"
    )
    (folder / "bad.model").write_bytes((folder / "good.model").read_bytes()[:-1] + b"\xff")
    (folder / "other.txt").write_text("fish N\n")
    (folder / "checkpoint.json").write_text(json.dumps({}))
    return folder


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["missing.model"], "no such file or directory"),
        (["bad.model"], "the file is damaged"),
        (["other.txt"], "not a structlearn model"),
        (["image.model"], "structlearn serve has models of text"),
        (["good.model", "good.model"], "two models are called 'good'"),
        (["good.model", "--host", "0.0.0.0"], "--token-file is needed"),
        (["good.model", "--token-file", "missing"], "no such file"),
        (["a b=good.model"], "cannot be the name of a model"),
    ],
)
def test_what_is_wrong_is_said_first(arguments, error, files, capsys, monkeypatch):
    monkeypatch.chdir(files)
    assert cli.run(["serve", *arguments]) == 1
    printed = capsys.readouterr().err
    assert error in printed
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [["--port", "70000"], ["--workers", "0"], ["--timeout", "0"], ["--timeout", "nan"]]
)
def test_numbers_out_of_range(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.run(["serve", "good.model", *arguments])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_only_whole_files_are_models(files):
    Registry({"good": str(files / "good.model")}).check()
    with pytest.raises(FileError, match="damaged"):
        Registry({"bad": str(files / "bad.model")}).check()


def test_a_process_takes_one_connection_at_a_time():
    """Of eight that wait."""
    taken, most = [], 0

    async def serve(listening):
        nonlocal most
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: taken.append(len(taken)) or asyncio.Protocol(), sock=listening
        )
        clients = [socket.create_connection(listening.getsockname(), 5) for _ in range(8)]
        for _ in range(1000):
            before = len(taken)
            await asyncio.sleep(0)
            most = max(most, len(taken) - before)
            if len(taken) == len(clients):
                break
        for one in clients:
            one.close()
        server.close()

    with SharedSocket() as listening:
        listening.bind(("127.0.0.1", 0))
        asyncio.run(serve(listening))
    assert len(taken) == 8
    assert most == 1


@pytest.mark.skipif(sys.platform != "linux", reason="a filter of Linux's")
@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_new_connections_are_refused_and_those_that_have_begun_are_kept(address):
    """The client that comes too late is not connected: it knows that nobody has its request."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        listening = socket.create_server((address, 0), family=family)
    except OSError:
        pytest.skip("no IPv6 here")
    with listening, ExitStack() as stack:
        where = listening.getsockname()
        clients = [stack.enter_context(socket.create_connection(where[:2], 5)) for _ in range(3)]
        assert n_waiting([listening]) == 3
        refuse_new([listening])
        late = stack.enter_context(socket.socket(family))
        late.setblocking(False)
        assert late.connect_ex(where) == errno.EINPROGRESS
        for waits in (2, 1, 0):
            stack.enter_context(listening.accept()[0]).sendall(b"x")
            assert n_waiting([listening]) == waits
        assert [one.recv(1) for one in clients] == [b"x"] * 3
        listening.close()
        assert select.select([], [late], [], 10)[1]  # it has asked again
        assert late.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED
