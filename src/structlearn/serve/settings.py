"""What a server is told: its models, its address, and the bounds of everything that it takes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from ..checks import check_number, check_whole
from ..exceptions import FileError

#: The variable that tells the processes of a server what to do.
VARIABLE = "STRUCTLEARN_SERVE"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: Addresses that only this machine can reach.
LOCAL = ("127.0.0.1", "localhost", "::1")
#: Characters of a token, at least.
_LEAST_TOKEN = 16


@dataclass(frozen=True)
class Settings:
    """The settings of a server.

    Attributes
    ----------
    models : dict of str to str
        Names of models and their files, or the names of packages of ours.
    host : str
        The address to listen on. Any but this machine's own needs ``token_file``.
    port : int
        0 takes a free one.
    workers : int
        Processes.
    threads : int
        Threads that compute in each of them.
    token_file : str, optional
        A file of tokens, one on each line; a request must have one of them as
        ``Authorization: Bearer TOKEN``.
    hosts : tuple of str
        Names that requests may call the server by, besides its own address.
    max_body : int
        Bytes of a request.
    timeout : float
        Seconds in which a request must arrive, and in which it must be answered.
    queue : int
        Requests of each process that wait for a thread; more are refused (429).
    connections : int
        Open connections of each process; more are refused (503).
    check_every : float
        Seconds between two looks at the model files.
    access_log : bool
        A line on standard error for each request.
    folder : str, optional
        Where the processes of one server put their counts, so that each can show the sum of all.
    """

    models: dict[str, str]
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    threads: int = 1
    token_file: str | None = None
    hosts: tuple[str, ...] = field(default=())
    max_body: int = 1 << 20
    timeout: float = 30.0
    queue: int = 128
    connections: int = 256
    check_every: float = 1.0
    access_log: bool = True
    folder: str | None = None

    def __post_init__(self) -> None:
        if not self.models:
            raise ValueError("a server needs a model: structlearn serve MODEL")
        for name in self.models:
            if not _NAME.fullmatch(name):
                raise ValueError(
                    f"{name!r} cannot be the name of a model: letters, digits, '.', '-' and '_', "
                    "at most 64 of them, a letter or digit first (NAME=MODEL gives another name)"
                )
        check_whole("port", self.port, 0, 65535)
        for name in ("workers", "threads", "max_body", "queue", "connections"):
            check_whole(name, getattr(self, name), 1)
        for name in ("timeout", "check_every"):
            check_number(name, getattr(self, name), above=True)
        if self.host not in LOCAL and self.token_file is None:
            raise ValueError(
                f"whoever reaches {self.host} could use the models: --token-file is needed for any "
                "address but 127.0.0.1"
            )

    @property
    def known_hosts(self) -> frozenset[str]:
        """The names that requests may call the server by, without the port; "*": any."""
        return frozenset(name.lower() for name in (*LOCAL, self.host, *self.hosts))

    def to_environment(self) -> None:
        """Tell the processes of this server."""
        os.environ[VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def from_environment(cls) -> Settings:
        """Return what this process was told."""
        values = json.loads(os.environ[VARIABLE])
        return cls(**{**values, "hosts": tuple(values["hosts"])})


def named_models(arguments: list[str]) -> dict[str, str]:
    """Return the models that a command line names: MODEL, or NAME=MODEL."""
    models: dict[str, str] = {}
    for argument in arguments:
        name, mark, path = argument.partition("=")
        if not mark or os.path.exists(argument):
            path = argument
            name = os.path.basename(path.rstrip("/"))
            name = name.removesuffix(".model").removesuffix(".crfsuite") or name
        if name in models:
            raise ValueError(f"two models are called {name!r}: give one another name, NAME=MODEL")
        models[name] = path
    return models


def read_tokens(path: str | None) -> tuple[bytes, ...]:
    """Return the tokens in a file, one on each line; none if there is no file."""
    if path is None:
        return ()
    try:
        with open(path, "rb") as file:
            tokens = tuple(filter(None, map(bytes.strip, file.read(1 << 16).splitlines())))
    except OSError as error:
        raise FileError(path, (error.strerror or str(error)).lower()) from None
    if not tokens:
        raise FileError(path, "it has no token: write one on a line of its own")
    for line, token in enumerate(tokens, 1):
        if len(token) < _LEAST_TOKEN or not token.isascii() or b" " in token:
            raise FileError(
                path,
                f"a token has at least {_LEAST_TOKEN} characters of ASCII and no blank; make one "
                "with: python -c 'import secrets; print(secrets.token_urlsafe())'",
                line,
            )
    return tokens


def check_packages() -> None:
    """Refuse to go on without the packages that serving needs."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "serving models needs Starlette and uvicorn: pip install 'structlearn[serve]', or "
            "'structlearn-core[serve]' without what learning needs",
            name=error.name,
        ) from None


def with_folder(settings: Settings, folder: str) -> Settings:
    """Return the settings with a folder for the counts of all processes."""
    values: Mapping[str, object] = {**vars(settings), "folder": folder}
    return Settings(**values)  # type: ignore[arg-type]
