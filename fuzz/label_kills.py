"""``python -m fuzz.label_kills``: labelling servers ended by SIGKILL at random moments.

A server of synthetic texts gets answers over HTTP as fast as it accepts them: new, changed and
undone ones. Its process is killed at a random moment and restarted on the same files. Each time the
file is read as by ``structlearn train``: it must contain every answer confirmed as saved,
unchanged, at most the one in transit besides, and nothing else.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import sys
import tempfile
import threading
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from structlearn.labelling.journal import Journal
from structlearn.labelling.kinds import Spans
from structlearn.labelling.server import LabelServer
from structlearn.labelling.session import Session
from structlearn.labelling.settings import Settings
from structlearn.text import read_corpus
from structlearn.workbench.local_server import HEADER

TEXTS = [f"Ann {n} sleeps in Rome with Bob {n * n}." for n in range(400)]
LABELS = ("PER", "LOC", "ORG")
#: The most seconds until a process is killed.
LONGEST = 0.4


@dataclass
class LabelKills:
    """The result of a campaign."""

    kills: int = 0
    saved: int = 0
    on_the_way: int = 0
    torn: int = 0
    findings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.saved} answers told to be saved, {self.on_the_way} kills "
            f"with one on its way, {self.torn} with half a line, {len(self.findings)} findings"
        )


def _serve(folder: Path, pipe: int) -> None:
    """Serve until killed; the address goes into a pipe."""
    kind = Spans()
    journal = Journal(str(folder / "labels.jsonl"), kind.check_item)
    settings = Settings(str(folder / "settings"), LABELS)
    session = Session(
        TEXTS, kind, settings, journal, str(folder / "m"), {"learner": "crf"}, "plain"
    )
    server = LabelServer(0, session)
    os.write(pipe, f"{server.port} {server.token}".encode())
    server.serve_forever()


class _Client:
    """Sends random answers, and remembers those confirmed as saved."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.saved: dict[str, Any] = {}
        self.on_the_way: tuple[str, Any] | None = None
        self.count = 0

    def work(self, address: str) -> None:
        """Answer until the server has ended."""
        port, token = address.split()
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)

        def ask(name: str, **values: Any) -> Any:
            body = json.dumps({"tab": "one", **values})
            connection.request("POST", f"/api/{name}", body, {HEADER: token})
            return json.loads(connection.getresponse().read())

        try:
            while True:
                number = self.rng.randrange(len(TEXTS))
                question = ask("text", number=number)
                labels = ["O"] * len(question["pieces"])
                for t in self.rng.sample(range(len(labels)), 3):
                    labels[t] = f"B-{self.rng.choice(LABELS)}"
                if self.rng.random() < 0.1 and self.saved:
                    self._undo(ask)
                    continue
                self.on_the_way = TEXTS[number], labels
                answer = ask(
                    "answer", number=number, revision=question["revision"], verdict="accept",
                    labels=labels,
                )  # fmt: skip
                assert answer.get("saved"), answer
                self.saved.pop(TEXTS[number], None)
                self.saved[TEXTS[number]] = labels
                self.on_the_way = None
                self.count += 1
        except (OSError, http.client.HTTPException):
            connection.close()

    def _undo(self, ask: Any) -> None:
        """Undo the last answer; after a restart the client does not know its text in advance."""
        self.on_the_way = "", None
        answer = ask("undo")
        text = "".join(a + b for a, b in answer["pieces"])
        if answer["verdict"] is None:
            self.saved.pop(text)
        else:
            self.saved[text] = answer["labels"]
        self.on_the_way = None


def kill_pages(times: int, seed: int = 0) -> LabelKills:
    """Kill a server ``times`` times."""
    warnings.simplefilter("ignore")
    rng, record = random.Random(seed), LabelKills()
    with tempfile.TemporaryDirectory(prefix="label-kills") as name:
        folder, client = Path(name), _Client(rng)
        while record.kills < times and not record.findings:
            to_read, to_write = os.pipe()
            pid = os.fork()
            if pid == 0:
                try:
                    _serve(folder, to_write)
                finally:
                    os._exit(1)
            os.close(to_write)
            address = os.read(to_read, 1000).decode()
            os.close(to_read)
            if not address:
                record.findings.append("the page did not open again")
                break
            timer = threading.Timer(LONGEST * rng.random(), os.kill, (pid, signal.SIGKILL))
            timer.start()
            client.work(address)
            timer.join()
            os.waitpid(pid, 0)
            record.kills += 1
            _look(folder / "labels.jsonl", client, record)
        record.saved = client.count
    return record


def _look(path: Path, client: _Client, found: LabelKills) -> None:
    """Compare the file with the confirmed answers."""
    kind = Spans()
    content = path.read_bytes()
    found.torn += not content.endswith(b"\n") and bool(content)
    journal = Journal(str(path), kind.check_item)  # as at the next start
    journal.close()
    texts = {number: kind.cut(0, number) for number in journal.items}
    there = {number: kind.labels(texts[number], item) for number, item in journal.items.items()}
    if len(path.read_bytes().splitlines()) != len(there):
        found.findings.append(f"kill {found.kills}: a text is there twice")
    if there:
        read_corpus(str(path))
    if client.on_the_way is not None:
        found.on_the_way += 1
        text, labels = client.on_the_way
        if text == "":  # an answer that may or may not have been undone
            odd = {t for t in {*there, *client.saved} if there.get(t) != client.saved.get(t)}
            if len(odd) > 1:
                found.findings.append(f"kill {found.kills}: {len(odd)} answers are others")
            client.saved = dict(there)
        elif there.get(text) == labels:
            client.saved[text] = labels
        client.on_the_way = None
    if there != client.saved:
        lost = [t for t in client.saved if there.get(t) != client.saved[t]]
        unsaved = [t for t in there if t not in client.saved]
        found.findings.append(f"kill {found.kills}: lost {lost[:3]}, not told {unsaved[:3]}")


def main() -> int:
    """Kill servers; return 1 if something was lost."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.label_kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    record = kill_pages(arguments.kills, arguments.seed)
    print(record)
    for line in record.findings:
        print(f"  {line}")
    return 1 if record.findings else 0


if __name__ == "__main__":
    sys.exit(main())
