"""Sessions over made addresses."""

import pytest

from structlearn.labelling.journal import Journal
from structlearn.labelling.kinds import KINDS
from structlearn.labelling.session import Session
from structlearn.labelling.settings import Settings

from .addresses import LABELS, make_addresses


class Desk:
    """A session, and the gold answers to its texts."""

    def __init__(self, folder, n=120, kind="spans", labels=LABELS, **options):
        self.folder = folder
        self.gold = dict(make_addresses(n))
        self.kind = KINDS[kind]()
        journal = Journal(str(folder / "labels.jsonl"), self.kind.check_item)
        settings = Settings(str(folder / "labels.jsonl.settings"), labels)
        parameters = {"features": "auto", "learner": "crf", "tokens": "words"}
        self.session = Session(
            list(self.gold), self.kind, settings, journal, str(folder / "m.model"), parameters,
            **options,
        )  # fmt: skip

    def labels(self, number):
        """Return the gold labels of the tokens of a text."""
        text = self.session.pool.texts[number]
        if self.kind.name == "tags":
            return ["NUM" if any(map(str.isdigit, word)) else "WORD" for word in text.words]
        if self.kind.name == "classes":
            return ["DASHED" if " - " in text.text else "PLAIN"] * len(text.words)
        item = {"text": text.text, "spans": self.gold[text.text]}
        return self.kind.labels(text, item)

    def work(self, n, order="tokens"):
        """Give n gold answers; return the texts that were asked for."""
        asked, wait = [], 0
        for _ in range(n):
            given = self.session.next("tab", order, wait)
            number = given["number"]
            saved = self.session.answer(
                "tab", number, given["revision"], "accept", self.labels(number),
                given["proposal"]["labels"],
            )  # fmt: skip
            wait = saved["wait"]
            asked.append(number)
        return asked


@pytest.fixture
def desk(tmp_path):
    made = []

    def make(**options):
        made.append(Desk(tmp_path, **options))
        return made[-1]

    yield make
    for one in made:
        one.session.close()
